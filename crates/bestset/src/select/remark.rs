//! What the user should know about a choice, in words.

use crate::error::Error;
use crate::select::provable::{Provable, features};
use crate::solution::Status;
use std::fmt::{Display, Formatter, Result};

/// What the user should know about a choice.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark {
    /// The model is the last of those up to the largest size: a larger one may be better.
    LargestSize(usize),
    /// At the price chosen what is better is larger than was asked for: the model is the best found of at most so many features.
    OfItsSize(usize),
    /// Groups that have more columns than any model compared could not be chosen.
    WideGroups {
        /// How many there are.
        groups: usize,
        /// The columns of the widest.
        widest: usize,
        /// The largest size compared.
        most: usize,
    },
    /// It has the largest λ2 that was compared.
    LargestRidge(f64),
    /// A limit cut some folds short.
    Folds {
        /// Folds done.
        done: usize,
        /// Folds asked for.
        all: usize,
    },
    /// No fold was done in time: the criterion chose.
    NoFolds,
    /// A limit cut the path short.
    Path(Status),
    /// A limit left some of the best subsets that were asked for unknown.
    Ranks {
        /// Subsets whose rank is proved.
        known: usize,
        /// Subsets asked for.
        asked: usize,
        /// The limit.
        status: Status,
    },
    /// Fewer of the best subsets are proved, as columns are combinations of each other and not all subsets with them were looked at.
    DependentRanks {
        /// Subsets whose rank is proved.
        known: usize,
        /// Subsets listed.
        listed: usize,
    },
    /// Branch and bound could not start.
    Unproved(Error),
    /// The answer is not proved; of which subsets it is, and what would be proved.
    Provable(Provable),
    /// Columns could not be read any more, and why.
    ReadFailed(String),
    /// The features whose coefficients nothing keeps finite, as where classes are told apart perfectly.
    Infinite(Vec<usize>),
    /// There is one sample only.
    OneSample,
    /// The target has one value only, which the intercept is.
    ConstantTarget(f64),
}

impl Remark {
    /// What it is about: a `limit` that struck, the `edge` of what was compared, a proof that cannot be (`unproved`), one that
    /// could (`provable`), coefficients without an end (`infinite`), or samples that teach nothing (`data`).
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Folds { .. } | Self::NoFolds | Self::Path(_) | Self::Ranks { .. } | Self::ReadFailed(_) => "limit",
            Self::LargestSize(_) | Self::OfItsSize(_) | Self::WideGroups { .. } | Self::LargestRidge(_) => "edge",
            Self::Unproved(_) | Self::DependentRanks { .. } => "unproved",
            Self::Provable(_) => "provable",
            Self::Infinite(_) => "infinite",
            Self::OneSample | Self::ConstantTarget(_) => "data",
        }
    }
}

impl Display for Remark {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::LargestSize(size) => {
                write!(
                    f,
                    "Models of more than {} were not compared: a larger max-size may give a better one.",
                    features(*size)
                )
            }
            Self::OfItsSize(size) => write!(
                f,
                "Subsets larger than was asked for are better at its price: the model is the best found of at most {}; a larger max-size \
                 compares them.",
                features(*size)
            ),
            Self::WideGroups { groups, widest, most } => write_wide_groups(f, *groups, *widest, *most),
            Self::LargestRidge(lambda2) => {
                write!(f, "The model has the largest lambda2 compared, {lambda2}: a larger one may give a better one.")
            }
            Self::Folds { done, all } => write!(f, "A limit struck: only {done} of {all} folds were done."),
            Self::ReadFailed(cause) => write!(f, "The answer is the best so far, its bound holds: {cause}."),
            Self::NoFolds => {
                write!(f, "A limit struck before a fold was done: EBIC chose in place of cross-validation.")
            }
            Self::Path(status) => write!(f, "The path was cut short ({status}): a later point may be better."),
            Self::Ranks { known, asked, status } => write!(f, "{known} of {asked} ranks known: {status}."),
            Self::DependentRanks { known, listed } => write!(
                f,
                "{known} of {listed} ranks proved: columns are combinations of each other, and without lambda2 not all subsets with them are looked at; lambda2 > 0 tells them apart."
            ),
            Self::Unproved(error) => write!(f, "Not proved: {error}."),
            Self::Provable(provable) => write!(f, "Not proved as a whole: {provable}."),
            Self::OneSample => write!(
                f,
                "There is one sample only (with a weight above 0): it says nothing about features, and the answer explains nothing."
            ),
            Self::ConstantTarget(value) => write!(
                f,
                "The target is {value} in every sample: the intercept explains all of it, and no feature is worth its price."
            ),
            Self::Infinite(features) => write_infinite(f, features.len()),
        }
    }
}

/// That so many groups, the widest of so many columns, are in no model of the sizes compared.
fn write_wide_groups(f: &mut Formatter<'_>, groups: usize, widest: usize, most: usize) -> Result {
    let which = match groups {
        1 => format!("A group of {widest} columns"),
        _ => format!("{groups} groups, the widest of {widest} columns,"),
    };
    write!(
        f,
        "{which} could not be chosen, as models of more than {} were not compared: a larger max-size compares them, or levels put together.",
        features(most)
    )
}

/// That so many coefficients have no end.
fn write_infinite(f: &mut Formatter<'_>, count: usize) -> Result {
    let (what, they, grow, them) = match count {
        1 => ("One coefficient", "it", "grows", "it"),
        _ => ("Some coefficients", "they", "grow", "them"),
    };
    write!(
        f,
        "{what} may be infinite: the likelihood still rises as {they} {grow}, as where features tell the outcomes apart perfectly; lambda2 > 0 or bounds keep {them} finite."
    )
}
