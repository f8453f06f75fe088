//! How well the model fits.

use super::Section;
use super::parts::{Figure, key, plural, term};
use crate::number::{count, number, percent};
use crate::series::{ClassSeries, RegressionSeries, Series};
use crate::types::FITTED_ON;
use crate::{Classification, Diagnostics, Regression, Report};
use maud::{Markup, html};

/// `None` without diagnostics.
pub(super) fn section(report: &Report, series: &Series) -> Option<Section> {
    let body = match (report.diagnostics.as_ref()?, &series.regression, &series.classification) {
        (Diagnostics::Regression(fit), Some(drawn), _) => regression(fit, drawn),
        (Diagnostics::Classification(fit), _, Some(drawn)) => classification(fit, drawn, &series.classes),
        _ => return None,
    };
    Some(Section { id: "fit", short: "Fit", title: "How well it fits", body })
}

/// What the figures are of: on the samples of the fit they flatter.
fn remark(samples: &str, total: usize) -> Markup {
    html! {
        p.caption.lead {
            "Measured on " (plural(total, "sample")) ": " (samples) "."
            @if samples == FITTED_ON { " On new samples expect less." }
        }
    }
}

fn thinned(total: usize, drawn: usize) -> Option<String> {
    (drawn < total).then(|| format!("{} of {} samples are drawn.", count(drawn), count(total)))
}

fn facts(facts: &[(Markup, String)]) -> Markup {
    html! { dl.numbers.row { @for (label, value) in facts { div { dt { (label) } dd { (value) } } } } }
}

fn regression(fit: &Regression, drawn: &RegressionSeries) -> Markup {
    let note = thinned(fit.count, drawn.observed.len());
    let scatter =
        format!("Observed against predicted values of {}. R² {}.", plural(fit.count, "sample"), number(fit.r2, 3));
    let rest = format!("Residuals against predicted values. Typical size {}.", number(fit.rmse, 3));
    html! {
        (remark(&fit.samples, fit.count))
        (facts(&[
            (term("r2", "R²"), number(fit.r2, 4)),
            (html! { "Typical error (RMSE)" }, number(fit.rmse, 4)),
            (html! { "Mean absolute error" }, number(fit.mae, 4)),
        ]))
        div.grid {
            (Figure::new("fitted", "Observed and predicted", html! { "On the line the prediction is right." }, scatter)
                .note(note.clone()).html())
            (Figure::new("residuals", "Residuals", html! {
                "What the model leaves over should look like noise: no bend, no funnel."
            }, rest).note(note).html())
            @if drawn.histogram.is_some() {
                (Figure::new("residual-histogram", "Size of the residuals", html! { "How often residuals of each size occur." },
                    "Histogram of the residuals.".to_owned()).html())
            }
            @if !drawn.quantiles.is_empty() {
                (Figure::new("quantiles", "Are the residuals normal?", html! { "On the line they are." },
                    "Quantiles of the residuals against those of the normal distribution.".to_owned()).html())
            }
        }
    }
}

fn classification(fit: &Classification, drawn: &ClassSeries, classes: &(String, String)) -> Markup {
    let roc = format!(
        "Curve of true against false positives of {}. Area {}.",
        plural(fit.count, "sample"),
        number(fit.auc, 3)
    );
    let score = if fit.probabilities { "Predicted probability" } else { "Margin" };
    let mut list = vec![(term("auc", "AUC"), number(fit.auc, 4)), (html! { "Right classes" }, percent(fit.accuracy))];
    if let Some(value) = fit.log_loss {
        list.push((term("log-loss", "Log loss"), number(value, 4)));
    }
    html! {
        (remark(&fit.samples, fit.count))
        (facts(&list))
        div.grid {
            @if !drawn.roc.is_empty() {
                (Figure::new("roc", "Found and mistaken", html! {
                    "The " (term("roc", "ROC curve")) ": the closer to the upper left corner, the better."
                }, roc).html())
            }
            (confusion(fit, classes))
            @if drawn.histogram.is_some() {
                (Figure::new("scores", score, html! {
                    (key("down", &classes.0)) (key("up", &classes.1)) "How far apart the model sees them."
                },
                    format!("{score} of the samples of each class.")).note(thinned(fit.count, fit.scores.len())).html())
            }
            @if drawn.calibration.len() > 1 {
                (Figure::new("calibration", "Can the probabilities be trusted?", html! {
                    "On the line, of the samples given 30 %, 30 % are positive: the model is " (term("calibration", "calibrated")) "."
                }, format!("Observed shares against predicted probabilities in {} groups.", drawn.calibration.len())).html())
            }
        }
    }
}

fn confusion(fit: &Classification, classes: &(String, String)) -> Markup {
    let c = &fit.confusion;
    let total = fit.count.max(1) as f64;
    let cell = |value: usize, right: bool| {
        let share = value as f64 / total;
        html! {
            td class=(if right { "right-cell" } else { "wrong-cell" }) style=(format!("--share:{share:.4}")) {
                b { (count(value)) } span { (percent(share)) }
            }
        }
    };
    html! {
        div.card {
            h3 { "Right and wrong" }
            p.caption { "Rows are what is, columns what the model says, at " (if fit.probabilities { "probability ½" } else { "margin 0" }) "." }
            div.scroll tabindex="0" role="region" aria-label="Right and wrong classes" {
                table.confusion {
                    caption.unseen { "Confusion matrix" }
                    thead { tr {
                        td {}
                        th scope="col" { "says " span.name { (classes.0) } } th scope="col" { "says " span.name { (classes.1) } }
                    } }
                    tbody {
                        tr { th scope="row" { "is " span.name { (classes.0) } } (cell(c.true_negative, true)) (cell(c.false_positive, false)) }
                        tr { th scope="row" { "is " span.name { (classes.1) } } (cell(c.false_negative, false)) (cell(c.true_positive, true)) }
                    }
                }
            }
        }
    }
}
