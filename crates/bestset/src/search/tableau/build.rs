//! A tableau from the matrix of inner products, whole or of the positions in view.

use crate::penalty::Coordinate;
use crate::relaxation::quadratic::Gram;
use crate::search::tableau::Tableau;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, Par};

impl Tableau {
    /// The tableau at the fit `beta` with the model's `gradients` there; `None` when A is singular.
    pub fn new(gram: &Gram, coordinates: &[Coordinate], beta: &[f64], gradients: &[f64]) -> Option<Self> {
        Self::within(&(0..gram.len()).collect::<Vec<_>>(), gram, coordinates, beta, gradients)
    }

    /// As [`Tableau::new`], of the positions in `view` only; the rest of the support stays in it and is refitted with them.
    pub fn within(
        view: &[usize],
        gram: &Gram,
        coordinates: &[Coordinate],
        beta: &[f64],
        gradients: &[f64],
    ) -> Option<Self> {
        let m = view.len();
        let is_inside: Vec<bool> = view.iter().map(|&k| beta[k] != 0.0).collect();
        let (products, unfitted) = products(view, gram, coordinates, beta, gradients)?;
        let mut data = vec![0.0; m * m];
        for (e, &l) in view.iter().enumerate() {
            for (d, &k) in view.iter().enumerate().skip(e) {
                let product = products[(d, e)];
                data[e * m + d] = match (is_inside[d], is_inside[e]) {
                    (true, true) => -product,
                    (false, false) => gram.at(k, l) - product,
                    _ => product,
                };
            }
            if !is_inside[e] {
                data[e * m + e] += 2.0 * coordinates[l].l2;
            }
        }
        let pick = |of: &[f64]| -> Vec<f64> { view.iter().map(|&k| of[k]).collect() };
        let own = view.iter().map(|&k| gram.at(k, k) + 2.0 * coordinates[k].l2).collect();
        let coordinates = view.iter().map(|&k| coordinates[k]).collect();
        let (rhs, signs) = (Vec::new(), Vec::new());
        let mut tableau = Self { coordinates, len: m, data, value: 0.0, own, rhs, signs, unfitted };
        tableau.retarget(&pick(beta), &pick(gradients));
        Some(tableau)
    }
}

/// The lower triangle of BᵀA⁻¹B over the positions in `view`, with B = [I_SV, Q_SC]: A⁻¹ itself where both are in the support,
/// A⁻¹Q_SC where one is, and Q_CS A⁻¹ Q_SC where none is; and ½ gᵀA⁻¹g, what the best
/// fit on the support is below `beta`, g being the slope of P there. `None` when A is singular.
fn products(
    view: &[usize],
    gram: &Gram,
    coordinates: &[Coordinate],
    beta: &[f64],
    gradients: &[f64],
) -> Option<(Mat<f64>, f64)> {
    let m = view.len();
    let inside: Vec<usize> = (0..gram.len()).filter(|&k| beta[k] != 0.0).collect();
    let mut products = Mat::<f64>::zeros(m, m);
    if inside.is_empty() {
        return Some((products, 0.0));
    }
    let mut w = Mat::from_fn(inside.len(), m, |a, e| match beta[view[e]] != 0.0 {
        true => f64::from(u8::from(inside[a] == view[e])),
        false => gram.at(inside[a], view[e]),
    });
    // With A = LLᵀ and W = L⁻¹B the product is WᵀW.
    let factor = gram.cholesky(&inside, |a| 2.0 * coordinates[inside[a]].l2)?;
    solve_lower_triangular_in_place(factor.as_ref(), w.as_mut(), Par::Seq);
    let slope = |k: usize| {
        let (c, b) = (&coordinates[k], beta[k]);
        let slope = gradients[k] + 2.0 * c.l2 * b + c.l1 * b.signum();
        // At a bound it may point outwards.
        if b >= c.upper {
            slope.max(0.0)
        } else if b <= c.lower {
            slope.min(0.0)
        } else {
            slope
        }
    };
    let mut slopes = Mat::from_fn(inside.len(), 1, |a, _| slope(inside[a]));
    solve_lower_triangular_in_place(factor.as_ref(), slopes.as_mut(), Par::Seq);
    let unfitted = 0.5 * slopes.col_as_slice(0).iter().map(|g| g * g).sum::<f64>();
    let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    let left = w.transpose();
    triangular::matmul(products.as_mut(), lower, Accum::Replace, left, whole, w.as_ref(), whole, 1.0, Par::Seq);
    Some((products, unfitted))
}

#[cfg(test)]
mod tests {
    use crate::control::Monitor;
    use crate::design::Dense;
    use crate::relaxation::workspace::Workspace;
    use crate::search::tableau::Tableau;
    use crate::{Options, Penalty, Problem};

    /// A part built by itself is the part of the whole; its value follows P from support to support.
    #[test]
    fn a_view_is_part_of_the_whole_and_its_value_that_of_p() {
        let (n, p) = (14, 9);
        let x: Vec<f64> = (0..n * p).map(|k| ((k * k + 5 * k) as f64 * 0.29).sin()).collect();
        let y = (0..n).map(|i| (0..p).map(|j| x[j * n + i] * (3.0 + j as f64)).sum()).collect::<Vec<f64>>();
        let x = Dense::new(n, p, x).unwrap();
        let problem = Problem::new(&x, y, Penalty::new(0.01, 0.0, 0.2)).unwrap().with_intercept(true);
        let (options, mut observer) = (Options::default(), ());
        let monitor = Monitor::new(&options, &mut observer);
        let mut work = Workspace::new(&problem);
        (0..p).for_each(|j| {
            work.include(j).unwrap();
        });
        let fit = |work: &mut Workspace<'_, '_>, support: &[usize]| {
            (0..p).for_each(|k| work.beta[k] = f64::from(u8::from(support.contains(&k))));
            work.refresh();
            crate::search::fit::refit(work, &monitor);
            work.objective()
        };
        let start = fit(&mut work, &[0, 2, 5, 6]);
        let (beta, gradients, coordinates) = (work.beta.clone(), work.gradients(), work.coordinates.clone());
        let gram = work.gram().into_owned();
        let view = [1, 2, 4, 5, 8];
        let mut part = Tableau::within(&view, &gram, &coordinates, &beta, &gradients).unwrap();
        let selected = Tableau::new(&gram, &coordinates, &beta, &gradients).unwrap().select(&view);
        for k in 0..view.len() {
            assert!((part.rhs[k] - selected.rhs[k]).abs() < 1e-12);
            (0..view.len()).for_each(|l| assert!((part.at(k, l) - selected.at(k, l)).abs() < 1e-12, "{k}, {l}"));
        }
        // In turn: 8 enters, 5 leaves, 1 enters, 8 leaves; 0 and 6, out of view, stay.
        for (k, support) in
            [(4, vec![0, 2, 5, 6, 8]), (3, vec![0, 2, 6, 8]), (0, vec![0, 1, 2, 6, 8]), (4, vec![0, 1, 2, 6])]
        {
            part.pivot(k);
            let now = fit(&mut work, &support);
            assert!((part.value() - (now - start)).abs() < 1e-9, "{support:?}: {} {}", part.value(), now - start);
        }
        part.go(|k| [1, 3].contains(&k), &mut 0.0);
        assert!(part.value().abs() < 1e-9 && part.contains(3), "back where it began: {}", part.value());
    }
}
