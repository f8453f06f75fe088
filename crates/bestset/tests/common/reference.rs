//! A solver for the convex problems behind the enumeration and the relaxation, sharing no code with the library.
//!
//! Coordinate descent alternating with Newton steps on the coordinates away from every kink, until a duality gap of its
//! own making is closed. It fails loudly rather than return something unproved.

use bestset::{Loss, Penalty};

/// The data of a problem, plain.
#[derive(Debug, Clone)]
pub struct Model<'a> {
    pub n: usize,
    pub p: usize,
    pub x: &'a [f64],
    pub y: &'a [f64],
    pub weights: Vec<f64>,
    pub offset: Vec<f64>,
    pub loss: Loss,
    pub intercept: bool,
}

/// A convex penalty of one coefficient. Side 0 is negative, side 1 positive; m = |b|:
/// slope·m up to the knee, then constant + l1·m + l2·m² up to the reach.
#[derive(Debug, Clone, Copy)]
pub struct Convex {
    pub slope: [f64; 2],
    pub knee: [f64; 2],
    pub reach: [f64; 2],
    pub constant: f64,
    pub l1: f64,
    pub l2: f64,
}

/// A minimiser with its proof.
#[derive(Debug, Clone)]
pub struct Fit {
    pub value: f64,
    pub beta: Vec<f64>,
    pub intercept: f64,
    /// The dual point, feasible also for the intercept.
    pub alpha: Vec<f64>,
    /// value − (a lower bound).
    pub gap: f64,
}

/// ℓ, ℓ′, ℓ″ written out from MATH §2.
pub fn loss_at(loss: Loss, u: f64, y: f64) -> (f64, f64, f64) {
    match loss {
        Loss::Squared => (0.5 * (u - y).powi(2), u - y, 1.0),
        Loss::Logistic => {
            let m = y * u;
            let value = if m > 0.0 { (-m).exp().ln_1p() } else { -m + m.exp().ln_1p() };
            let (s, t) = (1.0 / (1.0 + m.exp()), 1.0 / (1.0 + (-m).exp()));
            (value, -y * s, s * t)
        }
        Loss::SquaredHinge => {
            let slack = f64::max(0.0, 1.0 - y * u);
            (slack.powi(2), -2.0 * y * slack, if slack > 0.0 { 2.0 } else { 0.0 })
        }
        Loss::Huber { delta } => {
            let r = u - y;
            if r.abs() <= delta {
                (0.5 * r * r, r, 1.0)
            } else {
                (delta * r.abs() - 0.5 * delta * delta, delta * r.signum(), 0.0)
            }
        }
        Loss::Poisson if y == 0.0 => (u.exp(), u.exp(), u.exp()),
        Loss::Poisson => {
            // Relative to the count, which the mean is near.
            let t = u - y.ln();
            (if t > 9.0 { u.exp() - y - y * t } else { y * (t.exp_m1() - t) }, y * t.exp_m1(), u.exp())
        }
        Loss::Gamma => {
            let t = y.ln() - u;
            (t.exp_m1() - t, -t.exp_m1(), t.exp())
        }
        Loss::NegativeBinomial { theta } => {
            let (sum, total) =
                (if u > theta.ln() { u + (theta * (-u).exp()).ln_1p() } else { (theta + u.exp()).ln() }, y + theta);
            let share = 1.0 / (1.0 + theta * (-u).exp());
            let value = total * (sum - total.ln()) - y * u + y_log_y(y);
            (value, total * share - y, total * share * (1.0 - share))
        }
        _ => unreachable!("a loss without a reference"),
    }
}

/// y log y, 0 at 0.
fn y_log_y(y: f64) -> f64 {
    if y > 0.0 { y * y.ln() } else { 0.0 }
}

/// ℓ*(a) from MATH §2; the domain is left to the caller within rounding.
fn conjugate(loss: Loss, a: f64, y: f64) -> f64 {
    match loss {
        Loss::Logistic => {
            let s = -y * a;
            let (low, high) =
                (if s <= 0.0 { 0.0 } else { s * s.ln() }, if s >= 1.0 { 0.0 } else { (1.0 - s) * (-s).ln_1p() });
            low + high
        }
        Loss::SquaredHinge => 0.25 * a * a + y * a,
        Loss::Poisson => y_log_y((a + y).max(0.0)) - y_log_y(y) - a,
        Loss::Gamma => a * y.ln() + a + y_log_y((1.0 - a).max(0.0)),
        Loss::NegativeBinomial { theta } => {
            let rest = (theta - a).max(0.0);
            y_log_y((a + y).max(0.0)) - y_log_y(y) + y_log_y(rest) - rest * theta.ln()
        }
        _ => 0.5 * a * a + y * a,
    }
}

/// The smoothness constant 1/μ; where there is none steps are tried, and this is a scale only.
fn smoothness(loss: Loss) -> f64 {
    match loss {
        Loss::Logistic => 0.25,
        Loss::SquaredHinge => 2.0,
        _ => 1.0,
    }
}

/// What feature j pays for being in the model.
pub fn price(penalty: &Penalty, j: usize) -> f64 {
    penalty.price.at(j) * penalty.lambda0
}

impl Convex {
    /// λ1|b| + λ2b² within the bounds: a feature that is in the model.
    pub fn selected(penalty: &Penalty, j: usize) -> Self {
        let (lower, upper) = penalty.bounds.at(j);
        let factor = penalty.shrinkage.at(j);
        let (l1, l2) = (factor * penalty.lambda1, factor * penalty.lambda2);
        Self { slope: [l1; 2], knee: [0.0; 2], reach: [-lower, upper], constant: 0.0, l1, l2 }
    }

    /// The convex envelope: the chord from 0 to the point where λ0/m + λ1 + λ2m is least (MATH §4).
    pub fn envelope(penalty: &Penalty, j: usize) -> Self {
        let mut convex = Self::selected(penalty, j);
        for side in 0..2 {
            let (l0, reach) = (price(penalty, j), convex.reach[side]);
            let free = if l0 == 0.0 { 0.0 } else { (l0 / convex.l2).sqrt() };
            let touch = free.min(reach);
            convex.knee[side] = touch;
            if touch > 0.0 && touch.is_finite() {
                convex.slope[side] = l0 / touch + convex.l1 + convex.l2 * touch;
            }
        }
        Self { constant: price(penalty, j), ..convex }
    }

    fn value(&self, b: f64) -> f64 {
        let (m, side) = (b.abs(), usize::from(b > 0.0));
        if m <= self.knee[side] { self.slope[side] * m } else { self.constant + self.l1 * m + self.l2 * m * m }
    }

    /// argmin of ½cb² − qb + this, by comparing one candidate of each piece.
    fn step(&self, c: f64, q: f64) -> f64 {
        let (side, pull) = (usize::from(q > 0.0), q.abs());
        let clip = |m: f64, low: f64, high: f64| if m.is_nan() { low } else { m.max(low).min(high) };
        let first = clip((pull - self.slope[side]) / c, 0.0, self.knee[side]);
        let second = clip((pull - self.l1) / (c + 2.0 * self.l2), self.knee[side], self.reach[side]);
        let sign = if side == 1 { 1.0 } else { -1.0 };
        let cost = |m: f64| (0.5 * c * m - pull) * m + self.value(sign * m);
        let mut best = (0.0, 0.0);
        for m in [first, second] {
            if m.is_finite() && cost(m) < best.0 {
                best = (cost(m), sign * m);
            }
        }
        best.1
    }

    /// min of τb + this; `limit` stands in for a reach that is far away.
    fn dual(&self, tau: f64, limit: f64) -> f64 {
        let (side, pull) = (usize::from(tau < 0.0), tau.abs());
        let sign = if side == 1 { 1.0 } else { -1.0 };
        let reach = self.reach[side].min(limit);
        let knee = self.knee[side].min(reach);
        let last = if self.l2 == 0.0 { reach } else { ((pull - self.l1) / (2.0 * self.l2)).max(knee).min(reach) };
        [knee, last].iter().map(|&m| self.value(sign * m) - pull * m).fold(0.0, f64::min)
    }

    /// The interval around b in which this is quadratic, with its first and second derivative at b, unless b is at zero
    /// or a bound. At the knee the interval is the one that `gradient`, of the rest of the objective, leads into.
    fn piece(&self, b: f64, gradient: f64) -> Option<((f64, f64), f64, f64)> {
        let (m, side, sign) = (b.abs(), usize::from(b > 0.0), b.signum());
        let (knee, reach) = (self.knee[side], self.reach[side]);
        let inner = m < knee || (m == knee && sign * gradient + self.slope[side] > 0.0);
        if m == 0.0 || m >= reach {
            return None;
        }
        let (low, high) = if inner { (0.0, knee) } else { (knee, reach) };
        let interval = if side == 1 { (low, high) } else { (-high, -low) };
        let quadratic = sign * (self.l1 + 2.0 * self.l2 * m);
        Some(if inner { (interval, sign * self.slope[side], 0.0) } else { (interval, quadratic, 2.0 * self.l2) })
    }
}

impl Model<'_> {
    pub fn col(&self, j: usize) -> &[f64] {
        &self.x[j * self.n..(j + 1) * self.n]
    }

    pub fn dot(&self, j: usize, v: &[f64]) -> f64 {
        self.col(j).iter().zip(v).map(|(x, v)| x * v).sum()
    }

    pub fn loss_sum(&self, u: &[f64], b: f64) -> f64 {
        (0..self.n).map(|i| self.weights[i] * loss_at(self.loss, u[i] + b, self.y[i]).0).sum()
    }

    /// o + Xβ for the listed columns.
    pub fn margins(&self, columns: &[usize], beta: &[f64]) -> Vec<f64> {
        let mut u = self.offset.clone();
        for (&j, &b) in columns.iter().zip(beta) {
            u.iter_mut().zip(self.col(j)).for_each(|(u, x)| *u += b * x);
        }
        u
    }

    /// Minimises Σ w ℓ(x_iᵀβ + b) + Σ h_j(β_j) over the listed columns, to a gap near rounding.
    pub fn minimise(&self, columns: &[usize], penalties: &[Convex]) -> Fit {
        self.minimise_from(columns, penalties, vec![0.0; columns.len()], 0.0)
    }

    /// The same from a point, which saves time: what is returned is proved, wherever it began.
    pub fn minimise_from(&self, columns: &[usize], penalties: &[Convex], beta: Vec<f64>, intercept: f64) -> Fit {
        let fit = self.approach(columns, penalties, beta, intercept);
        // Columns that depend on one another but for their last digits allow no more.
        let near = 1e-10 * (fit.value.abs() + self.loss_sum(&self.offset, 0.0));
        assert!(
            fit.gap <= near,
            "the reference did not converge: gap {} of {}; {columns:?} {penalties:?} {fit:?} {self:?}",
            fit.gap,
            fit.value
        );
        fit
    }

    /// The same as near as it comes: the minimum is between value − gap and value. Where the quick way from the point does not end, the
    /// patient one from nothing often does.
    pub fn approach(&self, columns: &[usize], penalties: &[Convex], beta: Vec<f64>, intercept: f64) -> Fit {
        let quick = self.steps(columns, penalties, (beta, intercept), (200, false));
        if quick.gap <= 1e-11 * (quick.value.abs() + self.loss_sum(&self.offset, 0.0)) {
            return quick;
        }
        let patient = self.steps(columns, penalties, (vec![0.0; columns.len()], 0.0), (4000, true));
        if patient.gap < quick.gap { patient } else { quick }
    }

    /// So many rounds of steps; a patient descent leaves none of them out.
    fn steps(
        &self,
        columns: &[usize],
        penalties: &[Convex],
        (beta, intercept): (Vec<f64>, f64),
        (rounds, is_patient): (usize, bool),
    ) -> Fit {
        let k = columns.len();
        let l = smoothness(self.loss);
        let norms: Vec<f64> = columns
            .iter()
            .map(|&j| (0..self.n).map(|i| self.weights[i] * self.col(j)[i].powi(2)).sum::<f64>() * l)
            .collect();
        let mut fit = Fit { value: 0.0, beta, intercept, alpha: vec![], gap: f64::INFINITY };
        let scale = self.loss_sum(&self.offset, 0.0);
        let (mut damping, mut slow) = (1e-13, true);
        for round in 0..rounds {
            if slow {
                self.sweep(columns, penalties, &norms, &mut fit);
            }
            // A step cut short on a kink leaves fewer coordinates free: step again at once.
            let _ = (0..=2 * k).all(|_| self.newton(columns, penalties, &norms, &mut fit, damping, false));
            // The quadratic upper bound makes progress also where samples cross kinks of ℓ′.
            if slow && (is_patient || round > 0) && self.loss != Loss::Squared {
                let _ = (0..=2 * k).all(|_| self.newton(columns, penalties, &norms, &mut fit, damping, true));
            }
            let (value, bound, alpha) = self.bounds(columns, penalties, &norms, &fit);
            let before = fit.gap;
            (fit.value, fit.gap, fit.alpha) = (value, value - bound, alpha);
            if fit.gap <= 1e-12 * (value.abs() + scale) {
                return fit;
            }
            // Rounding may stand in the way of the last digit; and a flat direction wants a larger damping.
            if round > 60 && fit.gap <= 1e-11 * (value.abs() + scale) {
                return fit;
            }
            // Near the minimum Newton steps alone square the gap; where they do not, all three kinds of steps are taken.
            slow = is_patient || fit.gap > 0.1 * before;
            damping = if round % 8 == 7 { 1e-9 } else { 1e-13 };
        }
        fit
    }

    /// A step of one variable from `old` along x: `next` of a curvature, doubled until the loss lies below its model there.
    fn tried(&self, u: &[f64], b: f64, x: &[f64], old: f64, next: impl Fn(f64, f64) -> f64) -> f64 {
        let at: Vec<_> = (0..self.n).map(|i| loss_at(self.loss, u[i] + b, self.y[i])).collect();
        let gradient: f64 = (0..self.n).map(|i| self.weights[i] * x[i] * at[i].1).sum();
        let mut c: f64 = (0..self.n).map(|i| self.weights[i] * x[i] * x[i] * at[i].2).sum::<f64>() + f64::MIN_POSITIVE;
        let before: f64 = (0..self.n).map(|i| self.weights[i] * at[i].0).sum();
        for _ in 0..300 {
            let new = next(c, gradient);
            let by = new - old;
            let value = |i: usize| self.weights[i] * loss_at(self.loss, u[i] + by * x[i] + b, self.y[i]).0;
            let model = before + (gradient + 0.5 * c * by) * by;
            if by == 0.0 || (0..self.n).map(value).sum::<f64>() <= model + 1e-15 * before.abs() {
                return new;
            }
            c *= 2.0;
        }
        old
    }

    /// As [`Model::sweep`], for losses whose curvature has no bound.
    fn tried_sweep(&self, columns: &[usize], penalties: &[Convex], norms: &[f64], fit: &mut Fit) {
        let mut u = self.margins(columns, &fit.beta);
        for (k, &j) in columns.iter().enumerate().filter(|p| norms[p.0] > 0.0) {
            let (x, old) = (self.col(j), fit.beta[k]);
            let new = self.tried(&u, fit.intercept, x, old, |c, gradient| penalties[k].step(c, c * old - gradient));
            u.iter_mut().zip(x).for_each(|(u, x)| *u += (new - old) * x);
            fit.beta[k] = new;
        }
        if self.intercept {
            let old = fit.intercept;
            fit.intercept = self.tried(&u, old, &vec![1.0; self.n], old, |c, gradient| old - gradient / c);
        }
    }

    fn sweep(&self, columns: &[usize], penalties: &[Convex], norms: &[f64], fit: &mut Fit) {
        if self.loss.has_log_link() {
            return self.tried_sweep(columns, penalties, norms, fit);
        }
        let mut u = self.margins(columns, &fit.beta);
        for (k, &j) in columns.iter().enumerate() {
            let (x, old, b) = (self.col(j), fit.beta[k], fit.intercept);
            let gradient: f64 =
                (0..self.n).map(|i| self.weights[i] * x[i] * loss_at(self.loss, u[i] + b, self.y[i]).1).sum();
            let new = if norms[k] > 0.0 { penalties[k].step(norms[k], norms[k] * old - gradient) } else { 0.0 };
            if new != old {
                u.iter_mut().zip(x).for_each(|(u, x)| *u += (new - old) * x);
                fit.beta[k] = new;
            }
        }
        if self.intercept {
            let total: f64 = self.weights.iter().sum();
            let slope: f64 =
                (0..self.n).map(|i| self.weights[i] * loss_at(self.loss, u[i] + fit.intercept, self.y[i]).1).sum();
            fit.intercept -= slope / (total * smoothness(self.loss));
        }
    }

    fn value(&self, columns: &[usize], penalties: &[Convex], fit: &Fit) -> f64 {
        let h: f64 = penalties.iter().zip(&fit.beta).map(|(h, &b)| h.value(b)).sum();
        self.loss_sum(&self.margins(columns, &fit.beta), fit.intercept) + h
    }

    /// One damped Newton step on the intercept and the coordinates inside their pieces, kept if the value falls.
    /// With the curvature of the quadratic upper bound when `majorise`. Whether it ended on a kink.
    fn newton(
        &self,
        columns: &[usize],
        penalties: &[Convex],
        norms: &[f64],
        fit: &mut Fit,
        damping: f64,
        majorise: bool,
    ) -> bool {
        let u = self.margins(columns, &fit.beta);
        let mut at: Vec<_> = (0..self.n).map(|i| loss_at(self.loss, u[i] + fit.intercept, self.y[i])).collect();
        if majorise {
            let careful = |i: usize, a: (f64, f64, f64)| match self.loss.has_log_link() {
                true => a.2.max(a.1 / (u[i] + fit.intercept - self.y[i].ln())),
                false => smoothness(self.loss),
            };
            at.iter_mut().enumerate().for_each(|(i, a)| a.2 = careful(i, *a));
        }
        let slope = |x: &[f64]| (0..self.n).map(|i| self.weights[i] * at[i].1 * x[i]).sum::<f64>();
        let free = |k: usize| penalties[k].piece(fit.beta[k], slope(self.col(columns[k]))).map(|piece| (k, piece));
        let pieces: Vec<_> = (0..columns.len()).filter_map(free).collect();
        let (ones, m) = (vec![1.0; self.n], pieces.len() + usize::from(self.intercept));
        let vector = |a: usize| if a < pieces.len() { self.col(columns[pieces[a].0]) } else { &ones };
        let total: f64 = self.weights.iter().sum::<f64>() * smoothness(self.loss);
        let (mut h, mut g) = (vec![0.0; m * m], vec![0.0; m]);
        for a in 0..m {
            let x = vector(a);
            g[a] = slope(x);
            for c in 0..=a {
                let z = vector(c);
                h[a * m + c] = (0..self.n).map(|i| self.weights[i] * at[i].2 * x[i] * z[i]).sum();
                h[c * m + a] = h[a * m + c];
            }
            // Beside what is there: curvatures of counts are as large as they.
            let own = if self.loss.has_log_link() { h[a * m + a] } else { 0.0 };
            h[a * m + a] += damping * own.max(if a < pieces.len() { norms[pieces[a].0] } else { total });
            if let Some(&(_, (_, first, second))) = pieces.get(a) {
                g[a] += first;
                h[a * m + a] += second;
            }
        }
        let Some(d) = solve_positive(&h, &g, m) else { return false };
        // The longest step that stays within every piece ends exactly on the kink.
        let mut longest = 1.0f64;
        for (a, &(k, ((low, high), ..))) in pieces.iter().enumerate() {
            let end = if d[a] > 0.0 { low } else { high };
            if d[a] != 0.0 {
                longest = longest.min((fit.beta[k] - end) / d[a]);
            }
        }
        let terms = (0..self.n).map(|i| self.weights[i] * (at[i].0 + at[i].1.abs() * (1.0 + u[i].abs())));
        // What rounding does to the value: where a curvature changes from point to point, steps below it are taken on trust.
        let noise = if self.loss.has_log_link() { 4.0 * f64::EPSILON * terms.sum::<f64>() } else { 0.0 };
        let before = self.value(columns, penalties, fit) + noise;
        let mut t = longest;
        for _ in 0..30 {
            let mut trial = fit.clone();
            for (a, &(k, ((low, high), ..))) in pieces.iter().enumerate() {
                trial.beta[k] = (fit.beta[k] - t * d[a]).clamp(low, high);
            }
            if self.intercept {
                trial.intercept = fit.intercept - t * d[m - 1];
            }
            if self.value(columns, penalties, &trial) <= before {
                let on_kink =
                    pieces.iter().any(|&(k, ((low, high), ..))| trial.beta[k] == low || trial.beta[k] == high);
                *fit = trial;
                return on_kink;
            }
            t *= 0.5;
        }
        false
    }

    /// The value, a lower bound for the minimum from the dual point of the iterate, and that point.
    fn bounds(&self, columns: &[usize], penalties: &[Convex], norms: &[f64], fit: &Fit) -> (f64, f64, Vec<f64>) {
        let value = self.value(columns, penalties, fit);
        let u = self.margins(columns, &fit.beta);
        let mut alpha: Vec<f64> =
            (0..self.n).map(|i| self.weights[i] * loss_at(self.loss, u[i] + fit.intercept, self.y[i]).1).collect();
        if self.intercept {
            let (up, down): (f64, f64) =
                alpha.iter().fold((0.0, 0.0), |(up, down), &a| (up + a.max(0.0), down + (-a).max(0.0)));
            let (shrink_up, shrink_down) = if up > down { (down / up, 1.0) } else { (1.0, up / down.max(1e-300)) };
            alpha.iter_mut().for_each(|a| *a *= if *a > 0.0 { shrink_up } else { shrink_down });
        }
        let limit = |k: usize| {
            // A convex function that cannot fall within ten times β cannot fall beyond: with λ2 near 0 and no bounds
            // nothing else would keep what rounding leaves of τ from being multiplied without end.
            let size = |y: f64| if self.loss.has_log_link() { y.max(1e-9).ln().abs() } else { y.abs() };
            let spread = self.y.iter().fold(1.0f64, |m, y| m.max(size(*y)));
            let step = if norms[k] > 0.0 { spread * (self.n as f64 / norms[k]).sqrt() } else { 0.0 };
            10.0 * fit.beta[k].abs().max(step)
        };
        let terms = columns.iter().enumerate().map(|(k, &j)| penalties[k].dual(self.dot(j, &alpha), limit(k)));
        let bound = -self.conjugate_sum(&alpha) + terms.sum::<f64>();
        // Losses and penalties are never negative.
        (value, bound.max(0.0), alpha)
    }

    /// Σ w ℓ*(α/w) − α o.
    pub fn conjugate_sum(&self, alpha: &[f64]) -> f64 {
        let terms = (0..self.n).filter(|&i| self.weights[i] > 0.0);
        let conjugate = |i: usize| self.weights[i] * conjugate(self.loss, alpha[i] / self.weights[i], self.y[i]);
        terms.map(|i| conjugate(i) - alpha[i] * self.offset[i]).sum()
    }
}

/// D(α) by its definition, with the minimum over b taken over the pieces of the penalty.
pub fn dual_value(model: &Model<'_>, penalty: &Penalty, alpha: &[f64]) -> f64 {
    let term = |j| {
        let selected = Convex::selected(penalty, j).dual(model.dot(j, alpha), f64::INFINITY);
        (price(penalty, j) + selected).min(0.0)
    };
    -model.conjugate_sum(alpha) + (0..model.p).map(term).sum::<f64>()
}

/// h⁻¹ g by Cholesky, `None` when h is not positive definite.
fn solve_positive(h: &[f64], g: &[f64], m: usize) -> Option<Vec<f64>> {
    // Unit diagonal first: columns may differ by twelve orders of magnitude.
    let s: Vec<f64> = (0..m).map(|a| 1.0 / h[a * m + a].sqrt()).collect();
    if s.iter().any(|s| !s.is_finite()) {
        return None;
    }
    let mut l = vec![0.0; m * m];
    for a in 0..m {
        for c in 0..=a {
            let dot: f64 = (0..c).map(|t| l[a * m + t] * l[c * m + t]).sum();
            let rest = h[a * m + c] * s[a] * s[c] - dot;
            if a == c {
                if rest <= 0.0 {
                    return None;
                }
                l[a * m + a] = rest.sqrt();
            } else {
                l[a * m + c] = rest / l[c * m + c];
            }
        }
    }
    let mut d: Vec<f64> = (0..m).map(|a| g[a] * s[a]).collect();
    for a in 0..m {
        d[a] = (d[a] - (0..a).map(|t| l[a * m + t] * d[t]).sum::<f64>()) / l[a * m + a];
    }
    for a in (0..m).rev() {
        d[a] = (d[a] - (a + 1..m).map(|t| l[t * m + a] * d[t]).sum::<f64>()) / l[a * m + a];
    }
    Some((0..m).map(|a| d[a] * s[a]).collect())
}
