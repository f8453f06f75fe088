//! `bestset predict`: a saved model applied to a file.

use crate::args::{ReadArgs, TraitArgs, bytes, check_apart};
use crate::exit::{Exit, Failure};
use crate::output::number;
use crate::work::load::{counted, say, without_columns};
use crate::work::survival::known_strata;
use crate::work::{Encoding, encoding};
use bestset::criteria::explained;
use bestset::design::{Design, Stored};
use bestset::model::Model;
use bestset::{Baseline, Loss, class_probabilities, explained_by_classes, likeliest_classes};
use bestset_data::{
    CohortFiles, CohortOptions, Dataset, Impute, Imputed, Person, Roles, Table, Usual, find_variants, read,
};
use clap::Args;
use serde::Serialize;
use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

/// Predict the rows of a file with a saved model.
///
/// Columns are found by their names; those that the model does not use are not looked at. Variants of a model of genotypes are found
/// in another cohort by chromosome, position and alleles, exchanged or of the other strand where that is certain.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: bestset predict model.json new.csv
          bestset predict model.json new.csv --output predictions.csv
          zcat new.csv.gz | bestset predict model.json -
          bestset predict bmi.json other.bed --covar pcs.tsv
          bestset predict cox.json new.csv --type survival --times 1,2,5
          bestset predict cox.json new.csv --type median --strata centre")]
pub struct Predict {
    /// Model saved by fit, path, cv, exact or report.
    model: PathBuf,
    /// Data to predict; - is standard input.
    file: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    traits: TraitArgs,
    /// What is predicted of survival times: the linear predictor, the relative risk, survival or the cumulative hazard at --times, or
    /// the median.
    #[arg(long = "type", value_enum, value_name = "WHAT", help_heading = "Data")]
    kind: Option<Kind>,
    /// Times at which survival is predicted.
    #[arg(long, value_name = "TIMES", value_delimiter = ',', help_heading = "Data")]
    times: Vec<f64>,
    /// Column with the strata of survival times, where the fit had some [default: the column that it had them in].
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    strata: Option<String>,
    /// Put what was usual in the data of the fit in the place of missing values: the mean, or the most frequent text.
    #[arg(long, help_heading = "Data")]
    impute: bool,
    /// Write the predictions as CSV to this file, and a summary to the terminal.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// One JSON object in place of CSV.
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Most memory for the data.
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Limits")]
    max_memory: Option<usize>,
}

/// What is predicted of survival times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Linear,
    Risk,
    Survival,
    Hazard,
    Median,
}

/// Predictions and, where the file has the target, how good they are.
#[derive(Default, Serialize)]
struct Predictions {
    target: String,
    /// FID and IID of each, where they are people of a cohort.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    people: Vec<(String, String)>,
    predictions: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<Vec<f64>>,
    /// The names of many classes, and their probabilities, a row for each sample.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    class_names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    class_probabilities: Vec<Vec<f64>>,
    /// Survival or cumulative hazards, a row for each sample, and their times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    times: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    curves: Vec<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<Score>,
    /// The share of the deviance explained, of many classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    d2: Option<f64>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Number(f64),
    Class(String),
}

#[derive(Serialize)]
struct Score {
    name: &'static str,
    value: f64,
}

impl Predict {
    pub fn run(&self, out: &mut dyn Write) -> Result<Exit, Failure> {
        for read in self.output.iter().flat_map(|output| [(output, &self.file), (output, &self.model)]) {
            check_apart(read.0, read.1)?;
        }
        let (model, known) = encoding::load(&self.model)?;
        self.traits.check(&self.file)?;
        let disk = if self.stays_on_disk() { Some(Stored::open(&self.file)?) } else { None };
        let (data, people) = match (&disk, CohortFiles::of(&self.file)) {
            (Some(stored), _) => (without_columns(&self.file, stored)?, Vec::new()),
            (None, Some(files)) => self.read_cohort(&files, &model, known.as_ref())?,
            (None, None) => (self.read_data(&model, known.as_ref())?, Vec::new()),
        };
        if disk.is_some() && known.as_ref().is_some_and(|known| known.offset.is_some()) {
            let problem = "has an offset, for which columns on disk have no place: predict a table";
            return Err(Failure::Message(format!("{}: {problem}", self.model.display())));
        }
        let people = people.into_iter().map(|p| (p.family, p.name)).collect();
        let u = match &model.classes {
            Some(_) => Vec::new(),
            None => margins(&model, &data, disk.as_ref())?,
        };
        let found = match model.loss.is_coupled() && model.classes.is_none() {
            true => self.survival(&model, known.as_ref(), &data, u)?,
            false if self.kind.is_some() || !self.times.is_empty() || self.strata.is_some() => {
                return Err(Failure::Usage("--type, --times and --strata are for models of survival times"));
            }
            false if model.classes.is_some() => {
                Predictions { people, ..classes(&model, known.as_ref(), &data, disk.as_ref())? }
            }
            false => Predictions { people, ..predictions(&model, known.as_ref(), &data, u) },
        };
        match &self.output {
            Some(path) => {
                encoding::write_whole(path, csv(&found).as_bytes())?;
                let count = found.predictions.len().max(found.curves.len());
                writeln!(out, "{count} predictions of {}: {}", found.target, path.display())?;
                if let Some(score) = &found.score {
                    writeln!(out, "{} {}", score.name, number(score.value))?;
                }
                if let Some(d2) = found.d2 {
                    writeln!(out, "D² {}", number(d2))?;
                }
            }
            None if self.json => {
                serde_json::to_writer_pretty(&mut *out, &found)?;
                writeln!(out)?;
            }
            None => out.write_all(csv(&found).as_bytes())?,
        }
        out.flush()?;
        Ok(Exit::Done)
    }

    /// Whether only the columns that the model uses are read: those of a folder, or of an array that memory has no room for.
    fn stays_on_disk(&self) -> bool {
        let is_array = self.file.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
        let size = std::fs::metadata(&self.file).map_or(0, |facts| facts.len());
        self.file.is_dir() || is_array && self.max_memory.is_some_and(|most| size > most as u64)
    }

    /// What is asked of survival times.
    fn survival(
        &self,
        model: &Model,
        known: Option<&Encoding>,
        data: &Dataset,
        u: Vec<f64>,
    ) -> Result<Predictions, Failure> {
        let (kind, target) = (self.kind.unwrap_or(Kind::Linear), known.map_or("y".to_owned(), |k| k.target.clone()));
        let is_curve = matches!(kind, Kind::Survival | Kind::Hazard);
        if is_curve == self.times.is_empty() {
            return Err(Failure::Usage("--times goes with --type survival and --type hazard, and these need it"));
        }
        let reason = "the model file has no baseline hazard: fit it with this version";
        let baseline = || model.baseline.as_ref().ok_or_else(|| Failure::Message(reason.to_owned()));
        let (mut values, mut curves) = (Vec::new(), Vec::new());
        let strata = match is_curve || kind == Kind::Median {
            true => self.strata_of(baseline()?, known, data)?,
            false => None,
        };
        for (i, u) in u.into_iter().enumerate() {
            let stratum = strata.as_ref().map(|s| s[i]);
            match kind {
                Kind::Linear => values.push(u),
                Kind::Risk => values.push(u.exp()),
                Kind::Median => values.push(baseline()?.median(baseline()?.curve(stratum)?, u)),
                Kind::Survival | Kind::Hazard => {
                    let (from, curve) = (baseline()?, baseline()?.curve(stratum)?);
                    let at = |t: &f64| match kind {
                        Kind::Survival => from.survival(curve, u, *t),
                        _ => from.hazard(curve, u, *t),
                    };
                    curves.push(self.times.iter().map(at).collect());
                }
            }
        }
        Ok(Predictions {
            target,
            predictions: values.into_iter().map(Value::Number).collect(),
            times: self.times.clone(),
            curves,
            ..Predictions::default()
        })
    }

    /// The stratum of each row by its number; none for a model of one.
    fn strata_of(
        &self,
        baseline: &Baseline,
        known: Option<&Encoding>,
        data: &Dataset,
    ) -> Result<Option<Vec<usize>>, Failure> {
        if baseline.strata.len() < 2 {
            return Ok(None);
        }
        let numbered = || baseline.strata.iter().map(|curve| curve.stratum.to_string()).collect();
        let labels: Vec<String> = known.and_then(|k| k.strata.clone()).unwrap_or_else(numbered);
        let Some(column) = data.apart.first() else {
            let names = labels.join(", ");
            let problem = format!("was fitted with strata ({names}): --strata COLUMN names the column that has them");
            return Err(Failure::Message(format!("{}: {problem}", self.model.display())));
        };
        known_strata(column, &labels).map(Some)
    }

    /// The variants that the model uses, and covariates, of the people of a cohort.
    fn read_cohort(
        &self,
        files: &CohortFiles,
        model: &Model,
        known: Option<&Encoding>,
    ) -> Result<(Dataset, Vec<Person>), Failure> {
        let bad = |problem: String| Failure::Message(format!("{}: {problem}", self.model.display()));
        let variants = known.map_or(&[][..], |known| &known.variants);
        if variants.is_empty() && model.coefficients.nonzeros() > 0 {
            return Err(bad("is no model of genotypes: fit one to a .bed file, or predict a table".to_owned()));
        }
        let options = CohortOptions {
            positive: known.and_then(|k| k.classes.as_ref()).map(|c| c.positive.clone()),
            offset: known.and_then(|k| k.offset.clone()),
            ..self.traits.options(false, self.max_memory)
        };
        let (data, people) = find_variants(files, variants, &options)?;
        say(&data.remarks);
        let missing = |j: &&usize| data.names.find(&model.name(**j), data.features()).is_none();
        match model.coefficients.support.iter().find(missing) {
            Some(&j) if options.covariates.is_none() => {
                Err(bad(format!("uses the covariate {:?}: give the table that has it by --covar", model.name(j))))
            }
            Some(&j) => Err(bad(format!("uses the covariate {:?}, which --covar does not have", model.name(j)))),
            None => Ok((data, people)),
        }
    }

    /// The columns that the model uses, in the form it knows.
    fn read_data(&self, model: &Model, known: Option<&Encoding>) -> Result<Dataset, Failure> {
        let mut table = read(&self.file, &self.read.options(self.max_memory))?;
        say(&table.notes);
        let mut roles = known
            .map_or_else(|| Roles { needs_target: false, needs_features: false, ..Roles::default() }, Encoding::roles);
        if self.impute {
            roles.impute = Impute::Known;
        }
        if let Some(known) = known {
            roles.target = Some(known.target.clone()).filter(|target| table.has(target));
            roles.positive = known.classes.as_ref().map(|c| c.positive.clone());
            roles.labels = known.class_names.clone().unwrap_or_default();
        }
        // The linear predictor and the risk are the same in every stratum: only a column that is named must be there.
        let is_baseline_used = matches!(self.kind, Some(Kind::Survival | Kind::Hazard | Kind::Median));
        let usual = known.and_then(|k| k.strata_column.clone()).filter(|column| is_baseline_used && table.has(column));
        roles.apart = self.strata.clone().or(usual).into_iter().collect();
        if !model.names.is_empty() {
            let used = self.used(&table, model, known)?;
            let others = [roles.target.clone(), roles.offset.clone(), roles.exposure.clone()];
            let apart = roles.apart.iter().cloned();
            let wanted: HashSet<String> = used.into_iter().chain(others.into_iter().flatten()).chain(apart).collect();
            table.keep_named(&wanted);
        }
        let data = table.into_dataset(&roles)?;
        let filled = |imputed: &Imputed| {
            let (values, column) = (counted(imputed.count, "missing value"), &imputed.column);
            match &imputed.value {
                Usual::Mean(mean) => format!("{values} of {column} became {mean}, the mean in the data of the fit"),
                Usual::Text(text) => {
                    format!("{values} of {column} became {text:?}, most frequent in the data of the fit")
                }
            }
        };
        say(&data.imputed.iter().map(filled).collect::<Vec<_>>());
        Ok(data)
    }

    /// The columns that the model uses; refuses a file that does not have them.
    fn used(&self, table: &Table, model: &Model, known: Option<&Encoding>) -> Result<Vec<String>, Failure> {
        let bad = |problem: String| Err(Failure::Message(format!("{}: {problem}", self.file.display())));
        let mut used = Vec::new();
        for &j in &model.coefficients.support {
            let category = known.and_then(|known| known.category(j));
            let column = category.map_or_else(|| model.name(j), |c| c.column.clone());
            if !table.has(&column) {
                return bad(format!("there is no column {column:?}, which the model uses"));
            }
            let text = table.texts.iter().find(|t| t.name == column && category.is_none());
            if let Some(level) = text.and_then(|t| t.levels.first()) {
                return bad(format!("column {column:?} holds texts such as {level:?}; the model knows it as numbers"));
            }
            used.push(column);
        }
        Ok(used)
    }
}

/// u = Xβ + b + offset, the features found by their names.
fn margins(model: &Model, data: &Dataset, disk: Option<&Stored>) -> Result<Vec<f64>, Failure> {
    let mut u = vec![model.coefficients.intercept; data.rows()];
    if let Some(offset) = &data.offset {
        u.iter_mut().zip(offset).for_each(|(u, o)| *u += o);
    }
    let add = |k: usize, column: &[f64]| {
        let b = model.coefficients.values[k];
        u.iter_mut().zip(column).for_each(|(u, x)| *u += b * x);
    };
    each_column(model, data, disk, add)?;
    Ok(u)
}

/// The class of each row, and the probabilities of all of them.
fn classes(
    model: &Model,
    known: Option<&Encoding>,
    data: &Dataset,
    disk: Option<&Stored>,
) -> Result<Predictions, Failure> {
    let Some(own) = &model.classes else { return Ok(Predictions::default()) };
    let (n, count) = (data.rows(), own.classes());
    let mut u: Vec<f64> = own.intercepts.iter().flat_map(|c| std::iter::repeat_n(*c, n)).collect();
    each_column(model, data, disk, |place, column| {
        for (block, row) in u.chunks_mut(n.max(1)).zip(&own.values) {
            block.iter_mut().zip(column).for_each(|(u, x)| *u += row[place] * x);
        }
    })?;
    let numbered = || (0..count).map(|k| k.to_string()).collect();
    let names: Vec<String> = known.and_then(|k| k.class_names.clone()).unwrap_or_else(numbered);
    let (p, likeliest) = (class_probabilities(&u, count), likeliest_classes(&u, count));
    let observed = data.target.as_ref().and_then(|target| class_numbers(target, &names));
    let score = observed.as_ref().map(|labels| {
        let right = labels.iter().zip(&likeliest).filter(|(a, b)| a == b).count();
        Score { name: "accuracy", value: right as f64 / n as f64 }
    });
    Ok(Predictions {
        target: known.map_or("y".to_owned(), |k| k.target.clone()),
        predictions: likeliest.iter().map(|&k| Value::Class(names[k].clone())).collect(),
        class_probabilities: (0..n).map(|i| (0..count).map(|k| p[k * n + i]).collect()).collect(),
        d2: observed.and_then(|labels| explained_by_classes(&labels, &u, None, None).ok()),
        class_names: names,
        score,
        ..Predictions::default()
    })
}

/// The numbers of the classes of a target, if all of them are known.
fn class_numbers(target: &bestset_data::Target, names: &[String]) -> Option<Vec<usize>> {
    let by_name = |y: f64| names.iter().position(|name| name.parse::<f64>().is_ok_and(|value| value == y));
    let is_number = |y: f64| y >= 0.0 && y < names.len() as f64;
    let of = |&y: &f64| if target.labels.is_empty() { by_name(y) } else { is_number(y).then_some(y as usize) };
    target.values.iter().map(of).collect()
}

/// Shows the column of every feature of the model, with its place in the model.
fn each_column(
    model: &Model,
    data: &Dataset,
    disk: Option<&Stored>,
    mut show: impl FnMut(usize, &[f64]),
) -> Result<(), Failure> {
    let features = disk.map_or_else(|| data.features(), |stored| stored.ncols());
    if model.names.is_empty() && model.features != features {
        let (found, expected) = (features, model.features);
        return Err(Failure::Message(format!("the file has {found} features, the model {expected}, and no names")));
    }
    for (k, &j) in model.coefficients.support.iter().enumerate() {
        let place = match model.names.is_empty() {
            true => Some(j),
            false => data.names.find(&model.name(j), features),
        };
        let Some(place) = place else {
            return Err(Failure::Message(format!("there is no feature {:?}, which the model uses", model.name(j))));
        };
        let mut own = vec![0.0; if disk.is_some() { data.rows() } else { 0 }];
        let column = match disk {
            None => data.column(place)?,
            Some(stored) => {
                stored.columns(&[place], &mut |_, column| column.to_dense(&mut own))?;
                std::borrow::Cow::Borrowed(&own[..])
            }
        };
        show(k, &column);
    }
    Ok(())
}

fn predictions(model: &Model, known: Option<&Encoding>, data: &Dataset, u: Vec<f64>) -> Predictions {
    let target = known.map_or("y".to_owned(), |k| k.target.clone());
    let observed = data.target.as_ref().map(|t| t.values.as_slice()).filter(|y| y.iter().all(|y| y.is_finite()));
    if !model.loss.is_classification() {
        let scaling = known.and_then(|k| k.scaling);
        let mean = |u: f64| model.loss.mean(u);
        let values: Vec<f64> = u.iter().map(|&u| scaling.map_or(mean(u), |s| s.undo(u))).collect();
        let score = observed.and_then(|y| match model.loss.has_log_link() {
            // Targets that the family does not have say nothing of predictions.
            true => explained(model.loss, y, &u, data.offset.as_deref(), None)
                .ok()
                .map(|value| Score { name: "D²", value }),
            false => Some(Score { name: "R²", value: r2(y, &values) }),
        });
        return Predictions {
            target,
            predictions: values.into_iter().map(Value::Number).collect(),
            score,
            ..Predictions::default()
        };
    }
    let classes = known.and_then(|k| k.classes.clone());
    let name = |positive: bool| match &classes {
        Some(classes) => Value::Class(if positive { &classes.positive } else { &classes.negative }.clone()),
        None => Value::Number(if positive { 1.0 } else { -1.0 }),
    };
    let probabilities: Option<Vec<f64>> =
        (model.loss == Loss::Logistic).then(|| u.iter().map(|u| 1.0 / (1.0 + (-u).exp())).collect());
    let truth = observed.map(|y| labels(y, data, classes.as_ref()));
    let score = truth.map(|truth| {
        let right = truth.iter().zip(&u).filter(|(positive, u)| **positive == (**u > 0.0)).count();
        Score { name: "accuracy", value: right as f64 / u.len() as f64 }
    });
    let predictions = u.iter().map(|u| name(*u > 0.0)).collect();
    Predictions { target, predictions, probabilities, score, ..Predictions::default() }
}

/// Which rows are of the positive class; numbers are compared with its name.
fn labels(y: &[f64], data: &Dataset, classes: Option<&bestset_data::Classes>) -> Vec<bool> {
    let by_text = data.target.as_ref().is_some_and(|t| t.classes.is_some());
    let positive = classes.and_then(|c| c.positive.parse::<f64>().ok()).filter(|_| !by_text);
    y.iter().map(|y| positive.map_or(*y > 0.0, |p| *y == p)).collect()
}

fn r2(y: &[f64], fitted: &[f64]) -> f64 {
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let left: f64 = y.iter().zip(fitted).map(|(y, u)| (y - u).powi(2)).sum();
    1.0 - left / y.iter().map(|y| (y - mean).powi(2)).sum::<f64>()
}

fn csv(found: &Predictions) -> String {
    let quote = |text: &str| match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    if !found.curves.is_empty() {
        let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
        return line(&found.times) + &found.curves.iter().map(|row| line(row)).collect::<String>();
    }
    let mut text = if found.people.is_empty() { String::new() } else { "FID,IID,".to_owned() };
    text.push_str(&quote(&found.target));
    let titles = found.class_names.iter().map(|name| format!(",{}", quote(&format!("probability {name}"))));
    text.extend(titles);
    text.push_str(if found.probabilities.is_some() { ",probability\n" } else { "\n" });
    for (i, value) in found.predictions.iter().enumerate() {
        if let Some((family, name)) = found.people.get(i) {
            text.push_str(&format!("{},{},", quote(family), quote(name)));
        }
        match value {
            Value::Number(value) => text.push_str(&value.to_string()),
            Value::Class(class) => text.push_str(&quote(class)),
        }
        if let Some(probabilities) = &found.probabilities {
            text.push_str(&format!(",{}", probabilities[i]));
        }
        text.extend(found.class_probabilities.get(i).into_iter().flatten().map(|p| format!(",{p}")));
        text.push('\n');
    }
    text
}
