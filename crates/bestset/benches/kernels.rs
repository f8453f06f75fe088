//! Throughput of the kernels everything is made of: `cargo bench -p bestset`.
//!
//! Sizes are those of the paper's simulation (n = 600, p = 3000) and of a sparse design of the same shape with one entry in
//! a hundred; the active set has 256 columns, 64 of them in the support. One thread.

use bestset::design::{Csc, Dense, Design};
use bestset::internals::ActiveSet;
use bestset::internals::Tableau;
use bestset::internals::{Gram, GramModel, Metric, Quadratic, ResidualModel};
use bestset::{Coordinate, Penalty};
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const N: usize = 600;
const P: usize = 3000;
/// One entry of the sparse design in so many is not zero.
const SPARSITY: usize = 100;
const ACTIVE: usize = 256;
const SUPPORT: usize = 64;

fn main() {
    // A second thread would shorten a pass and say nothing about the kernel.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("the system can start a thread");
    pool.install(divan::main);
}

fn numbers(count: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn dense() -> Dense<'static> {
    Dense::new(N, P, numbers(N * P)).expect("finite numbers of the right count")
}

fn narrow() -> Dense<'static, f32> {
    let entries: Vec<f32> = numbers(N * P).into_iter().map(|x| x as f32).collect();
    Dense::new(N, P, entries).expect("finite numbers of the right count")
}

/// Ten times as many rows, so that columns are not all but empty.
fn sparse() -> Csc<'static> {
    let (rows, stored) = (10 * N, 10 * N / SPARSITY);
    let starts: Vec<usize> = (0..=P).map(|j| j * stored).collect();
    let at = |j: usize| (0..stored).map(move |e| (e * SPARSITY + j % SPARSITY) as u32);
    Csc::new(rows, starts, (0..P).flat_map(at).collect::<Vec<u32>>(), numbers(P * stored)).expect("ascending rows")
}

/// τ = Xᵀα over all features.
fn correlate(bencher: Bencher<'_, '_>, design: &dyn Design, entry_bytes: usize) {
    let (features, v) = ((0..design.ncols()).collect::<Vec<_>>(), numbers(design.nrows()));
    let mut out = vec![0.0; features.len()];
    bencher
        .counter(BytesCount::new(design.stored() * entry_bytes))
        .bench_local(|| design.correlate(black_box(&features), black_box(&v), &mut out).expect("memory"));
}

#[divan::bench]
fn correlate_dense_f64(bencher: Bencher<'_, '_>) {
    correlate(bencher, &dense(), 8);
}

#[divan::bench]
fn correlate_dense_f32(bencher: Bencher<'_, '_>) {
    correlate(bencher, &narrow(), 4);
}

/// Values and row indices.
#[divan::bench]
fn correlate_csc(bencher: Bencher<'_, '_>) {
    correlate(bencher, &sparse(), 12);
}

/// The active set of a dense design with everything both models need.
struct Active {
    set: ActiveSet,
    metric: Metric,
    alpha: Vec<f64>,
    coordinates: Vec<Coordinate>,
}

impl Active {
    fn new() -> Self {
        let design = dense();
        let mut set = ActiveSet::new(&design);
        set.extend(&design, &(0..ACTIVE).collect::<Vec<_>>()).expect("memory");
        let metric = Metric::new(&set, None, false);
        // A price at which some exchanges pay and most do not.
        let coordinates = vec![Penalty::new(0.15, 0.02, 1.0).at(0); ACTIVE];
        Self { set, metric, alpha: numbers(N), coordinates }
    }

    fn gram(&self) -> Gram {
        let mut gram = Gram::default();
        gram.extend(&self.set, None, &self.metric);
        gram
    }

    fn gradients(&self) -> Vec<f64> {
        (0..ACTIVE).map(|k| self.set.dot(k, &self.alpha)).collect()
    }
}

/// β_k ← argmin over coordinate k for all k, each with a step: the worst case of a sweep.
fn sweep(model: &mut dyn Quadratic, coordinates: &[Coordinate], beta: &mut [f64]) {
    for k in 0..beta.len() {
        let c = model.curvature(k);
        let new = coordinates[k].prox_envelope(c, c * beta[k] - model.gradient(k));
        let delta = if new == beta[k] { 1e-12 } else { new - beta[k] };
        beta[k] += delta;
        model.step(k, delta);
    }
}

/// Reads and writes the gradient, reads Q.
#[divan::bench]
fn sweep_gram(bencher: Bencher<'_, '_>) {
    let active = Active::new();
    let gram = active.gram();
    let (mut model, mut beta) = (GramModel::new(&gram, active.gradients()), vec![0.0; ACTIVE]);
    bencher.counter(ItemsCount::new(ACTIVE)).bench_local(|| sweep(&mut model, &active.coordinates, &mut beta));
}

/// One inner product and one update of the residual for each column.
#[divan::bench]
fn sweep_residual(bencher: Bencher<'_, '_>) {
    let active = Active::new();
    let mut model = ResidualModel::new(&active.set, &active.metric, None, &active.alpha);
    let mut beta = vec![0.0; ACTIVE];
    bencher.counter(ItemsCount::new(ACTIVE)).bench_local(|| sweep(&mut model, &active.coordinates, &mut beta));
}

/// All inner products of the active set.
#[divan::bench]
fn gram_build(bencher: Bencher<'_, '_>) {
    let active = Active::new();
    bencher.counter(ItemsCount::new(ACTIVE * (ACTIVE + 1) / 2)).bench_local(|| active.gram());
}

/// A fit on the first features of the active set: coefficients and gradients.
fn fit() -> (Active, Gram, Vec<f64>, Vec<f64>) {
    let active = Active::new();
    let (gram, gradients) = (active.gram(), active.gradients());
    let beta = (0..ACTIVE).map(|k| if k < SUPPORT { -gradients[k] / gram.at(k, k) } else { 0.0 }).collect();
    (active, gram, beta, gradients)
}

/// Prices of all exchanges, from nothing.
#[divan::bench]
fn tableau_build(bencher: Bencher<'_, '_>) {
    let (active, gram, beta, gradients) = fit();
    bencher
        .counter(ItemsCount::new(SUPPORT * (ACTIVE - SUPPORT)))
        .bench_local(|| Tableau::new(&gram, &active.coordinates, &beta, &gradients));
}

/// One feature in or out and all exchanges looked at again; items are exchanges.
#[divan::bench]
fn tableau_pivot_and_scan(bencher: Bencher<'_, '_>) {
    let (active, gram, beta, gradients) = fit();
    let mut tableau = Tableau::new(&gram, &active.coordinates, &beta, &gradients).expect("a positive ridge term");
    bencher.counter(ItemsCount::new(SUPPORT * (ACTIVE - SUPPORT))).bench_local(|| {
        tableau.pivot(black_box(SUPPORT));
        tableau.improving(0.0, 1)
    });
}
