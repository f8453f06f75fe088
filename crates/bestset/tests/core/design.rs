//! Every storage and view against the plain dense matrix it stands for, bit for bit the same for any number of threads.

use crate::common::{Case, ChaCha8Rng, RngExt, Shape, Store, assert_close, case, normal, rng};
use bestset::design::{self, Column, ColumnSubset, Csc, Dense, Design, Moments, RowSubset, Standardized, Vectors};
use bestset::internals::ActiveSet;
use std::collections::HashSet;

/// Σ |x_ij| over the column and what the views added to it: the scale of rounding in its products.
fn scale(case: &Case, j: usize) -> f64 {
    let column = case.columns.as_ref().map_or(j, |c| c[j]);
    let shift = case.standard.as_ref().map_or(0.0, |(centre, scale)| (centre[column] / scale[column]).abs());
    case.col(j).iter().map(|x| x.abs() + shift).sum()
}

/// A plain loop over the plain matrix.
fn moments_of(x: &[f64], w: impl Fn(usize) -> f64) -> Moments {
    let total: f64 = (0..x.len()).map(&w).sum();
    let mean = x.iter().enumerate().map(|(i, x)| w(i) * x).sum::<f64>() / total;
    let squares = x.iter().enumerate().map(|(i, x)| w(i) * x * x).sum();
    let centred = x.iter().enumerate().map(|(i, x)| w(i) * (x - mean) * (x - mean)).sum();
    Moments { mean, squares, centred }
}

fn check_operations(case: &Case, design: &dyn Design, rng: &mut ChaCha8Rng) {
    let (n, p) = (case.n, case.p);
    assert_eq!((design.nrows(), design.ncols()), (n, p));
    let v: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    // Any features, in any order, more than once.
    let features: Vec<usize> = (0..rng.random_range(1..=2 * p)).map(|_| rng.random_range(0..p)).collect();
    let mut tau = vec![f64::NAN; features.len()];
    design.correlate(&features, &v, &mut tau).unwrap();
    for (&j, &t) in features.iter().zip(&tau) {
        let plain: f64 = case.col(j).iter().zip(&v).map(|(x, v)| x * v).sum();
        assert_close(t, plain, 1e-13 * scale(case, j), &("correlate", j));
    }
    // Parts of a pass that share what is made of the vectors have the bits of one call for all.
    let each: [&[f64]; 2] = [&v, case.y.as_slice()];
    for vectors in [&each[..1], &each] {
        let (shared, count) = (Vectors::new(vectors), vectors.len());
        let (mut whole, mut parts) = (vec![f64::NAN; features.len() * count], vec![f64::NAN; features.len() * count]);
        design.correlate_many(&features, vectors, &mut whole).unwrap();
        for (features, out) in features.chunks(3).zip(parts.chunks_mut(3 * count)) {
            design.correlate_part(features, &shared, out).unwrap();
        }
        assert_eq!(whole, parts);
        assert!(whole.iter().step_by(count).zip(&tau).all(|(a, b)| a == b));
    }
    let (mut column, mut dense) = (Column::default(), vec![f64::NAN; n]);
    for j in 0..p {
        let tolerance = 1e-14 * scale(case, j);
        let mut out = v.clone();
        design.axpy(j, 0.7, &mut out).unwrap();
        design.column(j, &mut column).unwrap();
        assert_eq!(column.sparse, design.is_sparse());
        column.to_dense(&mut dense);
        for i in 0..n {
            assert_close(out[i], v[i] + 0.7 * case.col(j)[i], tolerance + 1e-15, &("axpy", i, j));
            assert_close(dense[i], case.col(j)[i], tolerance, &("column", i, j));
        }
    }
    let subset: Vec<usize> = (0..p).step_by(2).collect();
    let values: Vec<f64> = subset.iter().map(|_| normal(rng)).collect();
    let mut out = vec![f64::NAN; n];
    design::predict(design, &subset, &values, 0.25, &mut out).unwrap();
    for i in 0..n {
        let plain: f64 = subset.iter().zip(&values).map(|(&j, b)| b * case.col(j)[i]).sum();
        let tolerance: f64 = subset.iter().zip(&values).map(|(&j, b)| 1e-13 * b.abs() * scale(case, j)).sum();
        assert_close(out[i], 0.25 + plain, tolerance + 1e-15, &("predict", i));
    }
}

fn check_moments(case: &Case, design: &dyn Design) {
    for weights in [None, case.weights.as_deref()] {
        let found = design::moments(design, weights).unwrap();
        for j in 0..case.p {
            let plain = moments_of(case.col(j), |i| weights.map_or(1.0, |w| w[i]));
            let total = weights.map_or(case.n as f64, |w| w.iter().sum());
            let size = scale(case, j);
            assert_close(found[j].mean, plain.mean, 1e-13 * size, &("mean", j));
            assert_close(found[j].squares, plain.squares, 1e-12 * plain.squares + 1e-28 * total * size * size, &j);
            assert_close(found[j].centred, plain.centred, 1e-12 * plain.centred + 1e-26 * total * size * size, &j);
        }
    }
}

fn check_active(case: &Case, design: &dyn Design, rng: &mut ChaCha8Rng) {
    let mut active = ActiveSet::new(design);
    assert!(active.is_empty() && active.nrows() == case.n && active.is_sparse() == design.is_sparse());
    let mut expected: Vec<usize> = Vec::new();
    let v: Vec<f64> = (0..case.n).map(|_| normal(rng)).collect();
    for _ in 0..4 {
        for _ in 0..rng.random_range(1..=case.p) {
            let j = rng.random_range(0..case.p);
            active.extend(design, &[j]).unwrap();
            expected.push(j);
        }
        let keep: Vec<bool> = expected.iter().map(|_| rng.random_bool(0.6)).collect();
        active.retain(&keep);
        let mut kept = keep.iter();
        expected.retain(|_| *kept.next().unwrap());
        assert_eq!(active.features(), expected);
        assert_eq!(active.len(), expected.len());
        let mut stored = 0;
        for (k, &j) in expected.iter().enumerate() {
            let tolerance = 1e-13 * scale(case, j);
            let plain: f64 = case.col(j).iter().zip(&v).map(|(x, v)| x * v).sum();
            assert_close(active.dot(k, &v), plain, tolerance, &("dot", j));
            let parts = active.dot_stored(k, &v) + active.shift(k) * v.iter().sum::<f64>();
            assert_close(parts, plain, tolerance, &("dot_stored", j));
            let (mut out, mut parts, mut dense) = (v.clone(), v.clone(), vec![f64::NAN; case.n]);
            active.axpy(k, -1.5, &mut out);
            active.axpy_stored(k, -1.5, &mut parts);
            active.write_dense(k, &mut dense);
            let (rows, values) = active.entries(k);
            stored += values.len();
            assert_eq!(rows.len(), if active.is_sparse() { values.len() } else { 0 });
            for i in 0..case.n {
                let x = case.col(j)[i];
                assert_close(out[i], v[i] - 1.5 * x, tolerance + 1e-15, &("axpy", j));
                assert_close(parts[i] - 1.5 * active.shift(k), v[i] - 1.5 * x, tolerance + 1e-15, &("stored", j));
                assert_close(dense[i], x, tolerance, &("write_dense", j));
            }
        }
        assert_eq!((active.stored(), active.all_values().len()), (stored, stored));
        // A copy of some positions, in any order, holds the same columns.
        let positions: Vec<usize> = (0..expected.len()).rev().step_by(2).collect();
        let part = active.select(&positions);
        assert_eq!(part.features(), positions.iter().map(|&k| expected[k]).collect::<Vec<_>>());
        for (k, &from) in positions.iter().enumerate() {
            assert_eq!(part.entries(k), active.entries(from));
            assert_eq!(part.dot(k, &v), active.dot(from, &v));
        }
    }
}

#[test]
fn every_design_agrees_with_the_plain_matrix() {
    let mut rng = rng(11);
    let mut seen = HashSet::new();
    for _ in 0..600 {
        let case = case(&mut rng, &Shape::new(2..=40, 1..=12));
        seen.insert((case.store as u8, case.standard.is_some(), case.rows.is_some(), case.columns.is_some()));
        case.with_design(|design| {
            check_operations(&case, design, &mut rng);
            check_moments(&case, design);
            check_active(&case, design, &mut rng);
        });
    }
    assert_eq!(seen.len(), 32, "every storage under every combination of views");
}

#[test]
fn f32_storage_is_exact_and_widened_before_arithmetic() {
    let narrow: Vec<f32> = vec![0.1, 1e-30, 3e38, -2e38, 16_777_217.0, 1.5];
    let design = Dense::new(3, 2, narrow.clone()).unwrap();
    let mut column = Column::default();
    design.column(1, &mut column).unwrap();
    assert_eq!(column.values, narrow[3..].iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
    let mut out = [0.0];
    // 3e38 · 10 overflows f32.
    design.correlate(&[0], &[0.0, 0.0, 10.0], &mut out).unwrap();
    assert_eq!(out[0], 10.0 * f64::from(3e38f32));
}

#[test]
fn from_rows_is_the_transpose_of_columns() {
    let rows = [vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]];
    let design = Dense::from_rows(&rows).unwrap();
    assert_eq!((design.nrows(), design.ncols()), (2, 3));
    assert_eq!(design.col(1), &[2.0, 5.0]);
}

/// After `fit` every column that varies has the weighted mean zero and the norm asked for; the others become zero.
#[test]
fn standardised_columns_have_the_norm_asked_for() {
    let mut rng = rng(12);
    for trial in 0..200 {
        let case = case(&mut rng, &Shape::new(3..=30, 1..=8));
        let (weights, norm) = (case.weights.as_deref(), [1.0, 5.5][trial % 2]);
        case.with_design(|design| {
            for centre in [true, false] {
                let view = Standardized::fit(design, weights, centre, norm).unwrap();
                let w = |i: usize| weights.map_or(1.0, |w| w[i]);
                let mut dense = vec![0.0; case.n];
                for j in 0..case.p {
                    let mut column = Column::default();
                    view.column(j, &mut column).unwrap();
                    column.to_dense(&mut dense);
                    let plain = moments_of(&dense, w);
                    let before = moments_of(case.col(j), w);
                    // A view of a constant column may leave rounding noise behind, which has no norm worth keeping.
                    let size = scale(&case, j).powi(2);
                    let varies = if centre { before.centred } else { before.squares } > 1e-20 * size;
                    if varies {
                        assert_close(plain.squares.sqrt(), norm, 1e-9 * norm, &(trial, j));
                        assert!(!centre || plain.mean.abs() < 1e-9 * norm, "{trial} {j}: {}", plain.mean);
                    } else if before.squares == 0.0 || (centre && before.centred <= 1e-30 * before.squares) {
                        assert_eq!(view.scale()[j], if centre { f64::INFINITY } else { 1.0 }, "{trial} {j}");
                        assert!(!centre || plain.squares == 0.0, "{trial} {j}");
                        assert!(plain.squares <= 1e-24 * before.squares, "{trial} {j}");
                    }
                }
            }
        });
    }
}

/// 0.1 added a hundred thousand times is not 10,000: the mean of a constant column must not become a signal.
#[test]
fn a_long_constant_column_becomes_zero() {
    let n = 100_000;
    let (dense, weights) = (Dense::new(n, 1, vec![0.1; n]).unwrap(), vec![0.3; n]);
    let sparse = Csc::new(n, vec![0, n], (0..n as u32).collect::<Vec<_>>(), vec![0.1; n]).unwrap();
    for design in [&dense as &dyn Design, &sparse] {
        for weights in [None, Some(weights.as_slice())] {
            let view = Standardized::fit(design, weights, true, 1.0).unwrap();
            assert!(view.scale() == [f64::INFINITY] && view.flat().is_empty(), "{:?}", view.flat());
            let mut column = vec![0.0; n];
            view.axpy(0, 1.0, &mut column).unwrap();
            assert!(column.iter().all(|x| *x == 0.0), "{}", column[0]);
            assert!(design::moments(design, weights).unwrap()[0].centred < 1e-28 * n as f64);
        }
    }
}

#[test]
fn unscaled_coefficients_predict_the_same() {
    let mut rng = rng(13);
    let case = case(&mut rng, &Shape { wild: false, ..Shape::new(20..=20, 6..=6) });
    case.with_design(|design| {
        let centre: Vec<f64> = (0..6).map(|_| normal(&mut rng)).collect();
        let scale = vec![0.5, 2.0, -1.0, 10.0, 0.01, 3.0];
        let view = Standardized::new(design, centre.clone(), scale.clone()).unwrap();
        assert_eq!((view.centre(), view.scale()), (centre.as_slice(), scale.as_slice()));
        let (support, values) = ([0, 2, 4, 5], [1.0, -2.0, 0.3, 0.7]);
        let (inner, shift) = view.unscale(&support, &values);
        let (mut outside, mut inside) = (vec![0.0; 20], vec![0.0; 20]);
        design::predict(&view, &support, &values, 0.4, &mut outside).unwrap();
        design::predict(design, &support, &inner, 0.4 + shift, &mut inside).unwrap();
        for i in 0..20 {
            assert_close(outside[i], inside[i], 1e-11, &i);
        }
    });
}

/// A case large enough to be split, one for each storage, standardised or not.
fn large(store: Store, standard: bool) -> Case {
    let (n, p) = (300, 1200);
    let mut rng = rng(14);
    let mut case = case(&mut rng, &Shape { wild: false, ..Shape::new(3..=3, 2..=2) });
    let base: Vec<f64> = (0..n * p).map(|k| if k % 3 == 0 { 0.0 } else { normal(&mut rng) }).collect();
    let standard = standard.then(|| (vec![0.3; p], vec![1.7; p]));
    let columns = Some((0..p).rev().collect());
    (case.n, case.p, case.base, case.base_rows, case.store) = (n, p, base, n, store);
    (case.standard, case.columns, case.rows) = (standard, columns, None);
    case
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for store in [Store::Dense64, Store::Dense32, Store::Csc64, Store::Csc32] {
        for standard in [false, true] {
            let case = large(store, standard);
            let v: Vec<f64> = (0..case.n).map(|i| (0.37 * i as f64).sin()).collect();
            let w: Vec<f64> = (0..case.n).map(|i| 0.5 + (i % 3) as f64).collect();
            let features: Vec<usize> = (0..case.p).collect();
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                case.with_design(|design| {
                    pool.install(|| {
                        let mut tau = vec![f64::NAN; case.p];
                        design.correlate(&features, &v, &mut tau).unwrap();
                        let moments = design::moments(design, Some(&w)).unwrap();
                        let bits: Vec<u64> = tau.iter().map(|t| t.to_bits()).collect();
                        let all = moments.iter().flat_map(|m| [m.mean, m.squares, m.centred]).map(f64::to_bits);
                        (bits, all.collect::<Vec<u64>>())
                    })
                })
            };
            let one = run(1);
            assert!(one.0.iter().all(|&bits| f64::from_bits(bits).is_finite()));
            for threads in [2, 3, 4] {
                assert!(run(threads) == one, "{store:?}, standardised {standard}: {threads} threads differ");
            }
        }
    }
}

/// Views may be stacked the other way round as well.
#[test]
fn views_of_views() {
    let base = Csc::new(4, vec![0, 2, 2, 4], vec![0u32, 3, 1, 2], vec![2.0, 5.0, -1.0, 4.0]).unwrap();
    let columns = ColumnSubset::new(&base, vec![2, 0, 0]).unwrap();
    let rows = RowSubset::new(&columns, vec![1, 3]).unwrap();
    let view = Standardized::new(&rows, vec![1.0, 2.0, 0.0], vec![2.0, -1.0, 1.0]).unwrap();
    let plain = [[-1.0, 2.0, 0.0], [-0.5, -3.0, 5.0]];
    let mut tau = [0.0; 3];
    view.correlate(&[0, 1, 2], &[10.0, 100.0], &mut tau).unwrap();
    for j in 0..3 {
        assert_close(tau[j], 10.0 * plain[0][j] + 100.0 * plain[1][j], 1e-12, &j);
        let mut out = [0.0; 2];
        view.axpy(j, 2.0, &mut out).unwrap();
        assert_eq!(out, [2.0 * plain[0][j], 2.0 * plain[1][j]]);
    }
    assert!(view.is_sparse() && view.nrows() == 2 && view.ncols() == 3);
}
