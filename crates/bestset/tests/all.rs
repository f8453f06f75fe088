//! One program, for what all of them use (`common`, the core's generics) is compiled once: three took 8 s of the processor more.

use bestset_oracle as common;
mod core;
mod model;
mod proof;
