//! The first part of a proof: which data, which problem, which claim.

use crate::loss::Loss;
use crate::round::{down, up};
use crate::source::Source;
use std::io::Read;

/// The first bytes of a proof: a name and the version of the format.
pub const MAGIC: [u8; 8] = *b"BSPROOF4";

/// λ0[b ≠ 0] + λ1|b| + λ2b² on low ≤ b ≤ high.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Penalty {
    /// λ0 ≥ 0.
    pub l0: f64,
    /// λ1 ≥ 0.
    pub l1: f64,
    /// λ2 ≥ 0.
    pub l2: f64,
    /// At most 0.
    pub low: f64,
    /// At least 0.
    pub high: f64,
}

/// Coefficients of the columns as they are scaled, by ascending features; none is zero.
pub type Sparse = Vec<(usize, f64)>;

/// Which data, which problem, which claim.
#[derive(Debug, Clone)]
pub struct Header {
    /// SHA-256 of the data.
    pub hash: [u8; 32],
    /// Number of samples.
    pub n: usize,
    /// Names of target, weights and offsets, empty where there are none; then of the features.
    pub target: String,
    /// See `target`.
    pub weights: String,
    /// See `target`.
    pub offset: String,
    /// See `target`.
    pub names: Vec<String>,
    /// The loss.
    pub loss: Loss,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// What columns are divided by, if they are.
    pub scales: Option<Vec<f64>>,
    /// One for all features, or one for each.
    penalties: Vec<Penalty>,
    /// The most features.
    pub size: Option<usize>,
    /// B: the claim is that no subset has P below it.
    pub bound: f64,
    /// Whether the answers themselves are excepted from the claim.
    pub excepted: bool,
    /// The answers.
    pub answers: Vec<Sparse>,
    /// Sets of features, ascending: of subsets that hold all of one of them nothing is claimed.
    pub dependent: Vec<Vec<usize>>,
}

impl Header {
    /// Reads what comes after the first bytes; every number is within its range.
    pub fn read<R: Read>(from: &mut Source<R>) -> Result<Self, String> {
        let hash = from.array()?;
        let (n, p) = (from.whole()?, from.whole()?);
        let (target, weights, offset) = (from.text()?, from.text()?, from.text()?);
        let mut names = Vec::new();
        for _ in 0..p {
            names.push(from.text()?);
        }
        let loss = loss(from)?;
        let (intercept, is_scaled) = (from.flag()?, from.flag()?);
        let mut scales = Vec::new();
        for _ in 0..if is_scaled { p } else { 0 } {
            scales.push(scale(from)?);
        }
        let each = from.flag()?;
        let mut penalties = Vec::new();
        for _ in 0..if each { p } else { 1 } {
            penalties.push(penalty(from)?);
        }
        let size = from.whole()?.checked_sub(1);
        let (bound, excepted) = (from.usable()?, from.flag()?);
        let scales = is_scaled.then_some(scales);
        let answers = Vec::new();
        let mut header = Self {
            hash,
            n,
            target,
            weights,
            offset,
            names,
            loss,
            intercept,
            scales,
            penalties,
            size,
            bound,
            excepted,
            answers,
            dependent: Vec::new(),
        };
        for _ in 0..from.whole()? {
            let answer = sparse(from, p)?;
            header.answers.push(header.feasible(answer)?);
        }
        for _ in 0..from.whole()? {
            match from.features(p)? {
                set if set.is_empty() => return Err("every subset holds a set of no features".to_owned()),
                set => header.dependent.push(set),
            }
        }
        Ok(header)
    }

    /// Number of features.
    pub fn p(&self) -> usize {
        self.names.len()
    }

    /// The penalty of feature j.
    pub fn penalty(&self, j: usize) -> Penalty {
        self.penalties[if self.penalties.len() == 1 { 0 } else { j }]
    }

    /// Prices of some features are lower by so much, B by as much for each of a number of them (PROOF, "COHERENCE").
    pub(crate) fn make_cheaper(
        &mut self,
        is_cheaper: impl Fn(usize) -> bool,
        by: f64,
        count: usize,
    ) -> Result<(), String> {
        let mut penalties: Vec<Penalty> = (0..self.p()).map(|j| self.penalty(j)).collect();
        for (j, penalty) in penalties.iter_mut().enumerate().filter(|c| is_cheaper(c.0)) {
            if by < 0.0 || by > penalty.l0 {
                return Err(format!("feature {j} cannot be cheaper by {by:e}"));
            }
            penalty.l0 = down(penalty.l0 - by).max(0.0);
        }
        (self.penalties, self.bound) = (penalties, up(self.bound - down(by * count as f64).max(0.0)));
        Ok(())
    }

    /// The features whose coefficient is bounded to zero.
    pub fn barred(&self) -> Vec<usize> {
        (0..self.names.len()).filter(|&j| self.penalty(j).low == 0.0 && self.penalty(j).high == 0.0).collect()
    }

    /// The penalty of all features that may enter, where it is the same.
    pub fn shared_penalty(&self) -> Option<Penalty> {
        let barred = self.barred();
        let mut open = (0..self.names.len()).filter(|j| barred.binary_search(j).is_err()).map(|j| self.penalty(j));
        let first = open.next()?;
        open.all(|penalty| penalty == first).then_some(first)
    }

    fn feasible(&self, answer: Sparse) -> Result<Sparse, String> {
        if self.size.is_some_and(|k| answer.len() > k) {
            return Err(format!("an answer has {} features, more than allowed", answer.len()));
        }
        for &(j, b) in &answer {
            let Penalty { low, high, .. } = self.penalty(j);
            if !(low..=high).contains(&b) {
                return Err(format!("an answer has {b} for {:?}, which is to be in [{low}, {high}]", self.names[j]));
            }
        }
        Ok(answer)
    }
}

/// Coefficients that are not zero: their features, then their values.
pub fn sparse<R: Read>(from: &mut Source<R>, p: usize) -> Result<Sparse, String> {
    let features = from.features(p)?;
    let mut pairs = Vec::new();
    for j in features {
        match from.usable()? {
            0.0 => return Err(format!("byte {}: a coefficient of zero is listed", from.place())),
            b => pairs.push((j, b)),
        }
    }
    Ok(pairs)
}

fn loss<R: Read>(from: &mut Source<R>) -> Result<Loss, String> {
    match from.byte()? {
        0 => Ok(Loss::Squared),
        1 => Ok(Loss::Logistic),
        2 => Ok(Loss::SquaredHinge),
        3 => scale(from).map(Loss::Huber),
        4 => Ok(Loss::Poisson),
        5 => Ok(Loss::Gamma),
        6 => scale(from).map(Loss::NegativeBinomial),
        other => Err(format!("byte {}: no loss has the number {other}", from.place())),
    }
}

fn scale<R: Read>(from: &mut Source<R>) -> Result<f64, String> {
    match from.usable()? {
        s if s > 0.0 => Ok(s),
        s => Err(format!("byte {}: a scale, or width of a loss, of {s}", from.place())),
    }
}

fn penalty<R: Read>(from: &mut Source<R>) -> Result<Penalty, String> {
    let (l0, l1, l2) = (from.usable()?, from.usable()?, from.usable()?);
    let mut end = || -> Result<f64, String> {
        match from.real()? {
            x if x.is_infinite() || crate::round::is_usable(x) => Ok(x),
            x => Err(format!("a bound of {x:e} on a coefficient")),
        }
    };
    let (low, high) = (end()?, end()?);
    match l0 >= 0.0 && l1 >= 0.0 && l2 >= 0.0 && low <= 0.0 && high >= 0.0 {
        true => Ok(Penalty { l0, l1, l2, low, high }),
        false => Err(format!("a penalty of {l0}, {l1}, {l2} on [{low}, {high}]")),
    }
}
