//! What a tree is grown for.

use crate::control::Options;
use crate::exact::tuning::Tuning;
use crate::problem::Problem;
use crate::relaxation::workspace::Workspace;

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
    /// Features that nodes are split on before any other, ascending.
    pub first: Vec<usize>,
}

impl<'p, 'a> Setting<'p, 'a> {
    /// The best subsets of a problem without a limit on its size, of at most `size` features.
    pub fn new(problem: &'p Problem<'a>, size: Option<usize>, options: &'p Options, tuning: Tuning) -> Self {
        Self { problem, size, options, tuning, ceiling: f64::INFINITY, first: Vec::new() }
    }

    /// Room for columns, empty yet.
    pub fn workspace(&self) -> Workspace<'p, 'a> {
        Workspace::new(self.problem).within(self.options.memory())
    }
}
