//! How well the model fits.

use super::Section;
use super::parts::{Figure, key, plural, term};
use crate::number::{count, number, percent};
use crate::series::{ClassSeries, RegressionSeries, Series};
use crate::types::{FITTED_ON, LEFT_OUT, brief};
use crate::{Classification, Diagnostics, Regression, Report};
use maud::{Markup, html};

/// `None` without diagnostics.
pub(super) fn section(report: &Report, series: &Series) -> Option<Section> {
    let (body, samples) = match report.diagnostics.as_ref()? {
        Diagnostics::Regression(fit) => {
            (regression(fit, series.regression.as_ref()?, explained(report, &fit.samples)), &fit.samples)
        }
        Diagnostics::Classification(fit) => {
            let explained = explained(report, &fit.samples);
            (classification(fit, series.classification.as_ref()?, &series.classes, explained), &fit.samples)
        }
        Diagnostics::Classes(fit) => {
            let deviance = report.deviance.map(|d| (html! { "Deviance where fitted" }, number(d, 6)));
            let list = explained(report, &fit.samples).into_iter().chain(deviance).collect();
            (super::classes::body(fit, series.many.as_ref(), list), &fit.samples)
        }
        Diagnostics::Survival(fit) => {
            (super::survival::body(fit, series.survival.as_ref()?, explained(report, &fit.samples)), &fit.samples)
        }
    };
    let title = if samples == LEFT_OUT { "How well it predicts" } else { "How well it fits" };
    Some(Section { id: "fit", short: "Fit", title, body })
}

/// D², which is always of the samples of the fit.
fn explained(report: &Report, samples: &str) -> Option<(Markup, String)> {
    let name = if samples == FITTED_ON { "Deviance explained (D²)" } else { "Deviance explained (D²) where fitted" };
    let share = report.explained.filter(|d| d.is_finite())?;
    Some((term("d2", name), percent(share)))
}

/// What the figures are of: on the samples of the fit they flatter.
pub(super) fn remark(samples: &str, total: usize) -> Markup {
    html! {
        p.caption.lead {
            @if samples == LEFT_OUT {
                "Measured on " b { "samples left out" } ": " (plural(total, "prediction")) ", each by a fit of the same size that has not seen "
                "the sample. Size and λ2 were chosen on the same folds: on new samples expect a little less."
            } @else {
                "Measured on " (plural(total, "sample")) ": " b { (samples) } "."
                @if samples == FITTED_ON { " On new samples expect less; cross-validation says how much." }
            }
        }
    }
}

/// "72 samples left out".
pub(super) fn counted(samples: &str, total: usize) -> String {
    match samples == LEFT_OUT {
        true => format!("{} for samples left out", plural(total, "prediction")),
        false => format!("{} ({samples})", plural(total, "sample")),
    }
}

fn thinned(total: usize, drawn: usize) -> Option<String> {
    (drawn < total).then(|| format!("{} of {} samples are drawn.", count(drawn), count(total)))
}

pub(super) fn facts(facts: &[(Markup, String)]) -> Markup {
    html! { dl.numbers.row { @for (label, value) in facts { div { dt { (label) } dd { (value) } } } } }
}

fn regression(fit: &Regression, drawn: &RegressionSeries, explained: Option<(Markup, String)>) -> Markup {
    let (note, of) = (thinned(fit.count, drawn.observed.len()), brief(&fit.samples));
    let scatter =
        format!("Observed against predicted values of {}. R² {}.", counted(&fit.samples, fit.count), number(fit.r2, 3));
    let rest = format!("Residuals against predicted values. Typical size {}.", number(fit.rmse, 3));
    let mut list = vec![
        (term("r2", "R²"), number(fit.r2, 4)),
        (html! { "Typical error (RMSE)" }, number(fit.rmse, 4)),
        (html! { "Mean absolute error" }, number(fit.mae, 4)),
    ];
    list.extend(explained);
    html! {
        (remark(&fit.samples, fit.count))
        (facts(&list))
        div.grid {
            (Figure::new("fitted", "Observed and predicted", html! { "Of " (of) ". On the line the prediction is right." }, scatter)
                .note(note.clone()).html())
            (Figure::new("residuals", "Residuals", html! {
                "Of " (of) ". What the model leaves over should look like noise: no bend, no funnel."
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

fn classification(
    fit: &Classification,
    drawn: &ClassSeries,
    classes: &(String, String),
    explained: Option<(Markup, String)>,
) -> Markup {
    let roc = format!(
        "Curve of true against false positives of {}. Area {}.",
        counted(&fit.samples, fit.count),
        number(fit.auc, 3)
    );
    let of = brief(&fit.samples);
    let score = if fit.probabilities { "Predicted probability" } else { "Margin" };
    let mut list = vec![(term("auc", "AUC"), number(fit.auc, 4)), (html! { "Right classes" }, percent(fit.accuracy))];
    if let Some(value) = fit.log_loss {
        list.push((term("log-loss", "Log loss"), number(value, 4)));
    }
    list.extend(explained);
    html! {
        (remark(&fit.samples, fit.count))
        (facts(&list))
        div.grid {
            @if !drawn.roc.is_empty() {
                (Figure::new("roc", "Found and mistaken", html! {
                    "The " (term("roc", "ROC curve")) " of " b { (of) } ": the closer to the upper left corner, the better."
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
                    "Of " b { (of) } ". On the line, of the samples given 30 %, 30 % are positive: the model is "
                    (term("calibration", "calibrated")) "."
                }, format!("Observed shares against predicted probabilities of {of} in {} groups.", drawn.calibration.len())).html())
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
            p.caption { "Of " (brief(&fit.samples)) ". Rows are what is, columns what the model says, at " (if fit.probabilities { "probability ½" } else { "margin 0" }) "." }
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
