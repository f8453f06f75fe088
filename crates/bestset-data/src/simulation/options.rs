//! Settings of a simulation; `validate` names the bad one.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How many features are true.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupportSize {
    /// A share of p, rounded; at least one feature unless the share is zero.
    Fraction(f64),
    /// A number.
    Count(usize),
}

/// Distribution of the true coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Uniform in [−1, 1].
    Uniform,
    /// −1 or +1, equally likely.
    Signs,
}

/// Scale of the columns from which y is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// Every column has norm one.
    UnitNorm,
    /// Gaussian columns as drawn, of norm near √n: at the same penalties the harder problem.
    Raw,
}

/// What y is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// y = Xβ + ε with Gaussian ε.
    Regression,
    /// y = sign(Xβ + ε) with logistic ε of the same variance: a logistic model.
    Classification,
}

/// Settings of a simulation, changed one by one: `Simulator::paper().n(400).seed(3)`.
///
/// | setting | [`paper`](Simulator::paper) | [`wide`](Simulator::wide) | meaning | range |
/// |---|---|---|---|---|
/// | `n` | 200 | 1000 | samples | ≥ 1 |
/// | `p` | 3000 | 100,000 | features | ≥ 1 |
/// | `rho` | 0.4 | given | correlation ρ^\|i−j\| of features i and j | −1 < ρ < 1 |
/// | `support` | 3 % | 10 | true features, placed at random | at most p |
/// | `values` | uniform | signs | true coefficients | |
/// | `snr` | 20 | 5 | var(Xβ) / var(ε); infinite means no noise | > 0 |
/// | `scaling` | unit norm | unit norm | scale of the columns, before y is made | |
/// | `task` | regression | regression | targets or labels | |
/// | `seed` | 0 | 0 | one seed, one data set | |
///
/// Matrix, true features, their values and noise have random streams of their own: changing `snr` alone leaves X and β
/// as they are, changing `task` alone leaves X, β and the noise level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Simulator(Settings);

/// The settings as read by the generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Settings {
    pub n: usize,
    pub p: usize,
    pub rho: f64,
    pub support: SupportSize,
    pub values: Values,
    pub snr: f64,
    pub scaling: Scaling,
    pub task: Task,
    pub seed: u64,
}

impl Simulator {
    /// The paper's simulation (MATH §8) at its smallest n and highest SNR.
    pub fn paper() -> Self {
        Self(Settings {
            n: 200,
            p: 3000,
            rho: 0.4,
            support: SupportSize::Fraction(0.03),
            values: Values::Uniform,
            snr: 20.0,
            scaling: Scaling::UnitNorm,
            task: Task::Regression,
            seed: 0,
        })
    }

    /// Many features, ten of them true with coefficients ±1, SNR 5.
    pub fn wide(rho: f64) -> Self {
        Self(Settings {
            n: 1000,
            p: 100_000,
            rho,
            support: SupportSize::Count(10),
            values: Values::Signs,
            snr: 5.0,
            ..Self::paper().0
        })
    }

    /// Number of samples.
    pub fn n(mut self, n: usize) -> Self {
        self.0.n = n;
        self
    }

    /// Number of features.
    pub fn p(mut self, p: usize) -> Self {
        self.0.p = p;
        self
    }

    /// Correlation of neighbouring features.
    pub fn rho(mut self, rho: f64) -> Self {
        self.0.rho = rho;
        self
    }

    /// Number of true features.
    pub fn support(mut self, support: SupportSize) -> Self {
        self.0.support = support;
        self
    }

    /// Distribution of the true coefficients.
    pub fn values(mut self, values: Values) -> Self {
        self.0.values = values;
        self
    }

    /// Signal-to-noise ratio var(Xβ) / var(ε).
    pub fn snr(mut self, snr: f64) -> Self {
        self.0.snr = snr;
        self
    }

    /// Scale of the columns.
    pub fn scaling(mut self, scaling: Scaling) -> Self {
        self.0.scaling = scaling;
        self
    }

    /// Targets or labels.
    pub fn task(mut self, task: Task) -> Self {
        self.0.task = task;
        self
    }

    /// Seed of all random streams.
    pub fn seed(mut self, seed: u64) -> Self {
        self.0.seed = seed;
        self
    }

    /// Checks every setting against its range.
    pub fn validate(&self) -> Result<()> {
        let &Settings { n, p, rho, support, snr, .. } = &self.0;
        if n == 0 || p == 0 {
            return Err(Error::Empty { n, p });
        }
        if rho.is_nan() || rho.abs() >= 1.0 {
            return Err(Error::Range { name: "rho", value: rho, range: "between -1 and 1, both excluded" });
        }
        if snr.is_nan() || snr <= 0.0 {
            return Err(Error::Range { name: "snr", value: snr, range: "above 0" });
        }
        match support {
            SupportSize::Fraction(value) if !(0.0..=1.0).contains(&value) => {
                Err(Error::Range { name: "support fraction", value, range: "between 0 and 1" })
            }
            SupportSize::Count(count) if count > p => Err(Error::Support { count, p }),
            _ => Ok(()),
        }
    }

    /// Number of true features these settings give.
    pub fn support_size(&self) -> usize {
        self.0.support_size()
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.0
    }
}

impl Settings {
    pub fn support_size(&self) -> usize {
        match self.support {
            SupportSize::Fraction(0.0) => 0,
            SupportSize::Fraction(share) => ((share * self.p as f64).round() as usize).clamp(1, self.p.max(1)),
            SupportSize::Count(count) => count,
        }
    }
}
