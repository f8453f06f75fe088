//! `bestset-check DATA PROOF [--target FILE] [--features] [--counts]`: 0 where the proof holds, 1 where it does not, 2 where it could not be looked at.

use bestset_check::{Table, check};
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
Checks a proof that `bestset exact --proof` wrote, and says in one sentence what has been proved.

Usage: bestset-check DATA PROOF [--target FILE] [--features] [--counts]

  DATA           the data the proof is about: CSV with a line of names, or a .npy array
  PROOF          the proof
  --target FILE  the target, where it is a file of its own
  --features     list every feature with its scale and its penalty
  --counts       say also how many records there were

Exit status: 0 the proof holds, 1 it does not, 2 it could not be looked at.";

struct Arguments {
    files: Vec<PathBuf>,
    target: Option<PathBuf>,
    counts: bool,
    features: bool,
}

fn arguments() -> Option<Arguments> {
    let mut found = Arguments { files: Vec::new(), target: None, counts: false, features: false };
    let mut given = std::env::args_os().skip(1);
    while let Some(one) = given.next() {
        match one.to_str() {
            Some("--target") => found.target = Some(given.next()?.into()),
            Some("--features") => found.features = true,
            Some("--counts") => found.counts = true,
            Some(option) if option.starts_with('-') => return None,
            _ => found.files.push(one.into()),
        }
    }
    (found.files.len() == 2).then_some(found)
}

fn main() -> ExitCode {
    let Some(Arguments { files, target, counts, features }) = arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let read = || -> Result<_, String> {
        let data = Table::read(&files[0])?;
        let target = target.as_deref().map(Table::read).transpose()?;
        let proof = File::open(&files[1]).map_err(|error| format!("{}: {error}", files[1].display()))?;
        Ok((data, target, proof))
    };
    let (data, target, proof) = match read() {
        Ok(read) => read,
        Err(problem) => {
            eprintln!("bestset-check: {problem}");
            return ExitCode::from(2);
        }
    };
    match check(&data, target.as_ref(), BufReader::with_capacity(1 << 20, proof)) {
        Ok(proved) => {
            println!("{}", proved.sentence());
            if features {
                print!("{}", proved.listing());
            }
            if counts {
                let c = proved.counts;
                println!("{} splits, {} bounds, {} lemmas, {} bytes.", c.splits, c.bounds, c.lemmas, c.bytes);
            }
            ExitCode::SUCCESS
        }
        Err(problem) => {
            println!("Not proved: {problem}.");
            ExitCode::FAILURE
        }
    }
}
