//! Many classes: curves of each against the others, and which are taken for which.

use super::fit::{counted, facts, remark};
use super::parts::{Figure, key, term};
use crate::number::{count, number, percent};
use crate::series::ClassesSeries;
use crate::types::brief;
use crate::{ClassFit, ClassesFit};
use maud::{Markup, html};

pub(super) fn body(fit: &ClassesFit, drawn: Option<&ClassesSeries>, explained: Vec<(Markup, String)>) -> Markup {
    let of = brief(&fit.samples);
    let mut list = vec![
        (html! { "Right classes" }, percent(fit.accuracy)),
        (term("auc", "Mean AUC of the classes"), number(fit.mean_area(), 4)),
        (term("log-loss", "Log loss"), number(fit.log_loss, 4)),
    ];
    list.extend(explained);
    html! {
        (remark(&fit.samples, fit.count))
        (facts(&list))
        div.grid {
            @if let Some(drawn) = drawn {
                (Figure::new("class-roc", "Found and mistaken", html! {
                    "The " (term("roc", "ROC curves")) " of " b { (of) } ", each class against all others: the closer to the upper left corner, the better."
                    span.keys { @for (k, curve) in drawn.curves.iter().enumerate() { (key(&format!("hue{k}"), &curve.name)) } }
                }, said(fit)).note(left_out(fit, drawn)).wide().html())
            }
            (areas(fit))
            (confusion(fit))
        }
    }
}

/// The curves in words.
fn said(fit: &ClassesFit) -> String {
    let one = |c: &ClassFit| format!("{} {}", c.name, number(c.auc, 3));
    // A sentence that a screen reader reads out: more is in the table.
    let areas: Vec<String> = fit.classes.iter().take(12).map(one).collect();
    let of = counted(&fit.samples, fit.count);
    format!("Curves of classes found against others mistaken for them, of {of}. Areas: {}.", areas.join(", "))
}

fn left_out(fit: &ClassesFit, drawn: &ClassesSeries) -> Option<String> {
    let (all, curves) = (fit.classes.len(), drawn.curves.len());
    (curves < all)
        .then(|| format!("{} of {} classes are drawn; the areas of all are in the table.", count(curves), count(all)))
}

fn areas(fit: &ClassesFit) -> Markup {
    let share = |part: usize, of: usize| if of == 0 { "–".to_owned() } else { percent(part as f64 / of as f64) };
    html! {
        div.card {
            h3 { "Class by class" }
            p.caption { "Found: the share of the samples of a class that the model gives to it. Right: the share of those given to it that are of it." }
            div.scroll tabindex="0" role="region" aria-label="Figures of every class" {
                table.tight {
                    caption.unseen { "Figures of every class" }
                    thead { tr {
                        th scope="col" { "Class" } th.number scope="col" { "Samples" } th.number scope="col" { "AUC" }
                        th.number scope="col" { "Found" } th.number scope="col" { "Right" }
                    } }
                    tbody {
                        @for (k, class) in fit.classes.iter().enumerate() {
                            tr {
                                th scope="row" { span.name title=(class.name) { (class.name) } }
                                td.number { (count(fit.of_class(k))) }
                                td.number { (number(class.auc, 4)) }
                                td.number { (share(fit.confusion[k][k], fit.of_class(k))) }
                                td.number { (share(fit.confusion[k][k], fit.taken_for(k))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn confusion(fit: &ClassesFit) -> Markup {
    let cell = |k: usize, l: usize| {
        let (value, all) = (fit.confusion[k][l], fit.of_class(k).max(1));
        let share = value as f64 / all as f64;
        html! {
            td class=(if k == l { "right-cell" } else { "wrong-cell" }) style=(format!("--share:{share:.4}")) { (count(value)) }
        }
    };
    // One of two columns of cards holds so many; more take the whole width.
    let wide = fit.classes.len() > 3;
    let style = format!("--classes:{}", fit.classes.len());
    html! {
        div.card.wide[wide] {
            h3 { "Right and wrong" }
            p.caption { "Of " (brief(&fit.samples)) ". Rows are what is, columns what the model says: the likeliest class." }
            div.scroll tabindex="0" role="region" aria-label="Classes against predictions" {
                table.confusion.many style=(style) {
                    caption.unseen { "Confusion matrix" }
                    thead { tr {
                        td {}
                        @for class in &fit.classes { th scope="col" { "says " span.name title=(class.name) { (class.name) } } }
                    } }
                    tbody {
                        @for (k, class) in fit.classes.iter().enumerate() {
                            tr {
                                th scope="row" { "is " span.name title=(class.name) { (class.name) } }
                                @for l in 0..fit.classes.len() { (cell(k, l)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
