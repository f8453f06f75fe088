//! From what the core returns to what a report shows.

use crate::types::*;
use bestset::select::Standing;
use bestset::{Bounds, Coefficients, Local, Loss, Options, Problem, Screened, Solution, Status};

/// Features of which each is dropped once to see how much the objective rises: so many at the most.
pub(crate) const MOST_DROPPED: usize = 100;

/// Names of features by their number.
pub type Names<'a> = &'a dyn Fn(usize) -> String;

impl Certificate {
    /// Of a solution: also says what was checked where little is proved. `standing` is against no features, where that is known;
    /// `most` is the size asked for, if it was limited.
    pub fn of(solution: &Solution, standing: Option<Standing>, most: Option<usize>) -> Self {
        let certificate = &solution.certificate;
        let optimal = solution.status == Status::Optimal;
        let mut made = Self::new(certificate.objective, certificate.lower_bound, solution.status.to_string(), optimal);
        made.relaxation = certificate.relaxation;
        if let Some(standing) = standing {
            made = made.with_standing(standing);
        }
        if let Some(k) = most {
            let choice = format!("choice of at most {k} {}", if k == 1 { "feature" } else { "features" });
            made.sentence =
                made.sentence.replace("choice of features", &choice).replace("subset of", &format!("{choice} of"));
        }
        if !optimal {
            made.sentence.push_str(match solution.local {
                Local::None => "",
                Local::Coordinate => " Checked: no change of one coefficient lowers it.",
                Local::Swap => " Checked: no addition, removal or exchange of one feature lowers it.",
            });
        }
        made
    }
}

impl TraceRow {
    /// Of a trace.
    pub fn of(trace: &[bestset::TraceRow]) -> Vec<Self> {
        let row =
            |r: &bestset::TraceRow| Self { seconds: r.seconds, objective: r.objective, lower_bound: r.lower_bound };
        trace.iter().map(row).collect()
    }
}

impl Screening {
    /// The rules that decided something, in words.
    pub fn of(screened: &Screened, features: usize, selected: usize) -> Self {
        let rule = |name: &str, explanation: &str, count: usize, removes: bool| Rule {
            name: name.to_owned(),
            explanation: explanation.to_owned(),
            count,
            removes,
        };
        let all = [
            rule(
                "ruled out for good",
                "Proved to be in no best subset: even with everything else in its favour, one of these features costs \
                 more than it can bring.",
                screened.excluded,
                true,
            ),
            rule(
                "certain to be in",
                "Proved to be in every best subset: leaving one of them out costs more than the answer can be off.",
                screened.included,
                false,
            ),
            rule(
                "not needed for the bound",
                "Proved not to matter for the lower bound, which could be computed without them. That alone does not rule them \
                 out of the best subset.",
                screened.relaxation,
                false,
            ),
            rule(
                "set aside by the published rule",
                "The rule of the paper, with its own radius. It speaks of the lower bound, not of the best subset.",
                screened.published,
                false,
            ),
        ];
        Self { features, rules: all.into_iter().filter(|rule| rule.count > 0).collect(), selected }
    }
}

impl Model {
    /// Of coefficients on the scale of the data. `deviations` are the standard deviations of the selected features and
    /// `rises` their [importance], both in the order of the support; either may be empty.
    pub fn of(
        coefficients: &Coefficients,
        intercept: bool,
        names: Names<'_>,
        deviations: &[f64],
        rises: &[f64],
    ) -> Self {
        let term = |(k, (j, value)): (usize, (usize, f64))| Term {
            name: names(j),
            coefficient: value,
            by_class: Vec::new(),
            standardized: deviations.get(k).map(|d| d * value),
            rise: rises.get(k).copied(),
            frequency: None,
        };
        let terms = coefficients.iter().enumerate().map(term).collect();
        Self { intercept: intercept.then_some(coefficients.intercept), intercepts: Vec::new(), terms }
    }
}

/// Standard deviations of the selected features over the samples, weighted as they are in the problem.
pub fn deviations(problem: &Problem<'_>, support: &[usize]) -> bestset::Result<Vec<f64>> {
    let moments = problem.moments()?;
    let total: f64 = problem.weights().map_or(problem.nrows() as f64, |w| w.iter().sum());
    Ok(support.iter().map(|&j| (moments[j].centred / total).sqrt()).collect())
}

/// How much P rises when each selected feature in turn is dropped and the others are fitted again.
///
/// One convex fit for each feature: for a support of hundreds that may take longer than the solve itself.
pub fn importance(problem: &Problem<'_>, coefficients: &Coefficients, options: &Options) -> bestset::Result<Vec<f64>> {
    let p = problem.ncols();
    let mut bounds = (vec![0.0; p], vec![0.0; p]);
    for &j in &coefficients.support {
        (bounds.0[j], bounds.1[j]) = problem.penalty().bounds.at(j);
    }
    let options = Options { method: bestset::Method::Incremental, trace: false, warm_start: None, ..options.clone() };
    let objective = problem.objective(coefficients)?;
    let drop = |&j: &usize| {
        let (mut lower, mut upper) = bounds.clone();
        (lower[j], upper[j]) = (0.0, 0.0);
        let penalty = bestset::Penalty { lambda0: 0.0, ..problem.penalty().clone() };
        let without = problem.with_penalty(penalty.with_bounds(Bounds::Each(lower, upper)))?;
        Ok((problem.objective(&bestset::solve(&without, &options)?.coefficients)? - objective).max(0.0))
    };
    coefficients.support.iter().map(drop).collect()
}

impl Path {
    /// Of a path; only features that are in some answer are kept. `chosen` is the position of the reported model.
    pub fn of(path: &bestset::path::Path, names: Names<'_>, chosen: Option<usize>) -> Self {
        let mut used: Vec<usize> = path.points.iter().flat_map(|p| p.solution.support()).copied().collect();
        used.sort_unstable();
        used.dedup();
        let place = |j: usize| used.binary_search(&j).unwrap_or(usize::MAX);
        let point = |p: &bestset::path::Point| PathPoint {
            lambda0: p.lambda0,
            lambda2: p.lambda2,
            size: p.solution.support().len(),
            objective: p.solution.objective(),
            lower_bound: p.solution.certificate.lower_bound,
            coefficients: p.solution.coefficients.iter().map(|(j, b)| (place(j), b)).collect(),
        };
        let points = path.points.iter().map(point).collect();
        let features = used.iter().map(|&j| names(j)).collect();
        Self { features, points, criteria: Vec::new(), chosen, per_deviation: false }
    }

    /// The same with the usual criteria; those that do not fit the loss are left out.
    pub fn with_criteria(mut self, problem: &Problem<'_>, path: &bestset::path::Path) -> Self {
        let all = bestset::criteria::Criterion::all_along(problem, path, None).unwrap_or_default();
        let fitting = all.into_iter().filter(|(kind, _)| kind.is_defined(problem.loss()));
        // The share of the deviance is R² for the squared loss alone.
        let letter = if problem.loss().is_quadratic() { "R²" } else { "D²" };
        let named = |(kind, values): (bestset::criteria::Criterion, _)| Criterion {
            name: kind.title().replace("R²", letter),
            higher_is_better: kind.is_maximised(),
            values,
        };
        self.criteria = fitting.map(named).collect();
        self
    }
}

impl CrossValidation {
    /// Of a cross-validation; `folds` says how it was done.
    pub fn of(cv: &bestset::cv::CrossValidation, folds: impl Into<String>) -> Self {
        let point = |(p, s): (&bestset::path::Point, &bestset::cv::SizeScore)| CvPoint {
            lambda0: p.lambda0,
            lambda2: p.lambda2,
            size: p.solution.support().len(),
            mean: s.mean,
            standard_error: s.standard_error,
        };
        Self {
            metric: cv.score.title().to_owned(),
            higher_is_better: cv.score.is_maximised(),
            folds: folds.into(),
            fits: cv.folds(),
            others: Vec::new(),
            points: cv.path.points.iter().zip(&cv.scores).map(point).collect(),
            best: cv.best,
            one_se: cv.one_se,
        }
    }
}

impl Subset {
    /// Of the best subset of a size.
    pub fn of(subset: &bestset::Subset, names: Names<'_>) -> Self {
        let criteria = &subset.criteria;
        Self {
            size: subset.size,
            features: subset.coefficients.support.iter().map(|&j| names(j)).collect(),
            coefficients: subset.coefficients.values.clone(),
            objective: subset.certificate.objective,
            lower_bound: subset.certificate.lower_bound,
            optimal: subset.status == Status::Optimal,
            r2: Some(criteria.r2),
            adjusted_r2: criteria.adjusted_r2,
            cp: criteria.cp,
            aic: criteria.aic,
            bic: criteria.bic,
        }
    }
}

impl Ranked {
    /// Of one of the best subsets.
    pub fn of(ranked: &bestset::Ranked, names: Names<'_>) -> Self {
        let features = ranked.coefficients.support.iter().map(|&j| names(j)).collect();
        Self { features, objective: ranked.objective, proved: ranked.proved, r2: None }
    }
}

impl Diagnostics {
    /// Of margins u = Xβ + b (offset included) against the targets the loss was given.
    pub fn of(loss: Loss, y: &[f64], margins: &[f64]) -> Self {
        if !loss.is_classification() {
            let means: Vec<f64> = margins.iter().map(|&u| loss.mean(u)).collect();
            return Self::Regression(Regression::new(y, &means));
        }
        let labels: Vec<bool> = y.iter().map(|y| *y > 0.0).collect();
        Self::Classification(if loss == Loss::Logistic {
            let chances: Vec<f64> = margins.iter().map(|u| 1.0 / (1.0 + (-u).exp())).collect();
            Classification::from_probabilities(&labels, &chances)
        } else {
            Classification::from_margins(&labels, margins)
        })
    }
}

impl From<Loss> for Task {
    fn from(loss: Loss) -> Self {
        match loss {
            Loss::Cox { .. } => Self::Survival,
            Loss::Multinomial { .. } => Self::Classification,
            _ if loss.is_classification() => Self::Classification,
            _ => Self::Regression,
        }
    }
}
