//! `bestset-check DATA PROOF [--target FILE] [--features] [--counts]`: 0 where the proof holds, 1 where it does not, or not of this data, 2
//! where it could not be looked at.

use crate::{Failed, Proved, Table, judge};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

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

Exit status: 0 the proof holds; 1 it does not, or not of this data; 2 it could not be looked at: words that are not
understood, a file that is missing, of another version or not what it should be, a column that is not of numbers.";

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

fn asked(words: impl Iterator<Item = OsString>) -> Result<Asked, String> {
    let (mut files, mut target, mut features, mut counts) = (Vec::new(), None, false, false);
    let mut words = words;
    while let Some(one) = words.next() {
        match one.to_str() {
            Some("--target") => target = Some(words.next().ok_or("--target: no file follows")?.into()),
            Some("--features") => features = true,
            Some("--counts") => counts = true,
            Some("--help" | "-h") => return Ok(Asked::Help),
            Some("--version" | "-V") => return Ok(Asked::Version),
            Some(option) if option.starts_with('-') && option.len() > 1 => {
                return Err(format!("{option}: there is no such option"));
            }
            _ => files.push(PathBuf::from(one)),
        }
    }
    let wanted = |found: Vec<PathBuf>| format!("{} files where two are wanted, DATA and PROOF", found.len());
    let [data, proof] = <[PathBuf; 2]>::try_from(files).map_err(wanted)?;
    Ok(Asked::Check(Files { data, proof, target, features, counts }))
}

/// What all proofs begin with, before the number of the version.
const BEGINNING: &[u8] = b"BSPROOF";

/// Whether a file begins as proofs do; what is no file, as a pipe, can be read only once.
fn is_proof(path: &Path) -> std::io::Result<bool> {
    let mut bytes = Vec::new();
    if std::fs::metadata(path)?.is_file() {
        File::open(path)?.take(BEGINNING.len() as u64).read_to_end(&mut bytes)?;
    }
    Ok(bytes == BEGINNING)
}

fn proved(files: &Files) -> Result<Proved, Failed> {
    let unread = |path: &Path, problem: String| Failed::Unread(format!("{}: {problem}", path.display()));
    if is_proof(&files.data).map_err(|e| unread(&files.data, e.to_string()))? {
        return Err(unread(
            &files.data,
            "this is a proof, and the data come first: bestset-check DATA PROOF".to_owned(),
        ));
    }
    let data = Table::read(&files.data).map_err(Failed::Unread)?;
    let target = files.target.as_deref().map(Table::read).transpose().map_err(Failed::Unread)?;
    let proof = File::open(&files.proof).map_err(|e| unread(&files.proof, e.to_string()))?;
    judge(&data, target.as_ref(), BufReader::with_capacity(1 << 20, proof)).map_err(|failed| match failed {
        Failed::Unread(problem) => unread(&files.proof, problem),
        other => other,
    })
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
        Err(problem) => {
            eprintln!("bestset-check: {problem}; see bestset-check --help");
            return 2;
        }
        Ok(Asked::Help) => (USAGE.to_owned(), 0),
        Ok(Asked::Version) => (concat!("bestset-check ", env!("CARGO_PKG_VERSION")).to_owned(), 0),
        Ok(Asked::Check(files)) => match proved(&files) {
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
