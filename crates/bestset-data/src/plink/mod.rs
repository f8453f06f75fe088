//! Genotypes as PLINK keeps them: `cohort.bed` with two bits a person, `cohort.bim` with a line a variant, `cohort.fam` with a line
//! a person; traits and covariates in tables beside them, joined by the names of the people.

mod bed;
mod bim;
mod fam;
mod find;
mod join;
mod lines;

pub use bim::{Fit, Variant};
pub use fam::Person;
pub use find::{KnownVariant, find_variants};

use crate::dataset::{Dataset, Roles, Target};
use crate::error::{FileError, Result};
use crate::matrix::{Matrix, Names};
use crate::table::{Table, TextColumn};
use bestset::design::{GenotypeFile, People};
use join::Traits;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What is read of a cohort, and of whom.
#[derive(Debug, Clone, PartialEq)]
pub struct CohortOptions {
    /// Table of traits; without one the trait is the last column of the `.fam` file.
    pub traits: Option<PathBuf>,
    /// Which of its columns; `None` where there is one alone.
    pub trait_name: Option<String>,
    /// Whether people without a trait are left out; where not, no trait is read.
    pub needs_trait: bool,
    /// Table of covariates, all of them features that follow the variants.
    pub covariates: Option<PathBuf>,
    /// Column of the table of traits with the weight of each person.
    pub weights: Option<String>,
    /// Column of the table of traits with a fixed part of the linear predictor.
    pub offset: Option<String>,
    /// Least frequency of a variant's rarer allele.
    pub least_frequency: f64,
    /// Largest share of people whose genotype of a variant is not known.
    pub most_missing: f64,
    /// The class that +1 stands for, where the trait is made of texts.
    pub positive: Option<String>,
    /// Most bytes that the packed genotypes may take in memory, beyond which they are read in blocks; `None` for half of what the
    /// machine has to spare.
    pub max_memory: Option<usize>,
    /// Whether they stay in their file in any case.
    pub on_disk: bool,
}

impl Default for CohortOptions {
    fn default() -> Self {
        Self {
            traits: None,
            trait_name: None,
            needs_trait: true,
            covariates: None,
            weights: None,
            offset: None,
            least_frequency: 0.0,
            most_missing: 1.0,
            positive: None,
            max_memory: None,
            on_disk: false,
        }
    }
}

/// Packed genotypes and what their columns are.
#[derive(Debug, Clone)]
pub struct Genotyped {
    /// People by variants, in memory or in their file.
    pub genotypes: GenotypeFile,
    /// One for each column.
    pub variants: Vec<Variant>,
}

/// The three files of a cohort, by the name of any of them or without an ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CohortFiles {
    /// Packed genotypes.
    pub bed: PathBuf,
    /// Variants.
    pub bim: PathBuf,
    /// People.
    pub fam: PathBuf,
}

impl CohortFiles {
    /// The files of a cohort, if the name is that of its `.bed`, `.bim` or `.fam`.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        let with = |ending: &str| path.with_extension(ending);
        ["bed", "bim", "fam"].contains(&ending.to_ascii_lowercase().as_str()).then(|| Self {
            bed: with("bed"),
            bim: with("bim"),
            fam: with("fam"),
        })
    }
}

/// The people of a `.fam` file that are kept, with what is known of them.
struct Chosen {
    keep: Vec<bool>,
    target: Option<Target>,
    weights: Option<Vec<f64>>,
    offset: Option<Vec<f64>>,
    /// By columns.
    covariates: Vec<f64>,
    names: Vec<String>,
    remarks: Vec<String>,
}

/// Reads a cohort with its trait and its covariates; genotypes stay packed.
///
/// People without a trait or without a covariate are left out and counted; so are variants that are too rare or too often not
/// known among the people who are left.
pub fn read_cohort(files: &CohortFiles, options: &CohortOptions) -> Result<Dataset> {
    let people = fam::read(&files.fam)?;
    let variants = bim::read(&files.bim)?;
    let chosen = choose(files, &people, options)?;
    let mask = People::new(people.len(), |i| chosen.keep[i]);
    let read = bed::read(&files.bed, &mask, variants.len(), options)?;
    let mut kept = read.kept.iter();
    let variants: Vec<Variant> = variants.into_iter().filter(|_| kept.next() == Some(&true)).collect();
    let Chosen { target, weights, offset, covariates, names: more, mut remarks, .. } = chosen;
    remarks.extend(read.remarks(options));
    let mut names = unique(variants.iter().map(Variant::name).collect());
    if let Some(name) = more.iter().find(|name| names.contains(name)) {
        let problem = format!("the covariate {name:?} has the name of a variant");
        return Err(FileError::new(&files.bed, problem).into());
    }
    names.extend(more);
    let rows = mask.kept();
    let genotypes = read.genotypes;
    let columns = covariates.len() / rows;
    let matrix = Matrix::Dense { rows, columns, data: covariates };
    let covariates = Dataset::plain(files.bed.clone(), matrix, Names::Listed(names));
    let genotyped = Some(Genotyped { genotypes, variants });
    Ok(Dataset { genotyped, target, weights, offset, remarks, ..covariates })
}

/// Who is kept: those with a trait, if one is needed, and with all covariates.
fn choose(files: &CohortFiles, people: &[Person], options: &CohortOptions) -> Result<Chosen> {
    let mut keep = vec![true; people.len()];
    let mut remarks = Vec::new();
    let mut left_out = |keep: &mut Vec<bool>, known: &dyn Fn(usize) -> bool, what: &str| {
        let gone: Vec<usize> = (0..keep.len()).filter(|&i| keep[i] && !known(i)).collect();
        gone.iter().for_each(|&i| keep[i] = false);
        if !gone.is_empty() {
            remarks.push(format!("Left out: {} of {} people without {what}.", gone.len(), people.len()));
        }
    };
    let table = options.traits.as_ref().map(|path| Traits::read(path)).transpose()?;
    let values = match &table {
        _ if !options.needs_trait => None,
        Some(table) => Some(table.column(options.trait_name.as_deref(), people)?),
        None => Some(fam::phenotype(people)),
    };
    if let Some((name, values)) = &values {
        left_out(&mut keep, &|i| values[i].is_some(), name);
    }
    let mut own = [None, None];
    for (own, (option, name)) in own.iter_mut().zip([("--weights", &options.weights), ("--offset", &options.offset)]) {
        let Some(name) = name else { continue };
        let Some(table) = &table else {
            let problem = format!("{option} {name} names a column of the table of traits: give it by --pheno FILE");
            return Err(FileError::new(&files.fam, problem).into());
        };
        let values = own.insert(table.number(name, people)?);
        left_out(&mut keep, &|i| values[i].is_finite(), name);
    }
    let (mut names, mut columns) = (Vec::new(), Vec::new());
    if let Some(path) = &options.covariates {
        (names, columns) = Traits::read(path)?.numbers(people)?;
        left_out(&mut keep, &|i| columns.iter().all(|c: &Vec<f64>| c[i].is_finite()), "all covariates");
    }
    if !keep.contains(&true) {
        let by = options.traits.as_ref().or(options.covariates.as_ref()).unwrap_or(&files.fam);
        let problem = match &options.traits {
            None if options.covariates.is_none() => {
                "nobody is left: the .fam file has no trait, -9 and NA are missing; --pheno FILE gives one"
            }
            _ => {
                "nobody is left: no person of the .fam file has the trait and all covariates; compare FID and IID of both"
            }
        };
        return Err(FileError::new(by, problem).into());
    }
    let kept = |i: &usize| keep[*i];
    let [weights, offset] =
        own.map(|own| own.map(|all: Vec<f64>| (0..people.len()).filter(kept).map(|i| all[i]).collect()));
    let covariates = columns.iter().flat_map(|c| (0..people.len()).filter(kept).map(|i| c[i])).collect();
    let source = options.traits.as_ref().unwrap_or(&files.fam);
    let target = values.map(|(name, values)| {
        let known = values.into_iter().enumerate().filter(|x| keep[x.0]).filter_map(|x| x.1).collect();
        target(source, name, known, options)
    });
    Ok(Chosen { target: target.transpose()?, weights, offset, keep, covariates, names, remarks })
}

/// A trait of numbers, or of texts, which are classes.
fn target(source: &Path, name: String, values: Vec<String>, options: &CohortOptions) -> Result<Target> {
    let numbers: Option<Vec<f64>> = values.iter().map(|v| v.parse().ok().filter(|x: &f64| x.is_finite())).collect();
    if let Some(values) = numbers {
        return Ok(Target::of_numbers(name, values));
    }
    if let Some(number) = values.iter().find(|v| v.parse::<f64>().is_ok()) {
        let text = values.iter().find(|v| v.parse::<f64>().is_err()).map_or("", String::as_str);
        let problem = format!("holds numbers such as {number} and texts such as {}", crate::error::quoted(text));
        return Err(FileError::new(source, problem).in_column(name).into());
    }
    let (mut levels, mut codes) = (Vec::<String>::new(), Vec::new());
    let mut known: HashMap<String, u32> = HashMap::new();
    for value in values {
        let code = *known.entry(value.clone()).or_insert(levels.len() as u32);
        if code as usize == levels.len() {
            levels.push(value);
        }
        codes.push(code);
    }
    let rows = codes.len();
    let nothing = Matrix::Dense { rows, columns: 0, data: Vec::new() };
    let mut table = Table::of_numbers(source.to_owned(), nothing, Names::Listed(Vec::new()), None);
    table.texts.push(TextColumn { name: name.clone(), position: 0, levels, codes });
    let roles =
        Roles { target: Some(name), positive: options.positive.clone(), needs_features: false, ..Roles::default() };
    let found = table.into_dataset(&roles)?.target;
    found.ok_or_else(|| FileError::new(source, "there is no trait").into())
}

/// Names that occur again have a number behind them.
fn unique(mut names: Vec<String>) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::with_capacity(names.len());
    for name in &mut names {
        let count = seen.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            *name = format!("{name}#{count}");
        }
    }
    names
}
