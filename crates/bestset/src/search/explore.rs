//! A walk over supports past the local minimum that exchanges end in: tabu search.

use crate::search::tableau::Tableau;

/// Least and additional steps for which a flipped position stays as it is: enough to leave a minimum, too few to keep the
/// walk from the next one.
const REST: (usize, u64) = (4, 10);

/// Steps without a lower P after which a walk ends, for each position; it may be told to end sooner.
const PATIENCE: usize = 20;

/// Steps of a walk at the most, as so many times its patience: where columns depend on each other but for their last digits, a tableau loses its own, and finds
/// values lower and lower that no fit has. Nine features took minutes.
const LONGEST: usize = 16;

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
/// `flip` takes a position in or out, or ends the walk; so do at most `patience` steps without a lower P, or many times as many in all. What moved rests
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
    while step < (improved + patience).min(LONGEST * patience) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;
    use crate::relaxation::workspace::Workspace;
    use crate::{Penalty, Problem};

    /// Values that fall for ever are those of a tableau that has lost its digits: the walk ends all the same.
    #[test]
    fn a_walk_whose_values_keep_falling_ends() {
        let design = Dense::new(4, 3, vec![1.0, 0.0, 0.5, 2.0, 0.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 0.3]).unwrap();
        let problem = Problem::new(&design, vec![1.0, 2.0, -1.0, 0.5], Penalty::new(0.1, 0.0, 0.1)).unwrap();
        let mut work = Workspace::new(&problem);
        work.include_all(&[0, 1, 2]).unwrap();
        let (gradients, beta, coordinates) = (work.gradients(), work.beta.clone(), work.coordinates.clone());
        let tableau = Tableau::new(&work.gram(), &coordinates, &beta, &gradients).unwrap();
        let (mut steps, mut value, patience) = (0, 0.0, 5);
        let flip = |mut tableau: Tableau, k: usize| {
            tableau.pivot(k);
            (steps, value) = (steps + 1, value - 1.0);
            Some(Neighbour { tableau, value, moved: vec![k] })
        };
        assert!(walk((tableau, 0.0), 1e-9, patience, flip).is_some());
        assert!(steps > patience && steps <= LONGEST * patience, "{steps} steps");
    }
}
