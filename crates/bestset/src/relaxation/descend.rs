//! Minimises a quadratic model plus separable envelopes: coordinate descent, and Newton steps once the pattern settles.

use crate::control::Limits;
use crate::penalty::Coordinate;
use crate::relaxation::augmented;
use crate::relaxation::gap::gap_share;
use crate::relaxation::quadratic::Quadratic;

/// Sweeps between two looks at the gap.
const SWEEPS: usize = 4;

/// How a minimisation ended.
#[derive(Debug, Clone, Copy)]
pub struct Descent {
    /// Sum of the gap shares over the members.
    pub gap: f64,
    /// Sweeps of coordinate descent.
    pub sweeps: usize,
    /// Newton steps taken.
    pub newton: usize,
}

/// min L̃(β) + Σ_k ρ_k(β_k) over the positions `members` by steps along coefficients (MATH 4.7), until the gap shares (MATH 4.5)
/// sum to at most `tolerance`.
pub fn minimise(
    model: &mut dyn Quadratic,
    coordinates: &[Coordinate],
    beta: &mut [f64],
    members: &[usize],
    tolerance: f64,
    monitor: &Limits,
) -> Descent {
    let mut descent = Descent { gap: f64::INFINITY, sweeps: 0, newton: 0 };
    let (mut stalled, mut attempts, mut least) = (0, 0, f64::INFINITY);
    // A fit on a known support is one linear system away.
    let settled = members.iter().all(|&k| beta[k] != 0.0 && coordinates[k].l0 == 0.0);
    if settled && newton_step(model, coordinates, beta, members) {
        descent.newton += 1;
        descent.gap = gap_of(model, coordinates, beta, members);
        if descent.gap <= tolerance {
            return descent;
        }
        descent.gap = f64::INFINITY;
    }
    loop {
        sweep(model, coordinates, beta, members);
        let support: Vec<usize> = members.iter().copied().filter(|&k| beta[k] != 0.0).collect();
        for _ in 1..SWEEPS {
            sweep(model, coordinates, beta, &support);
        }
        descent.sweeps += SWEEPS;
        let gap =
            members.iter().map(|&k| gap_share(coordinates[k], beta[k], model.gradient(k), model.curvature(k))).sum();
        // Against the least gap met: at the limit of rounding two points may take turns, one above the other, for ever.
        stalled = if gap < 0.9 * least { 0 } else { stalled + 1 };
        least = f64::min(gap, least);
        let slow = gap > 0.05 * descent.gap;
        descent.gap = gap;
        if gap <= tolerance || stalled > 20 || monitor.stop(0).is_some() {
            return descent;
        }
        if slow && descent.newton >= 4 && attempts < 2 {
            attempts += 1;
            descent.gap = augmented::minimise(model, coordinates, beta, members, tolerance, monitor);
            if descent.gap <= tolerance {
                return descent;
            }
        } else if slow && newton_step(model, coordinates, beta, members) {
            descent.newton += 1;
        }
    }
}

/// Σ of the gap shares of the members.
fn gap_of(model: &dyn Quadratic, coordinates: &[Coordinate], beta: &[f64], members: &[usize]) -> f64 {
    members.iter().map(|&k| gap_share(coordinates[k], beta[k], model.gradient(k), model.curvature(k))).sum()
}

/// One pass of β_k ← argmin over coordinate k.
fn sweep(model: &mut dyn Quadratic, coordinates: &[Coordinate], beta: &mut [f64], members: &[usize]) {
    for &k in members {
        let c = model.curvature(k);
        let old = beta[k];
        let new = coordinates[k].prox_envelope(c, c * old - model.gradient(k));
        if new != old {
            beta[k] = new;
            model.step(k, new - old);
        }
    }
}

/// Coordinate descent on L̃(β) + Σ_k π_k(β_k) with the threshold operator T (MATH 6.2): sweeps over all members alternate with
/// sweeps over the support (spacer steps) until the support stays and the last sweep hardly moved.
pub fn threshold_descent(
    model: &mut dyn Quadratic,
    coordinates: &[Coordinate],
    beta: &mut [f64],
    members: &[usize],
    monitor: &Limits,
) {
    let mut moved = f64::INFINITY;
    for _ in 0..200 {
        let (changed, size) = threshold_sweep(model, coordinates, beta, members);
        if (!changed && size <= 1e-4 * moved.min(1e300)) || size == 0.0 || monitor.stop(0).is_some() {
            return;
        }
        moved = if moved.is_finite() { moved } else { size };
        let support: Vec<usize> = members.iter().copied().filter(|&k| beta[k] != 0.0).collect();
        for _ in 1..SWEEPS {
            threshold_sweep(model, coordinates, beta, &support);
        }
    }
}

/// One pass of T; whether the support changed, and Σ c_k δ_k².
fn threshold_sweep(
    model: &mut dyn Quadratic,
    coordinates: &[Coordinate],
    beta: &mut [f64],
    members: &[usize],
) -> (bool, f64) {
    let (mut changed, mut size) = (false, 0.0);
    for &k in members {
        let (c, old) = (model.curvature(k), beta[k]);
        let new = coordinates[k].threshold_operator(c, c * old - model.gradient(k));
        if new != old {
            changed |= (new == 0.0) != (old == 0.0);
            size += c * (new - old) * (new - old);
            beta[k] = new;
            model.step(k, new - old);
        }
    }
    (changed, size)
}

/// A Newton step on the non-zero coefficients with the piece of ρ they lie on (MATH 4.8), with an exact search along it.
fn newton_step(model: &mut dyn Quadratic, coordinates: &[Coordinate], beta: &mut [f64], members: &[usize]) -> bool {
    let free = |k: usize| beta[k] != 0.0 && beta[k] > coordinates[k].lower && beta[k] < coordinates[k].upper;
    let members: Vec<usize> = members.iter().copied().filter(|&k| free(k)).collect();
    if members.is_empty() {
        return false;
    }
    let pieces: Vec<(f64, f64)> = members.iter().map(|&k| coordinates[k].envelope_piece(beta[k])).collect();
    let diagonal: Vec<f64> = pieces.iter().map(|p| p.1).collect();
    let rhs: Vec<f64> = members.iter().zip(&pieces).map(|(&k, p)| -model.gradient(k) - p.0).collect();
    let Some(d) = model.solve(&members, &diagonal, &rhs) else {
        return false;
    };
    let linear: f64 = members.iter().zip(&d).map(|(&k, d)| model.gradient(k) * d).sum();
    let curved = model.aim(&members, &d);
    let t = search(coordinates, beta, &members, &d, linear, curved);
    if t <= 0.0 {
        return false;
    }
    model.advance(t);
    for (&k, d) in members.iter().zip(&d) {
        let new = (beta[k] + t * d).clamp(coordinates[k].lower, coordinates[k].upper);
        let drift = new - (beta[k] + t * d);
        // A coefficient that crosses zero is left at its crossing when the search stopped there.
        let crossed = new.abs() <= 1e-14 * (beta[k].abs() + d.abs());
        let target = if crossed { 0.0 } else { new };
        if crossed || drift != 0.0 {
            let delta = target - (beta[k] + t * d);
            model.step(k, delta);
        }
        beta[k] = target;
    }
    true
}

/// The t in (0, 1] at which L̃(β + tΔ) + Σρ(β + tΔ) is least: bisection on its increasing derivative.
fn search(coordinates: &[Coordinate], beta: &[f64], members: &[usize], d: &[f64], linear: f64, curved: f64) -> f64 {
    let inside = |k: usize, x: f64| x.clamp(coordinates[k].lower, coordinates[k].upper);
    let slope = |t: f64| {
        let penalty = members.iter().zip(d).map(|(&k, d)| {
            let b = beta[k] + t * d;
            if inside(k, b) == b { coordinates[k].envelope_slope(b, *d > 0.0) * d } else { f64::INFINITY }
        });
        linear + t * curved + penalty.sum::<f64>()
    };
    if slope(1.0) <= 0.0 {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if slope(middle) <= 0.0 { low = middle } else { high = middle }
    }
    low
}
