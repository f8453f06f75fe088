//! The backward pass.

use crate::control::Monitor;
use crate::error::Result;
use crate::path::run::Strand;
use crate::path::state::Carried;
use crate::path::{Point, Search};
use crate::solution::Coefficients;

/// Rounds at the most.
const ROUNDS: usize = 3;

impl Strand<'_, '_> {
    /// P(S) = fit(S) + λ0 f(S), fit(S) free of λ0 (MATH 10.1). From the smallest λ0 up to point `from` and down again: each of
    /// these points takes the best that any other has found, improved, until nothing changes.
    pub(super) fn back(&self, points: &mut [Point], from: usize, monitor: &mut Monitor<'_>) -> Result<()> {
        let mut memory = Carried::new(&self.base, Search::Neighbours);
        let price = |c: &Coefficients| c.support.iter().map(|&j| self.base.penalty().price.at(j)).sum::<f64>();
        let entry = |p: &Point| {
            let price = price(&p.solution.coefficients);
            (p.solution.objective() - p.lambda0 * price, price, p.solution.coefficients.clone())
        };
        let mut pool: Vec<(f64, f64, Coefficients)> = points.iter().map(entry).collect();
        let order: Vec<usize> = (from..points.len()).rev().chain(from..points.len()).collect();
        for round in 0..ROUNDS {
            let mut changed = false;
            for &k in &order {
                if monitor.stop(0).is_some() {
                    return Ok(());
                }
                let lambda0 = points[k].lambda0;
                let cost = |e: &(f64, f64, Coefficients)| e.0 + lambda0 * e.1;
                let Some(best) = pool.iter().min_by(|a, b| cost(a).total_cmp(&cost(b))) else { return Ok(()) };
                // The first time also from the neighbour, whose answer may lead on where it is not the best.
                let neighbour = points.get(k + 1).map(|p| &p.solution.coefficients).filter(|_| round == 0);
                let own = &points[k].solution.coefficients.support;
                let starts: Vec<Coefficients> =
                    [Some(&best.2), neighbour].into_iter().flatten().filter(|c| c.support != *own).cloned().collect();
                for start in starts {
                    let better = self.improve(&mut points[k], &start, &mut memory, monitor)?;
                    if better {
                        pool.push(entry(&points[k]));
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        Ok(())
    }

    /// Goes down from `start` at the point's λ0 and keeps what is found if it is better.
    fn improve(
        &self,
        point: &mut Point,
        start: &Coefficients,
        memory: &mut Carried,
        monitor: &Monitor<'_>,
    ) -> Result<bool> {
        let problem = self.at(point.lambda0)?;
        let found = match &mut memory.ladder {
            Some(ladder) => ladder.from(&problem, &start.support, &[], monitor)?,
            None => memory.on_columns(&problem, |work| {
                work.load(start)?;
                crate::search::multistart::improve(work, monitor)?;
                Ok(work.coefficients())
            })?,
        };
        self.offer(&problem, point, found)
    }
}
