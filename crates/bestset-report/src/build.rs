//! The report of a selection: what every interface shows of the same answer.

use crate::convert::{Names, deviations, importance};
use crate::number::{number, percent};
use crate::types::LEFT_OUT;
use crate::types::*;
use bestset::select::{By, Chosen, Posed, Selected};
use bestset::{Coefficients, Options, Problem};

/// Features of which each is dropped once to see how much the objective rises: so many at the most.
const MOST_DROPPED: usize = 100;

/// What the samples are called.
pub struct Subject<'s> {
    /// Where they come from, for instance the name of a file.
    pub source: String,
    /// The name of what is predicted.
    pub target: String,
    /// Names of the two classes, negative then positive.
    pub classes: Option<(String, String)>,
    /// Names of the features.
    pub names: Names<'s>,
    /// Remarks on the data, one sentence each.
    pub notes: Vec<String>,
    /// Seconds from start to answer.
    pub seconds: Option<f64>,
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
                samples: problem.nrows(),
                features: problem.ncols(),
                target: self.target.clone(),
                task: problem.loss().into(),
                loss: problem.loss().name().to_owned(),
                classes: self.classes.clone(),
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
    let cv = chosen.as_ref().and_then(|c| match &c.by {
        By::CrossValidation(found, _) => Some(CrossValidation::of(found, folds(found))),
        By::Criterion(..) => None,
    });
    Ok(Report {
        notes: opening.notes.iter().cloned().chain(remarks).collect(),
        certificate: Certificate::of(solution, selected.k),
        model: model(posed, selected, &problem, subject)?,
        trace: TraceRow::of(&solution.trace),
        screening: Some(Screening::of(&solution.screened, problem.ncols(), inside.nonzeros())),
        path: chosen.as_ref().map(|c| path(posed, c, subject)),
        cv,
        ranked: solution
            .ranked
            .iter()
            .filter(|_| solution.ranked.len() > 1)
            .map(|r| Ranked::of(r, subject.names))
            .collect(),
        diagnostics: Some(diagnostics(&problem, selected)),
        asked: asked(selected, &problem),
        ..opening
    })
}

/// Coefficients on the scale of the data; importance and deviations are the same on either scale.
fn model(
    posed: &Posed<'_>,
    selected: &Selected,
    problem: &Problem<'_>,
    subject: &Subject<'_>,
) -> bestset::Result<Model> {
    let inside = &selected.solution.coefficients;
    let dropped = inside.support.len() <= MOST_DROPPED && posed.groups().is_none();
    let rises = if dropped { importance(problem, inside, &Options::default())? } else { Vec::new() };
    let outside: Coefficients = posed.outward(inside);
    let spread: Vec<f64> = deviations(problem, &inside.support);
    // Per unit of the column outside: what the coefficient inside times its deviation is.
    let ratio = |k: usize| if outside.values[k] != 0.0 { inside.values[k] / outside.values[k] } else { 0.0 };
    let spread: Vec<f64> = spread.iter().enumerate().map(|(k, d)| d * ratio(k)).collect();
    let mut model = Model::of(&outside, problem.has_intercept(), subject.names, &spread, &rises);
    if let Some(Chosen { by: By::CrossValidation(found, _), .. }) = &selected.chosen {
        let shares = found.frequencies(selected.lambda2, inside.support.len());
        for (term, j) in model.terms.iter_mut().zip(&inside.support) {
            term.frequency = Some(shares.iter().find(|s| s.0 == *j).map_or(0.0, |s| s.1));
        }
    }
    Ok(model)
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
fn diagnostics(problem: &Problem<'_>, selected: &Selected) -> Diagnostics {
    let inside = &selected.solution.coefficients;
    if let Some(Chosen { by: By::CrossValidation(found, _), .. }) = &selected.chosen {
        let left_out = found.left_out(problem, selected.lambda2, inside.support.len());
        if !left_out.is_empty() {
            let y: Vec<f64> = left_out.iter().map(|s| problem.y()[s.0]).collect();
            let u: Vec<f64> = left_out.iter().map(|s| s.1).collect();
            return Diagnostics::of(problem.loss(), &y, &u).of_samples(LEFT_OUT);
        }
    }
    let mut u = problem.margins(inside);
    u.iter_mut().for_each(|u| *u += inside.intercept);
    Diagnostics::of(problem.loss(), problem.y(), &u)
}

fn path(posed: &Posed<'_>, chosen: &Chosen, subject: &Subject<'_>) -> Path {
    let mut outside = chosen.path.clone();
    for point in &mut outside.points {
        point.solution.coefficients = posed.outward(&point.solution.coefficients);
    }
    let mut made = Path::of(&outside, subject.names, Some(chosen.point)).with_criteria(&posed.problem, &chosen.path);
    if let By::Criterion(criterion, values) = &chosen.by {
        made.criteria.retain(|c| c.name != criterion.title());
        let own = Criterion {
            name: criterion.title().to_owned(),
            higher_is_better: criterion.is_maximised(),
            values: values.clone(),
        };
        made.criteria.insert(0, own);
    }
    made
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

fn asked(selected: &Selected, problem: &Problem<'_>) -> Vec<Row> {
    let mut rows = vec![Row::new("loss", problem.loss().name())];
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
    if let Some(chosen) = &selected.chosen {
        rows.push(Row::new("chosen by", chosen_by(chosen)));
    }
    rows.push(Row::new("what is proved", selected.standing.to_string()));
    rows.push(Row::new(
        "gain over no features",
        format!("at least {} of the largest possible", percent(selected.standing.gain)),
    ));
    rows
}
