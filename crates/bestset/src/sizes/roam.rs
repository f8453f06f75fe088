//! A walk on from the best subset of a size, past the local minimum that exchanges of one feature for another end in.

use crate::control::Monitor;
use crate::error::Result;
use crate::penalty::Penalty;
use crate::relaxation::workspace::Workspace;
use crate::search::exchange::{Stroll, tableau, walk_by_fits};
use crate::search::fit::{BUDGET, margin};
use crate::sizes::{Climb, bound};
use crate::solution::Coefficients;

/// Features outside that a walk may visit: with 50, sizes of Poisson problems (n = 200, p = 500) stayed worse than those of other programs
/// that 100 find.
const OUTSIDE: usize = 100;

/// Fits without a lower P after which a walk ends. On those problems 100 found little that 50 did not.
const PATIENCE: usize = 60;

impl Climb<'_, '_> {
    /// From every size that was asked for, one after the other; not where a path gave the answers, which goes past local minima itself.
    pub(super) fn roam_all(&mut self, sizes: &[usize], monitor: &mut Monitor<'_>) -> Result<()> {
        if !self.grows {
            return Ok(());
        }
        let mut budget = BUDGET;
        for &k in sizes {
            if monitor.stop(0).is_none() && self.best[k].1.nonzeros() > 0 {
                self.roam(k, &mut budget, monitor)?;
            }
        }
        Ok(())
    }

    /// Flips of one feature that lower P most, or raise it least, at the λ0 at which an answer has k features: the walk goes up and down around
    /// that size, and each of its fits is offered to its own. What is new of size k is exchanged on.
    fn roam(&mut self, k: usize, budget: &mut f64, monitor: &mut Monitor<'_>) -> Result<()> {
        let (start, before) = (self.best[k].1.clone(), self.best[k].0);
        self.work.load(&start)?;
        if !self.widen_by_model(OUTSIDE, monitor)? {
            return Ok(());
        }
        let problem = self.problem();
        let lambda0 = bound::price(&self.best, k);
        let priced = problem.with_penalty(Penalty { lambda0, ..problem.penalty().clone() })?;
        let mut near = Workspace::new(&priced);
        near.include_all(self.work.active.features())?;
        near.load(&start)?;
        let view: Vec<usize> = (0..near.active.len()).collect();
        if !near.can_price(view.len()) || !monitor.has_time_for(near.gram_cost()) {
            return Ok(());
        }
        let Some(prices) = tableau(&mut near, &view, budget) else { return Ok(()) };
        let mut met: Vec<Option<(f64, Coefficients)>> = vec![None; self.best.len()];
        let best = &self.best;
        let mut look = |at: &Workspace<'_, '_>| {
            let size = at.support().len();
            let objective = at.objective() - lambda0 * size as f64;
            let known = met.get(size).and_then(Option::as_ref).map(|m| m.0).or(best.get(size).map(|b| b.0));
            if known.is_some_and(|known| objective < known - margin(known)) {
                met[size] = Some((objective, at.coefficients()));
            }
        };
        let stroll = Stroll { patience: PATIENCE, met: &mut look };
        walk_by_fits(&near, &prices, &view, stroll, budget, monitor)?;
        for (_, coefficients) in met.into_iter().flatten() {
            self.work.load(&coefficients)?;
            self.refit(monitor);
            self.offer();
        }
        if self.best[k].0 < before {
            let reached = self.best[k].1.clone();
            self.work.load(&reached)?;
            self.exchange(k, monitor)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::control::Monitor;
    use crate::design::Dense;
    use crate::sizes::Climb;
    use crate::{Loss, Options, Penalty, Problem};

    /// Walks never lose what there was and find what exchanges do not: counts without a signal that would single out a subset.
    #[test]
    fn a_walk_goes_past_what_exchanges_end_in() {
        let (n, p, k, mut lower) = (60, 80, 8, 0);
        for seed in 0..12_usize {
            let value = |at: usize| ((at * at + 7 * at * (seed + 1) + 3 * seed) as f64 * 0.173).sin();
            let x: Vec<f64> = (0..n * p).map(value).collect();
            let y: Vec<f64> = (0..n).map(|i| (2.0 * (value(i + 991) + x[i] + x[3 * n + i]).exp()).floor()).collect();
            let x = Dense::new(n, p, x).unwrap();
            let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 1e-6)).unwrap();
            let problem = problem.with_loss(Loss::Poisson).unwrap().with_intercept(true);
            let (options, mut observer) = (Options::default(), ());
            let mut monitor = Monitor::new(&options, &mut observer);
            let mut climb = Climb::new(&problem, None, k, &options).unwrap();
            climb.walk(&[k], &mut monitor).unwrap();
            let before: Vec<f64> = climb.best.iter().map(|b| b.0).collect();
            climb.roam_all(&[k], &mut monitor).unwrap();
            assert!(climb.best.iter().zip(&before).all(|(after, before)| after.0 <= *before), "seed {seed}");
            assert!(climb.best.iter().enumerate().all(|(size, best)| best.1.nonzeros() <= size), "seed {seed}");
            lower += usize::from(climb.best[k].0 < before[k] * (1.0 - 1e-6));
        }
        assert!(lower >= 2, "{lower} of 12 are lower");
    }
}
