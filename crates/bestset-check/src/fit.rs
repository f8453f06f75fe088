//! Least squares on all features of a family, on all but one, and on those that are in with one or two more (PROOF, "FIT", "PAIRS"), from
//! below: factors in floating point are those of a matrix that is no larger than the one that is meant.

use crate::header::Header;
use crate::lemma::Products;
use crate::model::Model;
use crate::round::{dot, down, gamma, up};
use std::cell::RefCell;

/// The most features of a fit: a factor takes a quarter of a megabyte, and as many of them wait as features are split on.
pub const MOST_FITTED: usize = 256;

/// A of (P10): inner products of some columns and, last, of the targets, with the ridge and less what rounding can do.
pub struct Equations {
    /// The features, ascending.
    pub features: Vec<usize>,
    matrix: Vec<f64>,
}

impl Equations {
    /// Of these features.
    pub fn new(header: &Header, model: &Model, products: &mut Products, features: Vec<usize>) -> Result<Self, String> {
        let m = features.len();
        if m > MOST_FITTED {
            return Err(format!("a fit of {m} features, more than {MOST_FITTED}"));
        }
        let (places, target, width) = (products.places(model, &features), model.weighted(&model.y), m + 1);
        let mut matrix = vec![0.0; width * width];
        let off = |square: f64, mean: f64, ridge: f64| {
            let of_factor = up(5.0 * gamma(m + 4)) * up(square + ridge);
            up(up(up(model.gamma * square) + up(mean * mean) + of_factor) * (1.0 + 1e-15) * width as f64)
        };
        for (a, &j) in features.iter().enumerate() {
            for b in 0..a {
                matrix[a * width + b] = products.at(places[a], places[b]);
                matrix[b * width + a] = matrix[a * width + b];
            }
            matrix[m * width + a] = dot(&target, model.column(j));
            let (square, ridge) = (up(model.norms[j] * model.norms[j]), 2.0 * header.penalty(j).l2);
            if up(square + ridge).max(model.y_norm * model.y_norm) > 1e100 {
                return Err("numbers are too large for a fit".to_owned());
            }
            let own = down(products.at(places[a], places[a]) + ridge);
            matrix[a * width + a] = down(own - off(square, model.means[j], ridge));
        }
        let own = dot(&target, &model.y);
        matrix[m * width + m] = down(own - off(up(model.y_norm * model.y_norm), model.mean_bound(&model.y), 0.0));
        Ok(Self { features, matrix })
    }

    /// The places of features, where all are here.
    pub fn places(&self, features: impl Iterator<Item = usize>) -> Option<Vec<usize>> {
        features.map(|j| self.features.binary_search(&j).ok()).collect()
    }

    fn row(&self, a: usize) -> &[f64] {
        let width = self.features.len() + 1;
        &self.matrix[a * width..(a + 1) * width]
    }

    /// The row of Cholesky's factor for place a below the rows of other places, but for its own entry, and the square of that.
    fn below(&self, a: usize, places: &[usize], factor: &[f64], row: &mut Vec<f64>) -> f64 {
        let entries = self.row(a);
        for (b, &place) in places.iter().enumerate().skip(row.len()) {
            let other = &factor[start(b)..start(b + 1)];
            row.push((entries[place] - dot(&row[..b], &other[..b])) / other[b]);
        }
        entries[a] - dot(row, row)
    }
}

/// Where row a of a packed triangle starts.
fn start(a: usize) -> usize {
    a * (a + 1) / 2
}

/// The next row of a factor, unless its place depends on those before it.
fn extend(equations: &Equations, place: usize, places: &[usize], factor: &mut Vec<f64>) -> Result<(), String> {
    let mut row = Vec::with_capacity(places.len() + 1);
    let square = equations.below(place, places, factor, &mut row);
    // A diagonal far from underflow keeps underflow elsewhere below what is allowed for.
    let is_sound = equations.row(place)[place] > 1e-100 && square > 0.0 && square.is_finite();
    if !is_sound {
        return Err(format!("feature {} depends on others of the fit", equations.features[place]));
    }
    factor.extend(row);
    factor.push(square.sqrt());
    Ok(())
}

/// ‖ŷ − X̂b‖² + 2Σλ2b² at its least, from below: on all features, and without each.
pub struct Fit {
    /// Places in the equations, in the order of the factor: the last are looked at first, and cheapest.
    pub places: Vec<usize>,
    factor: Vec<f64>,
    /// Row of the targets in the factor.
    target: Vec<f64>,
    /// On all features.
    pub all: f64,
    /// Without the feature of each row, where it is known; a guess at the others, to put them in order.
    without: RefCell<Vec<Without>>,
}

#[derive(Clone, Copy)]
struct Without {
    value: f64,
    is_known: bool,
}

impl Fit {
    /// On these places, the dearest last.
    pub fn new(equations: &Equations, places: Vec<usize>) -> Result<Self, String> {
        let nothing = vec![0.0; places.len()];
        let first = Self::extended(equations, places, &nothing, &[], &[])?;
        let order: Vec<(f64, usize)> = (0..nothing.len()).map(|row| (first.without(row), first.places[row])).collect();
        Self::ordered(equations, Vec::new(), order, &[], &[])
    }

    /// On those places that are kept: the rows before the first that is not stay as they are, and of the others the free ones come last.
    pub fn reduced(
        &self,
        equations: &Equations,
        is_kept: impl Fn(usize) -> bool,
        is_free: impl Fn(usize) -> bool,
    ) -> Result<Self, String> {
        let same = self.places.iter().take_while(|place| is_kept(**place)).count();
        let without = self.without.borrow();
        let guess = |row: usize| (without[row].value, self.places[row]);
        let kept = (same..self.places.len()).filter(|row| is_kept(self.places[*row]));
        let (free, inside): (Vec<_>, Vec<_>) = kept.map(guess).partition(|g| is_free(g.1));
        let before = (0..same).map(guess).chain(inside).collect();
        Self::ordered(equations, before, free, &self.factor[..start(same)], &self.target[..same])
    }

    /// On places in their order, then others by what a fit without them was.
    fn ordered(
        equations: &Equations,
        mut places: Vec<(f64, usize)>,
        mut others: Vec<(f64, usize)>,
        factor: &[f64],
        target: &[f64],
    ) -> Result<Self, String> {
        others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        places.extend(others);
        let (guesses, places): (Vec<f64>, Vec<usize>) = places.into_iter().unzip();
        Self::extended(equations, places, &guesses, factor, target)
    }

    fn extended(
        equations: &Equations,
        places: Vec<usize>,
        guesses: &[f64],
        factor: &[f64],
        target: &[f64],
    ) -> Result<Self, String> {
        let (mut factor, mut target) = (factor.to_vec(), target.to_vec());
        factor.reserve(start(places.len() + 1) - factor.len());
        for a in target.len()..places.len() {
            extend(equations, places[a], &places[..a], &mut factor)?;
        }
        let square = equations.below(equations.features.len(), &places, &factor, &mut target);
        let is_sound = square > 1e-100 && square.is_finite();
        let root = if is_sound { square.sqrt() } else { 0.0 };
        let guess = |value: &f64| Without { value: *value, is_known: false };
        let without = RefCell::new(guesses.iter().map(guess).collect());
        Ok(Self { places, factor, target, all: down(root * root).max(0.0), without })
    }

    /// l_y² + (zᵀw)²/‖w‖² (P11) of a row, w by forward substitution; 0 where the targets are fitted perfectly.
    pub fn without(&self, row: usize) -> f64 {
        let known = self.without.borrow()[row];
        if known.is_known {
            return known.value;
        }
        let (m, mut w) = (self.places.len(), Vec::with_capacity(self.places.len() - row));
        for b in row..m {
            let own = &self.factor[start(b)..start(b + 1)];
            let right = if b == row { 1.0 } else { -dot(&own[row..b], &w) };
            w.push(right / own[b]);
        }
        let (z, g) = (&self.target[row..], gamma(m + 4));
        let length = |v: &[f64]| up(up(dot(v, v) * (1.0 + 2.0 * g)).sqrt());
        let along = down(down(dot(z, &w).abs() / length(&w)) - up(g * length(z))).max(0.0);
        let value = if self.all > 0.0 { down(self.all + down(along * along).max(0.0)) } else { 0.0 };
        self.without.borrow_mut()[row] = Without { value, is_known: true };
        value
    }
}

/// What is left of columns and targets once some features are in (P12): exact of a matrix below the one that is meant.
pub struct Left {
    m: usize,
    matrix: Vec<f64>,
}

impl Left {
    /// Of the free places and, last, the targets.
    pub fn new(equations: &Equations, inside: &[usize], free: &[usize]) -> Result<Self, String> {
        let (m, k, mut factor) = (free.len(), inside.len(), Vec::new());
        for a in 0..k {
            extend(equations, inside[a], &inside[..a], &mut factor)?;
        }
        let target = [equations.features.len()];
        let (mut matrix, mut rows) = (vec![0.0; start(m + 1)], Vec::with_capacity((m + 1) * k));
        for (a, &place) in free.iter().chain(&target).enumerate() {
            let mut row = Vec::with_capacity(k);
            let square = equations.below(place, inside, &factor, &mut row);
            if a < m && !(square > 1e-100 && square.is_finite()) {
                return Err(format!("feature {} depends on others of the fit", equations.features[place]));
            }
            for b in 0..a {
                matrix[start(a) + b] = equations.row(place)[free[b]] - dot(&row, &rows[b * k..(b + 1) * k]);
            }
            matrix[start(a) + a] = square;
            rows.extend(row);
        }
        Ok(Self { m, matrix })
    }

    /// Whether the fit on the features that are in is at least so much.
    pub fn none_reaches(&self, least: f64) -> bool {
        self.matrix[start(self.m) + self.m] >= least
    }

    /// The places of single features with which the fit may be below so much.
    pub fn singles(&self, least: f64) -> Vec<usize> {
        let moments = &self.matrix[start(self.m)..start(self.m + 1)];
        let room = down(moments[self.m] - least);
        let holds = |a: usize| {
            let (square, q) = (self.matrix[start(a) + a], up(moments[a] * moments[a]));
            square > 0.0 && room > 0.0 && down(room * square) >= q
        };
        (0..self.m).filter(|&a| !holds(a)).collect()
    }

    /// The pairs with which the fit may be below so much.
    pub fn pairs(&self, least: f64) -> Vec<(usize, usize)> {
        let moments = &self.matrix[start(self.m)..start(self.m + 1)];
        let room = down(moments[self.m] - least);
        let mut found = Vec::new();
        for a in 0..self.m {
            let (row, v) = (&self.matrix[start(a)..start(a + 1)], moments[a]);
            for b in 0..a {
                let (own, other, cross, u) = (row[a], self.matrix[start(b) + b], row[b], moments[b]);
                let (product, overlap) = (own * other, cross * cross);
                let (explained, shared) = (u * u * own + v * v * other, 2.0 * cross * u * v);
                let excess = room * (product - overlap) - (explained - shared);
                // Eight roundings of terms of these sizes, and 10⁻²⁰⁰ for what underflows.
                let off = 2e-15 * (room * (product + overlap) + explained + shared.abs()) + 1e-200;
                let is_definite = product - overlap > 2e-15 * (product + overlap);
                let holds = is_definite && room > 0.0 && excess >= off && off.is_finite();
                if !holds {
                    found.push((b, a));
                }
            }
        }
        found
    }
}
