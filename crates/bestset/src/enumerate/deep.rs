//! Sizes of four and more: the first features are projected out in double precision, the last three are enumerated (MATH 14.2, 14.3).

use crate::enumerate::block::{Finder, Leaf, ROUGH};
use crate::enumerate::columns::UnitColumns;
use crate::enumerate::panel::{Panel, ROWS};
use crate::error::Result;
use crate::problem::refit::DEPENDENT;
use rayon::prelude::*;

/// A of all columns that are no copies, by rows.
pub fn all_products(columns: &UnitColumns<'_, '_>) -> Result<Vec<f64>> {
    let one = |k: usize| {
        let mut row = columns.products(k as u32)?;
        row[k] = 1.0;
        Ok(row)
    };
    let rows: Vec<Vec<f64>> = (0..columns.len()).into_par_iter().map(one).collect::<Result<_>>()?;
    Ok(rows.concat())
}

/// The columns after the last of a prefix, which is projected out of them.
#[derive(Debug, Clone)]
pub struct Remainder {
    prefix: Vec<u32>,
    /// Positions.
    positions: Vec<u32>,
    /// A_{jk|I}, by rows.
    form: Vec<f64>,
    /// Υ_{j|I} / ‖ŷ‖.
    pulls: Vec<f64>,
    /// What the prefix explains, in units of ‖ŷ‖².
    explained: f64,
    /// det A_II.
    volume: f64,
}

impl Remainder {
    /// All columns but copies, beside nothing.
    pub fn nothing(columns: &UnitColumns<'_, '_>, gram: &[f64]) -> Self {
        let positions: Vec<u32> = (0..columns.len() as u32).filter(|&k| !columns.is_copy(k as usize)).collect();
        let at = |j: u32, k: u32| gram[j as usize * columns.len() + k as usize];
        let form = positions.iter().flat_map(|&j| positions.iter().map(move |&k| at(j, k))).collect();
        let pulls = positions.iter().map(|&k| columns.pull(k as usize)).collect();
        Self { prefix: Vec::new(), positions, form, pulls, explained: 0.0, volume: 1.0 }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// A_{jk|I∪i} = A_{jk|I} − A_{ji|I}A_{ik|I}/A_{ii|I} (MATH 14.2) for the columns after the i-th, which joins the prefix. A column
    /// that is a combination of the prefix is left out: subsets with both fit no better.
    pub fn with(&self, i: usize, finder: &mut Finder<'_, '_, '_>) -> Result<Self> {
        let (m, pivot) = (self.len(), self.form[i * self.len() + i]);
        let own = &self.form[i * m..(i + 1) * m];
        let prefix = [&self.prefix[..], &[self.positions[i]]].concat();
        let left = |j: usize| self.form[j * m + j] - own[j] * own[j] / pivot;
        let mut kept = Vec::with_capacity(m - i - 1);
        for j in i + 1..m {
            if left(j) > DEPENDENT {
                kept.push(j);
                continue;
            }
            let features = finder.judge.columns.circuit(self.positions[j], &prefix)?;
            finder.name(features);
        }
        let mut form = Vec::with_capacity(kept.len() * kept.len());
        for &j in &kept {
            let (row, factor) = (&self.form[j * m..(j + 1) * m], own[j] / pivot);
            form.extend(kept.iter().map(|&k| row[k] - factor * own[k]));
        }
        let pull = self.pulls[i] / pivot;
        let pulls = kept.iter().map(|&j| self.pulls[j] - own[j] * pull).collect();
        let positions = kept.iter().map(|&j| self.positions[j]).collect();
        let explained = self.explained + self.pulls[i] * pull;
        Ok(Self { prefix, positions, form, pulls, explained, volume: self.volume * pivot })
    }

    /// Every subset of the prefix and `more` ≥ 3 of the columns.
    pub fn enumerate(&self, more: usize, finder: &mut Finder<'_, '_, '_>) -> Result<()> {
        if more == 3 {
            return self.triples(finder);
        }
        for i in 0..(self.len() + 1).saturating_sub(more) {
            self.with(i, finder)?.enumerate(more - 1, finder)?;
            if finder.stopped.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Every subset of the prefix and three of the columns, in single precision.
    fn triples(&self, finder: &mut Finder<'_, '_, '_>) -> Result<()> {
        let (m, rough) = (self.len(), self.rough(finder.judge.columns.rounding));
        // 1/√(what is left of the column), zero where that has too few digits.
        let stretch = |j: usize| {
            let left = self.form[j * m + j];
            // The products and the lengths that they are divided by.
            if 2.0 * rough / left <= ROUGH { 1.0 / left.sqrt() } else { 0.0 }
        };
        let stretches: Vec<f64> = (0..m).map(stretch).collect();
        let pulls = self.pulls.iter().zip(&stretches).map(|(q, s)| (*s > 0.0).then_some(q * s));
        let leaf = Leaf::new(self.prefix.clone(), Some(self.positions.clone()), self.explained, pulls);
        let panel = |b: usize| {
            let rows = b * ROWS..((b + 1) * ROWS).min(m);
            let mut panel = Panel::zeros(rows.clone(), m);
            for j in rows.clone() {
                let (row, own) = (panel.row_mut(j), &self.form[j * m..(j + 1) * m]);
                for k in rows.start..m {
                    row[k - rows.start] = (own[k] * stretches[j] * stretches[k]) as f32;
                }
            }
            panel
        };
        let panels: Vec<Panel> = (0..m.div_ceil(ROWS)).map(panel).collect();
        for (b, first) in panels.iter().enumerate() {
            for second in &panels[b..] {
                finder.triples(&leaf, first, second)?;
            }
        }
        Ok(())
    }

    /// What the entries of A_{jk|I} and the pulls may be off: 4(|I| + 1) (16 + √n) ε e / det A_II (MATH 14.3).
    fn rough(&self, rounding: f64) -> f64 {
        4.0 * (self.prefix.len() + 1) as f64 * rounding * std::f64::consts::E / self.volume
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{Case, Twofold, normal, pick, rng};
    use crate::control::{Memory, Monitor, Options};
    use crate::enumerate::judge::Judge;
    use crate::enumerate::pool::Pool;
    use crate::penalty::Penalty;

    /// A_{jk|I} of unit columns in twice the precision, the targets last.
    fn projected(data: &Case, prefix: &[usize]) -> Vec<Vec<f64>> {
        let all: Vec<&[f64]> = (0..data.p).map(|j| data.col(j)).chain([&data.y[..]]).collect();
        let mut form: Vec<Vec<Twofold>> =
            all.iter().map(|a| all.iter().map(|b| Twofold::dot(a, b)).collect()).collect();
        let lengths: Vec<f64> = (0..all.len()).map(|j| form[j][j].wide().sqrt()).collect();
        for &i in prefix {
            let own = form[i].clone();
            for row in &mut form {
                let factor = row[i] / own[i];
                row.iter_mut().zip(&own).for_each(|(x, o)| *x = *x - factor * *o);
            }
        }
        (0..all.len())
            .map(|j| (0..all.len()).map(|k| form[j][k].wide() / (lengths[j] * lengths[k])).collect())
            .collect()
    }

    /// What is left beside a prefix is off by no more than (14.3), whatever the columns, and at times by a good part of it.
    #[test]
    fn projections_are_within_their_rounding() {
        let (mut rng, mut largest, options, mut observer) = (rng(16), 0.0f64, Options::default(), ());
        let monitor = Monitor::new(&options, &mut observer);
        for trial in 0..300 {
            let (n, p, near) = (12, 7, pick(&mut rng, &[1.0, 0.1, 1e-2, 1e-3]));
            let common: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
            let x = (0..n * p).map(|k| common[k % n] + near * normal(&mut rng)).collect();
            let y = (0..n).map(|_| normal(&mut rng)).collect();
            let data = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
            data.with_problem(|problem| {
                let columns = UnitColumns::new(problem, &Memory::default()).unwrap();
                let gram = all_products(&columns).unwrap();
                let judge = Judge { columns: &columns, gram: Some(&gram), price: 0.0 };
                let mut finder = Finder::new(&judge, Pool::new(1), monitor.limits());
                let mut beside = Remainder::nothing(&columns, &gram);
                for _ in 0..3 {
                    beside = beside.with(trial % 2, &mut finder).unwrap();
                    let prefix: Vec<usize> = beside.prefix.iter().map(|&k| columns.feature(k)).collect();
                    let (exact, rough, m) = (projected(&data, &prefix), beside.rough(columns.rounding), beside.len());
                    let at = |j: usize| columns.feature(beside.positions[j]);
                    for j in 0..m {
                        let pull = (beside.pulls[j] - exact[at(j)][p]).abs();
                        let entry = |k: usize| (beside.form[j * m + k] - exact[at(j)][at(k)]).abs();
                        let off = (0..m).map(entry).fold(pull, f64::max);
                        assert!(off <= rough, "{trial}: {off:e} {rough:e}");
                        largest = largest.max(off / rough);
                    }
                }
            });
        }
        assert!(largest > 1e-3, "{largest:e}");
    }
}
