//! The `bestset` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(bestset_cli::run(std::env::args_os().collect()))
}
