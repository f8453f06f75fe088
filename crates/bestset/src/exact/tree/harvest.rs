//! What a tree shows on its way and hands over at its end.

use crate::control::Monitor;
use crate::error::Result;
use crate::exact::tree::Tree;
use crate::solution::{Ranked, Status, TraceRow};
use crate::solver::Outcome;

impl Tree<'_, '_> {
    /// A row of the trace.
    pub(super) fn record(&self, monitor: &mut Monitor<'_>) {
        let own = || self.pool.entries().first().map_or((f64::INFINITY, 0), |e| (e.0, e.1.nonzeros()));
        let (objective, support) = self.outer.as_ref().map_or_else(own, |o| (o.objective, o.support));
        let lower_bound = self.outer.as_ref().map_or(self.lower_bound(), |o| o.bound(self.lower_bound()));
        monitor.record(TraceRow {
            seconds: 0.0,
            iteration: self.processed,
            objective,
            relaxation: self.outcome.relaxation.unwrap_or(f64::NAN),
            lower_bound,
            gap: objective - lower_bound,
            active: self.frontier.len(),
            support,
        });
    }

    /// P(S) ≤ min(bounds of open nodes and of those closed unseen) + max(absolute, relative·|P|) (MATH 11.27): where a subset among the
    /// best is proved; with the outcome.
    pub(in crate::exact) fn harvest(self, ended: Status) -> Result<Outcome> {
        let lower_bound = self.lower_bound();
        // Every subset that is not in the pool has a P of at least this.
        let others = self.frontier.unseen_bound();
        let room = self.room();
        let ranked = self.pool.into_entries().into_iter().map(|(_, coefficients)| {
            let objective = self.setting.problem.value(&coefficients)?;
            Ok(Ranked { coefficients, objective, proved: objective <= others + room })
        });
        let mut ranked = ranked.collect::<Result<Vec<_>>>()?;
        // Where all fit perfectly, P of the design and P of a node's columns differ by rounding, and by that in their order.
        ranked.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        let coefficients = ranked.first().map_or(self.outcome.coefficients, |best| best.coefficients.clone());
        Ok(Outcome { lower_bound, ended, iterations: self.processed, coefficients, ranked, ..self.outcome })
    }
}
