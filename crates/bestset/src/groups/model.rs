//! The quadratic model of the loss at a point, with the penalties of the groups in play, and its minimum (MATH 9.12–9.14).

use crate::groups::block::Block;
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::relaxation::active_set::ActiveSet;
use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};

/// Rounds of sweeps and a Newton step at the most.
const ROUNDS: usize = 40;

/// Sweeps in a round: they find out which coefficients are zero, which the Newton step takes as given.
const SWEEPS: usize = 2;

/// The model is minimised when a round wins no more than this share of all that was won.
const SETTLED: f64 = 1e-7;

/// Multiplications between two looks at whether it is cut: a millisecond or two.
const UNASKED: usize = 2_000_000;

/// A Newton step takes the cube of the coefficients that move: beyond so many sweeps are faster.
const MOST_MOVING: usize = 1000;

/// The least curvature of a group beside the largest it can have: a loss that is linear here need not be so a step away.
const LEAST: f64 = 1e-9;

/// A group in play.
pub(super) struct Piece<'b> {
    /// The place of its first column.
    pub(super) first: usize,
    /// Its features' penalties, their price paid.
    pub(super) coordinates: Vec<Coordinate>,
    /// Its envelope, where it is open.
    pub(super) block: Option<&'b Block>,
    /// The largest curvature that the loss can have along it.
    pub(super) most: f64,
}

/// X_AᵀHX_A with H the second derivative of the loss, intercepts answering.
#[derive(Default)]
pub(super) struct GroupModel {
    gram: Vec<f64>,
    size: usize,
}

/// Coefficients of a model, and the slopes of its smooth part there.
#[derive(Clone)]
struct ModelPoint {
    beta: Vec<f64>,
    slopes: Vec<f64>,
    value: f64,
}

impl GroupModel {
    /// The model of the loss at the margins and the intercept; of a quadratic loss only what is new is made. Whether it was made: many
    /// columns take seconds, and `is_cut` ends that.
    pub(super) fn form(
        &mut self,
        problem: &Problem<'_>,
        columns: &ActiveSet,
        (u, intercept): (&[f64], f64),
        is_cut: &dyn Fn() -> bool,
    ) -> bool {
        let (old, m) = (if problem.loss().is_quadratic() { self.size } else { 0 }, columns.len());
        if old == m {
            return true;
        }
        let curvature = problem.curvature(u, intercept);
        if let Some(gram) = of_classes(problem, columns).and_then(|x| curvature.per_class(&x, is_cut)) {
            (self.gram, self.size) = (gram, m);
            return true;
        }
        let mut gram = vec![0.0; m * m];
        (0..old).for_each(|k| gram[k * m..k * m + old].copy_from_slice(&self.gram[k * old..(k + 1) * old]));
        let mut product = vec![0.0; u.len()];
        for k in old..m {
            if is_cut() {
                return false;
            }
            columns.write_dense(k, &mut product);
            curvature.multiply(&mut product);
            let places: Vec<usize> = (0..=k).collect();
            columns.dot_many(&places, &product, &mut gram[k * m..k * m + k + 1]);
        }
        for k in 0..m {
            (0..k).for_each(|l| gram[l * m + k] = gram[k * m + l]);
        }
        (self.gram, self.size) = (gram, m);
        true
    }

    /// Row k of X_AᵀHX_A.
    pub(super) fn row(&self, k: usize) -> &[f64] {
        &self.gram[k * self.size..(k + 1) * self.size]
    }

    /// argmin over β of slopesᵀ(β − own) + ½(β − own)ᵀG(β − own) + Σ_g ρ_g(β_g) (MATH 9.12), and how far it is below the value at
    /// `own`; none where nothing lower was found. `is_cut` ends it within a sweep.
    pub(super) fn minimise(
        &self,
        pieces: &[Piece<'_>],
        own: &[f64],
        slopes: &[f64],
        is_cut: &dyn Fn() -> bool,
    ) -> Option<(Vec<f64>, f64)> {
        let begun = penalty(pieces, own);
        let mut at = ModelPoint { beta: own.to_vec(), slopes: slopes.to_vec(), value: begun };
        for _ in 0..ROUNDS {
            let before = at.value;
            let is_whole = (0..SWEEPS).all(|_| self.sweep(pieces, &mut at, is_cut));
            at.value = self.value(pieces, &at, own, slopes);
            if !is_whole {
                break;
            }
            if let Some(next) = self.newton(pieces, &at, own, slopes) {
                at = next;
            }
            if before - at.value <= SETTLED * (begun - at.value) || is_cut() {
                break;
            }
        }
        (at.value < begun).then_some((at.beta, begun - at.value))
    }

    /// A step of every group, one after the other; whether none was cut off.
    fn sweep(&self, pieces: &[Piece<'_>], at: &mut ModelPoint, is_cut: &dyn Fn() -> bool) -> bool {
        let mut work = 0;
        for piece in pieces {
            self.step(piece, at);
            work += piece.coordinates.len() * self.size;
            if work >= UNASKED {
                if is_cut() {
                    return false;
                }
                work = 0;
            }
        }
        true
    }

    fn value(&self, pieces: &[Piece<'_>], at: &ModelPoint, own: &[f64], slopes: &[f64]) -> f64 {
        let terms = (0..own.len()).map(|k| 0.5 * (slopes[k] + at.slopes[k]) * (at.beta[k] - own[k]));
        terms.sum::<f64>() + penalty(pieces, &at.beta)
    }

    /// The step of one group (MATH 9.7, 9.10) with a curvature that the model's does not exceed; of the features of one that is in, one
    /// after the other.
    fn step(&self, piece: &Piece<'_>, at: &mut ModelPoint) {
        let places = piece.first..piece.first + piece.coordinates.len();
        match piece.block {
            Some(block) => {
                let curvature = self.largest(piece).max(LEAST * piece.most);
                let next = block.step(curvature, &at.beta[places.clone()], &at.slopes[places.clone()]);
                places.zip(next).for_each(|(k, b)| self.change(k, b, at));
            }
            None => {
                for (k, c) in places.zip(&piece.coordinates) {
                    let curvature = self.row(k)[k].max(LEAST * piece.most);
                    self.change(k, c.prox_selected(curvature, curvature * at.beta[k] - at.slopes[k]), at);
                }
            }
        }
    }

    fn change(&self, k: usize, b: f64, at: &mut ModelPoint) {
        let change = b - at.beta[k];
        if change != 0.0 {
            at.beta[k] = b;
            crate::kernel::axpy(change, self.row(k), &mut at.slopes);
        }
    }

    /// A number that no eigenvalue of the group's part of the model exceeds: its trace, or the largest row sum.
    fn largest(&self, piece: &Piece<'_>) -> f64 {
        let places = piece.first..piece.first + piece.coordinates.len();
        let trace: f64 = places.clone().map(|k| self.row(k)[k]).sum();
        let row = |k: usize| self.row(k)[places.clone()].iter().map(|g| g.abs()).sum::<f64>();
        places.clone().map(row).fold(0.0, f64::max).min(trace)
    }

    /// (H_MM + a Id + κβ_gβ_gᵀ)Δ_M = −(slopes) (MATH 9.14) over the coefficients that move along a smooth part of their penalty, the others
    /// as they are; none where no step along it is lower.
    fn newton(&self, pieces: &[Piece<'_>], at: &ModelPoint, own: &[f64], slopes: &[f64]) -> Option<ModelPoint> {
        let mut moving: Vec<(usize, f64, f64)> = Vec::new();
        let mut bent: Vec<(std::ops::Range<usize>, f64)> = Vec::new();
        for piece in pieces {
            let from = moving.len();
            let turn = piece.smooth(&at.beta, &mut moving);
            bent.extend((turn != 0.0).then_some((from..moving.len(), turn)));
        }
        let count = moving.len();
        if count == 0 || count > MOST_MOVING {
            return None;
        }
        let mut form = Mat::from_fn(count, count, |a, b| self.row(moving[a].0)[moving[b].0]);
        (0..count).for_each(|a| form[(a, a)] += moving[a].2);
        for (places, turn) in bent {
            for a in places.clone() {
                places.clone().for_each(|b| form[(a, b)] += turn * at.beta[moving[a].0] * at.beta[moving[b].0]);
            }
        }
        let right = Mat::from_fn(count, 1, |a, _| -(at.slopes[moving[a].0] + moving[a].1));
        let step = Llt::new(form.as_ref(), Side::Lower).ok()?.solve(&right);
        // Where λ1 turns its sign a coefficient stops: along a valley of the loss that is where the minimum mostly is.
        let turn = |a: usize| {
            let (k, b, s) = (moving[a].0, at.beta[moving[a].0], step[(a, 0)]);
            if coordinate(pieces, k).l1 > 0.0 && b * s < 0.0 { -b / s } else { f64::INFINITY }
        };
        let first = (0..count).map(turn).fold(f64::INFINITY, f64::min);
        for t in [1.0, first, 0.5, 0.25, 0.125].into_iter().filter(|t| *t <= 1.0) {
            let mut next = at.clone();
            for (a, &(k, _, _)) in moving.iter().enumerate() {
                let c = coordinate(pieces, k);
                let to = if turn(a) <= t { 0.0 } else { (at.beta[k] + t * step[(a, 0)]).clamp(c.lower, c.upper) };
                self.change(k, to, &mut next);
            }
            next.value = self.value(pieces, &next, own, slopes);
            if next.value < at.value {
                return Some(next);
            }
        }
        None
    }
}

impl Piece<'_> {
    /// Adds (place, slope, curvature) of the penalty for every coefficient of the group along which it is smooth; what comes on top of
    /// the curvature, times ββᵀ (MATH 9.13).
    fn smooth(&self, beta: &[f64], moving: &mut Vec<(usize, f64, f64)>) -> f64 {
        let own = &beta[self.first..self.first + self.coordinates.len()];
        let (pull, turn) = match self.block.map(|block| block.bend(own)) {
            Some(None) => return 0.0,
            Some(Some(bend)) => (Some(bend.0), bend.1),
            None => (None, 0.0),
        };
        for ((k, b), c) in own.iter().enumerate().zip(&self.coordinates) {
            let is_kept = c.l1 > 0.0 && *b == 0.0;
            let is_bound = *b <= c.lower || *b >= c.upper;
            if !is_kept && !is_bound {
                let curvature = pull.unwrap_or(2.0 * c.l2);
                let sign = if *b == 0.0 { 0.0 } else { b.signum() };
                moving.push((self.first + k, curvature * b + c.l1 * sign, curvature));
            }
        }
        turn
    }
}

/// The features whose columns these are, one for each of many classes, as columns over the samples; none for others.
fn of_classes(problem: &Problem<'_>, columns: &ActiveSet) -> Option<Vec<f64>> {
    let (classes, n) = (problem.classes(), problem.samples());
    let is_feature = |c: &[usize]| {
        c.len() == classes && c[0].is_multiple_of(classes) && c.iter().enumerate().all(|(k, j)| *j == c[0] + k)
    };
    if classes < 2 || !columns.features().chunks(classes).all(is_feature) {
        return None;
    }
    let (mut x, mut dense) = (vec![0.0; n * columns.len() / classes], vec![0.0; problem.nrows()]);
    for (j, own) in x.chunks_mut(n).enumerate() {
        columns.write_dense(j * classes, &mut dense);
        own.copy_from_slice(&dense[..n]);
    }
    Some(x)
}

/// Σ_g ρ_g(β_g), of groups that are in λ1|β| + λ2β².
fn penalty(pieces: &[Piece<'_>], beta: &[f64]) -> f64 {
    let one = |piece: &Piece<'_>| {
        let own = &beta[piece.first..piece.first + piece.coordinates.len()];
        match piece.block {
            Some(block) => block.envelope(own),
            None => piece.coordinates.iter().zip(own).map(|(c, b)| c.value(*b)).sum(),
        }
    };
    pieces.iter().map(one).sum()
}

/// The penalty of the coefficient at place k: pieces come in the order of their columns.
fn coordinate(pieces: &[Piece<'_>], k: usize) -> Coordinate {
    let piece = &pieces[pieces.partition_point(|p| p.first <= k) - 1];
    piece.coordinates[k - piece.first]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Penalty;
    use crate::common::{normal, rng};
    use crate::design::{Dense, PerClass};
    use std::cell::Cell;

    /// A flag that is raised after so many looks ends the model there and then: none is left to be looked at once more. And it is looked at
    /// often enough: between two looks there is no more work than a few milliseconds of it.
    #[test]
    fn a_model_that_is_cut_ends_at_that_look() {
        let (n, p, classes, mut rng) = (60, 700, 3, rng(63_000));
        let x = Dense::new(n, p, (0..n * p).map(|_| normal(&mut rng)).collect::<Vec<_>>()).unwrap();
        let labels: Vec<usize> = (0..n).map(|i| i % classes).collect();
        let (per_class, y) = (PerClass::new(&x, classes), PerClass::targets(&labels, classes));
        let problem = Problem::new(&per_class, y, Penalty::new(0.0, 0.0, 0.1)).unwrap();
        let problem = problem.with_classes(classes, true).unwrap();
        let mut columns = ActiveSet::new(&per_class);
        columns.extend(&per_class, &(0..p * classes).collect::<Vec<_>>()).unwrap();
        let coordinates = |j: usize| (0..classes).map(|k| problem.coordinate(j * classes + k).selected()).collect();
        let piece = |j: usize| Piece { first: j * classes, coordinates: coordinates(j), block: None, most: 1.0 };
        let pieces: Vec<Piece<'_>> = (0..p).map(piece).collect();
        let u = problem.null_margins();
        let own = vec![0.0; p * classes];
        let slopes: Vec<f64> = own.iter().map(|_| normal(&mut rng)).collect();
        let looks = Cell::new(0);
        let after = |most: usize| {
            looks.set(0);
            let looks = &looks;
            move || {
                looks.set(looks.get() + 1);
                looks.get() >= most
            }
        };
        let mut model = GroupModel::default();
        assert!(model.form(&problem, &columns, (&u, 0.0), &after(usize::MAX)));
        // A product of the samples for each of six pairs of classes, in blocks.
        let forming = looks.get();
        assert!(forming * 20_000_000 >= 6 * n * p * p, "{forming} looks");
        model.minimise(&pieces, &own, &slopes, &after(usize::MAX)).unwrap();
        let whole = looks.get();
        assert!(whole >= SWEEPS * p * classes * p * classes / (2 * UNASKED), "{whole} looks");
        for most in [1, 2, forming] {
            assert!(!GroupModel::default().form(&problem, &columns, (&u, 0.0), &after(most)), "{most} of {forming}");
            assert!(looks.get() <= most + 1, "{} after {most}", looks.get());
        }
        for most in [1, 2, 3] {
            model.minimise(&pieces, &own, &slopes, &after(most));
            assert_eq!(looks.get(), most, "of {whole}");
        }
    }
}
