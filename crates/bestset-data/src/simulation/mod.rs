//! Simulated data (MATH 8.1, 8.2) and its variants.
//!
//! Rows are draws of N(0, Σ) with Σ_ij = ρ^|i−j|, generated column after column, so that only the previous column is
//! held besides what the caller keeps. Columns are scaled first, then y = Xβ + ε is made from the scaled ones.

mod draw;
mod options;

pub use options::{Scaling, Simulator, SupportSize, Task, Values};

use crate::{Error, Result};
use bestset::Coefficients;
use bestset::design::Dense;
use bestset::internals::kernel;

/// Targets with the truth they were made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Targets, or labels −1 and +1.
    pub y: Vec<f64>,
    /// The true coefficients β*.
    pub truth: Coefficients,
    /// Xβ*, the targets without noise.
    pub signal: Vec<f64>,
    /// Standard deviation of the noise ε; its distribution is Gaussian for targets, logistic for labels.
    pub noise: f64,
}

impl Response {
    /// The coefficients an unpenalised logistic regression would estimate without end of data.
    ///
    /// Labels are the signs of Xβ* + ε with logistic ε of scale s = `noise`·√3/π, which is the same as
    /// P(y = 1) = 1 / (1 + exp(−Xβ*/s)): the logistic model with coefficients β*/s.
    pub fn logistic_truth(&self) -> Coefficients {
        let scale = draw::logistic_scale(self.noise);
        let values = self.truth.values.iter().map(|b| b / scale).collect();
        Coefficients { values, ..self.truth.clone() }
    }
}

/// A simulated data set in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// Number of samples.
    pub n: usize,
    /// Number of features.
    pub p: usize,
    /// X by columns: entry (i, j) is `x[j * n + i]`.
    pub x: Vec<f64>,
    /// Targets and truth.
    pub response: Response,
}

impl Simulation {
    /// X as a design that borrows the data.
    pub fn design(&self) -> Dense<'_> {
        Dense::new(self.n, self.p, self.x.as_slice()).expect("simulated entries are finite and fill the shape")
    }

    /// Targets, or labels −1 and +1.
    pub fn y(&self) -> &[f64] {
        &self.response.y
    }

    /// The true coefficients.
    pub fn truth(&self) -> &Coefficients {
        &self.response.truth
    }
}

impl Simulator {
    /// Makes the data set in memory.
    pub fn generate(&self) -> Result<Simulation> {
        let settings = self.settings();
        let (n, p) = (settings.n, settings.p);
        let mut x = Vec::new();
        let count = n.checked_mul(p).ok_or(Error::Memory { n, p })?;
        x.try_reserve_exact(count).map_err(|_| Error::Memory { n, p })?;
        let response = self.stream(|_, column| x.extend_from_slice(column))?;
        Ok(Simulation { n, p, x, response })
    }

    /// Makes the columns of X one after the other, hands each (j, x_j) to `sink`, and returns targets and truth: for
    /// data that go to disk or into another storage.
    ///
    /// ```
    /// use bestset_data::Simulator;
    ///
    /// let mut narrow: Vec<f32> = Vec::new();
    /// let response = Simulator::wide(0.5).n(50).p(400).seed(1).stream(|_, x| narrow.extend(x.iter().map(|&v| v as f32)))?;
    /// assert_eq!(narrow.len(), 50 * 400);
    /// assert_eq!(response.truth.nonzeros(), 10);
    /// # Ok::<(), bestset_data::Error>(())
    /// ```
    pub fn stream(&self, mut sink: impl FnMut(usize, &[f64])) -> Result<Response> {
        self.validate()?;
        let settings = self.settings();
        let truth = draw::truth(settings);
        let mut signal = vec![0.0; settings.n];
        let mut columns = draw::Columns::new(settings);
        let mut pairs = truth.iter().peekable();
        for j in 0..settings.p {
            let column = columns.advance();
            if let Some((_, b)) = pairs.next_if(|pair| pair.0 == j) {
                kernel::axpy(b, column, &mut signal);
            }
            sink(j, column);
        }
        drop(pairs);
        Ok(draw::respond(settings, truth, signal))
    }
}
