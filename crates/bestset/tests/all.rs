//! One program, for what all of them use (`common`, the core's generics) is compiled once: three took 8 s of the processor more.

mod common;
mod core;
mod model;
mod proof;
