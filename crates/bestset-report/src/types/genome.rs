//! Where chosen variants are.

use serde::{Deserialize, Serialize};

/// The chosen variants on the genome.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Genome {
    /// Chromosomes of the data, in their order.
    pub chromosomes: Vec<Chromosome>,
    /// The chosen variants, by place.
    pub loci: Vec<Locus>,
    /// Base pairs to either side in which neighbours are looked at.
    pub window: i64,
}

/// The part of a chromosome that the data have variants of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Chromosome {
    /// Its name.
    pub name: String,
    /// The first position.
    pub from: i64,
    /// The last one.
    pub to: i64,
}

/// A chosen variant and those around it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Locus {
    /// The name of the feature.
    pub name: String,
    /// Name of the variant, often an rs number.
    pub id: String,
    /// Chromosome.
    pub chromosome: String,
    /// Position in base pairs.
    pub position: i64,
    /// The allele whose copies are counted.
    pub effect: String,
    /// The other allele.
    pub other: String,
    /// Frequency of the effect allele.
    pub frequency: f64,
    /// What one copy adds to the prediction.
    pub coefficient: f64,
    /// Variants within the window, by place.
    pub neighbours: Vec<Neighbour>,
}

/// A variant beside a chosen one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Neighbour {
    /// Its name.
    pub id: String,
    /// Position in base pairs.
    pub position: i64,
    /// Squared correlation with the chosen one.
    pub r2: f64,
}
