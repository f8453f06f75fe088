//! Arguments for genotypes: whose trait, which covariates, which variants.

use super::InputArgs;
use crate::exit::Failure;
use bestset_data::{CohortFiles, CohortOptions};
use clap::Args;
use std::path::{Path, PathBuf};

/// Tables that belong to a cohort's `.bed`, `.bim` and `.fam` files.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Genotypes (.bed, .bim, .fam)")]
pub struct TraitArgs {
    /// Table of traits with a header: FID and IID, or IID alone, then traits; -9 and NA are missing, and people without the trait
    /// are left out [default: the last column of the .fam file]. --weights and --offset name columns of this table.
    #[arg(long, value_name = "FILE")]
    pub pheno: Option<PathBuf>,
    /// Column of the trait, where there are several.
    #[arg(long, value_name = "NAME", requires = "pheno")]
    pub pheno_name: Option<String>,
    /// Table of covariates with the same header, all of them always in the model; people without one are left out.
    #[arg(long, value_name = "FILE")]
    pub covar: Option<PathBuf>,
}

/// Which variants are looked at.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Genotypes (.bed, .bim, .fam)")]
pub struct CohortArgs {
    #[command(flatten)]
    pub traits: TraitArgs,
    /// Leave out variants whose rarer allele has a frequency below this.
    #[arg(long, value_name = "FREQUENCY", value_parser = share, allow_negative_numbers = true)]
    pub maf: Option<f64>,
    /// Leave out variants that are not known of more than this share of the people.
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    pub geno: Option<f64>,
}

impl TraitArgs {
    /// What is read; needs a trait where one is named, or where `always`.
    pub fn options(&self, always: bool, max_memory: Option<usize>) -> CohortOptions {
        CohortOptions {
            traits: self.pheno.clone(),
            trait_name: self.pheno_name.clone(),
            needs_trait: always || self.pheno.is_some(),
            covariates: self.covar.clone(),
            max_memory,
            ..CohortOptions::default()
        }
    }

    /// Refuses tables beside a file that has no people to join them to.
    pub fn check(&self, file: &Path) -> Result<(), Failure> {
        let given = [("--pheno", self.pheno.is_some()), ("--covar", self.covar.is_some())];
        match given.iter().find(|option| option.1) {
            Some((option, _)) if CohortFiles::of(file).is_none() => Err(Failure::Message(format!(
                "{option} goes with genotypes, a .bed file with its .bim and .fam: {} is none",
                file.display()
            ))),
            _ => Ok(()),
        }
    }
}

impl CohortArgs {
    /// What is read for a fit.
    pub fn options(&self, input: &InputArgs, max_memory: Option<usize>) -> Result<CohortOptions, Failure> {
        let tables = [
            ("--target", input.target.is_some()),
            ("--target-file", input.target_file.is_some()),
            ("--drop", !input.drop.is_empty()),
        ];
        if let Some((option, _)) = tables.iter().find(|option| option.1) {
            return Err(Failure::Message(format!(
                "{option} names a column of a table, and {} has genotypes: give traits by --pheno FILE --pheno-name NAME, \
                 covariates by --covar FILE; --weights and --offset name columns of --pheno",
                input.file.display()
            )));
        }
        Ok(CohortOptions {
            least_frequency: self.maf.unwrap_or(0.0),
            most_missing: self.geno.unwrap_or(1.0),
            positive: input.positive.clone(),
            weights: input.weights.clone(),
            offset: input.offset.clone(),
            on_disk: input.on_disk,
            ..self.traits.options(true, max_memory)
        })
    }

    /// Refuses filters of variants where there are none.
    pub fn check(&self, file: &Path) -> Result<(), Failure> {
        let given = [("--maf", self.maf.is_some()), ("--geno", self.geno.is_some())];
        match given.iter().find(|option| option.1) {
            Some((option, _)) if CohortFiles::of(file).is_none() => {
                Err(Failure::Message(format!("{option} goes with genotypes, a .bed file: {} is none", file.display())))
            }
            _ => self.traits.check(file),
        }
    }
}

/// Parses a share.
fn share(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    (0.0..=1.0).contains(&value).then_some(value).ok_or_else(|| format!("is {value}; it must be between 0 and 1"))
}
