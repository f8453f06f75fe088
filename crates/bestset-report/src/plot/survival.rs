//! Survival curves of groups by risk.

use super::Plot;
use super::canvas::*;
use crate::series::SurvivalSeries;
use plotters::prelude::*;

/// Least risk, then more, then most.
const RISKS: [RGBColor; 3] = [BOUND, ACCENT, OBJECTIVE];

pub(super) fn survival(fit: &SurvivalSeries) -> Option<Plot> {
    let curves: Vec<(Points, Points)> =
        fit.groups.iter().map(|g| (corners(&g.observed), corners(&g.predicted))).collect();
    let last = curves.iter().flat_map(|c| c.0.iter().chain(&c.1)).map(|p| p.0).fold(0.0, f64::max);
    let said = format!(
        "Survival of {} in groups by predicted risk: steps as observed (Kaplan–Meier), dashes as predicted.",
        fit.samples
    );
    let name = cut(&clean(&fit.time), 60);
    let x = Axis { name: &name, range: (0.0, last), label: Some(&plain) };
    let y = Axis { name: "share without the event", range: (0.0, 1.0), label: Some(&plain) };
    let title = "Survival by predicted risk";
    let keys: Vec<(RGBColor, &str)> =
        fit.groups.iter().enumerate().map(|(g, group)| (hue(g, fit.groups.len()), group.name.as_str())).collect();
    let svg = Frame::new(title, said.clone(), x, y).keys(&keys).draw(|_, chart| {
        for (g, (observed, predicted)) in curves.iter().enumerate() {
            let colour = hue(g, curves.len());
            chart.draw_series(DashedLineSeries::new(stairs(predicted), 5, 4, colour.mix(0.8).stroke_width(1)))?;
            chart.draw_series(LineSeries::new(stairs(observed), colour.stroke_width(3)))?;
        }
        Ok(())
    });
    Plot::new("survival", title, said, svg)
}

/// The most risk has the warmest colour, whatever the number of groups.
fn hue(group: usize, groups: usize) -> RGBColor {
    if groups == 1 { ACCENT } else { RISKS[if group + 1 == groups { 2 } else { group.min(1) }] }
}

fn corners(of: &[(Option<f64>, Option<f64>)]) -> Points {
    of.iter().filter_map(|c| c.0.zip(c.1)).collect()
}

/// Level from one corner to the next, then down.
fn stairs(corners: &[(f64, f64)]) -> Points {
    let mut made = Points::with_capacity(2 * corners.len());
    for &(x, y) in corners {
        if let Some(&(_, before)) = made.last() {
            made.push((x, before));
        }
        made.push((x, y));
    }
    made
}
