//! One subset in double precision (MATH 14.8).

use crate::enumerate::columns::UnitColumns;
use crate::enumerate::pool::Candidate;
use crate::error::Result;
use crate::problem::refit::DEPENDENT;

/// What is known of a subset.
pub enum Judgement {
    /// It costs this.
    Independent(Candidate),
    /// One of its columns is a combination of others: it fits no better than without one of them.
    Dependent(Vec<usize>),
}

/// The columns and the price of a feature.
pub struct Judge<'j, 'p, 'a> {
    pub columns: &'j UnitColumns<'p, 'a>,
    /// A, where it is kept.
    pub gram: Option<&'j [f64]>,
    /// λ0.
    pub price: f64,
}

impl Judge<'_, '_, '_> {
    fn product(&self, j: u32, k: u32) -> Result<f64> {
        match self.gram {
            Some(gram) => Ok(gram[j as usize * self.columns.len() + k as usize]),
            None => self.columns.product(j, k),
        }
    }

    /// fit(S) = ½‖ŷ‖² (1 − Σ p²) ± (16 + √n) ε ‖A_SS⁻¹‖ ½‖ŷ‖² (MATH 11.34), the largest pivot first; an error where a column is
    /// nearly, but not exactly, a combination of others.
    pub fn judge(&self, members: &[u32]) -> Result<Judgement> {
        let size = members.len();
        // The sweep operator: A⁻¹ in place of A, less its sign, and the solution in place of the pulls, which are the last column.
        let width = size + 1;
        let mut form = vec![0.0; size * width];
        for (i, &j) in members.iter().enumerate() {
            form[i * width + i] = 1.0;
            form[i * width + size] = self.columns.pull(j as usize);
            for (l, &k) in members.iter().enumerate().take(i) {
                let product = self.product(j, k)?;
                (form[i * width + l], form[l * width + i]) = (product, product);
            }
        }
        let (mut explained, mut done): (f64, Vec<usize>) = (0.0, Vec::with_capacity(size));
        while done.len() < size {
            let open = (0..size).filter(|i| !done.contains(i));
            let Some(l) = open.reduce(|a, b| if form[b * width + b] > form[a * width + a] { b } else { a }) else {
                break;
            };
            let pivot = form[l * width + l];
            if pivot.is_nan() || pivot <= DEPENDENT {
                let others: Vec<u32> = done.iter().map(|&i| members[i]).collect();
                return Ok(Judgement::Dependent(self.columns.circuit(members[l], &others)?));
            }
            explained += form[l * width + size].powi(2) / pivot;
            sweep(&mut form, size, l, pivot);
            done.push(l);
        }
        let row = |i: usize| (0..size).map(|l| form[i * width + l].abs()).sum::<f64>();
        let inverse = (0..size).map(row).fold(1.0, f64::max);
        let (total, cost) = (self.columns.total, self.price * size as f64);
        let (fit, slack) = (total * (1.0 - explained), self.columns.rounding * inverse * total);
        let (low, high) = ((fit - slack).max(0.0) + cost, fit + slack + cost);
        let mut members = members.to_vec();
        members.sort_unstable();
        Ok(Judgement::Independent(Candidate { members, low, high, inverse }))
    }
}

/// Exchanges variable l of a linear system for its right-hand side.
fn sweep(form: &mut [f64], size: usize, l: usize, pivot: f64) {
    let width = size + 1;
    let row: Vec<f64> = form[l * width..(l + 1) * width].iter().map(|x| x / pivot).collect();
    for i in (0..size).filter(|&i| i != l) {
        let factor = form[i * width + l];
        for c in (0..width).filter(|&c| c != l) {
            form[i * width + c] -= factor * row[c];
        }
        form[i * width + l] = -factor / pivot;
    }
    form[l * width..(l + 1) * width].copy_from_slice(&row);
    form[l * width + l] = 1.0 / pivot;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{rng, twofold_fits_beyond, wide_columns};
    use crate::control::Memory;

    /// fit(S) in twice the precision is between the two ends, of every subset that is not told to be dependent.
    #[test]
    fn every_fit_is_between_its_ends() {
        let (mut rng, mut judged) = (rng(15), 0);
        for trial in 0..150 {
            let data = wide_columns(&mut rng, 8);
            let fits = twofold_fits_beyond(&data, 1e-14);
            data.with_problem(|problem| {
                let columns = UnitColumns::new(problem, &Memory::default()).unwrap();
                let judge = Judge { columns: &columns, gram: None, price: 0.0 };
                for mask in 1u32..1 << columns.len() {
                    let members: Vec<u32> = (0..columns.len() as u32).filter(|k| mask >> k & 1 == 1).collect();
                    let Ok(Judgement::Independent(found)) = judge.judge(&members) else { continue };
                    let fit = fits[members.iter().map(|&k| 1 << columns.feature(k)).sum::<usize>()];
                    let context = format!("{trial}, {members:?}: {fit:e} {found:?}");
                    assert!(found.low <= fit.max(1e-24 * fits[0]) && fit <= found.high, "{context}");
                    judged += 1;
                }
            });
        }
        assert!(judged > 5000, "{judged}");
    }
}
