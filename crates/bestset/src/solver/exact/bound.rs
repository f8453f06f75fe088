//! The relaxation in a node: its bound, what the optimality rules decide there, and an answer rounded from it.
//!
//! Features in the model pay λ1|b| + λ2b², open ones ρ(b): R_node ≤ P on every subset of the node, and at α = ℓ′(Xβ + b)
//! D_node = R_node − Σ gap shares.

use super::node::{Choice, Node};
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::solver::descend::{self, gap_share};
use crate::solver::quadratic::{Gram, GramModel};
use crate::solver::workspace::Workspace;
use crate::solver::{Limits, screening};

/// What the root hands to every node: the active set and, for the squared loss, its matrix of inner products.
pub struct Ground<'w, 'p, 'a> {
    /// The active set; cloned by nodes that need samples.
    pub work: &'w Workspace<'p, 'a>,
    /// Q, for the squared loss.
    pub gram: Option<&'w Gram>,
    /// ∇q at β = 0.
    pub origin: &'w [f64],
    /// The loss at β = 0.
    pub base: f64,
}

/// A node after its relaxation was solved.
pub struct Relaxed {
    /// D_node over the active set, less what rounding can have added.
    pub near_bound: f64,
    /// The bound of the node: the better of its own and its parent's.
    pub bound: f64,
    /// The minimiser.
    pub beta: Vec<f64>,
    /// What is decided after the optimality rules.
    pub choices: Vec<Choice>,
    /// A feasible point rounded from the minimiser, with its P as the model has it.
    pub rounded: Option<(f64, Vec<f64>)>,
    /// x_jᵀα at the minimiser.
    pub gradients: Vec<f64>,
}

/// Value, gradient and minimiser of a relaxation.
struct Point {
    smooth: f64,
    gradients: Vec<f64>,
    beta: Vec<f64>,
}

impl Ground<'_, '_, '_> {
    fn problem(&self) -> &Problem<'_> {
        self.work.problem
    }

    /// min Σ loss + Σ penalties over `members` from `beta`.
    fn minimise(
        &self,
        coordinates: &[Coordinate],
        beta: Vec<f64>,
        members: &[usize],
        tolerance: f64,
        limits: &Limits,
    ) -> Point {
        let Some(gram) = self.gram else {
            let mut work = self.work.clone();
            work.beta = beta;
            work.refresh();
            let gradients = work.gradients();
            work.minimise(coordinates, members, gradients, tolerance, limits);
            return Point { smooth: work.loss(), gradients: work.gradients(), beta: work.beta };
        };
        let mut gradients = self.origin.to_vec();
        for (k, &b) in beta.iter().enumerate().filter(|p| *p.1 != 0.0) {
            crate::kernel::axpy(b, gram.column(k), &mut gradients);
        }
        let (mut model, mut beta) = (GramModel::new(gram, gradients), beta);
        descend::minimise(&mut model, coordinates, &mut beta, members, tolerance, limits);
        let gradients = model.gradients().to_vec();
        let smooth = self.base
            + 0.5
                * beta
                    .iter()
                    .enumerate()
                    .filter(|p| *p.1 != 0.0)
                    .map(|(k, b)| b * (self.origin[k] + gradients[k]))
                    .sum::<f64>();
        Point { smooth, gradients, beta }
    }

    /// What rounding can have added to a bound at this point: ε (n + m) (‖u‖ + Σ ‖x_k‖ |b_k|)², with |b_k| the larger of the
    /// coefficient and the one that its correlation asks for.
    fn slack(&self, coordinates: &[Coordinate], members: &[usize], point: &Point) -> f64 {
        let length = |k: usize| self.problem().squares(self.work.active.features()[k]).sqrt();
        let moved = |k: usize| point.beta[k].abs().max(coordinates[k].link(point.gradients[k]).abs());
        let spread: f64 = members.iter().map(|&k| length(k) * moved(k)).sum();
        let size = (2.0 * self.base.abs()).sqrt() + spread;
        f64::EPSILON * (self.work.active.nrows() + members.len()) as f64 * (size * size + point.smooth.abs())
    }

    /// Solves the relaxation until it prunes the node (`bound` > `cutoff`), is tight enough to branch on or, when there is
    /// nothing to branch on, until its gap is below `room`.
    pub fn relax(&self, node: &Node, cutoff: f64, room: f64, limits: &Limits) -> Relaxed {
        let choices = node.choices(self.work.active.features());
        let (coordinates, members, price) = self.penalties(&choices);
        let mut beta = vec![0.0; choices.len()];
        for &(k, b) in &node.beta {
            if choices[k as usize] != Choice::Out {
                beta[k as usize] = b;
            }
        }
        let scale = cutoff.abs().max(f64::MIN_POSITIVE);
        let mut tolerance = 0.05 * self.problem().penalty().lambda0.min(1e-2 * scale);
        loop {
            let point = self.minimise(&coordinates, beta, &members, tolerance, limits);
            let share = |k: usize| {
                gap_share(
                    coordinates[k],
                    point.beta[k],
                    point.gradients[k],
                    self.problem().squares(self.work.active.features()[k]),
                )
            };
            let gap: f64 = members.iter().map(|&k| share(k)).sum();
            let envelope: f64 = members.iter().map(|&k| coordinates[k].envelope(point.beta[k])).sum();
            let value = point.smooth + envelope + price;
            let bound = value - gap - self.slack(&coordinates, &members, &point);
            let fractional = |k: &usize| {
                let (c, b) = (coordinates[*k], point.beta[*k]);
                b != 0.0 && b.abs() < c.knee(b > 0.0)
            };
            let usable = value <= cutoff && (value - bound <= room || members.iter().any(fractional));
            // Between D and R the cutoff is undecided: solve more tightly, as far as rounding lets one.
            if bound > cutoff || usable || tolerance < 1e-12 * scale || limits.stop(0).is_some() {
                let Point { gradients, beta, .. } = point;
                return Relaxed {
                    near_bound: bound,
                    bound: bound.max(node.bound),
                    beta,
                    choices,
                    rounded: None,
                    gradients,
                };
            }
            tolerance = if value > cutoff { (0.1 * tolerance).min(0.3 * (value - cutoff)) } else { 0.1 * tolerance };
            tolerance = tolerance.max(5e-13 * scale);
            beta = point.beta;
        }
    }

    /// The penalty of each position in the node, the positions that may be non-zero, and Σ λ0 of those in the model.
    fn penalties(&self, choices: &[Choice]) -> (Vec<Coordinate>, Vec<usize>, f64) {
        let own = &self.work.coordinates;
        let coordinates =
            own.iter().zip(choices).map(|(c, choice)| if *choice == Choice::In { c.selected() } else { *c }).collect();
        let members = (0..choices.len()).filter(|&k| choices[k] != Choice::Out).collect();
        let price = own.iter().zip(choices).filter(|p| *p.1 == Choice::In).map(|(c, _)| c.l0).sum();
        (coordinates, members, price)
    }

    /// The optimality rules of MATH §5 inside the node, with the best P known.
    pub fn decide(&self, relaxed: &mut Relaxed, best: f64) {
        for (k, choice) in relaxed.choices.iter_mut().enumerate().filter(|p| *p.1 == Choice::Free) {
            let (c, tau) = (self.work.coordinates[k], relaxed.gradients[k]);
            if screening::in_no_optimal_subset(c, tau, relaxed.bound, best) {
                *choice = Choice::Out;
            } else if screening::in_every_optimal_subset(c, tau, relaxed.bound, best) {
                *choice = Choice::In;
            }
        }
    }

    /// Keeps the features in the model and the open ones beyond half their knee, and fits them.
    pub fn round(&self, relaxed: &mut Relaxed, limits: &Limits) {
        let own = &self.work.coordinates;
        let large = |k: usize| {
            let b = relaxed.beta[k];
            b != 0.0 && (relaxed.choices[k] == Choice::In || b.abs() >= 0.5 * own[k].knee(b > 0.0))
        };
        let members: Vec<usize> = (0..own.len()).filter(|&k| large(k)).collect();
        let mut beta = vec![0.0; own.len()];
        members.iter().for_each(|&k| beta[k] = relaxed.beta[k]);
        let selected: Vec<Coordinate> = own.iter().map(|c| c.selected()).collect();
        let point = self.minimise(&selected, beta, &members, 1e-12 * self.base.abs(), limits);
        let penalty: f64 = own.iter().zip(&point.beta).map(|(c, &b)| c.value(b)).sum();
        relaxed.rounded = Some((point.smooth + penalty, point.beta));
    }

    /// The position to branch on: the open one whose two sides both raise the bound most, `None` when no open coefficient
    /// lies strictly between 0 and its knee. Putting b in costs up to (√λ0 − √λ2 |b|)², leaving it out about half of Q_kk b².
    pub fn branch(&self, relaxed: &Relaxed) -> Option<usize> {
        let score = |k: usize| {
            let (c, b) = (self.work.coordinates[k], relaxed.beta[k]);
            let rise = (c.value(b) - c.envelope(b)).max(0.0);
            let curvature = self.problem().squares(self.work.active.features()[k]) / self.problem().loss().mu();
            let fall = 0.5 * (curvature + 2.0 * c.l2) * b * b;
            rise.min(fall)
        };
        let open = (0..relaxed.beta.len()).filter(|&k| relaxed.choices[k] == Choice::Free && relaxed.beta[k] != 0.0);
        let best = open.map(|k| (score(k), k)).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        (best.0 > 0.0).then_some(best.1)
    }
}
