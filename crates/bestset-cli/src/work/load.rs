//! The data of a command.

use super::{Session, remark};
use crate::args::{FittingArgs, InputArgs, TiesName};
use crate::exit::Failure;
use anstream::eprintln;
use bestset::design::{Column, Design, Reading, Stored, column_names};
use bestset::{Loss, Survival, Ties};
use bestset_data::{
    CohortFiles, Dataset, KnownVariant, Matrix, Names, Roles, Table, Target, Variant, read, read_cohort,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Data with a target that fits the loss.
pub struct Loaded {
    /// X and what belongs to the samples.
    pub set: Dataset,
    /// X where it stays on disk; the set has no columns then.
    pub disk: Option<Stored>,
    /// y as it is fitted.
    pub target: Target,
    /// The file of the target, where it has one of its own.
    pub target_file: Option<PathBuf>,
    /// Whether weights and offset, too, are columns of the file of the target.
    pub has_own_table: bool,
    /// The columns of weights and offset, by their names though a number was given.
    pub weights: Option<String>,
    pub offset: Option<String>,
    /// How the target was scaled, if it was.
    pub scaling: Option<Scaling>,
    /// The loss.
    pub loss: Loss,
    /// Survival times, where the target is one.
    pub survival: Option<Survival>,
    /// Whether categories may be chosen level by level.
    pub no_groups: bool,
    /// Seconds that reading took.
    pub seconds: f64,
}

/// fitted = low + (y − from) · factor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// The smallest value of the target.
    pub from: f64,
    /// What it becomes.
    pub low: f64,
    /// Fitted units for one unit of the target.
    pub factor: f64,
}

impl Scaling {
    /// The fitted value of a value of the target.
    pub fn apply(&self, y: f64) -> f64 {
        self.low + (y - self.from) * self.factor
    }

    /// The value of the target that a fitted value stands for.
    pub fn undo(&self, fitted: f64) -> f64 {
        self.from + (fitted - self.low) / self.factor
    }
}

impl Loaded {
    /// Reads the file and gives every column its role.
    pub fn read(input: &InputArgs, fitting: &FittingArgs, session: &Session<'_>) -> Result<Self, Failure> {
        input.check()?;
        session.progress.start(format!("reading {}", input.file.display()));
        let start = std::time::Instant::now();
        let max_memory = session.limits.max_memory;
        let disk = if input.stays_on_disk(max_memory)? { Some(Stored::open(&input.file)?) } else { None };
        if input.keep_moments && disk.is_none() {
            return Err(Failure::Usage("--keep-moments is for columns on disk (--on-disk), and not for genotypes"));
        }
        let disk = disk.map(|stored| if input.keep_moments { stored.keeping_moments() } else { stored });
        let own = input.target_file.as_ref().map(|file| Own::read(file, input, session)).transpose()?;
        let has_own_table = own.as_ref().is_some_and(|own| own.is_table);
        let mut beside = (input.weights.clone(), input.offset.clone().or(input.exposure.clone()));
        let roles = |has: &dyn Fn(&str) -> bool| match has_own_table {
            true => Roles { weights: None, offset: None, ..input.roles(has) },
            false => input.roles(has),
        };
        if disk.is_some() && !has_own_table && (input.weights.is_some() || input.offset.is_some()) {
            return Err(Failure::Usage(
                "with columns on disk --weights and --offset name columns of --target-file, which has the target alone",
            ));
        }
        let mut set = match (&disk, CohortFiles::of(&input.file)) {
            (Some(stored), _) => without_columns(&input.file, stored)?,
            (None, Some(files)) => read_cohort(&files, &input.cohort.options(input, max_memory)?)?,
            (None, None) => {
                let table = read(&input.file, &input.read.options(max_memory))?;
                let roles = roles(&|name| table.has(name));
                // What is not there is said where the columns get their roles.
                let named = |name: Option<String>| name.map(|n| table.find(&n).map_or(n, |k| table.name(k)));
                if !has_own_table {
                    beside = (named(beside.0), named(beside.1));
                }
                table.into_dataset(&roles)?
            }
        };
        if let Some(Own { target, weights, offset, is_table, named }) = own {
            set.target = Some(target);
            beside = if is_table { named } else { beside };
            (set.weights, set.offset) = (weights.or(set.weights), offset.or(set.offset));
        }
        let Some(target) = set.target.take() else {
            let problem = "there is no target: name its column with --target, or its file with --target-file";
            return Err(Failure::Message(format!("{}: {problem}", input.file.display())));
        };
        if target.values.len() != set.rows() {
            let (found, expected) = (target.values.len(), set.rows());
            let (own, file) = (input.target_file.as_ref().unwrap_or(&input.file).display(), input.file.display());
            return Err(Failure::Message(format!(
                "{own}: the target has {found} values, and {file} has {expected} rows; there must be one for each row, in the same order"
            )));
        }
        let survival = super::survival::times(input, &target, &set.apart)?;
        let cox = survival.is_some().then(|| Loss::Cox { ties: input.ties.map_or(Ties::default(), TiesName::ties) });
        let target = many_classes(input, fitting, target)?;
        let loss = match fitting.loss(cox, target.labels.len())? {
            Some(loss) => loss,
            None if !target.labels.is_empty() => Loss::Multinomial { classes: target.labels.len() },
            None if target.classes.is_some() || input.positive.is_some() => Loss::Logistic,
            None => Loss::Squared,
        };
        let mut notes = std::mem::take(&mut set.notes);
        if let (Some(times), Some(column)) = (&survival, set.apart.first())
            && input.event.as_ref() == Some(&column.name)
            && times.event.iter().all(|event| *event)
        {
            notes.push(format!(
                "Every time is that of an event: where {0} says so of others, name the value that does, --event {0}=VALUE.",
                column.name
            ));
        }
        if fitting.loss.is_none() && loss == Loss::Squared {
            notes.extend(remark::on_target(&target, &set));
        }
        let mut target = match loss.is_classification() {
            true => target.into_classes(input.positive.as_deref()).map_err(Failure::Message)?,
            false => target,
        };
        if !loss.has_log_link() && input.exposure.is_some() {
            let problem = format!(
                "--exposure is for poisson, negbin and gamma, whose means are in proportion to it; the {} loss has --offset",
                loss.name()
            );
            return Err(Failure::Message(problem));
        }
        if loss.has_log_link() && input.scale_target.is_some() {
            let problem =
                format!("--scale-target does not go with the {} loss: its target has a zero of its own", loss.name());
            return Err(Failure::Message(problem));
        }
        if !target.labels.is_empty() && !matches!(loss, Loss::Multinomial { .. }) {
            let (name, loss) = (&target.name, loss.name());
            return Err(Failure::Message(format!("column {name:?} holds texts, which the {loss} loss has no use for")));
        }
        if !target.labels.is_empty() && (set.offset.is_some() || input.scale_target.is_some()) {
            return Err(Failure::Usage(
                "--offset and --scale-target are for one number to predict: the same number added for all classes changes nothing",
            ));
        }
        let scaling = input.scale_target.map(|range| scale(&mut target, range)).transpose()?;
        let seconds = start.elapsed().as_secs_f64();
        if !notes.is_empty() {
            session.progress.done();
            say(&notes);
        }
        let no_groups = input.no_groups;
        let (target_file, (weights, offset)) = (input.target_file.clone(), beside);
        Ok(Self {
            set,
            disk,
            target,
            target_file,
            has_own_table,
            weights,
            offset,
            scaling,
            loss,
            survival,
            no_groups,
            seconds,
        })
    }

    /// Number of samples.
    pub fn rows(&self) -> usize {
        self.set.rows()
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.disk.as_ref().map_or_else(|| self.set.features(), |stored| stored.ncols())
    }

    /// Mean and standard deviation of feature j.
    pub fn spread(&self, j: usize) -> Result<(f64, f64), Failure> {
        let Some(stored) = &self.disk else { return Ok((self.set.mean(j), self.set.deviation(j))) };
        let (rows, mut column) = (self.rows(), Column::default());
        stored.column(j, &mut column)?;
        let mut data = vec![0.0; rows];
        column.to_dense(&mut data);
        let one = Matrix::Dense { rows, columns: 1, data };
        Ok((one.mean(0), one.deviation(0)))
    }

    fn read_from_disk(&self) -> Option<Reading> {
        let of_genotypes = || self.set.genotyped.as_ref()?.genotypes.reading();
        self.disk.as_ref().map(|stored| stored.reading()).or_else(of_genotypes)
    }

    /// What was read from disk, in a sentence.
    pub fn reading(&self) -> Option<String> {
        let reading = self.read_from_disk()?;
        let gigabytes = reading.bytes as f64 / 1e9;
        Some(format!(
            "Read from disk: {gigabytes:.3} GB in {:.1} readings of all columns, {:.1} s waited for it.",
            reading.passes, reading.waited
        ))
    }

    /// The same for a line that shows progress; nothing where all is in memory.
    pub fn read_so_far(&self) -> String {
        self.read_from_disk()
            .map_or(String::new(), |r| format!("; {:.1} GB in {:.1} passes", r.bytes as f64 / 1e9, r.passes))
    }

    /// The groups of the features, where categories are chosen as a whole.
    pub fn groups(&self) -> Option<Vec<usize>> {
        if self.no_groups { None } else { self.set.groups() }
    }

    /// The name of feature j.
    pub fn name(&self, j: usize) -> String {
        self.set.names.get(j)
    }

    /// The data in a phrase.
    pub fn describe(&self) -> String {
        let file = self.set.source.file_name().unwrap_or(self.set.source.as_os_str());
        let classes = match &self.target.classes {
            Some(classes) => format!(" ({} −1, {} +1)", classes.negative, classes.positive),
            None if !self.target.labels.is_empty() => format!(" ({})", self.class_list()),
            None => String::new(),
        };
        let stored = match (&self.disk, self.set.matrix.is_sparse()) {
            (Some(stored), true | false) if stored.is_sparse() => format!(", {} non-zeros on disk", stored.stored()),
            (Some(stored), _) => format!(" on disk ({})", stored.numbers()),
            (None, true) => format!(", {} non-zeros", self.set.matrix.stored()),
            (None, false) => String::new(),
        };
        let (rows, columns) =
            (self.rows(), self.disk.as_ref().map_or_else(|| self.set.matrix.columns(), |stored| stored.ncols()));
        let what = match (self.set.variants().len(), columns) {
            (0, _) => {
                format!("{}, {}{stored}", counted(rows as u64, "sample"), counted(columns as u64, "feature"))
            }
            (variants, 0) => format!("{rows} people, {variants} variants{}", self.place_of_variants()),
            (variants, _) => {
                let covariates = counted(columns as u64, "covariate");
                format!("{rows} people, {variants} variants{}, {covariates}", self.place_of_variants())
            }
        };
        format!("{}: {what}, target {}{classes}{}", file.display(), self.target.name, self.events())
    }

    /// How many of survival times are events, and in how many strata; nothing for other targets.
    fn events(&self) -> String {
        let Some((events, strata)) = self.counts() else { return String::new() };
        let apart = if strata > 1 { format!(", {strata} strata") } else { String::new() };
        format!(" ({}{apart})", counted(events as u64, "event"))
    }

    /// The number of events and of strata, of survival times.
    pub fn counts(&self) -> Option<(usize, usize)> {
        let times = self.survival.as_ref()?;
        let strata: std::collections::HashSet<usize> = times.strata.iter().flatten().copied().collect();
        Some((times.event.iter().filter(|e| **e).count(), strata.len().max(1)))
    }

    /// The classes, the first of many.
    fn class_list(&self) -> String {
        const SHOWN: usize = 6;
        let labels = &self.target.labels;
        let shown = labels.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        if labels.len() > SHOWN { format!("{shown}, … {} classes", labels.len()) } else { shown }
    }

    fn place_of_variants(&self) -> &'static str {
        match &self.set.genotyped {
            Some(found) if found.genotypes.reading().is_some() => " on disk",
            _ => "",
        }
    }

    /// The variant that feature j is, with the frequency of its effect allele.
    pub fn variant(&self, j: usize) -> Option<KnownVariant> {
        let variant: &Variant = self.set.variants().get(j)?;
        let frequency = self.set.mean(j) / 2.0;
        Some(KnownVariant { name: self.name(j), variant: variant.clone(), frequency })
    }
}

/// The target as many classes, where these are asked for.
fn many_classes(input: &InputArgs, fitting: &FittingArgs, target: Target) -> Result<Target, Failure> {
    if fitting.loss.as_deref() != Some("multinomial") {
        return Ok(target);
    }
    if input.positive.is_some() {
        return Err(Failure::Usage("--positive makes two classes, which --family multinomial takes as they are"));
    }
    target.into_many_classes().map_err(Failure::Message)
}

/// A number of things.
pub fn counted(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Says on standard error what was taken for granted.
pub fn say(notes: &[String]) {
    notes.iter().for_each(|note| eprintln!("note: {note}"));
}

/// The samples of a matrix that stays on disk.
pub fn without_columns(file: &std::path::Path, stored: &Stored) -> Result<Dataset, Failure> {
    let numbers = Matrix::Dense { rows: stored.nrows(), columns: 0, data: Vec::new() };
    let table = Table::of_numbers(file.to_owned(), numbers, Names::Numbered { first: 1 }, None);
    let set = table.into_dataset(&Roles { needs_target: false, needs_features: false, ..Roles::default() })?;
    let names = column_names(file, stored.ncols())?.map(Names::Listed);
    Ok(Dataset { names: names.unwrap_or(set.names), ..set })
}

/// What a file of the target's own has: the target alone, or in a table with weights and an offset.
struct Own {
    target: Target,
    weights: Option<Vec<f64>>,
    offset: Option<Vec<f64>>,
    is_table: bool,
    /// The columns of weights and offset.
    named: (Option<String>, Option<String>),
}

impl Own {
    fn read(file: &std::path::Path, input: &InputArgs, session: &Session<'_>) -> Result<Self, Failure> {
        let options = bestset_data::ReadOptions { max_memory: session.limits.max_memory, ..Default::default() };
        let mut table = read(file, &options)?;
        let bad = |problem: String| Failure::Message(format!("{}: {problem}", file.display()));
        let is_table = table.label.is_none() && table.columns() > 1;
        if let (false, Some(name)) = (is_table, &input.target) {
            return Err(bad(format!("--target {name} is for a table of several columns; here the target is alone")));
        }
        if let Some(label) = table.label.take() {
            let target = Target::of_numbers(label.name, label.values);
            return Ok(Self { target, weights: None, offset: None, is_table, named: (None, None) });
        }
        // By name: numbers of columns are those of the table as it was read.
        let name_of = |wanted: &String| table.find(wanted).map(|k| table.name(k));
        let named = |wanted: &Option<String>| wanted.as_ref().filter(|_| is_table).map(name_of).transpose();
        let (weights, offset) = (named(&input.weights)?, named(&input.offset)?);
        let is_left = |name: &String| Some(name) != weights.as_ref() && Some(name) != offset.as_ref();
        let mut left = (0..table.columns()).map(|k| table.name(k)).filter(is_left);
        let target = match (named(&input.target)?, left.next(), left.next()) {
            (None, Some(only), None) => only,
            // The column named y, or an error that names those there are.
            (named, ..) => named.map_or_else(|| name_of(&"y".to_owned()), Ok)?,
        };
        let kept = [Some(&target), weights.as_ref(), offset.as_ref()].into_iter().flatten().cloned().collect();
        let (target, positive, names) = (Some(target), input.positive.clone(), (weights.clone(), offset.clone()));
        let roles = Roles { target, weights, offset, positive, needs_features: false, ..Roles::default() };
        table.keep_named(&kept);
        let Dataset { target, weights, offset, .. } = table.into_dataset(&roles)?;
        let target = target.ok_or_else(|| bad("there is no target".to_owned()))?;
        Ok(Self { target, weights, offset, is_table, named: names })
    }
}

fn scale(target: &mut Target, (low, high): (f64, f64)) -> Result<Scaling, Failure> {
    let from = target.values.iter().copied().fold(f64::INFINITY, f64::min);
    let to = target.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let scaling = Scaling { from, low, factor: (high - low) / (to - from) };
    if !(scaling.factor.is_finite() && scaling.factor > 0.0) {
        return Err(Failure::Message(format!("target {:?} cannot be scaled: it is {from} to {to}", target.name)));
    }
    target.values.iter_mut().for_each(|y| *y = scaling.apply(*y));
    Ok(scaling)
}
