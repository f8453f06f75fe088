//! Best subsets of every size: real data with known answers, the criteria by their definitions, and every kind of problem
//! against enumeration.

use crate::common::{Shape, Table, assert_close, case, data_file, enumerate, holds, normal, rng, share, table};
use bestset::design::Dense;
use bestset::groups::Groups;
use bestset::{Loss, Options, Penalty, Problem, Status, Subsets, subsets, subsets_of_groups};

/// Runs all sizes up to `most` and compares those that the list of certified subsets has.
fn reproduces(name: &str, file: &str, most: usize) -> Option<Subsets> {
    let (data, list) = (data_file(file)?, data_file("certified_subsets.tsv")?);
    let Table { names, mut columns } = table(&data);
    let y = columns.pop().unwrap();
    let design = Dense::new(y.len(), columns.len(), columns.concat()).unwrap();
    let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, 0.0)).unwrap().with_intercept(true);
    let found = subsets(&problem, most, &Options::default()).unwrap();
    let list = std::fs::read_to_string(list).unwrap();
    let rows = list.lines().map(|l| l.split('\t').collect::<Vec<_>>()).filter(|row| row[0] == name);
    let mut compared = 0;
    for row in rows {
        let (k, rss): (usize, f64) = (row[1].parse().unwrap(), row[2].parse().unwrap());
        let s = &found.sizes[k - 1];
        let chosen: Vec<&str> = s.coefficients.support.iter().map(|&j| names[j].as_str()).collect();
        assert_eq!(chosen.join(" "), row[3], "{name} {k}");
        // The list has twelve digits.
        assert_close(2.0 * s.loss, rss, 1e-11 * rss, &(name, k));
        assert_eq!(s.status, Status::Optimal, "{name} {k}: {s:?}");
        compared += 1;
    }
    assert!(compared > 5, "{compared}");
    Some(found)
}

/// Criteria of the Hitters fits as published listings have them: the largest adjusted R² at 11, the least Cp at 10 and the
/// least BIC at 6 features.
#[test]
fn hitters() {
    let Some(found) = reproduces("Hitters", "hitters.csv", 19) else { return };
    let size_of = |value: &dyn Fn(&bestset::Criteria) -> f64| {
        let least =
            |a: usize, k: usize| if value(&found.sizes[k].criteria) < value(&found.sizes[a].criteria) { k } else { a };
        1 + (0..found.sizes.len()).reduce(least).unwrap()
    };
    assert_eq!(size_of(&|c| -c.adjusted_r2.unwrap()), 11);
    assert_eq!(size_of(&|c| c.cp.unwrap()), 10);
    assert_eq!(size_of(&|c| c.bic.unwrap()), 6);
    assert_close(found.sizes[18].criteria.r2, 0.5461159, 1e-7, &"R² of the full model");
    assert_close(found.sizes[18].criteria.cp.unwrap(), 20.0, 1e-8, &"Cp of the full model is its number of parameters");
}

#[test]
fn diabetes() {
    reproduces("diabetes64", "diabetes64.csv", 8);
}

/// The columns with some of them cut into bands, indicators of all but the first, and the labels of their groups.
fn banded(columns: &[Vec<f64>], cut: &[(usize, usize)]) -> (Vec<Vec<f64>>, Vec<usize>) {
    let (mut all, mut labels) = (Vec::new(), Vec::new());
    for (j, column) in columns.iter().enumerate() {
        let Some(&(_, bands)) = cut.iter().find(|c| c.0 == j) else {
            all.push(column.clone());
            labels.push(j);
            continue;
        };
        let mut sorted = column.clone();
        sorted.sort_by(f64::total_cmp);
        let ends: Vec<f64> = (1..bands).map(|b| sorted[sorted.len() * b / bands]).collect();
        let band = |x: &f64| ends.iter().filter(|end| x >= *end).count();
        for b in 1..bands {
            all.push(column.iter().map(|x| f64::from(u8::from(band(x) == b))).collect());
            labels.push(j);
        }
    }
    (all, labels)
}

/// Every size with categories as a whole is proved, and fits no better than with each level on its own.
fn proves_categories(file: &str, cut: &[(usize, usize)], most: usize) {
    let Some(data) = data_file(file) else { return };
    let mut columns = table(&data).columns;
    let y = columns.pop().unwrap();
    let (columns, labels) = banded(&columns, cut);
    let design = Dense::new(y.len(), columns.len(), columns.concat()).unwrap();
    let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, 0.0)).unwrap().with_intercept(true);
    let (most, groups) = (most.min(columns.len()), Groups::new(&labels));
    let whole = subsets_of_groups(&problem, &groups, most, &Options::default()).unwrap();
    let alone = subsets(&problem, most, &Options::default()).unwrap();
    println!("{file}: {} nodes", whole.nodes);
    for (w, a) in whole.sizes.iter().zip(&alone.sizes) {
        assert_eq!(w.status, Status::Optimal, "{file} {}", w.size);
        let is_in = |j: &usize| w.coefficients.support.contains(j);
        let is_whole = |members: &Vec<usize>| members.iter().all(is_in) || !members.iter().any(is_in);
        assert!(groups.members.iter().all(is_whole), "{file} {}", w.size);
        assert!(w.certificate.objective >= a.certificate.lower_bound * (1.0 - 1e-9), "{file} {}", w.size);
    }
}

#[test]
fn hitters_with_categories() {
    // Years in four bands, Walks in three.
    proves_categories("hitters.csv", &[(6, 4), (5, 3)], usize::MAX);
}

#[test]
fn diabetes_with_categories() {
    // Age in five bands, body mass index and blood pressure in four.
    proves_categories("diabetes64.csv", &[(0, 5), (2, 4), (3, 4)], 8);
}

/// Three samples of weight two are six samples, for every criterion.
#[test]
fn criteria_follow_their_definitions() {
    let (x, y) = ([1.0, 2.0, 4.0, 5.0, 0.5, -1.0, 1.0, 0.0], [1.0, 2.5, 3.0, 5.5]);
    let design = Dense::new(4, 2, x.as_slice()).unwrap();
    let problem = Problem::new(&design, y.as_slice(), Penalty::new(0.0, 0.0, 0.0)).unwrap();
    let problem = problem.with_weights(vec![2.0; 4]).unwrap().with_intercept(true);
    let found = subsets(&problem, 2, &Options::default()).unwrap();
    let mean = y.iter().sum::<f64>() / 4.0;
    let (null, full) = (y.iter().map(|y| 2.0 * (y - mean).powi(2)).sum::<f64>(), 2.0 * found.sizes[1].loss);
    for (s, k) in found.sizes.iter().zip([1.0, 2.0]) {
        let (rss, c) = (2.0 * s.loss, s.criteria);
        assert_close(c.r2, 1.0 - rss / null, 1e-12, &k);
        assert_close(c.adjusted_r2.unwrap(), 1.0 - (rss / (8.0 - k - 1.0)) / (null / 7.0), 1e-12, &k);
        assert_close(c.cp.unwrap(), rss / (full / 5.0) - 8.0 + 2.0 * (k + 1.0), 1e-10, &k);
        assert_close(c.aic.unwrap(), 8.0 * (rss / 8.0).ln() + 2.0 * (k + 1.0), 1e-10, &k);
        assert_close(c.bic.unwrap(), 8.0 * (rss / 8.0).ln() + 8f64.ln() * (k + 1.0), 1e-10, &k);
    }
}

/// λ1, bounds, other losses and few samples: by the general search.
#[test]
fn every_kind_of_problem_equals_enumeration() {
    let mut rng = rng(411);
    let (mut proved, mut total) = (0, 0);
    for trial in 0..share(200) {
        let shape = Shape { wild: false, attained: true, certified: true, ..Shape::new(3..=16, 1..=6) };
        let mut case = case(&mut rng, &shape);
        case.penalty.lambda0 = 0.0;
        let all = enumerate(&case);
        let scale = case.null_loss();
        case.with_problem(|problem| {
            let found = subsets(problem, case.p, &Options::default()).unwrap();
            for (s, k) in found.sizes.iter().zip(1..) {
                let context = format!("{trial}, {k}: {s:?}, {:?} {:?}", case.loss, case.penalty);
                proved += usize::from(holds(s.certificate, s.status, all.sized[k], scale, &context));
                assert!(s.coefficients.nonzeros() <= k, "{context}");
                assert!(
                    s.criteria.aic.is_some() == !matches!(case.loss, Loss::SquaredHinge | Loss::Huber { .. }),
                    "{context}"
                );
                total += 1;
            }
        });
    }
    assert!(proved >= total * 97 / 100, "{proved} of {total}");
}

/// A size that a limit leaves without an answer of its own says so, and its bound holds.
#[test]
fn sizes_that_a_limit_leaves_are_not_reached() {
    let mut rng = rng(77);
    let (n, p, most) = (30, 40, 8);
    let x: Vec<f64> = (0..n * p).map(|_| normal(&mut rng)).collect();
    let y: Vec<f64> = (0..n).map(|i| x[i] + x[n + i] - x[2 * n + i] + normal(&mut rng)).collect();
    let design = Dense::new(n, p, x).unwrap();
    let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, 0.1)).unwrap().with_intercept(true);
    let truth = subsets(&problem, most, &Options::default()).unwrap();
    assert!(truth.is_complete() && truth.sizes.iter().all(|s| s.status == Status::Optimal));
    for nodes in [1, 3, 20] {
        let found = subsets(&problem, most, &Options { max_nodes: Some(nodes), ..Options::default() }).unwrap();
        assert_eq!(found.sizes.len(), most);
        assert!(!found.is_complete(), "{nodes}");
        for (s, t) in found.sizes.iter().zip(&truth.sizes) {
            let best = t.certificate.objective;
            assert!(s.certificate.lower_bound <= best * (1.0 + 1e-9), "{nodes}: {s:?}");
            assert!(s.is_reached() || s.status == Status::NodeLimit && s.coefficients.nonzeros() < s.size);
        }
        assert_eq!(found.reached().count(), found.sizes.iter().filter(|s| s.coefficients.nonzeros() == s.size).count());
    }
}
