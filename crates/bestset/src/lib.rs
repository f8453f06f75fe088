//! Best subset selection with a proof.
//!
//! The problem, with one scaling convention for every loss and every interface (sums, never means; no ½ on
//! the ridge term; squared loss ½(y − u)²):
//!
//! > minimise  P(β, b) = Σᵢ wᵢ ℓ(xᵢᵀβ + b, yᵢ) + λ0‖β‖₀ + λ1‖β‖₁ + λ2‖β‖₂²,  loⱼ ≤ βⱼ ≤ hiⱼ
//!
//! Every answer carries a [`Certificate`]: P of the answer, R of the convex relaxation, and a lower bound that no choice of
//! features can beat. [`Status::Optimal`] is derived from the gap between them alone.
//!
//! ```
//! use bestset::design::Dense;
//! use bestset::{Options, Penalty, Problem, solve};
//!
//! // Four samples, three features, by columns; y = 2 x₀ plus noise.
//! let x = Dense::new(4, 3, vec![1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 1.0, -1.0, 0.5, 0.5, -0.5, 0.0])?;
//! let y = vec![2.1, 3.9, 6.0, 8.1];
//! let problem = Problem::new(&x, y, Penalty::new(0.5, 0.0, 0.01))?;
//! let solution = solve(&problem, &Options::default())?;
//!
//! assert_eq!(solution.support(), &[0]);
//! assert!(solution.certificate.lower_bound <= solution.objective());
//! # Ok::<(), bestset::Error>(())
//! ```
//!
//! # Symbols
//!
//! | paper | here |
//! |---|---|
//! | X, x_{·j} | [`design::Design`], its columns |
//! | y, l, l\* | [`Problem::y`], [`Loss::value`], [`Loss::conjugate`] |
//! | λ0, λ1, λ2 | [`Penalty`] |
//! | P(β) (eq. primal1) | [`Problem::objective`] |
//! | D(α), Ψ (eq. dual2, psi) | [`Problem::dual_value`], [`Coordinate::psi`] |
//! | 2λ2 η(α) = −Xᵀα | −`tau` |
//! | 2λ2 η0 = 2√(λ0λ2) + λ1 | [`Coordinate::threshold`] |
//! | 𝔅 (eq. bigB) | [`Coordinate::link`] |
//! | T (eq. thresh) | [`Coordinate::threshold_operator`] |
//! | r (Theorem ball), eq. screen_rule | [`screening`] |
//! | 𝒜, ℛ (Algorithm 2) | the active set and the rest of the features |
//! | ω, ε, ζ, c | [`Published`] |
//! | — R(β), ρ: convex envelope | [`Problem::relaxation`], [`Coordinate::envelope`] |
//!
//! # Map
//!
//! - [`design`]: the matrix, touched as a whole only by [`design::Design::correlate`].
//! - [`Loss`], [`Penalty`], [`Problem`], [`Certificate`]: the mathematics.
//! - [`select`]: from samples to a model, with everything that is decided on the way; [`path`], [`sizes`], [`criteria`], [`cv`],
//!   [`groups`], [`model`]: its parts; [`checkpoint`]: work that survives a kill.
//! - [`solve`] with [`Options`] and a [`Method`]: the default, branch and bound, and the paper's algorithms and its rivals
//!   ([`solver::published`]: how the paper was read). The paper is Ren and Qian,
//!   [Dynamic Incremental Optimization for Best Subset Selection](https://arxiv.org/abs/2402.02322).
//! - [`subsets`]: the best subset of every size, each proved.
//! - [`mod@file`]: files that are whole or not there; [`shown`]: bounds with few digits that still are bounds.
//!
//! `docs/ARCHITECTURE.md` in the repository is a map of the inside, `docs/MATH.md` the mathematics with numbered equations.

#[cfg(test)]
extern crate self as bestset;
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
#[allow(unreachable_patterns, reason = "shared with the tests outside, where losses may grow")]
mod common;

mod certificate;
pub mod checkpoint;
mod classes;
mod coherence;
mod control;
pub mod criteria;
pub mod cv;
pub mod design;
mod enumerate;
mod error;
mod exact;
pub mod file;
pub mod groups;
mod kept_out;
#[doc(hidden)]
pub mod kernel;
mod leaps;
mod loss;
pub mod model;
pub mod path;
mod penalty;
mod problem;
mod random;
mod relaxation;
mod search;
pub mod select;
pub mod shown;
pub mod sizes;
mod slight;
mod snapshot;
mod solution;
mod solve;
pub mod solver;
mod subsets;
mod wide;

pub use certificate::Certificate;
pub use classes::{ClassCoefficients, class_probabilities, explained_by_classes, likeliest_classes};
pub use control::{CancelFlag, Limits, Method, Observer, Options, Published, Step, Stop};
pub use error::{Error, Result};
pub use loss::{Baseline, CoupledConjugate, CoupledCurvature, CoupledLoss, Curve, KaplanMeier, RiskGroup, concordance};
pub use loss::{
    Gamma, Huber, Logistic, Loss, NegativeBinomial, Poisson, ScalarLoss, Squared, SquaredHinge, Survival, Ties,
};
pub use penalty::{Bounds, Coordinate, Factors, Penalty};
pub use problem::Problem;
pub use problem::screening;
pub use solution::{Coefficients, Local, Ranked, Screened, Solution, Status, StopRule, TraceRow};
pub use solve::{solve, solve_observed};
pub use subsets::{Criteria, Subset, Subsets, needs_no_ridge, subsets, subsets_of_groups};

/// Proofs as files, which `bestset-check` verifies without this crate (`docs/PROOF.md` in the repository).
pub mod proof {
    pub use crate::exact::proof::{ProofData, ProofSummary, resume_proof, write_proof};
}

/// Not part of the interface and free to change: what the tests, the benches and the generator of simulated data beside this crate
/// need of its inside.
#[doc(hidden)]
pub mod internals {
    pub use crate::control::{Monitor, Thresholds};
    pub use crate::kernel;
    pub use crate::relaxation::active_set::ActiveSet;
    pub use crate::relaxation::convex;
    pub use crate::relaxation::quadratic::{Gram, GramModel, Metric, Quadratic, ResidualModel};
    pub use crate::relaxation::workspace::Workspace;
    pub use crate::search::rules::{Rules, Verdict};
    pub use crate::search::tableau::Tableau;
    pub use crate::solve::solve_by_enumeration;
    pub use crate::subsets::enumerated;
}
