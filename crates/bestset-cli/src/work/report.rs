//! The report of an answer: the data have their names here, the rest is the report's.

use super::{Answer, Loaded, Posed, Session, encoding};
use crate::args::OutputArgs;
use crate::exit::Failure;
use bestset_report::{self as page, Subject};
use std::path::Path;

/// The page of an answer.
pub fn build(posed: &Posed<'_>, answer: &Answer, session: &Session<'_>) -> Result<page::Report, Failure> {
    session.progress.start("weighing the features");
    let names = |j: usize| posed.data.name(j);
    let subject = subject(posed.data, &names, session);
    let mut report = page::build(posed, &answer.selected, &subject)?;
    let dependences = posed.data.dependences(&answer.selected.solution.dependent);
    report.genome = super::genome::genome(posed.data, answer)?;
    let constant = posed.data.left_out(&posed.constant()).into_iter().collect();
    report.notes = [posed.data.notes(), answer.remarks.clone(), dependences, constant].concat();
    Ok(report)
}

/// What the data are called.
pub fn subject<'s>(data: &Loaded, names: &'s dyn Fn(usize) -> String, session: &Session<'_>) -> Subject<'s> {
    let source = data.set.source.file_name().unwrap_or(data.set.source.as_os_str()).to_string_lossy().into_owned();
    Subject {
        source,
        target: data.target.name.clone(),
        classes: data.target.classes.as_ref().map(|c| (c.negative.clone(), c.positive.clone())),
        labels: data.target.labels.clone(),
        names,
        notes: data.notes(),
        seconds: Some(session.clock.seconds()),
        cancel: session.cancel.clone(),
    }
}

/// The command as a shell takes it, the program by its name.
pub fn command_line() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+%@".contains(c);
    let quote = |word: String| match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let given = crate::WORDS.get().into_iter().flatten().skip(1);
    let words = given.map(|word| quote(word.to_string_lossy().into_owned()));
    std::iter::once("bestset".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
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
