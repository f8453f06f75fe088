//! `bestset completions`: a script that completes commands and options in a shell.

use super::command;
use crate::exit::{Exit, Failure};
use clap::Args;
use clap_complete::Shell;
use std::io::Write;

/// Print a script that completes commands and options in a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: bestset completions bash > ~/.local/share/bash-completion/completions/bestset")]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub fn run(&self, out: &mut dyn Write) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "bestset", &mut script);
        out.write_all(&script)?;
        Ok(Exit::Done)
    }
}
