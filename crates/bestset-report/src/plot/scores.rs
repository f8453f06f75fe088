//! Scores on samples left out, a curve for each λ2.

use super::Plot;
use super::canvas::*;
use crate::number::number;
use crate::series::CvSeries;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

pub(super) fn scores(cv: &CvSeries) -> Option<Plot> {
    let (xs, main) = (places(cv), cv.main());
    let said = said(cv);
    let across = (*cv.size.first()? as f64, *cv.size.last()? as f64);
    let whole = |x: f64| if x.fract() == 0.0 { plain(x) } else { String::new() };
    let x = Axis { name: "features", range: across, label: Some(&whole) };
    let y = Axis { name: &cv.metric, range: cv.heights.map_or((0.0, 1.0), |h| range([h.0, h.1])), label: Some(&plain) };
    let title = if cv.higher_is_better { "Score on samples left out" } else { "Error on samples left out" };
    let mut frame = Frame::new(title, said.clone(), x, y);
    if cv.strands.len() > 1 {
        let name = |s: usize| format!("λ2 = {}", number(cv.strands[s].lambda2.unwrap_or(f64::NAN), 3));
        frame.keys = (0..cv.strands.len()).map(|s| (HUES[s % HUES.len()], name(s))).collect();
    }
    let svg = frame.draw(|paper, chart| {
        let strand = &cv.strands[main];
        let shifted = |sign: f64| -> Vec<Option<f64>> {
            strand.mean.iter().zip(&strand.error).map(|(m, e)| m.map(|m| m + sign * e.unwrap_or(0.0))).collect()
        };
        band(chart, &zip(&xs, &shifted(-1.0)), &zip(&xs, &shifted(1.0)), HUES[main % HUES.len()])?;
        // The curve of the model is drawn last, on top.
        let order = (0..cv.strands.len()).filter(|s| *s != main).chain([main]);
        for s in order {
            let colour = HUES[s % HUES.len()];
            let seen = |p: &(f64, f64)| cv.heights.is_none_or(|h| (h.0..=h.1).contains(&p.1));
            let points: Points = zip(&xs, &cv.strands[s].mean).into_iter().filter(seen).collect();
            let (width, size) = if s == main { (3, 4) } else { (1, 2) };
            chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(width)))?;
            chart.draw_series(points.iter().map(|p| Circle::new(*p, size, colour.filled())))?;
        }
        marks(paper, chart, cv)
    });
    Plot::new("cross-validation", title, said, svg)
}

fn places(cv: &CvSeries) -> Vec<Option<f64>> {
    cv.size.iter().map(|s| Some(*s as f64)).collect()
}

fn said(cv: &CvSeries) -> String {
    let at = |place: Option<(usize, usize)>| {
        place.map_or("–".to_owned(), |(s, k)| {
            let with = match (cv.strands.len() > 1, cv.strands[s].lambda2) {
                (true, Some(value)) => format!(" and λ2 = {}", number(value, 3)),
                _ => String::new(),
            };
            format!("{} {}{with}", cv.size[k], if cv.size[k] == 1 { "feature" } else { "features" })
        })
    };
    format!("Best with {}; sparsest within one standard error: {}.", at(cv.best), at(cv.one_se))
}

/// A line with a word and a ring at each point that matters; the words stand on the outer sides.
fn marks(paper: &Paper<'_>, chart: &mut Chart<'_, '_>, cv: &CvSeries) -> Outcome {
    let marks = cv.marks();
    let first = marks.iter().map(|m| m.0.1).min();
    for (n, ((s, k), word)) in marks.iter().enumerate() {
        let (x, colour) = (cv.size[*k] as f64, [BOUND, OBJECTIVE, INK][n % 3]);
        let left = marks.len() > 1 && Some(*k) == first && marks[..n].iter().all(|m| m.0.1 != *k);
        upright(paper, chart, x, word, colour, if left { HPos::Right } else { HPos::Left })?;
        if let Some(y) = cv.strands[*s].mean[*k] {
            chart.draw_series([Circle::new((x, y), 8, INK.stroke_width(2))])?;
        }
    }
    Ok(())
}
