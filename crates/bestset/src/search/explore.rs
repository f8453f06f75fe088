//! A walk over supports past the local minimum that exchanges end in: tabu search.

use crate::search::tableau::Tableau;

/// Least and additional steps for which a flipped position stays as it is: enough to leave a minimum, too few to keep the
/// walk from the next one.
const REST: (usize, u64) = (4, 10);

/// Steps without a lower P after which a walk ends, for each position; it may be told to end sooner.
const PATIENCE: usize = 20;

/// A support next to the last one.
pub struct Neighbour {
    /// The tableau there.
    pub tableau: Tableau,
    /// P there, less a constant.
    pub value: f64,
    /// The positions that entered or left.
    pub moved: Vec<usize>,
}

/// At each step the flip of one feature that lowers P most, or raises it least, among those not moved lately. Returns the
/// coefficients with the lowest P met, if that is below the start by more than `margin`.
///
/// `flip` takes a position in or out, or ends the walk; so do at most `patience` steps without a lower P. What moved rests
/// for a number of steps from a fixed sequence: the walk is the same every time and does not run in circles.
pub fn walk(
    start: (Tableau, f64),
    margin: f64,
    patience: usize,
    mut flip: impl FnMut(Tableau, usize) -> Option<Neighbour>,
) -> Option<Vec<f64>> {
    let (mut tableau, mut value) = start;
    let (mut lowest, mut found) = (value, None);
    let mut resting = vec![0; tableau.len()];
    let (mut step, mut improved, mut random) = (0, 0, 1);
    let patience = patience.min(PATIENCE * tableau.len());
    while step < improved + patience {
        step += 1;
        let free = |k: usize, change: f64| resting[k] < step || value + change < lowest - margin;
        let Some(k) = best_flip(&tableau, free) else { continue };
        let Some(next) = flip(tableau, k) else { break };
        let rest = REST.0 + (draw(&mut random) % REST.1) as usize;
        next.moved.iter().for_each(|&k| resting[k] = step + rest);
        (tableau, value) = (next.tableau, next.value);
        if value < lowest - margin {
            (lowest, improved) = (value, step);
            found = Some(tableau.beta());
        }
    }
    found
}

/// The position whose flip is best for P among those that are free.
fn best_flip(tableau: &Tableau, free: impl Fn(usize, f64) -> bool) -> Option<usize> {
    let priced = (0..tableau.len()).filter_map(|k| Some((tableau.flip(k)?, k)));
    priced.filter(|&(change, k)| free(k, change)).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|p| p.1)
}

/// The next number of a fixed sequence (xorshift).
fn draw(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state >> 33
}
