//! Looks at coherence: what it proves of the subsets of the open nodes (MATH 13.3, 13.9), when that is worth its cost.

use crate::coherence::{self, Coherent, Look};
use crate::control::Monitor;
use crate::design::{ColumnSubset, Held};
use crate::error::{Error, Result};
use crate::exact::setting::Setting;
use crate::exact::tree::Tree;
use crate::exact::tree::region::{PartOfSubsets, RegionRoot};
use crate::exact::tree::remainder::LeftOpen;
use crate::problem::Problem;
use crate::solution::Coefficients;

impl Tree<'_, '_> {
    /// Bounds the subsets of the open nodes by coherence around the best answer (MATH 13.3, 13.9): when the tree has done as much work as
    /// that takes, or after its first nodes where the bound is far from P and a forecast says that coherence closes what is left. `before` so
    /// many nodes had been looked at when that was asked last. False where a limit cut it short.
    pub(super) fn look_at_coherence(&mut self, before: usize, monitor: &mut Monitor<'_>) -> Result<bool> {
        let Setting { problem, size, ref tuning, .. } = self.setting;
        let Some((_, answer)) = self.pool.entries().first().cloned() else { return Ok(true) };
        let is_never = self.setting.options.top > 1 || self.looked_among == Some(0) || !problem.loss().is_quadratic();
        if is_never || self.frontier.len() == 0 {
            return Ok(true);
        }
        // What is left is asked for whenever there are an eighth more nodes: all that are open are gone through.
        let has_grown = before == 0 || self.processed / (before / 8 + 1) > before / (before / 8 + 1);
        let remainder = if has_grown { self.worth_a_look(&answer, monitor) } else { None };
        if let Some(remainder) = remainder {
            return self.look_among(&remainder, &answer, monitor);
        }
        // What a tree of such a gap takes is more than a look at all pairs does.
        let is_wide = || self.gap() > tuning.coherence_gap * problem.penalty().lambda0;
        let can = || coherence::applies(problem, &self.memory) && monitor.has_time_for(coherence::cost(problem));
        if before > 0 || size.is_some() || self.looked_among.is_some() || !is_wide() || !can() {
            return Ok(true);
        }
        let part = PartOfSubsets { problem, answer: &answer, paid: 0.0 };
        self.look_within(&part, true, monitor)
    }

    /// Whether the nodes so far have taken as long as a look at all pairs of so many features: each is some dozens of products with the near
    /// columns, and few nodes are worth none.
    pub(super) fn makes_up_for(&self, features: usize) -> bool {
        let (problem, tuning) = (self.setting.problem, &self.setting.tuning);
        let entries = (problem.nrows() * self.near.active.len()) as f64;
        let node = tuning.coherence_work_per_node.min(tuning.coherence_work_per_entry * entries);
        let done = self.processed as f64 * node;
        self.processed >= tuning.nodes_before_coherence
            && done >= coherence::work_of(problem, (features as f64).powi(2))
    }

    /// As [`Tree::look_at_coherence`], among the features that are left.
    fn look_among(&mut self, remainder: &LeftOpen, answer: &Coefficients, monitor: &mut Monitor<'_>) -> Result<bool> {
        let Setting { problem, size, .. } = self.setting;
        let limited = size.map(|k| problem.clone().with_max_size(k)).transpose()?;
        let (whole, left) = (limited.as_ref().unwrap_or(problem), remainder.features.len());
        if left == problem.ncols() && remainder.inside.is_empty() && !problem.design().lists_pairs() {
            self.look_within(&PartOfSubsets { problem: whole, answer, paid: 0.0 }, false, monitor)
        } else {
            let (placed, passes) = (remainder.placed(answer), monitor.passes);
            let is_whole = match self.look_elsewhere(remainder, (whole, &placed), monitor)? {
                Some(is_whole) => Ok(is_whole),
                None => self.look_here(remainder, (whole, &placed), monitor),
            };
            // Those over what is left are parts of passes over X, as the copying is.
            let share = left as f64 / problem.ncols() as f64;
            monitor.passes = passes + share * (1.0 + monitor.passes - passes);
            is_whole
        }
    }

    /// As [`Tree::look_among`], with copies of the columns, where there is room for them.
    fn look_here(
        &mut self,
        remainder: &LeftOpen,
        (whole, answer): (&Problem<'_>, &Coefficients),
        monitor: &mut Monitor<'_>,
    ) -> Result<bool> {
        if !coherence::applies_among(whole, remainder.features.len(), &self.memory) {
            self.looked_among = Some(remainder.features.len());
            return Ok(true);
        }
        let columns = match Held::new(whole.design(), &remainder.features, &|| monitor.check()) {
            Err(Error::Stopped) => return Ok(false),
            columns => columns?,
        };
        let (problem, paid) = remainder.problem(whole, &columns)?;
        self.look_within(&PartOfSubsets { problem: &problem, answer, paid }, false, monitor)
    }

    /// As [`Tree::look_among`], the columns left where they are; nothing where that cannot be.
    fn look_elsewhere(
        &mut self,
        remainder: &LeftOpen,
        (whole, answer): (&Problem<'_>, &Coefficients),
        monitor: &mut Monitor<'_>,
    ) -> Result<Option<bool>> {
        if !whole.design().lists_pairs() {
            return Ok(None);
        }
        let columns = ColumnSubset::new(whole.design(), remainder.features.clone())?;
        let (problem, paid) = remainder.problem(whole, &columns)?;
        problem.knows_columns_of(whole, &remainder.features);
        let part = PartOfSubsets { problem: &problem, answer, paid };
        let Some(look) = Look::elsewhere(part.problem, part.answer, remainder.apart())? else { return Ok(None) };
        let found = look.bounds(self.aim(&part), monitor.limits())?;
        if found.is_none() && monitor.stop(0).is_none() {
            return Ok(None);
        }
        self.take_look(found, &part, Vec::new(), monitor).map(Some)
    }

    /// Whether X lists pairs, and features have prices, by which they are ruled out beside others.
    pub(super) fn lists_pairs(&self) -> bool {
        let Setting { problem, size, .. } = self.setting;
        size.is_none() && problem.penalty().lambda0 > 0.0 && problem.design().lists_pairs()
    }

    /// The bounds of coherence for the subsets of a part, where a forecast promises something if one is asked for; what they leave open is
    /// searched.
    fn look_within(
        &mut self,
        part: &PartOfSubsets<'_, '_>,
        has_forecast: bool,
        monitor: &mut Monitor<'_>,
    ) -> Result<bool> {
        let aim = self.aim(part);
        let Some(look) = Look::new(part.problem, part.answer)? else {
            self.looked_among = Some(0);
            return Ok(true);
        };
        let mut roots = Vec::new();
        if has_forecast {
            let Some(forecast) = look.forecast_by_weights(aim) else { return Ok(true) };
            let added = forecast.closes(aim.1);
            roots = self.region_roots(part, added, monitor)?;
            if forecast.bound() <= aim.1 && self.most_promising(part, added, &roots).is_none() {
                return Ok(true);
            }
        }
        self.take_look(look.bounds(aim, monitor.limits())?, part, roots, monitor)
    }

    /// The best P known of a part, and the P that closes it.
    fn aim(&self, part: &PartOfSubsets<'_, '_>) -> (f64, f64) {
        (self.pool.best() - part.paid, self.cutoff() - part.paid)
    }

    /// Takes over what a look found and searches what that leaves open, from the roots of some P_ψ where they are known. False where a limit
    /// cut the look or the search short.
    fn take_look(
        &mut self,
        found: Option<Coherent>,
        part: &PartOfSubsets<'_, '_>,
        roots: Vec<RegionRoot>,
        monitor: &mut Monitor<'_>,
    ) -> Result<bool> {
        // Of subsets that are no better than the answer nothing is said. A look that a limit cut short is none: a search that goes on
        // from here makes it.
        if let Some(found) = &found {
            self.floor = self.floor.max((found.bound().min(self.aim(part).0) + part.paid).min(self.frontier.closed));
        }
        let is_whole = found.map_or(Ok(true), |found| self.search_region(part, &found, roots, monitor))?;
        if is_whole && monitor.stop(0).is_none() {
            self.looked_among = Some(part.problem.ncols());
            return Ok(true);
        }
        Ok(false)
    }
}
