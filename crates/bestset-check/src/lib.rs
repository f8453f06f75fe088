//! Checks proofs of best subset selection, without the code that found them.
//!
//! A proof says which data and which problem it is about, claims that no subset has an objective below B, and divides all subsets into
//! families, each with a point at which one inequality bounds its subsets. The format and the rules, with their proofs, are in
//! `docs/PROOF.md` of the repository; the files here are its sections.
//!
//! | file | what |
//! |---|---|
//! | `table` | data out of a CSV or NPY file |
//! | `source`, `header` | the bytes of a proof; which data, which problem, which claim |
//! | `model` | the columns of the problem, compared with the hash |
//! | `bound`, `lemma` | the inequality, and the curvature it may use |
//! | `fit`, `form`, `leaps` | least squares, from below, and what that decides |
//! | `coherence`, `pairs` | subsets by how many features they add to a point's |
//! | `dual`, `loss` | the same for losses that are not the squared one |
//! | `tree` | the records: splits, bounds, decisions |
//! | `round`, `sha256` | rounding bounded beforehand; the hash |
//! | `command` | the program |
//! | `sentence` | what has been proved, in words |

mod bound;
mod coherence;
mod command;
mod dual;
mod fit;
mod form;
mod header;
mod leaps;
mod lemma;
mod loss;
mod model;
mod pairs;
mod round;
mod sentence;
mod sha256;
mod source;
mod table;
mod tree;

pub use command::run;
pub use header::{Header, Penalty};
pub use loss::Loss;
pub use table::Table;
pub use tree::Counts;

use model::Model;
use round::up;
use source::Source;
use std::io::Read;

/// What has been proved.
#[derive(Debug, Clone)]
pub struct Proved {
    /// The data, the problem and the claim.
    pub header: Header,
    /// At least P of each answer.
    pub objectives: Vec<f64>,
    /// How it was proved.
    pub counts: Counts,
    /// Columns of the data that the proof does not speak of.
    pub left_out: Vec<String>,
    /// The length of all columns once scaled, where they have one length; constant ones aside.
    pub length: Option<f64>,
    /// Whether the target was a file of its own, whose name the proof does not know.
    pub has_own_target: bool,
}

/// Why nothing is proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failed {
    /// The proof does not hold, or not of this data.
    Refuted(String),
    /// It could not be looked at.
    Unread(String),
}

impl From<String> for Failed {
    fn from(problem: String) -> Self {
        Self::Refuted(problem)
    }
}

impl From<&str> for Failed {
    fn from(problem: &str) -> Self {
        Self::Refuted(problem.to_owned())
    }
}

/// Checks a proof against its data; the target may be in a table of its own. The error says what does not hold.
pub fn check(data: &Table, target: Option<&Table>, proof: impl Read) -> Result<Proved, String> {
    judge(data, target, proof).map_err(|failed| match failed {
        Failed::Refuted(problem) | Failed::Unread(problem) => problem,
    })
}

/// As [`check`], and whether the proof does not hold or could not be looked at.
pub fn judge(data: &Table, target: Option<&Table>, proof: impl Read) -> Result<Proved, Failed> {
    let mut source = Source::new(proof);
    let unread = |_| Failed::Unread("the file is too short for a proof".to_owned());
    let (magic, known) = (source.array::<8>().map_err(unread)?, header::MAGIC);
    if magic != known {
        let [magic, known] = [magic, known].map(|m| String::from_utf8_lossy(&m).escape_default().to_string());
        return Err(Failed::Unread(format!("the file begins with {magic}, and this program checks {known}")));
    }
    let header = Header::read(&mut source)?;
    let model = Model::new(&header, data, target)?;
    let objectives: Vec<f64> = header.answers.iter().map(|answer| objective(&header, &model, answer)).collect();
    let counts = tree::Tree::new(&header, &model, &objectives).follow(&mut source)?;
    let left_out = left_out(&header, data);
    Ok(Proved { length: model.length(), header, objectives, counts, left_out, has_own_target: target.is_some() })
}

impl Proved {
    /// At least what subsets that hold an answer's may be better than it by (PROOF, "COVERED"): what answers may be off by.
    fn room(&self) -> f64 {
        up(self.objectives.iter().copied().fold(f64::NEG_INFINITY, f64::max) - self.header.bound)
    }
}

/// The columns that are neither features nor target, weights or offsets.
fn left_out(header: &Header, data: &Table) -> Vec<String> {
    let mut spoken = std::collections::HashMap::<&str, usize>::new();
    let Header { target, weights, offset, names, .. } = header;
    [target, weights, offset].into_iter().chain(names).for_each(|name| *spoken.entry(name).or_default() += 1);
    let mut is_left_out = |name: &&String| match spoken.get_mut(name.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    data.names().iter().filter(|name| is_left_out(name)).cloned().collect()
}

/// At least P of an answer.
fn objective(header: &Header, model: &Model, answer: &Vec<(usize, f64)>) -> f64 {
    let mut value = match model.loss {
        Loss::Squared => bound::Residual::new(model, answer).loss(),
        _ => dual::loss(model, answer),
    };
    for &(j, b) in answer {
        let Penalty { l0, l1, l2, .. } = header.penalty(j);
        let shrinkage = up(up(l1 * b.abs()) + up(l2 * up(b * b)));
        value = up(value + up(l0 + shrinkage));
    }
    value
}
