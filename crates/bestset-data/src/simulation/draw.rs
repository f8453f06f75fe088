//! The random draws: columns, truth, noise. One seed, one ChaCha stream each.

use super::Response;
use super::options::{Scaling, Settings, Task, Values};
use bestset::Coefficients;
use bestset::internals::kernel;
use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Open01, StandardNormal, StandardUniform};
use std::f64::consts::PI;

/// Streams of one seed.
enum Stream {
    Design = 0,
    Support = 1,
    Values = 2,
    Noise = 3,
}

fn stream(seed: u64, stream: Stream) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream as u64);
    rng
}

/// The columns in order: raw_j = ρ raw_{j−1} + √(1−ρ²) e_j, then scaled.
pub struct Columns<'a> {
    settings: &'a Settings,
    rng: ChaCha8Rng,
    raw: Vec<f64>,
    scaled: Vec<f64>,
    started: bool,
}

impl<'a> Columns<'a> {
    pub fn new(settings: &'a Settings) -> Self {
        let (raw, scaled) = (vec![0.0; settings.n], vec![0.0; settings.n]);
        Self { settings, rng: stream(settings.seed, Stream::Design), raw, scaled, started: false }
    }

    /// Makes the next column.
    pub fn advance(&mut self) -> &[f64] {
        let rho = if self.started { self.settings.rho } else { 0.0 };
        let fresh = (1.0 - rho * rho).sqrt();
        for z in &mut self.raw {
            *z = rho * *z + fresh * self.rng.sample::<f64, _>(StandardNormal);
        }
        self.started = true;
        match self.settings.scaling {
            Scaling::Raw => &self.raw,
            Scaling::UnitNorm => {
                let norm = kernel::squared_norm(&self.raw).sqrt();
                let inverse = if norm > 0.0 { 1.0 / norm } else { 0.0 };
                self.scaled.iter_mut().zip(&self.raw).for_each(|(s, z)| *s = z * inverse);
                &self.scaled
            }
        }
    }
}

/// True features without replacement, then their values.
pub fn truth(settings: &Settings) -> Coefficients {
    let mut support =
        index::sample(&mut stream(settings.seed, Stream::Support), settings.p, settings.support_size()).into_vec();
    support.sort_unstable();
    let mut rng = stream(settings.seed, Stream::Values);
    let values = support.iter().map(|_| {
        let unit: f64 = rng.sample(StandardUniform);
        match settings.values {
            Values::Uniform => 2.0 * unit - 1.0,
            Values::Signs => (unit - 0.5).signum(),
        }
    });
    let values = values.collect();
    Coefficients { support, values, intercept: 0.0 }
}

/// y from the signal: noise variance var(Xβ) / SNR, or one where the signal does not vary.
pub fn respond(settings: &Settings, truth: Coefficients, signal: Vec<f64>) -> Response {
    let spread = variance(&signal);
    let noise = if spread > 0.0 { (spread / settings.snr).sqrt() } else { 1.0 };
    let mut rng = stream(settings.seed, Stream::Noise);
    let y = signal.iter().map(|&u| match settings.task {
        Task::Regression => u + noise * rng.sample::<f64, _>(StandardNormal),
        Task::Classification => {
            let v: f64 = rng.sample(Open01);
            if u + logistic_scale(noise) * (v / (1.0 - v)).ln() > 0.0 { 1.0 } else { -1.0 }
        }
    });
    let y = y.collect();
    Response { y, truth, signal, noise }
}

/// Scale of the logistic distribution with this standard deviation.
pub fn logistic_scale(deviation: f64) -> f64 {
    deviation * 3f64.sqrt() / PI
}

/// Mean squared distance from the mean.
fn variance(v: &[f64]) -> f64 {
    let n = v.len() as f64;
    let mean = kernel::sum(v) / n;
    v.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n
}
