//! The proof over time.

use super::{short, shorts, useful};
use crate::thin::thin;
use crate::{Certificate, TraceRow};
use serde::Serialize;

/// The most moments drawn.
const MOST_MOMENTS: usize = 600;

/// Objective and bound over time.
#[derive(Debug, Clone, Serialize)]
pub struct TraceSeries {
    /// Seconds.
    pub seconds: Vec<Option<f64>>,
    /// Best objective so far.
    pub objective: Vec<Option<f64>>,
    /// Best bound so far.
    pub bound: Vec<Option<f64>>,
    /// Moments left out.
    pub left_out: usize,
}

impl TraceSeries {
    /// From the trace, best so far made monotone, and the certificate as the last word; `None` without two moments.
    pub fn new(trace: &[TraceRow], certificate: &Certificate) -> Option<Self> {
        let mut rows: Vec<TraceRow> = trace.iter().copied().filter(|r| r.seconds.is_finite()).collect();
        rows.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let (mut best, mut bound) = (f64::INFINITY, f64::NEG_INFINITY);
        for row in &mut rows {
            (best, bound) = (best.min(row.objective), bound.max(row.lower_bound));
            (row.objective, row.lower_bound) = (best, bound);
        }
        if let Some(&last) = rows.last() {
            let TraceRow { objective, lower_bound, .. } = last;
            let end = TraceRow {
                objective: objective.min(certificate.objective),
                lower_bound: lower_bound.max(certificate.lower_bound),
                ..last
            };
            if end != last {
                rows.push(end);
            }
        }
        if rows.len() < 2 || rows.iter().all(|r| !r.objective.is_finite()) {
            return None;
        }
        let kept = thin(rows.len(), MOST_MOMENTS);
        Some(Self {
            seconds: kept.iter().map(|&k| short(rows[k].seconds)).collect(),
            objective: shorts(kept.iter().map(|&k| rows[k].objective)),
            bound: kept.iter().map(|&k| useful(rows[k].objective, rows[k].lower_bound)).collect(),
            left_out: rows.len() - kept.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_so_far_never_turns_back_and_ends_at_the_certificate() {
        let row = |seconds, objective, lower_bound| TraceRow { seconds, objective, lower_bound };
        let trace = [row(0.2, 8.0, 3.0), row(0.1, 9.0, f64::NEG_INFINITY), row(0.3, 8.5, 2.0), row(f64::NAN, 0.0, 0.0)];
        let made = TraceSeries::new(&trace, &Certificate::new(7.0, 4.0, "converged", false)).unwrap();
        assert_eq!(made.objective, [9.0, 8.0, 8.0, 7.0].map(Some));
        assert_eq!(made.bound, [None, Some(3.0), Some(3.0), Some(4.0)]);
        assert_eq!(made.seconds, [0.1, 0.2, 0.3, 0.3].map(Some));
        assert!(TraceSeries::new(&trace[..0], &Certificate::default()).is_none());
    }
}
