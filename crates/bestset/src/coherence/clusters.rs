//! What is left of the curvature where a few features correlate much (MATH 13.6): such features form clusters, whose curvature is known
//! exactly, and only what is between clusters is paid for entry by entry.

use super::curvatures::Curvatures;
use super::pairs::LARGEST;
use super::rows::Left;
use crate::control::Limits;
use faer::{Mat, Side};
use rayon::prelude::*;

/// Links of a feature, in the mean. With 4 all five features of AR(1) 0.5 are closed at n = p = 1000, with 2 three; 6 makes too many clusters.
const LINKS: usize = 4;

/// The most clusters of a size that are looked at: a few microseconds each.
const MOST: f64 = 60_000.0;
/// A look at fewer than this costs less than a millisecond, whatever the pairs cost.
const LEAST: f64 = 300.0;

/// Multiplications of the look at all pairs for each cluster of a size that may be looked at: AR(1) at p = 200 needs half as many. Not
/// tuned beyond that: clusters may take a few times as long as the pairs.
const WORK: f64 = 5e3;

/// Which features correlate much.
pub(super) struct Clusters<'r> {
    rows: &'r Curvatures,
    links: Vec<Vec<u32>>,
    /// The sums of the 0, 1, … largest |Q̃_jk| of those not linked, [`LARGEST`] + 1 of each feature.
    between: Vec<f64>,
    /// Λ_s(j) for s = 1, 2, … known so far: the least eigenvalue of a cluster of s features with j in it, +∞ where there is none.
    least: Vec<Vec<f64>>,
    /// Whether there is no larger cluster.
    is_all: bool,
}

impl<'r> Clusters<'r> {
    /// Links the pairs with the largest correlations; clusters of one. Nothing where entries that were not kept cannot be made: clusters have some.
    pub fn new(rows: &'r Curvatures) -> Option<Self> {
        if !rows.has_copies() {
            return None;
        }
        let count = rows.rows.len();
        let mut sizes: Vec<f32> = rows.rows.iter().flat_map(|r| r.largest.iter().map(|e| e.value.abs())).collect();
        let threshold = match sizes.len().checked_sub(LINKS * count) {
            Some(_) if count > 0 && sizes.len() > LINKS * count => {
                *sizes.select_nth_unstable_by(LINKS * count, |a, b| b.total_cmp(a)).1
            }
            _ => 0.0,
        };
        let mut links = vec![Vec::new(); count];
        for (j, row) in rows.rows.iter().enumerate() {
            for entry in row.largest.iter().filter(|e| e.value.abs() >= threshold) {
                // Either of the two may say so: their rounding differs.
                links[j].push(entry.place);
                links[entry.place as usize].push(j as u32);
            }
        }
        links.iter_mut().for_each(|l| {
            l.sort_unstable();
            l.dedup();
        });
        let between = (0..count).flat_map(|j| between(rows, j, &links[j])).collect();
        let least = vec![rows.rows.iter().map(|r| r.own - r.error).collect()];
        Some(Self { rows, links, between, least, is_all: false })
    }

    /// Looks at the clusters of one more feature; whether it did.
    pub fn grow(&mut self, limits: &Limits) -> bool {
        let (count, size) = (self.links.len(), self.least.len() + 1);
        let most = (self.rows.work() / WORK).clamp(LEAST, MOST) as usize;
        if self.is_all || size > LARGEST || self.number(size, most) > most || limits.stop(0).is_some() {
            return false;
        }
        let fresh = || vec![f64::INFINITY; count];
        let of_root = |mut least: Vec<f64>, root: u32| {
            let mut walk = ClusterWalk::new(self, size, root);
            walk.visit(&mut |members, matrix| {
                let value = least_eigenvalue(self.rows, members, matrix);
                members.iter().for_each(|&j| least[j as usize] = least[j as usize].min(value));
                true
            });
            least
        };
        let merge = |mut a: Vec<f64>, b: Vec<f64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a = a.min(b));
            a
        };
        let least = (0..count as u32).into_par_iter().with_min_len(64).fold(fresh, of_root).reduce(fresh, merge);
        self.is_all = least.iter().all(|l| *l == f64::INFINITY);
        self.least.push(least);
        true
    }

    /// How many clusters of a size there are, as far as it matters.
    fn number(&self, size: usize, most: usize) -> usize {
        let mut number = 0;
        for root in 0..self.links.len() as u32 {
            let mut walk = ClusterWalk { has_matrix: false, ..ClusterWalk::new(self, size, root) };
            walk.visit(&mut |_, _| {
                number += 1;
                number <= most
            });
            if number > most {
                break;
            }
        }
        number
    }

    /// The sum of the i largest |Q̃_jk| of features that are not linked to j, at the most.
    pub fn between(&self, j: usize, i: usize) -> f64 {
        self.between[j * (LARGEST + 1) + i]
    }

    /// Whether two features are linked.
    #[cfg(test)]
    pub fn are_linked(&self, j: usize, k: usize) -> bool {
        self.links[j].binary_search(&(k as u32)).is_ok()
    }

    /// d_j^m = min over s of Λ_s(j) − (the m − s largest |Q̃_jk| not linked to j) (MATH 13.6); for sizes that were not looked at
    /// Q̃_jj − (the s − 1 largest |Q̃_jk|) in place of Λ_s(j), or nothing where only the hope of more is asked for.
    pub fn left(&self, is_hope: bool) -> Left {
        let plain = &self.rows.plain;
        let of = |j: usize, m: usize| {
            let known = self.least.iter().zip(1..=m).map(|(l, s)| l[j] - self.between(j, m - s));
            let unknown = if is_hope || self.is_all { m + 1 } else { self.least.len() + 1 };
            let others = (unknown..=m).map(|s| plain.at(j, s) - self.between(j, m - s));
            let least = known.chain(others).fold(f64::INFINITY, f64::min);
            least - 4.0 * f64::EPSILON * least.abs()
        };
        Left(
            (0..self.links.len()).flat_map(|j| (1..=LARGEST + 1).map(move |m| (j, m))).map(|(j, m)| of(j, m)).collect(),
        )
    }
}

/// The sums of the 0, 1, … largest |Q̃_jk| of features that are not linked to j, each with its rounding.
fn between(rows: &Curvatures, j: usize, links: &[u32]) -> Vec<f64> {
    let row = &rows.rows[j];
    let size = |value: f32| (f64::from(value.abs()) + row.error) * (1.0 + 4.0 * f64::EPSILON);
    let mut sizes: Vec<f64> =
        row.largest.iter().filter(|e| links.binary_search(&e.place).is_err()).map(|e| size(e.value)).collect();
    // What is not listed is not larger than the last that is.
    let is_cut = rows.rows.len() > row.largest.len() + 1;
    let last = row.largest.last().map_or(0.0, |e| if is_cut { size(e.value) } else { 0.0 });
    sizes.resize(LARGEST, last);
    let mut sum = 0.0;
    let sums = sizes.into_iter().map(|size| {
        sum = (sum + size) * (1.0 + f64::EPSILON);
        sum
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// Λ_C, less what rounding of the entries and of the eigenvalue may have added.
fn least_eigenvalue(rows: &Curvatures, members: &[u32], matrix: &[Vec<f64>]) -> f64 {
    let size = members.len();
    let entry = |a: usize, b: usize| if a >= b { matrix[a][b] } else { matrix[b][a] };
    let values = Mat::from_fn(size, size, entry).self_adjoint_eigenvalues(Side::Lower);
    let least = values.map_or(f64::NEG_INFINITY, |v| v.into_iter().fold(f64::INFINITY, f64::min));
    let error = members.iter().map(|&j| rows.rows[j as usize].error).fold(0.0, f64::max);
    let least = least - size as f64 * (error + 64.0 * size as f64 * f64::EPSILON);
    if least.is_nan() { f64::NEG_INFINITY } else { least }
}

/// A walk through the connected sets of a size whose first feature is the least, each once.
struct ClusterWalk<'w, 'r> {
    clusters: &'w Clusters<'r>,
    size: usize,
    members: Vec<u32>,
    /// Row by row, Q̃ of the members as far as the diagonal.
    matrix: Vec<Vec<f64>>,
    has_matrix: bool,
    /// The members, and what is linked to them.
    seen: Vec<u32>,
}

impl<'w, 'r> ClusterWalk<'w, 'r> {
    fn new(clusters: &'w Clusters<'r>, size: usize, root: u32) -> Self {
        Self { clusters, size, members: vec![root], matrix: Vec::new(), has_matrix: true, seen: vec![root] }
    }

    /// Shows each set and its matrix, until told to stop.
    fn visit(&mut self, show: &mut impl FnMut(&[u32], &[Vec<f64>]) -> bool) {
        let root = self.members[0];
        self.enter(root);
        let next = self.newly_linked(root, root);
        self.extend(next, root, show);
    }

    /// What is linked to a feature, but not to the members before it, and comes after the root.
    fn newly_linked(&mut self, of: u32, root: u32) -> Vec<u32> {
        let is_new = |k: &u32| *k > root && !self.seen.contains(k);
        let new: Vec<u32> = self.clusters.links[of as usize].iter().copied().filter(is_new).collect();
        self.seen.extend(&new);
        new
    }

    /// The row of Q̃ of the last member.
    fn enter(&mut self, member: u32) {
        if self.has_matrix {
            let rows = self.clusters.rows;
            self.matrix.push(self.members.iter().map(|&k| rows.entry(member, k)).collect());
        }
    }

    fn extend(&mut self, mut next: Vec<u32>, root: u32, show: &mut impl FnMut(&[u32], &[Vec<f64>]) -> bool) -> bool {
        if self.members.len() == self.size {
            return show(&self.members, &self.matrix);
        }
        while let Some(member) = next.pop() {
            let before = self.seen.len();
            let mut others = next.clone();
            others.extend(self.newly_linked(member, root));
            self.members.push(member);
            self.enter(member);
            let goes_on = self.extend(others, root, show);
            self.members.pop();
            if self.has_matrix {
                self.matrix.pop();
            }
            self.seen.truncate(before);
            if !goes_on {
                return false;
            }
        }
        true
    }
}
