//! The commands, one file each.

pub mod compare;
pub mod demo;

use crate::args::Command;
use crate::exit::{Exit, Failure};
use bestset::solver::CancelFlag;
use std::io::Write;

/// Runs a command; errors mean that it gave no result.
pub fn run(command: &Command, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
    match command {
        Command::Demo(demo) => demo.run(cancel, out),
        Command::Compare(compare) => compare.run(cancel, out),
    }
}
