//! What correlates with each feature outside Â, and what that leaves of its curvature (MATH 13.1): one look at all pairs.

use super::pairs::{LARGEST, largest_entries, listed_elsewhere, multiplied_elsewhere};
use super::rows::{Basis, Copies, Left, ListedRow, Outside, OutsideColumns, Pulled};
use crate::control::Limits;
use crate::design::PairsAsked;
use crate::error::Result;
use crate::problem::Problem;
use rayon::prelude::*;

/// The features outside Â that vary, and what correlates with each.
pub(super) struct Curvatures {
    pub outside: Pulled,
    pub rows: Vec<ListedRow>,
    own: Vec<f64>,
    /// d_j^m by single entries (MATH 13.1).
    pub plain: Left,
    samples: usize,
    /// What entries that were not kept are made of; nothing where the columns stayed where X is.
    copies: Option<Copies>,
}

impl Curvatures {
    /// d_j^m = Q̃_jj − (the m − 1 largest |Q̃_jk|) (MATH 13.1): one look at all pairs; nothing where the limits end it, or the
    /// place of X that was to list them has none.
    pub fn new(problem: &Problem<'_>, outside: Outside, limits: &Limits) -> Result<Option<Self>> {
        let Outside { pulled, own, mut error, columns, is_for_proof, .. } = outside;
        let (made, copies) = match columns {
            OutsideColumns::There(basis) => {
                let vectors: Vec<&[f64]> = basis.vectors.iter().map(Vec::as_slice).collect();
                let found = listed_elsewhere(problem.design(), &asked(&pulled, &basis, &vectors))?;
                error += found.as_ref().map_or(0.0, |f| f.1);
                (found.map(|f| f.0), None)
            }
            OutsideColumns::Here(Copies { columns, rests }) => {
                let made = match multiplied_elsewhere(problem.design(), &rests, &columns)? {
                    Some(made) => Some(made),
                    None => largest_entries(rests.as_ref(), columns.as_ref(), !is_for_proof, limits).map(|listed| {
                        error += listed.error;
                        listed.rows
                    }),
                };
                (made, Some(Copies { columns, rests }))
            }
        };
        let Some(largest) = made else { return Ok(None) };
        let row = |(place, largest)| ListedRow { place, own: own[place], error, largest };
        let rows: Vec<ListedRow> = largest.into_par_iter().enumerate().map(row).collect();
        let plain = Left::of(&rows);
        Ok(Some(Self { outside: pulled, rows, own, plain, samples: problem.nrows(), copies }))
    }

    /// Q̃_jj of all features, and their rows.
    pub fn all(&self) -> (&[f64], &[ListedRow]) {
        (&self.own, &self.rows)
    }

    /// Q̃_jk of two places: kept, or made anew, within the error of either row; no number where that takes copies and there are none.
    pub fn entry(&self, j: u32, k: u32) -> f64 {
        if j == k {
            return self.rows[j as usize].own;
        }
        let kept =
            |j: u32, k: u32| self.rows[j as usize].largest.iter().find(|e| e.place == k).map(|e| f64::from(e.value));
        let made = || {
            let Copies { columns, rests } = self.copies.as_ref()?;
            let (rest, column) = (rests.col_as_slice(j as usize), columns.col_as_slice(k as usize));
            Some(rest.iter().zip(column).map(|(r, c)| f64::from(*r) * f64::from(*c)).sum())
        };
        kept(j, k).or_else(|| kept(k, j)).or_else(made).unwrap_or(f64::NAN)
    }

    /// Whether every entry can be made, as [`Curvatures::entry`] of pairs that were not kept must.
    pub fn has_copies(&self) -> bool {
        self.copies.is_some()
    }

    /// n|F|², the multiplications of a look at all pairs, each from both sides.
    pub fn work(&self) -> f64 {
        self.samples as f64 * (self.rows.len() as f64).powi(2)
    }
}

/// What the place of X is asked for the lists of all features.
fn asked<'q>(pulled: &'q Pulled, basis: &'q Basis, vectors: &'q [&'q [f64]]) -> PairsAsked<'q> {
    PairsAsked {
        features: &pulled.features,
        scales: &pulled.scales,
        is_centred: basis.is_centred,
        basis: vectors,
        inverse: &basis.inverse,
        count: LARGEST.min(pulled.features.len().saturating_sub(1)),
        apart: basis.apart.as_ref().map(|(costs, room)| (costs.as_slice(), *room)),
    }
}
