//! Good subsets of every size before the enumeration: features added one by one, with exchanges in between.

use crate::control::Limits;
use crate::enumerate::columns::UnitColumns;
use crate::error::Result;
use crate::problem::refit::DEPENDENT;

/// Exchanges at one size, at most this many for each feature of the subset.
const EXCHANGES: usize = 4;

/// What must be left of a column beside the others for it to be added, where there is any of which so much is left.
const PLAIN: f64 = 1e-6;

/// A subset with the products of its columns with all.
pub struct GreedyWalk<'w, 'p, 'a> {
    columns: &'w UnitColumns<'p, 'a>,
    members: Vec<(u32, Vec<f64>)>,
}

impl<'w, 'p, 'a> GreedyWalk<'w, 'p, 'a> {
    /// The empty subset.
    pub fn new(columns: &'w UnitColumns<'p, 'a>) -> Self {
        Self { columns, members: Vec::new() }
    }

    /// The subset, ascending.
    pub fn members(&self) -> Vec<u32> {
        let mut members: Vec<u32> = self.members.iter().map(|m| m.0).collect();
        members.sort_unstable();
        members
    }

    /// One feature more, and exchanges while they help. Nothing is left to add where it says no: all columns are combinations of the
    /// subset; an error where one is nearly, but not exactly.
    pub fn grow(&mut self, limits: &Limits) -> Result<bool> {
        let best = self.best_beside(None, PLAIN).or_else(|| self.best_beside(None, DEPENDENT));
        let Some((mut explained, added)) = best else {
            let members = self.members();
            let others = (0..self.columns.len() as u32).filter(|k| !members.contains(k));
            for k in others.filter(|&k| !self.columns.is_copy(k as usize)) {
                self.columns.circuit(k, &members)?;
            }
            return Ok(false);
        };
        self.members.push((added, self.columns.products(added)?));
        for _ in 0..EXCHANGES * self.members.len() {
            if limits.stop(0).is_some() {
                break;
            }
            let moves = (0..self.members.len()).filter_map(|i| self.best_beside(Some(i), PLAIN).map(|m| (m.0, i, m.1)));
            match moves.reduce(|a, b| if b.0 > a.0 { b } else { a }) {
                Some((better, out, into)) if better > explained + 1e-12 => {
                    self.members[out] = (into, self.columns.products(into)?);
                    explained = better;
                }
                _ => break,
            }
        }
        Ok(true)
    }

    /// The column that explains most beside the subset, without one of it, and what they explain; of those of which more than a share
    /// is left.
    fn best_beside(&self, out: Option<usize>, share: f64) -> Option<(f64, u32)> {
        let kept: Vec<&(u32, Vec<f64>)> =
            self.members.iter().enumerate().filter(|m| Some(m.0) != out).map(|m| m.1).collect();
        let count = self.columns.len();
        let (mut left, mut explained) = (vec![1.0f64; count], 0.0);
        let mut pulls: Vec<f64> = (0..count).map(|k| self.columns.pull(k)).collect();
        let mut parts: Vec<Vec<f64>> = Vec::with_capacity(kept.len());
        for (member, products) in &kept {
            let at = *member as usize;
            let (root, own): (f64, Vec<f64>) = (left[at].sqrt(), parts.iter().map(|part| part[at]).collect());
            let mut part = products.clone();
            part[at] = 1.0;
            for (before, own) in parts.iter().zip(own) {
                part.iter_mut().zip(before).for_each(|(x, b)| *x -= own * b);
            }
            part.iter_mut().for_each(|x| *x /= root);
            let pull = pulls[at] / root;
            explained += pull * pull;
            for k in 0..count {
                left[k] -= part[k] * part[k];
                pulls[k] -= part[k] * pull;
            }
            parts.push(part);
        }
        let is_open = |k: &usize| {
            left[*k] > share && !self.columns.is_copy(*k) && self.members.iter().all(|m| m.0 as usize != *k)
        };
        let gain = |k: usize| pulls[k] * pulls[k] / left[k];
        let best = (0..count).filter(is_open).reduce(|a, b| if gain(b) > gain(a) { b } else { a });
        best.map(|k| (explained + gain(k), k as u32))
    }
}
