//! Subsets by how many features they have outside those of a point (PROOF, "COHERENCE"): curvature that only so many together can see.

use crate::bound::{Anchor, Choice, Point, least};
use crate::header::{Header, Sparse};
use crate::lemma::{Lemma, Products, SHARE};
use crate::model::Model;
use crate::pairs::{Row, Vectors};
use crate::round::{U, axpy, dot, down, gamma, up};

/// The most features outside Â that subsets are bounded for, and of Â: lists of the largest products have as many entries.
pub const MOST_ADDED: usize = 64;
/// See [`MOST_ADDED`].
pub const MOST_INSIDE: usize = 256;

/// μ_a as a share of ‖x̃_a‖²: what M is definite by.
const DEFINITE: f64 = 1.0 / (1 << 20) as f64;

/// V_m of (P18) for the subsets of a family.
pub struct Coherence<'a> {
    header: &'a Header,
    /// At most C.
    value: f64,
    /// φ of the features of Â that are in; the negative ones of those that are free, ascending.
    forced: Vec<f64>,
    gains: Vec<f64>,
    outside: Vec<Outsider>,
    /// What entries of Q̃ are off by, in units of lengths.
    error: f64,
    /// The most features of a subset below B.
    pub most: usize,
}

/// A feature outside Â.
struct Outsider {
    feature: usize,
    is_in: bool,
    /// At least ‖x̃_j‖: the unit of its row.
    length: f64,
    slope: f64,
    slope_error: f64,
    row: Row,
}

impl<'a> Coherence<'a> {
    /// Around β with ϱ on its features, for subsets that add fewer than `added` to these.
    pub fn new(
        header: &'a Header,
        model: &Model,
        products: &mut Products,
        choices: &[Choice],
        (beta, rho): (&Sparse, &[f64]),
        added: usize,
    ) -> Result<Self, String> {
        if beta.len() > MOST_INSIDE || added > MOST_ADDED {
            return Err(format!("{} features and {added} more, above {MOST_INSIDE} and {MOST_ADDED}", beta.len()));
        }
        if let Some(c) = beta.iter().find(|c| choices[c.0] == Choice::Out) {
            return Err(format!("feature {} of the point is out", c.0));
        }
        let inside = Inside::new(model, products, beta, rho)?;
        let lemma = Lemma::known(beta.iter().map(|c| c.0).collect(), rho.to_vec());
        let anchor = Anchor { beta, lemma: Some(&lemma), price: 0.0 };
        let point = Point::new(model, &anchor);
        let (mut forced, mut gains) = (Vec::new(), Vec::new());
        for &(j, b) in beta {
            let phi = number(point.phi(header.penalty(j), j, lemma.of(j).unwrap_or(0.0), b, 0.0));
            if choices[j] == Choice::In { forced.push(phi) } else { gains.push(phi.min(0.0)) }
        }
        gains.sort_unstable_by(f64::total_cmp);
        // Without a column of zeros P is no higher.
        let is_zero = |j: usize| model.column(j).iter().all(|x| *x == 0.0);
        let is_outside =
            |j: &usize| choices[*j] != Choice::Out && beta.binary_search_by_key(j, |c| c.0).is_err() && !is_zero(*j);
        let features: Vec<usize> = (0..header.p()).filter(is_outside).collect();
        let (rows, error) = inside.rows(model, &features, added.saturating_sub(1));
        let one = |(feature, row): (usize, Row)| {
            let ((slope, slope_error), is_in) = (point.slope(feature), choices[feature] == Choice::In);
            Outsider { feature, is_in, length: unit(model, feature), slope, slope_error, row }
        };
        let outside = features.into_iter().zip(rows).map(one).collect();
        let most = most_features(header, choices);
        Ok(Self { header, value: point.value, forced, gains, outside, error, most })
    }

    /// The fewest and the most features outside Â that a subset of the family below B can have.
    pub fn range(&self) -> (usize, usize) {
        match self.most.checked_sub(self.forced.len()) {
            // What is in costs B already.
            None => (1, 0),
            Some(room) => (self.outside.iter().filter(|o| o.is_in).count(), self.outside.len().min(room)),
        }
    }

    /// At most V_m: P of the subsets with m features outside Â.
    pub fn bound(&self, m: usize) -> f64 {
        let room = self.most - self.forced.len() - m;
        let mut value = self.value;
        let mut add = |phi: &f64| value = number(down(value + phi));
        self.forced.iter().for_each(&mut add);
        self.gains.iter().take(room).for_each(&mut add);
        let of = |is_in: bool| self.outside.iter().filter(move |o| o.is_in == is_in).map(|o| self.phi(o, m));
        let needed: Vec<f64> = of(true).collect();
        let mut free: Vec<f64> = of(false).collect();
        free.sort_unstable_by(f64::total_cmp);
        free.truncate(m - needed.len());
        needed.iter().chain(&free).for_each(&mut add);
        value
    }

    /// At most φ_j^m, with d_j^m = ‖x̃_j‖²(q_jj − (the m − 1 largest |q_jk|)), each entry with its error; −∞ where it is no number.
    fn phi(&self, one: &Outsider, m: usize) -> f64 {
        let mut left = down(one.row.own - self.error);
        for size in one.row.largest.iter().take(m.saturating_sub(1)) {
            left = down(left - up(size + self.error));
        }
        let square = if left > 0.0 { down(one.length * one.length) } else { up(one.length * one.length) };
        let penalty = self.header.penalty(one.feature);
        number(least(penalty, down(left * square), one.slope, one.slope_error, 0.0))
    }
}

/// What is no number bounds nothing.
fn number(x: f64) -> f64 {
    if x.is_nan() { f64::NEG_INFINITY } else { x }
}

/// The length of a column, not so small that nothing can be divided by it.
fn unit(model: &Model, j: usize) -> f64 {
    model.norms[j].max(1e-150)
}

/// The most features that a subset of the family below B can have: more cost B by their prices, or are not allowed.
fn most_features(header: &Header, choices: &[Choice]) -> usize {
    let members = (0..header.p()).filter(|&j| choices[j] != Choice::Out);
    let mut prices: Vec<f64> = members.map(|j| header.penalty(j).l0).collect();
    prices.sort_unstable_by(f64::total_cmp);
    let mut cost = 0.0;
    let is_below = |price: &&f64| {
        cost = down(cost + **price).max(0.0);
        cost < header.bound
    };
    let paid = prices.iter().take_while(is_below).count();
    paid.min(header.size.unwrap_or(usize::MAX))
}

/// Â: its columns, ϱ, and what solves for w.
struct Inside<'a> {
    features: Vec<usize>,
    rho: &'a [f64],
    /// μ.
    definite: Vec<f64>,
    /// A factor of about M = (1 − ε)Q_ÂÂ − diag(ϱ).
    factor: Vec<f64>,
    weighted: Vec<Vec<f64>>,
}

impl<'a> Inside<'a> {
    /// (1 − ε)Q_ÂÂ − diag(ϱ + μ) ⪰ 0, or where that fails.
    fn new(model: &Model, products: &mut Products, beta: &Sparse, rho: &'a [f64]) -> Result<Self, String> {
        let features: Vec<usize> = beta.iter().map(|c| c.0).collect();
        let square = |j: &usize| up(model.norms[*j] * model.norms[*j]);
        let definite: Vec<f64> = features.iter().map(|j| up(DEFINITE * square(j))).collect();
        let both = rho.iter().zip(&definite).map(|(r, d)| up(r + d)).collect();
        Lemma::new(model, products, features.clone(), both)?;
        let (places, m) = (products.places(model, &features), features.len());
        let mut factor = vec![0.0; m * m];
        for a in 0..m {
            for b in 0..=a {
                let own = if a == b { rho[a] } else { 0.0 };
                factor[a * m + b] = (1.0 - SHARE) * products.at(places[a], places[b]) - own;
            }
        }
        if let Some(a) = crate::lemma::factor(&mut factor, m) {
            return Err(format!("feature {} of the point depends on its others", features[a]));
        }
        let weighted = features.iter().map(|&j| model.weighted(model.column(j))).collect();
        Ok(Self { features, rho, definite, factor, weighted })
    }

    /// About M⁻¹(1 − ε)Q_Âj: any w will do.
    fn solve(&self, column: &[f64]) -> Vec<f64> {
        let m = self.features.len();
        let mut w: Vec<f64> = self.weighted.iter().map(|a| (1.0 - SHARE) * dot(a, column)).collect();
        for a in 0..m {
            w[a] = (w[a] - dot(&self.factor[a * m..a * m + a], &w[..a])) / self.factor[a * m + a];
        }
        for a in (0..m).rev() {
            let below: f64 = (a + 1..m).map(|b| self.factor[b * m + a] * w[b]).sum();
            w[a] = (w[a] - below) / self.factor[a * m + a];
        }
        w
    }

    /// Rows of q, and what their entries are off by (P17).
    fn rows(&self, model: &Model, features: &[usize], most: usize) -> (Vec<Row>, f64) {
        let (n, m) = (model.column(0).len(), self.features.len());
        let mut vectors = Vectors::new(n, m);
        let (mut longest, mut mean, mut cross) = (0.0f64, 0.0f64, 0.0f64);
        let roots: Vec<f64> = (0..n).map(|i| (model.weight(i) * (1.0 - SHARE)).sqrt()).collect();
        // What is no number stays.
        let larger = |of: &mut f64, by: f64| *of = if of.is_nan() || by <= *of { *of } else { by };
        for &j in features {
            let (column, unit) = (model.column(j), unit(model, j));
            let (w, mut rest) = (self.solve(column), column.to_vec());
            let (mut length, mut off_centre) = (model.norms[j], model.means[j]);
            for (&a, w) in self.features.iter().zip(&w) {
                axpy(-w, model.column(a), &mut rest);
                length = up(length + up(w.abs() * model.norms[a]));
                off_centre = up(off_centre + up(w.abs() * model.means[a]));
            }
            larger(&mut longest, up(length / unit));
            larger(&mut mean, up(off_centre / unit));
            larger(&mut cross, up(self.residual(model, &w, &rest, length, off_centre) / unit));
            let extra = w.iter().zip(self.rho).map(|(w, r)| r.max(0.0).sqrt() * w / unit);
            vectors.push(rest.iter().zip(&roots).map(|(x, root)| x * root / unit), extra);
        }
        let share = up(up(2.0 * vectors.error()) + up(4.0 * gamma(m + 16)));
        let square = up(longest * longest);
        let error = up(up(share * square) + up(up(mean * mean) + up(cross * cross)));
        // Entries far above one might be too large for single precision.
        (vectors.rows(most), if longest < 1e6 && error.is_finite() { error } else { f64::NAN })
    }

    /// √(Σ e_a²/μ_a) at least, e = (1 − ε)X̂_ÂᵀR + ϱw: zero were w exact.
    fn residual(&self, model: &Model, w: &[f64], rest: &[f64], length: f64, off_centre: f64) -> f64 {
        let mut sum = 0.0;
        for (a, &j) in self.features.iter().enumerate() {
            let e = (1.0 - SHARE) * dot(&self.weighted[a], rest) + self.rho[a] * w[a];
            let share = up(up(model.gamma + gamma(self.features.len() + 16)) + 8.0 * U);
            let sizes = up(up(model.norms[j] * length) + up(self.rho[a] * w[a].abs()));
            let off = up(up(share * sizes) + up(model.means[j] * off_centre));
            let size = up(e.abs() + off);
            sum = up(sum + up(up(size * size) / down(self.definite[a])));
        }
        up(sum.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    }

    /// Entries of the Schur complement of (1 − ε)Q − diag(ϱ) on Â, by elimination in double precision.
    fn left(columns: &[Vec<f64>], rho: &[f64]) -> Vec<Vec<f64>> {
        let (p, m) = (columns.len(), rho.len());
        let own = |a: usize, b: usize| if a == b && a < m { rho[a] } else { 0.0 };
        let entry = |a: usize, b: usize| (1.0 - SHARE) * dot(&columns[a], &columns[b]) - own(a, b);
        let mut q: Vec<Vec<f64>> = (0..p).map(|a| (0..p).map(|b| entry(a, b)).collect()).collect();
        for a in 0..m {
            for b in a + 1..p {
                let factor = q[b][a] / q[a][a];
                (0..p).for_each(|c| q[b][c] -= factor * q[a][c]);
            }
        }
        q
    }

    /// (P17): what is computed is within E of the Schur complement, whatever w is; nothing less is, as products are rounded, and w
    /// may be off.
    #[test]
    fn products_are_within_their_error_also_where_w_is_off() {
        let (mut state, mut worst) = (0x5eed_1234u64, [0.0f64; 2]);
        for trial in 0..60 {
            let (n, m, p) = (5 + trial, 1 + trial % 3, 6 + trial % 3);
            let mut columns: Vec<Vec<f64>> =
                (0..p).map(|_| (0..n.max(p + 2)).map(|_| random(&mut state)).collect()).collect();
            // Features outside that lean on those inside: w is not small.
            for j in m..p {
                for i in 0..columns[j].len() {
                    columns[j][i] += columns[0][i] + 0.5 * columns[m - 1][i];
                }
            }
            let model = Model::of_columns(&columns);
            let rho: Vec<f64> = (0..m).map(|a| 0.2 * model.norms[a] * model.norms[a]).collect();
            let beta: Sparse = (0..m).map(|a| (a, 1.0)).collect();
            let Ok(mut inside) = Inside::new(&model, &mut Products::default(), &beta, &rho) else { continue };
            let is_off = trial % 2 == 1;
            // w is then off by a share of itself.
            inside.factor.iter_mut().for_each(|l| *l *= if is_off { 1.05 } else { 1.0 });
            let features: Vec<usize> = (m..p).collect();
            let (rows, error) = inside.rows(&model, &features, p);
            let truth = left(&columns, &rho);
            for (row, &j) in rows.iter().zip(&features) {
                let scaled = |l: usize| truth[j][l] / (unit(&model, j) * unit(&model, l));
                let mut sizes: Vec<f64> = features.iter().filter(|l| **l != j).map(|&l| scaled(l).abs()).collect();
                sizes.sort_unstable_by(|a, b| b.total_cmp(a));
                let own = (row.own - scaled(j)).abs();
                let off = sizes.iter().zip(&row.largest).map(|(a, b)| (a - b).abs()).fold(own, f64::max);
                assert!(off <= error, "{trial}: {off:e} of {error:e}");
                worst[usize::from(is_off)] = worst[usize::from(is_off)].max(off);
            }
        }
        // Rounding of single precision shows, and so does a w that is off, by far more.
        assert!(worst[0] > 1e-9 && worst[1] > 1e-4, "{worst:?}");
    }
}
