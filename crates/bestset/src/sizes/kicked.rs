//! Kicks of the best subset of a size ([`Kicks`]): a part of it left out, other features grown in its place, and exchanged on.

use crate::control::Monitor;
use crate::error::Result;
use crate::search::kick::{BETTER, Kicks, Landed};
use crate::sizes::Climb;

impl Climb<'_, '_> {
    /// From every size that was asked for, one after the other; not where a path gave the answers, which goes past local minima itself.
    pub(super) fn kick_all(&mut self, sizes: &[usize], monitor: &mut Monitor<'_>) -> Result<()> {
        let sizes = if self.grows { sizes } else { &[] };
        sizes.iter().filter(|k| **k <= MOST).try_for_each(|&k| self.kick(k, monitor))
    }

    fn kick(&mut self, k: usize, monitor: &mut Monitor<'_>) -> Result<()> {
        let mut kicks = Kicks::new();
        while monitor.stop(0).is_none() {
            let (before, start) = self.best[k].clone();
            self.work.load(&start)?;
            let support = self.work.support();
            let Some(losses) = self.priced(|tableau| tableau.removals()) else { break };
            let losses: Vec<f64> = losses.iter().map(|l| l.0).collect();
            let Some(out) = kicks.next(&losses) else { break };
            let positions: Vec<usize> = out.into_iter().map(|place| support[place]).collect();
            let out: Vec<usize> = positions.iter().map(|&at| self.work.active.features()[at]).collect();
            positions.iter().for_each(|&at| self.work.beta[at] = 0.0);
            self.work.refresh();
            self.refit(monitor);
            self.regrow(support.len(), &out, monitor)?;
            self.exchange(k, monitor)?;
            let is_back = self.work.coefficients().support == start.support;
            kicks.landed(match self.best[k].0 < before - BETTER * before.abs() {
                true => Landed::Lower,
                false if is_back => Landed::Back,
                false => Landed::Elsewhere,
            });
        }
        Ok(())
    }

    /// Adds the feature that gains most, but those that were left out, until there are as many as before.
    fn regrow(&mut self, size: usize, out: &[usize], monitor: &mut Monitor<'_>) -> Result<()> {
        while self.work.support().len() < size && monitor.stop(0).is_none() {
            self.widen(monitor)?;
            let barred: Vec<usize> = out.iter().filter_map(|&j| self.work.position(j)).collect();
            if !self.take(|m| m.drop.is_none() && m.add.is_some_and(|at| !barred.contains(&at)), monitor)? {
                break;
            }
        }
        Ok(())
    }
}

/// Larger sizes are not kicked: a kick takes as long as to grow a third of them.
const MOST: usize = 50;

#[cfg(test)]
mod tests {
    use crate::control::Monitor;
    use crate::design::Dense;
    use crate::sizes::Climb;
    use crate::{Loss, Options, Penalty, Problem};

    /// Kicks never lose what there was and find what walks do not, where neighbours are much alike and counts large.
    #[test]
    fn kicks_go_past_what_walks_end_in() {
        let (n, p, k, mut lower) = (60, 80, 6, 0);
        for seed in 0..16_usize {
            let value = |at: usize| ((at * at + 7 * at * (seed + 1) + 3 * seed) as f64 * 0.173).sin();
            let mut x: Vec<f64> = (0..n * p).map(value).collect();
            (n..n * p).for_each(|at| x[at] = 0.9 * x[at - n] + 0.4 * x[at]);
            let u =
                |i: usize| (0..8).map(|j| if j % 2 == 0 { 1.0 } else { -1.0 } * x[(9 * j + 2) * n + i]).sum::<f64>();
            let y: Vec<f64> = (0..n).map(|i| (u(i) + 0.5 * value(i + 991)).min(7.0).exp().floor()).collect();
            let x = Dense::new(n, p, x).unwrap();
            let problem = Problem::new(&x, y, Penalty::new(0.0, 0.0, 1e-6)).unwrap();
            let problem = problem.with_loss(Loss::Poisson).unwrap().with_intercept(true);
            let (options, mut observer) = (Options::default(), ());
            let mut monitor = Monitor::new(&options, &mut observer);
            let mut climb = Climb::new(&problem, None, k, &options).unwrap();
            climb.walk(&[k], &mut monitor).unwrap();
            climb.roam_all(&[k], &mut monitor).unwrap();
            let before: Vec<f64> = climb.best.iter().map(|b| b.0).collect();
            climb.kick_all(&[k], &mut monitor).unwrap();
            assert!(climb.best.iter().zip(&before).all(|(after, before)| after.0 <= *before), "seed {seed}");
            assert!(climb.best.iter().enumerate().all(|(size, best)| best.1.nonzeros() <= size), "seed {seed}");
            lower += usize::from(climb.best[k].0 < before[k] * (1.0 - 1e-6));
        }
        assert!(lower >= 2, "{lower} of 16 are lower");
    }
}
