//! The problems that the other tests of proofs draw: each that is proved has a proof in a file, which the checker accepts.
//!
//! One in so many here, five times as many with CHECK=yes, all of them with `BESTSET_PROOFS=1 cargo test --test all suite -- --nocapture`.

use super::{proof, table};
use crate::common::{
    Case, RngExt, Shape, Tally, UNIFORM, awkward_columns, case, few_samples, hostile, members, near_copies, pick,
    power, rng, share, twofold_fits, twofold_sizes,
};
use crate::proof::enumerate::attack::problem;
use bestset::{Error, Loss, Method, Options, Problem, Solution, Status, solve};
use bestset_check::check;

/// One problem of so many is looked at with CHECK=yes, a fifth of them without, unless all are asked for.
fn step(usual: usize) -> usize {
    if std::env::var_os("BESTSET_PROOFS").is_some() { 1 } else { usual * 5 / share(5) }
}

/// What there is of a proof; a file that the checker rejects is a failure, and so is a refusal to prove ranks that are right.
fn judge(case: &Case, options: &Options, tally: &mut Tally, context: &dyn std::fmt::Debug) {
    case.with_problem(|problem| judge_problem(case, problem, options, tally, context));
}

fn judge_problem(
    case: &Case,
    problem: &Problem<'_>,
    options: &Options,
    tally: &mut Tally,
    context: &dyn std::fmt::Debug,
) {
    tally.add("problems", 1);
    let solution = match solve(problem, options) {
        Ok(solution) if solution.status == Status::Optimal => solution,
        _ => return tally.add("not solved to the end", 1),
    };
    match proof(problem, &solution, options) {
        Ok((bytes, _)) => {
            check(&table(problem), None, &bytes[..]).unwrap_or_else(|e| panic!("{context:?}: {e}"));
            tally.add("accepted", 1);
        }
        // Ranks that the search has not proved, as they are not the best.
        Err(Error::Unused { .. }) if options.top > 1 => {
            assert!(is_outranked(case, &solution), "{context:?}: {:?}", solution.ranked);
            tally.add("ranks that are wrong", 1);
        }
        Err(error) => {
            println!("{context:?}: {error}");
            tally.add("not written", 1);
        }
    }
}

/// Whether a subset that is not listed, and holds no columns that depend on each other, is below the last one that is: nothing of the kind
/// that a proof claims is true.
fn is_outranked(case: &Case, solution: &Solution) -> bool {
    let last = solution.ranked.iter().map(|r| r.objective).fold(f64::NEG_INFINITY, f64::max);
    let is_listed = |subset: &Vec<usize>| solution.ranked.iter().any(|r| r.coefficients.support == *subset);
    let is_apart = |subset: &[usize]| solution.dependent.iter().any(|set| set.iter().all(|j| subset.contains(j)));
    let most = case.max_size.unwrap_or(case.p);
    twofold_fits(case).iter().enumerate().any(|(mask, fit)| {
        let subset = members(mask);
        let cost = fit + case.penalty.lambda0 * subset.len() as f64;
        subset.len() <= most && cost < last * (1.0 - 1e-6) && !is_listed(&subset) && !is_apart(&subset)
    })
}

/// So many in a thousand of those that were solved are accepted.
fn conclude(name: &str, tally: &Tally, least: u64) {
    println!("{name}: {tally:?}");
    let solved = tally.of("problems") - tally.of("not solved to the end") - tally.of("ranks that are wrong");
    assert!(tally.of("accepted") * 1000 >= solved * least, "{name}: {tally:?}");
}

#[test]
fn the_problems_of_branch_and_bound() {
    let (mut tally, options) = (Tally::default(), super::exact());
    let (mut first, mut third) = (rng(81), rng(84));
    for trial in 0..1500 {
        let case = case(&mut first, &Shape { attained: true, certified: true, ..Shape::new(3..=20, 1..=10) });
        if trial % step(15) == 0 {
            judge(&case, &options, &mut tally, &trial);
        }
    }
    for trial in 0..500 {
        let shape = Shape { wild: trial % 2 == 0, attained: true, certified: true, ..Shape::new(5..=20, 3..=9) };
        let mut case = case(&mut third, &shape);
        if trial % 3 > 0 {
            case.penalty.lambda0 = 0.0;
        }
        case.max_size = Some(1 + trial % case.p.min(5));
        if trial % step(10) == 0 {
            judge(&case, &options, &mut tally, &(trial, "size"));
        }
    }
    conclude("branch and bound", &tally, 1000);
}

#[test]
fn the_problems_of_its_attack() {
    let mut tally = Tally::default();
    for seed in (0..400u64).step_by(step(8)) {
        let mut rng = rng(901_000_000 + seed);
        let losses: &[Loss] = if seed % 2 == 0 { &[Loss::Squared] } else { &UNIFORM };
        let mut case = hostile(&mut rng, losses, 8);
        case.max_size = pick(&mut rng, &[None, Some(1), Some(case.p.div_ceil(2)), Some(case.p)]);
        let top = pick(&mut rng, &[1, 1, 3]);
        let options = Options { method: Method::Exact, top, max_nodes: Some(4000), ..Options::default() };
        judge(&case, &options, &mut tally, &seed);
    }
    conclude("hostile problems", &tally, 1000);
}

#[test]
fn the_problems_of_leaps_and_bounds() {
    let mut tally = Tally::default();
    let mut columns = rng(401);
    for trial in 0..1200 {
        let mut case = awkward_columns(&mut columns, if trial % 40 == 0 { 12 } else { 8 }, trial % 3 == 0);
        if trial % step(12) == 0 {
            case.max_size = Some(1 + trial / 12 % case.p);
            let options = Options::with_method(Method::Exact);
            judge(&case, &options, &mut tally, &trial);
        }
    }
    for seed in (0..400u64).step_by(step(8)) {
        let mut rng = rng(7000 + seed);
        let mut case = near_copies(&mut rng);
        let null = twofold_fits(&case)[0];
        case.penalty.lambda0 = if rng.random_bool(0.2) { 0.0 } else { null * power(&mut rng, -4.0, 0.0) };
        case.max_size = pick(&mut rng, &[None, None, Some(1), Some(case.p.div_ceil(2))]);
        let options = Options { top: pick(&mut rng, &[2, 3]), ..Options::with_method(Method::Exact) };
        judge(&case, &options, &mut tally, &(seed, "near copies"));
    }
    conclude("leaps and bounds", &tally, 1000);
}

/// As many features as samples and more, copies and sums of others among them.
#[test]
fn the_problems_of_all_subsets_of_a_size() {
    let mut tally = Tally::default();
    for seed in (0..80).step_by(step(4)) {
        let mut data = few_samples(seed, 5 + seed as usize % 5);
        let best = twofold_sizes(&data);
        data.penalty.lambda0 = best[0] * power(&mut rng(seed), -5.0, -0.5);
        data.max_size = (seed % 3 == 0).then_some(1 + seed as usize % 4);
        let options = Options { top: 1 + seed as usize % 3, ..Options::with_method(Method::Exact) };
        judge(&data, &options, &mut tally, &seed);
    }
    for seed in (0..300).step_by(step(10)) {
        let mut rng = rng(9000 + seed);
        let mut case = problem(&mut rng);
        let null = case.null_loss();
        case.max_size = Some(rng.random_range(1..=case.p));
        case.penalty.lambda0 = if rng.random_bool(0.3) { 0.0 } else { null * power(&mut rng, -5.0, 0.0) };
        let options = Options { top: pick(&mut rng, &[1, 1, 3]), ..Options::with_method(Method::Exact) };
        judge(&case, &options, &mut tally, &(seed, "columns"));
    }
    conclude("all subsets of a size", &tally, 1000);
}
