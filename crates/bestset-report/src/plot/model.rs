//! Coefficients and the funnel as horizontal bars.

use super::Plot;
use super::canvas::*;
use crate::Report;
use crate::number::{count, number};
use crate::series::Series;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// A bar: its name, its length, the words at its end.
struct Bar {
    name: String,
    length: f64,
    words: String,
    colour: RGBColor,
}

fn draw(title: &str, note: String, bars: &[Bar], keys: &[(RGBColor, &str)], across: (f64, f64)) -> Option<String> {
    let x = Axis { name: "", range: across, label: None };
    let y = Axis { name: "", range: (0.0, bars.len() as f64), label: None };
    let mut frame = Frame::new(title, note, x, y).keys(keys);
    frame.height = 160 + 30 * bars.len() as u32;
    frame.sides = (250, 110);
    frame.draw(|paper, chart| {
        for (k, bar) in bars.iter().enumerate() {
            let top = bars.len() as f64 - k as f64;
            let corners = [(0.0, top - 0.18), (bar.length, top - 0.82)];
            chart.draw_series(std::iter::once(Rectangle::new(corners, bar.colour.filled())))?;
            let (left, middle) = chart.backend_coord(&(across.0, top - 0.5));
            write(paper, &cut(&bar.name, 34), (left - 10, middle), 13, INK, HPos::Right, false)?;
            let (end, _) = chart.backend_coord(&(bar.length.max(0.0), top - 0.5));
            write(paper, &bar.words, (end + 8, middle), 12, MUTED, HPos::Left, false)?;
        }
        let (bottom, top) = ((0.0, 0.0), (0.0, bars.len() as f64));
        chart.draw_series(LineSeries::new([bottom, top], MUTED.stroke_width(1)))?;
        Ok(())
    })
}

/// The bars of the model; of many classes the lengths of the coefficients.
pub(super) fn coefficients(series: &Series, many: bool) -> Option<Plot> {
    let bar = |(name, value): &(String, Option<f64>)| {
        let length = (*value)?;
        let colour = if length < 0.0 { DOWN } else { UP };
        Some(Bar { name: name.clone(), length, words: number(length, 3), colour })
    };
    let bars: Vec<Bar> = series.terms.iter().filter_map(bar).collect();
    if bars.is_empty() {
        return None;
    }
    let ends = bars.iter().fold((0.0, 0.0), |r: (f64, f64), b| (r.0.min(b.length), r.1.max(b.length)));
    let (what, keys) = match many {
        true => ("Lengths of the coefficients over all classes", vec![(UP, "length")]),
        false => ("Coefficients", vec![(UP, "raises the prediction"), (DOWN, "lowers it")]),
    };
    let said = format!("{what} of {} features, the most important first.", bars.len());
    let across = if ends.0 == ends.1 { (-1.0, 1.0) } else { ends };
    Plot::new("coefficients", "The model", said.clone(), draw("The model", said, &bars, &keys, across))
}

pub(super) fn screening(report: &Report) -> Option<Plot> {
    let screening = report.screening.as_ref()?;
    if screening.features == 0 {
        return None;
    }
    let mut left = screening.features;
    let mut bars = vec![Bar { name: "to begin with".into(), length: left as f64, words: count(left), colour: ACCENT }];
    for rule in &screening.rules {
        if rule.removes {
            left = left.saturating_sub(rule.count);
        }
        let (amount, colour) = if rule.removes { (left, ACCENT) } else { (rule.count, BOUND) };
        let words = if rule.removes { format!("{} (−{})", count(left), count(rule.count)) } else { count(amount) };
        bars.push(Bar { name: rule.name.clone(), length: amount as f64, words, colour });
    }
    let selected = screening.selected;
    bars.push(Bar { name: "in the answer".into(), length: selected as f64, words: count(selected), colour: BOUND });
    let said = format!("From {} features to {}.", count(screening.features), count(selected));
    let keys = [(ACCENT, "left after the rule"), (BOUND, "decided by the rule")];
    let across = (0.0, screening.features.max(selected) as f64);
    Plot::new("screening", "What was ruled out", said.clone(), draw("What was ruled out", said, &bars, &keys, across))
}
