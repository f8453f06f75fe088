//! Numbers and classes that a model predicts.

use super::written::{Predictions, Score, Value};
use crate::exit::Failure;
use crate::work::Encoding;
use bestset::criteria::explained;
use bestset::design::{Design, Stored};
use bestset::model::Model;
use bestset::{Loss, class_probabilities, explained_by_classes, likeliest_classes};
use bestset_data::Dataset;

/// u = Xβ + b + offset, the features found by their names.
pub fn margins(model: &Model, data: &Dataset, disk: Option<&Stored>) -> Result<Vec<f64>, Failure> {
    let mut u = vec![model.coefficients.intercept; data.rows()];
    if let Some(offset) = &data.offset {
        u.iter_mut().zip(offset).for_each(|(u, o)| *u += o);
    }
    let add = |k: usize, column: &[f64]| {
        let b = model.coefficients.values[k];
        u.iter_mut().zip(column).for_each(|(u, x)| *u += b * x);
    };
    each_column(model, data, disk, add)?;
    Ok(u)
}

/// The class of each row, and the probabilities of all of them.
pub fn classes(
    model: &Model,
    known: Option<&Encoding>,
    data: &Dataset,
    disk: Option<&Stored>,
) -> Result<Predictions, Failure> {
    let Some(own) = &model.classes else { return Ok(Predictions::default()) };
    let (n, count) = (data.rows(), own.classes());
    let mut u: Vec<f64> = own.intercepts.iter().flat_map(|c| std::iter::repeat_n(*c, n)).collect();
    each_column(model, data, disk, |place, column| {
        for (block, row) in u.chunks_mut(n.max(1)).zip(&own.values) {
            block.iter_mut().zip(column).for_each(|(u, x)| *u += row[place] * x);
        }
    })?;
    let numbered = || (0..count).map(|k| k.to_string()).collect();
    let names: Vec<String> = known.and_then(|k| k.class_names.clone()).unwrap_or_else(numbered);
    let (p, likeliest) = (class_probabilities(&u, count), likeliest_classes(&u, count));
    let observed = data.target.as_ref().and_then(|target| class_numbers(target, &names));
    let score = observed.as_ref().map(|labels| {
        let right = labels.iter().zip(&likeliest).filter(|(a, b)| a == b).count();
        Score { name: "accuracy", value: right as f64 / n as f64 }
    });
    Ok(Predictions {
        target: known.map_or("y".to_owned(), |k| k.target.clone()),
        predictions: likeliest.iter().map(|&k| Value::Class(names[k].clone())).collect(),
        class_probabilities: (0..n).map(|i| (0..count).map(|k| p[k * n + i]).collect()).collect(),
        d2: observed.and_then(|labels| explained_by_classes(&labels, &u, None, None).ok()),
        class_names: names,
        score,
        ..Predictions::default()
    })
}

/// The numbers of the classes of a target, if all of them are known.
fn class_numbers(target: &bestset_data::Target, names: &[String]) -> Option<Vec<usize>> {
    let by_name = |y: f64| names.iter().position(|name| name.parse::<f64>().is_ok_and(|value| value == y));
    let is_number = |y: f64| y >= 0.0 && y < names.len() as f64;
    let of = |&y: &f64| if target.labels.is_empty() { by_name(y) } else { is_number(y).then_some(y as usize) };
    target.values.iter().map(of).collect()
}

/// Shows the column of every feature of the model, with its place in the model.
fn each_column(
    model: &Model,
    data: &Dataset,
    disk: Option<&Stored>,
    mut show: impl FnMut(usize, &[f64]),
) -> Result<(), Failure> {
    let features = disk.map_or_else(|| data.features(), |stored| stored.ncols());
    if model.names.is_empty() && model.features != features {
        let (found, expected) = (features, model.features);
        return Err(Failure::Message(format!("the file has {found} features, the model {expected}, and no names")));
    }
    for (k, &j) in model.coefficients.support.iter().enumerate() {
        let place = match model.names.is_empty() {
            true => Some(j),
            false => data.names.find(&model.name(j), features),
        };
        let Some(place) = place else {
            return Err(Failure::Message(format!("there is no feature {:?}, which the model uses", model.name(j))));
        };
        let mut own = vec![0.0; if disk.is_some() { data.rows() } else { 0 }];
        let column = match disk {
            None => data.column(place)?,
            Some(stored) => {
                stored.columns(&[place], &mut |_, column| column.to_dense(&mut own))?;
                std::borrow::Cow::Borrowed(&own[..])
            }
        };
        show(k, &column);
    }
    Ok(())
}

/// The mean of each row, or its class, and how good they are where the file has the target.
pub fn predictions(model: &Model, known: Option<&Encoding>, data: &Dataset, u: Vec<f64>) -> Predictions {
    let target = known.map_or("y".to_owned(), |k| k.target.clone());
    let observed = data.target.as_ref().map(|t| t.values.as_slice()).filter(|y| y.iter().all(|y| y.is_finite()));
    if !model.loss.is_classification() {
        let scaling = known.and_then(|k| k.scaling);
        let mean = |u: f64| model.loss.mean(u);
        let values: Vec<f64> = u.iter().map(|&u| scaling.map_or(mean(u), |s| s.undo(u))).collect();
        let score = observed.and_then(|y| match model.loss.has_log_link() {
            // Targets that the family does not have say nothing of predictions.
            true => explained(model.loss, y, &u, data.offset.as_deref(), None)
                .ok()
                .map(|value| Score { name: "D²", value }),
            false => Some(Score { name: "R²", value: r2(y, &values) }),
        });
        return Predictions {
            target,
            predictions: values.into_iter().map(Value::Number).collect(),
            score,
            ..Predictions::default()
        };
    }
    let classes = known.and_then(|k| k.classes.clone());
    let name = |positive: bool| match &classes {
        Some(classes) => Value::Class(if positive { &classes.positive } else { &classes.negative }.clone()),
        None => Value::Number(if positive { 1.0 } else { -1.0 }),
    };
    let probabilities: Option<Vec<f64>> =
        (model.loss == Loss::Logistic).then(|| u.iter().map(|u| 1.0 / (1.0 + (-u).exp())).collect());
    let truth = observed.map(|y| labels(y, data, classes.as_ref()));
    let score = truth.map(|truth| {
        let right = truth.iter().zip(&u).filter(|(positive, u)| **positive == (**u > 0.0)).count();
        Score { name: "accuracy", value: right as f64 / u.len() as f64 }
    });
    let predictions = u.iter().map(|u| name(*u > 0.0)).collect();
    Predictions { target, predictions, probabilities, score, ..Predictions::default() }
}

/// Which rows are of the positive class; numbers are compared with its name.
fn labels(y: &[f64], data: &Dataset, classes: Option<&bestset_data::Classes>) -> Vec<bool> {
    let by_text = data.target.as_ref().is_some_and(|t| t.classes.is_some());
    let positive = classes.and_then(|c| c.positive.parse::<f64>().ok()).filter(|_| !by_text);
    y.iter().map(|y| positive.map_or(*y > 0.0, |p| *y == p)).collect()
}

/// R² = 1 − Σ(y − ŷ)²/Σ(y − ȳ)².
fn r2(y: &[f64], fitted: &[f64]) -> f64 {
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let left: f64 = y.iter().zip(fitted).map(|(y, u)| (y - u).powi(2)).sum();
    1.0 - left / y.iter().map(|y| (y - mean).powi(2)).sum::<f64>()
}
