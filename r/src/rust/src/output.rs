//! Answers as trees of numbers and texts; `R/fit.R` gives them their classes.

use crate::classes::outward;
use crate::survival;
use crate::value::{count, counts, places, Record, Value};
use bestset::criteria::Criterion;
use bestset::cv::{CrossValidation, Stability};
use bestset::path::{Path, Point};
use bestset::select::{By, Posed, Remark, Selected, Standing};
use bestset::{Certificate, Coefficients, Ranked, Solution, Subset, Subsets, TraceRow};

/// A path on the scale of the columns given, by columns: one entry per point, coefficients as the parts of a sparse matrix.
pub fn path(posed: &Posed<'_>, inside: &Path, chose: Option<Criterion>) -> bestset::Result<Value> {
    let mut criteria = Record::default();
    for (criterion, values) in Criterion::all_along(&posed.problem, inside, chose)? {
        criteria.set(criterion.name(), values);
    }
    let outside: Vec<Coefficients> = inside.points.iter().map(|p| posed.outward(&p.solution.coefficients)).collect();
    let stands: Vec<Standing> = inside.points.iter().map(|p| standing_of(posed, p)).collect();
    let each = |f: &dyn Fn(&Point) -> f64| inside.points.iter().map(f).collect::<Vec<f64>>();
    let mut starts = vec![0];
    starts.extend(outside.iter().scan(0, |sum, c| {
        *sum += c.support.len();
        Some(*sum)
    }));
    let mut all = Record::default();
    all.set("lambda0", each(&|p| p.lambda0));
    all.set("lambda2", each(&|p| p.lambda2));
    all.set("size", counts(outside.iter().map(|c| c.support.len())));
    all.set("objective", each(&|p| p.solution.certificate.objective));
    all.set("lower_bound", each(&|p| p.solution.certificate.lower_bound));
    all.set("gap", each(&|p| p.solution.certificate.gap()));
    all.set("relative_gap", each(&|p| p.solution.certificate.relative_gap()));
    all.set("r2", stands.iter().map(|s| s.r2).collect::<Vec<f64>>());
    all.set("r2_limit", stands.iter().map(|s| s.r2_limit).collect::<Vec<f64>>());
    all.set("point_status", Value::Texts(inside.points.iter().map(|p| p.solution.status.name()).collect()));
    all.set("intercept", outside.iter().map(|c| c.intercept).collect::<Vec<f64>>());
    all.set("p", counts(starts.into_iter()));
    all.set("i", counts(outside.iter().flat_map(|c| c.support.iter().copied())));
    all.set("x", outside.iter().flat_map(|c| c.values.iter().copied()).collect::<Vec<f64>>());
    all.set("criteria", criteria);
    all.set("status", inside.status.name());
    if posed.classes().is_some() {
        all.set(
            "classes",
            Value::List(
                inside.points.iter().map(|p| shown(posed, &p.solution.coefficients)).collect::<bestset::Result<_>>()?,
            ),
        );
    }
    Ok(all.into())
}

/// Coefficients inside, for the columns given, as a list.
fn shown(posed: &Posed<'_>, inside: &Coefficients) -> bestset::Result<Value> {
    let mut all = Record::default();
    outward(posed, inside)?.show(&mut all);
    Ok(all.into())
}

fn standing_of(posed: &Posed<'_>, p: &Point) -> Standing {
    Standing::new(&posed.problem, &p.solution.coefficients, &p.solution.certificate, p.solution.status)
}

/// A selection on the scale of the columns given.
pub fn selected(posed: &Posed<'_>, from: &Selected) -> bestset::Result<Value> {
    let mut all = solution(posed, &from.solution)?;
    standing(&from.standing, &mut all);
    all.set("lambda0", from.lambda0);
    all.set("lambda1", from.lambda1);
    all.set("lambda2", from.lambda2);
    all.set("k", from.k.map_or(Value::Null, count));
    all.set("method", from.method.name());
    all.set("delta", posed.problem.loss().delta());
    all.set("survival", survival::told(posed, from)?);
    all.set("remarks", Value::Texts(from.remarks.iter().map(Remark::to_string).collect()));
    all.set("constant", places(&posed.constant()));
    all.set("remark_kinds", Value::Texts(from.remarks.iter().map(|r| r.kind().to_owned()).collect()));
    let Some(chosen) = &from.chosen else { return Ok(all.into()) };
    let criterion = match &chosen.by {
        By::Criterion(criterion, _) => {
            all.set("criterion", criterion.title());
            Some(*criterion)
        }
        By::CrossValidation(found, _) => {
            let outside = posed.outward(&from.solution.coefficients);
            all.set("validation", validation(found, from.lambda2, &outside.support));
            None
        }
    };
    all.set("path", path(posed, &chosen.path, criterion)?);
    all.set("point", count(chosen.point + 1));
    Ok(all.into())
}

/// What is proved of an answer, in words and as R².
pub fn standing(from: &Standing, all: &mut Record) {
    all.set("standing", from.to_string());
    all.set("r2", from.r2);
    all.set("r2_limit", from.r2_limit);
}

/// Objective, relaxation, bound and gaps.
pub fn certificate(from: &Certificate, all: &mut Record) {
    all.set("objective", from.objective);
    all.set("relaxation", from.relaxation);
    all.set("lower_bound", from.lower_bound);
    all.set("gap", from.gap());
    all.set("relative_gap", from.relative_gap());
}

fn solution(posed: &Posed<'_>, from: &Solution) -> bestset::Result<Record> {
    let mut all = Record::default();
    outward(posed, &from.coefficients)?.show(&mut all);
    certificate(&from.certificate, &mut all);
    all.set("status", from.status.name());
    all.set("n_iter", from.iterations as f64);
    all.set("passes", from.passes);
    all.set("seconds", from.seconds);
    all.set("excluded", count(from.screened.excluded));
    all.set("included", count(from.screened.included));
    all.set("trace", trace(&from.trace));
    all.set("ranked", Value::List(from.ranked.iter().map(|r| ranked(posed, r)).collect::<bestset::Result<_>>()?));
    all.set("dependent", Value::List(from.dependent.iter().map(|group| places(group)).collect()));
    Ok(all)
}

fn ranked(posed: &Posed<'_>, from: &Ranked) -> bestset::Result<Value> {
    let mut all = Record::default();
    outward(posed, &from.coefficients)?.show(&mut all);
    all.set("objective", from.objective);
    all.set("proved", from.proved);
    Ok(all.into())
}

/// The best subsets of every size, on the scale of the columns given.
pub fn subsets(posed: &Posed<'_>, from: &Subsets) -> bestset::Result<Value> {
    let one = |s: &Subset| {
        let mut all = Record::default();
        outward(posed, &s.coefficients)?.show(&mut all);
        certificate(&s.certificate, &mut all);
        all.set("status", s.status.name());
        all.set("size", count(s.size));
        all.set("reached", s.is_reached());
        all.set("loss", s.loss);
        all.set("r2", s.criteria.r2);
        all.set("adjusted_r2", s.criteria.adjusted_r2);
        all.set("cp", s.criteria.cp);
        all.set("aic", s.criteria.aic);
        all.set("bic", s.criteria.bic);
        Ok(Value::from(all))
    };
    let mut all = Record::default();
    all.set("sizes", Value::List(from.sizes.iter().map(one).collect::<bestset::Result<_>>()?));
    all.set("dependent", Value::List(from.dependent.iter().map(|group| places(group)).collect()));
    all.set("constant", places(&posed.constant()));
    all.set("remarks", Value::Texts(posed.remarks().iter().map(Remark::to_string).collect()));
    all.set("lambda2", from.lambda2);
    all.set("seconds", from.seconds);
    Ok(all.into())
}

/// The scores of a cross-validation: the folds of a point one after the other.
fn validation(from: &CrossValidation, lambda2: f64, support: &[usize]) -> Value {
    let shares = from.frequencies(lambda2, support.len());
    let share = |j: &usize| shares.iter().find(|s| s.0 == *j).map_or(0.0, |s| s.1);
    let mut all = Record::default();
    all.set("mean", from.scores.iter().map(|s| s.mean).collect::<Vec<f64>>());
    all.set("standard_error", from.scores.iter().map(|s| s.standard_error).collect::<Vec<f64>>());
    all.set("folds", from.scores.iter().flat_map(|s| s.folds.iter().copied()).collect::<Vec<f64>>());
    all.set("best", count(from.best + 1));
    all.set("one_se", count(from.one_se + 1));
    all.set("score", from.score.name());
    all.set("title", from.score.title());
    all.set("frequencies", support.iter().map(share).collect::<Vec<f64>>());
    all.into()
}

/// How often features are selected, by size and at the most.
pub fn stability(from: &Stability) -> Value {
    let by_size = from.frequencies.iter().enumerate().flat_map(|(size, found)| found.iter().map(move |f| (size, *f)));
    let (sizes, found): (Vec<usize>, Vec<(usize, f64)>) = by_size.unzip();
    let mut all = Record::default();
    all.set("size", counts(sizes.into_iter()));
    all.set("feature", counts(found.iter().map(|f| f.0 + 1)));
    all.set("share", found.iter().map(|f| f.1).collect::<Vec<f64>>());
    all.set("largest_feature", counts(from.largest.iter().map(|f| f.0 + 1)));
    all.set("largest_share", from.largest.iter().map(|f| f.1).collect::<Vec<f64>>());
    all.set("subsamples", count(from.subsamples));
    all.set("status", from.status.name());
    all.into()
}

/// A trace by columns.
fn trace(rows: &[TraceRow]) -> Record {
    let floats = |field: fn(&TraceRow) -> f64| rows.iter().map(field).collect::<Vec<f64>>();
    let mut all = Record::default();
    all.set("seconds", floats(|r| r.seconds));
    all.set("n_iter", floats(|r| r.iteration as f64));
    all.set("objective", floats(|r| r.objective));
    all.set("lower_bound", floats(|r| r.lower_bound));
    all.set("gap", floats(|r| r.gap));
    all.set("support", floats(|r| r.support as f64));
    all
}
