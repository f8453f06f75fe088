//! What the open nodes leave: a subset that is better than the best answer is in one of them, so that it has none of the features that are out
//! in all of them, and all of those that are in (MATH 13.9). Among ten million features, a hundred thousand may be left after some nodes.

use crate::coherence::{self, Apart};
use crate::control::Monitor;
use crate::design::Design;
use crate::error::Result;
use crate::exact::node::Choice;
use crate::exact::node::costs::PARTS;
use crate::exact::tree::Tree;
use crate::kernel::each::{chosen, each};
use crate::problem::Problem;
use crate::solution::Coefficients;
use std::collections::HashSet;
use std::sync::Arc;

/// A look at fewer features than the last is worth its cost from this part of them on: all looks together cost 4/3 of the first.
const FEWER: usize = 2;

/// By which share the sum of what features that are in cost may be too large.
const ROUNDING: f64 = 1e-12;

/// The features that subsets of the open nodes can have.
pub(in crate::exact) struct LeftOpen {
    /// Those that are not out in every open node, and those of the best answer, ascending.
    pub features: Vec<usize>,
    /// Those that are in in every one, ascending.
    pub inside: Vec<usize>,
    /// What each costs in the node where it costs least, in parts of the node's room, where that is known.
    pub parts: Option<Vec<u8>>,
}

impl LeftOpen {
    /// The problem of the columns that are left, those in every node without a price, and what they cost together.
    pub fn problem<'h>(&self, whole: &Problem<'_>, columns: &'h dyn Design) -> Result<(Problem<'h>, f64)> {
        let places: Vec<usize> = self.inside.iter().filter_map(|j| self.features.binary_search(j).ok()).collect();
        let penalty = whole.penalty().of(&self.features).always(&places, self.features.len())?;
        let paid: f64 = self.inside.iter().map(|&j| whole.coordinate(j).l0).sum();
        Ok((whole.with_columns(columns, penalty)?, paid * (1.0 - ROUNDING)))
    }

    /// Which of them no better subset has together: in no open node do two of so many parts fit into its room (MATH 13.10).
    pub fn apart(&self) -> Option<Apart> {
        let parts = self.parts.as_ref()?;
        Apart::new(parts.iter().map(|&part| f64::from(part)).collect(), f64::from(PARTS))
    }

    /// How many pairs of them a subset may have, counted from both sides.
    fn pairs(&self) -> f64 {
        let Some(parts) = &self.parts else { return (self.features.len() as f64).powi(2) };
        let mut counts = [0.0; 256];
        parts.iter().for_each(|&part| counts[usize::from(part)] += 1.0);
        let beside = |part: usize| counts[..=usize::from(PARTS) - part].iter().sum::<f64>();
        (0..=usize::from(PARTS)).map(|part| counts[part] * beside(part)).sum()
    }

    /// The answer by places among the features that are left.
    pub fn placed(&self, answer: &Coefficients) -> Coefficients {
        let place = |(j, b): (usize, f64)| self.features.binary_search(&j).ok().map(|k| (k, b));
        Coefficients::from_pairs(answer.iter().filter_map(place).collect(), answer.intercept)
    }
}

impl Tree<'_, '_> {
    /// U and I of the open nodes (MATH 13.9).
    pub(in crate::exact) fn remainder(&self, answer: &Coefficients) -> LeftOpen {
        let near = self.near.active.features();
        let p = self.setting.problem.ncols();
        let (mut is_left, mut is_in) = (vec![false; p], vec![true; near.len()]);
        let mut parts = self.lists_pairs().then(|| vec![u8::MAX; p]);
        let mut lists: HashSet<usize> = HashSet::new();
        for node in self.frontier.open() {
            for (k, choice) in node.choices(near).into_iter().enumerate() {
                is_left[near[k]] |= choice != Choice::Out;
                is_in[k] &= choice == Choice::In;
            }
            // Of a list that nodes share, those that have come near were looked at above.
            if lists.insert(Arc::as_ptr(&node.far).addr()) {
                node.far.iter().filter(|j| self.near.position(**j).is_none()).for_each(|&j| is_left[j] = true);
                if let Some(parts) = &mut parts {
                    match &node.costs {
                        Some(costs) => costs.of(&node.far).for_each(|(j, part)| parts[j] = parts[j].min(part)),
                        None => node.far.iter().for_each(|&j| parts[j] = 0),
                    }
                }
            }
        }
        answer.support.iter().for_each(|&j| is_left[j] = true);
        // What is near may cost anything.
        parts.iter_mut().for_each(|parts| near.iter().chain(&answer.support).for_each(|&j| parts[j] = 0));
        let mut inside: Vec<usize> = near.iter().zip(is_in).filter(|n| n.1).map(|n| *n.0).collect();
        inside.sort_unstable();
        let features = chosen(p, |j| is_left[j].then_some(j));
        let parts = parts.map(|parts| each(features.len(), |k| parts[features[k]]));
        LeftOpen { features, inside, parts }
    }

    /// What is left, if that is enough fewer features than at the last look, a look at their pairs takes no longer than the nodes so far,
    /// and there is room for it.
    pub(super) fn worth_a_look(&self, answer: &Coefficients, monitor: &Monitor<'_>) -> Option<LeftOpen> {
        let problem = self.setting.problem;
        // No fewer are left than the longest list has, but for those that have come near: all nodes need not be gone through to see that
        // they are too many.
        let longest = self.frontier.open().map(|node| node.far.len()).max()?;
        if !self.makes_up_for(longest.saturating_sub(self.near.active.len())) {
            return None;
        }
        let remainder = self.remainder(answer);
        let count = remainder.features.len();
        let is_fewer = self.looked_among.is_none_or(|before| FEWER * count <= before);
        let is_due = is_fewer && self.makes_up_for(count);
        let can = match problem.design().lists_pairs() {
            true => coherence::applies_elsewhere(problem, count, &self.memory),
            false => coherence::applies_among(problem, count, &self.memory),
        };
        (is_due && count > 0 && can && monitor.has_time_for(coherence::cost_of(problem, remainder.pairs())))
            .then_some(remainder)
    }
}
