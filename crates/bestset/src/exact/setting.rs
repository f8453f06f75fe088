//! What a tree is grown for.

use crate::control::Options;
use crate::exact::tuning::Tuning;
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::relaxation::workspace::Workspace;

/// Subsets that add m₀ features or more to an answer pay for all of them (MATH 13.11): features outside of it cost ψλ0_j in a node, with a ψ of its
/// own, and (1 − ψ) times what so many cost at least is paid once.
#[derive(Clone, Copy)]
pub struct Added {
    /// The sum of the m₀ least prices outside the answer, at the most.
    pub paid: f64,
    /// The least ψ; the largest is one, for nodes that have added enough already.
    pub least: f64,
}

impl Added {
    /// (1 − ψ) times what m₀ features cost at least.
    pub fn saved(self, psi: f64) -> f64 {
        (1.0 - psi) * self.paid
    }
}

/// The penalty of a feature in a node with the multiplier: λ0 + ν (MATH 11.5) or, among subsets that add some, ψλ0 outside the answer (MATH 13.11).
pub fn priced(alone: Coordinate, multiplier: f64, added: Option<Added>, is_of_answer: impl Fn() -> bool) -> Coordinate {
    match added {
        None => alone.priced(multiplier),
        Some(_) if is_of_answer() => alone,
        Some(_) => Coordinate { l0: multiplier * alone.l0, ..alone },
    }
}

/// The problem, what is asked of its solution, and how the search goes about it.
#[derive(Clone)]
pub struct Setting<'p, 'a> {
    /// The problem without the limit on its size.
    pub problem: &'p Problem<'a>,
    /// That limit: the k of MATH 1.6.
    pub size: Option<usize>,
    /// Tolerances, limits and the number of subsets asked for.
    pub options: &'p Options,
    /// What steers the search.
    pub tuning: Tuning,
    /// P above which no subset is of interest, +∞ where all are.
    pub ceiling: f64,
    /// Features that nodes are split on before any other, ascending: those of the answer.
    pub first: Vec<usize>,
    /// Where it is about subsets that add some to those.
    pub added: Option<Added>,
}

impl<'p, 'a> Setting<'p, 'a> {
    /// The best subsets of a problem without a limit on its size, of at most `size` features.
    pub fn new(problem: &'p Problem<'a>, size: Option<usize>, options: &'p Options, tuning: Tuning) -> Self {
        Self { problem, size, options, tuning, ceiling: f64::INFINITY, first: Vec::new(), added: None }
    }

    /// The penalty of a feature in a node with the multiplier.
    pub fn priced(&self, j: usize, multiplier: f64) -> Coordinate {
        priced(self.problem.coordinate(j), multiplier, self.added, || self.first.binary_search(&j).is_ok())
    }

    /// The penalty of the features outside the answer in a node with the multiplier, where it is the same for all of them.
    pub fn priced_outside(&self, multiplier: f64) -> Coordinate {
        priced(self.problem.coordinate(0), multiplier, self.added, || false)
    }

    /// A threshold that none is below in a node with the multiplier, nor in one with a larger ν; zero where penalties differ between features.
    pub fn least_threshold(&self, multiplier: f64) -> f64 {
        match self.added {
            Some(_) if self.problem.penalty().is_uniform() => self.priced_outside(multiplier).least_slope(),
            _ => self.problem.least_threshold(),
        }
    }

    /// Room for columns, empty yet.
    pub fn workspace(&self) -> Workspace<'p, 'a> {
        Workspace::new(self.problem).within(self.options.memory())
    }
}
