//! Moves of one feature — add, drop, exchange — priced for all pairs from one matrix of inner products.
//!
//! At the fit β on a support S, with A = Q_SS + 2λ2 I, a_i = (A⁻¹)_ii, q_j = −∂q/∂β_j, v_j = A⁻¹Q_Sj and
//! s_j = Q_jj + 2λ2 − Q_Sjᵀ v_j, refitting everything else:
//!
//! - dropping i raises the fit by β_i²/(2 a_i);
//! - adding j lowers it by (|q_j| − λ1)₊² / (2 s_j);
//! - after i is dropped, q_j becomes q_j + v_ij β_i/a_i and s_j becomes s_j + v_ij²/a_i.
//!
//! Exact for the quadratic model while signs stay and no bound binds; the caller refits before it believes a price.

use super::quadratic::Gram;
use crate::penalty::Coordinate;
use faer::Mat;
use faer::linalg::solvers::{DenseSolveCore, Solve};

/// A change of the support; positions are those of the active set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    /// The feature that leaves.
    pub drop: Option<usize>,
    /// The feature that enters.
    pub add: Option<usize>,
}

/// What each support feature costs to drop, and how far its removal moves the other correlations.
pub struct Removal {
    /// β_i²/(2 a_i): the fit's loss without i.
    pub cost: Vec<f64>,
    /// ‖x_jᵀ‖-free bound on |change of q_j|: the length of the vector whose product with x_j is the change.
    pub reach: Vec<f64>,
}

/// Prices moves at a fit on the support.
pub struct Prices<'a> {
    gram: &'a Gram,
    coordinates: &'a [Coordinate],
    gradients: &'a [f64],
    beta: &'a [f64],
    support: &'a [usize],
    factor: faer::linalg::solvers::Llt<f64>,
    /// (A⁻¹)_ii.
    inverse: Vec<f64>,
    /// Columns A⁻¹ e_i.
    columns: Mat<f64>,
}

impl<'a> Prices<'a> {
    /// Factors A; `None` when it is singular (λ2 = 0 with dependent columns).
    pub fn new(
        gram: &'a Gram,
        coordinates: &'a [Coordinate],
        gradients: &'a [f64],
        beta: &'a [f64],
        support: &'a [usize],
    ) -> Option<Self> {
        let factor = gram.factor(support, |a| 2.0 * coordinates[support[a]].l2)?;
        let columns = factor.inverse();
        let inverse = (0..support.len()).map(|a| columns[(a, a)]).collect();
        Some(Self { gram, coordinates, gradients, beta, support, factor, inverse, columns })
    }

    /// min over b of ½ s b² − q b + λ1|b| on the bounds, as a positive gain.
    fn gain(coordinate: Coordinate, q: f64, s: f64) -> f64 {
        let pull = q.abs() - coordinate.l1;
        let reach = if q > 0.0 { coordinate.upper } else { -coordinate.lower };
        if pull <= 0.0 || reach <= 0.0 || s <= 0.0 {
            return 0.0;
        }
        let size = (pull / s).min(reach);
        size * (pull - 0.5 * s * size)
    }

    /// The moves that lower P by more than `margin` according to the model, best first, at most `most`.
    pub fn improving(&self, candidates: &[usize], margin: f64, most: usize) -> Vec<(f64, Move)> {
        let (m, k) = (self.support.len(), candidates.len());
        let mut found: Vec<(f64, Move)> = Vec::new();
        let cost: Vec<f64> = (0..m).map(|a| 0.5 * self.beta[self.support[a]].powi(2) / self.inverse[a]).collect();
        for (a, &i) in self.support.iter().enumerate() {
            let change = cost[a] - self.coordinates[i].l0;
            if change < -margin {
                found.push((change, Move { drop: Some(i), add: None }));
            }
        }
        let mut v = Mat::from_fn(m, k, |a, e| self.gram.at(self.support[a], candidates[e]));
        let cross = v.clone();
        if m > 0 {
            self.factor.solve_in_place(v.as_mut());
        }
        for (e, &j) in candidates.iter().enumerate() {
            let coordinate = self.coordinates[j];
            let q = -self.gradients[j];
            let explained: f64 = (0..m).map(|a| cross[(a, e)] * v[(a, e)]).sum();
            let s = (self.gram.at(j, j) + 2.0 * coordinate.l2 - explained).max(0.0);
            let full = self.gram.at(j, j) + 2.0 * coordinate.l2;
            if s <= 1e-12 * full {
                continue;
            }
            let change = coordinate.l0 - Self::gain(coordinate, q, s);
            if change < -margin {
                found.push((change, Move { drop: None, add: Some(j) }));
            }
            for a in 0..m {
                let ratio = v[(a, e)] / self.inverse[a];
                let i = self.support[a];
                let gain = Self::gain(coordinate, q + ratio * self.beta[i], s + ratio * v[(a, e)]);
                let change = cost[a] - gain + coordinate.l0 - self.coordinates[i].l0;
                if change < -margin {
                    found.push((change, Move { drop: Some(i), add: Some(j) }));
                }
            }
        }
        found.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.drop.cmp(&y.1.drop)).then(x.1.add.cmp(&y.1.add)));
        found.truncate(most);
        found
    }

    /// Cost and reach of dropping each support feature: removing i changes q_j by x̃_jᵀw_i with
    /// w_i = (β_i/a_i) H^½X̃_S A⁻¹e_i, and ‖w_i‖² = (β_i/a_i)² (A⁻¹e_i)ᵀ Q_SS (A⁻¹e_i).
    pub fn removal(&self) -> Removal {
        let m = self.support.len();
        let cost = (0..m).map(|a| 0.5 * self.beta[self.support[a]].powi(2) / self.inverse[a]).collect();
        let reach = (0..m).map(|a| {
            // (A⁻¹e)ᵀQ(A⁻¹e) = (A⁻¹e)ᵀ(A − 2λ2)(A⁻¹e) = a_i − 2λ2‖A⁻¹e‖².
            let ridge: f64 =
                (0..m).map(|b| 2.0 * self.coordinates[self.support[b]].l2 * self.columns[(b, a)].powi(2)).sum();
            let length = (self.inverse[a] - ridge).max(0.0).sqrt();
            (self.beta[self.support[a]] / self.inverse[a]).abs() * length
        });
        Removal { cost, reach: reach.collect() }
    }
}
