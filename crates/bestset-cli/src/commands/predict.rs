//! `bestset predict`: a saved model applied to a file.

mod survival;
mod values;
mod written;

use crate::args::{ImputeName, ReadArgs, TraitArgs, bytes, check_apart};
use crate::exit::{Exit, Failure};
use crate::output::number;
use crate::work::load::{counted, say, without_columns};
use crate::work::{Encoding, encoding};
use bestset::design::Stored;
use bestset::model::Model;
use bestset_data::{
    CohortFiles, CohortOptions, Dataset, Impute, Imputed, Person, Roles, Table, Usual, find_variants, read,
};
use clap::Args;
use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use survival::Kind;
use values::{classes, margins, predictions};
use written::{Predictions, csv};

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
    #[arg(
        long,
        value_enum,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "mean",
        help_heading = "Data"
    )]
    impute: Option<ImputeName>,
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
        if self.impute.is_some() {
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
