//! What a report shows of more than two classes: a coefficient for each of them, and each of them against the others.

use crate::build::{Subject, count_folds, folded};
use crate::convert::MOST_DROPPED;
use crate::types::{ClassesFit, Diagnostics, LEFT_OUT, Model, Term};
use bestset::design::Column;
use bestset::select::{Posed, Selected};
use bestset::{Bounds, CancelFlag, Coefficients, Method, Options, Penalty, Problem};
use std::collections::BTreeMap;

/// Coefficients of every class on the scale of the data; a feature has the length of its own as its coefficient.
pub(crate) fn model(
    posed: &Posed<'_>,
    selected: &Selected,
    problem: &Problem<'_>,
    subject: &Subject<'_>,
) -> bestset::Result<Model> {
    let inside = &selected.solution.coefficients;
    let Some(outside) = posed.outward_classes(inside)? else { return Ok(Model::default()) };
    let (lengths, scale) = (outside.lengths(), posed.outward(inside).values);
    let within = bestset::ClassCoefficients::of_columns(inside, vec![0.0; outside.classes()]).lengths().values;
    let dropped = outside.support.len() <= MOST_DROPPED && posed.setup.groups.is_none();
    let rises = if dropped { rises(problem, inside, &outside.support, &subject.cancel)? } else { Vec::new() };
    let one = |(place, (j, length)): (usize, (usize, f64))| -> bestset::Result<Term> {
        // Per unit of the column outside: what the coefficient inside times its deviation is.
        let ratio = if scale[place] != 0.0 { within[place] / scale[place] } else { 0.0 };
        Ok(Term {
            by_class: outside.values.iter().map(|row| row[place]).collect(),
            standardized: Some(length * ratio * deviation(problem, j)?),
            rise: rises.get(place).copied(),
            ..Term::new((subject.names)(j), length)
        })
    };
    let terms = lengths.iter().enumerate().map(one).collect::<bestset::Result<Vec<_>>>()?;
    let intercepts = if posed.setup.intercept { outside.intercepts.clone() } else { Vec::new() };
    let mut model = Model { intercept: None, intercepts, terms };
    count_folds(&mut model, selected, &outside.support);
    Ok(model)
}

/// The lengths of the coefficients over all classes, per standard deviation of their features; deviations that are known are kept.
pub(crate) fn per_deviation(
    posed: &Posed<'_>,
    inside: &Coefficients,
    known: &mut BTreeMap<usize, f64>,
) -> bestset::Result<Coefficients> {
    let problem = &posed.problem;
    let mut lengths = bestset::ClassCoefficients::of_columns(inside, vec![0.0; problem.classes()]).lengths();
    for (value, &j) in lengths.values.iter_mut().zip(&lengths.support) {
        *value *= match known.get(&j) {
            Some(known) => *known,
            None => *known.entry(j).or_insert(deviation(problem, j)?),
        };
    }
    Ok(lengths)
}

/// The standard deviation of a feature over the samples: its first column has it in the first block of rows.
fn deviation(problem: &Problem<'_>, j: usize) -> bestset::Result<f64> {
    let (n, mut column) = (problem.samples(), Column::default());
    problem.design().column(j * problem.classes(), &mut column)?;
    let mut x = vec![0.0; problem.nrows()];
    column.to_dense(&mut x);
    let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
    let total: f64 = (0..n).map(weight).sum();
    let mean = (0..n).map(|i| weight(i) * x[i]).sum::<f64>() / total;
    Ok(((0..n).map(|i| weight(i) * (x[i] - mean).powi(2)).sum::<f64>() / total).sqrt())
}

/// How much P rises when each feature in turn is dropped for all classes and the others are fitted again; nothing where that was cut short.
fn rises(
    problem: &Problem<'_>,
    inside: &Coefficients,
    features: &[usize],
    cancel: &CancelFlag,
) -> bestset::Result<Vec<f64>> {
    let (classes, penalty) = (problem.classes(), problem.penalty());
    let options = Options { method: Method::Incremental, trace: false, cancel: cancel.clone(), ..Options::default() };
    let unpriced =
        |bounds: Bounds| problem.with_penalty(Penalty { lambda0: 0.0, ..penalty.clone() }.with_bounds(bounds));
    let least = unpriced(penalty.bounds.clone())?.objective(inside)?;
    let rise = |left: &usize| -> bestset::Result<f64> {
        let mut bounds = (vec![0.0; problem.ncols()], vec![0.0; problem.ncols()]);
        for column in features.iter().filter(|j| *j != left).flat_map(|j| j * classes..(j + 1) * classes) {
            (bounds.0[column], bounds.1[column]) = penalty.bounds.at(column);
        }
        let without = unpriced(Bounds::Each(bounds.0, bounds.1))?;
        let found = bestset::solve(&without, &options)?.coefficients;
        let price = penalty.lambda0 * penalty.price.at(left * classes);
        Ok((without.objective(&found)? - least - price).max(0.0))
    };
    let found =
        features.iter().take_while(|_| !cancel.is_cancelled()).map(rise).collect::<bestset::Result<Vec<f64>>>()?;
    Ok(if cancel.is_cancelled() { Vec::new() } else { found })
}

/// Of samples left out where there are any: fits flatter themselves on their own.
pub(crate) fn diagnostics(
    problem: &Problem<'_>,
    selected: &Selected,
    names: &[String],
) -> bestset::Result<Diagnostics> {
    let (n, classes, inside) = (problem.samples(), problem.classes(), &selected.solution.coefficients);
    let label = |i: usize| (0..classes).find(|k| problem.y()[k * n + i] > 0.5).unwrap_or(0);
    let named = |k: usize| names.get(k).cloned().unwrap_or_else(|| k.to_string());
    let names: Vec<String> = (0..classes).map(named).collect();
    if let Some(found) = folded(selected) {
        let left_out = found.left_out_classes(problem, selected.lambda2, problem.size(inside))?;
        if !left_out.is_empty() {
            let labels: Vec<usize> = left_out.iter().map(|s| label(s.0)).collect();
            let margins: Vec<f64> = (0..classes).flat_map(|k| left_out.iter().map(move |s| s.1[k])).collect();
            return Ok(Diagnostics::Classes(ClassesFit::new(&labels, &margins, &names)).of_samples(LEFT_OUT));
        }
    }
    let mut u = problem.margins(inside)?;
    let intercepts = problem.coupled().map_or_else(Vec::new, |loss| loss.intercepts(&u));
    u.chunks_mut(n.max(1)).zip(intercepts).for_each(|(block, c)| block.iter_mut().for_each(|u| *u += c));
    let labels: Vec<usize> = (0..n).map(label).collect();
    Ok(Diagnostics::Classes(ClassesFit::new(&labels, &u, &names)))
}
