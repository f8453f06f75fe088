//! `bestset path`: answers for a descending price of a feature, each with its bound.

use crate::args::{ChoiceArgs, FittingArgs, InputArgs, LimitArgs, OutputArgs, PathArgs, Terms};
use crate::exit::{Exit, Failure};
use crate::output::answer::{DataJson, VariantJson, write_data};
use crate::output::{self, number, percent_above};
use crate::work::load::counted;
use crate::work::{Answer, Encoding, Loaded, Posed, Session, answer, encoding, report};
use bestset::CancelFlag;
use bestset::criteria::{Criterion, Fit};
use bestset::select::{By, Chosen, Remark};
use bestset::{Method, Status};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// Fit along a path of prices of a feature, each answer with its bound.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: bestset path trial.csv --target outcome --max-size 10
          bestset path trial.csv --target outcome --criterion bic --json --report path.html")]
pub struct Path {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fitting: FittingArgs,
    #[command(flatten)]
    path: PathArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct PathJson<'a> {
    data: DataJson<'a>,
    /// That of the point chosen, searched for and proved.
    problem: Terms,
    criterion: &'static str,
    chosen: usize,
    status: Status,
    remarks: &'a [String],
    /// Features left out because they are constant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    constant: Vec<String>,
    points: Vec<PointJson>,
    /// The variants that the points have, by name, where features are genotypes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    variants: BTreeMap<String, VariantJson>,
}

#[derive(Serialize)]
struct PointJson {
    lambda0: f64,
    lambda1: f64,
    lambda2: f64,
    nonzeros: usize,
    objective: f64,
    lower_bound: f64,
    relative_gap: f64,
    criterion: f64,
    r2: f64,
    intercept: f64,
    features: Vec<(String, f64)>,
}

impl Path {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        self.output.check(&self.input.file)?;
        self.path.check()?;
        let session = Session::start(&self.limits, cancel);
        let data = Loaded::read(&self.input, &self.fitting, &session)?;
        self.fitting.pose(&data, &session, |posed| {
            let options = self.path.selection(self.choice.how(), None, session.options(Method::Incremental));
            let found = answer::select(posed, &options, &session)?;
            let mut written = Vec::new();
            if let Some(path) = &self.output.model {
                let (scale, intercept) = (self.fitting.scale(), !self.fitting.no_intercept);
                let known = Encoding::new(posed.data, scale, intercept, None, &self.input);
                encoding::save(posed, &found, &known, path)?;
                written.push(format!("Model: {}", path.display()));
            }
            if self.output.wants_report() {
                written.extend(report::write(&report::build(posed, &found, &session)?, &self.output)?);
            }
            session.progress.done();
            let status = self.write(posed, &found, out)?;
            if !self.output.json {
                written.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            }
            out.flush()?;
            Ok(Exit::of_status(status))
        })
    }

    fn write(&self, posed: &Posed<'_>, found: &Answer, out: &mut dyn Write) -> Result<Status, Failure> {
        let Some(Chosen { by: By::Criterion(criterion, values), .. }) = &found.selected.chosen else {
            return Err(Failure::Usage("a limit struck before the first point of the path"));
        };
        let (Some(chosen), title) = (&found.selected.chosen, criterion.title()) else {
            return Err(Failure::Usage("there is no path"));
        };
        let status = chosen.path.status;
        let points = chosen.path.points.iter().zip(values).map(|(point, criterion)| {
            let outside = posed.outward(&point.solution.coefficients);
            let certificate = &point.solution.certificate;
            Ok(PointJson {
                lambda0: point.lambda0,
                lambda1: point.lambda1,
                lambda2: point.lambda2,
                nonzeros: outside.nonzeros(),
                objective: certificate.objective,
                lower_bound: certificate.lower_bound + 0.0,
                relative_gap: certificate.relative_gap(),
                criterion: *criterion,
                r2: Fit::new(&posed.problem, &point.solution.coefficients)?.value(Criterion::R2, f64::NAN),
                intercept: outside.intercept,
                features: outside.iter().map(|(j, b)| (posed.data.name(j), b)).collect(),
            })
        });
        let points = points.collect::<Result<Vec<PointJson>, Failure>>()?;
        if self.output.json {
            let features = chosen.path.points.iter().flat_map(|p| posed.outward(&p.solution.coefficients).support);
            let variants =
                features.filter_map(|j| Some((posed.data.name(j), VariantJson::new(posed.data, j)?))).collect();
            let json = PathJson {
                data: DataJson::new(posed.data),
                problem: found.terms,
                criterion: title,
                chosen: chosen.point,
                status,
                remarks: &found.remarks,
                constant: posed.constant().into_iter().map(|j| posed.data.name(j)).collect(),
                points,
                variants,
            };
            serde_json::to_writer_pretty(&mut *out, &json)?;
            writeln!(out)?;
            return Ok(status);
        }
        write_data(posed.data, out)?;
        let penalty = posed.problem.penalty();
        let (lambda1, lambda2) = (output::short(penalty.lambda1), output::short(penalty.lambda2));
        writeln!(out, "{} loss, lambda1 {lambda1}, lambda2 {lambda2}\n", posed.problem.loss().name())?;
        output::heading(out, &format!("Path: {}, {status}", counted(points.len() as u64, "point")))?;
        let rows = points.iter().enumerate().map(|(k, point)| row(posed, chosen, point, k));
        writeln!(
            out,
            "{}",
            output::table(
                &["lambda0", "features", "P", "gap", output::share(posed.problem.loss()), title, "", "changes"],
                rows
            )
        )?;
        let own = found.terms.k.map_or(format!("--lambda0 {}", found.terms.lambda0), |k| format!("-k {k}"));
        writeln!(out, "{title} chooses the point marked *: bestset fit with {own}")?;
        // What would be proved is about one answer, not about the path.
        let is_of_path = |remark: &Remark| !matches!(remark, Remark::Provable(_) | Remark::Unproved(_));
        let said = found.selected.remarks.iter().zip(&found.remarks).filter(|r| is_of_path(r.0));
        let remarks = said.map(|r| r.1.clone());
        remarks.chain(posed.data.left_out(&posed.constant())).try_for_each(|remark| writeln!(out, "{remark}"))?;
        Ok(status)
    }
}

fn row(posed: &Posed<'_>, chosen: &Chosen, point: &PointJson, k: usize) -> Vec<String> {
    vec![
        number(point.lambda0),
        point.nonzeros.to_string(),
        number(point.objective),
        percent_above(point.relative_gap),
        format!("{:.4}", point.r2),
        number(point.criterion),
        if k == chosen.point { "*" } else { "" }.to_owned(),
        changes(posed, &chosen.path, k),
    ]
}

/// Most that are named of what entered, and of what left.
const NAMED: usize = 3;

/// What entered and left since the point before.
fn changes(posed: &Posed<'_>, path: &bestset::path::Path, k: usize) -> String {
    let support = |k: usize| posed.outward(&path.points[k].solution.coefficients).support;
    let (before, after) = (if k > 0 { support(k - 1) } else { Vec::new() }, support(k));
    let entered = after.iter().filter(|j| !before.contains(j)).map(|&j| format!("+{}", posed.data.name(j)));
    let left = before.iter().filter(|j| !after.contains(j)).map(|&j| format!("-{}", posed.data.name(j)));
    let named = |all: Vec<String>| {
        let more = if all.len() > NAMED { format!(" and {} more", all.len() - NAMED) } else { String::new() };
        Some(all[..all.len().min(NAMED)].join(" ") + &more).filter(|text| !text.is_empty())
    };
    let (entered, left) = (named(entered.collect()), named(left.collect()));
    [entered, left].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
