//! What the enumeration of every size starts from: columns, their products, and an answer of each size, as far as limits allow.

use crate::control::{Limits, Monitor, Options};
use crate::enumerate::columns::UnitColumns;
use crate::enumerate::deep::{Remainder, all_products};
use crate::enumerate::has_no_ridge;
use crate::enumerate::judge::{Judge, Judgement};
use crate::enumerate::panel::Panels;
use crate::enumerate::pool::{Candidate, Pool};
use crate::enumerate::search::SizeSearch;
use crate::enumerate::seed::GreedyWalk;
use crate::error::Result;
use crate::leaps::{BestOfSize, determined};
use crate::problem::Problem;
use crate::solution::{Coefficients, Status};

/// UnitColumns that are tried beside a subset for a perfect fit.
const TRIED: usize = 200;

/// UnitColumns, products and first answers.
pub struct Prepared<'p, 'a> {
    pub columns: UnitColumns<'p, 'a>,
    panels: Option<Panels>,
    gram: Option<Vec<f64>>,
    root: Option<Remainder>,
    /// A subset of each size 1, 2, …, as far as there are independent columns.
    seeds: Vec<Vec<u32>>,
    /// The limit that struck before there was one of every size.
    pub stopped: Option<Status>,
    /// Tasks done.
    pub nodes: usize,
}

impl<'p, 'a> Prepared<'p, 'a> {
    /// For subsets of at most `most` features.
    pub fn new(problem: &'p Problem<'a>, most: usize, options: &Options, limits: &Limits) -> Result<Self> {
        let memory = options.memory();
        let columns = UnitColumns::new(problem, &memory)?;
        let (panels, gram, root, seeds) = (None, None, None, Vec::new());
        let mut prepared = Self { columns, panels, gram, root, seeds, stopped: limits.stop(0), nodes: 0 };
        // Larger ones fit perfectly.
        let largest = if has_no_ridge(problem) { most.min(determined(problem)) } else { most };
        if prepared.columns.total <= 0.0 || prepared.stopped.is_some() {
            return Ok(prepared);
        }
        if largest > 1 {
            match Panels::new(&mut prepared.columns, &memory, limits)? {
                Ok(panels) => prepared.panels = Some(panels),
                Err(status) => prepared.stopped = Some(status),
            }
        }
        prepared.plant(largest, limits)?;
        let p = prepared.columns.len() as f64;
        // A, what is projected out of it by every thread, and its copy in single precision.
        let room = 8.0 + 24.0 * rayon::current_num_threads() as f64;
        if largest > 3 && prepared.stopped.is_none() && memory.allows(room * p * p, 2) {
            let gram = all_products(&prepared.columns)?;
            prepared.root = Some(Remainder::nothing(&prepared.columns, &gram));
            prepared.gram = Some(gram);
        }
        Ok(prepared)
    }

    /// An answer of every size.
    fn plant(&mut self, largest: usize, limits: &Limits) -> Result<()> {
        let mut walk = GreedyWalk::new(&self.columns);
        for _ in 0..largest {
            self.stopped = self.stopped.or_else(|| limits.stop(0));
            if self.stopped.is_some() || !walk.grow(limits)? {
                break;
            }
            self.seeds.push(walk.members());
        }
        Ok(())
    }

    /// The first answer of a size; none where columns are dependent from there on, or where a limit struck.
    pub fn seed(&self, size: usize) -> Option<Vec<u32>> {
        let perfect = self.is_perfect(size).then(|| self.seeds.last()).flatten();
        self.seeds.get(size - 1).or(perfect).cloned()
    }

    /// The largest size that has one.
    pub fn reached(&self) -> usize {
        self.seeds.len()
    }

    /// Whether as many independent columns fit perfectly.
    pub fn is_perfect(&self, size: usize) -> bool {
        let problem = self.columns.problem;
        has_no_ridge(problem) && size >= determined(problem)
    }

    /// The first answers up to a size, and the one to start from.
    pub fn starts(&self, most: usize, options: &Options) -> Vec<Vec<u32>> {
        let mut starts: Vec<Vec<u32>> = self.seeds.iter().take(most).cloned().collect();
        if let Some(start) = &options.warm_start {
            let position = |j: &usize| (0..self.columns.len() as u32).find(|&k| self.columns.feature(k) == *j);
            let known: Option<Vec<u32>> = start.support.iter().map(position).collect();
            starts.extend(known.filter(|m| !m.is_empty() && m.iter().all(|&k| !self.columns.is_copy(k as usize))));
        }
        starts
    }

    /// The model without features.
    pub fn null(&self) -> Coefficients {
        let problem = self.columns.problem;
        let u = problem.null_margins();
        Coefficients { intercept: problem.best_intercept(&u, 0.0), ..Coefficients::default() }
    }

    /// The empty subset.
    pub fn offer_nothing(&self, pool: &mut Pool) {
        let total = self.columns.total;
        let slack = self.columns.rounding * total;
        pool.offer(Candidate { members: Vec::new(), low: total - slack, high: total + slack, inverse: 1.0 });
    }

    /// Looks at all subsets of a size, from the starts of that size; why it ended before, if it did.
    pub fn search(
        &mut self,
        size: usize,
        starts: &[Vec<u32>],
        price: f64,
        pool: &mut Pool,
        options: &Options,
        monitor: &Monitor<'_>,
    ) -> Result<Option<Status>> {
        let judge = Judge { columns: &self.columns, gram: self.gram.as_deref(), price };
        for start in starts.iter().filter(|s| s.len() == size) {
            if let Judgement::Independent(candidate) = judge.judge(start)? {
                pool.offer(candidate);
            }
        }
        // No subset of this size fits better than perfectly.
        if pool.threshold() <= price * size as f64 {
            return Ok(None);
        }
        if let Some(status) = self.stopped {
            return Ok(Some(status));
        }
        if size > 3 && self.root.is_none() {
            return Ok(Some(Status::MemoryLimit));
        }
        let mut search = SizeSearch::new(&judge, self.panels.as_ref(), self.root.as_ref(), size);
        let most = options.max_nodes.map_or(usize::MAX, |most| most.saturating_sub(self.nodes));
        let stopped = search.run(pool, monitor.limits(), most)?;
        let (done, dependent) = (search.done, std::mem::take(&mut search.dependent));
        drop(search);
        self.nodes += done;
        for features in dependent {
            if !self.columns.dependent.contains(&features) {
                self.columns.dependent.push(features);
            }
        }
        if stopped.is_some_and(|status| status != Status::MemoryLimit) {
            self.stopped = stopped;
        }
        Ok(stopped)
    }

    /// A perfect fit: a first answer, or a subset with the column that fits best beside it.
    pub fn interpolation(&self, members: &[u32]) -> Result<Option<Coefficients>> {
        let (problem, targets) = (self.columns.problem, self.columns.targets());
        let outside =
            (0..self.columns.len() as u32).filter(|&k| !members.contains(&k) && !self.columns.is_copy(k as usize));
        let with = outside.take(TRIED).map(|k| [members, &[k]].concat());
        let whole = self.seeds.get(determined(problem).wrapping_sub(1)).cloned();
        let fits = whole.into_iter().chain(with.filter(|_| members.len() < determined(problem)));
        // Of columns that depend on each other a fit would be made of rounding.
        let judge = Judge { columns: &self.columns, gram: self.gram.as_deref(), price: 0.0 };
        let mut best: Option<(f64, Coefficients)> = None;
        for members in fits {
            match judge.judge(&members) {
                Ok(Judgement::Independent(_)) => {}
                Err(error) if error.is_of_reading() => return Err(error),
                _ => continue,
            }
            let fit = targets.refit(&self.columns.terms(&members)?)?.coefficients;
            let loss = problem.loss_at(&fit)?;
            if loss.is_finite() && best.as_ref().is_none_or(|b| loss < b.0) {
                best = Some((loss, fit));
            }
        }
        Ok(best.map(|best| best.1))
    }

    /// The perfect fit of a size, beside the best of the size before.
    pub fn perfect(&self, before: Option<&BestOfSize>) -> Result<BestOfSize> {
        let position = |j: &usize| (0..self.columns.len() as u32).find(|&k| self.columns.feature(k) == *j);
        let members: Vec<u32> =
            before.map_or_else(Vec::new, |b| b.coefficients.support.iter().filter_map(position).collect());
        let coefficients = self.interpolation(&members)?.unwrap_or_else(|| self.null());
        Ok(BestOfSize { coefficients, lower_bound: 0.0, ended: Status::Converged, nodes: 0 })
    }

    /// A size for which there is nothing to look at: no more independent columns, or no time.
    pub fn beyond(&self, before: Option<&BestOfSize>) -> BestOfSize {
        let slack = self.columns.rounding * self.columns.total;
        let (nothing, total) = (|| self.null(), (self.columns.total - slack).max(0.0));
        let coefficients = before.map_or_else(nothing, |b| b.coefficients.clone());
        let bound = before.map_or(total, |b| b.lower_bound);
        match self.stopped {
            Some(ended) => BestOfSize { coefficients, lower_bound: 0.0, ended, nodes: 0 },
            None => BestOfSize { coefficients, lower_bound: bound, ended: Status::Converged, nodes: 0 },
        }
    }
}
