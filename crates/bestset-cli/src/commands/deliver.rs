//! What becomes of an answer: tables or JSON, the model file, the report.

use crate::args::{FittingArgs, InputArgs, OutputArgs};
use crate::exit::{Exit, Failure};
use crate::output::answer;
use crate::work::{Answer, Encoding, Posed, Session, encoding, report};
use std::io::Write;

/// Writes everything that was asked for and returns the exit code.
pub fn deliver(
    posed: &Posed<'_>,
    found: &Answer,
    (input, fitting, output): (&InputArgs, &FittingArgs, &OutputArgs),
    session: &Session<'_>,
    out: &mut dyn Write,
) -> Result<Exit, Failure> {
    // The answer first: what cannot be written must not lose it.
    session.progress.done();
    match output.json {
        true => answer::write_json(posed, found, output, out)?,
        false => answer::write_tables(posed, found, output, out)?,
    }
    out.flush()?;
    let mut written = Vec::new();
    if let Some(path) = &output.model {
        let (scale, intercept) = (fitting.scale(), !fitting.no_intercept);
        let known = Encoding::new(posed.data, scale, intercept, found.terms.k, input);
        encoding::save(posed, found, &known, path)?;
        written.push(format!("Model: {}", path.display()));
    }
    if output.wants_report() {
        written.extend(report::write(&report::build(posed, found, session)?, output)?);
    }
    if !output.json {
        written.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    out.flush()?;
    Ok(Exit::of(&found.selected.solution))
}
