//! The `bestset` command as a function: parse, run, exit code.
//!
//! [`run`] is all there is: the binary `bestset` hands it the words of its process, the Python package those of the
//! interpreter, so that both are one command.
//!
//! ```
//! assert_eq!(bestset_cli::run(["bestset", "simulate", "--help"].map(Into::into).to_vec()), 0);
//! ```

mod args;
mod commands;
mod exit;
mod interrupt;
mod numbers;
mod output;
mod progress;
mod room;
mod work;

pub use room::share_memory;

use anstream::eprintln;
use clap::FromArgMatches;
use commands::Cli;
use exit::Exit;
use std::ffi::OsString;
use std::io::Write;
use std::sync::OnceLock;

/// The words of the command, which a report shows. Those of the process may be an interpreter's.
static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Runs the command that `words` are, the first of them the program's name, and returns its exit code. Once in a process:
/// it answers Ctrl-C from then on.
pub fn run(words: Vec<OsString>) -> u8 {
    let words = WORDS.get_or_init(|| words);
    let parsed =
        commands::command().try_get_matches_from(args::joined(words)).and_then(|found| Cli::from_arg_matches(&found));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Usage errors, exit code 2 with a message that names the argument; or help and version, which are none.
            let _ = error.print();
            return if error.use_stderr() { Exit::BadInput as u8 } else { Exit::Done as u8 };
        }
    };
    if let Err(message) = room::check_room() {
        eprintln!("{}error:{:#} {message}", output::BAD, output::BAD);
        return Exit::BadInput as u8;
    }
    room::fit_threads();
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
    // A library's standard output is not flushed when its process ends.
    let _ = out.flush();
    exit as u8
}
