//! Products of coefficients whose signs are known, taken out of the loss beside curvature (MATH 11.42–11.46).
//!
//! Curvature moved (11.6) leaves M = Q − diag(d). Where β_j and β_l have known signs, Ω_jlβ_jβ_l ≥ 0 for an Ω_jl of the right sign, and the
//! loss without that product is no larger: M = Q − diag(d) − Ω has only to be semidefinite, and d may be the larger. Coefficients pulled to one
//! side have a sign unless a price is paid, so that few can have the other.
//!
//! | file | what | MATH |
//! |---|---|---|
//! | here | [`look`]: stages, each with what the one before has shown of shares and signs | 11.46 |
//! | `splitting` | which d and Ω | 11.43 |
//! | `bound` | what they prove | 11.44, 11.45 |

mod bound;
mod facts;
mod splitting;

use crate::control::Limits;
use crate::exact::node::relax::{Goal, relax};
use crate::exact::node::{Choice, NodeContext, NodeRelaxation};
use bound::{Attempt, Trial, Tried, attempt};
use facts::Facts;
use faer::linalg::solvers::SelfAdjointEigen;
use faer::{Mat, Side};
use splitting::{Moments, Scaled, State};

/// What a look has come to.
pub struct Found {
    /// No subset better than the best known has a lower P.
    pub bound: f64,
    /// Positions that no better subset has.
    pub outside: Vec<u32>,
    /// Positions that every better subset has.
    pub inside: Vec<u32>,
}

/// The node bounded in stages, from what it is known to have: each takes more of the products and of the curvature, as the shares of the one before let
/// fewer of the pooled members stand beside each other. Nothing where the loss is not squared, a member has no ridge, or nothing better is found.
pub fn look(context: &NodeContext<'_, '_, '_>, node: NodeRelaxation, goal: &Goal, limits: &Limits) -> Option<Found> {
    let has_ridge = |a: usize| context.priced(node.members.positions[a], node.multiplier).l2 > 0.0;
    if !context.problem().loss().is_quadratic() || !(0..node.members.len()).all(has_ridge) || !goal.best.is_finite() {
        return None;
    }
    let first = relax(context, node, goal, limits);
    let facts = Facts::of(context, &first, None, goal.best)?;
    let plain = relax(context, first.without_curvature(), goal, limits);
    let mut stages = Stages {
        context,
        goal,
        limits,
        plain,
        facts,
        state: None,
        crowd: Vec::new(),
        before: first.dual,
        is_new: false,
    };
    for &part in &context.tuning.products_taken {
        let (count, gap) = (stages.plain.members.len(), goal.best - stages.before);
        if limits.stop(0).is_some() || !stages.take(part) || stages.before > goal.cutoff {
            break;
        }
        let is_less = (goal.best - stages.before) < 0.97 * gap || stages.plain.members.len() < 97 * count / 100;
        if !is_less && part >= context.tuning.products_taken_most {
            break;
        }
    }
    stages.is_new.then(|| stages.found())
}

/// A look as far as it has come.
struct Stages<'s, 'g, 'p, 'a> {
    context: &'s NodeContext<'g, 'p, 'a>,
    goal: &'s Goal,
    limits: &'s Limits,
    /// The node without curvature, with all that is decided.
    plain: NodeRelaxation,
    facts: Facts,
    /// Where the last splitting ended, with the positions it was for.
    state: Option<(Vec<usize>, State)>,
    /// Positions of members that could not give what was asked of them as pooled ones.
    crowd: Vec<usize>,
    /// The best bound so far.
    before: f64,
    /// Whether a stage has found a better one.
    is_new: bool,
}

impl Stages<'_, '_, '_, '_> {
    /// One stage; false where it proves nothing better.
    fn take(&mut self, part: f64) -> bool {
        let tuning = self.context.tuning;
        for _ in 0..tuning.products_attempts {
            let own = self.own();
            if own.is_empty() || own.len() > tuning.most_products {
                return false;
            }
            let Some((d, omega)) = self.splitting(&own, part) else { return false };
            let Self { context, plain, facts, .. } = &*self;
            let is_own = |a: &usize| own.binary_search(a).is_ok();
            let mut pooled: Vec<usize> = (0..plain.members.len()).filter(|a| !is_own(a)).collect();
            pooled.sort_by(|&a, &b| facts.share(plain, a).total_cmp(&facts.share(plain, b)).then(a.cmp(&b)));
            let of = |of: fn(&Facts, &NodeRelaxation, usize) -> f64, members: &[usize]| -> Vec<f64> {
                members.iter().map(|&a| of(facts, plain, a)).collect()
            };
            let (sign, wrong, shares) = (of(Facts::sign, &own), of(Facts::wrong, &own), of(Facts::share, &pooled));
            let trial =
                Trial { own: &own, sign: &sign, d: &d, omega: &omega, wrong: &wrong, pooled: &pooled, shares: &shares };
            let tried = match attempt(context, plain, &trial, self.limits) {
                Attempt::Impossible => return false,
                Attempt::Poor(members) => {
                    let few = members.into_iter().take(tuning.few_poor).map(|a| plain.members.positions[a]);
                    self.crowd.extend(few.collect::<Vec<_>>());
                    continue;
                }
                Attempt::Bounds(tried) => tried,
            };
            let charged = self.charged(&tried, &pooled);
            if tried.node.dual > self.before {
                self.accept(*tried, &own);
                if self.before > self.goal.cutoff {
                    return true;
                }
            }
            if charged.is_empty() {
                return self.before > f64::NEG_INFINITY;
            }
            self.crowd.extend(charged);
        }
        true
    }

    /// B: coefficients that are not zero, members in the model, those with a small share and those that pooled could not give enough.
    fn own(&self) -> Vec<usize> {
        let (members, least) = (&self.plain.members, self.context.tuning.least_product_share);
        let is_own = |a: &usize| {
            members.is_active(*a)
                || self.facts.share(&self.plain, *a) < least
                || self.crowd.contains(&members.positions[*a])
        };
        (0..members.len()).filter(is_own).collect()
    }

    /// Positions of the pooled members that the bound is lowered by, those first by which it is most.
    fn charged(&self, tried: &Tried, pooled: &[usize]) -> Vec<usize> {
        let (context, node) = (self.context, &tried.node);
        let psi = |&a: &usize| (context.coordinate(node, a).psi(node.members.tau[a]), node.members.positions[a]);
        let mut charged: Vec<(f64, usize)> = pooled.iter().map(psi).filter(|p| p.0 < 0.0).collect();
        charged.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        charged.into_iter().take(2 * context.tuning.few_poor).map(|p| p.1).collect()
    }

    /// d and Ω of B in turned signs (11.43), made feasible: the `part` of what the splitting takes.
    fn splitting(&mut self, own: &[usize], part: f64) -> Option<(Vec<f64>, Mat<f64>)> {
        let Self { context, plain, facts, limits, .. } = &*self;
        let (members, tuning) = (&plain.members, context.tuning);
        let positions: Vec<usize> = own.iter().map(|&a| members.positions[a]).collect();
        let gram = context.inner_products(&positions);
        let m = own.len();
        let sign: Vec<f64> = own.iter().map(|&a| facts.sign(plain, a)).collect();
        let q = Mat::from_fn(m, m, |e, f| gram.at(e, f) * sign[e] * sign[f]);
        let alone: Vec<_> = own.iter().map(|&a| context.coordinate(plain, a)).collect();
        let beta: Vec<f64> = own.iter().zip(&sign).map(|(&a, s)| s * members.beta[a]).collect();
        let pull = |e: usize| {
            let fitted: f64 = (0..m).map(|f| q[(e, f)] * beta[f]).sum();
            fitted - sign[e] * members.tau[own[e]] - alone[e].l1
        };
        let pull: Vec<f64> = (0..m).map(pull).collect();
        let (price, ridge): (Vec<f64>, Vec<f64>) = alone.iter().map(|c| (c.l0, c.l2)).unzip();
        let sure = |&a: &usize| facts.wrong(plain, a) >= tuning.least_wrong_share;
        let is_sure: Vec<bool> = own.iter().map(sure).collect();
        let moments = Moments { q: &q, pull: &pull, price: &price, ridge: &ridge, is_sure: &is_sure };
        let scaled = Scaled::new(&moments)?;
        let (state, steps) = match &self.state {
            Some((before, state)) => {
                let place = |k: &usize| before.iter().position(|b| b == k);
                (state.changed_to(&positions.iter().map(place).collect::<Vec<_>>()), tuning.more_product_steps)
            }
            None => (scaled.start(&beta), tuning.product_steps),
        };
        let state = scaled.steps(state, steps, &|| limits.stop(0).is_some())?;
        let splitting::Multipliers { mut d, mut omega } = scaled.multipliers(&state);
        d.iter_mut().zip(&ridge).for_each(|(d, l2)| *d = d.max(-2.0 * (1.0 - tuning.kept_ridge) * l2));
        let lengths: Vec<f64> = (0..m).map(|e| q[(e, e)].max(f64::MIN_POSITIVE).sqrt()).collect();
        let left = Mat::from_fn(m, m, |e, f| {
            (q[(e, f)] - omega[(e, f)] - if e == f { d[e] } else { 0.0 }) / lengths[e] / lengths[f]
        });
        let least = SelfAdjointEigen::new(left.as_ref(), Side::Lower).ok()?.S()[0];
        let short = (-least).max(0.0) + 1e-9;
        d.iter_mut().zip(&lengths).for_each(|(d, length)| {
            *d -= short * length * length;
            // What gives goes on to: M is a mean of one without products and takings and of the whole.
            *d = if *d > 0.0 { part * *d } else { *d };
        });
        omega.col_iter_mut().for_each(|column| column.iter_mut().for_each(|o| *o *= part));
        self.state = Some((positions, state));
        Some((d, omega))
    }

    /// Takes over what a stage has proved: its bound, its decisions, its shares.
    fn accept(&mut self, tried: Tried, own: &[usize]) {
        let (context, best) = (self.context, self.goal.best);
        let Tried { node, worst } = tried;
        (self.before, self.is_new) = (node.dual, true);
        let mut worst_of = vec![f64::INFINITY; node.members.len()];
        own.iter().zip(&worst).for_each(|(&a, w)| worst_of[a] = *w);
        let Some(facts) = Facts::of(context, &node, Some((&worst_of, &self.facts, own)), best) else { return };
        for (a, choice) in facts::decided(context, &node, &worst_of, best) {
            self.plain.set(a, choice);
        }
        self.facts = facts;
        self.plain.members.drop_out();
        let plain = self.plain.clone();
        self.plain = relax(context, plain, self.goal, self.limits);
    }

    /// What is known in the end.
    fn found(self) -> Found {
        let members = &self.plain.members;
        let kept: Vec<usize> = members.positions.clone();
        let is_kept = |k: &usize| kept.binary_search(k).is_ok();
        let outside = (0..self.context.near.active.len()).filter(|k| !is_kept(k)).map(|k| k as u32).collect();
        let inside = (0..members.len()).filter(|&a| members.choices[a] == Choice::In);
        let inside = inside.map(|a| members.positions[a] as u32).collect();
        Found { bound: self.before, outside, inside }
    }
}
