//! The figures, one file each: their settings and how their data are drawn.

pub mod news20;
pub mod prediction;
pub mod quality;
pub mod simulation;

use crate::Result;
use bestset::Coefficients;
use bestset_data::{Matrix, Simulator};

/// A point on a figure's axes: where data come from and the problem posed on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Its name, for filters and files.
    pub name: String,
    /// var(Xβ) / var(ε); NaN for data that are not simulated.
    pub snr: f64,
    /// Correlation of neighbouring features; NaN likewise.
    pub rho: f64,
    /// Samples.
    pub n: usize,
    /// Features.
    pub p: usize,
    /// λ0, λ1, λ2.
    pub lambda: [f64; 3],
    /// Size for D-IHT.
    pub k: usize,
}

/// One data set.
#[derive(Debug)]
pub struct Data {
    /// X.
    pub x: Matrix,
    /// Targets.
    pub y: Vec<f64>,
    /// What they were made from, if that is known.
    pub truth: Option<Coefficients>,
    /// Replicate, from one.
    pub replicate: u64,
    /// Seed.
    pub seed: u64,
}

/// A figure whose runs are those of the algorithms compared.
pub trait Figure {
    /// The name of its files.
    fn name(&self) -> &'static str;

    /// Its settings, in the order they are run.
    fn settings(&self) -> Vec<Setting>;

    /// Replicates of this setting, unless asked otherwise.
    fn replicates(&self, setting: &Setting) -> u64;

    /// The data of a replicate; the same seed gives the same data.
    fn draw(&self, setting: &Setting, replicate: u64) -> Result<Data>;
}

/// Simulated data; the seed is the replicate.
fn simulated(simulator: Simulator, replicate: u64) -> Result<Data> {
    let data = simulator.seed(replicate).generate()?;
    let (rows, columns) = (data.n, data.p);
    let x = Matrix::Dense { rows, columns, data: data.x };
    Ok(Data { x, y: data.response.y, truth: Some(data.response.truth), replicate, seed: replicate })
}
