//! The answer with groups: the rounded relaxation, then groups added, dropped and exchanged while P falls.

use crate::control::{Limits, Options};
use crate::error::Result;
use crate::groups::changes::changes;
use crate::groups::relax::{Until, minimise};
use crate::groups::{Decision, Grouped, Part};
use crate::penalty::{Bounds, Penalty};
use crate::search::kick::BETTER;
use crate::solution::Coefficients;
use std::collections::HashMap;

/// Groups outside that are looked at in each round: those that the dual point would pay most for.
const CANDIDATES: usize = 8;

/// The same where the model says which of them are worth a fit.
pub(super) const PRICED: usize = 32;

/// How much is done to find a better choice of groups by the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Fits that tell one choice from another.
    Quick,
    /// Fits to the last digit.
    Thorough,
}

impl Effort {
    /// Changes that are fitted, the best by the model first, before a round is given up.
    fn attempts(self) -> usize {
        if self == Self::Quick { 4 } else { 8 }
    }

    /// By which part of itself a P must be lower to be better.
    fn better(self) -> f64 {
        if self == Self::Quick { BETTER } else { 1e-12 }
    }
}

/// Fits that are kept; then all are forgotten.
const KNOWN: usize = 20_000;

/// The least price of a size beside P: below it every group is in play. Not tuned.
const NO_PRICE: f64 = 1e-6;

/// A fit is the answer itself: the tolerance of the relaxation is not for it.
const FIT_GAP: f64 = 1e-11;

/// A fit that tells which of two choices is better ends where a step lowers P by less than this part of it.
const ROUGH: f64 = 1e-7;

/// The best fit on some groups.
#[derive(Debug, Clone)]
pub(crate) struct GroupFit {
    /// P.
    pub(crate) objective: f64,
    /// What no fit on these groups is below, their prices included.
    pub(crate) bound: f64,
    pub(crate) coefficients: Coefficients,
}

/// The best found from several choices of groups, of at most `size` features where that is limited.
pub(crate) fn search(
    fits: &mut Fits<'_, '_, '_>,
    starts: &[Coefficients],
    size: Option<usize>,
    limits: &Limits,
) -> Result<GroupFit> {
    let mut best = fits.fit(&[])?;
    for start in starts {
        let start = fits.within(start, size)?;
        let mut current = fits.fit(&start)?;
        while limits.stop(0).is_none() {
            let Some(next) = fits.better(&current, size)? else { break };
            current = next;
        }
        if current.objective < best.objective {
            best = current;
        }
    }
    Ok(best)
}

fn keep(known: &mut KnownFits, chosen: &[usize], fit: &GroupFit) {
    if known.len() >= KNOWN {
        known.clear();
    }
    known.insert(chosen.to_vec(), fit.clone());
}

/// Fits of choices of groups, without their prices: at any price the same.
pub(crate) type KnownFits = HashMap<Vec<usize>, GroupFit>;

/// Fits of choices of groups, each made once.
pub(crate) struct Fits<'f, 'p, 'a> {
    pub(super) grouped: &'f Grouped<'p, 'a>,
    options: &'f Options,
    pub(super) limits: &'f Limits,
    known: KnownFits,
    /// Those to what tells one choice from another.
    compared: KnownFits,
    /// The last fit, where the next begins: mostly a group away.
    last: Option<Coefficients>,
}

impl<'f, 'p, 'a> Fits<'f, 'p, 'a> {
    pub(crate) fn new(grouped: &'f Grouped<'p, 'a>, options: &'f Options, limits: &'f Limits) -> Self {
        Self { grouped, options, limits, known: KnownFits::new(), compared: KnownFits::new(), last: None }
    }

    /// With fits of the same groups and data at other prices.
    pub(crate) fn knowing(self, known: KnownFits) -> Self {
        Self { known, ..self }
    }

    /// What is known by now.
    pub(crate) fn known(self) -> KnownFits {
        self.known
    }

    /// The fit with these groups, ascending, in the model.
    pub(crate) fn fit(&mut self, chosen: &[usize]) -> Result<GroupFit> {
        if let Some(known) = self.known.get(chosen) {
            return Ok(self.priced(chosen, known.clone()));
        }
        let problem = self.grouped.problem;
        let penalty = Penalty { lambda0: 0.0, ..problem.penalty().clone() };
        let fit = match problem.coupled().is_some() && problem.penalty().has_certificate(problem.ncols()) {
            true => {
                let gap = self.options.relaxation_gap.min(FIT_GAP);
                self.relaxed(chosen, penalty, Until { gap, enough: &|_, _| false, polish: true })?
            }
            false => self.solved(chosen, penalty)?,
        };
        keep(&mut self.known, chosen, &fit);
        Ok(self.priced(chosen, fit))
    }

    /// A fit with the prices of its groups.
    fn priced(&self, chosen: &[usize], fit: GroupFit) -> GroupFit {
        let prices: f64 = chosen.iter().map(|&g| self.grouped.price(g)).sum();
        let bound = fit.bound + prices * (1.0 - f64::EPSILON * (chosen.len() as f64 + 4.0));
        // A group whose coefficients are all zero is not in, and costs nothing.
        let paid: f64 = self.grouped.chosen(&fit.coefficients).iter().map(|&g| self.grouped.price(g)).sum();
        GroupFit { objective: fit.objective + paid, bound, ..fit }
    }

    /// The minimum over the coefficients of these groups, the others bounded to zero.
    fn solved(&mut self, chosen: &[usize], penalty: Penalty) -> Result<GroupFit> {
        let (grouped, problem) = (self.grouped, self.grouped.problem);
        let (mut lower, mut upper) = (vec![0.0; problem.ncols()], vec![0.0; problem.ncols()]);
        for &j in chosen.iter().flat_map(|&g| &grouped.groups.members[g]) {
            (lower[j], upper[j]) = problem.penalty().bounds.at(j);
        }
        let (gap, method) = (self.options.relaxation_gap.min(FIT_GAP), crate::Method::Incremental);
        let options = Options {
            method,
            warm_start: None,
            relaxation_gap: gap,
            gap,
            time_limit: self.limits.left(),
            trace: false,
            top: 1,
            ..self.options.clone()
        };
        let plain = problem.with_penalty(penalty)?;
        let bounded = plain.penalty().clone().with_bounds(Bounds::Each(lower, upper));
        let found = crate::solve::solve_whole(&plain.with_penalty(bounded)?, &options)?;
        let objective = Grouped { problem: &plain, groups: grouped.groups }.objective(&found.coefficients)?;
        Ok(GroupFit { objective, bound: found.certificate.lower_bound, coefficients: found.coefficients })
    }

    /// The relaxation with these groups in and the others out, which is the fit and has its bound (MATH 11.36).
    fn relaxed(&mut self, chosen: &[usize], penalty: Penalty, until: Until<'_>) -> Result<GroupFit> {
        let (plain, p) = (self.grouped.problem.with_penalty(penalty)?, self.grouped.problem.ncols());
        let grouped = Grouped { problem: &plain, groups: self.grouped.groups };
        let mut choices = vec![Decision::Out; grouped.groups.len()];
        chosen.iter().for_each(|&g| choices[g] = Decision::In);
        let part = Part { choices: &choices, price: (0.0, 0.0) };
        let start = self.last.as_ref().map(|last| (last.to_dense(p), last.intercept));
        let from = start.as_ref().map(|(beta, intercept)| (beta.as_slice(), *intercept));
        let found = minimise(&grouped, &part, from, until, self.limits)?;
        let coefficients = Coefficients::from_dense(&found.beta, found.intercept);
        let objective = grouped.objective(&coefficients)?;
        self.last = Some(coefficients.clone());
        Ok(GroupFit { objective, bound: found.bound, coefficients })
    }

    /// The fit on these groups, of a loss over all samples together, to what tells one choice from another.
    pub(super) fn rough(&mut self, chosen: &[usize]) -> Result<GroupFit> {
        if let Some(known) = self.known.get(chosen).or_else(|| self.compared.get(chosen)) {
            return Ok(self.priced(chosen, known.clone()));
        }
        let problem = self.grouped.problem;
        let penalty = Penalty { lambda0: 0.0, ..problem.penalty().clone() };
        let last = std::cell::Cell::new(f64::INFINITY);
        let enough = |value: f64, _: f64| last.replace(value) - value <= ROUGH * value.abs();
        let fit = self.relaxed(chosen, penalty, Until { gap: ROUGH, enough: &enough, polish: false })?;
        keep(&mut self.compared, chosen, &fit);
        Ok(self.priced(chosen, fit))
    }

    /// The groups of a start, the longest coefficients first, as far as the size allows.
    pub(crate) fn within(&self, start: &Coefficients, size: Option<usize>) -> Result<Vec<usize>> {
        let chosen = self.grouped.chosen(start);
        let Some(most) = size else { return Ok(chosen) };
        let squares = self.grouped.problem.squares()?;
        let beta = start.to_dense(self.grouped.problem.ncols());
        let worth = |g: usize| {
            let term = |&j: &usize| beta[j] * beta[j] * squares[j];
            self.grouped.groups.members[g].iter().map(term).sum::<f64>()
        };
        let mut order: Vec<(f64, usize)> = chosen.into_iter().map(|g| (worth(g), g)).collect();
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (mut left, mut kept) = (most, Vec::new());
        for (_, g) in order {
            if self.grouped.size(g) <= left {
                left -= self.grouped.size(g);
                kept.push(g);
            }
        }
        kept.sort_unstable();
        Ok(kept)
    }

    /// The best of the choices one group away, if it is better.
    fn better(&mut self, current: &GroupFit, size: Option<usize>) -> Result<Option<GroupFit>> {
        let chosen = self.grouped.chosen(&current.coefficients);
        if self.grouped.problem.coupled().is_some() {
            return self.better_by_model(current, size, Effort::Thorough);
        }
        let adding = self.promising(&current.coefficients, &chosen, CANDIDATES)?;
        let without = |i: usize| chosen.iter().copied().filter(|&g| g != i).collect::<Vec<usize>>();
        let mut choices: Vec<Vec<usize>> = chosen.iter().map(|&i| without(i)).collect();
        for &j in &adding {
            choices.push([chosen.as_slice(), &[j]].concat());
            choices.extend(chosen.iter().map(|&i| [without(i), vec![j]].concat()));
        }
        choices.retain(|choice| size.is_none_or(|most| self.grouped.size_of(choice) <= most));
        let mut best: Option<GroupFit> = None;
        for mut choice in choices {
            if self.limits.stop(0).is_some() {
                break;
            }
            choice.sort_unstable();
            let fit = self.fit(&choice)?;
            if fit.objective < best.as_ref().unwrap_or(current).objective * (1.0 - 1e-12) {
                best = Some(fit);
            }
        }
        Ok(best)
    }

    /// The first of the changes of a group that is better, the best by the model first: a fit takes longer than to price all of them.
    pub(super) fn better_by_model(
        &mut self,
        current: &GroupFit,
        size: Option<usize>,
        effort: Effort,
    ) -> Result<Option<GroupFit>> {
        let chosen = self.grouped.chosen(&current.coefficients);
        let adding = self.promising(&current.coefficients, &chosen, PRICED)?;
        self.better_with(current, &adding, size, effort)
    }

    /// As [`Fits::better_by_model`], with these groups to be added or exchanged for.
    pub(super) fn better_with(
        &mut self,
        current: &GroupFit,
        adding: &[usize],
        size: Option<usize>,
        effort: Effort,
    ) -> Result<Option<GroupFit>> {
        let (chosen, mut attempts) = (self.grouped.chosen(&current.coefficients), 0);
        for change in changes(self.grouped, &current.coefficients, &chosen, adding)? {
            let mut choice: Vec<usize> = chosen.iter().copied().filter(|g| Some(*g) != change.drop).collect();
            choice.extend(change.add);
            choice.sort_unstable();
            if size.is_some_and(|most| self.grouped.size_of(&choice) > most) {
                continue;
            }
            let fit = if effort == Effort::Quick { self.rough(&choice)? } else { self.fit(&choice)? };
            if fit.objective < current.objective * (1.0 - effort.better()) {
                return Ok(Some(fit));
            }
            attempts += 1;
            if attempts == effort.attempts() || self.limits.stop(0).is_some() {
                break;
            }
        }
        Ok(None)
    }

    /// The coefficients without the groups that the model at a fit misses least (MATH 9.15), as many as leave at most `most` features.
    pub(crate) fn shrunk(&self, fit: &GroupFit, most: usize) -> Result<Coefficients> {
        let mut chosen = self.grouped.chosen(&fit.coefficients);
        for change in changes(self.grouped, &fit.coefficients, &chosen.clone(), &[])? {
            if self.grouped.size_of(&chosen) <= most {
                break;
            }
            chosen.retain(|g| Some(*g) != change.drop);
        }
        let is_kept = |j: usize| chosen.iter().any(|&g| self.grouped.groups.members[g].contains(&j));
        let pairs = fit.coefficients.iter().filter(|c| is_kept(c.0)).collect();
        Ok(Coefficients::from_pairs(pairs, fit.coefficients.intercept))
    }

    /// √(ab) per feature, a what the model at a fit loses without the group it misses least, b what one more brings (MATH 9.15): between the two
    /// prices on top of λ0 no group leaves or joins. Nothing where the fit is smaller than it may be.
    pub(crate) fn price_of_size(&self, fit: &GroupFit, most: usize) -> Result<f64> {
        let chosen = self.grouped.chosen(&fit.coefficients);
        if self.grouped.size_of(&chosen) < most {
            return Ok(0.0);
        }
        let adding = self.promising(&fit.coefficients, &chosen, PRICED)?;
        let (mut brought, mut next) = (f64::INFINITY, 0.0f64);
        for change in changes(self.grouped, &fit.coefficients, &chosen, &adding)? {
            let each = |g: usize| change.by / self.grouped.size(g) as f64;
            match (change.drop, change.add) {
                (Some(g), None) => brought = brought.min(each(g)),
                (None, Some(g)) => next = next.max(-each(g)),
                _ => {}
            }
        }
        let least = NO_PRICE * fit.objective.abs();
        Ok((brought.max(least) * next.max(least)).sqrt()).map(|nu: f64| if nu.is_finite() { nu } else { 0.0 })
    }

    /// The groups outside with the least λ0_g + Σ φ_j⁰ (MATH 9.4) at the current dual point, so many at the most.
    pub(super) fn promising(&self, coefficients: &Coefficients, chosen: &[usize], most: usize) -> Result<Vec<usize>> {
        let (groups, tau) = (self.grouped.groups, self.grouped.problem.correlations_at(coefficients)?);
        let worth = |g: usize| groups.members[g].iter().map(|&j| self.grouped.selected(j).phi(tau[j])).sum::<f64>();
        let mut is_inside = vec![false; groups.len()];
        chosen.iter().for_each(|&g| is_inside[g] = true);
        let outside = (0..groups.len()).filter(|&g| !is_inside[g]);
        let mut order: Vec<(f64, usize)> = outside.map(|g| (self.grouped.price(g) + worth(g), g)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Ok(order.iter().take(most).map(|o| o.1).collect())
    }
}
