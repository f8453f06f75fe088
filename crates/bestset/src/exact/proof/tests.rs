//! A fault in each rule, made on purpose, and the checker finds it.

use super::rules::Faults;
use super::{Asked, ProofData};
use crate::common::{Case, Shape, case, rng, sized};
use crate::control::Monitor;
use crate::design::Column;
use crate::solution::{Coefficients, Solution, Status};
use crate::{Loss, Method, Options, Problem, solve};
use bestset_check::{Proved, Table, check};

fn table(problem: &Problem<'_>) -> Table {
    let mut names: Vec<String> = (0..problem.ncols()).map(|j| format!("x{j}")).collect();
    names.push("y".to_owned());
    let dense = |j: usize| {
        let (mut column, mut values) = (Column::default(), vec![0.0; problem.nrows()]);
        problem.design().column(j, &mut column).unwrap();
        column.to_dense(&mut values);
        values
    };
    let columns = (0..problem.ncols()).map(dense).chain([problem.y().to_vec()]).collect();
    Table::of_columns(names, columns)
}

fn named<'s>(problem: &'s Problem<'_>) -> ProofData<'s> {
    ProofData {
        x: problem.design(),
        scale: None,
        names: (0..problem.ncols()).map(|j| format!("x{j}")).collect(),
        target: "y".to_owned(),
        weights: String::new(),
        offset: String::new(),
    }
}

/// The proof, or what there is of it, as another went on from `start`.
fn written(
    problem: &Problem<'_>,
    solution: &Solution,
    options: &Options,
    faults: &Faults,
    start: &[u8],
) -> Option<Vec<u8>> {
    let data = named(problem);
    let (mut bytes, mut observer) = (Vec::new(), ());
    let mut monitor = Monitor::new(options, &mut observer);
    let asked = Asked { problem, data: &data, solution, options, start };
    asked.write(&mut bytes, &mut monitor, faults).ok()?;
    Some(bytes)
}

/// What the checker says of a proof written with faults; `None` where the search refuses to write it.
fn judged(
    problem: &Problem<'_>,
    solution: &Solution,
    options: &Options,
    faults: &Faults,
) -> Option<Result<Proved, String>> {
    let bytes = written(problem, solution, options, faults, &[])?;
    Some(check(&table(problem), None, &bytes[..]))
}

fn plain(seed: u64) -> Case {
    drawn(seed, true)
}

/// A problem of the squared loss, or of another.
fn drawn(seed: u64, is_squared: bool) -> Case {
    let mut rng = rng(500 + seed);
    loop {
        let shape = Shape { wild: false, attained: true, certified: true, ..Shape::new(8..=16, 7..=9) };
        let case = case(&mut rng, &shape);
        if (case.loss == Loss::Squared) == is_squared && case.weights.is_none() && case.offset.is_none() {
            return case;
        }
    }
}

/// How many of the proofs with a fault are rejected, of those that were written.
fn caught(is_squared: bool, options: &Options, size: Option<usize>, faults: &Faults) -> (usize, usize) {
    let (mut rejected, mut written) = (0, 0);
    for seed in 0..60 {
        drawn(seed, is_squared).with_problem(|problem| {
            let problem = sized(problem.clone(), size);
            let solution = solve(&problem, options).unwrap();
            if solution.status == Status::Optimal
                && let Some(verdict) = judged(&problem, &solution, options, faults)
            {
                written += 1;
                rejected += usize::from(verdict.is_err());
            }
        });
    }
    (rejected, written)
}

/// The same of subsets of three features without a ridge, which fits close; the claim is beyond the truth, so that faults matter.
fn caught_without_ridge(options: &Options, faults: &Faults) -> (usize, usize) {
    let (mut rejected, mut written) = (0, 0);
    for seed in 0..60 {
        let mut case = plain(seed);
        case.penalty = crate::Penalty::new(0.0, 0.0, 0.0);
        case.with_problem(|problem| {
            let problem = sized(problem.clone(), Some(3));
            let Ok(mut solution) = solve(&problem, options) else { return };
            if faults.pair > 0.0
                && let Ok(other) = solve(&sized(problem.clone(), Some(2)), options)
            {
                solution = other;
            }
            if let Some(verdict) = judged(&problem, &solution, options, faults) {
                written += 1;
                rejected += usize::from(verdict.is_err());
            }
        });
    }
    (rejected, written)
}

/// More features than samples and no ridge, two of them strong: coherence closes what it can.
fn wide(seed: u64) -> Case {
    let (n, p, mut rng, noise) = (60, 64, rng(900 + seed), [0.1, 1.0, 3.0][seed as usize % 3]);
    let x: Vec<f64> = (0..n * p).map(|_| crate::common::normal(&mut rng)).collect();
    let y = (0..n).map(|i| x[i] + x[n + i] + noise * crate::common::normal(&mut rng)).collect();
    Case::dense(n, p, x, y, crate::Penalty::new(0.0, 0.0, 0.0))
}

/// Subsets that coherence does not close are taken for closed; and a wrong answer for the best: each is found.
#[test]
fn a_fault_of_coherence_is_caught() {
    let options = Options::with_method(Method::Exact);
    let faulty = Faults { coherence: 1e9, ..Faults::default() };
    let (mut right, mut caught, mut wrong) = (0, 0, 0);
    for seed in 0..40 {
        wide(seed).with_problem(|problem| {
            let problem = sized(problem.clone(), Some(2));
            let solution = solve(&problem, &options).unwrap();
            if let Some(verdict) = judged(&problem, &solution, &options, &Faults::default()) {
                verdict.unwrap();
                right += 1;
            }
            if let Some(verdict) = judged(&problem, &solution, &options, &faulty) {
                caught += usize::from(verdict.is_err());
            }
            let one = solve(&sized(problem.clone(), Some(1)), &options).unwrap();
            if let Some(verdict) = judged(&problem, &one, &options, &faulty) {
                assert!(verdict.is_err());
                wrong += 1;
            }
        });
    }
    println!("{right} right, {caught} faults caught, {wrong} wrong answers");
    assert!(right > 3 && caught > 3 && wrong > 3, "{right} right, {caught} faults caught, {wrong} wrong answers");
}

/// Little ridge and a price: coherence closes what adds few features, a tree at lower prices the rest.
fn priced(seed: u64) -> Case {
    let (n, p, mut rng) = (200, 210, rng(700 + seed));
    let length = f64::from(n as u32).sqrt();
    let x: Vec<f64> = (0..n * p).map(|_| crate::common::normal(&mut rng) / length).collect();
    let noise = 0.6 / length;
    let y =
        (0..n).map(|i| (0..8).map(|j| x[j * n + i]).sum::<f64>() + noise * crate::common::normal(&mut rng)).collect();
    Case::dense(n, p, x, y, crate::Penalty::new([0.03, 0.06, 0.1][seed as usize % 3], 0.0, 0.003))
}

/// Cut anywhere after a COHERENCE that lowers prices, a file goes on at these; B below it that is too low is found.
#[test]
fn files_cut_after_a_discount_are_continued_and_its_faults_are_caught() {
    let (options, none) = (Options::with_method(Method::Exact), Faults::default());
    let (mut cuts, mut caught, mut found) = (0, 0, 0);
    for seed in 0..3 {
        priced(seed).with_problem(|problem| {
            let solution = solve(problem, &options).unwrap();
            let Some(whole) = written(problem, &solution, &options, &none, &[]) else { return };
            let (_, claim) = super::claim(problem, &solution, &options).unwrap();
            let start = super::header(problem, &named(problem), &claim).unwrap().len();
            let counts = check(&table(problem), None, &whole[..]).unwrap_or_else(|e| panic!("{seed}: {e}")).counts;
            // Record 9 first, and more bounds than its own: those of the tree at lower prices.
            if whole[start] != 9 || counts.bounds < 2 {
                return;
            }
            found += 1;
            for cut in (start..whole.len()).step_by(1 + (whole.len() - start) / 12) {
                let again = written(problem, &solution, &options, &none, &whole[..cut]).unwrap();
                check(&table(problem), None, &again[..]).unwrap_or_else(|e| panic!("{seed}, {cut}: {e}"));
                cuts += 1;
            }
            let faulty = Faults { discount: 0.5 * claim.bound, ..none.clone() };
            if let Some(verdict) = judged(problem, &solution, &options, &faulty) {
                caught += usize::from(verdict.is_err());
            }
        });
    }
    println!("{found} discounts, {cuts} cuts, {caught} faults caught");
    assert!(cuts > 10 && caught > 0, "{found} discounts, {cuts} cuts, {caught} faults caught");
}

#[test]
fn a_fault_in_each_rule_is_caught() {
    let options = Options::with_method(Method::Exact);
    let few = Options { top: 3, ..options.clone() };
    let none = Faults::default();
    for is_squared in [true, false] {
        assert_eq!(caught(is_squared, &options, None, &none).0, 0);
        assert_eq!(caught(is_squared, &options, Some(3), &none).0, 0);
    }
    let cases = [
        ("close", &options, None, Faults { close: 1.0, ..none.clone() }),
        ("out", &options, None, Faults { out: 1.0, ..none.clone() }),
        ("in", &options, None, Faults { inside: 1.0, ..none.clone() }),
        ("curvature", &options, None, Faults { curvature: 0.5, ..none.clone() }),
        ("price", &options, Some(3), Faults { price: 0.2, ..none.clone() }),
        ("side", &options, None, Faults { is_side_lost: true, ..none.clone() }),
        ("size", &options, Some(3), Faults { is_size_short: true, ..none.clone() }),
        ("listed", &few, None, Faults { is_all_listed: true, ..none.clone() }),
        ("probe", &options, None, Faults { probe: 1.0, ..none.clone() }),
    ];
    for (name, faults) in [
        ("fit", Faults { fit: 1.0, ..none.clone() }),
        ("dear", Faults { dear: 1.0, ..none.clone() }),
        ("pair", Faults { pair: 1e3, ..none.clone() }),
        ("dependent", Faults { is_all_dependent: true, ..none.clone() }),
        ("none", none.clone()),
    ] {
        let (rejected, written) = caught_without_ridge(&options, &faults);
        println!("{name}: {rejected} of {written} rejected");
        assert!(written > 10 && (rejected > 0) == (name != "none"), "{name}: {rejected} of {written}");
    }
    for (name, options, size, faults) in cases {
        let (rejected, written) = caught(true, options, size, &faults);
        println!("{name}: {rejected} of {written} rejected");
        assert!(rejected > 0, "{name}: {rejected} of {written}");
        // Curvature is the squared loss's alone, and so are probes, which need it.
        if name != "curvature" && name != "probe" {
            let (rejected, written) = caught(false, options, size, &faults);
            println!("{name}, other losses: {rejected} of {written} rejected");
            assert!(rejected > 0, "{name}, other losses: {rejected} of {written}");
        }
    }
}

/// The best answer is left out, and said to be no better than one that it holds: no proof of that is accepted.
#[test]
fn a_fault_of_covers_is_caught() {
    let options = Options { top: 4, ..Options::with_method(Method::Exact) };
    let faulty = Faults { cover: 1e9, ..Faults::default() };
    let (mut refused, mut rejected) = (0, 0);
    for seed in 0..60 {
        for is_squared in [true, false] {
            drawn(seed, is_squared).with_problem(|problem| {
                let mut solution = solve(problem, &options).unwrap();
                let best = solution.ranked.remove(0);
                let holds =
                    |r: &crate::Ranked| r.coefficients.support.iter().all(|j| best.coefficients.support.contains(j));
                let is_above = solution.ranked.last().is_some_and(|r| r.objective > best.objective * (1.0 + 1e-3));
                if !solution.ranked.iter().any(holds) || !is_above {
                    return;
                }
                refused += usize::from(judged(problem, &solution, &options, &Faults::default()).is_none());
                if let Some(verdict) = judged(problem, &solution, &options, &faulty) {
                    let error = verdict.unwrap_err();
                    assert!(error.contains("of an answer that the subset holds"), "{seed}: {error}");
                    rejected += 1;
                }
            });
        }
    }
    assert!(rejected > 5 && refused == rejected, "{rejected} rejected, {refused} not written");
}

/// A claim that is false, by a solver that closes what it likes: no proof of it is accepted.
#[test]
fn a_false_claim_is_never_accepted() {
    let options = Options::with_method(Method::Exact);
    let faults = Faults { close: 1e9, ..Faults::default() };
    let (mut written, mut closed) = (0, 0);
    for seed in 0..60 {
        plain(seed).with_problem(|problem| {
            let right = solve(problem, &options).unwrap();
            let null = Coefficients { intercept: right.coefficients.intercept, ..Coefficients::default() };
            let wrong = Solution { coefficients: null, ..right.clone() };
            let value = problem.value(&wrong.coefficients).unwrap();
            if value <= right.objective() * (1.0 + 1e-5) {
                return;
            }
            for faults in [
                &faults,
                &Faults { out: 1e9, ..Faults::default() },
                &Faults { is_side_lost: true, ..Faults::default() },
            ] {
                if let Some(verdict) = judged(problem, &wrong, &options, faults) {
                    written += 1;
                    closed += usize::from(verdict.is_err());
                }
            }
        });
    }
    assert!(written > 50 && closed == written, "{closed} of {written}");
}

/// Cut anywhere and continued, a file is a proof again, and keeps what it had.
#[test]
fn unfinished_files_are_continued() {
    let (mut kept, mut fitted) = (0, 0);
    for seed in 0..24 {
        let size = (seed % 2 == 0).then_some(3);
        let options = Options { top: 1 + seed as usize % 3 / 2, ..Options::with_method(Method::Exact) };
        let mut case = plain(seed);
        // Every fourth has no ridge: its file is one of fits.
        if seed % 4 == 2 {
            case.penalty = crate::Penalty::new(0.0, 0.0, 0.0);
        }
        case.with_problem(|problem| {
            let problem = sized(problem.clone(), size);
            let Ok(solution) = solve(&problem, &options) else { return };
            let none = Faults::default();
            let Some(whole) = written(&problem, &solution, &options, &none, &[]) else { return };
            fitted += check(&table(&problem), None, &whole[..]).unwrap().counts.fits;
            for cut in (0..whole.len()).step_by(37) {
                let again = written(&problem, &solution, &options, &none, &whole[..cut]).unwrap();
                check(&table(&problem), None, &again[..]).unwrap_or_else(|e| panic!("{seed}, {cut}: {e}"));
                let same = again.iter().zip(&whole).take_while(|(a, b)| a == b).count();
                kept += usize::from(cut > 200 && same >= cut / 2);
            }
            // The file of another proof is no start.
            let mut other = whole.clone();
            other[20] ^= 1;
            let again = written(&problem, &solution, &options, &none, &other).unwrap();
            check(&table(&problem), None, &again[..]).unwrap();
        });
    }
    assert!(kept > 20 && fitted > 10, "{kept}, {fitted} fits");
}
