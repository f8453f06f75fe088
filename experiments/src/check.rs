//! What must hold in every set of results.

use crate::row::Row;
use crate::summary::{DataSet, data_sets, standings};

/// Room for rounding in bounds.
const ROUNDING: f64 = 1e-9;

/// Every violation, in words; empty when all is well.
pub fn violations(rows: &[Row]) -> Vec<String> {
    let mut found: Vec<String> = data_sets(rows).iter().flat_map(bounds).collect();
    for standing in standings(rows).iter().filter(|s| !s.on_envelope()) {
        let (name, mean) = standing.rival;
        found.push(format!(
            "{}: the default solver's mean P is {}, that of {name} is {mean}",
            standing.setting, standing.default_mean
        ));
    }
    found
}

/// No bound exceeds an objective, whoever proved the one and found the other.
fn bounds(set: &DataSet<'_>) -> Vec<String> {
    let place = format!("{}, replicate {}", set.setting, set.replicate);
    let above = |bound: f64, objective: f64| bound > objective + ROUNDING * objective.abs() || bound.is_nan();
    let mut found = Vec::new();
    for row in set.rows() {
        if above(row.own_bound, row.own_objective) || row.objective.is_nan() {
            found.push(format!("{place}: {} proves {} and finds {}", row.algorithm, row.own_bound, row.own_objective));
        }
        if row.bounds_priced() && above(row.own_bound, set.best()) {
            found.push(format!("{place}: {} proves {}, but {} was found", row.algorithm, row.own_bound, set.best()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{complete, replace, row};

    #[test]
    fn a_false_bound_and_a_better_rival_are_found() {
        assert_eq!(violations(&complete()), Vec::<String>::new());
        let mut rows = complete();
        replace(&mut rows, row("DualAst", 5.0, 4.45, 100.0));
        assert_eq!(violations(&rows), ["s, replicate 1: DualAst proves 4.45, but 4.4 was found"]);
        let mut rows = complete();
        replace(&mut rows, row("D-IHT", 5.0, 4.45, 100.0));
        assert_eq!(violations(&rows), Vec::<String>::new(), "its bound is one on another problem");
        replace(&mut rows, row("D-IHT", 5.0, 5.1, 100.0));
        assert_eq!(violations(&rows).len(), 1);
        let mut rows = complete();
        replace(&mut rows, row("PrimDual", 4.45, 3.0, 100.0));
        assert!(violations(&rows)[0].contains("mean P is 4.5, that of PrimDual is 4.45"));
    }
}
