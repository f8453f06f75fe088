//! `bestset man`: manual pages.

use super::command;
use crate::exit::{Exit, Failure};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Print the manual page, or write one for every command.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: bestset man | man -l -
          bestset man --directory ~/.local/share/man/man1")]
pub struct Man {
    /// Write bestset.1 and a page for every command into this directory.
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
}

impl Man {
    pub fn run(&self, out: &mut dyn Write) -> Result<Exit, Failure> {
        match &self.directory {
            None => clap_mangen::Man::new(command()).render(&mut *out)?,
            Some(directory) => {
                let failed = |e: std::io::Error| Failure::Message(format!("{}: {e}", directory.display()));
                std::fs::create_dir_all(directory).map_err(failed)?;
                clap_mangen::generate_to(command(), directory).map_err(failed)?;
            }
        }
        out.flush()?;
        Ok(Exit::Done)
    }
}
