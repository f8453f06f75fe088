//! A problem with groups: what they cost, P, and D of a node, in which groups are in, out or open (MATH 9.4, 11.36).

use crate::error::Result;
use crate::groups::Groups;
use crate::penalty::{Coordinate, Factors};
use crate::problem::Problem;
use crate::solution::Coefficients;

/// What has been decided of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is in, and its price is paid.
    In,
    /// It is out.
    Out,
    /// Nothing.
    Open,
}

/// A node: what has been decided of every group, and what a feature costs on top where the size is limited (MATH 11.5).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'n> {
    pub(crate) choices: &'n [Decision],
    /// ν, and the largest size k that νk is paid back for.
    pub(crate) price: (f64, f64),
}

/// D of a node at one dual point.
pub(crate) struct GroupBound {
    /// D_node(α), less the most that rounding can have added.
    pub(crate) value: f64,
    /// λ0_g + νs_g + Σ_{j∈g} φ_j⁰(τ_j) of every open group, the least that rounding allows; zero for the others.
    pub(crate) worths: Vec<f64>,
}

/// A problem with groups.
#[derive(Clone, Copy)]
pub(crate) struct Grouped<'p, 'a> {
    pub(crate) problem: &'p Problem<'a>,
    pub(crate) groups: &'p Groups,
}

impl Grouped<'_, '_> {
    /// f_g: the price of the group in units of λ0, times the mean of the factors of its features (MATH 9.3).
    pub(crate) fn factor(&self, g: usize) -> f64 {
        match &self.problem.penalty().price {
            Factors::One => self.groups.prices[g],
            Factors::Each(factors) => {
                let members = &self.groups.members[g];
                let mean = members.iter().map(|&j| factors[j]).sum::<f64>() / members.len() as f64;
                self.groups.prices[g] * mean
            }
        }
    }

    /// λ0_g.
    pub(crate) fn price(&self, g: usize) -> f64 {
        self.factor(g) * self.problem.penalty().lambda0
    }

    /// s_g: what a largest size counts for the group, its features; with K classes a feature has K columns.
    pub(crate) fn size(&self, g: usize) -> usize {
        self.groups.members[g].len() / self.problem.classes()
    }

    /// The features of some groups together.
    pub(crate) fn size_of(&self, chosen: &[usize]) -> usize {
        chosen.iter().map(|&g| self.size(g)).sum()
    }

    /// The penalty of feature j once its group is paid for.
    pub(crate) fn selected(&self, j: usize) -> Coordinate {
        self.problem.coordinate(j).selected()
    }

    /// L + Σ_g λ0_g[β_g ≠ 0] + Σ_j(λ1_j|β_j| + λ2_jβ_j²) (MATH 9.3), from scratch.
    pub(crate) fn objective(&self, coefficients: &Coefficients) -> Result<f64> {
        let problem = self.problem;
        let loss = problem.loss_at(coefficients)?;
        let shrinkage: f64 = coefficients.iter().map(|(j, b)| self.selected(j).value(b)).sum();
        Ok(loss + shrinkage + self.chosen(coefficients).iter().map(|&g| self.price(g)).sum::<f64>())
    }

    /// The groups with a non-zero coefficient.
    pub(crate) fn chosen(&self, coefficients: &Coefficients) -> Vec<usize> {
        let nonzero: std::collections::HashSet<usize> =
            coefficients.iter().filter(|c| c.1 != 0.0).map(|c| c.0).collect();
        (0..self.groups.len()).filter(|&g| self.groups.members[g].iter().any(|j| nonzero.contains(j))).collect()
    }

    /// A bound on the square of the group's columns (MATH 9.7): ‖X_g‖² ≤ Σ‖x_j‖².
    pub(crate) fn square(&self, squares: &[f64], g: usize) -> f64 {
        self.groups.members[g].iter().map(|&j| squares[j]).sum()
    }

    /// D_node(α) = −Σℓ* + Σ_open min(0, λ0_g + νs_g + Σφ_j⁰(τ_j)) + Σ_in (λ0_g + νs_g + Σφ_j⁰(τ_j)) − νk (MATH 11.36), less the
    /// most that rounding can have added.
    ///
    /// The Ψ_j of a problem whose features pay nothing is φ_j⁰, and its bound leaves room for rounding: taking it for the
    /// features of the groups that are in or have Ψ_g < 0 alone, at their prices, does the same for groups.
    pub(crate) fn bound(&self, alpha: &[f64], part: &Part<'_>) -> Result<GroupBound> {
        let (problem, groups, (nu, most)) = (self.problem, self.groups, part.price);
        let mut features: Vec<usize> = (0..groups.len())
            .filter(|&g| part.choices[g] != Decision::Out)
            .flat_map(|g| groups.members[g].iter().copied())
            .collect();
        features.sort_unstable();
        let mut tau = vec![0.0; features.len()];
        problem.design().correlate(&features, alpha, &mut tau)?;
        let bounds = problem.lower_bounds()?;
        let outer = bounds.outer_correlations(alpha, &features, &tau, |k| self.selected(features[k]));
        let mut places = vec![usize::MAX; problem.ncols()];
        features.iter().enumerate().for_each(|(k, &j)| places[j] = k);
        let charge = |g: usize| if nu > 0.0 { self.price(g) + nu * self.size(g) as f64 } else { self.price(g) };
        let phi_sum = |g: usize| groups.members[g].iter().map(|&j| self.selected(j).phi(outer[places[j]])).sum::<f64>();
        let is_out = |g: usize| part.choices[g] == Decision::Out;
        let phi_sums: Vec<f64> = (0..groups.len()).map(|g| if is_out(g) { 0.0 } else { phi_sum(g) }).collect();
        let is_in = |g: usize| part.choices[g] == Decision::In;
        let is_paid = |&g: &usize| !is_out(g) && (is_in(g) || charge(g) + phi_sums[g] < 0.0);
        let paid: Vec<usize> = (0..groups.len()).filter(is_paid).collect();
        let inside: Vec<usize> = paid.iter().flat_map(|&g| groups.members[g].iter().copied()).collect();
        let inside_tau: Vec<f64> = inside.iter().map(|&j| tau[places[j]]).collect();
        let bound = bounds.dual_value_with(alpha, &inside, &inside_tau, |k| self.selected(inside[k]));
        let prices: f64 = paid.iter().map(|&g| charge(g)).sum();
        // Rounding may have put a group on the wrong side of zero: by no more than that of its sum.
        let close = |&g: &usize| phi_sums[g] < -0.5 * charge(g);
        let size: f64 = (0..groups.len()).filter(close).map(charge).sum();
        let back = nu * most;
        let slack = f64::EPSILON * (problem.ncols() as f64 + 16.0) * (bound.abs() + prices + size + back);
        let value = if bound.is_finite() { bound + prices - back - slack } else { bound };
        let is_open = |g: usize| part.choices[g] == Decision::Open;
        let worths = (0..groups.len()).map(|g| if is_open(g) { charge(g) + phi_sums[g] } else { 0.0 }).collect();
        Ok(GroupBound { value, worths })
    }
}
