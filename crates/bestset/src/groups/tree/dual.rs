//! Nodes bounded by the relaxation (MATH 11.36, 11.37).

use super::{Bounding, GroupNode, Look, Start, drop_large, is_too_large, of_kind};
use crate::control::Limits;
use crate::error::Result;
use crate::exact::multiplier::Multiplier;
use crate::groups::block::Block;
use crate::groups::relax::{GroupRelaxation, Until, minimise};
use crate::groups::search::Fits;
use crate::groups::{Decision, Grouped, Part};
use crate::problem::screening::MARGIN;
use std::sync::Arc;

/// The relaxation of a node ends at this gap, relative to R.
const GAP: f64 = 1e-6;

/// Or at this share of what R is below the value to beat: the node will be split whatever the rest is.
const SHARE: f64 = 0.1;

/// Prices ν tried in a node at the most, and the share of the gap that another must be able to close.
const PRICES: (usize, f64) = (12, 0.05);

/// The relaxations of nodes.
pub(crate) struct DualNodes<'d, 'p, 'a> {
    pub(crate) grouped: &'d Grouped<'p, 'a>,
    pub(crate) fits: Fits<'d, 'p, 'a>,
    /// At most so many features.
    pub(crate) size: Option<usize>,
    /// R over the value to beat at which no bound is worth having; zero where nodes are to be split all the same.
    pub(crate) hopeless: f64,
}

impl Bounding for DualNodes<'_, '_, '_> {
    fn look(&mut self, node: &GroupNode, cutoff: f64, limits: &Limits) -> Result<Look> {
        let (grouped, mut choices) = (self.grouped, node.choices.clone());
        drop_large(grouped, self.size, &mut choices);
        let mut look = Look { cut: f64::INFINITY, ..Look::default() };
        if of_kind(&choices, Decision::Open).is_empty() {
            look.leaf = Some(self.fits.fit(&of_kind(&choices, Decision::In))?);
            return Ok(look);
        }
        let (relaxed, nu) = self.relax(&choices, node.start.as_deref(), cutoff, limits)?;
        if relaxed.bound > cutoff {
            look.cut = relaxed.bound;
            return Ok(look);
        }
        let price = (nu, self.size.unwrap_or(0) as f64);
        let rounded = relaxed.rounded(grouped, &Part { choices: &choices, price }, 0.5);
        let chosen = self.fits.within(&rounded, self.size)?;
        look.found.push(self.fits.fit(&chosen)?);
        look.cut = decide(&relaxed, &mut choices, cutoff);
        if is_too_large(grouped, self.size, &choices) {
            return Ok(look);
        }
        drop_large(grouped, self.size, &mut choices);
        if of_kind(&choices, Decision::Open).is_empty() {
            look.leaf = Some(self.fits.fit(&of_kind(&choices, Decision::In))?);
            return Ok(look);
        }
        let g = self.branch(&relaxed, &choices, nu);
        for side in [Decision::Out, Decision::In] {
            let mut child = choices.clone();
            child[g] = side;
            look.children.push((relaxed.bound, child));
        }
        look.start = Some(Arc::new(Start { beta: relaxed.beta, intercept: relaxed.intercept, nu }));
        Ok(look)
    }
}

impl DualNodes<'_, '_, '_> {
    /// The relaxation with the price ν of the best bound (MATH 11.5), and that ν.
    pub(crate) fn relax(
        &self,
        choices: &[Decision],
        start: Option<&Start>,
        cutoff: f64,
        limits: &Limits,
    ) -> Result<(GroupRelaxation, f64)> {
        let grouped = self.grouped;
        let all: usize = (0..choices.len()).filter(|&g| choices[g] != Decision::Out).map(|g| grouped.size(g)).sum();
        let size = self.size.filter(|&most| all > most);
        let is_hopeless = |value: f64| cutoff.is_finite() && self.hopeless > 0.0 && value <= self.hopeless * cutoff;
        let enough = |value: f64, bound: f64| {
            let is_close = cutoff.is_finite() && value < cutoff && value - bound <= SHARE * (cutoff - value);
            bound > cutoff || is_close || is_hopeless(value)
        };
        let once = |nu: f64, from: Option<(&[f64], f64)>| {
            let part = Part { choices, price: (nu, size.unwrap_or(0) as f64) };
            let relaxed = minimise(grouped, &part, from, Until { gap: GAP, enough: &enough, polish: false }, limits)?;
            let shares = relaxed.shares(grouped, &part);
            let count: f64 = (0..shares.len()).map(|g| shares[g] * grouped.size(g) as f64).sum();
            Ok((relaxed, count))
        };
        let mut multiplier = Multiplier::new(size, PRICES.0, PRICES.1);
        let mut nu = if size.is_some() { start.map_or(0.0, |s| s.nu) } else { 0.0 };
        let (mut best, mut count) = once(nu, start.map(|s| (s.beta.as_slice(), s.intercept)))?;
        let (mut own, mut last) = (nu, (best.beta.clone(), best.intercept));
        while best.bound <= cutoff && !is_hopeless(best.value) && limits.stop(0).is_none() {
            // From nothing, ν is sought on the scale of what there is to gain.
            let wanted = if cutoff.is_finite() { cutoff - best.bound } else { best.value.abs() };
            let Some(next) = multiplier.next(nu, count, wanted) else { break };
            let (relaxed, taken) = once(next, Some((&last.0, last.1)))?;
            (nu, count, last) = (next, taken, (relaxed.beta.clone(), relaxed.intercept));
            if relaxed.bound > best.bound {
                (best, own) = (relaxed, next);
            }
        }
        Ok((best, own))
    }

    /// The open group whose penalty the envelope falls shortest of, the first of equals.
    fn branch(&self, relaxed: &GroupRelaxation, choices: &[Decision], nu: f64) -> usize {
        let grouped = self.grouped;
        let open = of_kind(choices, Decision::Open);
        let excess = |&g: &usize| {
            let own: Vec<f64> = grouped.groups.members[g].iter().map(|&j| relaxed.beta[j]).collect();
            Block::new(grouped, g, grouped.price(g) + nu * grouped.size(g) as f64).excess(&own)
        };
        let scored = open.iter().map(|g| (excess(g), *g));
        scored.reduce(|a, b| if b.0 > a.0 { b } else { a }).map_or(0, |best| best.1)
    }
}

/// D + max(0, ω_g) > P̂ ⇒ g is out, D + max(0, −ω_g) > P̂ ⇒ g is in (MATH 11.37), ω_g = λ0_g + νs_g + Σφ_j⁰; the least bound of
/// what that cuts off.
fn decide(relaxed: &GroupRelaxation, choices: &mut [Decision], best: f64) -> f64 {
    let (mut cut, margin) = (f64::INFINITY, MARGIN * (best.abs() + relaxed.bound.abs()));
    for g in of_kind(choices, Decision::Open) {
        let (with, without) = (relaxed.bound + relaxed.worths[g].max(0.0), relaxed.bound - relaxed.worths[g].min(0.0));
        if with > best + margin {
            (choices[g], cut) = (Decision::Out, cut.min(with - margin));
        } else if without > best + margin {
            (choices[g], cut) = (Decision::In, cut.min(without - margin));
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{Case, RngExt, brackets, least_of, normal, power, rng};
    use crate::control::{Monitor, Options};
    use crate::groups::Groups;
    use crate::penalty::Penalty;

    /// What MATH 11.37 says of every group, of the least P with it and without it, at prices and at sizes, at the root and where one group
    /// is in; `decide` cuts off no more than that.
    #[test]
    fn what_is_said_of_a_group_bounds_every_choice_with_it_or_without_it() {
        let (mut outs, mut ins) = (0, 0);
        for seed in 0..150 {
            let mut rng = rng(61_000 + seed);
            let (n, p) = (rng.random_range(6..=30), rng.random_range(4..=9));
            let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
            let y: Vec<f64> = (0..n).map(|i| 2.0 * x[i] - x[2 * n + i] + 0.7 * normal(&mut rng)).collect();
            let lambda0 = n as f64 * power(&mut rng, -2.0, 0.0);
            let case = Case::dense(n, p, x, y, Penalty::new(lambda0, 0.0, n as f64 * power(&mut rng, -2.0, 0.0)));
            let groups = Groups::new(&(0..p).map(|j| j / 2).collect::<Vec<_>>());
            let fits = brackets(&case, &groups.members);
            let k = rng.random_bool(0.5).then(|| rng.random_range(2..=p));
            let first = rng.random_bool(0.3).then_some(0);
            let (options, mut silent) = (Options::default(), ());
            let monitor = Monitor::new(&options, &mut silent);
            let limits = monitor.limits().clone();
            case.with_problem(|problem| {
                let grouped = Grouped { problem, groups: &groups };
                let own = Fits::new(&grouped, &options, &limits);
                let nodes = DualNodes { grouped: &grouped, fits: own, size: k, hopeless: 0.0 };
                let mut choices = vec![Decision::Open; groups.len()];
                first.into_iter().for_each(|g: usize| choices[g] = Decision::In);
                let (relaxed, _) = nodes.relax(&choices, None, f64::INFINITY, &limits).unwrap();
                let least = |g: usize, is_in: bool| {
                    let size = |mask: usize| {
                        (0..groups.len()).filter(|g| mask >> g & 1 == 1).map(|g| grouped.size(g)).sum::<usize>()
                    };
                    let price = |mask: usize| {
                        (0..groups.len()).filter(|g| mask >> g & 1 == 1).map(|g| grouped.price(g)).sum::<f64>()
                    };
                    let is_allowed = |mask: usize| {
                        (mask >> g & 1 == 1) == is_in
                            && first.is_none_or(|g| mask >> g & 1 == 1)
                            && k.is_none_or(|k| size(mask) <= k)
                    };
                    least_of(&fits, |mask| if is_allowed(mask) { price(mask) } else { f64::INFINITY }).1
                };
                for g in of_kind(&choices, Decision::Open) {
                    let (with, without) = (least(g, true), least(g, false));
                    let room = 1e-9 * with.min(without).abs();
                    let worth = relaxed.worths[g];
                    assert!(relaxed.bound + worth.max(0.0) <= with + room, "{seed}: {g} in, {worth}, {with}");
                    assert!(relaxed.bound - worth.min(0.0) <= without + room, "{seed}: {g} out, {worth}, {without}");
                    // A value to beat between the two decides, and what it cuts off is what was said.
                    for best in [0.5 * (relaxed.bound + with), 0.5 * (relaxed.bound + without), relaxed.bound] {
                        let mut decided = choices.clone();
                        let cut = decide(&relaxed, &mut decided, best);
                        assert!(decided[g] != Decision::Out || cut <= with + room, "{seed}: {g}");
                        assert!(decided[g] != Decision::In || cut <= without + room, "{seed}: {g}");
                        assert!(decided[g] != Decision::Out || best <= with + room, "{seed}: {g} was wanted");
                        assert!(decided[g] != Decision::In || best <= without + room, "{seed}: {g} was not wanted");
                        outs += usize::from(decided[g] == Decision::Out);
                        ins += usize::from(decided[g] == Decision::In);
                    }
                }
            });
        }
        assert!(outs > 100 && ins > 100, "{outs} out, {ins} in");
    }
}
