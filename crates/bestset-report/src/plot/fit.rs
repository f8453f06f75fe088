//! How well the model fits.

use super::Plot;
use super::canvas::*;
use crate::number::number;
use crate::series::{ClassSeries, Histogram, RegressionSeries};
use plotters::prelude::*;

/// Dots around a guide from one end to the other.
fn dots(
    name: &'static str,
    title: &str,
    said: &str,
    (x, y): (&str, &str),
    points: &[(f64, f64)],
    line: impl Fn(f64) -> f64,
) -> Option<Plot> {
    let across = range(points.iter().map(|p| p.0));
    let ends =
        [points.iter().map(|p| p.0).fold(f64::INFINITY, f64::min), points.iter().map(|p| p.0).fold(f64::MIN, f64::max)];
    let up = range(points.iter().map(|p| p.1).chain(ends.map(&line)));
    let shade = ACCENT.mix(if points.len() > 300 { 0.4 } else { 0.65 });
    let (x, y) =
        (Axis { name: x, range: across, label: Some(&plain) }, Axis { name: y, range: up, label: Some(&plain) });
    let svg = Frame::new(title, said.to_owned(), x, y).draw(|_, chart| {
        guide(chart, (ends[0], line(ends[0])), (ends[1], line(ends[1])))?;
        chart.draw_series(
            points.iter().map(|p| Circle::new(*p, if points.len() > 800 { 2 } else { 4 }, shade.filled())),
        )?;
        Ok(())
    });
    if points.is_empty() { None } else { Plot::new(name, title, said.to_owned(), svg) }
}

pub(super) fn observed(fit: &RegressionSeries) -> Option<Plot> {
    let said = format!("Observed against predicted values of {}; on the line the prediction is right.", fit.samples);
    let points = zip(&fit.fitted, &fit.observed);
    dots("observed-predicted", "Observed and predicted", &said, ("predicted", "observed"), &points, |x| x)
}

pub(super) fn residuals(fit: &RegressionSeries) -> Option<Plot> {
    let said = format!("Residuals against predicted values of {}; they should look like noise.", fit.samples);
    dots("residuals", "Residuals", &said, ("predicted", "residual"), &zip(&fit.fitted, &fit.residual), |_| 0.0)
}

pub(super) fn quantiles(fit: &RegressionSeries) -> Option<Plot> {
    let said = "Quantiles of the residuals against those of the normal distribution; on the line they are normal.";
    let points: Points = fit.quantiles.iter().filter_map(|q| q.0.zip(q.1)).collect();
    let names = ("normal quantile", "residual, standard deviations");
    dots("residual-quantiles", "Are the residuals normal?", said, names, &points, |x| x)
}

/// Bars on one another, one colour for each group.
fn bars(
    name: &'static str,
    title: &str,
    said: String,
    x: &str,
    histogram: &Histogram,
    groups: &[(RGBColor, &str)],
) -> Option<Plot> {
    let edges: Vec<f64> = histogram.edges.iter().copied().collect::<Option<_>>()?;
    let bins = histogram.counts.first()?.len();
    let total = |k: usize| histogram.counts.iter().map(|c| c[k]).sum::<usize>() as f64;
    let most = (0..bins).map(total).fold(1.0, f64::max);
    let x = Axis { name: x, range: (edges[0], edges[bins]), label: Some(&plain) };
    let y = Axis { name: "samples", range: (0.0, 1.05 * most), label: Some(&plain) };
    let mut frame = Frame::new(title, said.clone(), x, y);
    if groups.len() > 1 {
        frame = frame.keys(groups);
    }
    let svg = frame.draw(|_, chart| {
        let gap = 0.03 * (edges[1] - edges[0]);
        for k in 0..bins {
            let mut from = 0.0;
            for (counts, group) in histogram.counts.iter().zip(groups) {
                let to = from + counts[k] as f64;
                let corners = [(edges[k] + gap, from), (edges[k + 1] - gap, to)];
                chart.draw_series(std::iter::once(Rectangle::new(corners, group.0.filled())))?;
                from = to;
            }
        }
        Ok(())
    });
    Plot::new(name, title, said, svg)
}

pub(super) fn histogram(fit: &RegressionSeries) -> Option<Plot> {
    let said = "How often residuals of each size occur.".to_owned();
    let made = fit.histogram.as_ref()?;
    bars("residual-histogram", "Size of the residuals", said, "residual", made, &[(ACCENT, "samples")])
}

pub(super) fn scores(fit: &ClassSeries, classes: &(String, String)) -> Option<Plot> {
    let x = if fit.probabilities { "predicted probability" } else { "margin" };
    let said = format!("The {x} of the samples of each class.");
    let groups = [(DOWN, classes.0.as_str()), (UP, classes.1.as_str())];
    bars("scores", "How far apart the classes are", said, x, fit.histogram.as_ref()?, &groups)
}

fn share<'f>(name: &'f str) -> Axis<'f> {
    Axis { name, range: (0.0, 1.0), label: Some(&plain) }
}

pub(super) fn roc(fit: &ClassSeries) -> Option<Plot> {
    let corners: Points = fit.roc.iter().filter_map(|c| c.0.zip(c.1)).collect();
    if corners.is_empty() {
        return None;
    }
    let said = format!("Of {}. Area under the curve: {}.", fit.samples, number(fit.auc.unwrap_or(f64::NAN), 4));
    let title = "Found and mistaken (ROC)";
    let svg =
        Frame::new(title, said.clone(), share("negatives mistaken"), share("positives found")).draw(|_, chart| {
            let floor = [(0.0, 0.0), (1.0, 0.0)];
            band(chart, &floor, &corners, ACCENT)?;
            guide(chart, (0.0, 0.0), (1.0, 1.0))?;
            chart.draw_series(LineSeries::new(corners.iter().copied(), ACCENT.stroke_width(3)))?;
            Ok(())
        });
    Plot::new("roc", title, said, svg)
}

pub(super) fn calibration(fit: &ClassSeries) -> Option<Plot> {
    let points: Points = fit.calibration.iter().map(|c| (c.predicted, c.observed)).collect();
    if points.len() < 2 || points.iter().any(|p| !p.0.is_finite() || !p.1.is_finite()) {
        return None;
    }
    let said =
        format!("Observed shares against predicted probabilities of {} in {} groups.", fit.samples, points.len());
    let title = "Can the probabilities be trusted?";
    let svg =
        Frame::new(title, said.clone(), share("predicted probability"), share("observed share")).draw(|_, chart| {
            guide(chart, (0.0, 0.0), (1.0, 1.0))?;
            chart.draw_series(LineSeries::new(points.iter().copied(), ACCENT.stroke_width(3)))?;
            chart.draw_series(points.iter().map(|p| Circle::new(*p, 5, ACCENT.filled())))?;
            Ok(())
        });
    Plot::new("calibration", title, said, svg)
}
