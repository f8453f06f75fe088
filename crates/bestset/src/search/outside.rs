//! Features outside the active set, priced in one pass over their columns (MATH 7.11).

use crate::control::Monitor;
use crate::design::correlate_many;
use crate::error::Result;
use crate::kernel;
use crate::kernel::each::each;
use crate::penalty::Coordinate;
use crate::problem::whitened::Frame;
use crate::problem::{Curvature, Problem};
use crate::relaxation::workspace::Workspace;
use crate::search::tableau::Tableau;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par};

/// The part of A_jj that must be left in A_{j|S} for rounding of the difference not to show in a price: 1e-12 of it then. What depends
/// on the support more than that is left to the tableau.
const CLEAR: f64 = 1e-4;

/// Numbers of a pass that are held at once: 32 MB.
const HELD: usize = 1 << 22;

/// The features of which an addition, alone or in exchange for one at the positions `droppable` of the support, may lower P; all of them
/// where A_SS is singular. The workspace holds the support and nothing else; τ_j = x_jᵀα of every feature. Of other losses than the
/// squared one it is the quadratic model at the fit that is priced.
pub(crate) fn may_enter(
    support: &mut Workspace<'_, '_>,
    droppable: &[usize],
    features: Vec<usize>,
    tau: &[f64],
    monitor: &mut Monitor<'_>,
) -> Result<Vec<usize>> {
    let Some(worth) = worth(support, droppable, &features, tau, monitor)? else { return Ok(features) };
    Ok(features.into_iter().zip(worth).filter(|f| f.1 > 0.0).map(|f| f.0).collect())
}

/// By how much P may fall when each of the features comes in, alone or in exchange for one at the positions `droppable` of the support: at most
/// so much in the model, +∞ of what depends on the support. `None` where A_SS is singular. As [`may_enter`] otherwise.
pub(crate) fn worth(
    support: &mut Workspace<'_, '_>,
    droppable: &[usize],
    features: &[usize],
    tau: &[f64],
    monitor: &mut Monitor<'_>,
) -> Result<Option<Vec<f64>>> {
    let (problem, size) = (support.problem, support.active.len());
    let Some(prices) = Prices::new(support, droppable) else { return Ok(None) };
    let (mut found, model) = (Vec::new(), prices.model.as_ref());
    let vectors: Vec<&[f64]> = prices.vectors.iter().map(Vec::as_slice).collect();
    let mut numbers = Vec::new();
    for part in features.chunks((HELD / size.max(1)).max(1)) {
        numbers.resize(part.len() * size, 0.0);
        let z = &mut numbers[..];
        if size > 0 {
            correlate_many(problem.design(), part, &vectors, z, &|| monitor.check())?;
        }
        let (z, squares) = (&*z, squares_of(problem, model, part)?);
        found.extend(each(part.len(), |k| {
            let j = part[k];
            prices.worth(&problem.coordinate(j), squares[k], -tau[j], &z[k * size..(k + 1) * size])
        }));
    }
    monitor.passes += features.len() as f64 / problem.ncols() as f64;
    Ok(Some(found))
}

/// x_jᵀHx_j of some features, H the second derivative of the loss: ‖x̂_j‖² for the squared loss.
fn squares_of(problem: &Problem<'_>, model: Option<&Curvature>, features: &[usize]) -> Result<Vec<f64>> {
    let Some(model) = model else {
        let lengths = problem.lengths()?;
        return Ok(each(features.len(), |k| lengths.of(features[k]).powi(2)));
    };
    let (mut found, mut x) = (vec![0.0; features.len()], vec![0.0; problem.nrows()]);
    problem.design().columns(features, &mut |k, column| {
        column.to_dense(&mut x);
        found[k] = model.square(&mut x);
    })?;
    Ok(found)
}

/// What the moves of a feature outside are priced with: A_SS = LLᵀ.
struct Prices {
    /// diag(√w) X̂_S L⁻ᵀ, for other losses HX_S L⁻ᵀ: their products with x_j are z_j = L⁻¹A_Sj.
    vectors: Vec<Vec<f64>>,
    drops: Vec<Drop>,
    /// H of any other loss.
    model: Option<Curvature>,
}

/// One feature of the support leaves.
struct Drop {
    /// L⁻¹e_i, without the zeros before place i.
    column: Vec<f64>,
    /// What P rises by (MATH 7.4).
    cost: f64,
    /// β_i/(A_SS⁻¹)_ii and 1/(A_SS⁻¹)_ii.
    ratio: f64,
    inverse: f64,
}

impl Prices {
    fn new(support: &mut Workspace<'_, '_>, droppable: &[usize]) -> Option<Self> {
        let (size, coordinates) = (support.active.len(), support.coordinates.clone());
        let members: Vec<usize> = (0..size).collect();
        let factor = support.gram().cholesky(&members, |a| 2.0 * coordinates[a].l2)?;
        let mut inverse = Mat::<f64>::identity(size, size);
        solve_lower_triangular_in_place(factor.as_ref(), inverse.as_mut(), Par::Seq);
        let drop = |&i: &usize| {
            let column = inverse.col_as_slice(i)[i..].to_vec();
            let (a, b) = (kernel::squares(&column), support.beta[i]);
            Drop { column, cost: b * b / (2.0 * a) - coordinates[i].l0, ratio: b / a, inverse: 1.0 / a }
        };
        let drops = droppable.iter().map(drop).collect();
        let (problem, frame) = (support.problem, Frame::new(support.problem));
        let is_model = !problem.loss().is_quadratic();
        let model = is_model.then(|| problem.curvature(&support.margins, support.intercept));
        let vector = |a: usize| {
            let mut sum = vec![0.0; problem.nrows()];
            (0..=a).for_each(|i| support.active.axpy(i, inverse[(a, i)], &mut sum));
            match &model {
                Some(model) => {
                    model.multiply(&mut sum);
                    sum
                }
                None => frame.weighted(sum),
            }
        };
        Some(Self { vectors: members.iter().map(|&a| vector(a)).collect(), drops, model })
    }

    /// What the best move that brings in a feature lowers P by (MATH 7.6, 7.7), A_{j|S} = ‖x̂_j‖² + 2λ2 − ‖z_j‖² and
    /// (A_SS⁻¹A_Sj)_i = z_jᵀL⁻¹e_i (MATH 7.11).
    fn worth(&self, c: &Coordinate, square: f64, pull: f64, z: &[f64]) -> f64 {
        let own = square + 2.0 * c.l2;
        let left = own - kernel::squares(z);
        if left <= CLEAR * own {
            return if own > 0.0 { f64::INFINITY } else { 0.0 };
        }
        let alone = Tableau::gain(c, pull, left) - c.l0;
        let exchanged = self.drops.iter().map(|drop| {
            let m = kernel::dot(&drop.column, &z[z.len() - drop.column.len()..]);
            Tableau::gain(c, pull + m * drop.ratio, left + m * m * drop.inverse) - (c.l0 + drop.cost)
        });
        exchanged.fold(alone, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::may_enter;
    use crate::control::Monitor;
    use crate::design::Dense;
    use crate::relaxation::workspace::Workspace;
    use crate::search::exchange::tableau;
    use crate::search::fit::refit;
    use crate::{Options, Penalty, Problem};

    /// Those that are kept are those that the tableau of all columns brings in, with weights, an intercept, λ1, without a ridge, near copies.
    #[test]
    fn the_features_kept_are_those_that_the_tableau_brings_in() {
        let (n, p, mut brought, mut ruled_out) = (24, 40, 0, 0);
        for seed in 0..60_usize {
            let value = |k: usize| ((k * k + 7 * k * (seed + 1) + 3 * seed) as f64 * 0.173).sin();
            let mut x: Vec<f64> = (0..n * p).map(|k| value(k) + if seed % 2 == 0 { 5.0 } else { 0.0 }).collect();
            (0..n).for_each(|i| x[(p - 1) * n + i] = x[i] + 1e-3 * value(i + 11));
            let y: Vec<f64> = (0..n).map(|i| 2.0 * x[i] - x[2 * n + i] + 1.5 * x[5 * n + i] + value(i + 999)).collect();
            let x = Dense::new(n, p, x).unwrap();
            let penalty = Penalty::new(0.3, [0.0, 0.2][seed % 2], [0.0, 0.01, 1.0][seed % 3]);
            let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
            let problem = Problem::new(&x, y, penalty).unwrap().with_weights(weights).unwrap();
            let problem = problem.with_intercept(seed % 4 < 2);
            let (options, mut observer) = (Options::default(), ());
            let mut monitor = Monitor::new(&options, &mut observer);
            let mut support = Workspace::new(&problem);
            support.include_all(&[0, 3, 5, 8]).unwrap();
            support.beta.fill(1.0);
            support.refresh();
            refit(&mut support, &monitor);
            let mut support = support.on_support().unwrap();
            let size = support.active.len();
            let droppable: Vec<usize> = (0..size).filter(|&k| k != 2).collect();
            let tau = problem.correlations(&support.alpha).unwrap();
            let outside: Vec<usize> = (0..p).filter(|&j| support.position(j).is_none()).collect();
            let kept = may_enter(&mut support, &droppable, outside.clone(), &tau, &mut monitor).unwrap();
            support.include_all(&outside).unwrap();
            let view: Vec<usize> = droppable.into_iter().chain(size..p).collect();
            let (moves, _) = tableau(&mut support, &view, &mut 1e9).unwrap().improving(1e-9, usize::MAX);
            let mut entering: Vec<usize> =
                moves.iter().filter_map(|m| m.1.add).map(|k| support.active.features()[view[k]]).collect();
            entering.sort_unstable();
            entering.dedup();
            let is_near_copy = |j: &usize| *j == p - 1;
            assert!(entering.iter().all(|j| kept.contains(j)), "seed {seed}: {entering:?} {kept:?}");
            assert!(kept.iter().all(|j| entering.contains(j) || is_near_copy(j)), "seed {seed}: {entering:?} {kept:?}");
            (brought, ruled_out) = (brought + kept.len(), ruled_out + outside.len() - kept.len());
        }
        assert!(brought > 100 && ruled_out > 100, "{brought} brought in, {ruled_out} ruled out");
    }
}
