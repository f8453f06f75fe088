//! Kicks of the best groups of a size ([`Kicks`]): a part of them left out, others grown in their place, and exchanged on.

use crate::error::Result;
use crate::groups::changes::{changes, flips};
use crate::groups::search::{Effort, Fits, GroupFit, PRICED};
use crate::search::kick::{BETTER, Kicks, Landed};
use crate::solution::Coefficients;

/// Groups outside that each of those in the model may be exchanged for, beside what gains most as it is.
const IN_PLACE: usize = 4;

impl Fits<'_, '_, '_> {
    /// From an answer of at most `most` features on, kick after kick.
    pub(super) fn kicked(&mut self, start: GroupFit, most: usize) -> Result<GroupFit> {
        let (mut best, mut kicks) = (self.exchanged(start, most)?, Kicks::new());
        while self.limits.stop(0).is_none() {
            let chosen = self.grouped.chosen(&best.coefficients);
            let removals = changes(self.grouped, &best.coefficients, &chosen, &[])?;
            let losses: Vec<f64> =
                removals.iter().map(|c| c.by + c.drop.map_or(0.0, |g| self.grouped.price(g))).collect();
            let Some(out) = kicks.next(&losses) else { break };
            let out: Vec<usize> = out.into_iter().filter_map(|k| removals[k].drop).collect();
            let mut current = self.regrown(&chosen, &out)?;
            while self.limits.stop(0).is_none() {
                let Some(next) = self.better_by_model(&current, Some(most), Effort::Quick)? else { break };
                current = next;
            }
            let ended = self.grouped.chosen(&current.coefficients);
            let is_lower = ended != chosen && current.objective < best.objective * (1.0 - BETTER);
            let found = if is_lower { Some(self.fit(&ended)?) } else { None };
            let found = found.filter(|found| found.objective < best.objective * (1.0 - BETTER));
            kicks.landed(match found {
                Some(_) => Landed::Lower,
                None if ended == chosen => Landed::Back,
                None => Landed::Elsewhere,
            });
            best = match found {
                Some(found) => self.exchanged(found, most)?,
                None => best,
            };
        }
        Ok(best)
    }

    /// Exchanges while P falls, with what would gain most in the place of each group besides what gains most beside all of them: a near copy of
    /// a group has nothing to gain while that is in, and its exchange is never looked at.
    fn exchanged(&mut self, start: GroupFit, most: usize) -> Result<GroupFit> {
        let mut best = start;
        while self.limits.stop(0).is_none() {
            let chosen = self.grouped.chosen(&best.coefficients);
            let mut adding = self.promising(&best.coefficients, &chosen, PRICED)?;
            for &g in &chosen {
                let own = &self.grouped.groups.members[g];
                let others = best.coefficients.iter().filter(|c| !own.contains(&c.0)).collect();
                let without = Coefficients::from_pairs(others, best.coefficients.intercept);
                adding.extend(self.promising(&without, &chosen, IN_PLACE)?);
            }
            adding.sort_unstable();
            adding.dedup();
            let Some(next) = self.better_with(&best, &adding, Some(most), Effort::Thorough)? else { break };
            best = next;
        }
        Ok(best)
    }

    /// The groups without some of them, as many features again in the place of those: each time the one that the model says gains most.
    fn regrown(&mut self, chosen: &[usize], out: &[usize]) -> Result<GroupFit> {
        let size = self.grouped.size_of(chosen);
        let mut kept: Vec<usize> = chosen.iter().copied().filter(|g| !out.contains(g)).collect();
        let mut current = self.rough(&kept)?;
        while self.grouped.size_of(&kept) < size && self.limits.stop(0).is_none() {
            let room = size - self.grouped.size_of(&kept);
            let adding = self.promising(&current.coefficients, &[&kept, out].concat(), PRICED)?;
            let fitting: Vec<usize> = adding.into_iter().filter(|&g| self.grouped.size(g) <= room).collect();
            let best = flips(self.grouped, &current.coefficients, &kept, &fitting)?.into_iter().find_map(|c| c.add);
            let Some(next) = best else { break };
            kept.push(next);
            kept.sort_unstable();
            current = self.rough(&kept)?;
        }
        Ok(current)
    }
}
