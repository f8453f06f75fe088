//! Dual iterative hard thresholding (D-IHT, Liu et al. 2017) for the k-sparse problem (MATH 6.5).

use crate::control::{Monitor, Options, Published, Stop};
use crate::error::Result;
use crate::problem::Problem;
use crate::solver::Outcome;
use crate::solver::published::primal_dual;

/// D_k(α) = −Σ_i ℓ*_i(α_i) + Σ_{l≤k} Ψ_(l) (MATH 6.5): dual ascent on it, keeping the k largest coefficients of the link.
///
/// The loop is that of Algorithm 1 without the pass of T; its bound is D_k, a certificate for the k-sparse problem.
///
/// Its own paper runs it for a number of steps given beforehand and has no rule that the gap must decrease; the paper
/// it is compared in adds ε and ζ. So [`Stop::Literal`] is none of its rules: what stands in for the number of steps is
/// the patient rule.
pub fn solve(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Outcome> {
    let published = Published { stop: Stop::Patient, ..options.published };
    primal_dual::solve(problem, &Options { published, ..options.clone() }, monitor, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;
    use crate::solver::published::ascent::keep_largest;
    use crate::{Bounds, Penalty};

    #[test]
    fn keeps_the_terms_that_lower_the_lagrangian_most() {
        let x = Dense::new(1, 5, vec![1.0; 5]).unwrap();
        let bounds = Bounds::Each(vec![-9.0; 5], vec![9.0, 0.1, 9.0, 9.0, 9.0]);
        let problem = Problem::new(&x, vec![1.0], Penalty::new(0.0, 0.1, 1.0).with_bounds(bounds)).unwrap();
        let tau = [-1.0, -8.0, 2.0, -1.5, 0.05];
        let features = [0, 1, 2, 3, 4];
        let mut beta: Vec<f64> = features.iter().map(|&j| problem.coordinate(j).link(tau[j])).collect();
        keep_largest(&problem, &features, &tau, 2, &mut beta);
        // Feature 1 has the largest correlation, but its bound of 0.1 leaves it little to win: −0.78.
        let kept: Vec<usize> = features.iter().copied().filter(|&j| beta[j] != 0.0).collect();
        assert_eq!(kept, [1, 2]);
        keep_largest(&problem, &features, &tau, 1, &mut beta);
        assert_eq!(beta.iter().position(|b| *b != 0.0), Some(2));
    }

    #[test]
    fn ties_go_to_the_earlier_feature() {
        let x = Dense::new(1, 4, vec![1.0; 4]).unwrap();
        let problem = Problem::new(&x, vec![1.0], Penalty::new(0.0, 0.0, 1.0)).unwrap();
        let mut beta = [0.5; 4];
        keep_largest(&problem, &[0, 1, 2, 3], &[-1.0; 4], 2, &mut beta);
        assert_eq!(beta, [0.5, 0.5, 0.0, 0.0]);
    }
}
