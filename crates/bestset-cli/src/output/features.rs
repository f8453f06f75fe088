//! The selected features beside the true ones.

use super::number;
use bestset::Coefficients;

/// The `top` largest coefficients, largest first, with the true values; features count from zero.
pub fn table(selected: &Coefficients, truth: &Coefficients, top: usize) -> String {
    let mut pairs: Vec<(usize, f64)> = selected.iter().collect();
    pairs.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    pairs.truncate(top);
    let rows = pairs.into_iter().map(|(j, b)| {
        let known = truth.support.binary_search(&j).map_or("–".to_owned(), |k| number(truth.values[k]));
        vec![j.to_string(), number(b), known]
    });
    super::table(&["feature", "coefficient", "truth"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_come_first_with_their_truth() {
        let selected = Coefficients::from_pairs(vec![(3, 0.5), (7, -2.0), (9, 0.1)], 0.0);
        let truth = Coefficients::from_pairs(vec![(1, 1.0), (7, -2.5)], 0.0);
        let text = table(&selected, &truth, 2);
        let rows: Vec<Vec<&str>> = text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows, [["7", "-2.000000", "-2.500000"], ["3", "0.500000", "–"]]);
    }
}
