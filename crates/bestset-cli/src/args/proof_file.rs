//! Arguments for a proof that others can check.

use super::{InputArgs, check_apart};
use crate::exit::Failure;
use crate::work::{Answer, Loaded, Posed, Session};
use bestset::Options;
use bestset::select::{ProofFile, Selection};
use clap::Args;
use std::path::PathBuf;

/// Where the proof goes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct ProofArgs {
    /// Write the proof into a file, which the program bestset-check verifies without this one.
    ///
    /// What a limit leaves of a proof waits in FILE.part, what it leaves of the search before in FILE.search or in the file that --checkpoint
    /// names, and the same call goes on from there. What there is of another proof is kept as FILE.part-1.
    #[arg(long, value_name = "FILE")]
    proof: Option<PathBuf>,
    /// Write the data as they are used into a CSV file, for a proof of data that bestset-check cannot read as they are.
    #[arg(long, value_name = "FILE", requires = "proof")]
    proof_data: Option<PathBuf>,
}

impl ProofArgs {
    /// Refuses, before the search, data that the checker could not read.
    pub fn check(&self, data: &Loaded, input: &InputArgs) -> Result<(), Failure> {
        let written = [&self.proof, &self.proof_data].into_iter().flatten();
        written.into_iter().try_for_each(|path| check_apart(path, &input.file))?;
        if self.proof.is_none() || self.proof_data.is_some() {
            return Ok(());
        }
        if data.has_own_table {
            return Err(Failure::Usage(
                "a proof is checked against a target that is alone in its --target-file, not in a table: --proof-data writes all \
                 of it into one file",
            ));
        }
        if let Some(exposure) = &input.exposure {
            return Err(Failure::Message(format!(
                "--proof: the offset is the logarithm of --exposure {exposure}, which the file has not: give --proof-data FILE, \
                 and check the proof against that"
            )));
        }
        let is_readable = input.file.extension().is_some_and(|e| ["csv", "tsv", "npy"].iter().any(|known| e == *known));
        let set = &data.set;
        let reason = match () {
            () if !is_readable => "is no plain CSV or NPY file",
            () if !set.categories.is_empty() => "has texts that became numbers",
            () if !set.imputed.is_empty() => "has missing values that were filled in",
            () if set.without_target + set.incomplete > 0 => "has rows that were left out",
            () if data.scaling.is_some() => "has a target that was scaled",
            () if data.target.classes.as_ref().is_some_and(|c| c.negative != "-1" || c.positive != "1") => {
                "has classes that became -1 and 1"
            }
            () => return Ok(()),
        };
        Err(Failure::Message(format!(
            "--proof: {} {reason}, and bestset-check reads numbers: give --proof-data FILE, and check the proof against that",
            input.file.display()
        )))
    }

    /// Refuses, before the search, a problem of which there is no proof in a file.
    pub fn check_problem(&self, posed: &Posed<'_>) -> Result<(), Failure> {
        match &self.proof {
            Some(_) => Ok(posed.check_proof()?),
            None => Ok(()),
        }
    }

    /// Refuses files that could not be written, before the search, which is kept beside the proof until that is whole.
    pub fn prepare(&self, posed: &Posed<'_>, input: &InputArgs, options: &mut Selection) -> Result<(), Failure> {
        if let Some(file) = self.file(posed, input) {
            file.check()?;
            file.keep_search(options);
        }
        Ok(())
    }

    /// Where it goes, and what the columns are called.
    fn file(&self, posed: &Posed<'_>, input: &InputArgs) -> Option<ProofFile> {
        let (path, data) = (self.proof.as_ref()?, posed.data);
        let offset = match (&input.offset, &input.exposure) {
            (given, None) => given.clone().unwrap_or_default(),
            (None, Some(exposure)) => format!("log({exposure})"),
            (Some(given), Some(exposure)) => format!("{given} + log({exposure})"),
        };
        Some(ProofFile {
            path: path.clone(),
            data: self.proof_data.clone(),
            names: (0..data.features()).map(|j| data.name(j)).collect(),
            // The only column of a file of its own has no name to speak of.
            target: match &input.target_file {
                Some(file) if self.proof_data.is_none() => file.display().to_string(),
                _ => data.target.name.clone(),
            },
            weights: input.weights.clone().unwrap_or_default(),
            offset,
        })
    }

    /// Writes the proof of an answer; a line that says how it is checked, where one was asked for.
    pub fn write(
        &self,
        posed: &Posed<'_>,
        found: &Answer,
        options: &Options,
        input: &InputArgs,
        session: &Session<'_>,
    ) -> Result<Option<String>, Failure> {
        let Some(file) = self.file(posed, input) else { return Ok(None) };
        let path = &file.path;
        session.progress.start("writing the proof".to_owned());
        let written = posed.write_proof(&found.selected, options, &file)?;
        session.progress.done();
        let (nodes, bytes, checked) = (written.nodes, written.bytes, self.proof_data.as_ref().unwrap_or(&input.file));
        let target = input.target_file.as_ref().filter(|_| self.proof_data.is_none());
        let target = target.map_or_else(String::new, |file| format!(" --target {}", file.display()));
        Ok(Some(format!(
            "Proof: {}, {nodes} nodes, {bytes} bytes; check it: bestset-check {} {}{target}",
            path.display(),
            checked.display(),
            path.display()
        )))
    }
}
