//! The `bestset` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    bestset_cli::share_memory(&words);
    ExitCode::from(bestset_cli::run(words))
}
