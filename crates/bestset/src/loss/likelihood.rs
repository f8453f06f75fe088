//! What a loss is to a statistician: the mean that a margin stands for, and the likelihood beside the deviance.

use crate::loss::Loss;

impl Loss {
    /// The mean of y at the margin u (MATH 2.16): e^u with the log link, the probability of +1 for the logistic loss, u itself
    /// for the others.
    pub fn mean(self, u: f64) -> f64 {
        match self {
            Self::Poisson | Self::Gamma | Self::NegativeBinomial { .. } => u.exp(),
            Self::Logistic => 1.0 / (1.0 + (-u).exp()),
            Self::Squared | Self::SquaredHinge | Self::Huber { .. } | Self::Cox { .. } | Self::Multinomial { .. } => u,
        }
    }

    /// −2 log-likelihood (MATH 10.11) of samples (y, weight) whose deviance is `deviance` and weights sum to `count`; where the
    /// family has a dispersion it is deviance/count, as `logLik` of R takes it. `None` where the loss is no likelihood.
    pub fn minus_twice_log_likelihood(
        self,
        deviance: f64,
        count: f64,
        samples: impl Iterator<Item = (f64, f64)>,
    ) -> Option<f64> {
        let constant = |term: &dyn Fn(f64) -> f64| samples.filter(|s| s.1 > 0.0).map(|(y, w)| w * term(y)).sum::<f64>();
        let spread = deviance / count;
        match self {
            Self::Squared => Some(count * (1.0 + (2.0 * std::f64::consts::PI * spread).ln())),
            Self::Logistic | Self::Multinomial { .. } => Some(deviance),
            // y log y − y − log y!.
            Self::Poisson => Some(deviance - 2.0 * constant(&|y| saturated_count(y))),
            Self::NegativeBinomial { theta } => {
                let choices = |y: f64| log_gamma(y + theta) - log_gamma(theta) - log_gamma(y + 1.0);
                let at_mean = |y: f64| {
                    theta * (theta / (theta + y)).ln() + if y > 0.0 { y * (y / (theta + y)).ln() } else { 0.0 }
                };
                Some(deviance - 2.0 * constant(&|y| choices(y) + at_mean(y)))
            }
            Self::Gamma => {
                let shape = 1.0 / spread;
                let own = shape * shape.ln() - shape - log_gamma(shape);
                Some(shape * deviance - 2.0 * count * own + 2.0 * constant(&f64::ln))
            }
            Self::SquaredHinge | Self::Huber { .. } | Self::Cox { .. } => None,
        }
    }
}

/// y log y − y − log Γ(y + 1), the log-likelihood of a count whose mean is itself.
fn saturated_count(y: f64) -> f64 {
    if y > 0.0 { y * y.ln() - y - log_gamma(y + 1.0) } else { 0.0 }
}

/// log Γ(x), x > 0: Stirling's series from 15 on, where seven terms leave less than 1e-17, and Γ(x) = Γ(x + k)/(x ⋯ (x + k − 1))
/// below.
pub(crate) fn log_gamma(x: f64) -> f64 {
    const SERIES: [f64; 7] =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
    let (mut x, mut product) = (x, 1.0);
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let tail = SERIES.iter().rev().fold(0.0, |sum, c| sum * square + c) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + tail - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_gamma_by_its_recursion_and_factorials() {
        let factorial: f64 = (1..=20).map(|k| f64::from(k).ln()).sum();
        assert!((log_gamma(21.0) - factorial).abs() < 1e-13 * factorial);
        assert!((log_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-14);
        for x in [1e-8, 0.3, 1.0, 2.0, 7.7, 14.999, 15.0, 123.4, 1e8] {
            let (next, own) = (log_gamma(x + 1.0), log_gamma(x) + f64::ln(x));
            assert!((next - own).abs() <= 1e-13 * (1.0 + next.abs()), "{x}: {next} {own}");
        }
    }
}
