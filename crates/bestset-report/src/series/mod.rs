//! What the charts show, cut down to what a picture can hold; the page and the plots share it.

mod classes;
mod fit;
mod path;
mod scores;
mod survival;
mod trace;

#[cfg(feature = "plots")]
pub use classes::ClassCurve;
pub use classes::ClassesSeries;
#[cfg(feature = "plots")]
pub use fit::Histogram;
pub use fit::{ClassSeries, RegressionSeries};
#[cfg(feature = "plots")]
pub use path::Measure;
pub use path::{PathSeries, SubsetSeries};
pub use scores::CvSeries;
pub use survival::SurvivalSeries;
pub use trace::TraceSeries;

use crate::{Diagnostics, Report};
use serde::Serialize;

/// Everything the charts need.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// Names of the classes, negative then positive.
    pub classes: (String, String),
    /// Names and coefficients of the model, most important first.
    pub terms: Vec<(String, Option<f64>)>,
    /// The proof over time.
    pub trace: Option<TraceSeries>,
    /// The path.
    pub path: Option<PathSeries>,
    /// Cross-validation.
    pub cv: Option<CvSeries>,
    /// Best of each size.
    pub subsets: Option<SubsetSeries>,
    /// Fit of numbers.
    pub regression: Option<RegressionSeries>,
    /// Fit of classes.
    pub classification: Option<ClassSeries>,
    /// Curves of more than two classes.
    pub many: Option<ClassesSeries>,
    /// Survival of groups by risk.
    pub survival: Option<SurvivalSeries>,
}

/// The most coefficients drawn as bars.
const MOST_BARS: usize = 40;

impl Series {
    /// The series of a report.
    pub fn new(report: &Report) -> Self {
        let (mut regression, mut classification, mut many, mut survival) = (None, None, None, None);
        match &report.diagnostics {
            Some(Diagnostics::Regression(fit)) => regression = RegressionSeries::new(fit),
            Some(Diagnostics::Classification(fit)) => classification = ClassSeries::new(fit),
            Some(Diagnostics::Classes(fit)) => many = ClassesSeries::new(fit),
            Some(Diagnostics::Survival(fit)) => survival = SurvivalSeries::new(fit, &report.data.target),
            None => {}
        }
        let classes = report.data.classes.clone().unwrap_or_else(|| ("−1".into(), "+1".into()));
        let sorted = report.model.by_importance();
        Self {
            classes,
            terms: sorted.iter().take(MOST_BARS).map(|t| (t.name.clone(), short(t.coefficient))).collect(),
            trace: TraceSeries::new(&report.trace, &report.certificate),
            path: report.path.as_ref().and_then(PathSeries::new),
            cv: report.cv.as_ref().and_then(|cv| CvSeries::new(cv, report.path.as_ref())),
            subsets: SubsetSeries::new(&report.subsets),
            regression,
            classification,
            many,
            survival,
        }
    }
}

/// Six significant digits: more cannot be seen in a picture. `None` for what is not finite.
pub(crate) fn short(value: f64) -> Option<f64> {
    value.is_finite().then(|| format!("{value:.5e}").parse().unwrap_or(value))
}

/// A bound that says something: not further below the objective than zero is, and not below zero by rounding.
pub(crate) fn useful(objective: f64, bound: f64) -> Option<f64> {
    if objective - bound <= objective.abs() * (1.0 + 1e-9) { short(bound.max(objective.min(0.0))) } else { None }
}

pub(crate) fn shorts(values: impl IntoIterator<Item = f64>) -> Vec<Option<f64>> {
    values.into_iter().map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_are_finite_or_nothing() {
        assert_eq!(shorts([1.23456789, f64::NAN, f64::INFINITY, -1e300]), [Some(1.23457), None, None, Some(-1e300)]);
    }
}
