//! From the matrix to the solvers: each module of the library has the file or folder of its name here.

mod certificate;
#[path = "../common/mod.rs"]
mod common;
mod design;
mod error;
mod file;
mod loss;
mod oracle;
mod penalty;
mod problem;
mod search;
mod solver;
