//! Coefficients, supports and criteria along the path.

use super::Plot;
use super::canvas::*;
use crate::number::number;
use crate::series::{Measure, PathSeries};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

pub(super) const PRICE: &str = "the penalty per feature (λ0) falls →";

/// The λ0 at a whole place.
pub(super) fn price(lambda0: &[Option<f64>], x: f64) -> String {
    let at = (x.fract() == 0.0 && x >= 0.0).then_some(x as usize);
    at.and_then(|k| lambda0.get(k).copied().flatten()).map_or(String::new(), |v| number(v, 2))
}

fn places(count: usize) -> Vec<Option<f64>> {
    (0..count).map(|k| Some(k as f64)).collect()
}

/// λ2 where the path has several.
fn ridge(path: &PathSeries) -> String {
    path.lambda2.map_or(String::new(), |value| format!(", λ2 = {}", number(value, 3)))
}

pub(super) fn coefficients(path: &PathSeries) -> Option<Plot> {
    let last = path.lambda0.len() - 1;
    let values = path.lines.iter().flat_map(|line| line.values.iter().flatten().copied());
    let said = format!(
        "Coefficients of {} features along {} points of falling penalty{}.",
        path.lines.len(),
        last + 1,
        ridge(path)
    );
    let label = |x: f64| price(&path.lambda0, x);
    let x = Axis { name: PRICE, range: (0.0, last as f64), label: Some(&label) };
    let y = Axis { name: path.unit, range: range(values), label: Some(&plain) };
    let title = "Coefficients along the path";
    let mut frame = Frame::new(title, said.clone(), x, y);
    frame.sides.1 = 190;
    let svg = frame.draw(|paper, chart| {
        let picked = |k: usize| path.chosen.is_none_or(|c| path.lines[k].values[c].unwrap_or(0.0) != 0.0);
        let mut order: Vec<usize> = (0..path.lines.len()).collect();
        // What is in the reported model is drawn last, on top.
        order.sort_by_key(|&k| picked(k));
        for &k in &order {
            let colour = HUES[k % HUES.len()];
            let style = if picked(k) { colour.stroke_width(3) } else { colour.mix(0.4).stroke_width(1) };
            for run in runs(&path.lines[k].values) {
                chart.draw_series(LineSeries::new(run, style))?;
            }
        }
        if let Some(k) = path.chosen {
            upright(paper, chart, k as f64, "this model", INK, HPos::Left)?;
        }
        let shown = order.iter().rev().filter(|&&k| picked(k)).take(24).copied();
        names_at_the_end(paper, chart, path, shown.collect(), last)
    });
    Plot::new("coefficient-path", title, said, svg)
}

/// The stretches where a coefficient is not zero, each from the zero before to the zero after.
fn runs(values: &[Option<f64>]) -> Vec<Points> {
    let value = |k: usize| values[k].unwrap_or(0.0);
    let shown =
        |k: usize| value(k) != 0.0 || (k > 0 && value(k - 1) != 0.0) || (k + 1 < values.len() && value(k + 1) != 0.0);
    let all: Vec<usize> = (0..values.len()).filter(|&k| shown(k)).collect();
    all.chunk_by(|a, b| a + 1 == *b).map(|run| run.iter().map(|&k| (k as f64, value(k))).collect()).collect()
}

/// Names beside the ends of the lines, moved apart until none covers another.
fn names_at_the_end(
    paper: &Paper<'_>,
    chart: &Chart<'_, '_>,
    path: &PathSeries,
    mut shown: Vec<usize>,
    last: usize,
) -> Outcome {
    const LEAST: i32 = 16;
    let height = |k: usize| chart.backend_coord(&(last as f64, path.lines[k].values[last].unwrap_or(0.0)));
    shown.sort_by_key(|&k| height(k).1);
    let mut rows: Vec<i32> = shown.iter().map(|&k| height(k).1).collect();
    for k in 1..rows.len() {
        rows[k] = rows[k].max(rows[k - 1] + LEAST);
    }
    // What was pushed below the picture comes back up.
    let bottom = chart.plotting_area().get_pixel_range().1.end;
    let mut most = bottom;
    for row in rows.iter_mut().rev() {
        *row = (*row).min(most);
        most = *row - LEAST;
    }
    for (&k, row) in shown.iter().zip(rows) {
        let name = cut(&path.lines[k].name, 22);
        write(paper, &name, (height(k).0 + 10, row), 12, HUES[k % HUES.len()], HPos::Left, false)?;
    }
    Ok(())
}

pub(super) fn support(path: &PathSeries) -> Option<Plot> {
    let (columns, rows) = (path.lambda0.len(), path.lines.len());
    let said = format!("Which of {rows} features are in the answer at each of {columns} points.");
    let label = |x: f64| price(&path.lambda0, x);
    let x = Axis { name: PRICE, range: (-0.5, columns as f64 - 0.5), label: Some(&label) };
    let y = Axis { name: "", range: (0.0, rows as f64), label: None };
    let title = "Who is in the answer";
    let mut frame = Frame::new(title, said.clone(), x, y).keys(&[(UP, "raises"), (DOWN, "lowers")]);
    frame.height = 190 + 19 * rows as u32;
    frame.sides.0 = 210;
    let svg = frame.draw(|paper, chart| {
        for (j, line) in path.lines.iter().enumerate() {
            let top = rows as f64 - j as f64;
            let most = line.values.iter().flatten().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
            for (k, value) in
                line.values.iter().enumerate().filter_map(|(k, v)| Some((k, (*v)?))).filter(|v| v.1 != 0.0)
            {
                // Faint values stay visible: the sign matters more than the size.
                let shade = if value > 0.0 { UP } else { DOWN }.mix(0.35 + 0.65 * value.abs() / most);
                let corners = [(k as f64 - 0.47, top - 0.06), (k as f64 + 0.47, top - 0.94)];
                chart.draw_series(std::iter::once(Rectangle::new(corners, shade.filled())))?;
            }
            let (left, middle) = chart.backend_coord(&(-0.5, top - 0.5));
            write(paper, &cut(&line.name, 28), (left - 8, middle), 12, INK, HPos::Right, false)?;
        }
        match path.chosen {
            Some(k) => upright(paper, chart, k as f64, "this model", INK, HPos::Left),
            None => Ok(()),
        }
    });
    Plot::new("support", title, said, svg)
}

pub(super) fn criterion(path: &PathSeries, measure: &Measure) -> Option<Plot> {
    let points = zip(&places(path.lambda0.len()), &measure.values);
    if points.len() < 2 {
        return None;
    }
    let best = measure.best.map_or("–".to_owned(), |k| format!("{} features", path.size[k]));
    let said = format!("{} along the path; best with {best}.", measure.name);
    let label = |x: f64| price(&path.lambda0, x);
    let x = Axis { name: PRICE, range: (0.0, path.lambda0.len() as f64 - 1.0), label: Some(&label) };
    let name = cut(&clean(&measure.name), 60);
    let y = Axis { name: &name, range: range(points.iter().map(|p| p.1)), label: Some(&plain) };
    let title = "Criterion along the path";
    let svg = Frame::new(title, said.clone(), x, y).draw(|_, chart| {
        chart.draw_series(LineSeries::new(points.iter().copied(), ACCENT.stroke_width(2)))?;
        chart.draw_series(points.iter().map(|p| Circle::new(*p, 3, ACCENT.filled())))?;
        let ring = measure.best.and_then(|k| Some((k as f64, measure.values[k]?)));
        chart.draw_series(ring.map(|at| Circle::new(at, 8, INK.stroke_width(2))))?;
        Ok(())
    });
    Plot::new("criterion", title, said, svg)
}
