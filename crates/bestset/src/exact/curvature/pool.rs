//! What pooled members have to give, of whom a better subset holds few at a time (MATH 11.22).
//!
//! With B answering, the pooled members W are left with Q_{W|B} = Q_WW − Q_WB M_BB⁻¹ Q_BW. Q_{W|B} + diag(η) must be semidefinite on those
//! J ⊆ W alone that the budget allows: the diagonal of a row has to outweigh no more than its dearest partners within the budget, however
//! many others there are. The pooled stay at zero in the relaxation, which is convex without them; D′ has their Ψ′.

use crate::exact::node::members::BUDGET_ROUNDING;
use crate::kernel::dot;
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{DenseSolveCore, Llt, Solve};
use faer::{Accum, Mat, Par, Side};

/// The pooled members W, those with the least shares first.
pub struct Pooled {
    /// X̂_W.
    pub columns: Mat<f64>,
    /// Their lengths as stored, which rounding is relative to.
    pub lengths: Vec<f64>,
    /// θ, ascending.
    pub shares: Vec<f64>,
}

/// Those that give and take on their own, B = G ∪ V, in units of their columns' lengths as stored.
pub struct Others {
    /// X̂_B.
    pub columns: Mat<f64>,
    /// Of M_BB, lowered by more than the rounding of its entries.
    pub factor: Llt<f64>,
    /// Trace of M_BB.
    pub size: f64,
    /// Trace of M_BB⁻¹.
    pub inverse_size: f64,
}

impl Others {
    /// From X̂_B and M_BB, both in units of the columns' lengths; `None` where M_BB has no Cholesky factor.
    pub fn new(columns: Mat<f64>, matrix: &Mat<f64>) -> Option<Self> {
        let factor = Llt::new(matrix.as_ref(), Side::Lower).ok()?;
        let trace = |of: &Mat<f64>| (0..of.ncols()).map(|a| of[(a, a)]).sum();
        let inverse_size = trace(&factor.inverse());
        Some(Self { columns, factor, size: trace(matrix), inverse_size })
    }

    /// What rounding can have done to an entry of Q_{W|B} for columns of length one, `answer` being the largest ‖M_BB⁻¹Q_Bj‖ (MATH 11.22, Rounding).
    fn rounding(&self, n: usize, answer: f64) -> f64 {
        let (n, m) = (n as f64, self.columns.ncols() as f64);
        let length = m.sqrt();
        let fault = 4.0 * f64::EPSILON * (m + 1.0) * self.size;
        let noise = 4.0 * f64::EPSILON * n * length;
        let sums = 4.0 * f64::EPSILON * (n + m) * (1.0 + length * answer);
        // With more than this the factor says nothing of M_BB.
        let sure = fault * self.inverse_size <= 0.5;
        let sum = 2.0 * fault * answer * answer + noise * (2.0 * answer + self.inverse_size * noise) + sums;
        if sure { sum } else { f64::INFINITY }
    }
}

/// Rows of Q_{W|B} that are made at a time: many enough for a product of matrices, few enough that no thread holds the square of the pool.
pub const ROWS: usize = 64;

/// η_j = max_J Σ_{l∈J∖j} |(Q_{W|B})_jl| − (Q_{W|B})_jj over all J ∋ j with Σ_Jθ ≤ 1, or more (MATH 11.22); less than nothing where j can take.
pub fn needs(others: &Others, pooled: &Pooled) -> Vec<f64> {
    let complement = Complement::new(others, pooled);
    if !complement.unsure.is_finite() {
        return vec![f64::INFINITY; pooled.shares.len()];
    }
    // One after the other: nodes are looked at side by side, and one that waited for its blocks would make room for another's columns.
    (0..pooled.shares.len()).step_by(ROWS).flat_map(|first| complement.needs_of(first)).collect()
}

/// Q_{W|B} = X̂_Wᵀ(X̂_W − X̂_B M_BB⁻¹ Q_BW) in parts.
struct Complement<'p> {
    pooled: &'p Pooled,
    /// X̂_W − X̂_B M_BB⁻¹ Q_BW: what the others leave of each column.
    residuals: Mat<f64>,
    /// What rounding can have done to an entry of Q_{W|B}, for columns of length one.
    unsure: f64,
}

impl<'p> Complement<'p> {
    fn new(others: &Others, pooled: &'p Pooled) -> Self {
        let mut answers = Mat::zeros(others.columns.ncols(), pooled.shares.len());
        let (columns, targets) = (others.columns.as_ref(), pooled.columns.as_ref());
        matmul(answers.as_mut(), Accum::Replace, columns.transpose(), targets, 1.0, Par::Seq);
        others.factor.solve_in_place(answers.as_mut());
        let mut residuals = targets.to_owned();
        matmul(residuals.as_mut(), Accum::Add, columns, answers.as_ref(), -1.0, Par::Seq);

        let norm = |e: usize| dot(answers.col_as_slice(e), answers.col_as_slice(e)).sqrt();
        let count = pooled.shares.len();
        let asked = (0..count).filter(|&e| pooled.lengths[e] > 0.0).map(|e| norm(e) / pooled.lengths[e]);
        // A NaN stays the largest.
        let most = asked.fold(0.0, |most: f64, one| if one > most || one.is_nan() { one } else { most });
        let unsure = others.rounding(pooled.columns.nrows(), most);
        Self { pooled, residuals, unsure }
    }

    /// η of the block of rows that begins with the `first`.
    fn needs_of(&self, first: usize) -> Vec<f64> {
        let Pooled { columns, lengths, shares } = self.pooled;
        let end = shares.len().min(first + ROWS);
        let room = |j: usize| 1.0 + BUDGET_ROUNDING - shares[j];
        // The first has the most room, hence all partners of the others.
        let partners = shares.partition_point(|s| *s <= room(first));
        let mut rows = Mat::zeros(partners, end - first);
        let (all, own) = (columns.subcols(0, partners), self.residuals.subcols(first, end - first));
        matmul(rows.as_mut(), Accum::Replace, all.transpose(), own, 1.0, Par::Seq);
        let need = |j: usize| {
            let (row, unsure) = (rows.col_as_slice(j - first), self.unsure * lengths[j]);
            let upper = |l: usize| if l == j { 0.0 } else { row[l].abs() + unsure * lengths[l] };
            let square = dot(columns.col_as_slice(j), self.residuals.col_as_slice(j));
            heaviest(upper, shares, room(j)) - square + (unsure + 1e-9 * lengths[j]) * lengths[j]
        };
        (first..end).map(need).collect()
    }
}

/// max Σ v_lz_l over 0 ≤ z ≤ 1 with Σθ_lz_l ≤ `room`, over those with θ_l ≤ `room`; `shares` ascend. No set of them that fits into the room is
/// worth more.
fn heaviest(value: impl Fn(usize) -> f64, shares: &[f64], room: f64) -> f64 {
    let some = shares.partition_point(|s| *s <= room);
    if some == 0 {
        return 0.0;
    }
    // No more than these fit in whole with the least share; one more counts in part.
    let most = (room / shares[0]) as usize + 1;
    let mut dearest: Vec<(f64, usize)> = Vec::with_capacity(most + 1);
    let mut least = 0.0;
    for l in 0..some {
        let rate = value(l) / shares[l];
        if rate.is_nan() {
            return f64::INFINITY;
        }
        if rate > least {
            let at = dearest.partition_point(|d| d.0 >= rate);
            dearest.insert(at, (rate, l));
            dearest.truncate(most);
            least = if dearest.len() == most { dearest[most - 1].0 } else { 0.0 };
        }
    }
    let mut left = room;
    let spent = |(rate, l): (f64, usize)| {
        let part = shares[l].min(left);
        left -= part;
        rate * part
    };
    dearest.into_iter().map(spent).sum()
}

#[cfg(test)]
mod tests {
    use crate::exact::curvature::pool::{Others, Pooled, heaviest, needs};
    use crate::exact::tests::numbers;
    use faer::Mat;
    use faer::linalg::solvers::{DenseSolveCore, Llt};

    /// Every subset that `room` is enough for, by positions, with what is left.
    fn for_each_subset(shares: &[f64], room: f64, visit: &mut impl FnMut(&[usize])) {
        fn go(shares: &[f64], from: usize, room: f64, chosen: &mut Vec<usize>, visit: &mut impl FnMut(&[usize])) {
            visit(chosen);
            for l in from..shares.len() {
                if shares[l] <= room {
                    chosen.push(l);
                    go(shares, l + 1, room - shares[l], chosen, visit);
                    chosen.pop();
                }
            }
        }
        go(shares, 0, room, &mut Vec::new(), visit);
    }

    fn ascending(count: usize, least: f64, draw: &mut impl FnMut() -> f64) -> Vec<f64> {
        let mut shares: Vec<f64> = (0..count).map(|_| least + (1.0 - least) * draw().abs().min(1.0).powi(2)).collect();
        shares.sort_by(f64::total_cmp);
        shares
    }

    /// The fractions that are worth most by sorting all, which no subset exceeds.
    #[test]
    fn the_heaviest_fractions_are_those_of_the_best_rates_and_above_every_subset() {
        let (mut draw, mut filled) = (numbers(5), 0);
        for trial in 0..400 {
            let shares = ascending(1 + trial % 11, [0.08, 0.3][trial % 2], &mut draw);
            let value: Vec<f64> = shares.iter().map(|_| (draw() * 10.0).max(0.0).floor()).collect();
            let room = (0.5 + 0.4 * draw()).clamp(0.0, 1.0);
            let found = heaviest(|l| value[l], &shares, room);
            let mut fitting: Vec<usize> = (0..shares.len()).filter(|&l| shares[l] <= room).collect();
            fitting.sort_by(|&k, &l| (value[l] / shares[l]).total_cmp(&(value[k] / shares[k])));
            let (mut left, mut sorted) = (room, 0.0);
            for l in fitting {
                let part = (left / shares[l]).min(1.0);
                (left, sorted) = (left - part * shares[l], sorted + part * value[l]);
            }
            assert!((found - sorted).abs() <= 1e-12 * (1.0 + sorted), "{trial}: {found}, {sorted}");
            for_each_subset(&shares, room, &mut |chosen| {
                let sum: f64 = chosen.iter().map(|&l| value[l]).sum();
                assert!(sum <= found + 1e-12, "{trial}: {sum} above {found}");
                filled += usize::from(chosen.len() > 2);
            });
        }
        assert!(filled > 500, "{filled}");
    }

    /// η_j against its definition over all sets that the budget allows, in one block and in several, for columns of different lengths.
    #[test]
    fn no_set_that_fits_asks_more_than_its_members_give() {
        let mut tight = 0;
        for trial in 0..24u64 {
            let mut draw = numbers(trial + 1);
            let (count, least) = if trial % 2 == 0 { (12, 0.1) } else { (150, 0.34) };
            let (n, m, scale) = (20, 6, [1.0, 30.0, 1e-3, 1000.0][trial as usize / 2 % 4]);
            let common: Vec<f64> = (0..n).map(|_| draw()).collect();
            let mut columns =
                |p: usize| Mat::from_fn(n, p, |i, j| scale * (1.0 + (j % 3) as f64) * (draw() + 0.3 * common[i]));
            let (mut mine, columns) = (columns(m), columns(count));
            (0..m).for_each(|a| mine.col_as_slice_mut(a).iter_mut().for_each(|x| *x /= scale * 10.0));
            let gram = mine.transpose() * &mine;
            let shift = |a: usize| if a.is_multiple_of(2) { 0.01 } else { -1e-5 };
            let matrix = Mat::from_fn(m, m, |a, b| gram[(a, b)] + if a == b { shift(a) } else { 0.0 });
            let inverse = Llt::new(matrix.as_ref(), faer::Side::Lower).unwrap().inverse();
            let cross = mine.transpose() * &columns;
            let left = columns.transpose() * &columns - cross.transpose() * &inverse * &cross;

            let lengths: Vec<f64> = (0..count).map(|j| columns.col(j).norm_l2()).collect();
            let pooled = Pooled { columns, lengths, shares: ascending(count, least, &mut draw) };
            let given = needs(&Others::new(mine, &matrix).unwrap(), &pooled);
            let mut asked: Vec<f64> = (0..count).map(|j| -left[(j, j)]).collect();
            for_each_subset(&pooled.shares, 1.0, &mut |set| {
                for &j in set {
                    let sum: f64 = set.iter().filter(|l| **l != j).map(|&l| left[(j, l)].abs()).sum();
                    asked[j] = asked[j].max(sum - left[(j, j)]);
                }
            });
            for j in 0..count {
                let room = 1e-8 * pooled.lengths[j].powi(2);
                assert!(given[j] >= asked[j] - 1e-3 * room, "{trial}, {j}: {} for {}", given[j], asked[j]);
                tight += usize::from(given[j] <= asked[j] + room);
            }
        }
        // With fractions it is more, but not where all that is left to a member is another one.
        assert!(tight > 300, "{tight}");
    }
}
