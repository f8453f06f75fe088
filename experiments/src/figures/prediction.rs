//! Figure 4, not in the paper: held-out prediction error of best subset, lasso and relaxed lasso over SNR.
//!
//! The design of Hastie, Tibshirani & Tibshirani (2020): tuning on as many validation samples as training samples, then the
//! exact expected error on new data, ((β̂−β*)ᵀΣ(β̂−β*) + σ²) / σ².

use crate::Result;
use crate::store::Keyed;
use bestset::criteria::refit;
use bestset::design::Dense;
use bestset::internals::kernel;
use bestset::path::{PathOptions, path};
use bestset::{Coefficients, Options, Penalty, Problem, solve};
use bestset_data::{Scaling, Simulator, SupportSize, Values, recovery};
use serde::{Deserialize, Serialize};

/// The horizontal axis: even steps of log SNR.
pub const SNR: [f64; 10] = [0.05, 0.09, 0.14, 0.25, 0.42, 0.71, 1.22, 2.07, 3.52, 6.0];
/// Panels: correlations of neighbouring features.
pub const RHO: [f64; 2] = [0.35, 0.7];
/// What is compared.
pub const METHODS: [&str; 4] = ["best subset", "best subset + ridge", "lasso", "relaxed lasso"];
const N: usize = 100;
const P: usize = 500;
const TRUE: usize = 10;
/// Largest subset on the path.
const LARGEST: usize = 40;
/// λ2 / n of best subset (next to nothing, so that there is a bound), and those of best subset with ridge.
const RIDGE: [f64; 6] = [1e-3, 0.02, 0.1, 0.3, 1.0, 3.0];
const LASSO_POINTS: usize = 50;
const LASSO_RATIO: f64 = 0.01;
/// Shares of the lasso in the relaxed lasso; the rest is the unpenalised fit on its support.
const BLENDS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Replicates unless asked otherwise.
pub const REPLICATES: u64 = 20;

/// A line of `prediction.csv`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the setting.
    pub setting: String,
    /// var(Xβ) / var(ε).
    pub snr: f64,
    /// Correlation of neighbouring features.
    pub rho: f64,
    /// Training samples; as many again choose the tuning parameters.
    pub n: usize,
    /// Features.
    pub p: usize,
    /// Replicate, from one.
    pub replicate: u64,
    /// Seed of the data.
    pub seed: u64,
    /// One of [`METHODS`].
    pub method: String,
    /// Expected squared error on new data over the variance of the noise: 1 is perfect.
    pub test_error: f64,
    /// The same for β = 0.
    pub null_error: f64,
    /// Share of the variance of new targets explained.
    pub explained: f64,
    /// Non-zero coefficients.
    pub nonzeros: usize,
    /// True ones among them.
    pub hits: usize,
    /// Proved relative gap of the answer, where there is one.
    pub relative_gap: Option<f64>,
}

impl Keyed for Row {
    fn key(&self) -> String {
        format!("{}/{}/{}", self.setting, self.replicate, self.method)
    }

    fn allows(&self, _cap: f64) -> bool {
        true
    }
}

/// A point on the axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    snr: f64,
    rho: f64,
    n: usize,
    p: usize,
}

/// All settings.
pub fn settings() -> Vec<Setting> {
    let one = |rho: f64, snr: f64| Setting { name: name(rho, snr), snr, rho, n: N, p: P };
    RHO.iter().flat_map(|&rho| SNR.iter().map(move |&snr| one(rho, snr))).collect()
}

/// The name of a setting.
pub fn name(rho: f64, snr: f64) -> String {
    format!("rho{rho}-snr{snr}")
}

/// A candidate with its proved relative gap.
struct Candidate {
    beta: Coefficients,
    gap: Option<f64>,
}

struct Split {
    x: Vec<f64>,
    y: Vec<f64>,
    held_x: Vec<f64>,
    held_y: Vec<f64>,
    truth: Coefficients,
    noise: f64,
}

/// All methods on one data set.
pub fn run(setting: &Setting, replicate: u64) -> Result<Vec<Row>> {
    let split = draw(setting, replicate)?;
    let design = Dense::new(setting.n, setting.p, split.x.as_slice())?;
    let problem = Problem::new(&design, split.y.as_slice(), Penalty::new(0.0, 0.0, 0.0))?;
    let (lasso, relaxed) = lassos(&problem)?;
    let families = [subsets(&problem, &RIDGE[..1])?, subsets(&problem, &RIDGE)?, lasso, relaxed];
    let rows = METHODS.iter().zip(families).map(|(method, family)| {
        let chosen = family.into_iter().map(|c| (split.validation(&c.beta, setting.n), c));
        let (_, best) = chosen.min_by(|a, b| a.0.total_cmp(&b.0)).ok_or("no candidate")?;
        Ok(split.row(setting, replicate, method, &best))
    });
    rows.collect()
}

/// One simulation of twice the rows: the first half trains, the second half tunes.
fn draw(setting: &Setting, replicate: u64) -> Result<Split> {
    let simulator = Simulator::paper().n(2 * setting.n).p(setting.p).rho(setting.rho).snr(setting.snr);
    let simulator = simulator.support(SupportSize::Count(TRUE)).values(Values::Signs).scaling(Scaling::Raw);
    let (mut x, mut held_x) = (Vec::new(), Vec::new());
    let response = simulator.seed(replicate).stream(|_, column| {
        x.extend_from_slice(&column[..setting.n]);
        held_x.extend_from_slice(&column[setting.n..]);
    })?;
    let held_y = response.y[setting.n..].to_vec();
    let y = response.y[..setting.n].to_vec();
    Ok(Split { x, y, held_x, held_y, truth: response.truth, noise: response.noise })
}

/// Answers along λ0 for each of these λ2 / n.
fn subsets(problem: &Problem<'_>, ridge: &[f64]) -> Result<Vec<Candidate>> {
    let n = problem.nrows() as f64;
    let lambda2: Vec<f64> = ridge.iter().map(|r| r * n).collect();
    let problem = problem.with_penalty(Penalty::new(0.0, 0.0, lambda2[0]))?;
    let found = path(&problem, &PathOptions { lambda2, max_size: Some(LARGEST), ..PathOptions::default() })?;
    let candidate = |point: bestset::path::Point| {
        let gap = Some(point.solution.certificate.relative_gap());
        Candidate { beta: point.solution.coefficients, gap }
    };
    Ok(found.points.into_iter().map(candidate).collect())
}

/// The lasso along λ1, and its blends with the unpenalised fits on its supports.
fn lassos(problem: &Problem<'_>) -> Result<(Vec<Candidate>, Vec<Candidate>)> {
    let features: Vec<usize> = (0..problem.ncols()).collect();
    let mut tau = vec![0.0; features.len()];
    problem.design().correlate(&features, problem.y(), &mut tau)?;
    let largest = tau.iter().fold(0.0, |m: f64, t| m.max(t.abs()));
    let (mut plain, mut relaxed) = (Vec::new(), Vec::new());
    let mut options = Options { relaxation_gap: 1e-7, ..Options::default() };
    for k in 0..LASSO_POINTS {
        let lambda1 = largest * LASSO_RATIO.powf(k as f64 / (LASSO_POINTS - 1) as f64);
        let solution = solve(&problem.with_penalty(Penalty::new(0.0, lambda1, 0.0))?, &options)?;
        let beta = solution.coefficients;
        options.warm_start = Some(beta.clone());
        let free = match beta.support.len() {
            size if size > 0 && size < problem.nrows() => refit(problem, &beta.support, &Options::default())?,
            _ => beta.clone(),
        };
        relaxed.extend(BLENDS.iter().map(|&share| Candidate { beta: blend(&beta, &free, share), gap: None }));
        plain.push(Candidate { beta, gap: None });
    }
    Ok((plain, relaxed))
}

/// share · a + (1 − share) · b on the support of a.
fn blend(a: &Coefficients, b: &Coefficients, share: f64) -> Coefficients {
    let at = |j: usize| b.support.binary_search(&j).map_or(0.0, |k| b.values[k]);
    Coefficients::from_pairs(a.iter().map(|(j, v)| (j, share * v + (1.0 - share) * at(j))).collect(), 0.0)
}

impl Split {
    /// Squared error on the validation half.
    fn validation(&self, beta: &Coefficients, n: usize) -> f64 {
        let mut residual = self.held_y.clone();
        beta.iter().for_each(|(j, b)| kernel::axpy(-b, &self.held_x[j * n..(j + 1) * n], &mut residual));
        kernel::squared_norm(&residual)
    }

    fn row(&self, setting: &Setting, replicate: u64, method: &str, best: &Candidate) -> Row {
        let variance = self.noise * self.noise;
        let risk = |beta: &Coefficients| excess(beta, &self.truth, setting.rho) / variance + 1.0;
        let (test_error, null_error) = (risk(&best.beta), risk(&Coefficients::default()));
        let found = recovery(&self.truth.support, &best.beta.support);
        Row {
            setting: setting.name.clone(),
            snr: setting.snr,
            rho: setting.rho,
            n: setting.n,
            p: setting.p,
            replicate,
            seed: replicate,
            method: method.to_owned(),
            test_error,
            null_error,
            explained: 1.0 - test_error / null_error,
            nonzeros: best.beta.nonzeros(),
            hits: found.hits,
            relative_gap: best.gap,
        }
    }
}

/// (a − b)ᵀ Σ (a − b) with Σ_ij = ρ^|i−j|.
fn excess(a: &Coefficients, b: &Coefficients, rho: f64) -> f64 {
    let difference: Vec<(usize, f64)> = a.iter().chain(b.iter().map(|(j, v)| (j, -v))).collect();
    let row =
        |&(i, u): &(usize, f64)| difference.iter().map(|&(j, v)| u * v * rho.powi(i.abs_diff(j) as i32)).sum::<f64>();
    difference.iter().map(row).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_the_truth_is_the_noise_and_correlated_features_make_up_for_each_other() {
        let truth = Coefficients::from_pairs(vec![(3, 1.0)], 0.0);
        assert_eq!(excess(&truth, &truth, 0.5), 0.0);
        assert_eq!(excess(&Coefficients::default(), &truth, 0.5), 1.0);
        let neighbour = Coefficients::from_pairs(vec![(4, 1.0)], 0.0);
        assert!((excess(&neighbour, &truth, 0.5) - 1.0).abs() < 1e-15, "1 + 1 − 2·0.5");
    }

    #[test]
    fn every_method_beats_nothing_when_there_is_little_noise() {
        let setting = Setting { name: "x".into(), snr: 20.0, rho: 0.3, n: 60, p: 40 };
        let rows = run(&setting, 1).unwrap();
        assert_eq!(rows.len(), METHODS.len());
        for row in &rows {
            assert!(row.test_error >= 1.0 && row.test_error < 0.5 * row.null_error, "{row:?}");
            assert!(row.hits >= 8, "{row:?}");
        }
        assert!(rows[0].relative_gap.is_some_and(|gap| (0.0..1.0).contains(&gap)));
    }

    #[test]
    fn blends_go_from_the_free_fit_to_the_lasso() {
        let (a, b) = (Coefficients::from_dense(&[1.0, 0.0, 2.0], 0.0), Coefficients::from_dense(&[3.0, 0.0, 4.0], 0.0));
        assert_eq!(blend(&a, &b, 1.0), a);
        assert_eq!(blend(&a, &b, 0.0), b);
        assert_eq!(blend(&a, &b, 0.5).values, [2.0, 3.0]);
    }
}
