//! What a proof is about: data, problem, claim.

use super::hash::Sha256;
use super::stream::{MAGIC, Stream};
use crate::design::{Column, Design};
use crate::error::{Error, Result, check_length};
use crate::loss::Loss;
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::solution::Coefficients;

/// The data as its file has it, in the words of that file.
#[derive(Clone)]
pub struct ProofData<'s> {
    /// X before it was scaled.
    pub x: &'s dyn Design,
    /// What the problem divides its columns by, if it does.
    pub scale: Option<&'s [f64]>,
    /// Names of the features.
    pub names: Vec<String>,
    /// Name of the target, empty where it is a file of its own.
    pub target: String,
    /// Name of the weights, empty where there are none.
    pub weights: String,
    /// Name of the offsets, empty where there are none.
    pub offset: String,
}

/// That no subset has P below the bound, and which answers come near to it.
#[derive(Debug, Clone)]
pub struct Claim {
    /// B.
    pub bound: f64,
    /// Whether the answers are excepted.
    pub excepted: bool,
    /// The answers.
    pub answers: Vec<Coefficients>,
    /// Sets of features, columns that depend on each other: of subsets that hold all of one nothing is claimed.
    pub dependent: Vec<Vec<usize>>,
}

impl ProofData<'_> {
    /// What a proof cannot speak of yet.
    pub fn check(&self, problem: &Problem<'_>) -> Result<()> {
        check_length("feature names", self.names.len(), problem.ncols())?;
        let unsupported =
            |setting: String, advice: &'static str| Err(Error::Unused { setting, place: "with a proof file", advice });
        loss_number(problem.loss())?;
        if problem.weights().is_some() == self.weights.is_empty()
            || problem.offset().is_some() == self.offset.is_empty()
        {
            return unsupported(
                "weights or offsets".to_owned(),
                "those that are used need a name, those that are not none",
            );
        }
        Ok(())
    }

    /// SHA-256 of n, p and the hashes of all columns, of the target, the weights and the offsets.
    fn hash(&self, problem: &Problem<'_>) -> Result<[u8; 32]> {
        let (n, p) = (self.x.nrows(), self.x.ncols());
        let mut hash = Sha256::default();
        hash.update(b"bestset data 1");
        [n, p].iter().for_each(|count| hash.update(&(*count as u64).to_le_bytes()));
        let (mut column, mut dense) = (Column::default(), vec![0.0; n]);
        for j in 0..p {
            self.x.column(j, &mut column)?;
            column.to_dense(&mut dense);
            hash.update(&digest(&dense));
        }
        for part in [Some(problem.y()), problem.weights(), problem.offset()] {
            hash.update(&[u8::from(part.is_some())]);
            part.iter().for_each(|part| hash.update(&digest(part)));
        }
        Ok(hash.finish())
    }

    /// The header.
    pub fn write(&self, problem: &Problem<'_>, claim: &Claim, out: &mut Stream<'_>) -> Result<()> {
        let p = problem.ncols();
        out.raw(MAGIC)?;
        out.raw(&self.hash(problem)?)?;
        out.whole(problem.nrows())?;
        out.whole(p)?;
        [&self.target, &self.weights, &self.offset].into_iter().try_for_each(|name| out.text(name))?;
        self.names.iter().try_for_each(|name| out.text(name))?;
        out.raw(&[loss_number(problem.loss())?])?;
        if let Loss::Huber { delta: width } | Loss::NegativeBinomial { theta: width } = problem.loss() {
            out.real(width)?;
        }
        out.flag(problem.has_intercept())?;
        out.flag(self.scale.is_some())?;
        self.scale.into_iter().flatten().try_for_each(|s| out.real(*s))?;
        let first = problem.coordinate(0);
        let is_uniform = (1..p).all(|j| problem.coordinate(j) == first);
        out.flag(!is_uniform)?;
        for j in 0..if is_uniform { 1 } else { p } {
            let Coordinate { l0, l1, l2, lower, upper } = problem.coordinate(j);
            [l0, l1, l2, lower, upper].into_iter().try_for_each(|x| out.real(x))?;
        }
        out.whole(problem.max_size().map_or(0, |k| k + 1))?;
        out.real(claim.bound)?;
        out.flag(claim.excepted)?;
        out.whole(claim.answers.len())?;
        claim.answers.iter().try_for_each(|answer| out.sparse(answer.iter().collect()))?;
        out.whole(claim.dependent.len())?;
        claim.dependent.iter().try_for_each(|set| out.features(set))
    }
}

/// An error where the checker does not know the loss.
pub fn check_loss(loss: Loss) -> Result<()> {
    loss_number(loss).map(|_| ())
}

/// The number that stands for a loss in the file.
fn loss_number(loss: Loss) -> Result<u8> {
    match loss {
        Loss::Squared => Ok(0),
        Loss::Logistic => Ok(1),
        Loss::SquaredHinge => Ok(2),
        Loss::Huber { .. } => Ok(3),
        Loss::Poisson => Ok(4),
        Loss::Gamma => Ok(5),
        Loss::NegativeBinomial { .. } => Ok(6),
        other => Err(Error::Unused {
            setting: format!("the {} loss", other.name()),
            place: "with a proof file",
            advice: "the checker does not know it; leave the proof file out",
        }),
    }
}

/// SHA-256 of the numbers, each as eight bytes, the lowest first.
fn digest(numbers: &[f64]) -> [u8; 32] {
    let mut hash = Sha256::default();
    numbers.iter().for_each(|x| hash.update(&x.to_le_bytes()));
    hash.finish()
}
