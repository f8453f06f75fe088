//! An answer for people and for machines.

use super::{certificate, describe, heading, number, short, table, trace};
use crate::args::{OutputArgs, Terms};
use crate::exit::Failure;
use crate::work::{Answer, Loaded, Posed};
use bestset::select::{By, Chosen, Standing};
use bestset::{Local, Screened, Status, TraceRow};
use bestset_data::{KnownVariant, Variant};
use serde::Serialize;
use std::io::Write;

/// What the data are, in JSON.
#[derive(Debug, Serialize)]
pub struct DataJson<'a> {
    source: String,
    samples: usize,
    features: usize,
    target: &'a str,
    classes: &'a Option<bestset_data::Classes>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    class_names: &'a [String],
    /// Of survival times.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strata: Option<usize>,
    read_seconds: f64,
    notes: Vec<String>,
}

impl<'a> DataJson<'a> {
    pub fn new(data: &'a Loaded) -> Self {
        Self {
            source: data.set.source.display().to_string(),
            samples: data.rows(),
            features: data.features(),
            target: &data.target.name,
            classes: &data.target.classes,
            class_names: &data.target.labels,
            events: data.counts().map(|c| c.0),
            strata: data.counts().map(|c| c.1),
            read_seconds: data.seconds,
            notes: data.notes(),
        }
    }
}

/// One selected feature.
#[derive(Debug, Serialize)]
pub struct FeatureJson {
    name: String,
    index: usize,
    coefficient: f64,
    standardized: f64,
    /// The coefficients of every class, where there are many; `coefficient` is their length.
    #[serde(skip_serializing_if = "Option::is_none")]
    coefficients: Option<Vec<f64>>,
    /// The variant, where features are genotypes.
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<VariantJson>,
}

/// A variant with the allele that the coefficient is of.
#[derive(Debug, Serialize)]
pub struct VariantJson {
    id: String,
    chromosome: String,
    position: i64,
    effect_allele: String,
    other_allele: String,
    frequency: f64,
}

impl VariantJson {
    /// The variant that feature j is.
    pub fn new(data: &Loaded, j: usize) -> Option<Self> {
        let KnownVariant { variant, frequency, .. } = data.variant(j)?;
        let Variant { chromosome, position, id, effect, other } = variant;
        Some(Self { id, chromosome, position, effect_allele: effect, other_allele: other, frequency })
    }

    /// Name, effect allele and its frequency, for a table.
    fn cells(variant: Option<&Self>) -> Vec<String> {
        match variant {
            Some(v) => vec![v.id.clone(), v.effect_allele.clone(), format!("{:.4}", v.frequency)],
            None => vec![String::new(); 3],
        }
    }
}

/// The answer; values that are not finite become `null`.
#[derive(Debug, Serialize)]
struct AnswerJson<'a> {
    data: DataJson<'a>,
    problem: Terms,
    method: &'static str,
    chosen: Option<String>,
    status: Status,
    standing: Standing,
    statement: String,
    remarks: &'a [String],
    objective: f64,
    relaxation: Option<f64>,
    lower_bound: f64,
    gap: f64,
    relative_gap: f64,
    nonzeros: usize,
    intercept: f64,
    /// Those of every class, where there are many.
    #[serde(skip_serializing_if = "Option::is_none")]
    intercepts: Option<&'a [f64]>,
    features: Vec<FeatureJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranked: Vec<RankedJson>,
    /// Features taken for combinations of each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependent: Vec<Vec<String>>,
    /// Features left out because they are constant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    constant: Vec<String>,
    iterations: usize,
    passes: f64,
    seconds: f64,
    screened: Screened,
    local: Local,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a [TraceRow]>,
}

#[derive(Debug, Serialize)]
struct RankedJson {
    features: Vec<String>,
    objective: f64,
    proved: bool,
}

/// The selected features, largest standardised coefficient first.
pub fn features(posed: &Posed<'_>, answer: &Answer) -> Result<Vec<FeatureJson>, Failure> {
    let one = |(j, b): (usize, f64)| -> Result<FeatureJson, Failure> {
        let (standardized, variant) = (b * posed.data.spread(j)?.1, VariantJson::new(posed.data, j));
        let row = |k: usize, classes: &bestset::ClassCoefficients| classes.values.iter().map(|row| row[k]).collect();
        let place = answer.coefficients.support.binary_search(&j).ok();
        let coefficients = answer.classes.as_ref().zip(place).map(|(classes, k)| row(k, classes));
        Ok(FeatureJson { name: posed.data.name(j), index: j, coefficient: b, standardized, coefficients, variant })
    };
    let mut all = answer.coefficients.iter().map(one).collect::<Result<Vec<FeatureJson>, Failure>>()?;
    all.sort_by(|a, b| b.standardized.abs().total_cmp(&a.standardized.abs()).then(a.index.cmp(&b.index)));
    Ok(all)
}

/// Writes the answer as one JSON object.
pub fn write_json(posed: &Posed<'_>, answer: &Answer, output: &OutputArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let solution = &answer.selected.solution;
    let certificate = &solution.certificate;
    let ranked = solution.ranked.iter().map(|r| RankedJson {
        features: posed.outward(&r.coefficients).support.iter().map(|&j| posed.data.name(j)).collect(),
        objective: r.objective,
        proved: r.proved,
    });
    let json = AnswerJson {
        data: DataJson::new(posed.data),
        problem: answer.terms,
        method: answer.selected.method.name(),
        chosen: answer.selected.chosen.as_ref().map(bestset_report::chosen_by),
        status: solution.status,
        standing: answer.selected.standing,
        statement: answer.selected.standing.to_string(),
        remarks: &answer.remarks,
        objective: certificate.objective,
        relaxation: certificate.relaxation,
        lower_bound: certificate.lower_bound + 0.0,
        gap: certificate.gap(),
        relative_gap: certificate.relative_gap(),
        nonzeros: answer.coefficients.nonzeros(),
        intercept: answer.coefficients.intercept,
        intercepts: answer.classes.as_ref().map(|classes| &classes.intercepts[..]),
        features: features(posed, answer)?,
        ranked: ranked.collect(),
        dependent: posed.data.names_of(&solution.dependent),
        constant: posed.constant().into_iter().map(|j| posed.data.name(j)).collect(),
        iterations: solution.iterations,
        passes: solution.passes,
        seconds: solution.seconds,
        screened: solution.screened,
        local: solution.local,
        trace: output.trace.then_some(solution.trace.as_slice()),
    };
    serde_json::to_writer_pretty(&mut *out, &json)?;
    Ok(writeln!(out)?)
}

/// The data, and remarks on them.
pub fn write_data(data: &Loaded, out: &mut dyn Write) -> Result<(), Failure> {
    heading(out, &data.describe())?;
    data.notes().iter().try_for_each(|note| writeln!(out, "{note}"))?;
    Ok(())
}

/// Writes the answer as tables.
pub fn write_tables(
    posed: &Posed<'_>,
    answer: &Answer,
    output: &OutputArgs,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let solution = &answer.selected.solution;
    write_data(posed.data, out)?;
    if let Some(chosen) = &answer.selected.chosen {
        write_scores(posed, chosen, out)?;
    }
    writeln!(out, "{}", describe(&answer.terms))?;
    if let Some(chosen) = &answer.selected.chosen {
        let (high, low) = chosen.prices;
        // The best of its size need be the best at no price.
        let range = match high > low && answer.terms.k.is_none() {
            true => format!("; nothing better on the path for lambda0 from {} to {}", short(low), short(high)),
            false => String::new(),
        };
        writeln!(out, "Chosen by {}{range}", bestset_report::chosen_by(chosen))?;
    }
    writeln!(out)?;
    if output.trace && !solution.trace.is_empty() {
        heading(out, "Trace")?;
        writeln!(out, "{}\n", trace::table(&solution.trace))?;
    }
    write_features(posed, answer, output.top, out)?;
    write_ranked(posed, answer, out)?;
    heading(out, "Certificate")?;
    writeln!(out, "{}", certificate::table(solution, output.verbose))?;
    if let Some(reading) = posed.data.reading().filter(|_| output.verbose) {
        writeln!(out, "{reading}")?;
    }
    writeln!(out, "{}.", answer.selected.standing)?;
    // The sentence on the objective says more where there is a gap.
    if solution.status != Status::Optimal {
        writeln!(out, "{}", certificate::verdict(solution, &answer.terms))?;
    }
    let remarks = certificate::remarks(posed, answer);
    remarks.iter().try_for_each(|remark| writeln!(out, "{remark}"))?;
    Ok(())
}

fn write_features(posed: &Posed<'_>, answer: &Answer, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let all = features(posed, answer)?;
    heading(out, &format!("Selected features: {} of {}", all.len(), posed.features()))?;
    if let Some(classes) = &answer.classes {
        return write_classes(posed, &all, &classes.intercepts, top, out);
    }
    let genotyped = !posed.data.set.variants().is_empty();
    let row = |name: &str, coefficient: f64, standardized: String, variant: Option<&VariantJson>| {
        let mut cells = vec![name.to_owned(), number(coefficient), standardized];
        if genotyped {
            cells.splice(1..1, VariantJson::cells(variant));
        }
        cells
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    if posed.problem.has_intercept() {
        rows.push(row("(intercept)", answer.coefficients.intercept, String::new(), None));
    }
    let shown = all.iter().take(top);
    rows.extend(shown.map(|f| row(&f.name, f.coefficient, number(f.standardized), f.variant.as_ref())));
    let mut titles = vec!["feature", "coefficient", "per standard deviation"];
    if genotyped {
        titles.splice(1..1, ["id", "effect allele", "frequency"]);
    }
    writeln!(out, "{}", table(&titles, rows.into_iter()))?;
    if all.len() > top {
        writeln!(out, "... and {} smaller ones (--top {})", all.len() - top, all.len())?;
    }
    Ok(writeln!(out)?)
}

/// The selected features with a coefficient for every class.
fn write_classes(
    posed: &Posed<'_>,
    all: &[FeatureJson],
    intercepts: &[f64],
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let cells = |values: &[f64]| values.iter().map(|b| number(*b)).collect::<Vec<_>>();
    let mut rows: Vec<Vec<String>> = Vec::new();
    if posed.setup.intercept {
        rows.push([vec!["(intercept)".to_owned()], cells(intercepts), vec![String::new()]].concat());
    }
    rows.extend(all.iter().take(top).map(|f| {
        let own = f.coefficients.as_deref().unwrap_or_default();
        [vec![f.name.clone()], cells(own), vec![number(f.standardized)]].concat()
    }));
    let labels = posed.data.target.labels.iter().map(String::as_str);
    let titles: Vec<&str> = ["feature"].into_iter().chain(labels).chain(["length per standard deviation"]).collect();
    writeln!(out, "{}", table(&titles, rows.into_iter()))?;
    if all.len() > top {
        writeln!(out, "... and {} smaller ones (--top {})", all.len() - top, all.len())?;
    }
    Ok(writeln!(out)?)
}

fn write_ranked(posed: &Posed<'_>, answer: &Answer, out: &mut dyn Write) -> Result<(), Failure> {
    if answer.selected.solution.ranked.len() < 2 {
        return Ok(());
    }
    heading(out, "Best subsets")?;
    let rows = answer.selected.solution.ranked.iter().enumerate().map(|(k, r)| {
        let chosen = posed.outward(&r.coefficients).support;
        let names: Vec<String> = chosen.iter().map(|&j| posed.data.name(j)).collect();
        let proved = if r.proved { "yes" } else { "no" };
        vec![names.join(", "), number(r.objective), proved.to_owned(), (k + 1).to_string()]
    });
    Ok(writeln!(out, "{}\n", table(&["features", "objective P", "proved", "rank"], rows))?)
}

/// Scores shown at most.
const ROWS: usize = 20;

/// The best size of every lambda2, and the sizes with the one chosen, thinned.
fn write_scores(posed: &Posed<'_>, chosen: &Chosen, out: &mut dyn Write) -> Result<(), Failure> {
    let By::CrossValidation(cv, _) = &chosen.by else { return Ok(()) };
    writeln!(out)?;
    heading(out, &format!("Cross-validation: {}", cv.score.title()))?;
    let sign = if cv.score.is_maximised() { -1.0 } else { 1.0 };
    let ridge = |k: usize| cv.path.points[k].lambda2;
    let own: Vec<usize> = (0..cv.scores.len()).filter(|&k| ridge(k) == ridge(chosen.point)).collect();
    let step = own.len().div_ceil(ROWS).max(1);
    let least = |k: &usize| {
        let same = (0..cv.scores.len()).filter(|&j| ridge(j) == ridge(*k) && !cv.scores[j].mean.is_nan());
        same.min_by(|&a, &b| (sign * cv.scores[a].mean).total_cmp(&(sign * cv.scores[b].mean))) == Some(*k)
    };
    let size = |k: usize| posed.problem.size(&cv.path.points[k].solution.coefficients);
    let first = |k: &usize| own.iter().all(|j| j >= k || size(*j) != size(*k));
    let thinned: Vec<usize> = own.iter().copied().filter(first).step_by(step).collect();
    let shown = (0..cv.scores.len()).filter(|k| thinned.contains(k) || [cv.best, cv.one_se].contains(k) || least(k));
    let rows = shown.map(|k| {
        let point = &cv.path.points[k];
        let mark = match (k == cv.best, k == cv.one_se) {
            (true, true) => "min, 1se",
            (true, false) => "min",
            (false, true) => "1se",
            _ => "",
        };
        vec![
            short(point.lambda2),
            size(k).to_string(),
            number(cv.scores[k].mean),
            number(cv.scores[k].standard_error),
            mark.to_owned(),
        ]
    });
    Ok(writeln!(out, "{}\n", table(&["lambda2", "features", "mean", "standard error", ""], rows))?)
}
