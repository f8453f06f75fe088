//! How it is solved and what decides the number of features: `Control` and `Choice` of `python/bestset/_problem.py`.

use crate::errors::Failure;
use crate::workers::Elsewhere;
use bestset::CancelFlag;
use bestset::criteria::Criterion;
use bestset::cv::{Rule, Score, Split};
use bestset::path::Search;
use bestset::select::{Folded, How, Posed, ProofFile, Prove, Selection, Workers};
use bestset::{Coefficients, Error, Limits, Options};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How it is solved.
#[derive(FromPyObject)]
pub struct Control {
    method: String,
    gap: f64,
    time_limit: Option<f64>,
    pub threads: Option<usize>,
    trace: bool,
    max_iter: Option<usize>,
    max_nodes: Option<usize>,
    max_memory: Option<usize>,
    top: usize,
    stop: String,
    warm_start: Option<(Vec<usize>, Vec<f64>, f64)>,
    prove: ProveArgument,
    checkpoint: Option<PathBuf>,
    proof: Option<ProofArgument>,
    pub keep_answer: bool,
    workers: Option<Py<PyAny>>,
}

/// Where a proof goes, and the data as they were used; names of the features and of the target.
#[derive(FromPyObject)]
struct ProofArgument(PathBuf, Option<PathBuf>, Vec<String>, String);

/// "auto", or seconds.
#[derive(FromPyObject)]
enum ProveArgument {
    Seconds(f64),
    Word(String),
}

/// What decides the number of features: a price, a size, or else cross-validation or the criterion along a path.
#[derive(FromPyObject)]
pub struct Choice {
    lambda0: Option<f64>,
    k: Option<usize>,
    criterion: String,
    gamma: f64,
    folding: Option<Folding>,
    lambda0s: Option<Vec<f64>>,
    lambda2s: Vec<f64>,
    points: Option<usize>,
    ratio: Option<f64>,
    max_size: Option<usize>,
    full: bool,
}

/// The subsamples of stability selection.
#[derive(FromPyObject)]
pub struct Draws {
    pub subsamples: usize,
    pub share: f64,
    pub seed: u64,
}

/// How cross-validation is done.
#[derive(FromPyObject)]
struct Folding {
    folds: Option<usize>,
    splits: Vec<(Vec<usize>, Vec<usize>)>,
    score: Option<String>,
    one_se: bool,
    seed: u64,
}

fn seconds(name: &'static str, value: f64) -> Result<Option<Duration>, Error> {
    if value.is_nan() || value < 0.0 {
        return Err(Error::Range { name, value, range: "at least 0" });
    }
    // Beyond what a duration can hold is as good as no limit.
    Ok(Duration::try_from_secs_f64(value).ok())
}

impl Control {
    /// When the call ends that begins now.
    pub fn limits(&self) -> Result<Limits, Failure> {
        let time_limit = self.time_limit.map(|limit| seconds("time_limit", limit)).transpose()?.flatten();
        Ok(Limits::begin(time_limit, CancelFlag::default()))
    }

    /// The options of what is left of the call, coefficients to start from on the scale inside.
    pub fn options(&self, posed: &Posed<'_>, limits: &Limits) -> Result<Options, Failure> {
        let warm_start = self.warm_start.as_ref().map(|(support, values, intercept)| {
            let start = Coefficients { support: support.clone(), values: values.clone(), intercept: *intercept };
            posed.inward(&start)
        });
        Ok(Options {
            method: self.method.parse()?,
            gap: self.gap,
            max_iterations: self.max_iter,
            max_nodes: self.max_nodes,
            max_memory: self.max_memory,
            top: self.top,
            published: bestset::Published { stop: self.stop.parse()?, ..Default::default() },
            time_limit: limits.left(),
            trace: self.trace,
            warm_start,
            cancel: limits.cancel().clone(),
            ..Options::default()
        })
    }

    fn workers(&self, cancel: &CancelFlag) -> Option<Arc<dyn Workers>> {
        let function = self.workers.as_ref().map(|function| Python::attach(|py| function.clone_ref(py)))?;
        Some(Arc::new(Elsewhere { function, cancel: cancel.clone() }))
    }

    /// Where a proof is to go.
    pub fn proof(&self) -> Option<ProofFile> {
        let ProofArgument(path, data, names, target) = self.proof.as_ref()?;
        Some(ProofFile {
            path: path.clone(),
            data: data.clone(),
            names: names.clone(),
            target: target.clone(),
            weights: "sample_weight".to_owned(),
            offset: "offset".to_owned(),
        })
    }

    fn prove(&self) -> Result<Prove, Error> {
        Ok(match &self.prove {
            ProveArgument::Word(word) if word == "auto" => Prove::Usual,
            ProveArgument::Word(word) => return Err(Error::UnknownName { what: "way to prove", name: word.clone() }),
            ProveArgument::Seconds(0.0) => Prove::No,
            ProveArgument::Seconds(given) => seconds("prove", *given)?.map_or(Prove::Fully, Prove::For),
        })
    }
}

impl Choice {
    /// The settings of the core.
    pub fn selection(&self, posed: &Posed<'_>, control: &Control, limits: &Limits) -> Result<Selection, Failure> {
        Ok(Selection {
            how: self.how()?,
            grid: Selection::prices(self.lambda0s.as_deref().unwrap_or_default(), self.ratio, self.points),
            max_size: self.max_size,
            lambda2: self.lambda2s.clone(),
            search: if self.full { Search::Full } else { Search::Neighbours },
            prove: control.prove()?,
            checkpoint: control.checkpoint.clone(),
            workers: control.workers(limits.cancel()),
            solve: control.options(posed, limits)?,
        })
    }

    fn how(&self) -> Result<How, Error> {
        Ok(match (self.lambda0, self.k, &self.folding) {
            (Some(lambda0), ..) => How::Price(lambda0),
            (None, Some(k), _) => How::Size(k),
            (None, None, Some(folding)) => How::CrossValidation(folding.own()?),
            (None, None, None) => How::Criterion(self.criterion.parse::<Criterion>()?.with_gamma(self.gamma)),
        })
    }
}

impl Folding {
    fn own(&self) -> Result<Folded, Error> {
        let split = |(train, test): &(Vec<usize>, Vec<usize>)| Split { train: train.clone(), test: test.clone() };
        Ok(Folded {
            folds: self.folds,
            repeats: 1,
            splits: self.splits.iter().map(split).collect(),
            score: self.score.as_ref().map(|name| name.parse::<Score>()).transpose()?,
            rule: if self.one_se { Rule::OneSe } else { Rule::Min },
            seed: self.seed,
        })
    }
}
