//! `bestset certify`: how good any coefficients are, whoever found them.

mod given;

use crate::args::{FittingArgs, InputArgs, LimitArgs, SizeArgs, proof, seconds};
use crate::exit::{Exit, Failure};
use crate::output::answer::{DataJson, write_data};
use crate::output::{self, above, number, percent_above};
use crate::work::{Answer, Encoding, Loaded, Posed, Session, answer, encoding};
use bestset::CancelFlag;
use bestset::model::Model;
use bestset::select::{Certified, How, Selection};
use bestset::{Loss, Method, Status};
use clap::Args;
use given::{Given, Judged};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Certify coefficients from anywhere: their objective, and a bound that no subset can beat.
///
/// Coefficients are on the scale of the file. A model saved by bestset brings its penalties, loss and scale along, and
/// what is given here wins over them; a CSV file has lines feature,coefficient, a JSON file an object of them; (intercept) is the intercept, the best one if it is not there. Of more than two classes each feature
/// has one for each: feature,coefficient,…,coefficient, classes in their order or as a first line names them, or a JSON list.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: bestset certify trial.csv --target outcome --coefficients lasso.csv --lambda0 0.5
          bestset certify trial.csv --target outcome --coefficients model.json --prove 10")]
pub struct Certify {
    #[command(flatten)]
    input: InputArgs,
    /// CSV, JSON or model file with the coefficients.
    #[arg(long, short = 'c', value_name = "FILE")]
    coefficients: PathBuf,
    #[command(flatten)]
    fitting: FittingArgs,
    #[command(flatten)]
    size: SizeArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// Seconds of branch and bound to close the gap; 0 for none [default: as long again as the fit, two seconds at least, and 150
    /// nodes at the most].
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits", allow_negative_numbers = true)]
    prove: Option<Duration>,
    /// One JSON object in place of tables; values that are not finite are null.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Serialize)]
struct CertifyJson<'a> {
    data: DataJson<'a>,
    objective: f64,
    lower_bound: f64,
    gap: f64,
    relative_gap: f64,
    nonzeros: usize,
    best_objective: f64,
    best_features: Vec<String>,
    proved: bool,
}

impl<'a> CertifyJson<'a> {
    fn new(posed: &Posed<'a>, nonzeros: usize, judged: &Certified, found: &Answer) -> Self {
        let certificate = &judged.certificate;
        Self {
            data: DataJson::new(posed.data),
            objective: certificate.objective,
            lower_bound: certificate.lower_bound + 0.0,
            gap: certificate.gap(),
            relative_gap: certificate.relative_gap(),
            nonzeros,
            best_objective: judged.found.solution.objective(),
            best_features: found.coefficients.support.iter().map(|&j| posed.data.name(j)).collect(),
            proved: judged.status == Status::Optimal,
        }
    }
}

impl Certify {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        let (given, fitting, size, input) = self.given()?;
        if size.lambda0.is_none() && size.k.is_none() {
            return Err(Failure::Usage("say what the coefficients are to be judged by: --lambda0 or -k"));
        }
        let session = Session::start(&self.limits, cancel);
        let data = Loaded::read(&input, &fitting, &session)?;
        fitting.pose(&data, &session, |posed| {
            // The bound with categories as a whole is not one for the objective of single levels, which is shown.
            if posed.setup.groups.is_some() {
                answer::refuse_groups(posed, "certify")?;
            }
            let coefficients = given.find(posed)?;
            if let Some(k) = size.k.filter(|k| coefficients.size() > *k) {
                let count = coefficients.size();
                return Err(Failure::Message(format!("there are {count} coefficients, more than k = {k}")));
            }
            let how = size.how().unwrap_or(How::Price(0.0));
            let prove = proof(self.prove);
            let options = Selection { how, prove, solve: session.options(Method::Incremental), ..Selection::default() };
            let mut show = answer::Show(&session, posed.data);
            let judged = match &coefficients {
                Judged::One(inside) => posed.certify(inside, &options, &mut show)?,
                Judged::Classes(classes) => posed.certify_classes(classes, &options, &mut show)?,
            };
            session.progress.done();
            self.write(posed, coefficients.size(), &judged, out)?;
            out.flush()?;
            Ok(Exit::of(&judged.found.solution))
        })
    }

    /// The coefficients, and the problem that a model brings along unless told otherwise.
    fn given(&self) -> Result<(Given, FittingArgs, SizeArgs, InputArgs), Failure> {
        let (mut fitting, mut size, mut input) = (self.fitting.clone(), self.size.clone(), self.input.clone());
        let path = &self.coefficients;
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::Message(format!("{}: cannot be read: {e}", path.display())))?;
        let json: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        let is_model = json.as_ref().is_some_and(|j| j.get("format").is_some() && j.get("model").is_some());
        if !is_model {
            return Ok((Given::parse(path, text, json)?, fitting, size, input));
        }
        let (model, known) = encoding::load(path)?;
        if matches!(model.loss, Loss::Cox { .. }) && self.input.time.is_none() {
            return Err(Failure::Usage("the model is one of survival times: name their columns by --time and --event"));
        }
        take_over(&mut fitting, &model, known.as_ref())?;
        if size.lambda0.is_none() && size.k.is_none() {
            size.k = known.as_ref().and_then(|k| k.k);
            size.lambda0 = Some(model.lambda0).filter(|_| size.k.is_none());
        }
        if let Some(known) = &known {
            // Without what the fit had beside the features it is another problem that the coefficients would be judged by.
            input.offset = input.offset.or(known.offset.clone());
            input.exposure = input.exposure.or(known.exposure.clone());
            input.strata = input.strata.or(known.strata_column.clone());
        }
        let names = known.and_then(|known| known.class_names);
        Ok((Given::Model(Box::new(model), names), fitting, size, input))
    }

    fn write(&self, posed: &Posed<'_>, size: usize, judged: &Certified, out: &mut dyn Write) -> Result<(), Failure> {
        let (certificate, found) = (&judged.certificate, &Answer::new(posed, judged.found.clone())?);
        let figures = CertifyJson::new(posed, size, judged, found);
        if self.json {
            serde_json::to_writer_pretty(&mut *out, &figures)?;
            return Ok(writeln!(out)?);
        }
        let CertifyJson { gap, relative_gap: share, best_objective: best, best_features: names, .. } = figures;
        write_data(posed.data, out)?;
        writeln!(out, "{}\n", output::describe(&found.terms))?;
        output::heading(out, &format!("Certificate of {}", self.coefficients.display()))?;
        let row = |name: &str, value: String| vec![name.to_owned(), value];
        let rows = [
            row("features", size.to_string()),
            row("objective P", number(certificate.objective)),
            row("lower bound D", output::certificate::lower(certificate)),
            row("gap P − D", format!("{} ({})", above(gap), percent_above(share))),
            row("best P found here", number(best)),
        ];
        writeln!(out, "{}", output::table(&[], rows.into_iter()))?;
        // What cut the search short, where nothing is proved.
        let status = match (judged.status, judged.found.solution.status) {
            (own, Status::Optimal) => own,
            (Status::Optimal, _) => Status::Optimal,
            (_, ended) => ended,
        };
        writeln!(out, "{}", output::certificate::statement(certificate, status, &found.terms))?;
        let remarks = output::certificate::remarks(posed, found);
        remarks.iter().try_for_each(|remark| writeln!(out, "{remark}"))?;
        if best < certificate.objective - self.limits.gap * best.abs() {
            writeln!(out, "Better: {} features with P {}: {}", names.len(), number(best), names.join(", "))?;
        }
        Ok(())
    }
}

/// The problem of a model where the arguments say nothing else: what is given wins.
fn take_over(fitting: &mut FittingArgs, model: &Model, known: Option<&Encoding>) -> Result<(), Failure> {
    if let Some(known) = known {
        let other = fitting.standardize.is_some_and(|scale| scale != known.standardize);
        if other && fitting.lambda2.is_none() {
            return Err(Failure::Message(format!(
                "lambda2 of the model, {}, is for columns of another scale than --standardize asks for: give --lambda2 as well, or \
                 leave out --standardize",
                model.lambda2
            )));
        }
        fitting.standardize.get_or_insert(known.standardize);
        fitting.no_intercept |= !known.intercept;
    }
    fitting.lambda1.get_or_insert(model.lambda1);
    fitting.lambda2.get_or_insert(model.lambda2);
    fitting.delta = fitting.delta.or(model.loss.delta());
    fitting.theta = fitting.theta.or(model.loss.theta());
    // The columns of survival times are named by --time and --event.
    if !matches!(model.loss, Loss::Cox { .. }) {
        fitting.loss.get_or_insert_with(|| model.loss.name().to_owned());
    }
    Ok(())
}
