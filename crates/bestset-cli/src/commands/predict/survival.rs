//! What is predicted of survival times.

use super::Predict;
use super::written::{Predictions, Value};
use crate::exit::Failure;
use crate::work::Encoding;
use crate::work::survival::known_strata;
use bestset::Baseline;
use bestset::model::Model;
use bestset_data::Dataset;

/// What is predicted of survival times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    Linear,
    Risk,
    Survival,
    Hazard,
    Median,
}

impl Kind {
    /// What the column of predictions is called.
    fn title(self) -> &'static str {
        match self {
            Self::Linear => "linear predictor",
            Self::Risk => "risk",
            Self::Survival => "survival",
            Self::Hazard => "cumulative hazard",
            Self::Median => "median",
        }
    }
}

impl Predict {
    /// What is asked of survival times.
    pub(super) fn survival(
        &self,
        model: &Model,
        known: Option<&Encoding>,
        data: &Dataset,
        u: Vec<f64>,
    ) -> Result<Predictions, Failure> {
        let (kind, target) = (self.kind.unwrap_or(Kind::Linear), known.map_or("y".to_owned(), |k| k.target.clone()));
        let is_curve = matches!(kind, Kind::Survival | Kind::Hazard);
        if is_curve == self.times.is_empty() {
            return Err(Failure::Usage("--times goes with --type survival and --type hazard, and these need it"));
        }
        let reason = "the model file has no baseline hazard: fit it with this version";
        let baseline = || model.baseline.as_ref().ok_or_else(|| Failure::Message(reason.to_owned()));
        let (mut values, mut curves) = (Vec::new(), Vec::new());
        let strata = match is_curve || kind == Kind::Median {
            true => self.strata_of(baseline()?, known, data)?,
            false => None,
        };
        for (i, u) in u.into_iter().enumerate() {
            let stratum = strata.as_ref().map(|s| s[i]);
            match kind {
                Kind::Linear => values.push(u),
                Kind::Risk => values.push(u.exp()),
                Kind::Median => values.push(baseline()?.median(baseline()?.curve(stratum)?, u)),
                Kind::Survival | Kind::Hazard => {
                    let (from, curve) = (baseline()?, baseline()?.curve(stratum)?);
                    let at = |t: &f64| match kind {
                        Kind::Survival => from.survival(curve, u, *t),
                        _ => from.hazard(curve, u, *t),
                    };
                    curves.push(self.times.iter().map(at).collect());
                }
            }
        }
        Ok(Predictions {
            target,
            title: Some(kind.title()),
            predictions: values.into_iter().map(Value::Number).collect(),
            times: self.times.clone(),
            curves,
            ..Predictions::default()
        })
    }

    /// The stratum of each row by its number; none for a model of one.
    fn strata_of(
        &self,
        baseline: &Baseline,
        known: Option<&Encoding>,
        data: &Dataset,
    ) -> Result<Option<Vec<usize>>, Failure> {
        if baseline.strata.len() < 2 {
            return Ok(None);
        }
        let numbered = || baseline.strata.iter().map(|curve| curve.stratum.to_string()).collect();
        let labels: Vec<String> = known.and_then(|k| k.strata.clone()).unwrap_or_else(numbered);
        let Some(column) = data.apart.first() else {
            let names = labels.join(", ");
            let problem = format!("was fitted with strata ({names}): --strata COLUMN names the column that has them");
            return Err(Failure::Message(format!("{}: {problem}", self.model.display())));
        };
        known_strata(column, &labels).map(Some)
    }
}
