//! Packed genotypes against the dense matrix they stand for; bit for bit where sums are exact.

use crate::common::{ChaCha8Rng, RngExt, genotypes, normal, rng};
use bestset::design::{
    self, Beside, Column, ColumnSubset, Counts, Dense, Design, GenotypeFile, Genotypes, Moments, People, RowSubset,
    Standardized, WholeSums,
};
use bestset::{Options, Penalty, Problem, solve};

const SIZES: [usize; 12] = [1, 2, 3, 4, 5, 31, 33, 64, 257, 1000, 3841, 5003];

#[test]
fn entries_are_those_of_the_dense_matrix() {
    let (mut rng, p) = (rng(1), 23);
    for n in SIZES {
        let (packed, dense) = genotypes(n, p, &mut rng);
        let x = Genotypes::new(n, p, packed).unwrap();
        let (mut column, v) = (Column::default(), (0..n).map(|_| normal(&mut rng)).collect::<Vec<_>>());
        for j in 0..p {
            let own = &dense[j * n..(j + 1) * n];
            x.column(j, &mut column).unwrap();
            assert_eq!(column.values, own);
            assert!((0..n).all(|i| x.get(i, j) == own[i]));
            let (mut found, mut expected) = (v.clone(), v.clone());
            x.axpy(j, 0.7, &mut found).unwrap();
            bestset::kernel::axpy(0.7, own, &mut expected);
            assert_eq!(found, expected);
        }
    }
}

/// Σ x v and Σ |x v| with twice the digits.
fn sums(x: &[f64], v: &[f64]) -> (f64, f64) {
    let (mut high, mut low, mut size) = (0.0f64, 0.0, 0.0);
    for (x, v) in x.iter().zip(v) {
        let product = x * v;
        let total = high + product;
        low += x.mul_add(*v, -product);
        low += if high.abs() >= product.abs() { high - total + product } else { product - total + high };
        (high, size) = (total, size + product.abs());
    }
    (high + low, size)
}

#[test]
fn sums_are_off_by_no_more_than_a_bound_pays_for() {
    let (mut rng, p) = (rng(2), 23);
    for n in SIZES {
        let (packed, dense) = genotypes(n, p, &mut rng);
        let x = Genotypes::new(n, p, packed).unwrap();
        let features: Vec<usize> = (0..p).rev().chain([0, 0, 5]).collect();
        let vectors: Vec<Vec<f64>> = vec![
            (0..n).map(|_| normal(&mut rng)).collect(),
            // Sizes over many levels, as weights make them; many zeros; next to nothing; large.
            (0..n).map(|_| normal(&mut rng) * 2f64.powi(-rng.random_range(0..150))).collect(),
            (0..n).map(|_| if rng.random_bool(0.7) { 0.0 } else { normal(&mut rng) }).collect(),
            (0..n).map(|_| normal(&mut rng) * 1e-300).collect(),
            (0..n).map(|_| normal(&mut rng) * 1e290).collect(),
            vec![0.0; n],
        ];
        let views: Vec<&[f64]> = vectors.iter().map(|v| &v[..]).collect();
        let mut many = vec![f64::NAN; features.len() * views.len()];
        x.correlate_many(&features, &views, &mut many).unwrap();
        for (k, v) in vectors.iter().enumerate() {
            let mut found = vec![f64::NAN; features.len()];
            x.correlate(&features, v, &mut found).unwrap();
            for (f, &j) in features.iter().enumerate() {
                assert_eq!(found[f], many[f * vectors.len() + k], "the same bits");
                let (exact, size) = sums(&dense[j * n..(j + 1) * n], v);
                let most = f64::EPSILON * (0.5 * n as f64 + 12.0) * size;
                assert!((found[f] - exact).abs() <= most, "{n} {j} {k}: {} {exact} {most}", found[f]);
            }
        }
    }
}

#[test]
fn whole_numbers_have_the_bits_of_the_dense_matrix_and_of_exact_sums() {
    let (mut rng, p) = (rng(3), 40);
    for n in SIZES {
        let (packed, dense) = genotypes(n, p, &mut rng);
        let (x, features) = (Genotypes::new(n, p, packed).unwrap(), (0..p).collect::<Vec<_>>());
        let a: Vec<i64> = (0..n).map(|_| rng.random_range(-1_000_000..1_000_000)).collect();
        let v: Vec<f64> = a.iter().map(|a| *a as f64).collect();
        let full = Dense::new(n, p, dense.clone()).unwrap();
        let (mut found, mut expected) = (vec![0.0; p], vec![0.0; p]);
        x.correlate(&features, &v, &mut found).unwrap();
        full.correlate(&features, &v, &mut expected).unwrap();
        for j in (0..p).filter(|j| x.counts(*j).missing == 0) {
            assert_eq!(found[j], expected[j], "{n} {j}");
        }
        for largest in [1i64 << 42, 1 << 54] {
            let most = largest.min(i64::MAX / 2 / n as i64);
            let a: Vec<i64> = (0..n).map(|_| rng.random_range(-most..=most)).collect();
            let mut found = vec![WholeSums::default(); p];
            x.correlate_integers(&features, &a, &mut found).unwrap();
            for (j, found) in found.iter().enumerate() {
                let code = |i: usize| (x.packed(j)[i / 4] >> (2 * (i % 4))) as usize & 3;
                let known = (0..n).map(|i| [2, 0, 1, 0][code(i)] * a[i]).sum();
                let missing = (0..n).filter(|&i| code(i) == 1).map(|i| a[i]).sum();
                assert_eq!(*found, WholeSums { known, missing });
            }
        }
    }
}

#[test]
fn numbers_that_could_overflow_are_refused() {
    let x = Genotypes::new(3, 1, vec![0]).unwrap();
    let mut out = [WholeSums::default()];
    let mut ask = |a: [i64; 3]| x.correlate_integers(&[0], &a, &mut out).unwrap_err().to_string();
    assert!(ask([0, i64::MIN, 0]).contains("a[1] is -9.2"), "{}", ask([0, i64::MIN, 0]));
    assert!(ask([0, 0, (1 << 54) + 1]).contains("a[2]"));
    let many = Genotypes::new(1024, 1, vec![0; 256]).unwrap();
    let text = many.correlate_integers(&[0], &[1 << 53; 1024], &mut out).unwrap_err().to_string();
    assert!(text.contains("below 2^63"), "{text}");
    assert!(Genotypes::new(5, 2, vec![0; 3]).unwrap_err().to_string().contains("length 3, expected 4"));
    assert!(Genotypes::new(0, 2, vec![]).is_err());
}

fn close(found: &[Moments], expected: &[Moments], total: f64, what: &str) {
    for (j, (f, e)) in found.iter().zip(expected).enumerate() {
        let size = e.squares.max(1e-300) + total;
        let off = [(f.mean - e.mean).abs(), (f.squares - e.squares).abs() / size, (f.centred - e.centred).abs() / size];
        assert!(off.iter().all(|x| *x < 1e-12), "{what} {j}: {f:?} {e:?}");
    }
}

#[test]
fn moments_are_those_of_the_dense_matrix_without_copies_of_columns() {
    let (mut rng, p) = (rng(4), 23);
    for n in [5, 33, 1000] {
        let (packed, dense) = genotypes(n, p, &mut rng);
        let (x, full) = (Genotypes::new(n, p, packed).unwrap(), Dense::new(n, p, dense).unwrap());
        let kept: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == 0 || rng.random_bool(0.8)))).collect();
        let any: Vec<f64> =
            (0..n).map(|i| if i % 3 == 0 { 0.0 } else { 2f64.powi(-rng.random_range(0..60)) }).collect();
        let rows: Vec<usize> = (0..n).filter(|i| i % 7 != 1).collect();
        let columns = vec![3, 1, 22, 4];
        for weights in [None, Some(&kept[..]), Some(&any[..])] {
            let total = weights.map_or(n as f64, |w| w.iter().sum());
            let check = |x: &dyn Design, full: &dyn Design, what: &str| {
                assert!(x.all_moments(weights).unwrap().is_some(), "{what}");
                close(&design::moments(x, weights).unwrap(), &design::moments(full, weights).unwrap(), total, what);
                let (f, e) = (design::squares(x, weights).unwrap(), design::squares(full, weights).unwrap());
                f.iter().zip(e).for_each(|(f, e)| assert!((f - e).abs() < 1e-12 * (e + total), "{what}: {f} {e}"));
            };
            check(&x, &full, "plain");
            let (centre, scale) = (vec![0.3; p], (0..p).map(|j| 1.0 + j as f64).collect::<Vec<_>>());
            let view = |inner| Standardized::new(inner, centre.clone(), scale.clone()).unwrap();
            check(&view(&x), &view(&full), "standardised");
            let some = |inner| ColumnSubset::new(inner, columns.clone()).unwrap();
            if weights.is_none() {
                check(&some(&x), &some(&full), "columns");
                let some = |inner| RowSubset::new(inner, rows.clone()).unwrap();
                check(&some(&x), &some(&full), "rows");
            }
        }
        // A variant of one genotype alone does not vary.
        for (j, m) in design::moments(&x, None).unwrap().iter().enumerate().filter(|(j, _)| x.counts(*j).known() > 0) {
            let counts = x.counts(j);
            let alone = [counts.two, counts.one, counts.none].iter().filter(|c| **c > 0).count() == 1;
            assert_eq!(m.centred == 0.0, alone, "{j}: {counts:?} {m:?}");
        }
    }
}

#[test]
fn people_are_counted_and_kept() {
    let (mut rng, p) = (rng(5), 8);
    for n in SIZES {
        let (packed, dense) = genotypes(n, p, &mut rng);
        let x = Genotypes::new(n, p, packed).unwrap();
        for share in [0.5, 0.97, 1.0] {
            let keep: Vec<bool> = (0..n).map(|i| i == 0 || rng.random_bool(share)).collect();
            let people = People::new(n, |i| keep[i]);
            let rows: Vec<usize> = (0..n).filter(|&i| keep[i]).collect();
            assert_eq!(people.kept(), rows.len());
            let mut packed = Vec::new();
            (0..p).for_each(|j| people.pack(x.packed(j), &mut packed));
            let part = Genotypes::new(rows.len(), p, packed).unwrap();
            for j in 0..p {
                assert_eq!(people.count(x.packed(j)), part.counts(j));
                let known = |i: &&usize| x.packed(j)[**i / 4] >> (2 * (**i % 4)) & 3 != 1;
                for (k, i) in rows.iter().enumerate().filter(|(_, i)| known(i)) {
                    assert_eq!(part.get(k, j), dense[j * n + i]);
                }
            }
        }
    }
}

#[test]
fn the_same_bits_with_any_number_of_threads() {
    let (mut rng, n, p) = (rng(6), 3000, 200);
    let (packed, _) = genotypes(n, p, &mut rng);
    let (x, v) = (Genotypes::new(n, p, packed).unwrap(), (0..n).map(|_| normal(&mut rng)).collect::<Vec<_>>());
    let ask = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut out = vec![0.0; p];
        pool.install(|| x.correlate(&(0..p).collect::<Vec<_>>(), &v, &mut out)).unwrap();
        let moments =
            pool.install(|| design::moments(&x, Some(&v.iter().map(|v| v.abs()).collect::<Vec<_>>()))).unwrap();
        (out, moments)
    };
    assert_eq!(ask(1), ask(3));
}

#[test]
fn an_answer_is_that_of_the_dense_matrix() {
    for seed in 0..4 {
        let (mut rng, n, p) = (rng(100 + seed), 200, 60);
        let (packed, dense) = genotypes(n, p, &mut rng);
        let (x, full) = (Genotypes::new(n, p, packed).unwrap(), Dense::new(n, p, dense).unwrap());
        let mut y: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
        [0, 1, 6].iter().for_each(|&j| full.axpy(j, 1.0, &mut y).unwrap());
        let weights = (seed % 2 == 1).then(|| (0..n).map(|i| f64::from(u8::from(i % 5 > 0))).collect::<Vec<_>>());
        let answer = |x: &dyn Design| {
            let view = Standardized::fit(x, weights.as_deref(), true, 1.0).unwrap();
            let problem = Problem::new(&view, y.clone(), Penalty::new(5.0, 0.0, 0.01)).unwrap().with_intercept(true);
            let problem = match &weights {
                Some(w) => problem.with_weights(w.clone()).unwrap(),
                None => problem,
            };
            solve(&problem, &Options::default()).unwrap()
        };
        let (found, expected) = (answer(&x), answer(&full));
        assert_eq!(found.support(), expected.support());
        assert!((found.objective() - expected.objective()).abs() < 1e-9 * expected.objective());
        let (d, e) = (found.certificate.lower_bound, expected.certificate.lower_bound);
        assert!(d <= found.objective() && (d - e).abs() < 1e-6 * e, "{d} {e}");
    }
}

#[test]
fn two_designs_side_by_side_are_one() {
    let (mut rng, n, p) = (rng(7), 300, 30);
    let (packed, mut dense) = genotypes(n, p, &mut rng);
    let covariates: Vec<f64> = (0..3 * n).map(|_| normal(&mut rng)).collect();
    dense.extend_from_slice(&covariates);
    let full = Dense::new(n, p + 3, dense).unwrap();
    let first = Box::new(Genotypes::new(n, p, packed).unwrap());
    let both = Beside::new(first, Box::new(Dense::new(n, 3, covariates).unwrap())).unwrap();
    assert_eq!((both.nrows(), both.ncols(), both.stored()), (n, p + 3, n * (p + 3)));
    let v: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
    for features in [vec![32, 0, 31, 5, 30, 30, 29], vec![1, 2], vec![31], (0..p + 3).collect()] {
        let (mut found, mut expected) = (vec![0.0; 2 * features.len()], vec![0.0; 2 * features.len()]);
        both.correlate_many(&features, &[&v, &v], &mut found).unwrap();
        full.correlate_many(&features, &[&v, &v], &mut expected).unwrap();
        found.iter().zip(&expected).for_each(|(f, e)| assert!((f - e).abs() < 1e-11, "{f} {e}"));
    }
    let (mut a, mut b) = (Column::default(), Column::default());
    for j in 0..p + 3 {
        both.column(j, &mut a).unwrap();
        full.column(j, &mut b).unwrap();
        assert_eq!(a.values, b.values);
        assert!((both.squared_norm(j, &mut a).unwrap() - full.squared_norm(j, &mut b).unwrap()).abs() < 1e-10);
        let (mut found, mut expected) = (v.clone(), v.clone());
        both.axpy(j, -0.3, &mut found).unwrap();
        full.axpy(j, -0.3, &mut expected).unwrap();
        assert_eq!(found, expected);
    }
    close(&design::moments(&both, None).unwrap(), &design::moments(&full, None).unwrap(), n as f64, "beside");
    let other = Box::new(Dense::new(n + 1, 1, vec![0.0; n + 1]).unwrap());
    assert!(Beside::new(Box::new(full), other).is_err());
}

/// All people and some, all variants and some, few missing and many, with one thread and two, through every view and beside covariates:
/// genotypes read in blocks have the bits of those in memory, and damaged or changed files are errors.
#[test]
fn genotypes_in_their_file_have_the_bits_of_those_in_memory() {
    let (mut rng, folder) = (rng(71), tempfile::tempdir().unwrap());
    // The last has blocks of several sizes.
    for (round, (n, p)) in [(1, 3), (5, 40), (131, 300), (4003, 5003)].into_iter().enumerate() {
        let (packed, _) = genotypes(n, p, &mut rng);
        let file = folder.path().join(format!("{n}.bed"));
        std::fs::write(&file, [&[0x6c, 0x1b, 0x01], &packed[..]].concat()).unwrap();
        let choices = [People::new(n, |_| true), People::new(n, |i| i % 7 != 3), People::new(n, |i| i % 5 == 0)];
        for (people, every) in choices.iter().zip([1, 3, 1]) {
            let open = |room: usize| {
                let mut k = 0;
                let keep = &mut |_: Counts| {
                    k += 1;
                    k % every == 0
                };
                GenotypeFile::open(&file, people, p, room, keep).unwrap()
            };
            let (memory, disk) = (open(usize::MAX), open(0));
            assert!(memory.reading().is_none() && disk.reading().is_some());
            // Room for all but one byte is no room.
            assert!(open(memory.bytes() as usize).reading().is_none());
            assert!(open(memory.bytes() as usize - 1).reading().is_some());
            let (n, p) = (memory.design().nrows(), memory.design().ncols());
            let kept: Vec<usize> = (0..p).map(|k| every * (k + 1) - 1).collect();
            for (k, &j) in kept.iter().enumerate().step_by(p.div_ceil(40)) {
                let stride = people.all().div_ceil(4);
                assert_eq!(disk.counts(k), people.count(&packed[j * stride..(j + 1) * stride]));
            }
            let threads = rayon::ThreadPoolBuilder::new().num_threads(1 + round % 2).build().unwrap();
            threads.install(|| same_of_both(memory.design(), disk.design(), n, p, &mut rng));
            let covariates: Vec<f64> = (0..2 * n).map(|_| normal(&mut rng)).collect();
            let beside = || Box::new(Dense::new(n, 2, &covariates[..]).unwrap());
            let both = [&memory, &disk].map(|x| Beside::new(x.boxed(), beside()).unwrap());
            same_of_both(&both[0], &both[1], n, p + 2, &mut rng);
            let views = both.each_ref().map(|x| Standardized::fit(x, None, true, 1.0).unwrap());
            same_of_both(&views[0], &views[1], n, p + 2, &mut rng);
            let rows: Vec<usize> = (0..n).filter(|i| n < 4 || i % 3 != 1).collect();
            let cut = views.each_ref().map(|x| RowSubset::new(x, rows.clone()).unwrap());
            same_of_both(&cut[0], &cut[1], rows.len(), p + 2, &mut rng);
            let columns: Vec<usize> = (0..p + 2).rev().step_by(2).collect();
            let chosen = cut.each_ref().map(|x| ColumnSubset::new(x, columns.clone()).unwrap());
            same_of_both(&chosen[0], &chosen[1], rows.len(), columns.len(), &mut rng);
            let others: Vec<usize> = (0..p.min(50)).collect();
            assert_eq!(memory.r2(p - 1, &others).unwrap(), disk.r2(p - 1, &others).unwrap());
            assert_eq!(memory.deviation(p / 2), disk.deviation(p / 2));
        }
    }
}

/// Every operation of two designs that must not differ in a bit.
fn same_of_both(a: &dyn Design, b: &dyn Design, n: usize, p: usize, rng: &mut ChaCha8Rng) {
    let (v, w): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (normal(rng), normal(rng).abs())).unzip();
    for features in [(0..p).collect::<Vec<_>>(), (0..p).step_by(3).collect(), (0..p).rev().step_by(2).collect(), vec![]]
    {
        let mut out = [vec![0.0; 2 * features.len()], vec![1.0; 2 * features.len()]];
        a.correlate_many(&features, &[&v, &w], &mut out[0]).unwrap();
        b.correlate_many(&features, &[&v, &w], &mut out[1]).unwrap();
        assert_eq!(out[0], out[1]);
        let few = &features[..features.len().min(30)];
        let copies = [a, b].map(|x| {
            let mut found = Vec::new();
            x.columns(few, &mut |k, column| found.push((k, column.values.clone()))).unwrap();
            found
        });
        assert_eq!(copies[0], copies[1]);
    }
    let folds: Vec<f64> = (0..n).map(|i| f64::from(i % 4 != 1)).collect();
    for weights in [None, Some(&w[..]), Some(&folds[..])] {
        assert_eq!(design::moments(a, weights).unwrap(), design::moments(b, weights).unwrap());
        assert_eq!(design::squares(a, weights).unwrap(), design::squares(b, weights).unwrap());
    }
    let (mut found, mut expected) = (v.clone(), v);
    a.axpy(p / 2, 0.3, &mut expected).unwrap();
    b.axpy(p / 2, 0.3, &mut found).unwrap();
    assert_eq!(found, expected);
}

#[test]
fn genotype_files_that_change_or_are_cut_off_are_errors() {
    let (mut rng, folder) = (rng(72), tempfile::tempdir().unwrap());
    let (n, p) = (90, 30);
    let (packed, _) = genotypes(n, p, &mut rng);
    let (file, whole) = (folder.path().join("c.bed"), [&[0x6c, 0x1b, 0x01], &packed[..]].concat());
    std::fs::write(&file, &whole).unwrap();
    let people = People::new(n, |_| true);
    let open = |p: usize| GenotypeFile::open(&file, &people, p, 0, &mut |_| true);
    let GenotypeFile::Disk(stored) = open(p).unwrap() else { panic!("there is no room") };
    let y: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let problem = Problem::new(&stored, y, Penalty::new(0.1, 0.0, 0.1)).unwrap();
    assert!(solve(&problem, &Options::default()).is_ok());
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    for bytes in [&changed[..], &whole[..whole.len() - 1], &[&whole[..], &[0]].concat()] {
        std::fs::write(&file, bytes).unwrap();
        let error = solve(&problem, &Options::default()).unwrap_err();
        assert!(error.to_string().contains("c.bed") && error.to_string().contains("open"), "{error}");
    }
    std::fs::write(&file, &whole).unwrap();
    assert!(open(p + 1).unwrap_err().to_string().contains("c.bed"));
    std::fs::write(&file, [&[0x6c, 0x1b, 0x00], &packed[..]].concat()).unwrap();
    assert!(open(p).unwrap_err().to_string().contains("ordered by variants"));
}
