//! What the tests share: one oracle, one set of generators, one way to hold a claim against the truth. The crate's unit tests use it
//! too.
//!
//! | file | what | serves for |
//! |---|---|---|
//! | `case` | [`Case`]: a problem in plain numbers, with the storage and views it is put into | everything |
//! | `reference` | [`Model`]: a solver of convex problems that shares no code with the library and proves its own gap | the oracle |
//! | `enumerate` | [`enumerate`], [`subset_costs`], [`brackets`], [`cost`]: all subsets, choices of groups, or one subset, fitted by the reference; [`relaxed`]: the minimum of R | P*, R*, and what every rule and bound claims |
//! | `least_squares` | [`twofold_fits`], [`twofold_sizes`]: all subsets in twice the precision | leaps and bounds, whose claims hold to the last digit |
//! | `classes` | [`ClassCase`]: many classes, the loss from its definition, a fit of its own | multinomial |
//! | `survival` | [`CoxCase`]: survival times, and the partial likelihood from its definition | Cox |
//! | `loops` | [`minimum`], [`by_loops`], [`descend`], [`genotypes`]: what tests would take long for | penalties, enumeration, exchanges, genotypes |
//! | `twofold` | [`Twofold`]: numbers of 32 digits | what rounding does to a bound |
//! | `real_data` | [`data_file`], [`table`]: files beside the project | answers that are known |
//! | `claims` | [`holds`]: bound ≤ P* ≤ objective, and `optimal` only if it is | every answer |
//! |  | [`sizes_hold`]: the same of the best subset of every size | leaps and bounds, enumeration |
//! |  | [`share`]: how many problems are drawn | tests that draw many |
//! |  | [`seeds`], [`Tally`]: which seeds an attack draws, what came of them | the `attack` modules, `make attack` |
//!
//! | generator | what it draws |
//! |---|---|
//! | [`case`] | the product of losses, storages, views, bounds, weights and intercepts, within a [`Shape`] |
//! | [`hostile`] | few samples, stand-ins, scales of eight orders, factors, offsets, weights of zero, boxes |
//! | [`dependent`], [`nearly_dependent`] | multiples and differences of columns, exactly or nearly |
//! | [`tangled`], [`chain`] | correlated columns whose local minima are not best; a chain of stand-ins |
//! | [`awkward_columns`] | least squares with columns far from zero, tiny, huge, zero, near copies, of two values |
//! | [`near_copies`] | least squares with columns alike to five digits, copies, constants |
//! | [`wide_columns`] | least squares with fewer samples than features, columns of all these kinds |
//! | [`few_samples`], [`noise`] | least squares with p ≥ n; without signal, so that the tree is deep |
//!
//! A generator draws from the seed it is given and nothing else: a failure names its seed or trial and comes back with it.

#![allow(dead_code, unused_imports, missing_docs, reason = "each program of tests uses its own part, and nobody else")]

mod case;
mod claims;
mod classes;
mod enumerate;
mod generate;
mod hostile;
mod least_squares;
mod loops;
mod real_data;
mod reference;
mod survival;
mod twofold;
mod watched;

pub use case::{Case, Store, compress, plain, sized};
pub use claims::{Tally, holds, holds_between, seeds, share, sizes_hold};
pub use classes::ClassCase;
pub use enumerate::{
    Enumeration, brackets, cost, enumerate, fit, least_of, members, refit, relaxed, subset_costs, subset_fits,
};
pub use generate::{Shape, case};
pub use hostile::{chain, dependent, hostile, nearly_dependent, tangled};
pub use least_squares::{
    awkward_columns, few_samples, least_of_sizes, near_copies, noise, twofold_fits, twofold_fits_beyond, twofold_sizes,
    wide_columns,
};
pub use loops::{by_loops, descend, envelope, genotypes, minimum, pi, smooth};
pub use real_data::{Table, data_file, table};
pub use reference::{Convex, Fit, Model, dual_value, loss_at, price};
pub use survival::{CoxCase, survival_case};
pub use twofold::Twofold;
pub use watched::Watched;

pub use rand::{RngExt, SeedableRng};
pub use rand_chacha::ChaCha8Rng;

use bestset::{Coefficients, Loss};

/// A generator with a fixed seed.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A standard normal number.
pub fn normal(rng: &mut ChaCha8Rng) -> f64 {
    rng.sample(rand_distr::StandardNormal)
}

/// 10^u with u uniform in the range.
pub fn power(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    10f64.powf(rng.random_range(low..high))
}

/// One of the given choices.
pub fn pick<T: Copy>(rng: &mut ChaCha8Rng, choices: &[T]) -> T {
    choices[rng.random_range(0..choices.len())]
}

/// All losses; the Huber δ is small enough to leave residuals on both sides of it.
pub const LOSSES: [Loss; 7] = [
    Loss::Squared,
    Loss::Logistic,
    Loss::SquaredHinge,
    Loss::Huber { delta: 0.8 },
    Loss::Poisson,
    Loss::Gamma,
    Loss::NegativeBinomial { theta: 1.5 },
];

/// Those of them that the published algorithms are stated for: one μ, whatever the target.
pub const UNIFORM: [Loss; 4] = [LOSSES[0], LOSSES[1], LOSSES[2], LOSSES[3]];

/// Makes of signals the targets that a loss has: labels of both classes, the first two of them unlike; counts of which the first is
/// not zero, amounts, both of the size of e^signal, now and then one that is far beyond.
pub fn respond(rng: &mut ChaCha8Rng, loss: Loss, signal: &mut [f64]) {
    if loss.is_classification() {
        signal.iter_mut().for_each(|y| *y = if *y > 0.0 { 1.0 } else { -1.0 });
        (signal[0], signal[1]) = (1.0, -1.0);
    } else if loss.has_log_link() {
        for y in signal.iter_mut() {
            let mean = y.clamp(-3.0, 5.0).exp();
            let is_amount = loss == Loss::Gamma;
            *y = if is_amount {
                mean * power(rng, -1.0, 0.5)
            } else {
                (mean + mean.sqrt() * normal(rng)).round().max(0.0)
            };
        }
        signal[0] = if rng.random_bool(0.1) { 1e3 } else { signal[0].max(1.0) };
    }
}

/// Fails unless |a − b| ≤ tolerance; infinities of one sign are equal, NaN is equal to nothing.
#[track_caller]
pub fn assert_close(a: f64, b: f64, tolerance: f64, context: &dyn std::fmt::Debug) {
    assert!(a == b || (a - b).abs() <= tolerance, "{a} is not {b} within {tolerance}: {context:?}");
}

/// Random coefficients within the bounds of the case, of the size its columns call for.
pub fn random_coefficients(case: &Case, rng: &mut ChaCha8Rng, share: f64) -> Coefficients {
    let mut beta = vec![0.0; case.p];
    for (j, b) in beta.iter_mut().enumerate() {
        if rng.random_bool(share) {
            let (lower, upper) = case.penalty.bounds.at(j);
            let size = case.typical_size(j);
            *b = (normal(rng) * size * power(rng, -1.0, 0.5)).clamp(lower, upper);
        }
    }
    Coefficients::from_dense(&beta, if case.intercept { normal(rng) } else { 0.0 })
}
