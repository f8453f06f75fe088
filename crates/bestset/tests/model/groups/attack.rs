//! Groups under attack, alone and along paths: every answer against all choices of groups.

use super::tree::attack;
use crate::common::{
    Case, ChaCha8Rng, RngExt, Shape, Tally, brackets, case, holds_between, least_of, members, pick, rng, seeds,
};
use bestset::groups::{Groups, solve_groups};
use bestset::path::{Grid, PathOptions, path};
use bestset::{Bounds, Options};

/// A problem without bounds, with a ridge that may be as good as none, and groups of which some may be free.
fn grouped(rng: &mut ChaCha8Rng, seed: u64) -> (Case, Groups) {
    let shape = Shape { attained: true, certified: true, wild: seed.is_multiple_of(2), ..Shape::new(2..=14, 1..=8) };
    let mut case = case(rng, &shape);
    case.penalty.bounds = Bounds::Free;
    case.penalty.lambda2 = if seed.is_multiple_of(5) { 1e-6 } else { case.penalty.lambda2.max(0.05) };
    let labels: Vec<usize> = (0..case.p).map(|_| pick(rng, &[2, 5, 9, 11])).collect();
    let groups = Groups::new(&labels);
    if rng.random_bool(0.5) {
        let prices = groups.members.iter().map(|_| pick(rng, &[0.0, 0.5, 1.0, 4.0])).collect();
        return (case, groups.with_prices(prices).unwrap());
    }
    (case, groups)
}

#[test]
fn groups_equal_enumeration() {
    let (seeds, mut tally) = (seeds(150), Tally::default());
    for seed in seeds.clone() {
        let mut rng = rng(9000 + seed);
        let (case, groups) = grouped(&mut rng, seed);
        let fit = brackets(&case, &groups.members);
        let prices = |mask: usize| members(mask).iter().map(|&g| groups.prices[g]).sum::<f64>();
        let least = |l0: f64| least_of(&fit, |mask| l0 * prices(mask));
        let scale = case.null_loss();
        let alone = case.with_problem(|p| solve_groups(p, &groups, &Options::default()).unwrap());
        tally.add("problems", 1);
        let l0 = case.penalty.lambda0;
        let proved = holds_between(alone.certificate, alone.status, least(l0), scale, &(seed, "alone"));
        tally.add("proved", u8::from(proved));
        let grid = match seed % 2 {
            0 => Grid::Dynamic { points: 20, shrink: 0.9 },
            _ => Grid::Log { points: 10, ratio: 1e-3 },
        };
        let options = PathOptions { grid, groups: Some(groups.clone()), max_size: Some(100), ..PathOptions::default() };
        let found = case.with_problem(|p| path(p, &options)).unwrap_or_else(|e| panic!("{seed}: {e}"));
        for point in &found.points {
            let (c, context) = (point.solution.certificate, (seed, point.lambda0));
            let proved = holds_between(c, point.solution.status, least(point.lambda0), scale, &context);
            tally.add("points", 1);
            tally.add("points proved", u8::from(proved));
        }
        // It begins where only free groups are best.
        let first = found.points.first().unwrap_or_else(|| panic!("{seed}: no points"));
        let free: usize = (0..groups.len()).filter(|&g| groups.prices[g] == 0.0).map(|g| 1 << g).sum();
        let late = fit[free].0 > least(first.lambda0).1 + 1e-9 * scale;
        assert!(!late, "{seed}: begins at {}", first.lambda0);
    }
    let least = [("proved", 400, "problems"), ("points", 4000, "problems"), ("points proved", 200, "points")];
    tally.conclude("groups", &seeds, &least);
}

/// Branch and bound over groups under attack: every kind of problem, at a price and with a largest size.
#[test]
fn trees_of_groups_equal_enumeration() {
    let (seeds, mut tally) = (seeds(300), Tally::default());
    // Other problems than those of the suite.
    seeds.clone().for_each(|seed| attack(100_000 + seed, &mut tally));
    tally.conclude("trees of groups", &seeds, &[("answers", 1500, "problems"), ("proved", 950, "answers")]);
}
