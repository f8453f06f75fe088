//! `bestset subsets`: the best subset of every size.

use crate::args::{FittingArgs, InputArgs, LimitArgs, OutputArgs, count};
use crate::exit::{Exit, Failure};
use crate::output::answer::{DataJson, write_data};
use crate::output::{self, number, percent_above};
use crate::work::{Loaded, Posed, Session, report};
use bestset::CancelFlag;
use bestset::select::SUBSET_SIZES;
use bestset::{Method, Status, Subset};
use bestset_report as page;
use clap::Args;
use serde::Serialize;
use std::io::Write;

/// Find the best subset of every size, each proved, with the measures that choose between them.
///
/// Least squares has lambda2 = 0 unless given wherever it can do without, as with more samples than features: the classical best
/// subsets. With --lambda2 0 and more features than samples small sizes are proved by looking at all subsets: three features of
/// thousands, five of a few hundred. A category is in or out as a whole and counts for as many features as it has indicators.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: bestset subsets trial.csv --target outcome
          bestset subsets trial.csv --target outcome --max-size 8 --json
          bestset subsets genes.csv --target outcome --lambda2 0 --max-size 3")]
pub struct Subsets {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fitting: FittingArgs,
    /// Largest size [default: 8, or the number of features].
    #[arg(long, value_name = "COUNT", help_heading = "Problem", value_parser = count, allow_negative_numbers = true)]
    max_size: Option<usize>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct SubsetsJson<'a> {
    data: DataJson<'a>,
    nodes: usize,
    seconds: f64,
    sizes: Vec<SizeJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependent: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct SizeJson {
    size: usize,
    /// Whether the answer is one of this size, or what a limit left of a smaller one.
    reached: bool,
    features: Vec<(String, f64)>,
    intercept: f64,
    #[serde(flatten)]
    subset: Measures,
}

#[derive(Serialize)]
struct Measures {
    status: Status,
    objective: f64,
    lower_bound: f64,
    relative_gap: f64,
    loss: f64,
    #[serde(flatten)]
    criteria: bestset::Criteria,
}

impl Subsets {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        if self.output.model.is_some() {
            return Err(Failure::Usage("subsets has an answer for every size; save a model with fit or exact -k"));
        }
        self.output.check(&self.input.file)?;
        let session = Session::start(&self.limits, cancel);
        let data = Loaded::read(&self.input, &self.fitting, &session)?;
        self.fitting.pose(&data, &session, |posed| {
            let most = self.max_size.unwrap_or(SUBSET_SIZES).min(posed.features());
            session.progress.start(format!("best subsets of 1 to {most} features"));
            let found = posed.subsets(most, &session.options(Method::Exact))?;
            let worst = found.sizes.iter().map(|s| Exit::of_status(s.status)).max_by_key(|e| *e as u8);
            let written = self.write_report(posed, &found, &session)?;
            session.progress.done();
            if self.output.json {
                let sizes = found.sizes.iter().map(|s| json(posed, s)).collect();
                let (nodes, seconds) = (found.nodes, found.seconds);
                let dependent = posed.data.names_of(&found.dependent);
                let (data, remarks) = (DataJson::new(posed.data), self.remarks(posed));
                let json = SubsetsJson { data, nodes, seconds, sizes, dependent, remarks };
                serde_json::to_writer_pretty(&mut *out, &json)?;
                writeln!(out)?;
            } else {
                write_table(posed, &found, out)?;
                self.remarks(posed).iter().try_for_each(|remark| writeln!(out, "{remark}"))?;
                written.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            }
            out.flush()?;
            Ok(worst.unwrap_or(Exit::Done))
        })
    }

    /// What there is to know about the samples, the features left out and the sizes.
    fn remarks(&self, posed: &Posed<'_>) -> Vec<String> {
        let of_data = posed.remarks().into_iter().map(|remark| remark.to_string());
        let (most, features) = (SUBSET_SIZES, posed.features());
        let stops = (self.max_size.is_none() && features > most).then(|| {
            format!(
                "Sizes up to {most} of {features} were searched, as without --max-size; --max-size COUNT asks for more."
            )
        });
        of_data.chain(posed.data.left_out(&posed.constant())).chain(stops).collect()
    }

    fn write_report(
        &self,
        posed: &Posed<'_>,
        found: &bestset::Subsets,
        session: &Session<'_>,
    ) -> Result<Vec<String>, Failure> {
        if !self.output.wants_report() {
            return Ok(Vec::new());
        }
        let subset = |s: &Subset| {
            let outside = Subset { coefficients: posed.outward(&s.coefficients), ..s.clone() };
            page::Subset::of(&outside, &|j| posed.data.name(j))
        };
        let subsets = found.sizes.iter().map(subset).collect();
        let names = |j: usize| posed.data.name(j);
        let opening = report::subject(posed.data, &names, session).opening(&posed.problem);
        let notes = [opening.notes, posed.data.dependences(&found.dependent), self.remarks(posed)].concat();
        let report = page::Report { subsets, notes, ..opening };
        report::write(&report, &self.output)
    }
}

fn json(posed: &Posed<'_>, subset: &Subset) -> SizeJson {
    let outside = posed.outward(&subset.coefficients);
    let certificate = &subset.certificate;
    SizeJson {
        size: subset.size,
        reached: subset.is_reached(),
        features: outside.iter().map(|(j, b)| (posed.data.name(j), b)).collect(),
        intercept: outside.intercept,
        subset: Measures {
            status: subset.status,
            objective: certificate.objective,
            lower_bound: certificate.lower_bound + 0.0,
            relative_gap: certificate.relative_gap(),
            loss: subset.loss,
            criteria: subset.criteria,
        },
    }
}

fn write_table(posed: &Posed<'_>, found: &bestset::Subsets, out: &mut dyn Write) -> Result<(), Failure> {
    write_data(posed.data, out)?;
    let penalty = posed.problem.penalty();
    writeln!(
        out,
        "{} loss, lambda1 {}, lambda2 {}\n",
        posed.problem.loss().name(),
        penalty.lambda1,
        output::short(found.lambda2)
    )?;
    output::heading(out, "Best subset of each size")?;
    let rows = found.sizes.iter().map(|s| row(posed, s));
    writeln!(
        out,
        "{}",
        output::table(&["size", "loss", output::share(posed.problem.loss()), "Cp", "BIC", "proved", "features"], rows)
    )?;
    let best = found.reached().filter(|s| s.criteria.bic.is_some());
    if let Some(best) =
        best.min_by(|a, b| a.criteria.bic.unwrap_or(f64::NAN).total_cmp(&b.criteria.bic.unwrap_or(f64::NAN)))
    {
        let features = if best.size == 1 { "feature" } else { "features" };
        let among = if found.is_complete() { "" } else { " among the sizes that were reached" };
        writeln!(out, "BIC is least at {} {features}{among}.", best.size)?;
    }
    let remarks = posed.data.dependences(&found.dependent);
    Ok(remarks.iter().try_for_each(|remark| writeln!(out, "{remark}"))?)
}

/// One size of the table.
fn row(posed: &Posed<'_>, subset: &bestset::Subset) -> Vec<String> {
    let maybe = |value: Option<f64>| value.map_or("–".to_owned(), number);
    if !subset.is_reached() {
        let [none, last] = ["–", "not reached"].map(str::to_owned);
        return vec![subset.size.to_string(), none.clone(), none.clone(), none.clone(), none, last, String::new()];
    }
    let chosen = posed.outward(&subset.coefficients).support;
    let names: Vec<String> = chosen.iter().map(|&j| posed.data.name(j)).collect();
    let proved = match subset.status {
        Status::Optimal => "best".to_owned(),
        _ => format!("within {}", percent_above(subset.certificate.relative_gap())),
    };
    let (r2, cp, bic) = (format!("{:.4}", subset.criteria.r2), subset.criteria.cp, subset.criteria.bic);
    vec![subset.size.to_string(), number(subset.loss), r2, maybe(cp), maybe(bic), proved, names.join(" ")]
}
