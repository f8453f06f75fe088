//! Arguments that say where the data are and which column is what.

use super::CohortArgs;
use crate::exit::Failure;
use bestset_data::{CohortFiles, Format, Header, Impute, ReadOptions, Roles};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// How a file is read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub struct ReadArgs {
    /// Format of the file [default: by its first bytes and its name].
    #[arg(long, value_parser = format_parser())]
    pub format: Option<Format>,
    /// Delimiter of a CSV file, one character, `tab` or `space`, which stands for any blanks [default: by the name and the first
    /// lines].
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// Whether the first line of a CSV file has names: auto looks whether its fields are numbers, or words over numbers.
    #[arg(long, value_enum, default_value_t = HeaderName::Auto)]
    pub header: HeaderName,
    /// Decimal sign of a CSV file, `.` or `,` [default: the comma where numbers have it and commas do not divide fields].
    #[arg(long, value_name = "SIGN", value_parser = decimal)]
    pub decimal: Option<u8>,
    /// Columns of a CSV file, by name or number, that are categories although they look like numbers.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub categorical: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum HeaderName {
    Auto,
    Yes,
    No,
}

/// The data of a fit.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub struct InputArgs {
    /// CSV, TSV, Parquet, LIBSVM, NPY, NPZ or Matrix Market file; text may be compressed by gzip, bzip2 or zstd; - is standard
    /// input. Or genotypes of PLINK: the .bed file, with .bim and .fam beside it.
    pub file: PathBuf,
    #[command(flatten)]
    pub read: ReadArgs,
    /// Target: a column by name, or by number from 1, or from -1, the last, down [default: the label of the format, or y].
    #[arg(long, short = 't', value_name = "COLUMN", allow_hyphen_values = true)]
    pub target: Option<String>,
    /// Survival times: the column with the time of the event or of censoring; needs --event, and makes the family cox.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, requires = "event", conflicts_with_all = ["target", "target_file"])]
    pub time: Option<String>,
    /// Column that says which times are those of events: 1 and 0, or two texts such as yes and no; or, as in status=2, the value that
    /// does, all others being censored.
    #[arg(long, value_name = "COLUMN[=VALUE]", allow_hyphen_values = true, requires = "time")]
    pub event: Option<String>,
    /// Column with the time at which a sample came under observation.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, requires = "time")]
    pub entry: Option<String>,
    /// Column with the stratum of each sample: numbers or texts.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, requires = "time")]
    pub strata: Option<String>,
    /// How events at the same time are counted [default: efron].
    #[arg(long, value_enum, value_name = "HOW", requires = "time")]
    pub ties: Option<TiesName>,
    /// File with the target alone, for formats without one; or a table of which --target, --weights and --offset name columns.
    #[arg(long, value_name = "FILE")]
    pub target_file: Option<PathBuf>,
    /// Leave the columns where they are and read them in blocks as they are needed: an NPY file in Fortran order (f8, f4, i1), a
    /// folder with the parts of a sparse matrix (indptr.npy, indices.npy, data.npy, shape.npy), whose target comes from
    /// --target-file, or genotypes. So is a file that is larger than --max-memory.
    #[arg(long)]
    pub on_disk: bool,
    /// Keep means and norms of columns on disk in a file beside them (.moments), and use those of an earlier run: one reading less.
    #[arg(long)]
    pub keep_moments: bool,
    /// Columns to leave out, by name or number.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub drop: Vec<String>,
    /// Column with the weight of each sample.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub weights: Option<String>,
    /// Column with a fixed part of the linear predictor.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub offset: Option<String>,
    /// Column with the exposure of each sample, above 0: time, area or people that a count is of; its logarithm is the offset.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub exposure: Option<String>,
    /// Leave out the rows whose target is missing; without it they are an error.
    #[arg(long, conflicts_with = "target_file")]
    pub drop_missing_target: bool,
    /// Leave out the rows with a missing value in any column that is used, and say how many; without it they are an error.
    #[arg(long, conflicts_with_all = ["target_file", "impute"])]
    pub drop_missing: bool,
    /// What takes the place of missing values of features; without it they are an error that names their place.
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "mean")]
    pub impute: Option<ImputeName>,
    /// Class of the target that is predicted as positive, against all others where there are more than two [default: the later one
    /// of two in the alphabet, or the larger number].
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true)]
    pub positive: Option<String>,
    /// Most different texts in a column that becomes features.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub max_levels: usize,
    /// Let each level of a category be chosen alone, not the category as a whole.
    #[arg(long)]
    pub no_groups: bool,
    /// Scale the target linearly to this range, for instance -10,10.
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, allow_hyphen_values = true)]
    pub scale_target: Option<(f64, f64)>,
    #[command(flatten)]
    pub cohort: CohortArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TiesName {
    Efron,
    Breslow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImputeName {
    /// The mean of the column; the most frequent text of a category.
    Mean,
}

/// The words with `--impute mean` as one: the value may be left out, and what follows the option may then be a file.
pub fn joined(words: &[OsString]) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::with_capacity(words.len());
    for word in words {
        match all.last_mut() {
            Some(last) if last == "--impute" && word == "mean" => last.push("=mean"),
            _ => all.push(word.clone()),
        }
    }
    all
}

impl ReadArgs {
    /// The options of the reader.
    pub fn options(&self, max_memory: Option<usize>) -> ReadOptions {
        ReadOptions {
            format: self.format,
            delimiter: self.delimiter,
            header: match self.header {
                HeaderName::Auto => Header::Auto,
                HeaderName::Yes => Header::Yes,
                HeaderName::No => Header::No,
            },
            decimal: self.decimal,
            categorical: self.categorical.clone(),
            max_memory,
            columns: None,
        }
    }
}

impl InputArgs {
    /// The roles of the columns; `has` tells whether there is one of a name.
    pub fn roles(&self, has: impl Fn(&str) -> bool) -> Roles {
        Roles {
            target: self.time.clone().or_else(|| self.target.clone().filter(|_| self.target_file.is_none())),
            needs_target: self.target_file.is_none(),
            weights: self.weights.clone(),
            offset: self.offset.clone(),
            exposure: self.exposure.clone(),
            apart: [self.event.as_deref().map(|e| event(e, has).0), self.entry.as_deref(), self.strata.as_deref()]
                .into_iter()
                .flatten()
                .map(str::to_owned)
                .collect(),
            drop: self.drop.clone(),
            positive: self.positive.clone(),
            drop_missing_target: self.drop_missing_target,
            drop_missing: self.drop_missing,
            impute: if self.impute.is_some() { Impute::Mean } else { Impute::No },
            most_levels: self.max_levels,
            ..Roles::default()
        }
    }

    /// Whether the columns stay on disk: as asked, or because memory has no room for them. Genotypes decide for themselves.
    pub fn stays_on_disk(&self, max_memory: Option<usize>) -> Result<bool, Failure> {
        if CohortFiles::of(&self.file).is_some() {
            return Ok(false);
        }
        let is_array = self.file.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
        let size = || std::fs::metadata(&self.file).map_or(0, |facts| facts.len());
        let is_large = || is_array && max_memory.is_some_and(|most| size() > most as u64);
        let columns = [&self.exposure, &self.time];
        let has_roles = !self.drop.is_empty() || self.impute.is_some() || columns.iter().any(|c| c.is_some());
        if !(self.on_disk || self.target_file.is_some() && (self.file.is_dir() || is_large() && !has_roles)) {
            return Ok(false);
        }
        if self.target_file.is_none() {
            return Err(Failure::Usage("--on-disk takes the target from a file of its own: --target-file FILE"));
        }
        if has_roles {
            return Err(Failure::Usage(
                "--drop, --impute, --exposure and --time are for columns in memory, not on disk",
            ));
        }
        Ok(true)
    }

    /// Refuses a model file or a directory that was meant for another argument early, with its name.
    pub fn check(&self) -> Result<(), Failure> {
        self.cohort.check(&self.file)?;
        // A conflict of --time with --target outweighs what these require.
        let is_survival = self.event.is_some() || self.entry.is_some() || self.strata.is_some() || self.ties.is_some();
        if is_survival && self.time.is_none() {
            return Err(Failure::Usage(
                "--event, --entry, --strata and --ties go with --time, which names the target then",
            ));
        }
        match self.scale_target {
            Some((low, high)) if low >= high => {
                Err(Failure::Message(format!("--scale-target {low},{high}: the first number must be below the second")))
            }
            _ => Ok(()),
        }
    }
}

/// Names of formats.
pub fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(["csv", "parquet", "libsvm", "npy", "npz", "mtx"]).map(|name| match name.as_str() {
        "parquet" => Format::Parquet,
        "libsvm" => Format::Libsvm,
        "npy" => Format::Npy,
        "npz" => Format::Npz,
        "mtx" => Format::Market,
        _ => Format::Csv,
    })
}

/// COLUMN, or COLUMN=VALUE where there is no column of the whole name, and the value; of several signs the last is meant.
pub fn event(text: &str, has: impl Fn(&str) -> bool) -> (&str, Option<&str>) {
    match text.rsplit_once('=') {
        Some((column, value)) if !has(text) => (column, Some(value)),
        _ => (text, None),
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        b"space" => Ok(b' '),
        [one] if one.is_ascii() && *one != b'"' => Ok(*one),
        _ => Err("must be one character, or tab, or space".to_owned()),
    }
}

fn decimal(text: &str) -> Result<u8, String> {
    match text {
        "." => Ok(b'.'),
        "," => Ok(b','),
        _ => Err("must be . or ,".to_owned()),
    }
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let parsed =
        text.split_once(',').and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
    match parsed {
        Some((low, high)) if f64::is_finite(low) && f64::is_finite(high) => Ok((low, high)),
        _ => Err("must be two numbers with a comma between them".to_owned()),
    }
}
