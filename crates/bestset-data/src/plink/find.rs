//! The variants of a model in another cohort: found by place and alleles, not by order.

use super::{CohortFiles, CohortOptions, Fit, Person, Variant, bed, bim, choose, fam};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::matrix::{Matrix, Names};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A variant that a model uses, as the data of the fit had it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownVariant {
    /// The name of the feature.
    pub name: String,
    /// Place and alleles.
    #[serde(flatten)]
    pub variant: Variant,
    /// Frequency of the effect allele: twice that takes the place of what is not known.
    pub frequency: f64,
}

/// Where a variant of the model is in the file.
struct Place {
    column: usize,
    fit: Fit,
}

/// Most variants that a sentence names.
const NAMED: usize = 5;

/// The variants of a model, one column each in copies of the model's effect allele, and the covariates; with the people they are
/// of. Genotypes that are not known, and variants that are not there, are at the mean of the data of the fit.
pub fn find_variants(
    files: &CohortFiles,
    wanted: &[KnownVariant],
    options: &CohortOptions,
) -> Result<(Dataset, Vec<Person>)> {
    let (people, variants) = (fam::read(&files.fam)?, bim::read(&files.bim)?);
    let chosen = choose(files, &people, options)?;
    let places = places(wanted, &variants);
    let mut file = bed::Columns::open(&files.bed, people.len(), variants.len())?;
    let mut data = Vec::new();
    let mut missing = 0;
    for (known, place) in wanted.iter().zip(&places) {
        let mean = 2.0 * known.frequency;
        let copies = match place {
            None => vec![mean; people.len()],
            Some(Place { column, fit }) => {
                let own = file.copies(*column)?;
                missing += own.iter().zip(&chosen.keep).filter(|(x, keep)| x.is_none() && **keep).count();
                let counted = |x: f64| if fit.exchanged { 2.0 - x } else { x };
                own.into_iter().map(|x| x.map_or(mean, counted)).collect()
            }
        };
        data.extend(copies.iter().zip(&chosen.keep).filter(|x| *x.1).map(|x| *x.0));
    }
    let rows = chosen.keep.iter().filter(|keep| **keep).count();
    let columns = wanted.len() + chosen.names.len();
    data.extend(chosen.covariates);
    let mut remarks = chosen.remarks;
    remarks.extend(told(wanted, &variants, &places));
    if missing > 0 {
        remarks.push(format!("Missing genotypes, set to the mean of the data of the fit: {missing}."));
    }
    let names = wanted.iter().map(|known| known.name.clone()).chain(chosen.names).collect();
    let mut keep = chosen.keep.iter();
    let people = people.into_iter().filter(|_| keep.next() == Some(&true)).collect();
    let numbers = Dataset::plain(files.bed.clone(), Matrix::Dense { rows, columns, data }, Names::Listed(names));
    let (target, weights, offset) = (chosen.target, chosen.weights, chosen.offset);
    Ok((Dataset { target, weights, offset, remarks, ..numbers }, people))
}

/// For each variant wanted the one at its place with its alleles; the same strand goes before the other.
fn places(wanted: &[KnownVariant], variants: &[Variant]) -> Vec<Option<Place>> {
    let mut by_place: HashMap<(String, i64), Vec<usize>> = HashMap::new();
    wanted.iter().enumerate().for_each(|(k, known)| by_place.entry(known.variant.place()).or_default().push(k));
    let mut places: Vec<Option<Place>> = wanted.iter().map(|_| None).collect();
    for (column, there) in variants.iter().enumerate() {
        for &k in by_place.get(&there.place()).into_iter().flatten() {
            let Some(fit) = wanted[k].variant.fit(there) else { continue };
            if places[k].as_ref().is_none_or(|before| before.fit.flipped && !fit.flipped) {
                places[k] = Some(Place { column, fit });
            }
        }
    }
    places
}

/// What was found, a sentence each.
fn told(wanted: &[KnownVariant], variants: &[Variant], places: &[Option<Place>]) -> Vec<String> {
    let list = |names: Vec<&str>| {
        let more = if names.len() > NAMED { format!(" and {} more", names.len() - NAMED) } else { String::new() };
        names[..names.len().min(NAMED)].join(", ") + &more
    };
    let found: Vec<(&KnownVariant, &Place)> =
        wanted.iter().zip(places).filter_map(|(k, p)| Some((k, p.as_ref()?))).collect();
    let count = |what: &dyn Fn(&Place) -> bool| found.iter().filter(|(_, place)| what(place)).count();
    let (exchanged, flipped) = (count(&|p| p.fit.exchanged), count(&|p| p.fit.flipped));
    let mut told = vec![format!(
        "{} of {} variants of the model were found among {}; the alleles of {exchanged} were exchanged, the strand of {flipped} flipped.",
        found.len(),
        wanted.len(),
        variants.len(),
    )];
    let unsure: Vec<&str> =
        found.iter().filter(|(known, _)| known.variant.is_ambiguous()).map(|(known, _)| known.name.as_str()).collect();
    if !unsure.is_empty() {
        told.push(format!(
            "{} of them are A/T or C/G, whose strand cannot be told and was taken to be the same: {}.",
            unsure.len(),
            list(unsure)
        ));
    }
    let gone: Vec<&str> =
        wanted.iter().zip(places).filter(|x| x.1.is_none()).map(|(known, _)| known.name.as_str()).collect();
    if !gone.is_empty() {
        told.push(format!("Not found, and taken at the mean of the data of the fit: {}.", list(gone)));
    }
    told
}
