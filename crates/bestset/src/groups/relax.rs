//! The relaxation with groups: proximal Newton steps on the groups in play, whose dual points give the bound over all of them.
//!
//! | who | does |
//! |---|---|
//! | here | R and D, which groups are in play, the step that lowers R, and when that is enough |
//! | [`GroupModel`] | the quadratic model of the loss with the penalties, minimised |

use crate::control::Limits;
use crate::error::Result;
use crate::groups::block::Block;
use crate::groups::model::{GroupModel, Piece};
use crate::groups::{Decision, Grouped, Part};
use crate::relaxation::active_set::ActiveSet;
use crate::solution::Coefficients;

/// Steps at the most: the bound is valid whenever they end.
const STEPS: usize = 500;

/// Halvings of a step before one with the largest curvature takes its place.
const HALVINGS: usize = 12;

/// Growths of a curvature that is only guessed at, each fourfold.
const GROWTHS: i32 = 60;

/// The share of the decrease that the model promises that a step must keep.
const KEPT: f64 = 1e-4;

/// What rounding may add to R where nothing is left to be won, relative to R.
const DIGITS: f64 = 1e-14;

/// Groups that come into play at once: as many as there are, or so many.
const ENTER: usize = 32;

/// What the relaxation found.
pub(crate) struct GroupRelaxation {
    /// R.
    pub(crate) value: f64,
    /// The best D met.
    pub(crate) bound: f64,
    /// λ0_g + νs_g + Σφ_j⁰ of the open groups at its dual point.
    pub(crate) worths: Vec<f64>,
    /// Its dual point.
    pub(crate) dual: Vec<f64>,
    /// R's minimiser, by feature.
    pub(crate) beta: Vec<f64>,
    /// Its intercept.
    pub(crate) intercept: f64,
}

/// When the relaxation is good enough.
#[derive(Clone, Copy)]
pub(crate) struct Until<'u> {
    /// (R − D)/|R|.
    pub(crate) gap: f64,
    /// What R and D may say before that.
    pub(crate) enough: &'u dyn Fn(f64, f64) -> bool,
    /// Whether another step is taken where the gap is closed: the coefficients are an answer.
    pub(crate) polish: bool,
}

/// A point of the relaxation.
#[derive(Clone)]
struct At {
    beta: Vec<f64>,
    u: Vec<f64>,
    intercept: f64,
    value: f64,
}

/// The relaxation of a node.
struct GroupDescent<'d, 'p, 'a> {
    grouped: &'d Grouped<'p, 'a>,
    part: &'d Part<'d>,
    blocks: Vec<Option<Block>>,
    /// A bound of the curvature of the loss along each group and each feature, or a guess where there is none (MATH 2.14).
    curvatures: Vec<f64>,
    single: Vec<f64>,
    /// The groups in play, their columns in the order they came, and the place of the first of each.
    playing: Vec<usize>,
    columns: ActiveSet,
    first: Vec<usize>,
}

/// Minimises R, from other coefficients and their intercept if there are any.
pub(crate) fn minimise(
    grouped: &Grouped<'_, '_>,
    part: &Part<'_>,
    start: Option<(&[f64], f64)>,
    until: Until<'_>,
    limits: &Limits,
) -> Result<GroupRelaxation> {
    let (mut descent, mut at) = GroupDescent::new(grouped, part, start)?;
    let mut state = GroupRelaxation::nothing();
    let mut alpha = vec![0.0; at.u.len()];
    let (mut model, mut stuck) = (GroupModel::default(), 0);
    for _ in 0..STEPS {
        grouped.problem.dual_point(&at.u, at.intercept, &mut alpha);
        let last = (state.value, state.bound);
        let worths = state.look(&descent, &at, &alpha)?;
        let is_close = state.value - state.bound <= until.gap * state.value.abs();
        if is_close && until.polish {
            state.polish(&descent, &at, (&alpha, limits), &mut model);
        }
        if is_close || (until.enough)(state.value, state.bound) || limits.stop(0).is_some() {
            break;
        }
        let has_entered = descent.enter(&worths)?;
        // Nothing that rounding leaves to be won: neither R nor D has moved for a while.
        stuck = if (state.value, state.bound) == last && !has_entered { stuck + 1 } else { 0 };
        if stuck == 3 {
            break;
        }
        let (next, promised) = descent.newton(&at, (&alpha, limits), &mut model);
        // Where the model promises no more than rounding, sweeps, each as long as many steps, have nothing to find.
        let is_done = !has_entered && promised <= DIGITS * at.value.abs();
        if is_done && next.is_none() && until.polish {
            state.polish(&descent, &at, (&alpha, limits), &mut model);
        }
        at = match next {
            Some(next) => next,
            None if is_done || limits.stop(0).is_some() => break,
            None => descent.sweep(at, &mut alpha, limits),
        };
    }
    Ok(state)
}

impl<'d, 'p, 'a> GroupDescent<'d, 'p, 'a> {
    /// The groups that are in and those that are not zero at the start are in play.
    fn new(grouped: &'d Grouped<'p, 'a>, part: &'d Part<'d>, start: Option<(&[f64], f64)>) -> Result<(Self, At)> {
        let (problem, groups, (nu, _)) = (grouped.problem, grouped.groups, part.price);
        let charge =
            |g: usize| if nu > 0.0 { grouped.price(g) + nu * grouped.size(g) as f64 } else { grouped.price(g) };
        let is_open = |g: &usize| part.choices[*g] == Decision::Open;
        let all = 0..groups.len();
        let blocks = all.clone().map(|g| is_open(&g).then(|| Block::new(grouped, g, charge(g)))).collect();
        let mut beta = start.map_or_else(|| vec![0.0; problem.ncols()], |s| s.0.to_vec());
        let begun = Coefficients::from_dense(&beta, start.map_or(0.0, |s| s.1));
        let (squares, typical) = (problem.squares()?, problem.typical_curvature_at(&begun)?);
        let curvatures = all.clone().map(|g| typical * grouped.square(squares, g)).collect();
        let single = squares.iter().map(|s| typical * s).collect();
        let (playing, columns, first) = (Vec::new(), ActiveSet::new(problem.design()), Vec::new());
        let mut descent = Self { grouped, part, blocks, curvatures, single, playing, columns, first };
        let is_out = |g: &usize| part.choices[*g] == Decision::Out;
        all.clone().filter(is_out).flat_map(|g| &groups.members[g]).for_each(|&j| beta[j] = 0.0);
        let is_nonzero = |g: usize| groups.members[g].iter().any(|&j| beta[j] != 0.0);
        descent.admit(&all.filter(|&g| part.choices[g] == Decision::In || is_nonzero(g)).collect::<Vec<_>>())?;
        let mut u = problem.null_margins();
        for (k, &j) in descent.columns.features().iter().enumerate().filter(|(_, j)| beta[**j] != 0.0) {
            descent.columns.axpy(k, beta[j], &mut u);
        }
        let at = descent.at(beta, u, start.map_or(0.0, |s| s.1));
        Ok((descent, at))
    }

    /// The point with these coefficients and margins, its intercept from a guess.
    fn at(&self, beta: Vec<f64>, u: Vec<f64>, guess: f64) -> At {
        let intercept = self.grouped.problem.best_intercept(&u, guess);
        let value = self.grouped.problem.loss_sum(&u, intercept) + self.penalty(&beta);
        At { beta, u, intercept, value }
    }

    fn admit(&mut self, groups: &[usize]) -> Result<()> {
        for &g in groups.iter().filter(|&&g| self.curvatures[g] > 0.0) {
            self.first.push(self.columns.len());
            self.columns.extend(self.grouped.problem.design(), &self.grouped.groups.members[g])?;
            self.playing.push(g);
        }
        Ok(())
    }

    /// Brings the open groups into play that the dual point would pay most for; whether there were any.
    fn enter(&mut self, worths: &[f64]) -> Result<bool> {
        let mut is_playing = vec![false; worths.len()];
        self.playing.iter().for_each(|&g| is_playing[g] = true);
        let is_wanted = |&g: &usize| worths[g] < 0.0 && !is_playing[g] && self.curvatures[g] > 0.0;
        let mut wanted: Vec<usize> = (0..worths.len()).filter(is_wanted).collect();
        wanted.sort_by(|&a, &b| worths[a].total_cmp(&worths[b]).then(a.cmp(&b)));
        wanted.truncate(self.playing.len().max(ENTER));
        self.admit(&wanted)?;
        Ok(!wanted.is_empty())
    }

    /// β + tΔ with Δ from the quadratic model at β and t = 1, ½, … until R falls by a share of what the model promises (MATH 9.12);
    /// none where no such t is found. And what the model promises.
    fn newton(&self, at: &At, alpha: (&[f64], &Limits), model: &mut GroupModel) -> (Option<At>, f64) {
        let Some((next, promised)) = self.step_of_model(at, alpha, model) else { return (None, 0.0) };
        let mut t = 1.0;
        for _ in 0..HALVINGS {
            if alpha.1.stop(0).is_some() {
                break;
            }
            let tried = self.moved(at, &next, t);
            if tried.value < at.value && tried.value <= at.value - KEPT * t * promised {
                return (Some(tried), promised);
            }
            t *= 0.5;
        }
        (None, promised)
    }

    /// The minimum of the model at a point over the columns in play, and what it promises.
    fn step_of_model(
        &self,
        at: &At,
        (alpha, limits): (&[f64], &Limits),
        model: &mut GroupModel,
    ) -> Option<(Vec<f64>, f64)> {
        let (problem, is_cut) = (self.grouped.problem, || limits.stop(0).is_some());
        if self.playing.is_empty() {
            return None;
        }
        let own: Vec<f64> = self.columns.features().iter().map(|&j| at.beta[j]).collect();
        let slopes: Vec<f64> = (0..own.len()).map(|k| self.columns.dot(k, alpha)).collect();
        let pieces: Vec<Piece<'_>> =
            self.playing.iter().zip(&self.first).map(|(&g, &first)| self.piece(g, first)).collect();
        if !model.form(problem, &self.columns, (&at.u, at.intercept), &is_cut) {
            return None;
        }
        model.minimise(&pieces, &own, &slopes, &is_cut)
    }

    /// β + t(next − β), the columns in play at `next`.
    fn moved(&self, at: &At, next: &[f64], t: f64) -> At {
        let (mut beta, mut u) = (at.beta.clone(), at.u.clone());
        for (k, &j) in self.columns.features().iter().enumerate() {
            let own = beta[j];
            // At a full step zeros are zeros, and what is at its bound is there.
            beta[j] = if t == 1.0 { next[k] } else { own + t * (next[k] - own) };
            if beta[j] != own {
                self.columns.axpy(k, beta[j] - own, &mut u);
            }
        }
        self.at(beta, u, at.intercept)
    }

    fn piece(&self, g: usize, first: usize) -> Piece<'_> {
        let members = &self.grouped.groups.members[g];
        let coordinates = members.iter().map(|&j| self.grouped.selected(j)).collect();
        Piece { first, coordinates, block: self.blocks[g].as_ref(), most: self.curvatures[g] }
    }

    /// A step of every group in play with the largest curvature its loss can have (MATH 9.7, 9.10); where there is none, with one that
    /// is larger until R does not rise.
    fn sweep(&self, at: At, alpha: &mut [f64], limits: &Limits) -> At {
        if !self.grouped.problem.loss().has_log_link() {
            return self.sweep_with(1.0, &at, alpha, limits);
        }
        let tries = (0..GROWTHS).take_while(|_| limits.stop(0).is_none());
        let mut tries = tries.map(|k| self.sweep_with(4f64.powi(k), &at, alpha, limits));
        let lower = tries.find(|next| next.value <= at.value);
        drop(tries);
        lower.unwrap_or(at)
    }

    /// A step of every group in play, until a limit strikes, with so many times its curvature; the margins follow.
    fn sweep_with(&self, times: f64, at: &At, alpha: &mut [f64], limits: &Limits) -> At {
        let (problem, At { mut beta, mut u, intercept, .. }) = (self.grouped.problem, at.clone());
        for (&g, &first) in self.playing.iter().zip(&self.first).take_while(|_| limits.stop(0).is_none()) {
            let members = &self.grouped.groups.members[g];
            let change = |k: usize, b: f64, beta: &mut [f64], u: &mut [f64]| {
                let change = b - beta[members[k]];
                if change != 0.0 {
                    beta[members[k]] += change;
                    self.columns.axpy(first + k, change, u);
                }
            };
            if let Some(block) = &self.blocks[g] {
                problem.derivatives(&u, intercept, alpha);
                let tau: Vec<f64> = (0..members.len()).map(|k| self.columns.dot(first + k, alpha)).collect();
                let own: Vec<f64> = members.iter().map(|&j| beta[j]).collect();
                let next = block.step(times * self.curvatures[g], &own, &tau);
                next.into_iter().enumerate().for_each(|(k, b)| change(k, b, &mut beta, &mut u));
                continue;
            }
            for (k, &j) in members.iter().enumerate() {
                let curvature = times * self.single[j];
                if curvature > 0.0 {
                    problem.derivatives(&u, intercept, alpha);
                    let pull = curvature * beta[j] - self.columns.dot(first + k, alpha);
                    change(k, self.grouped.selected(j).prox_selected(curvature, pull), &mut beta, &mut u);
                }
            }
        }
        self.at(beta, u, intercept)
    }

    /// Σ_open ρ_g(β_g) + Σ_in (λ0_g + νs_g + Σ_{j∈g} (λ1|β_j| + λ2β_j²)) − νk (MATH 11.36).
    fn penalty(&self, beta: &[f64]) -> f64 {
        let (nu, most) = self.part.price;
        let mut own = Vec::new();
        let mut one = |g: usize| {
            let members = &self.grouped.groups.members[g];
            match (&self.blocks[g], self.part.choices[g]) {
                (Some(_), _) if members.iter().all(|&j| beta[j] == 0.0) => 0.0,
                (Some(block), _) => {
                    own.clear();
                    own.extend(members.iter().map(|&j| beta[j]));
                    block.envelope(&own)
                }
                (None, Decision::In) => {
                    let shrunk = members.iter().map(|&j| self.grouped.selected(j).value(beta[j])).sum::<f64>();
                    self.grouped.price(g) + nu * self.grouped.size(g) as f64 + shrunk
                }
                _ => 0.0,
            }
        };
        (0..self.blocks.len()).map(&mut one).sum::<f64>() - nu * most
    }
}

impl GroupRelaxation {
    fn nothing() -> Self {
        Self {
            value: f64::INFINITY,
            bound: f64::NEG_INFINITY,
            worths: vec![],
            dual: vec![],
            beta: vec![],
            intercept: 0.0,
        }
    }

    /// R and D at a point, the better of each kept; what the groups are worth at its dual point.
    fn look(&mut self, descent: &GroupDescent<'_, '_, '_>, at: &At, alpha: &[f64]) -> Result<Vec<f64>> {
        if at.value < self.value {
            (self.value, self.beta, self.intercept) = (at.value, at.beta.clone(), at.intercept);
        }
        let bound = descent.grouped.bound(alpha, descent.part)?;
        if bound.value > self.bound || self.dual.is_empty() {
            (self.bound, self.worths, self.dual) = (bound.value, bound.worths.clone(), alpha.to_vec());
        }
        Ok(bound.worths)
    }

    /// Takes a last step of Newton's from a point whose R has no more digits to win: its coefficients have twice as many.
    fn polish(
        &mut self,
        descent: &GroupDescent<'_, '_, '_>,
        at: &At,
        alpha: (&[f64], &Limits),
        model: &mut GroupModel,
    ) {
        let Some((next, _)) = descent.step_of_model(at, alpha, model) else { return };
        let tried = descent.moved(at, &next, 1.0);
        if tried.value <= at.value + DIGITS * at.value.abs() {
            (self.value, self.beta, self.intercept) = (self.value.min(tried.value), tried.beta, tried.intercept);
        }
    }

    /// The share of its price that the envelope charges for every open group, at the prices of a part.
    pub(crate) fn shares(&self, grouped: &Grouped<'_, '_>, part: &Part<'_>) -> Vec<f64> {
        let (nu, _) = part.price;
        let one = |g: usize| match part.choices[g] {
            Decision::Open if grouped.groups.members[g].iter().all(|&j| self.beta[j] == 0.0) => 0.0,
            Decision::Open => {
                let own: Vec<f64> = grouped.groups.members[g].iter().map(|&j| self.beta[j]).collect();
                Block::new(grouped, g, grouped.price(g) + nu * grouped.size(g) as f64).share(&own)
            }
            Decision::In => 1.0,
            Decision::Out => 0.0,
        };
        (0..grouped.groups.len()).map(one).collect()
    }

    /// The minimiser rounded at several shares, no group decided, and another start if there is one.
    pub(crate) fn starts(
        &self,
        grouped: &Grouped<'_, '_>,
        shares: &[f64],
        other: Option<&Coefficients>,
    ) -> Vec<Coefficients> {
        let choices = vec![Decision::Open; grouped.groups.len()];
        let part = Part { choices: &choices, price: (0.0, 0.0) };
        let rounded = shares.iter().map(|&share| self.rounded(grouped, &part, share));
        rounded.chain(other.cloned()).collect()
    }

    /// The minimiser as coefficients, with the groups of which the envelope charges at least `share` of the price.
    pub(crate) fn rounded(&self, grouped: &Grouped<'_, '_>, part: &Part<'_>, share: f64) -> Coefficients {
        let shares = self.shares(grouped, part);
        let is_large = |g: &usize| shares[*g] > 0.0 && shares[*g] >= share;
        let chosen = (0..grouped.groups.len()).filter(is_large);
        let pairs = chosen.flat_map(|g| grouped.groups.members[g].iter().map(|&j| (j, self.beta[j]))).collect();
        Coefficients::from_pairs(pairs, self.intercept)
    }
}
