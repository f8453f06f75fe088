//! What the test families share: random problems over the whole product of choices, a reference solver that shares no
//! code with the library, and the enumeration of all subsets.

#![allow(dead_code, unused_imports, reason = "each test binary uses its own part")]

mod enumerate;
mod generate;
mod hostile;
mod reference;
mod twofold;

pub use enumerate::{Enumeration, enumerate};
pub use generate::{Case, Shape, Store, case, compress, plain};
pub use hostile::hostile;
pub use reference::{Convex, Fit, Model, dual_value, loss_at, price};
pub use twofold::Twofold;

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
pub const LOSSES: [Loss; 4] = [Loss::Squared, Loss::Logistic, Loss::SquaredHinge, Loss::Huber { delta: 0.8 }];

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
