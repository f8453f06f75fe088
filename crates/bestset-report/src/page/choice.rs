//! How the model was chosen: cross-validation, the path, the criteria.

use super::Section;
use super::parts::{Figure, features, key, plural, term};
use crate::Report;
use crate::number::number;
use crate::series::{CvSeries, PathSeries, Series};
use maud::{Markup, html};

/// `None` when there is neither path nor cross-validation.
pub(super) fn section(report: &Report, series: &Series) -> Option<Section> {
    if series.path.is_none() && series.cv.is_none() {
        return None;
    }
    let body = html! {
        div.grid {
            @if let Some(cv) = &series.cv { (scores(cv, report)) }
            @if let Some(path) = &series.path {
                (coefficients(path, !report.data.labels.is_empty()))
                (heat(path, !report.data.labels.is_empty()))
                (gaps(path))
                @if !path.criteria.is_empty() { (criteria(path)) }
            }
        }
    };
    Some(Section { id: "choice", short: "Choice", title: "How it was chosen", body })
}

fn scores(cv: &CvSeries, report: &Report) -> Markup {
    let several = cv.strands.len() > 1;
    let ridge = |s: usize| number(cv.strands[s].lambda2.unwrap_or(f64::NAN), 3);
    let at = |place: Option<(usize, usize)>| {
        place.map(|(s, k)| {
            let mean = number(cv.strands[s].mean[k].unwrap_or(f64::NAN), 4);
            let with = if several { format!(" and λ2 = {}", ridge(s)) } else { String::new() };
            format!("{}{with} ({mean})", features(cv.size[k]))
        })
    };
    let (best, one_se) = (at(cv.best), at(cv.one_se));
    let mut said = format!("Cross-validated {} of {}", cv.metric, plural(cv.size.len(), "size"));
    said.push_str(&if several { format!(", a curve for each of {} λ2.", cv.strands.len()) } else { ".".to_owned() });
    if let Some(best) = &best {
        said.push_str(&format!(" Best with {best}."));
    }
    if let Some(sparse) = &one_se {
        said.push_str(&format!(" Sparsest within one standard error: {sparse}."));
    }
    let folds = report.cv.as_ref().map_or("", |cv| cv.folds.as_str());
    let outside: Vec<String> = cv.outside().into_iter().map(ridge).collect();
    let mut notes = Vec::new();
    if !outside.is_empty() {
        notes.push(format!("Too far off for the picture: λ2 = {}.", outside.join(", ")));
    }
    if cv.left_out > 0 {
        notes.push(format!("{} of other λ2 not drawn.", plural(cv.left_out, "curve")));
    }
    let note = (!notes.is_empty()).then(|| notes.join(" "));
    let caption = html! {
        (term("cv", "Cross-validated")) " " (cv.metric) @if !folds.is_empty() { " (" (folds) ")" } " by the number of features"
        @if several { ", a curve for each " (term("lambda2", "ridge penalty λ2")) } "; the band is one standard error. "
        @if let Some(best) = &best { "Best: " b { (best) } ". " }
        @if let Some(sparse) = &one_se { (term("one-se", "Sparsest within one standard error")) ": " b { (sparse) } "." }
        @if several {
            span.keys { @for s in 0..cv.strands.len() { (key(&format!("hue{s}"), &format!("λ2 = {}", ridge(s)))) } }
        }
    };
    let title = if cv.higher_is_better { "Score on samples left out" } else { "Error on samples left out" };
    Figure::new("cv", title, caption, said).wide().note(note).html()
}

fn coefficients(path: &PathSeries, many: bool) -> Markup {
    let first: Vec<&str> = path.lines.iter().take(5).map(|line| line.name.as_str()).collect();
    let said = format!(
        "Coefficients of {} along {} of falling penalty. First to enter: {}.",
        features(path.lines.len()),
        plural(path.lambda0.len(), "point"),
        first.join(", ")
    );
    let note = (path.left_out > 0)
        .then(|| format!("The {} that enter first; {} more enter later.", path.lines.len(), path.left_out));
    let caption = html! {
        "From left to right the " (term("lambda0", "penalty per feature")) " falls and more of them earn it"
        @if let Some(value) = path.lambda2 { "; λ2 = " (number(value, 3)) ", as in the model" }
        @if many { "; a line is the length of the coefficients of a feature over all classes" }
        @if path.is_per_deviation() { ". Coefficients are per standard deviation of their features, so that units do not matter" }
        ". Point at a line for its name."
    };
    Figure::new("path", "Coefficients along the path", caption, said).wide().note(note).html()
}

fn heat(path: &PathSeries, many: bool) -> Markup {
    let rows = path.lines.len();
    let said = format!("Which of {rows} features are in the answer at each of {} points.", path.lambda0.len());
    let note = (path.lines.len() + path.left_out > rows)
        .then(|| format!("The {rows} features that enter first, of {}.", path.lines.len() + path.left_out));
    let caption = html! {
       @if many { (key("up", "in")) } @else { (key("up", "raises")) (key("down", "lowers")) }
       "One row a feature, one column a point of the path: who is in, and since when."
    };
    Figure::new("heat", "Who is in the answer", caption, said).wide().note(note).html()
}

fn gaps(path: &PathSeries) -> Markup {
    let said = "Objective and lower bound at every point of the path.".to_owned();
    let caption = html! { (key("objective", "objective")) (key("bound", "lower bound")) "Every point of the path has its own " (term("bound", "bound")) "; the band is its gap." };
    let figure = Figure::new("path-proof", "Proof along the path", caption, said);
    if path.criteria.is_empty() { figure.wide().html() } else { figure.html() }
}

fn criteria(path: &PathSeries) -> Markup {
    let said = |name: &str, best: Option<usize>| match best {
        Some(k) => format!("{name} is best with {}.", features(path.size[k])),
        None => format!("{name} is not known."),
    };
    let text = path.criteria.iter().map(|c| said(&c.name, c.best)).collect::<Vec<_>>().join(" ");
    let controls = html! {
        @if path.criteria.len() > 1 {
            label.select {
                span.unseen { "Criterion" }
                select #criterion { @for (k, c) in path.criteria.iter().enumerate() { option value=(k) { (c.name) } } }
            }
        }
    };
    let caption =
        html! { (term("criteria", "Criteria")) " weigh fit against size without further data. The ring is the best." };
    Figure::new("criteria", "Criteria along the path", caption, text).controls(controls).html()
}
