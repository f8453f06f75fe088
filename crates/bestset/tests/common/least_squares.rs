//! Least squares without a ridge: problems that are hard for leaps and bounds, and the fits of all subsets in twice the precision,
//! which the reference solver does not have.

use super::{Case, ChaCha8Rng, RngExt, Twofold, normal, pick, power, rng};
use bestset::Penalty;

/// v less its weighted mean; without an intercept there is no mean.
fn centred(case: &Case, v: &[f64]) -> Vec<Twofold> {
    let weight = |i: usize| Twofold::from(case.weight(i));
    let total: Twofold = (0..case.n).map(weight).sum();
    let mean = (0..case.n).map(|i| weight(i) * Twofold::from(v[i])).sum::<Twofold>() / total;
    let shift = if case.intercept { mean } else { Twofold::ZERO };
    (0..case.n).map(|i| Twofold::from(v[i]) - shift).collect()
}

/// The least loss + λ2‖β‖² of every subset, by its mask.
pub fn twofold_fits(case: &Case) -> Vec<f64> {
    twofold_fits_beyond(case, 1e-24)
}

/// The same where a column of which less than this share of its square is left beside others adds nothing.
pub fn twofold_fits_beyond(case: &Case, share: f64) -> Vec<f64> {
    assert!(case.p <= 15, "too many subsets");
    let mut columns: Vec<Vec<Twofold>> = (0..case.p).map(|j| centred(case, case.col(j))).collect();
    columns.push(centred(case, &case.y));
    let dot = |a: &[Twofold], b: &[Twofold]| {
        (0..case.n).map(|i| Twofold::from(case.weight(i)) * a[i] * b[i]).sum::<Twofold>()
    };
    // The last row holds the target: eliminating a feature from it too keeps yᵀy − 2 (gain so far) in its corner.
    let mut matrix: Vec<Vec<Twofold>> = columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect();
    (0..case.p).for_each(|j| matrix[j][j] = matrix[j][j] + Twofold::from(2.0 * case.penalty.lambda2));
    let own = (0..case.p).map(|j| matrix[j][j] * Twofold::from(share)).collect::<Vec<_>>();
    let mut fits = vec![f64::INFINITY; 1 << case.p];
    visit(&matrix, &own, 0, 0, &mut fits);
    fits
}

/// Decides feature j and all after it; the features taken in are eliminated from `matrix`, those of which more than `own` is left.
fn visit(matrix: &[Vec<Twofold>], own: &[Twofold], j: usize, mask: usize, fits: &mut [f64]) {
    let p = own.len();
    if j == p {
        fits[mask] = 0.5 * matrix[p][p].wide();
        return;
    }
    visit(matrix, own, j + 1, mask, fits);
    let mut inside = matrix.to_vec();
    // A column that the others determine adds nothing; without this its rounding would be fitted.
    if matrix[j][j] > own[j] {
        for a in j + 1..=p {
            for b in j + 1..=p {
                inside[a][b] = inside[a][b] - matrix[a][j] * matrix[j][b] / matrix[j][j];
            }
        }
    }
    visit(&inside, own, j + 1, mask | 1 << j, fits);
}

/// The least of them for each number of features 0..=p.
pub fn twofold_sizes(case: &Case) -> Vec<f64> {
    least_of_sizes(case.p, &twofold_fits(case))
}

/// The least fit for each number of features 0..=p.
pub fn least_of_sizes(p: usize, fits: &[f64]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; p + 1];
    for (mask, fit) in fits.iter().enumerate() {
        let least = &mut best[mask.count_ones() as usize];
        *least = least.min(*fit);
    }
    best
}

/// Row i of the columns before, one of which is looked at.
struct Before<'x> {
    x: &'x [f64],
    n: usize,
    other: usize,
    i: usize,
}

/// An entry of a column of one of eight kinds: far from zero, tiny, huge, nearly or exactly one or the sum of two before, of two values;
/// plain where there are none before.
fn unusual(rng: &mut ChaCha8Rng, kind: i32, near: f64, before: Before<'_>) -> f64 {
    let Before { x, n, other, i } = before;
    let j = x.len() / n;
    match kind {
        0 => 300.0 + normal(rng),
        1 => 1e-6 * normal(rng),
        2 => 1e6 * normal(rng),
        3 | 4 if j > 0 => x[other * n + i] + near * normal(rng),
        5 if j > 0 => -2.0 * x[other * n + i],
        6 if j > 1 => x[other * n + i] + x[(other + 1) % j * n + i],
        7 => pick(rng, &[-1.0, 1.0]),
        _ => normal(rng),
    }
}

/// Columns of all kinds: plain, far from zero, tiny, huge, zero, nearly or exactly one or the sum of two before, and with two
/// values only, so that subsets tie.
pub fn awkward_columns(rng: &mut ChaCha8Rng, most: usize, ridge: bool) -> Case {
    let p = rng.random_range(1..=most);
    let n = p + rng.random_range(2..=20);
    let (wild, near) = (rng.random_bool(0.5), pick(rng, &[1e-1, 1e-2, 1e-3, 1e-4]));
    let mut x: Vec<f64> = Vec::new();
    for j in 0..p {
        let kind = if wild { rng.random_range(0..10) } else { 9 };
        let other = if j > 0 { rng.random_range(0..j) } else { 0 };
        let column: Vec<f64> = (0..n)
            .map(|i| match kind {
                0..8 => unusual(rng, kind, near, Before { x: &x, n, other, i }),
                8 => 0.0,
                _ => normal(rng),
            })
            .collect();
        x.extend(column);
    }
    let noise = pick(rng, &[0.1, 1.0, 3.0]);
    let true_features: Vec<usize> = (0..p).filter(|_| rng.random_bool(0.4)).collect();
    let length = |j: usize| x[j * n..(j + 1) * n].iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-300);
    let scale: Vec<f64> = (0..p).map(|j| (n as f64).sqrt() / length(j)).collect();
    let signal = |i: usize| true_features.iter().map(|&j| x[j * n + i] * scale[j]).sum::<f64>();
    let offset = pick(rng, &[0.0, 5.0]);
    let y = (0..n).map(|i| signal(i) + offset + noise * normal(rng)).collect();
    let weights = rng.random_bool(0.4).then(|| {
        let spare = n - p - 2;
        (0..n).map(|i| if i < spare / 2 { 0.0 } else { power(rng, -1.0, 1.0) }).collect()
    });
    let l2 = if ridge { power(rng, -3.0, 1.0) } else { 0.0 };
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, l2));
    (case.weights, case.intercept) = (weights, rng.random_bool(0.6));
    case
}

/// As many features as samples, or more: p between n − 1 and n + 3.
pub fn few_samples(seed: u64, p: usize) -> Case {
    let rng = &mut rng(seed);
    let n = p + 1 - rng.random_range(0..=4);
    let shared = pick(rng, &[0.0, 0.5, 2.0]);
    let common: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let x: Vec<f64> = (0..n * p).map(|k| normal(rng) + shared * common[k % n]).collect();
    let y: Vec<f64> = (0..n).map(|i| x[i] + x[n + i] + 3.0 + normal(rng)).collect();
    let weights = rng.random_bool(0.3).then(|| (0..n).map(|_| power(rng, -1.0, 1.0)).collect());
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
    (case.weights, case.intercept) = (weights, rng.random_bool(0.6));
    case
}

/// A harder problem than enumeration has time for: p features, none of them good, so that the tree is deep.
pub fn noise(p: usize, n: usize, seed: u64) -> Case {
    let rng = &mut rng(seed);
    let common: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let x = (0..n * p).map(|k| normal(rng) + 0.7 * common[k % n]).collect();
    let y = (0..n).map(|_| normal(rng)).collect();
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
    case.intercept = true;
    case
}

/// Columns that are alike to up to five digits, copies and constants, scales from 1e-6 to 1e6, targets far from zero, weights that
/// leave out a sample; hardly more samples than features.
pub fn near_copies(rng: &mut ChaCha8Rng) -> Case {
    let p = rng.random_range(1..8);
    let n = rng.random_range(p + 1..p + 9);
    let (near, spread) = (pick(rng, &[1.0, 0.1, 1e-3, 1e-5]), pick(rng, &[0.0, 0.0, 6.0]));
    let common: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let kind = rng.random_range(0..4);
    let mut x: Vec<f64> = Vec::new();
    for j in 0..p {
        let s = if spread > 0.0 { power(rng, -spread, spread) } else { 1.0 };
        let column: Vec<f64> = match kind {
            0 => (0..n).map(|i| s * (common[i] + near * normal(rng))).collect(),
            1 if j > 0 && rng.random_bool(0.3) => x[..n].to_vec(),
            1 if rng.random_bool(0.1) => vec![s; n],
            _ => (0..n).map(|_| s * normal(rng)).collect(),
        };
        x.extend(column);
    }
    let shift = pick(rng, &[0.0, 0.0, 1e2]);
    let y: Vec<f64> = (0..n).map(|i| shift + common[i] + normal(rng)).collect();
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
    case.intercept = shift > 0.0 || rng.random_bool(0.5);
    case.weights = rng.random_bool(0.3).then(|| {
        let mut w: Vec<f64> = (0..n).map(|_| power(rng, -1.0, 1.0)).collect();
        w[0] *= if rng.random_bool(0.5) { 0.0 } else { 1.0 };
        w
    });
    case
}

/// More columns than samples, of all kinds: plain, far from zero, tiny, huge, constant, zero, nearly or exactly one or the sum of two
/// before, of two values; weights that leave out samples, targets of any size, with a ridge or not.
pub fn wide_columns(rng: &mut ChaCha8Rng, most: usize) -> Case {
    let p = rng.random_range(4..=most);
    let n = rng.random_range(3..p);
    let (wild, near) = (rng.random_bool(0.6), pick(rng, &[1e-1, 1e-2, 1e-3]));
    let mut x: Vec<f64> = Vec::new();
    for j in 0..p {
        let kind = if wild { rng.random_range(0..12) } else { 11 };
        let other = if j > 0 { rng.random_range(0..j) } else { 0 };
        let column: Vec<f64> = (0..n)
            .map(|i| match kind {
                0..8 => unusual(rng, kind, near, Before { x: &x, n, other, i }),
                8 => 3.0,
                9 if j % 2 == 0 => 0.0,
                _ => normal(rng),
            })
            .collect();
        x.extend(column);
    }
    let (noise, unit) = (pick(rng, &[0.01, 0.3, 3.0]), pick(rng, &[1.0, 1.0, 1e-6, 1e6]));
    let length = |j: usize| x[j * n..(j + 1) * n].iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-300);
    let chosen: Vec<f64> = (0..p).map(|j| if rng.random_bool(0.3) { 1.0 / length(j) } else { 0.0 }).collect();
    let shift = pick(rng, &[0.0, 5.0]);
    let signal = |i: usize| (0..p).map(|j| x[j * n + i] * chosen[j]).sum::<f64>();
    let y: Vec<f64> = (0..n).map(|i| unit * (signal(i) + shift + noise * normal(rng))).collect();
    let weights = (n > 4 && rng.random_bool(0.4))
        .then(|| (0..n).map(|i| if i == 0 { 0.0 } else { power(rng, -1.0, 1.0) }).collect());
    let l2 = if rng.random_bool(0.3) { power(rng, -3.0, 1.0) } else { 0.0 };
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, l2));
    (case.weights, case.intercept) = (weights, rng.random_bool(0.6));
    case
}
