//! The program `bestset-check`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(bestset_check::run(std::env::args_os().skip(1)))
}
