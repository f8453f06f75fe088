//! The search: depth first within a share of nodes, shares side by side.

use crate::control::{Limits, Monitor};
use crate::error::{Error, Result};
use crate::leaps::cell::Cell;
use crate::leaps::equations::Equations;
use crate::leaps::family::Family;
use crate::leaps::incumbents::Incumbents;
use crate::snapshot::{SavedMonitor, misfit};
use crate::solution::Status;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Nodes that one search visits before it hands back what is left.
const SHARE: usize = 2048;

/// Searches side by side: a constant, so that the tree does not depend on the number of threads.
const BATCH: usize = 16;

/// Nodes of one step at the most.
pub const STEP: usize = SHARE * BATCH;

/// Up to this many open families the lowest bound goes first, for the sake of the global bound; beyond it the smallest, for
/// the sake of memory.
const MANY: usize = 256;

/// What a file keeps of a search between two steps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedLeaps {
    monitor: SavedMonitor,
    open: Vec<Family>,
    incumbents: Incumbents,
    nodes: usize,
}

/// The open families and the best subsets.
pub struct Leaps<'e, 'p, 'a> {
    equations: &'e Equations<'p, 'a>,
    open: Vec<Family>,
    /// The best subsets.
    pub incumbents: Incumbents,
    /// Nodes visited.
    pub nodes: usize,
}

impl<'e, 'p, 'a> Leaps<'e, 'p, 'a> {
    /// All subsets of sizes `low` to `high`; more than one size only at a price, by which they compete.
    pub fn new(equations: &'e Equations<'p, 'a>, incumbents: Incumbents, low: usize, high: usize) -> Result<Self> {
        let root = |cell: &Cell| Ok(Family { low, high, ..equations.family(&cell.inside, &cell.free)? });
        let open = equations.cells.iter().map(root).collect::<Result<_>>()?;
        Ok(Self { equations, open, incumbents, nodes: 0 })
    }

    /// What the search knows; goes on with the same bits from [`Leaps::restore`].
    pub fn save(&self, monitor: &Monitor<'_>) -> SavedLeaps {
        let (open, incumbents) = (self.open.clone(), self.incumbents.clone());
        SavedLeaps { monitor: SavedMonitor::new(monitor), open, incumbents, nodes: self.nodes }
    }

    /// The search that was saved.
    pub fn restore(
        equations: &'e Equations<'p, 'a>,
        saved: SavedLeaps,
        most: usize,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self> {
        let SavedLeaps { monitor: shown, open, incumbents, nodes } = saved;
        let is_known = |k: &u32| (*k as usize) < equations.len();
        let fits = |f: &Family| {
            let forms = f.gains.len() == f.free.len() && f.costs.len() == f.free.len();
            forms && f.high <= most && f.inside.iter().chain(&f.free).all(is_known)
        };
        if !open.iter().all(fits) || incumbents.most() != most || !incumbents.members().all(is_known) {
            return Err(misfit());
        }
        shown.restore(monitor);
        Ok(Self { equations, open, incumbents, nodes })
    }

    /// Whether nothing is left to search.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Families left to search.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Bytes that they take.
    pub fn memory(&self) -> usize {
        // Two packed triangles of numbers each.
        self.open.iter().map(|f| 8 * f.free.len() * (f.free.len() + 4)).sum()
    }

    /// A lower bound on the fit of every subset of this size (MATH 11.31); with a price, of those that would be better than the
    /// best.
    pub fn bound(&self, size: usize) -> f64 {
        let holds = |f: &&Family| f.low <= size && size <= f.high;
        let open = self.open.iter().filter(holds).map(|f| f.bound(size));
        (open.fold(self.incumbents.threshold(size), f64::min) - self.equations.slack).max(0.0)
    }

    /// A lower bound on fit(S) + λ0|S| of every subset.
    pub fn bound_of_all(&self) -> f64 {
        let least = (0..=self.incumbents.most()).map(|size| self.incumbents.cost(size)).fold(f64::INFINITY, f64::min);
        self.priced_bound().min((least - self.equations.slack).max(0.0))
    }

    /// A lower bound on fit(S) + λ0|S| of the subsets that are not among the best found (MATH 11.32): the least over all sizes.
    pub fn priced_bound(&self) -> f64 {
        let price = self.incumbents.price().unwrap_or(0.0);
        let cost = |size: usize| self.bound(size) + price * size as f64;
        (0..=self.incumbents.most()).map(cost).fold(f64::INFINITY, f64::min)
    }

    /// Searches the next families, with at most `most` nodes; how it was stopped, if it was.
    pub fn step(&mut self, limits: &Limits, most: usize) -> Result<Option<Status>> {
        let key = |f: &Family| if self.open.len() <= MANY { -f.fit_all } else { -(f.free.len() as f64) };
        let mut order: Vec<(f64, usize)> = self.open.iter().enumerate().map(|(k, f)| (key(f), k)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut sorted: Vec<Family> = order.iter().map(|&(_, k)| std::mem::take(&mut self.open[k])).collect();
        let batch = sorted.split_off(sorted.len().saturating_sub(BATCH.min(most)));
        self.open = sorted;
        let share = (most / batch.len()).clamp(1, SHARE);
        let one = |family: &Family| Dive::run(self.equations, &self.incumbents, family, share, limits);
        let results: Vec<Result<Dive<'_>>> = match &batch[..] {
            [family] => vec![one(family)],
            _ => batch.par_iter().map(one).collect(),
        };
        let mut stopped = None;
        for result in results {
            let search = result?;
            self.open.extend(search.open);
            self.incumbents.merge(search.incumbents);
            self.nodes += search.nodes;
            stopped = stopped.or(search.stopped);
        }
        Ok(stopped)
    }
}

/// A depth-first search of one family.
struct Dive<'l> {
    limits: &'l Limits,
    slack: f64,
    incumbents: Incumbents,
    /// The family of each level of branching, storage for the next ones behind.
    levels: Vec<Family>,
    nodes: usize,
    share: usize,
    stopped: Option<Status>,
    open: Vec<Family>,
}

impl<'l> Dive<'l> {
    fn run(
        equations: &Equations<'_, '_>,
        incumbents: &Incumbents,
        family: &Family,
        share: usize,
        limits: &'l Limits,
    ) -> Result<Self> {
        let fresh = equations.family(&family.inside, &family.free)?;
        let (claimed, found, slack) = (family.fit_all, fresh.fit_all, equations.slack);
        if (claimed - found).abs() > slack {
            return Err(Error::Recheck { what: "the fit on all open features", claimed, found, slack });
        }
        // Twice: for the rounding of the family and for that of the best subset known.
        let slack = 2.0 * slack;
        let start = Family { low: family.low, high: family.high, ..fresh };
        let (levels, open) = (vec![start], Vec::new());
        let incumbents = incumbents.clone();
        let mut search = Self { limits, slack, incumbents, levels, nodes: 0, share, stopped: None, open };
        search.explore(0);
        Ok(search)
    }

    fn must_stop(&mut self) -> bool {
        if self.nodes.is_multiple_of(64) && self.stopped.is_none() {
            self.stopped = self.limits.stop(0);
        }
        self.nodes >= self.share || self.stopped.is_some()
    }

    /// Searches the family of this level: its features go out one by one, after the subsets with them have been searched.
    fn explore(&mut self, level: usize) {
        if self.levels.len() <= level + 1 {
            self.levels.push(Family::default());
        }
        let mut family = std::mem::take(&mut self.levels[level]);
        loop {
            if self.must_stop() {
                self.open.push(family);
                return;
            }
            self.nodes += 1;
            if !self.reduce(&mut family) {
                break;
            }
            if family.high - family.size() <= 2 {
                self.finish(&family);
                break;
            }
            let Some(j) = family.branch() else { break };
            let child = &mut self.levels[level + 1];
            child.copy(&family);
            child.take_in(j);
            self.explore(level + 1);
            family.take_out(j);
        }
        self.levels[level] = family;
    }

    /// Narrows the sizes and takes in what every better subset has; whether anything is left to search.
    fn reduce(&mut self, family: &mut Family) -> bool {
        loop {
            let size = family.size();
            self.incumbents.offer(family.fit_inside, &family.inside, &[]);
            if family.high >= size + family.free.len() {
                self.incumbents.offer(family.fit_all, &family.inside, &family.free);
                family.high = size + family.free.len().saturating_sub(1);
            }
            family.low = family.low.max(size + 1);
            while family.low <= family.high && self.is_hopeless(family, family.high) {
                family.high -= 1;
            }
            while family.low <= family.high && self.is_hopeless(family, family.low) {
                family.low += 1;
            }
            if family.low > family.high {
                return false;
            }
            // The threshold falls with the size: what is too dear to drop at the smallest is so at all.
            let room = self.room(family, family.low);
            match family.largest_cost() {
                Some((j, cost)) if cost >= room => family.take_in(j),
                _ => return true,
            }
        }
    }

    /// What may be lost by dropping features before a subset of this size is no better than the best one (MATH 11.31), rounding
    /// (MATH 11.34) counted.
    fn room(&self, family: &Family, size: usize) -> f64 {
        self.incumbents.threshold(size) - family.fit_all + self.slack
    }

    /// More features are too dear to drop than a subset of this size has room for (MATH 11.31).
    fn is_hopeless(&self, family: &Family, size: usize) -> bool {
        let room = self.room(family, size);
        let dear = (0..family.costs.len()).filter(|&j| family.costs.price(j) >= room).count();
        room <= 0.0 || dear > size - family.size()
    }

    /// The last one or two features of a subset, by looking at all of them.
    fn finish(&mut self, family: &Family) {
        let size = family.size();
        if self.incumbents.wants_several() {
            return self.finish_all(family);
        }
        let is_priced = self.incumbents.price().is_some();
        if family.low == size + 1
            && let Some((j, gain)) = family.best_gain()
        {
            self.incumbents.offer(family.fit_inside - gain, &family.inside, &[family.free[j]]);
            let close = |&j: &usize| gain - family.gains.price(j) < self.slack && !is_priced;
            for j in (0..family.free.len()).filter(close).collect::<Vec<_>>() {
                self.incumbents.offer(family.fit_inside - family.gains.price(j), &family.inside, &[family.free[j]]);
            }
        }
        if family.high == size + 2 {
            let room = if is_priced { 0.0 } else { self.slack };
            let need = |of: &Self| family.fit_inside - of.incumbents.threshold(size + 2);
            let Some((gain, i, j)) = family.gains.best_pair(need(self) - room) else { return };
            self.incumbents.offer(family.fit_inside - gain, &family.inside, &[family.free[i], family.free[j]]);
            if is_priced {
                return;
            }
            // Those that rounding does not tell from it.
            for (gain, i, j) in family.gains.pairs(need(self) - room) {
                self.incumbents.offer(family.fit_inside - gain, &family.inside, &[family.free[i], family.free[j]]);
            }
        }
    }

    /// As [`Dive::finish`], when more than the best of them is wanted.
    fn finish_all(&mut self, family: &Family) {
        let size = family.size();
        if family.low == size + 1 {
            for j in 0..family.free.len() {
                let fit = family.fit_inside - family.gains.price(j);
                self.incumbents.offer(fit, &family.inside, &[family.free[j]]);
            }
        }
        if family.high == size + 2 {
            // The limit falls on the way: what it was at first admits all that may be better.
            let need = family.fit_inside - self.incumbents.threshold(size + 2);
            for (gain, i, j) in family.gains.pairs(need) {
                let pair = [family.free[i], family.free[j]];
                self.incumbents.offer(family.fit_inside - gain, &family.inside, &pair);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Options;
    use crate::design::Dense;
    use crate::penalty::Penalty;
    use crate::problem::Problem;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Least fit for each size, by all subsets.
    fn enumerate(equations: &Equations<'_, '_>, p: usize) -> Vec<f64> {
        let mut least = vec![f64::INFINITY; p + 1];
        for mask in 0u32..1 << p {
            let members: Vec<u32> = (0..p as u32).filter(|k| mask >> k & 1 == 1).collect();
            least[members.len()] = least[members.len()].min(equations.fit(&members));
        }
        least
    }

    /// Runs a search that starts with nothing, in shares of a few nodes, and checks the bounds after each.
    fn search(equations: &Equations<'_, '_>, price: Option<f64>, sizes: (usize, usize), least: &[f64]) -> Incumbents {
        let mut observer = ();
        let options = Options::default();
        let monitor = Monitor::new(&options, &mut observer);
        let incumbents = Incumbents::new(sizes.1, price, equations.total);
        let mut tree = Leaps::new(equations, incumbents, sizes.0, sizes.1).unwrap();
        let priced = |t: usize| least[t] + price.unwrap_or(0.0) * t as f64;
        let best = (0..=sizes.1).map(priced).fold(f64::INFINITY, f64::min);
        while !tree.is_done() {
            tree.step(monitor.limits(), 3).unwrap();
            match price {
                Some(_) => assert!(tree.priced_bound() <= best),
                None => (sizes.0..=sizes.1).for_each(|t| assert!(tree.bound(t) <= least[t])),
            }
        }
        tree.incumbents
    }

    /// Without subsets from elsewhere only the search itself can find the best ones.
    #[test]
    fn a_search_that_starts_with_nothing_finds_the_best() {
        let mut rng = ChaCha8Rng::seed_from_u64(421);
        for trial in 0..400 {
            let (p, shared) = (rng.random_range(1..=9), rng.random_range(0.0..2.0));
            let n = p + 8;
            let common: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let x: Vec<f64> = (0..n * p).map(|k| rng.random_range(-1.0..1.0) + shared * common[k % n]).collect();
            let y: Vec<f64> = (0..n).map(|i| x[i] + rng.random_range(-1.0..1.0)).collect();
            let design = Dense::new(n, p, x).unwrap();
            let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, 0.0)).unwrap();
            let equations = Equations::new(&problem, usize::MAX).unwrap();
            let least = enumerate(&equations, p);
            let close = |a: f64, b: f64| assert!((a - b).abs() <= equations.slack, "{trial}: {a} {b}");
            for size in 1..=p {
                close(search(&equations, None, (size, size), &least).best(size).fit, least[size]);
            }
            for price in [0.0, 0.003, 0.03, 0.3].map(|share| share * equations.total) {
                let found = search(&equations, Some(price), (1, p), &least);
                let cost = (0..=p).map(|t| least[t] + price * t as f64).fold(f64::INFINITY, f64::min);
                close(found.cost(found.cheapest()), cost);
            }
        }
    }
    /// Pivots that went astray are an error, with the bound they led to and the one from scratch.
    #[test]
    fn a_bound_that_drifted_is_refused() {
        let design = Dense::new(4, 2, vec![1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 1.0, 0.0]).unwrap();
        let problem = Problem::new(&design, vec![1.0, 2.5, 2.0, 4.5], Penalty::new(0.0, 0.0, 0.0)).unwrap();
        let equations = Equations::new(&problem, usize::MAX).unwrap();
        let mut tree = Leaps::new(&equations, Incumbents::new(1, None, equations.total), 1, 1).unwrap();
        tree.open[0].fit_all += 1e-9;
        let (options, mut observer) = (Options::default(), ());
        let error = tree.step(Monitor::new(&options, &mut observer).limits(), 10).unwrap_err();
        assert!(matches!(error, Error::Recheck { claimed, found, .. } if claimed > found), "{error}");
    }
}
