//! How it is solved and what decides the number of features, as `R/words.R` writes them.

use crate::classes::Given;
use crate::errors::said;
use crate::fields::{needed, Failure, Fields};
use bestset::criteria::Criterion;
use bestset::cv::{Folds, Rule, Score, Split};
use bestset::path::Search;
use bestset::select::{Folded, How, Posed, Prove, Selection};
use bestset::{CancelFlag, Error, Limits, Options};
use std::path::PathBuf;
use std::time::Duration;

/// How it is solved. Coefficients to start from are on the scale of the columns given.
pub struct Control {
    options: Options,
    /// When the call ends, which begins where this is read.
    pub limits: Limits,
    pub threads: Option<usize>,
    prove: Prove,
    checkpoint: Option<PathBuf>,
    warm_start: Option<Given>,
}

/// What decides the number of features: a price, a size, or else cross-validation or the criterion along a path.
pub struct Choice {
    how: How,
    lambda0s: Vec<f64>,
    lambda2s: Vec<f64>,
    points: Option<usize>,
    ratio: Option<f64>,
    max_size: Option<usize>,
    full: bool,
}

fn seconds(name: &'static str, value: f64) -> Result<Option<Duration>, Failure> {
    if value.is_nan() || value < 0.0 {
        return Err(said(Error::Range { name, value, range: "at least 0" }));
    }
    // Beyond what a duration can hold is as good as no limit.
    Ok(Duration::try_from_secs_f64(value).ok())
}

impl Control {
    /// Reads the list.
    pub fn read(from: &Fields, cancel: &CancelFlag) -> Result<Self, Failure> {
        let usual = Options::default();
        let method = from.text("method")?.map_or(Ok(usual.method), |name| name.parse()).map_err(said)?;
        let stop = from.text("stop")?.map_or(Ok(usual.published.stop), |name| name.parse()).map_err(said)?;
        let options = Options {
            method,
            gap: from.number("gap")?.unwrap_or(usual.gap),
            max_iterations: from.whole("max_iter")?,
            max_nodes: from.whole("max_nodes")?,
            max_memory: from.whole("max_memory")?,
            top: from.whole("top")?.unwrap_or(1),
            published: bestset::Published { stop, ..usual.published },
            time_limit: from.number("time_limit")?.map(|limit| seconds("time_limit", limit)).transpose()?.flatten(),
            trace: from.flag("trace")?,
            cancel: cancel.clone(),
            ..usual
        };
        let prove = match from.number("prove")? {
            None => Prove::Usual,
            Some(0.0) => Prove::No,
            Some(given) => seconds("prove", given)?.map_or(Prove::Fully, Prove::For),
        };
        let checkpoint = from.text("checkpoint")?.map(PathBuf::from);
        let warm_start = from.list("warm_start")?.map(|start| Given::read(&start)).transpose()?;
        let limits = Limits::begin(options.time_limit, cancel.clone());
        Ok(Self { options, limits, threads: from.whole("threads")?, prove, checkpoint, warm_start })
    }

    /// The options of what is left of the call, coefficients to start from on the scale inside.
    pub fn options(&self, posed: &Posed<'_>) -> Options {
        let warm_start = self.warm_start.as_ref().map(|start| start.inward(posed));
        Options { warm_start, time_limit: self.limits.left(), ..self.options.clone() }
    }
}

impl Choice {
    /// Reads the list; parts of the samples need their number.
    pub fn read(from: &Fields, y: &[f64]) -> Result<Self, Failure> {
        Ok(Self {
            how: how(from, y)?,
            lambda0s: from.numbers("lambda0s")?.unwrap_or_default(),
            lambda2s: from.numbers("lambda2s")?.unwrap_or_default(),
            points: from.whole("points")?,
            ratio: from.number("ratio")?,
            max_size: from.whole("max_size")?,
            full: from.flag("full")?,
        })
    }

    /// The settings of the core.
    pub fn selection(&self, posed: &Posed<'_>, control: &Control) -> Selection {
        Selection {
            how: self.how.clone(),
            grid: Selection::prices(&self.lambda0s, self.ratio, self.points),
            max_size: self.max_size,
            lambda2: self.lambda2s.clone(),
            search: if self.full { Search::Full } else { Search::Neighbours },
            prove: control.prove,
            checkpoint: control.checkpoint.clone(),
            solve: control.options(posed),
            ..Selection::default()
        }
    }
}

fn how(from: &Fields, y: &[f64]) -> Result<How, Failure> {
    if let Some(lambda0) = from.number("lambda0")? {
        return Ok(How::Price(lambda0));
    }
    if let Some(k) = from.whole("k")? {
        return Ok(How::Size(k));
    }
    if let Some(folding) = from.list("folding")? {
        return Ok(How::CrossValidation(folded(&folding, y)?));
    }
    let criterion: Criterion = needed("criterion", from.text("criterion")?)?.parse().map_err(said)?;
    Ok(How::Criterion(criterion.with_gamma(from.number("gamma")?.unwrap_or(1.0))))
}

/// The parts that R drew or was given: samples with the same label are left out together.
fn folded(from: &Fields, y: &[f64]) -> Result<Folded, Failure> {
    let labels = needed("foldid", from.wholes("foldid")?)?;
    let parts = Folds::Given(labels).draw(y, 0).map_err(said)?;
    let score: Option<Score> = from.text("score")?.map(|name| name.parse()).transpose().map_err(said)?;
    let rule = if from.flag("one_se")? { Rule::OneSe } else { Rule::Min };
    Ok(Folded { splits: parts.iter().flat_map(|one| Split::by_part(one)).collect(), score, rule, ..Folded::default() })
}
