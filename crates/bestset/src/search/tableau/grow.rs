//! A tableau that outlives its λ0 and its active set: nothing in it depends on λ0, and a new column is as good as one that
//! was there from the start.

use crate::kernel;
use crate::penalty::Coordinate;
use crate::relaxation::quadratic::Gram;
use crate::search::tableau::Tableau;

impl Tableau {
    /// The same fit under other λ0; λ1, λ2 and bounds must be the same.
    pub fn reprice(&mut self, coordinates: &[Coordinate]) {
        self.coordinates.clear();
        self.coordinates.extend_from_slice(&coordinates[..self.len]);
    }

    /// (|r_k| − λ1)₊² / (2 M_kk) (MATH 7.6): what adding position k brings, all else refitted. Zero in the support and for
    /// columns that depend on it.
    pub fn worth(&self, k: usize) -> f64 {
        if self.is_inside(k) { 0.0 } else { self.flip(k).map_or(0.0, |change| self.coordinates[k].l0 - change) }
    }

    /// Whether position k is in the support.
    pub fn contains(&self, k: usize) -> bool {
        self.is_inside(k)
    }

    /// Takes in the positions that the matrix has beyond those of the tableau, outside the support. With S the support,
    /// M_Sj = A_SS⁻¹Q_Sj = −M_SS Q_Sj,  M_Cj = Q_Cj − M_SCᵀ Q_Sj,  r_j = origin_j − Q_jS β_S.
    pub fn extend(&mut self, gram: &Gram, coordinates: &[Coordinate], origin: &[f64]) {
        let (old, new) = (self.len, gram.len());
        if old == new {
            return;
        }
        let inside: Vec<usize> = (0..old).filter(|&k| self.is_inside(k)).collect();
        let mut data = vec![0.0; new * new];
        for l in 0..old {
            data[l * new + l..l * new + old].copy_from_slice(&self.data[l * old + l..(l + 1) * old]);
        }
        let mut columns: Vec<Vec<f64>> = inside.iter().map(|&k| self.column(k)).collect();
        let mut reduced = vec![0.0; new];
        for j in old..new {
            // Σ_S Q_kj (column k of M): −A⁻¹Q_Sj inside, Q_CS A⁻¹ Q_Sj outside; the columns reach up to j by now.
            reduced[..j].fill(0.0);
            for (&k, column) in inside.iter().zip(&columns) {
                kernel::axpy(gram.at(k, j), column, &mut reduced[..j]);
            }
            for k in 0..j {
                data[k * new + j] = if k < old && self.is_inside(k) { -reduced[k] } else { gram.at(k, j) - reduced[k] };
            }
            inside.iter().zip(&mut columns).for_each(|(&k, column)| column.push(data[k * new + j]));
            let own = gram.at(j, j) + 2.0 * coordinates[j].l2;
            data[j * new + j] = own - inside.iter().map(|&k| data[k * new + j] * gram.at(k, j)).sum::<f64>();
            self.rhs.push(origin[j] - inside.iter().map(|&k| gram.at(k, j) * self.rhs[k]).sum::<f64>());
            self.signs.push(0.0);
            self.own.push(gram.at(j, j) + 2.0 * coordinates[j].l2);
        }
        (self.data, self.len) = (data, new);
        self.coordinates = coordinates[..new].to_vec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;
    use crate::relaxation::workspace::Workspace;
    use crate::{Penalty, Problem};

    /// A tableau that grew is the one built at once.
    #[test]
    fn grown_is_built() {
        let (n, p) = (12, 7);
        let x: Vec<f64> = (0..n * p).map(|k| ((k * k + 3 * k) as f64 * 0.37).sin()).collect();
        let y: Vec<f64> = (0..n).map(|i| (i as f64 * 0.9).cos()).collect();
        let x = Dense::new(n, p, x).unwrap();
        let problem = Problem::new(&x, y, Penalty::new(0.01, 0.02, 0.3)).unwrap().with_intercept(true);
        let mut work = Workspace::new(&problem);
        (0..4).for_each(|j| {
            work.include(j).unwrap();
        });
        let origin: Vec<f64> = {
            let mut all = Workspace::new(&problem);
            (0..p).for_each(|j| {
                all.include(j).unwrap();
            });
            all.gradients().iter().map(|g| -g).collect()
        };
        let (beta, gradients, coordinates) = (work.beta.clone(), work.gradients(), work.coordinates.clone());
        let mut grown = Tableau::new(&work.gram(), &coordinates, &beta, &gradients).unwrap();
        grown.pivot(1);
        grown.pivot(3);
        (4..p).for_each(|j| {
            work.include(j).unwrap();
        });
        let coordinates = work.coordinates.clone();
        grown.extend(&work.gram(), &coordinates, &origin);
        work.beta = grown.beta();
        work.refresh();
        let (beta, gradients) = (work.beta.clone(), work.gradients());
        let built = Tableau::new(&work.gram(), &coordinates, &beta, &gradients).unwrap();
        for k in 0..p {
            assert!((grown.rhs[k] - built.rhs[k]).abs() < 1e-12, "{k}: {} {}", grown.rhs[k], built.rhs[k]);
            for l in 0..p {
                assert!((grown.at(k, l) - built.at(k, l)).abs() < 1e-12, "{k}, {l}");
            }
        }
        assert_eq!((grown.contains(1), grown.contains(4)), (true, false));
    }
}
