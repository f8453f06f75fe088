//! Curves of many classes.

use super::Plot;
use super::canvas::*;
use crate::number::number;
use crate::series::{ClassCurve, ClassesSeries};
use plotters::prelude::*;

pub(super) fn roc(fit: &ClassesSeries) -> Option<Plot> {
    let title = "Found and mistaken (ROC)";
    // The keys stand on one line.
    let room = (80 / fit.curves.len()).saturating_sub(7).clamp(4, 16);
    let words = |c: &ClassCurve| format!("{} ({})", cut(&clean(&c.name), room), number(c.auc.unwrap_or(f64::NAN), 3));
    let names: Vec<String> = fit.curves.iter().map(words).collect();
    let said = format!("Of {}, each class against all others. Areas: {}.", fit.samples, names.join(", "));
    let keys: Vec<(RGBColor, &str)> =
        names.iter().enumerate().map(|(k, n)| (HUES[k % HUES.len()], n.as_str())).collect();
    let share = |name| Axis { name, range: (0.0, 1.0), label: Some(&plain) };
    let note = format!("Of {}, each class against all others.", fit.samples);
    let frame = Frame::new(title, note, share("others mistaken for it"), share("share of the class found"));
    let svg = frame.keys(&keys).draw(|_, chart| {
        guide(chart, (0.0, 0.0), (1.0, 1.0))?;
        for (k, curve) in fit.curves.iter().enumerate() {
            let corners: Points = curve.roc.iter().filter_map(|c| c.0.zip(c.1)).collect();
            chart.draw_series(LineSeries::new(corners, HUES[k % HUES.len()].stroke_width(3)))?;
        }
        Ok(())
    });
    Plot::new("class-roc", title, said, svg)
}
