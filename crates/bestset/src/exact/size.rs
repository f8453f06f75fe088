//! Answers of at most k features (MATH 1.6).

use crate::control::Limits;
use crate::error::Result;
use crate::relaxation::workspace::Workspace;
use crate::search::fit::{apply, refit};
use crate::search::tableau::Tableau;
use crate::solution::Coefficients;

/// The k coefficients with the greatest `charge`, the larger ones among equals.
pub fn largest(from: &Coefficients, k: usize, charge: impl Fn(usize, f64) -> f64) -> Coefficients {
    let mut ranked: Vec<(f64, usize, f64)> = from.iter().map(|(j, b)| (charge(j, b), j, b)).collect();
    ranked.sort_by(|x, y| y.0.total_cmp(&x.0).then(y.2.abs().total_cmp(&x.2.abs())).then(x.1.cmp(&y.1)));
    ranked.truncate(k);
    Coefficients::from_pairs(ranked.into_iter().map(|(_, j, b)| (j, b)).collect(), from.intercept)
}

/// Lowers P from the workspace's point by moves of one feature that keep the size within k, each verified by its refit; of the moves
/// from a point the best `most_moves` are tried.
pub fn improve(work: &mut Workspace<'_, '_>, k: usize, most_moves: usize, limits: &Limits) -> Result<()> {
    let problem = work.problem;
    let squares = problem.squares()?;
    refit(work, limits);
    while limits.stop(0).is_none() && work.has_room_for(work.active.len()) {
        let (objective, start) = (work.objective(), work.coefficients());
        let margin = 1e-10 * objective.abs();
        let (gradients, beta, coordinates) = (work.gradients(), work.beta.clone(), work.coordinates.clone());
        let moves = {
            let gram = work.gram();
            let Some(tableau) = Tableau::new(&gram, &coordinates, &beta, &gradients) else { return Ok(()) };
            tableau.improving(margin, usize::MAX).0
        };
        let has_room = start.nonzeros() < k;
        let allowed = moves.into_iter().filter(|m| has_room || m.1.drop.is_some() || m.1.add.is_none());
        let mut better = false;
        for (_, step) in allowed.take(most_moves) {
            apply(work, squares, step);
            refit(work, limits);
            better = work.objective() < objective - 0.01 * margin;
            if better {
                break;
            }
            work.load(&start)?;
        }
        if !better {
            break;
        }
    }
    Ok(())
}
