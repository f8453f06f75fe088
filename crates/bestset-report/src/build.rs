//! The report of a selection: what every interface shows of the same answer.

use crate::convert::{MOST_DROPPED, Names, deviations, importance};
use crate::number::number;
use crate::types::LEFT_OUT;
use crate::types::*;
use bestset::select::{By, Chosen, Posed, Selected};
use bestset::{CancelFlag, Coefficients, Method, Options, Problem, Status};
use std::collections::BTreeMap;
use std::time::Duration;

/// Features kept that folds choose and the model has not.
const MOST_OTHERS: usize = 30;

/// Runners-up looked for where none were asked for: as many as a table shows without scrolling.
const RUNNERS_UP: usize = 5;
/// The most nodes that are spent on them: a report is not to take longer than the fit.
const RUNNER_NODES: usize = 1000;
/// The most time, where nodes are slow.
const RUNNER_TIME: Duration = Duration::from_secs(2);

/// What the samples are called.
pub struct Subject<'s> {
    /// Where they come from, for instance the name of a file.
    pub source: String,
    /// The name of what is predicted.
    pub target: String,
    /// Names of the two classes, negative then positive.
    pub classes: Option<(String, String)>,
    /// Names of the classes in the order of their numbers; the multinomial loss alone looks at them.
    pub labels: Vec<String>,
    /// Names of the features.
    pub names: Names<'s>,
    /// Remarks on the data, one sentence each.
    pub notes: Vec<String>,
    /// Seconds from start to answer.
    pub seconds: Option<f64>,
    /// Ends what takes fits of its own, which is left out of the page then.
    pub cancel: CancelFlag,
}

impl Subject<'_> {
    /// A report of the data alone.
    pub fn opening(&self, problem: &Problem<'_>) -> Report {
        Report {
            title: format!("{} from {}", self.target, self.source),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            notes: self.notes.clone(),
            seconds: self.seconds,
            data: Data {
                source: self.source.clone(),
                samples: problem.samples(),
                features: problem.variables(),
                target: self.target.clone(),
                task: problem.loss().into(),
                loss: problem.loss().name().to_owned(),
                classes: self.classes.clone().filter(|_| problem.classes() == 1),
                labels: if problem.classes() > 1 { self.labels.clone() } else { Vec::new() },
            },
            ..Report::default()
        }
    }
}

/// The report of a selection.
pub fn build(posed: &Posed<'_>, selected: &Selected, subject: &Subject<'_>) -> bestset::Result<Report> {
    let Selected { solution, chosen, .. } = selected;
    let inside = &solution.coefficients;
    let problem = posed.priced(selected.lambda0, selected.lambda2)?;
    let opening = subject.opening(&problem);
    let remarks = selected.remarks.iter().map(|remark| remark.to_string());
    Ok(Report {
        notes: opening.notes.iter().cloned().chain(remarks).collect(),
        certificate: Certificate::of(solution, Some(selected.standing), selected.k),
        model: model(posed, selected, &problem, subject)?,
        trace: TraceRow::of(&solution.trace),
        screening: Some(Screening::of(&solution.screened, problem.variables(), problem.size(inside))),
        path: chosen.as_ref().map(|c| path(posed, c, subject)).transpose()?,
        cv: folded(selected).map(|found| cross_validation(posed, found, selected, subject)),
        ranked: ranked(posed, selected, &problem, subject)?,
        diagnostics: Some(diagnostics(posed, &problem, selected, subject)?),
        explained: explained(&problem, inside)?,
        deviance: posed
            .classes()
            .map(|_| bestset::criteria::Fit::new(&problem, inside))
            .transpose()?
            .map(|f| f.deviance),
        asked: asked(posed, selected),
        methods: crate::methods::sentence(posed, selected, &opening.data, &opening.version),
        ..opening
    })
}

/// The cross-validation that chose the model, if one did.
pub(crate) fn folded(selected: &Selected) -> Option<&bestset::cv::CrossValidation> {
    match selected.chosen.as_ref().map(|c| &c.by) {
        Some(By::CrossValidation(found, _)) => Some(found),
        _ => None,
    }
}

/// Coefficients on the scale of the data; importance and deviations are the same on either scale.
fn model(
    posed: &Posed<'_>,
    selected: &Selected,
    problem: &Problem<'_>,
    subject: &Subject<'_>,
) -> bestset::Result<Model> {
    if posed.classes().is_some() {
        return crate::classes::model(posed, selected, problem, subject);
    }
    let inside = &selected.solution.coefficients;
    let dropped = inside.support.len() <= MOST_DROPPED && posed.groups().is_none();
    let options = Options { cancel: subject.cancel.clone(), ..Options::default() };
    let rises = if dropped { importance(problem, inside, &options)? } else { Vec::new() };
    // Fits that were cut short say nothing.
    let rises = if subject.cancel.is_cancelled() { Vec::new() } else { rises };
    let outside: Coefficients = posed.outward(inside);
    let spread: Vec<f64> = deviations(problem, &inside.support)?;
    // Per unit of the column outside: what the coefficient inside times its deviation is.
    let ratio = |k: usize| if outside.values[k] != 0.0 { inside.values[k] / outside.values[k] } else { 0.0 };
    let spread: Vec<f64> = spread.iter().enumerate().map(|(k, d)| d * ratio(k)).collect();
    let mut model = Model::of(&outside, problem.has_intercept(), subject.names, &spread, &rises);
    count_folds(&mut model, selected, &inside.support);
    Ok(model)
}

/// How many of the folds have each of these features, which are the terms of the model.
pub(crate) fn count_folds(model: &mut Model, selected: &Selected, features: &[usize]) {
    let Some(found) = folded(selected) else { return };
    let shares = found.frequencies(selected.lambda2, features.len());
    for (term, j) in model.terms.iter_mut().zip(features) {
        term.frequency = Some(shares.iter().find(|s| s.0 == *j).map_or(0.0, |s| s.1));
    }
}

/// The scores, and the features that fits of the same size have and the model has not.
fn cross_validation(
    posed: &Posed<'_>,
    found: &bestset::cv::CrossValidation,
    selected: &Selected,
    subject: &Subject<'_>,
) -> CrossValidation {
    let support = &posed.outward(&selected.solution.coefficients).support;
    let mut others = found.frequencies(selected.lambda2, support.len());
    others.retain(|other| !support.contains(&other.0));
    others.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let others = others.into_iter().take(MOST_OTHERS).map(|(j, share)| ((subject.names)(j), share)).collect();
    let mut made = CrossValidation { others, ..CrossValidation::of(found, folds(found)) };
    // Of many classes a feature has several columns.
    for (point, of) in made.points.iter_mut().zip(&found.path.points) {
        point.size = of.solution.coefficients.features(posed.problem.classes()).len();
    }
    made
}

/// The best subsets in order, the answer first: those that were asked for, or a few that a short search ranks after an answer that
/// is proved best.
fn ranked(
    posed: &Posed<'_>,
    selected: &Selected,
    problem: &Problem<'_>,
    subject: &Subject<'_>,
) -> bestset::Result<Vec<Ranked>> {
    let Selected { solution, k, .. } = selected;
    let mut found = solution.ranked.clone();
    if found.len() < 2 && solution.status == Status::Optimal {
        let options = Options {
            method: Method::Exact,
            top: RUNNERS_UP + 1,
            warm_start: Some(solution.coefficients.clone()),
            max_nodes: Some(RUNNER_NODES),
            time_limit: Some(RUNNER_TIME),
            cancel: subject.cancel.clone(),
            ..Options::default()
        };
        let limited = k.map_or_else(|| Ok(problem.clone()), |k| posed.limited(k, selected.lambda2));
        // Where the search cannot start there are no runners-up to show; the answer has its certificate already.
        let search = |p: Problem<'_>| match posed.groups() {
            Some(groups) => bestset::groups::solve_groups(&p, groups, &options).map(|s| s.ranked),
            None => bestset::solve(&p, &options).map(|s| s.ranked),
        };
        found = limited.and_then(search).unwrap_or_default();
        found.truncate(if found.first().is_some_and(|r| r.coefficients.support == *solution.support()) {
            found.len()
        } else {
            0
        });
    }
    if found.len() < 2 {
        return Ok(Vec::new());
    }
    let one = |r: &bestset::Ranked| {
        let outside = bestset::Ranked { coefficients: posed.outward(&r.coefficients), ..r.clone() };
        Ok(Ranked { r2: explained(problem, &r.coefficients)?, ..Ranked::of(&outside, subject.names) })
    };
    found.iter().map(one).collect()
}

/// The share of the null model's deviance that coefficients explain.
fn explained(problem: &Problem<'_>, coefficients: &Coefficients) -> bestset::Result<Option<f64>> {
    let fit = bestset::criteria::Fit::new(problem, coefficients)?;
    Ok((fit.null_deviance > 0.0).then(|| fit.value(bestset::criteria::Criterion::R2, f64::NAN)))
}

/// How cross-validation was done, in words.
pub fn folds(found: &bestset::cv::CrossValidation) -> String {
    let repeats = found.parts.len();
    match repeats {
        0 => format!("{} given splits", found.folds()),
        1 => format!("{} folds", found.folds()),
        _ => format!("{} folds in {repeats} repeats", found.folds()),
    }
}

/// Samples left out where there are any: fits flatter themselves on their own.
fn diagnostics(
    posed: &Posed<'_>,
    problem: &Problem<'_>,
    selected: &Selected,
    subject: &Subject<'_>,
) -> bestset::Result<Diagnostics> {
    if posed.classes().is_some() {
        return crate::classes::diagnostics(problem, selected, &subject.labels);
    }
    let inside = &selected.solution.coefficients;
    let left_out = match folded(selected) {
        Some(found) => found.left_out(problem, selected.lambda2, inside.support.len())?,
        None => Vec::new(),
    };
    if let Some(loss) = problem.coupled() {
        return survival(problem, loss, inside, &left_out);
    }
    if !left_out.is_empty() {
        let y: Vec<f64> = left_out.iter().map(|s| problem.y()[s.0]).collect();
        let u: Vec<f64> = left_out.iter().map(|s| s.1).collect();
        return Ok(Diagnostics::of(problem.loss(), &y, &u).of_samples(LEFT_OUT));
    }
    let mut u = problem.margins(inside)?;
    u.iter_mut().for_each(|u| *u += inside.intercept);
    Ok(Diagnostics::of(problem.loss(), problem.y(), &u))
}

/// Groups by risk, as fits that have not seen a sample see it where there are any: by their mean, where folds were drawn several times.
fn survival(
    problem: &Problem<'_>,
    loss: &dyn bestset::CoupledLoss,
    inside: &Coefficients,
    left_out: &[(usize, f64)],
) -> bestset::Result<Diagnostics> {
    let fitted = problem.margins(inside)?;
    let (mut sums, mut times) = (vec![0.0; fitted.len()], vec![0.0; fitted.len()]);
    for &(i, u) in left_out {
        (sums[i], times[i]) = (sums[i] + u, times[i] + 1.0);
    }
    let seen: Vec<usize> = (0..fitted.len()).filter(|&i| times[i] > 0.0).collect();
    let made = match seen.is_empty() {
        true => SurvivalFit::new(loss, &fitted, &fitted, &(0..fitted.len()).collect::<Vec<_>>()),
        false => {
            let u: Vec<f64> = sums.iter().zip(&times).map(|(sum, times)| sum / times).collect();
            SurvivalFit::new(loss, &fitted, &u, &seen)
        }
    };
    let made = Diagnostics::Survival(made.unwrap_or_default());
    Ok(if seen.is_empty() { made } else { made.of_samples(LEFT_OUT) })
}

/// The path with coefficients per standard deviation: those of a column of small numbers would hide all others.
fn path(posed: &Posed<'_>, chosen: &Chosen, subject: &Subject<'_>) -> bestset::Result<Path> {
    let mut scaled = chosen.path.clone();
    let mut known = BTreeMap::new();
    for point in &mut scaled.points {
        let inside = &point.solution.coefficients;
        point.solution.coefficients = match posed.classes() {
            Some(_) => crate::classes::per_deviation(posed, inside, &mut known)?,
            None => {
                let spread = deviations(&posed.problem, &inside.support)?;
                let values = inside.values.iter().zip(spread).map(|(b, d)| b * d).collect();
                Coefficients { values, ..inside.clone() }
            }
        };
    }
    let mut made = Path::of(&scaled, subject.names, Some(chosen.point)).with_criteria(&posed.problem, &chosen.path);
    made.per_deviation = true;
    if let By::Criterion(criterion, values) = &chosen.by {
        made.criteria.retain(|c| c.name != criterion.title());
        let own = Criterion {
            name: criterion.title().to_owned(),
            higher_is_better: criterion.is_maximised(),
            values: values.clone(),
        };
        made.criteria.insert(0, own);
    }
    Ok(made)
}

/// How the number of features was chosen, in words.
pub fn chosen_by(chosen: &Chosen) -> String {
    let points = chosen.path.points.len();
    match &chosen.by {
        By::Criterion(criterion, _) => format!("{} along a path of {points} points", criterion.title()),
        By::CrossValidation(found, rule) => {
            let rule = rule.name();
            format!(
                "cross-validation ({}, {}, rule {rule}) along a path of {points} points",
                found.score.title(),
                folds(found)
            )
        }
    }
}

fn asked(posed: &Posed<'_>, selected: &Selected) -> Vec<Row> {
    let mut rows = Vec::new();
    match (selected.k, &selected.chosen) {
        (Some(k), _) => rows.push(Row::new("most features", k.to_string())),
        (None, Some(Chosen { prices, .. })) if prices.0 > prices.1 => {
            let range = format!("the same subset from {} to {}", number(prices.1, 4), number(prices.0, 4));
            rows.push(Row::new("penalty per feature (lambda0)", format!("{}; {range}", number(selected.lambda0, 4))));
        }
        _ => rows.push(Row::new("penalty per feature (lambda0)", number(selected.lambda0, 6))),
    }
    if selected.lambda1 > 0.0 {
        rows.push(Row::new("penalty on absolute size (lambda1)", number(selected.lambda1, 6)));
    }
    rows.push(Row::new("penalty on squared size (lambda2)", number(selected.lambda2, 6)));
    rows.push(Row::new("columns", crate::methods::scale(posed)));
    let beside = crate::methods::beside(posed);
    if !beside.is_empty() {
        rows.push(Row::new("samples", beside.join(", ")));
    }
    if let Some(chosen) = &selected.chosen {
        rows.push(Row::new("chosen by", chosen_by(chosen)));
    }
    rows
}
