//! Whole groups of features in or out (MATH 9.3–9.6).
//!
//! P(β, β₀) = L(β, β₀) + Σ_g λ0_g [β_g ≠ 0] + λ1‖β‖₁ + λ2‖β‖². With τ = Xᵀα and φ_j⁰ the φ_j without λ0 (MATH 3.1):
//!
//!   Ψ_g(τ) = min(0, λ0_g + Σ_{j ∈ g} φ_j⁰(τ_j)),        D(α) = −Σ ℓ* + Σ_g Ψ_g,
//!   ρ_g(β) = λ1‖β‖₁ + { 2√(λ0_g λ2) ‖β‖₂  if ‖β‖₂ ≤ √(λ0_g/λ2),  λ0_g + λ2‖β‖₂²  otherwise },
//!
//! so that the envelope of a group is that of a single coefficient in the length of β_g, after λ1 has taken its part.
pub(crate) mod relax;
pub(crate) mod search;

use crate::certificate::Certificate;
use crate::control::{Limits, Monitor, Options};
use crate::error::{Error, Result, check_length};
use crate::penalty::{Coordinate, Factors};
use crate::problem::Problem;
use crate::solution::{Coefficients, Solution, Status};

/// Which features belong together, and what each group costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// The features of each group, ascending; groups in the order of their labels.
    pub members: Vec<Vec<usize>>,
    /// The label of each group.
    pub labels: Vec<usize>,
    /// What each group costs, in units of λ0: its size unless given.
    pub prices: Vec<f64>,
}

impl Groups {
    /// Features with the same label form a group; labels may be any numbers in any order. A group costs λ0 times its size.
    pub fn new(labels: &[usize]) -> Self {
        let mut known = labels.to_vec();
        known.sort_unstable();
        known.dedup();
        let members: Vec<Vec<usize>> =
            known.iter().map(|l| (0..labels.len()).filter(|&j| labels[j] == *l).collect()).collect();
        let prices = members.iter().map(|m: &Vec<usize>| m.len() as f64).collect();
        Self { members, labels: known, prices }
    }

    /// The same groups at the given prices, in units of λ0, in the order of the labels.
    pub fn with_prices(mut self, prices: Vec<f64>) -> Result<Self> {
        check_length("group prices", prices.len(), self.members.len())?;
        if let Some(feature) = prices.iter().position(|f| !(*f >= 0.0 && f.is_finite())) {
            return Err(Error::Factor { name: "group price", feature, value: prices[feature] });
        }
        self.prices = prices;
        Ok(self)
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// An answer whose support is made of groups.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupSolution {
    /// The coefficients.
    pub coefficients: Coefficients,
    /// The labels of the groups in the model.
    pub selected: Vec<usize>,
    /// P, R of the relaxation, and the bound.
    pub certificate: Certificate,
    /// How it ended.
    pub status: Status,
    /// The dual point that gives the bound.
    pub dual: Vec<f64>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl From<GroupSolution> for Solution {
    fn from(group: GroupSolution) -> Self {
        let GroupSolution { coefficients, certificate, status, dual, seconds, .. } = group;
        Self { seconds, ..Self::new(coefficients, certificate, status, dual) }
    }
}

/// A problem with groups.
pub(crate) struct Grouped<'p, 'a> {
    pub(crate) problem: &'p Problem<'a>,
    pub(crate) groups: &'p Groups,
}

impl Grouped<'_, '_> {
    /// λ0_g.
    pub(crate) fn price(&self, g: usize) -> f64 {
        self.groups.prices[g] * self.problem.penalty().lambda0
    }

    /// The penalty of feature j once its group is paid for.
    pub(crate) fn selected(&self, j: usize) -> Coordinate {
        self.problem.coordinate(j).selected()
    }

    /// The penalty of the length of β_g, without λ1 (MATH 9.6).
    pub(crate) fn radial(&self, g: usize) -> Coordinate {
        let l2 = self.problem.penalty().lambda2;
        Coordinate { l0: self.price(g), l1: 0.0, l2, lower: f64::NEG_INFINITY, upper: f64::INFINITY }
    }

    /// P of coefficients (MATH 9.3), from scratch.
    pub(crate) fn objective(&self, coefficients: &Coefficients) -> f64 {
        let problem = self.problem;
        let loss = problem.loss_at(coefficients);
        let shrinkage: f64 = coefficients.iter().map(|(j, b)| self.selected(j).value(b)).sum();
        loss + shrinkage + self.chosen(coefficients).iter().map(|&g| self.price(g)).sum::<f64>()
    }

    /// The groups with a non-zero coefficient.
    pub(crate) fn chosen(&self, coefficients: &Coefficients) -> Vec<usize> {
        let nonzero: std::collections::HashSet<usize> =
            coefficients.iter().filter(|c| c.1 != 0.0).map(|c| c.0).collect();
        (0..self.groups.len()).filter(|&g| self.groups.members[g].iter().any(|j| nonzero.contains(j))).collect()
    }

    /// A bound on the curvature of the loss along β_g (MATH 9.7): ‖X_g‖² ≤ Σ‖x_j‖², over μ.
    pub(crate) fn curvature(&self, g: usize) -> f64 {
        let squares: f64 = self.groups.members[g].iter().map(|&j| self.problem.squares(j)).sum();
        squares / self.problem.loss().mu()
    }

    /// D(α) = −Σ_i ℓ*_i(α_i) + Σ_g Ψ_g(X_gᵀα) (MATH 9.4), less the most that rounding can have added.
    ///
    /// The Ψ_j of a problem whose features pay nothing is φ_j⁰, and its bound leaves room for rounding: taking it for the
    /// features of the groups with Ψ_g < 0 alone, at their prices, does the same for groups.
    pub(crate) fn lower_bound(&self, alpha: &[f64]) -> f64 {
        let (problem, groups) = (self.problem, self.groups);
        let (features, tau) = (problem.features(), problem.correlations(alpha));
        let outer = problem.outer_correlations(alpha, &features, &tau, |j| problem.coordinate(j));
        let worth = |g: usize| groups.members[g].iter().map(|&j| self.selected(j).phi(outer[j])).sum::<f64>();
        let worths: Vec<f64> = (0..groups.len()).map(worth).collect();
        let paid: Vec<usize> = (0..groups.len()).filter(|&g| self.price(g) + worths[g] < 0.0).collect();
        let inside: Vec<usize> = paid.iter().flat_map(|&g| groups.members[g].iter().copied()).collect();
        let inside_tau: Vec<f64> = inside.iter().map(|&j| tau[j]).collect();
        let bound = problem.dual_value_with(alpha, &inside, &inside_tau, |k| self.selected(inside[k]));
        let prices: f64 = paid.iter().map(|&g| self.price(g)).sum();
        // Rounding may have put a group on the wrong side of zero: by no more than that of its sum.
        let close = |&g: &usize| worths[g] < -0.5 * self.price(g);
        let size: f64 = (0..groups.len()).filter(close).map(|g| self.price(g)).sum();
        let slack = f64::EPSILON * (features.len() as f64 + 16.0) * (bound.abs() + prices + size);
        if bound.is_finite() { bound + prices - slack } else { bound }
    }
}

/// The best found with whole groups in or out, and a bound that no choice of groups can beat.
///
/// Needs λ2 > 0, and no bounds on the coefficients, no factors of features and no limit on the size: groups have prices.
///
/// ```
/// use bestset::design::Dense;
/// use bestset::groups::{Groups, solve_groups};
/// use bestset::{Options, Penalty, Problem};
///
/// let x = Dense::new(4, 3, vec![1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 1.0, -1.0, 0.5, 0.5, -0.5, 0.0])?;
/// let problem = Problem::new(&x, vec![2.1, 3.9, 6.0, 8.1], Penalty::new(0.2, 0.0, 0.01))?;
/// let found = solve_groups(&problem, &Groups::new(&[7, 3, 7]), &Options::default())?;
///
/// assert_eq!(found.selected, [7]);
/// assert!(found.certificate.lower_bound <= found.certificate.objective);
/// # Ok::<(), bestset::Error>(())
/// ```
pub fn solve_groups(problem: &Problem<'_>, groups: &Groups, options: &Options) -> Result<GroupSolution> {
    validate(problem, groups)?;
    let mut silent = ();
    let limits = Monitor::new(options, &mut silent).limits().clone();
    let grouped = Grouped { problem, groups };
    let run = || -> Result<GroupSolution> {
        let relaxed = relax::minimise(&grouped, None, options, &limits);
        let coefficients = search::search(&grouped, &relaxed, options.warm_start.as_ref(), options, &limits)?;
        Ok(conclude(&grouped, &relaxed, coefficients, options, &limits))
    };
    crate::control::on_threads(options.threads, run)
}

pub(crate) fn conclude(
    grouped: &Grouped<'_, '_>,
    relaxed: &relax::GroupRelaxation,
    coefficients: Coefficients,
    options: &Options,
    limits: &Limits,
) -> GroupSolution {
    let objective = grouped.objective(&coefficients);
    let (relaxation, lower_bound) = (Some(relaxed.value), relaxed.bound);
    let certificate = Certificate::new(objective, relaxation, lower_bound);
    let ended = limits.stop(0).unwrap_or(Status::Converged);
    let selected = grouped.chosen(&coefficients).iter().map(|&g| grouped.groups.labels[g]).collect();
    let status = certificate.status(ended, options.absolute(grouped.problem), options.gap);
    let (dual, seconds) = (relaxed.dual.clone(), limits.seconds());
    GroupSolution { coefficients, selected, certificate, status, dual, seconds }
}

pub(crate) fn validate(problem: &Problem<'_>, groups: &Groups) -> Result<()> {
    let p = problem.ncols();
    check_length("group labels", groups.members.iter().map(Vec::len).sum(), p)?;
    check_length("group prices", groups.prices.len(), groups.len())?;
    let penalty = problem.penalty();
    let unsupported = |reason| Err(Error::Unsupported { method: "groups", reason });
    if penalty.lambda2 <= 0.0 {
        return unsupported("needs lambda2 > 0");
    }
    let plain = (&penalty.price, &penalty.shrinkage) == (&Factors::One, &Factors::One);
    if !plain || penalty.bounds != crate::penalty::Bounds::Free || problem.max_size().is_some() {
        return unsupported("cannot have bounds, factors or a largest size");
    }
    Ok(())
}
