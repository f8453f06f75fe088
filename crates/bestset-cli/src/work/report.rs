//! The report of an answer.

use super::answer::{By, Chosen};
use super::{Answer, Loaded, Posed, Session, encoding, importance};
use crate::args::OutputArgs;
use crate::exit::Failure;
use bestset::criteria::Criterion;
use bestset::solver::CancelFlag;
use bestset::{Method, Options};
use bestset_report as page;
use std::path::Path;

/// The page of an answer.
pub fn build(posed: &Posed<'_>, answer: &Answer, session: &Session<'_>) -> Result<page::Report, Failure> {
    session.progress.start("weighing the features");
    let solution = &answer.solution;
    // A fit that a limit cuts short would say nothing; these are small.
    let (time_limit, cancel) = (None, CancelFlag::default());
    let options = Options { time_limit, cancel, ..session.options(Method::Incremental) };
    let rises = importance::rises(posed, answer, &options)?;
    let term = |(k, (j, b)): (usize, (usize, f64))| page::Term {
        name: posed.data.name(j),
        coefficient: b,
        standardized: Some(b * importance::deviation(posed, j)),
        rise: rises.as_ref().map(|rises| rises[k]),
    };
    let intercept = posed.problem.has_intercept().then_some(answer.coefficients.intercept);
    let opening = opening(posed.data);
    let notes = [opening.notes, crate::output::certificate::remarks(posed, answer)].concat();
    Ok(page::Report {
        notes,
        certificate: page::Certificate::of(solution, answer.terms.k),
        model: page::Model { intercept, terms: answer.coefficients.iter().enumerate().map(term).collect() },
        trace: page::TraceRow::of(&solution.trace),
        screening: Some(screening(posed, answer)),
        path: answer.chosen.as_ref().map(|chosen| path(posed, chosen)).transpose()?,
        cv: answer.chosen.as_ref().and_then(cross_validation),
        ranked: ranked(posed, answer),
        diagnostics: Some(diagnostics(posed, answer)),
        asked: asked(answer),
        seconds: Some(session.clock.seconds()),
        ..opening
    })
}

/// What is known before anything is solved.
pub fn opening(data: &Loaded) -> page::Report {
    let source = data.set.source.file_name().unwrap_or(data.set.source.as_os_str()).to_string_lossy().into_owned();
    let task = match data.loss.is_classification() {
        true => page::Task::Classification,
        false => page::Task::Regression,
    };
    page::Report {
        title: format!("{} from {source}", data.target.name),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        notes: data.notes(),
        data: page::Data {
            source,
            samples: data.set.rows(),
            features: data.set.features(),
            target: data.target.name.clone(),
            task,
            loss: data.loss.name().to_owned(),
            classes: data.target.classes.as_ref().map(|c| (c.negative.clone(), c.positive.clone())),
        },
        ..page::Report::default()
    }
}

/// The command as a shell takes it, the program by its name.
pub fn command_line() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+%@".contains(c);
    let quote = |word: String| match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = std::env::args().skip(1).map(quote);
    std::iter::once("bestset".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

fn asked(answer: &Answer) -> Vec<page::Row> {
    let number = crate::output::number;
    let terms = &answer.terms;
    let mut rows = vec![page::Row::new("loss", terms.loss.name())];
    match terms.k {
        Some(k) => rows.push(page::Row::new("most features", k.to_string())),
        None => rows.push(page::Row::new("lambda0, price of a feature", number(terms.lambda0))),
    }
    rows.push(page::Row::new("lambda1, price of absolute size", number(terms.lambda1)));
    rows.push(page::Row::new("lambda2, price of squared size", number(terms.lambda2)));
    if let Some(chosen) = &answer.chosen {
        rows.push(page::Row::new("chosen", chosen.describe()));
    }
    rows.push(page::Row::new("method", answer.method.name()));
    rows
}

fn screening(posed: &Posed<'_>, answer: &Answer) -> page::Screening {
    let screened = &answer.solution.screened;
    let rule = |name: &str, explanation: &str, count: usize, removes: bool| page::Rule {
        name: name.to_owned(),
        explanation: explanation.to_owned(),
        count,
        removes,
    };
    let rules = vec![
        rule(
            "zero in the relaxation",
            "The convex relaxation, which the bound comes from, has no use for these features at its minimum.",
            screened.relaxation,
            false,
        ),
        rule(
            "in no best subset",
            "Any subset with one of these features has an objective above the answer's: they are out for good.",
            screened.excluded,
            true,
        ),
        rule(
            "in every best subset",
            "Any subset without one of these features has an objective above the answer's: they are in for good.",
            screened.included,
            false,
        ),
    ];
    let rules = rules.into_iter().filter(|rule| rule.count > 0).collect();
    page::Screening { features: posed.features(), rules, selected: answer.coefficients.nonzeros() }
}

fn path(posed: &Posed<'_>, chosen: &Chosen) -> Result<page::Path, Failure> {
    let mut used: Vec<usize> = chosen.path.points.iter().flat_map(|p| p.solution.support().iter().copied()).collect();
    used.sort_unstable();
    used.dedup();
    let points = chosen.path.points.iter().map(|point| {
        let outside = posed.outside(&point.solution.coefficients);
        let place = |j: usize| used.binary_search(&j).unwrap_or_default();
        page::PathPoint {
            lambda0: point.lambda0,
            lambda2: point.lambda2,
            size: point.solution.coefficients.nonzeros(),
            objective: point.solution.certificate.objective,
            lower_bound: point.solution.certificate.lower_bound,
            // Comparable between features: each times the spread of its column.
            coefficients: outside.iter().map(|(j, b)| (place(j), b)).collect(),
        }
    });
    let points = points.collect();
    let mut criteria = Vec::new();
    for (name, criterion) in
        [("BIC", Criterion::Bic), ("EBIC", Criterion::Ebic { gamma: 1.0 }), ("AIC", Criterion::Aic)]
    {
        let values = criterion.along(&posed.problem, &chosen.path)?;
        criteria.push(page::Criterion { name: name.to_owned(), higher_is_better: false, values });
    }
    if let By::Criterion { title, higher_is_better, values } = &chosen.by {
        criteria.retain(|c| c.name != *title);
        let own =
            page::Criterion { name: (*title).to_owned(), higher_is_better: *higher_is_better, values: values.clone() };
        criteria.insert(0, own);
    }
    let features = used.iter().map(|&j| posed.data.name(j)).collect();
    Ok(page::Path { features, points, criteria, chosen: Some(chosen.point) })
}

fn cross_validation(chosen: &Chosen) -> Option<page::CrossValidation> {
    let By::CrossValidation { found, metric, higher_is_better, folds, .. } = &chosen.by else { return None };
    let points = found.path.points.iter().zip(&found.scores).map(|(point, score)| page::CvPoint {
        lambda0: point.lambda0,
        size: point.solution.coefficients.nonzeros(),
        mean: score.mean,
        standard_error: score.standard_error,
    });
    Some(page::CrossValidation {
        metric: (*metric).to_owned(),
        higher_is_better: *higher_is_better,
        folds: folds.clone(),
        points: points.collect(),
        best: found.best,
        one_se: found.one_se,
    })
}

fn ranked(posed: &Posed<'_>, answer: &Answer) -> Vec<page::Ranked> {
    if answer.solution.ranked.len() < 2 {
        return Vec::new();
    }
    let one = |r: &bestset::Ranked| page::Ranked {
        features: r.coefficients.support.iter().map(|&j| posed.data.name(j)).collect(),
        objective: r.objective,
        proved: r.proved,
    };
    answer.solution.ranked.iter().map(one).collect()
}

/// How the samples of the fit are predicted.
pub fn diagnostics(posed: &Posed<'_>, answer: &Answer) -> page::Diagnostics {
    let u = posed.margins(&answer.solution.coefficients);
    let y = posed.problem.y();
    if !posed.loss().is_classification() {
        return page::Diagnostics::Regression(page::Regression::new(y, &u));
    }
    let labels: Vec<bool> = y.iter().map(|y| *y > 0.0).collect();
    page::Diagnostics::Classification(match posed.loss() {
        bestset::Loss::Logistic => {
            let probabilities: Vec<f64> = u.iter().map(|u| 1.0 / (1.0 + (-u).exp())).collect();
            page::Classification::from_probabilities(&labels, &probabilities)
        }
        _ => page::Classification::from_margins(&labels, &u),
    })
}

/// Writes the page and the plots, and returns what was written.
pub fn write(report: &page::Report, output: &OutputArgs) -> Result<Vec<String>, Failure> {
    let mut written = Vec::new();
    let command = output.command.clone().unwrap_or_else(command_line);
    let report = &page::Report { command, ..report.clone() };
    if let Some(path) = &output.report {
        encoding::write_whole(path, report.html().as_bytes())?;
        written.push(format!("Report: {}", path.display()));
    }
    if let Some(directory) = &output.plots {
        written.push(write_plots(report, directory)?);
    }
    Ok(written)
}

fn write_plots(report: &page::Report, directory: &Path) -> Result<String, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::Message(format!("{}: {e}", directory.display()));
    std::fs::create_dir_all(directory).map_err(|e| failed(&e))?;
    let plots = report.plots();
    for plot in &plots {
        encoding::write_whole(&directory.join(format!("{}.svg", plot.name)), plot.svg().as_bytes())?;
        let png = plot.png().map_err(|e| failed(&e))?;
        encoding::write_whole(&directory.join(format!("{}.png", plot.name)), &png)?;
    }
    Ok(format!("Plots: {} as SVG and PNG in {}", plots.len(), directory.display()))
}
