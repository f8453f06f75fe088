//! `bestset-check DATA PROOF [--target FILE] [--features] [--counts]`: 0 where the proof holds, 1 where it does not, 2 where it could not be looked at.

use crate::{Proved, Table, check};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::PathBuf;

const USAGE: &str = "\
Checks a proof that `bestset exact --proof` wrote, and says in one sentence what has been proved.

Usage: bestset-check DATA PROOF [--target FILE] [--features] [--counts]

  DATA           the data the proof is about: CSV with a line of names, or a .npy array
  PROOF          the proof
  --target FILE  the target, where it is a file of its own
  --features     list every feature with its scale and its penalty
  --counts       say also how many records there were
  --help         this text
  --version      the version

Exit status: 0 the proof holds, 1 it does not, 2 it could not be looked at.";

struct Files {
    data: PathBuf,
    proof: PathBuf,
    target: Option<PathBuf>,
    features: bool,
    counts: bool,
}

enum Asked {
    Help,
    Version,
    Check(Files),
}

fn asked(words: impl Iterator<Item = OsString>) -> Option<Asked> {
    let (mut files, mut target, mut features, mut counts) = (Vec::new(), None, false, false);
    let mut words = words;
    while let Some(one) = words.next() {
        match one.to_str() {
            Some("--target") => target = Some(words.next()?.into()),
            Some("--features") => features = true,
            Some("--counts") => counts = true,
            Some("--help" | "-h") => return Some(Asked::Help),
            Some("--version" | "-V") => return Some(Asked::Version),
            Some(option) if option.starts_with('-') => return None,
            _ => files.push(PathBuf::from(one)),
        }
    }
    let [data, proof] = <[PathBuf; 2]>::try_from(files).ok()?;
    Some(Asked::Check(Files { data, proof, target, features, counts }))
}

/// Why there is no proof: it does not hold, or it could not be looked at.
enum Failed {
    Refuted(String),
    Unread(String),
}

fn proved(files: &Files) -> Result<Proved, Failed> {
    let data = Table::read(&files.data).map_err(Failed::Unread)?;
    let target = files.target.as_deref().map(Table::read).transpose().map_err(Failed::Unread)?;
    let proof = File::open(&files.proof).map_err(|e| Failed::Unread(format!("{}: {e}", files.proof.display())))?;
    check(&data, target.as_ref(), BufReader::with_capacity(1 << 20, proof)).map_err(Failed::Refuted)
}

fn said(proved: &Proved, files: &Files) -> String {
    let mut text = proved.sentence();
    if files.features {
        text = text + "\n" + proved.listing().trim_end();
    }
    if files.counts {
        let c = proved.counts;
        let (splits, bounds, lemmas, fits) = (c.splits, c.bounds, c.lemmas, c.fits);
        text += &format!("\n{splits} splits, {bounds} bounds, {lemmas} lemmas, {fits} fits, {} bytes.", c.bytes);
    }
    text
}

/// Runs the program with these words, its name not among them; its exit status. What cannot be printed is no reason to say that a
/// proof holds, or that it does not.
pub fn run(words: impl Iterator<Item = OsString>) -> u8 {
    let mut out = std::io::stdout();
    let (text, status) = match asked(words) {
        None => {
            eprintln!("{USAGE}");
            return 2;
        }
        Some(Asked::Help) => (USAGE.to_owned(), 0),
        Some(Asked::Version) => (concat!("bestset-check ", env!("CARGO_PKG_VERSION")).to_owned(), 0),
        Some(Asked::Check(files)) => match proved(&files) {
            Ok(proved) => (said(&proved, &files), 0),
            Err(Failed::Refuted(problem)) => (format!("Not proved: {problem}."), 1),
            Err(Failed::Unread(problem)) => {
                eprintln!("bestset-check: {problem}");
                return 2;
            }
        },
    };
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => status,
        Err(_) => 2,
    }
}
