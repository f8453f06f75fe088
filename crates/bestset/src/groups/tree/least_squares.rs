//! Nodes bounded by the fit on all their groups: leaps and bounds over groups (MATH 11.38–11.41).

use super::family::Families;
use super::{Bounding, GroupNode, Look, drop_large, is_too_large, of_kind};
use crate::control::Limits;
use crate::error::Result;
use crate::groups::search::GroupFit;
use crate::groups::{Decision, Grouped};
use crate::loss::Loss;

/// Whether the normal equations are all there is to it: least squares, no λ1, one λ2 for all features, no bounds but those that keep
/// a feature out.
pub(crate) fn applies(grouped: &Grouped<'_, '_>) -> bool {
    let first = grouped.problem.coordinate(0).l2;
    let is_plain = |j: usize| {
        let c = grouped.problem.coordinate(j);
        let is_free = (c.lower, c.upper) == (f64::NEG_INFINITY, f64::INFINITY);
        c.l1 == 0.0 && c.l2 == first && (is_free || (c.lower, c.upper) == (0.0, 0.0))
    };
    grouped.problem.loss() == Loss::Squared && (0..grouped.problem.ncols()).all(is_plain)
}

/// Families of choices of groups.
pub(crate) struct LeastSquaresNodes<'l, 'p, 'a> {
    families: Families<'l, 'p, 'a>,
    size: Option<usize>,
}

impl Bounding for LeastSquaresNodes<'_, '_, '_> {
    fn look(&mut self, node: &GroupNode, cutoff: f64, limits: &Limits) -> Result<Look> {
        let (mut choices, mut look) = (node.choices.clone(), Look { cut: f64::INFINITY, ..Look::default() });
        let grouped = self.families.grouped;
        loop {
            drop_large(grouped, self.size, &mut choices);
            let (inside, open) = (of_kind(&choices, Decision::In), of_kind(&choices, Decision::Open));
            if limits.stop(0).is_some() {
                return Ok(look);
            }
            if open.is_empty() {
                look.leaf = Some(self.families.evaluated(&inside)?);
                return Ok(look);
            }
            let family = self.families.family(&inside, &open)?;
            let mut dear: Vec<(f64, usize)> = family.costs.iter().copied().zip(open.iter().copied()).collect();
            dear.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            look.cut = look.cut.min(self.decide(family.least, &dear, &mut choices, cutoff));
            if is_too_large(grouped, self.size, &choices) {
                return Ok(look);
            }
            let left = choices.iter().filter(|c| **c != Decision::Out).count();
            if left < inside.len() + open.len() || drop_large(grouped, self.size, &mut choices) {
                continue;
            }
            dear.retain(|(_, g)| choices[*g] == Decision::Open);
            self.offer(&choices, &dear, cutoff, &mut look)?;
            match family.slack.filter(|_| self.is_nearly_full(&choices)) {
                Some(slack) => self.complete(slack, &choices, cutoff, &mut look),
                None => self.divide(family.least, &choices, &dear, cutoff, &mut look),
            }
            return Ok(look);
        }
    }
}

impl<'l, 'p, 'a> LeastSquaresNodes<'l, 'p, 'a> {
    /// A few passes over X.
    pub(crate) fn new(grouped: &'l Grouped<'p, 'a>, size: Option<usize>) -> Result<Self> {
        Ok(Self { families: Families::new(grouped)?, size })
    }

    /// The combinations of columns that were taken for exact.
    pub(crate) fn dependent(&self) -> Vec<Vec<usize>> {
        self.families.dependent()
    }

    /// `least` and the prices of the groups that are in, less their rounding.
    fn base(&self, least: f64, choices: &[Decision]) -> f64 {
        let inside = of_kind(choices, Decision::In);
        let prices: f64 = inside.iter().map(|&g| self.families.grouped.price(g)).sum();
        (least + prices) * (1.0 - f64::EPSILON * (choices.len() as f64 + 16.0))
    }

    /// What costs too much to drop is in, what costs too much to have is out (MATH 11.39); the least bound of what that cuts off.
    fn decide(&self, least: f64, dear: &[(f64, usize)], choices: &mut [Decision], cutoff: f64) -> f64 {
        let (mut cut, grouped) = (f64::INFINITY, self.families.grouped);
        loop {
            let (base, mut has_changed) = (self.base(least, choices), false);
            for &(cost, g) in dear {
                if choices[g] != Decision::Open {
                    continue;
                }
                let (without, with) = (base + cost, base + grouped.price(g));
                if without > cutoff {
                    (choices[g], cut, has_changed) = (Decision::In, cut.min(without), true);
                    break;
                }
                if with > cutoff {
                    (choices[g], cut) = (Decision::Out, cut.min(with));
                }
            }
            if !has_changed {
                return cut;
            }
        }
    }

    /// The choices by the first group, the dearest first, that is out (MATH 11.40).
    fn divide(&self, least: f64, choices: &[Decision], dear: &[(f64, usize)], cutoff: f64, look: &mut Look) {
        let grouped = self.families.grouped;
        let mut child = choices.to_vec();
        let mut add = |bound: f64, child: &[Decision]| match bound > cutoff {
            true => look.cut = look.cut.min(bound),
            false => look.children.push((bound, child.to_vec())),
        };
        for &(cost, g) in dear {
            child[g] = Decision::Out;
            add(self.base(least + cost, &child), &child);
            child[g] = Decision::In;
            if is_too_large(grouped, self.size, &child) {
                return;
            }
        }
        add(self.base(least, &child), &child);
    }

    /// Whether no three of the open groups have room.
    fn is_nearly_full(&self, choices: &[Decision]) -> bool {
        let (grouped, open) = (self.families.grouped, of_kind(choices, Decision::Open));
        let mut sizes: Vec<usize> = open.iter().map(|&g| grouped.size(g)).collect();
        sizes.sort_unstable();
        let inside = grouped.size_of(&of_kind(choices, Decision::In));
        sizes.len() < 3 || self.size.is_some_and(|most| inside + sizes[0] + sizes[1] + sizes[2] > most)
    }

    /// Every choice of a node that has room for two groups more (MATH 11.41).
    fn complete(&self, slack: f64, choices: &[Decision], cutoff: f64, look: &mut Look) {
        let (inside, open) = (of_kind(choices, Decision::In), of_kind(choices, Decision::Open));
        let grouped = self.families.grouped;
        let room = self.size.map(|most| most - grouped.size_of(&inside));
        let mut closed = choices.to_vec();
        open.iter().for_each(|&g| closed[g] = Decision::Out);
        let (paid, digits) = (self.base(0.0, &closed), 1.0 - f64::EPSILON * (choices.len() as f64 + 16.0));
        self.families.completions(&inside, &open, slack, |least, added| {
            if room.is_some_and(|room| grouped.size_of(added) > room) {
                return;
            }
            let bound = (least + paid + added.iter().map(|&g| grouped.price(g)).sum::<f64>()) * digits;
            if bound > cutoff {
                look.cut = look.cut.min(bound);
                return;
            }
            let mut child = closed.clone();
            added.iter().for_each(|&g| child[g] = Decision::In);
            look.children.push((bound, child));
        });
    }

    /// The groups that are in and those that cost most to drop, if they are better than what is known.
    fn offer(&mut self, choices: &[Decision], dear: &[(f64, usize)], cutoff: f64, look: &mut Look) -> Result<()> {
        let (grouped, mut chosen) = (self.families.grouped, of_kind(choices, Decision::In));
        for &(cost, g) in dear {
            let fits = self.size.is_none_or(|most| grouped.size_of(&chosen) + grouped.size(g) <= most);
            if cost > grouped.price(g) && fits {
                chosen.push(g);
            }
        }
        if self.value(&chosen)? < cutoff {
            look.found.push(self.families.evaluated(&chosen)?);
        }
        Ok(())
    }

    /// fit(S) and the prices, by the normal equations.
    fn value(&mut self, chosen: &[usize]) -> Result<f64> {
        let prices: f64 = chosen.iter().map(|&g| self.families.grouped.price(g)).sum();
        Ok(self.families.value(chosen)? + prices)
    }

    /// A good choice: groups added, dropped and exchanged while P falls, from those given.
    pub(crate) fn search(&mut self, start: &[usize], limits: &Limits) -> Result<GroupFit> {
        let (grouped, mut chosen) = (self.families.grouped, start.to_vec());
        let mut value = self.value(&chosen)?;
        while limits.stop(0).is_none() {
            let outside: Vec<usize> = (0..grouped.groups.len()).filter(|g| !chosen.contains(g)).collect();
            let without = |i: usize| chosen.iter().copied().filter(|&g| g != i).collect::<Vec<usize>>();
            let adds = outside.iter().map(|&j| [chosen.as_slice(), &[j]].concat());
            let drops = chosen.iter().map(|&i| without(i));
            let mut best = self.least(adds.chain(drops).collect(), value)?;
            if best.is_none() {
                let swaps = outside.iter().flat_map(|&j| chosen.iter().map(move |&i| (i, j)));
                let swaps = swaps.map(|(i, j)| [without(i), vec![j]].concat()).collect();
                best = self.least(swaps, value)?;
            }
            let Some(better) = best else { break };
            (value, chosen) = better;
        }
        chosen.sort_unstable();
        self.families.evaluated(&chosen)
    }

    /// The best of some choices, if it is below a value.
    fn least(&mut self, choices: Vec<Vec<usize>>, below: f64) -> Result<Option<(f64, Vec<usize>)>> {
        let mut best = None;
        let mut least = below * (1.0 - 1e-12);
        for choice in choices {
            let is_allowed = self.size.is_none_or(|most| self.families.grouped.size_of(&choice) <= most);
            if is_allowed {
                let value = self.value(&choice)?;
                if value < least {
                    (least, best) = (value, Some((value, choice)));
                }
            }
        }
        Ok(best)
    }
}
