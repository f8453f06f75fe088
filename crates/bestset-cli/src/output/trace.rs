//! A trace, thinned to what fits on a screen.

use super::{above, below_objective, number, seconds};
use bestset::TraceRow;

/// Rows shown at most.
const ROWS: usize = 15;

/// The trace as a table; the first and the last row are always there.
pub fn table(trace: &[TraceRow]) -> String {
    let rows = thin(trace.len(), ROWS).into_iter().map(|i| {
        let row = &trace[i];
        vec![
            row.iteration.to_string(),
            seconds(row.seconds),
            number(row.objective),
            number(row.relaxation),
            below_objective(row.objective, row.lower_bound, row.gap),
            above(row.gap),
            row.active.to_string(),
            row.support.to_string(),
        ]
    });
    super::table(&["iteration", "seconds", "best P", "R", "best D", "gap P−D", "active", "support"], rows)
}

/// At most `rows` ascending indices below `length`, denser at the start, where most happens.
fn thin(length: usize, rows: usize) -> Vec<usize> {
    if length <= rows {
        return (0..length).collect();
    }
    let last = (length - 1) as f64;
    let place = |k: usize| (last * (k as f64 / (rows - 1) as f64).powi(2)).round() as usize;
    let mut indices: Vec<usize> = (0..rows).map(place).collect();
    indices.dedup();
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_both_ends_and_order() {
        assert_eq!(thin(0, 15), Vec::<usize>::new());
        assert_eq!(thin(4, 15), [0, 1, 2, 3]);
        for length in [15, 16, 17, 40, 10_000] {
            let indices = thin(length, 15);
            assert!(indices.len() <= 15 && indices.len() >= 10);
            assert_eq!((indices[0], *indices.last().unwrap()), (0, length - 1));
            assert!(indices.windows(2).all(|w| w[0] < w[1]));
        }
    }
}
