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
//! | `tree` | the records: splits, bounds, decisions |
//! | `round`, `sha256` | rounding bounded beforehand; the hash |
//! | `command` | the program |

mod bound;
mod command;
mod header;
mod lemma;
mod model;
mod round;
mod sha256;
mod source;
mod table;
mod tree;

pub use command::run;
pub use header::{Header, Penalty};
pub use table::Table;
pub use tree::Counts;

use model::Model;
use round::up;
use source::Source;
use std::fmt::Write;
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
}

/// Checks a proof against its data; the target may be in a table of its own. The error says what does not hold.
pub fn check(data: &Table, target: Option<&Table>, proof: impl Read) -> Result<Proved, String> {
    let mut source = Source::new(proof);
    let header = Header::read(&mut source)?;
    let model = Model::new(&header, data, target)?;
    let counts = tree::Tree::new(&header, &model).follow(&mut source)?;
    let objectives = header.answers.iter().map(|answer| objective(&header, &model, answer)).collect();
    Ok(Proved { header, objectives, counts })
}

/// At least P of an answer.
fn objective(header: &Header, model: &Model, answer: &Vec<(usize, f64)>) -> f64 {
    let mut value = bound::Residual::new(model, answer).loss();
    for &(j, b) in answer {
        let Penalty { l0, l1, l2, .. } = header.penalty(j);
        let shrinkage = up(up(l1 * b.abs()) + up(l2 * up(b * b)));
        value = up(value + up(l0 + shrinkage));
    }
    value
}

impl Proved {
    /// What has been proved, in one sentence.
    pub fn sentence(&self) -> String {
        let Header { n, names, target, size, bound, excepted, answers, .. } = &self.header;
        let mut text = format!("Proved: for {n} rows of {target:?} with SHA-256 {}, ", sha256::hex(&self.header.hash));
        let limit = size.map_or_else(String::new, |k| format!(" of at most {k}"));
        let _ = write!(text, "no subset{limit} of the {} features", names.len());
        if *excepted {
            let _ = write!(text, " but those listed");
        }
        let _ = write!(text, " has P = {} below {bound}", self.problem());
        for (answer, objective) in answers.iter().zip(&self.objectives) {
            let features: Vec<&str> = answer.iter().map(|c| names[c.0].as_str()).collect();
            let _ = write!(text, "; {{{}}} has P at most {objective}", features.join(", "));
        }
        text + "."
    }

    /// P in a formula.
    fn problem(&self) -> String {
        let Header { intercept, scales, weights, offset, .. } = &self.header;
        let weight = if weights.is_empty() { "" } else { "w" };
        let fixed = if offset.is_empty() { "" } else { " − o" };
        let free = if *intercept { " − b0" } else { "" };
        let mut text = format!("½Σ{weight}(y{fixed} − Xb{free})²");
        match self.header.is_uniform() {
            false => text.push_str(" + the penalty of each feature that the proof lists"),
            true => {
                let Penalty { l0, l1, l2, low, high } = self.header.penalty(0);
                for (value, what) in [(l0, "‖b‖₀"), (l1, "‖b‖₁"), (l2, "‖b‖₂²")] {
                    if value > 0.0 {
                        let _ = write!(text, " + {value}{what}");
                    }
                }
                if low.is_finite() || high.is_finite() {
                    let _ = write!(text, ", b in [{low}, {high}],");
                }
            }
        }
        if scales.is_some() {
            text.push_str(" (columns divided by the scales that the proof lists)");
        }
        text
    }
}
