//! Survival times as R hands them over, and what the core says of them.

use crate::errors::said;
use crate::fields::{needed, Failure, Fields};
use crate::input::Stop;
use crate::value::{count, Record, Value};
use bestset::select::{Posed, Selected};
use bestset::{Baseline, CoupledLoss, Curve, Loss, Survival, Ties};

/// Times, events as 0 and 1, entries, and strata by number.
pub fn times(from: &Fields) -> Result<Survival, Failure> {
    let event = needed("event", from.numbers("event")?)?;
    Ok(Survival {
        time: needed("time", from.numbers("time")?)?,
        event: event.iter().map(|e| *e == 1.0).collect(),
        entry: from.numbers("entry")?,
        strata: from.wholes("strata")?,
    })
}

/// The ties of this name.
pub fn ties(name: &str) -> Result<Ties, Failure> {
    let known = [Ties::Efron, Ties::Breslow].into_iter().find(|t| t.name() == name);
    known.ok_or_else(|| format!("there are no ties named {name:?}"))
}

/// A baseline hazard as a list: the centre, and for each stratum its number, event times and cumulative hazards.
pub fn shown(from: &Baseline) -> Value {
    let curve = |c: &Curve| {
        let mut one = Record::default();
        one.set("stratum", count(c.stratum));
        one.set("times", c.times.clone());
        one.set("hazards", c.hazards.clone());
        Value::from(one)
    };
    let mut all = Record::default();
    all.set("centre", from.centre);
    all.set("strata", Value::List(from.strata.iter().map(curve).collect()));
    all.into()
}

/// The baseline hazard that [`shown`] made a list of.
pub fn baseline(from: &Fields) -> Result<Baseline, Failure> {
    let curve = |one: &Fields| {
        Ok::<_, Failure>(Curve {
            stratum: needed("stratum", one.whole("stratum")?)?,
            times: one.numbers("times")?.unwrap_or_default(),
            hazards: one.numbers("hazards")?.unwrap_or_default(),
        })
    };
    let strata = from.items("strata")?.iter().map(curve).collect::<Result<_, _>>()?;
    Ok(Baseline { centre: needed("centre", from.number("centre")?)?, strata })
}

/// Cumulative hazards or survival at `times`, row by row, or medians, of samples with the linear predictor u.
pub fn curves(
    from: &Baseline,
    u: &[f64],
    what: &str,
    times: &[f64],
    strata: Option<&[usize]>,
) -> Result<Vec<f64>, Failure> {
    let mut found = Vec::with_capacity(u.len() * times.len().max(1));
    for (i, &u) in u.iter().enumerate() {
        let curve = from.curve(strata.and_then(|s| s.get(i).copied())).map_err(said)?;
        match what {
            "hazard" => found.extend(times.iter().map(|&t| from.hazard(curve, u, t))),
            "survival" => found.extend(times.iter().map(|&t| from.survival(curve, u, t))),
            "median" => found.push(from.median(curve, u)),
            other => return Err(format!("there is no prediction named {other:?}")),
        }
    }
    Ok(found)
}

/// The loss, where it is that of survival times.
fn cox<'p>(posed: &'p Posed<'_>) -> Option<&'p dyn CoupledLoss> {
    posed.problem.coupled().filter(|_| matches!(posed.problem.loss(), Loss::Cox { .. }))
}

/// How many events there are, how often u orders samples rightly, and how likely it makes the events.
fn measures(loss: &dyn CoupledLoss, u: &[f64]) -> Record {
    let mut all = Record::default();
    all.set("events", loss.counted().0);
    all.set("concordance", loss.concordance(u, &(0..u.len()).collect::<Vec<_>>()));
    all.set("log_likelihood", -(loss.value(u) + loss.least()));
    all
}

/// What survival times say at the linear predictor u: events, C, partial likelihood, the baseline hazard, and the residuals −α/w of the
/// martingale.
pub fn told_at(posed: &Posed<'_>, u: &[f64]) -> Result<Value, Stop> {
    let loss = cox(posed).ok_or_else(|| Stop("there are no survival times: the family is not cox".to_owned()))?;
    if u.len() != loss.nrows() {
        return Err(Stop(format!("{} predictions for {} times", u.len(), loss.nrows())));
    }
    let mut alpha = vec![0.0; u.len()];
    loss.gradient(u, &mut alpha);
    let residual = |(i, a): (usize, &f64)| match posed.problem.weights() {
        Some(weights) if weights[i] > 0.0 => -a / weights[i],
        Some(_) => f64::NAN,
        None => -a,
    };
    let mut all = measures(loss, u);
    all.set("residuals", alpha.iter().enumerate().map(residual).collect::<Vec<f64>>());
    all.set("baseline", loss.baseline(u).as_ref().map(shown));
    Ok(all.into())
}

/// What is kept of an answer: events, C, partial likelihood and, as model files have it, the baseline hazard.
pub fn told(posed: &Posed<'_>, selected: &Selected) -> bestset::Result<Value> {
    let Some(loss) = cox(posed) else { return Ok(Value::Null) };
    let mut all = measures(loss, &posed.problem.margins(&selected.solution.coefficients)?);
    all.set("baseline", posed.model(selected)?.baseline.as_ref().map(shown));
    Ok(all.into())
}
