//! The candidates as unit columns, the strongest first, and the targets (MATH 14.1).

use crate::control::Memory;
use crate::error::Result;
use crate::kernel;
use crate::problem::Problem;
use crate::problem::refit::{Targets, Term, circuit, rounding};
use crate::problem::whitened::{Frame, Unit, is_constant};
use faer::Mat;
use rayon::prelude::*;
use std::collections::HashSet;
use std::ops::Range;

/// Lists of dependent columns that are kept: they are for people to read.
pub const LISTS: usize = 256;

/// The columns that vary and may be in, A_jj = 1 with the ridge, and ŷ.
pub struct UnitColumns<'p, 'a> {
    /// The problem.
    pub problem: &'p Problem<'a>,
    frame: Frame<'p>,
    target: Vec<f64>,
    /// ½‖ŷ‖² = fit(∅).
    pub total: f64,
    /// By position, the one that fits best alone first.
    entries: Vec<Entry>,
    /// Their values one after the other, where there is room.
    stored: Option<Vec<f64>>,
    /// The features of every dependence that was taken for exact.
    pub dependent: Vec<Vec<usize>>,
    /// Pairs of positions of which one is a multiple of the other but for its last digits, the smaller one first.
    copies: HashSet<(u32, u32)>,
    /// (16 + √n) ε: the rounding of an inner product of two columns, times what a sparse column's parts exceed it.
    pub rounding: f64,
}

/// What is known of a column besides its values.
#[derive(Debug, Clone)]
struct Entry {
    feature: usize,
    /// x̂_jᵀŷ / ‖ŷ‖.
    pull: f64,
    /// As in [`Term`].
    scale: f64,
    ridge: f64,
    reach: f64,
    effort: f64,
    /// The share of A_jj = 1 that is not the ridge, its root.
    share: f64,
    /// Whether an earlier one is the same to the last digit.
    is_copy: bool,
}

impl<'p, 'a> UnitColumns<'p, 'a> {
    /// Two passes over X at the most.
    pub fn new(problem: &'p Problem<'a>, memory: &Memory) -> Result<Self> {
        let frame = Frame::new(problem);
        // Each on its own: their difference would be rounded as the farther of the two.
        let (mut target, offset) = (frame.whiten(problem.y().to_vec()), frame.whiten(problem.null_margins()));
        target.iter_mut().zip(&offset).for_each(|(y, o)| *y -= o);
        let total = 0.5 * kernel::squares(&target);
        let length = (2.0 * total).sqrt();
        let may_enter = |j: &usize| {
            let c = problem.coordinate(*j);
            (c.lower, c.upper) != (0.0, 0.0)
        };
        let made: Vec<(usize, Option<Entry>)> = (0..problem.ncols())
            .into_par_iter()
            .filter(may_enter)
            .map(|j| Ok((j, frame.unit(problem, j)?.map(|unit| Entry::new(problem, j, &unit, &target, length)))))
            .collect::<Result<_>>()?;
        let flat = made.iter().filter(|m| m.1.is_none()).map(|m| m.0);
        let mut dependent = Vec::new();
        for j in flat {
            if !is_constant(problem, j)? {
                dependent.push(vec![j]);
            }
        }
        let mut entries: Vec<Entry> = made.into_iter().filter_map(|m| m.1).collect();
        entries.sort_by(|a, b| b.pull.abs().total_cmp(&a.pull.abs()).then(a.feature.cmp(&b.feature)));
        let is_sparse = problem.design().is_sparse();
        let excess = if is_sparse { entries.iter().map(|e| e.effort).fold(1.0, f64::max) } else { 1.0 };
        let rounding = rounding(problem.nrows()) * f64::EPSILON * excess;
        let mut columns =
            Self { problem, frame, target, total, entries, stored: None, dependent, copies: HashSet::new(), rounding };
        if memory.allows(8.0 * problem.nrows() as f64 * columns.len() as f64, 4) {
            let values: Vec<Vec<f64>> =
                (0..columns.len()).into_par_iter().map(|k| columns.made(k)).collect::<Result<_>>()?;
            columns.stored = Some(values.concat());
        }
        Ok(columns)
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The feature at a position.
    pub fn feature(&self, k: u32) -> usize {
        self.entries[k as usize].feature
    }

    /// x̂_jᵀŷ / ‖ŷ‖; zero of a copy.
    pub fn pull(&self, k: usize) -> f64 {
        if self.entries[k].is_copy { 0.0 } else { self.entries[k].pull }
    }

    /// Whether the column at a position is an earlier one to the last digit.
    pub fn is_copy(&self, k: usize) -> bool {
        self.entries[k].is_copy
    }

    /// Whether every subset of the features is looked at.
    pub fn is_complete(&self) -> bool {
        self.len() == self.problem.ncols() && self.dependent.is_empty()
    }

    fn made(&self, k: usize) -> Result<Vec<f64>> {
        let entry = &self.entries[k];
        let unit = self.frame.unit(self.problem, entry.feature)?.filter(|_| !entry.is_copy);
        let mut values = unit.map_or_else(|| vec![0.0; self.problem.nrows()], |unit| unit.values);
        if entry.share < 1.0 {
            values.iter_mut().for_each(|x| *x *= entry.share);
        }
        Ok(values)
    }

    /// The columns of a range, as a matrix.
    pub fn block(&self, range: Range<usize>) -> Result<Mat<f64>> {
        let n = self.problem.nrows();
        Ok(match &self.stored {
            Some(all) => Mat::from_fn(n, range.len(), |i, a| all[(range.start + a) * n + i]),
            None => {
                let made: Vec<Vec<f64>> = range.clone().map(|k| self.made(k)).collect::<Result<_>>()?;
                Mat::from_fn(n, range.len(), |i, a| made[a][i])
            }
        })
    }

    /// The column at a position.
    fn values(&self, k: u32) -> Result<Vec<f64>> {
        let (n, k) = (self.problem.nrows(), k as usize);
        self.stored.as_ref().map_or_else(|| self.made(k), |all| Ok(all[k * n..(k + 1) * n].to_vec()))
    }

    /// A_jk of the columns at two different positions.
    pub fn product(&self, j: u32, k: u32) -> Result<f64> {
        let n = self.problem.nrows();
        Ok(match &self.stored {
            Some(all) => {
                let at = |k: u32| &all[k as usize * n..(k as usize + 1) * n];
                kernel::dot(at(j), at(k))
            }
            None => kernel::dot(&self.values(j)?, &self.values(k)?),
        })
    }

    /// A_jk of one column with all.
    pub fn products(&self, j: u32) -> Result<Vec<f64>> {
        let own = self.values(j)?;
        let n = own.len();
        let one = |k: usize| match &self.stored {
            Some(all) => Ok(kernel::dot(&all[k * n..(k + 1) * n], &own)),
            None => Ok(kernel::dot(&self.made(k)?, &own)),
        };
        (0..self.len()).into_par_iter().map(one).collect()
    }

    /// The columns at some positions as fits take them.
    pub fn terms(&self, members: &[u32]) -> Result<Vec<Term>> {
        let term = |&m: &u32| {
            let Entry { feature, scale, ridge, reach, effort, .. } = self.entries[m as usize];
            Ok(Term { feature, values: self.values(m)?, scale, ridge, reach, effort })
        };
        members.iter().map(term).collect()
    }

    /// The targets as fits take them.
    pub fn targets(&self) -> Targets<'_, 'p, 'a> {
        Targets { problem: self.problem, frame: &self.frame, values: &self.target, total: self.total }
    }

    /// The features of a column and those that it is a combination of, if it is one exactly; an error if not.
    pub fn circuit(&self, own: u32, others: &[u32]) -> Result<Vec<usize>> {
        let terms = self.terms(others)?;
        let places = circuit(&self.terms(&[own])?[0], &terms)?;
        let mut features: Vec<usize> = places.into_iter().map(|a| terms[a].feature).collect();
        features.push(self.feature(own));
        features.sort_unstable();
        Ok(features)
    }

    /// Whether a column is a multiple of one of the others but for their last digits: a subset with both fits no better than with
    /// one.
    pub fn repeats(&self, k: u32, others: &[u32]) -> bool {
        !self.copies.is_empty() && others.iter().any(|&j| self.copies.contains(&(j.min(k), j.max(k))))
    }

    /// Notes the pairs of columns that are copies, and leaves out those that are so to the last digit. An error where two are nearly,
    /// but not exactly, copies.
    pub fn note_copies(&mut self, close: &[(usize, usize)]) -> Result<()> {
        let n = self.problem.nrows();
        for &(j, k) in close {
            if self.is_copy(j) || self.is_copy(k) {
                continue;
            }
            let pair = (j as u32, k as u32);
            let features = self.circuit(pair.1, &[pair.0])?;
            if self.dependent.len() < LISTS {
                self.dependent.push(features);
            }
            let (first, second) = (self.values(pair.0)?, self.values(pair.1)?);
            let same = |sign: f64| first.iter().zip(&second).all(|(a, b)| *a == sign * b);
            if !(same(1.0) || same(-1.0)) {
                self.copies.insert(pair);
                continue;
            }
            self.entries[k].is_copy = true;
            if let Some(all) = &mut self.stored {
                all[k * n..(k + 1) * n].fill(0.0);
            }
        }
        Ok(())
    }
}

impl Entry {
    fn new(problem: &Problem<'_>, feature: usize, unit: &Unit, target: &[f64], length: f64) -> Self {
        // A_jj = 1 with the ridge, which has no rounding of its own.
        let root = problem.coordinate(feature).l2.sqrt();
        let share = 1.0 / (std::f64::consts::SQRT_2 * root * unit.scale).hypot(1.0);
        let scale = unit.scale * share;
        let pull = if length > 0.0 { kernel::dot(&unit.values, target) * share / length } else { 0.0 };
        let (reach, effort) = (unit.reach, unit.effort);
        Self { feature, pull, scale, ridge: (root * scale).powi(2), reach, effort, share, is_copy: false }
    }
}
