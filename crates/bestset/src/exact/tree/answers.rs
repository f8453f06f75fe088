//! Answers that the tree comes by, and the search for better ones from there.

use crate::control::Monitor;
use crate::error::Result;
use crate::exact::setting::Setting;
use crate::exact::size;
use crate::exact::tree::Tree;
use crate::search::fit::{BUDGET, Incumbent, refit};
use crate::search::multistart;
use crate::search::rules::Rules;
use crate::search::widen::{self, Known};
use crate::solution::{Coefficients, Local};

impl Tree<'_, '_> {
    /// Takes the point over if its P, evaluated from scratch, is among the best, and looks for a better one from there.
    pub(super) fn offer(&mut self, point: &[(u32, f64)], intercept: f64, monitor: &mut Monitor<'_>) -> Result<()> {
        let feature = |k: u32| self.near.active.features()[k as usize];
        let pairs = point.iter().map(|&(k, b)| (feature(k), b)).collect();
        let coefficients = Coefficients::from_pairs(pairs, intercept);
        let known = self.pool.entries().iter().any(|e| e.1.support == coefficients.support);
        if known || self.setting.size.is_some_and(|k| coefficients.nonzeros() > k) {
            return Ok(());
        }
        self.core.forget();
        self.core.load(&coefficients)?;
        refit(&mut self.core, monitor);
        self.enter(monitor)?;
        match self.setting.size {
            None => multistart::improve(&mut self.core, monitor)?,
            Some(k) => size::improve(&mut self.core, k, self.setting.tuning.moves_within_size, monitor)?,
        }
        self.enter(monitor)?;
        self.extend_core();
        Ok(())
    }

    /// Offers the core's point to the pool.
    fn enter(&mut self, monitor: &mut Monitor<'_>) -> Result<()> {
        let coefficients = self.core.coefficients();
        let objective = self.setting.problem.value(&coefficients)?;
        self.show(objective, &coefficients, monitor);
        if self.pool.offer(objective, coefficients) {
            // What was checked was the answer before.
            self.outcome.local = Local::None;
        }
        Ok(())
    }

    /// Shows the monitor an answer, unless it is to the problem of a part.
    pub(super) fn show(&self, objective: f64, coefficients: &Coefficients, monitor: &mut Monitor<'_>) {
        if self.outer.is_none() {
            monitor.so_far.offer(objective, || coefficients.clone());
        }
    }

    /// Whether there is nothing to search from: it was done, or the best answer so far is a start from which all of it was done before.
    pub(super) fn is_searched(&self) -> bool {
        let options = self.setting.options;
        let start = options.warm_start.as_ref().filter(|_| options.start_is_searched);
        let is_best = |start: &Coefficients| self.pool.entries().first().is_some_and(|e| e.1.support == start.support);
        self.searched || start.is_some_and(is_best)
    }

    /// The second part of the primal phase, which the root left out: once, from the best answer so far, unless that is a start from which all of it
    /// was done before.
    pub(super) fn search(&mut self, monitor: &mut Monitor<'_>) -> Result<()> {
        let Some((objective, coefficients)) = self.pool.entries().first().cloned() else { return Ok(()) };
        let Setting { problem, size, options, .. } = self.setting;
        if self.is_searched() || size.is_some() || problem.penalty().lambda0 == 0.0 {
            return Ok(());
        }
        self.searched = true;
        let bound = self.lower_bound();
        // What it takes in from all of X is its own: nodes work with the core.
        let mut work = match self.has_room_for_core() {
            true => self.core.clone(),
            false => self.core.on_support()?,
        };
        work.forget();
        let mut best = Incumbent { objective, coefficients, local: Local::None };
        let (known, mut budget) = (Known { rules: &Rules::none(), priced: None }, BUDGET);
        widen::search_outside(&mut work, &mut best, &mut |_| Ok(bound), known, options, &mut budget, monitor)?;
        drop(work);
        self.core.forget();
        self.core.load(&best.coefficients)?;
        self.enter(monitor)?;
        if self.pool.entries().first().is_some_and(|e| e.1.support == best.coefficients.support) {
            self.outcome.local = best.local;
        }
        self.extend_core();
        Ok(())
    }
}
