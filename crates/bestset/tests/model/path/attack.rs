//! Paths under attack: every point against all subsets, on grids, prices and offsets of all kinds.

use crate::common::{
    ChaCha8Rng, RngExt, Shape, Tally, brackets, case, holds_between, least_of, members, normal, pick, power, rng, seeds,
};
use bestset::path::{Grid, PathOptions, Search, path};

/// Steps that follow the answers, steps of one ratio, or any prices, up to `high` and a little beyond.
fn grid(rng: &mut ChaCha8Rng, high: f64) -> Grid {
    match rng.random_range(0..3) {
        0 => Grid::Dynamic { points: 30, shrink: 0.97 },
        1 => Grid::Log { points: rng.random_range(2..20), ratio: 1e-4 },
        _ => {
            let mut given: Vec<f64> = (0..rng.random_range(1..20)).map(|_| high * power(rng, -6.0, 0.5)).collect();
            if rng.random_bool(0.3) {
                given.push(0.0);
            }
            given.sort_by(|a, b| b.total_cmp(a));
            given.dedup();
            Grid::Given(given)
        }
    }
}

#[test]
fn points_of_paths_equal_enumeration() {
    let (seeds, mut tally) = (seeds(150), Tally::default());
    for seed in seeds.clone() {
        let mut rng = rng(8000 + seed);
        let shape = Shape { attained: true, certified: seed % 4 > 0, wild: seed % 2 == 0, ..Shape::new(2..=14, 1..=7) };
        let mut case = case(&mut rng, &shape);
        if rng.random_bool(0.4) {
            let one: Vec<f64> = (0..case.p).map(|_| pick(&mut rng, &[0.0, 0.5, 1.0, 3.0])).collect();
            case.penalty = case.penalty.clone().with_price(one);
        }
        if rng.random_bool(0.3) {
            case.offset = Some((0..case.n).map(|_| normal(&mut rng)).collect());
        }
        let fit = brackets(&case, &(0..case.p).map(|j| vec![j]).collect::<Vec<_>>());
        let high = case.with_problem(|p| p.lambda0_max().unwrap());
        let high = if high.is_finite() && high > 0.0 { high } else { fit[0].1.max(1e-3) };
        let options = PathOptions {
            grid: grid(&mut rng, high),
            max_size: Some(100),
            backward: rng.random_bool(0.5),
            search: match rng.random_bool(0.3) {
                true => Search::Full,
                false if seed % 3 == 0 => Search::Light,
                false => Search::Neighbours,
            },
            ..PathOptions::default()
        };
        let found = case.with_problem(|p| path(p, &options)).unwrap_or_else(|e| panic!("{seed}: {e}"));
        let prices = |mask: usize| members(mask).iter().map(|&j| case.penalty.price.at(j)).sum::<f64>();
        tally.add("problems", 1);
        assert!(!found.points.is_empty(), "{seed}");
        for point in &found.points {
            let least = least_of(&fit, |mask| point.lambda0 * prices(mask));
            let (c, context) = (point.solution.certificate, (seed, point.lambda0, &options.grid));
            let proved = holds_between(c, point.solution.status, least, case.null_loss(), &context);
            tally.add("points", 1);
            tally.add("points proved", u8::from(proved));
        }
    }
    tally.conclude("paths", &seeds, &[("points", 5000, "problems"), ("points proved", 400, "points")]);
}
