//! What is closed, in and out by D′ (MATH 11.8), with room for what the checker takes off for rounding.

use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use crate::penalty::Coordinate;
use crate::problem::Problem;

/// Half of ε: one operation is off by at most this share.
pub const U: f64 = f64::EPSILON / 2.0;

/// 1/2ε of the checker's residuals with a lemma (PROOF).
const RESIDUALS: f64 = (1 << 23) as f64;

/// Faults made on purpose, to see that the checker finds them; none by default.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    /// Nodes are closed that are so far from it, in units of P.
    pub close: f64,
    /// Features are put out that are so far from it.
    pub out: f64,
    /// Features are put in that are so far from it.
    pub inside: f64,
    /// Takers take this share more.
    pub curvature: f64,
    /// This share of νk is not paid back.
    pub price: f64,
    /// Fits on all features, or all but one, are taken for so much more.
    pub fit: f64,
    /// Features are put in by fits that are so far from it.
    pub dear: f64,
    /// Fits on what is in and one or two features more are.
    pub pair: f64,
    /// Subsets that add few features are taken for closed that are so far from it.
    pub coherence: f64,
    /// B is so much lower, below a discount, than features have paid for.
    pub discount: f64,
    /// Sides of a member that is probed are taken for empty that are so far from it.
    pub probe: f64,
    /// The second side of every split is taken for closed.
    pub is_side_lost: bool,
    /// Single subsets are taken for answers.
    pub is_all_listed: bool,
    /// One feature less than k is taken for k.
    pub is_size_short: bool,
    /// Families are taken for such as hold features that depend on each other.
    pub is_all_dependent: bool,
    /// Single subsets are taken for no better than an answer that are so far from it.
    pub cover: f64,
}

/// Features that a bound decides about.
#[derive(Debug, Default)]
pub struct Decisions {
    /// Members that are in.
    pub inside: Vec<usize>,
    /// Members that are out.
    pub outside: Vec<usize>,
}

/// How large the parts of a bound are: rounding is relative to them.
#[derive(Debug, Clone, Copy)]
pub struct PointSize {
    /// √(Σ α_i²/w_i).
    pub norm: f64,
    /// Σ of the sizes of the conjugates' terms; zero for the squared loss, which has its own terms.
    pub terms: f64,
    /// Σ of the sizes of what each of these terms is the difference of.
    pub parts: f64,
    /// Times that slopes are off by more than their sums: eight where an intercept has them shrunk (PROOF, "Other losses").
    pub times: f64,
}

impl PointSize {
    /// Of a dual point with the loss of its primal one.
    pub fn new(problem: &Problem<'_>, alpha: &[f64], loss: f64) -> Self {
        if problem.loss().is_quadratic() {
            return Self { norm: (2.0 * loss.max(0.0)).sqrt(), terms: 0.0, parts: 0.0, times: 1.0 };
        }
        let (norm, terms) = problem.dual_sizes(alpha);
        // The checker has y log y and (a + y) log(a + y) as they are, whose difference is small where a is.
        let own = |y: f64| y * (1.0 + if y > 0.0 { y.ln().abs() } else { 0.0 });
        let weight = |i: usize| problem.weights().map_or(1.0, |w| w[i]);
        let parts = match problem.loss().has_log_link() {
            true => problem.y().iter().enumerate().map(|(i, y)| 2.0 * weight(i) * own(*y)).sum(),
            false => 0.0,
        };
        Self { norm, terms, parts, times: if problem.has_intercept() { 8.0 } else { 1.0 } }
    }

    fn is_dual(&self) -> bool {
        self.terms + self.parts > 0.0
    }
}

/// What a bound is to reach.
pub struct ProofRules<'r> {
    /// B.
    pub bound: f64,
    /// ‖ŷ‖.
    pub y_norm: f64,
    pub faults: &'r Faults,
}

impl ProofRules<'_> {
    /// Whether the checker finds V ≥ B at the node's point.
    pub fn closes(&self, context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> bool {
        self.dual(context, node) + self.faults.close >= self.bound
    }

    /// Whether it does of a single subset, which nothing divides: with twice what it can take off to spare, not four times.
    pub fn closes_single(&self, context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> bool {
        node.dual - 0.5 * self.margin(context, node) >= self.bound
    }

    /// Whether it does at the point of a probe.
    pub fn closes_probed(&self, context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> bool {
        self.dual(context, node) + self.faults.probe >= self.bound
    }

    /// Whether it finds V at least so much, of a subset that holds an answer's.
    pub fn covers(&self, context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation, least: f64) -> bool {
        self.dual(context, node) + self.faults.cover >= least
    }

    /// D′ less four times what the checker can take off for rounding.
    fn dual(&self, context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> f64 {
        let back = context.size.map_or(0.0, |k| self.faults.price * node.multiplier * k as f64);
        node.dual + back - self.margin(context, node)
    }

    /// Out where V − Ψ_j + φ_j ≥ B, in where V − Ψ_j ≥ B.
    pub fn decide(&self, context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> Decisions {
        let (members, dual, mut found) = (&node.members, self.dual(context, node), Decisions::default());
        let n = context.problem().nrows();
        let size = PointSize::new(context.problem(), &node.alpha, node.loss);
        for a in (0..members.len()).filter(|&a| members.choices[a] == Choice::Free) {
            let (c, tau) = (context.coordinate(node, a), members.tau[a]);
            let off = self.slope_error(n, context.bounds.square(context.feature(node, a)).sqrt(), size, tau);
            if dual + c.phi(tau + off.copysign(tau)).max(0.0) + self.faults.out >= self.bound {
                found.outside.push(a);
            } else if dual - c.psi(tau) + self.faults.inside >= self.bound {
                found.inside.push(a);
            }
        }
        found
    }

    /// Four times what the checker allows for in a slope.
    pub fn slope_error(&self, n: usize, length: f64, size: PointSize, tau: f64) -> f64 {
        4.0 * U * (size.times * (n + 32) as f64 * length * size.norm + 8.0 * tau.abs())
    }

    fn margin(&self, context: &NodeContext<'_, '_, '_>, node: &NodeRelaxation) -> f64 {
        let members = &node.members;
        let of = |a: usize| BoundTerm {
            length: context.bounds.square(context.feature(node, a)).sqrt(),
            penalty: context.coordinate(node, a),
            beta: members.beta[a],
            tau: members.tau[a],
        };
        let size = PointSize::new(context.problem(), &node.alpha, node.loss);
        self.margin_of((0..members.len()).map(of), context.problem().nrows(), size, node.dual)
    }

    /// Four times what the checker takes off: γ of the sums, and the errors of residual and slopes times what they are multiplied by; and what
    /// Ψ loses at the far end of a slope's error, which is its square over the curvature that is left: all there is to see without a ridge.
    pub fn margin_of(&self, terms: impl Iterator<Item = BoundTerm>, n: usize, size: PointSize, dual: f64) -> f64 {
        let PointSize { norm, terms: of_conjugates, parts, times } = size;
        let (mut fitted, mut asked, mut count, mut charged, mut beyond) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for BoundTerm { length, penalty, beta, tau } in terms {
            let far = tau + self.slope_error(n, length, size, tau).copysign(tau);
            beyond += (penalty.psi(tau) - penalty.psi(far)).max(0.0);
            if beta != 0.0 || penalty.psi(tau) < 0.0 {
                fitted += length * beta.abs();
                asked += length * penalty.selected().link(tau).abs();
                count += f64::from(u8::from(beta != 0.0));
                charged += 1.0;
            }
        }
        let n = n as f64;
        if size.is_dual() {
            // The checker finds the point's slopes anew, from predictions that are rounded as their parts are.
            let of_point = 2.0 * U * (count + 16.0) * (self.y_norm + fitted) * asked;
            let of_sums = times * U * (n + 48.0) * norm * asked + of_point;
            // Each logarithm is off by 16u of itself, its argument by one unit, and that twice: no more can be, so that no more is
            // allowed for. What sums round is relative to the differences.
            let of_parts = 40.0 * U * parts;
            let of_terms = 8.0 * U * (n + charged + 64.0) * (dual.abs() + of_conjugates);
            return beyond + of_parts + 4.0 * (of_sums + of_terms);
        }
        let of_terms = U * (charged + 16.0) * (dual.abs() + self.y_norm * self.y_norm);
        beyond + 4.0 * of_terms + self.residual_margin(n as usize, count as usize, fitted, norm, asked)
    }

    /// Four times what the checker takes off for a residual of this norm at a point of so many features, Σ‖x̂_j‖|β_j| = `fitted`, and for
    /// slopes that are multiplied by Σ‖x̂_j‖|b_j| = `asked`.
    pub fn residual_margin(&self, n: usize, count: usize, fitted: f64, norm: f64, asked: f64) -> f64 {
        let (n, count, size) = (n as f64, count as f64, self.y_norm + fitted);
        let error = U * (count + 16.0) * size;
        let of_sums = U * (n + count + 48.0) * norm * (size + fitted + asked);
        4.0 * (of_sums + error * norm + RESIDUALS * error * error)
    }
}

/// One feature in a bound.
pub struct BoundTerm {
    /// ‖x̂_j‖.
    pub length: f64,
    pub penalty: Coordinate,
    pub beta: f64,
    pub tau: f64,
}
