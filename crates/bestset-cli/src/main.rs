//! The `bestset` command: parse, run, exit code.

mod args;
mod commands;
mod exit;
mod interrupt;
mod numbers;
mod output;
mod progress;
mod work;

use anstream::eprintln;
use clap::FromArgMatches;
use commands::Cli;
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Usage errors end here, with exit code 2 and a message that names the argument.
    let matches = commands::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let cancel = interrupt::cancel_on_ctrl_c();
    let mut out = anstream::stdout().lock();
    let exit = commands::run(&cli.command, &cancel, &mut out).unwrap_or_else(|failure| {
        if failure.is_closed_output() {
            // The reader of a pipe had enough: not worth a message.
            return Exit::Done;
        }
        eprintln!("{}error:{:#} {failure}", output::BAD, output::BAD);
        Exit::BadInput
    });
    exit.into()
}
