//! An objective above, a bound below.

use super::Plot;
use super::canvas::*;
use crate::number::{self, number, seconds};
use crate::series::{PathSeries, SubsetSeries, TraceSeries};
use bestset::shown::Side;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

const KEYS: [(RGBColor, &str); 2] = [(OBJECTIVE, "objective"), (BOUND, "lower bound")];

/// Corners of steps that hold until the next point.
fn steps(points: &[(f64, f64)]) -> Points {
    let mut made = Points::new();
    for pair in points.windows(2) {
        made.extend([pair[0], (pair[1].0, pair[0].1)]);
    }
    made.extend(points.last());
    made
}

/// Both lines and the band between them, where both are known.
fn squeeze(chart: &mut Chart<'_, '_>, objective: &[(f64, f64)], bound: &[(f64, f64)]) -> Outcome {
    let from = bound.first().map_or(f64::INFINITY, |b| b.0);
    let above: Points = objective.iter().copied().filter(|o| o.0 >= from).collect();
    band(chart, bound, &above, OBJECTIVE)?;
    chart.draw_series(LineSeries::new(objective.iter().copied(), OBJECTIVE.stroke_width(3)))?;
    chart.draw_series(LineSeries::new(bound.iter().copied(), BOUND.stroke_width(3)))?;
    Ok(())
}

fn heights(lines: [&Points; 2]) -> (f64, f64) {
    range(lines.into_iter().flatten().map(|p| p.1))
}

pub(super) fn trace(series: &TraceSeries) -> Option<Plot> {
    // A long run on a linear axis would hide its beginning.
    let first = series.seconds.iter().flatten().copied().find(|s| *s > 0.0).unwrap_or(1e-4);
    let last = series.seconds.last().copied().flatten().unwrap_or(1.0);
    let long = last / first > 200.0;
    let place = |s: &Option<f64>| s.map(|s| if long { s.max(first).log10() } else { s });
    let xs: Vec<Option<f64>> = series.seconds.iter().map(place).collect();
    let (objective, bound) = (steps(&zip(&xs, &series.objective)), steps(&zip(&xs, &series.bound)));
    let across = xs.iter().flatten().fold((f64::INFINITY, f64::NEG_INFINITY), |r, x| (r.0.min(*x), r.1.max(*x)));
    let time = move |x: f64| seconds(if long { 10f64.powf(x) } else { x });
    let end = |points: &Points| points.last().map_or(f64::NAN, |p| p.1);
    let least = number::bound(end(&bound), 5, Side::Below);
    let said = format!("Objective {} and lower bound {least} after {}.", number(end(&objective), 5), seconds(last));
    let x = Axis { name: "time", range: across, label: Some(&time) };
    let y = Axis { name: "objective", range: heights([&objective, &bound]), label: Some(&plain) };
    let svg =
        Frame::new("Closing in", said.clone(), x, y).keys(&KEYS).draw(|_, chart| squeeze(chart, &objective, &bound));
    Plot::new("certificate", "Closing in", said, svg)
}

pub(super) fn path(series: &PathSeries) -> Option<Plot> {
    let xs: Vec<Option<f64>> = (0..series.lambda0.len()).map(|k| Some(k as f64)).collect();
    let (objective, bound) = (zip(&xs, &series.objective), zip(&xs, &series.bound));
    let label = |x: f64| super::choice::price(&series.lambda0, x);
    let said = format!("Objective and lower bound at {} points of falling penalty.", xs.len());
    let x = Axis { name: super::choice::PRICE, range: (0.0, xs.len() as f64 - 1.0), label: Some(&label) };
    let y = Axis { name: "objective", range: heights([&objective, &bound]), label: Some(&plain) };
    let title = "Proof along the path";
    let svg = Frame::new(title, said.clone(), x, y).keys(&KEYS).draw(|paper, chart| {
        squeeze(chart, &objective, &bound)?;
        match series.chosen {
            Some(k) => upright(paper, chart, k as f64, "this model", INK, HPos::Left),
            None => Ok(()),
        }
    });
    Plot::new("path-certificate", title, said, svg)
}

pub(super) fn subsets(series: &SubsetSeries) -> Option<Plot> {
    let xs: Vec<Option<f64>> = series.size.iter().map(|s| Some(*s as f64)).collect();
    let (objective, bound) = (zip(&xs, &series.objective), zip(&xs, &series.bound));
    let across = (series.size.first().copied()? as f64, series.size.last().copied()? as f64);
    let proved = series.optimal.iter().filter(|o| **o).count();
    let said = format!("The best subset of {} sizes; {proved} of them are proved best.", series.size.len());
    let whole = |x: f64| if x.fract() == 0.0 { plain(x) } else { String::new() };
    let x = Axis { name: "features", range: across, label: Some(&whole) };
    let y = Axis { name: "objective", range: heights([&objective, &bound]), label: Some(&plain) };
    let title = "Best of each size";
    let svg = Frame::new(title, said.clone(), x, y).keys(&KEYS).draw(|_, chart| {
        squeeze(chart, &objective, &bound)?;
        chart.draw_series(objective.iter().map(|p| Circle::new(*p, 5, OBJECTIVE.filled())))?;
        Ok(())
    });
    Plot::new("subsets", title, said, svg)
}
