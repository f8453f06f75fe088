//! More columns than enumeration in twice the precision has time for: against plain loops, whatever the memory and the threads; limits;
//! real data; what is refused.

use crate::common::{Case, by_loops, data_file, normal, rng, table};
use bestset::design::Dense;
use bestset::internals::{enumerated, solve_by_enumeration};
use bestset::{CancelFlag, Error, Method, Options, Penalty, Problem, Status, checkpoint, solve, subsets};
use std::time::Duration;

/// Columns around a common one and a target of three of them; an intercept.
fn many(n: usize, p: usize, seed: u64) -> Case {
    let rng = &mut rng(seed);
    let common: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let x: Vec<f64> = (0..n * p).map(|k| normal(rng) + common[k % n]).collect();
    let y = (0..n).map(|i| x[i] - x[5 * n + i] + 0.5 * x[9 * n + i] + normal(rng)).collect();
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
    case.intercept = true;
    case
}

/// Several blocks of columns, with copies among them.
#[test]
fn blocks_of_columns_equal_plain_loops() {
    for (n, p, most, seed) in [(20, 150, 3, 1), (12, 70, 4, 2), (25, 130, 3, 3), (9, 24, 5, 4)] {
        let mut case = many(n, p, seed);
        if seed == 3 {
            case.edit(|x| x.copy_within(5 * n..6 * n, 100 * n));
        }
        let least: Vec<f64> = (2..=most).map(|k| by_loops(&case, k)).collect();
        case.with_problem(|problem| {
            let found = subsets(problem, most, &Options::default()).unwrap();
            assert!(found.sizes.iter().all(|s| s.status == Status::Optimal), "{n} {p}: {found:?}");
            for (s, least) in found.sizes[1..].iter().zip(&least) {
                assert!((s.certificate.objective - least).abs() <= 1e-9 * least, "{n} {p}: {s:?}, {least}");
                assert!(s.certificate.lower_bound <= least * (1.0 + 1e-12) && s.criteria.cp.is_none());
            }
            assert_eq!(found.dependent.is_empty(), seed != 3, "{:?}", found.dependent);
            let one = Options { threads: Some(1), ..Options::default() };
            assert_eq!(subsets(problem, most, &one).unwrap().sizes, found.sizes);
            let exact =
                solve(&problem.clone().with_max_size(most).unwrap(), &Options::with_method(Method::Exact)).unwrap();
            assert_eq!((exact.status, &exact.coefficients), (Status::Optimal, &found.sizes[most - 1].coefficients));
        });
    }
}

/// Products that are not kept are made again.
#[test]
fn little_memory_gives_the_same_answer() {
    let case = many(6, 1100, 5);
    case.with_problem(|problem| {
        let found = enumerated(problem, 3, &Options::default()).unwrap();
        let small = enumerated(problem, 3, &Options { max_memory: Some(1), ..Options::default() }).unwrap();
        assert_eq!(found.sizes, small.sizes);
        assert!(found.sizes.iter().all(|s| s.status == Status::Optimal));
    });
    // For larger sizes the products of all columns are needed: without them there is the first answer.
    let case = many(14, 400, 6);
    case.with_problem(|problem| {
        let small = enumerated(problem, 4, &Options { max_memory: Some(1), ..Options::default() }).unwrap();
        let ended: Vec<Status> = small.sizes.iter().map(|s| s.status).collect();
        assert_eq!(ended, [Status::Optimal, Status::Optimal, Status::Optimal, Status::MemoryLimit]);
        assert_eq!((small.sizes[3].coefficients.nonzeros(), small.sizes[3].certificate.lower_bound), (4, 0.0));
    });
}

#[test]
fn limits_and_interrupts_return_valid_bounds() {
    let case = many(15, 200, 7);
    case.with_problem(|problem| {
        let most = 4;
        let truth = subsets(problem, most, &Options::default()).unwrap();
        assert!(truth.sizes.iter().all(|s| s.status == Status::Optimal) && truth.nodes > 200);
        let mut ended = Vec::new();
        let mut try_with = |options: Options| {
            let found = subsets(problem, most, &options).unwrap();
            for (s, t) in found.sizes.iter().zip(&truth.sizes) {
                let (c, least) = (s.certificate, t.certificate.objective);
                assert!(c.lower_bound <= least * (1.0 + 1e-12) && c.objective >= least * (1.0 - 1e-12), "{s:?}");
                assert!(s.status != Status::Optimal || c.objective <= least * (1.0 + 1e-6), "{s:?}");
                ended.push(s.status);
            }
            let limited = problem.clone().with_max_size(most).unwrap();
            let one = solve(&limited, &Options { method: Method::Exact, ..options }).unwrap();
            let (c, least) = (one.certificate, truth.sizes[most - 1].certificate.objective);
            assert!(c.lower_bound <= least * (1.0 + 1e-12) && c.objective >= least * (1.0 - 1e-12), "{c:?}");
        };
        for max_nodes in [1, 2, 5, 10, 100] {
            try_with(Options { max_nodes: Some(max_nodes), ..Options::default() });
        }
        for step in 0..12 {
            let time_limit = Some(Duration::from_micros(300 * step * step));
            try_with(Options { time_limit, ..Options::default() });
        }
        let cancel = CancelFlag::default();
        cancel.cancel();
        try_with(Options { cancel, ..Options::default() });
        for status in [Status::NodeLimit, Status::TimeLimit, Status::Interrupted, Status::Optimal] {
            assert!(ended.contains(&status), "{status}");
        }
    });
}

/// With a ridge branch and bound begins; what it leaves open after as many nodes as a look at all subsets takes is looked at.
#[test]
fn what_branch_and_bound_leaves_open_is_looked_at() {
    let (n, p) = (30, 500);
    let rng = &mut rng(11);
    let x: Vec<f64> = (0..n * p).map(|_| normal(rng)).collect();
    let y = (0..n).map(|_| normal(rng)).collect();
    let case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 1e-4));
    case.with_problem(|problem| {
        let limited = problem.clone().with_max_size(3).unwrap();
        let looked = solve_by_enumeration(&limited, &Options::default()).unwrap();
        let exact = Options::with_method(Method::Exact);
        let found = solve(&limited, &exact).unwrap();
        assert_eq!((found.status, looked.status), (Status::Optimal, Status::Optimal));
        assert_eq!(found.coefficients.support, looked.coefficients.support);
        let (ours, theirs) = (found.certificate, looked.certificate);
        assert!((ours.objective - theirs.objective).abs() <= 1e-9 * theirs.objective, "{ours:?} {theirs:?}");
        assert!(ours.lower_bound <= theirs.objective && found.iterations > looked.iterations, "both were at work");
        // A limit below what branch and bound may take is its own: nothing is looked at.
        let few = solve(&limited, &Options { max_nodes: Some(3), ..exact }).unwrap();
        assert!(few.status == Status::NodeLimit && few.certificate.lower_bound <= theirs.objective, "{few:?}");
    });
}

/// 120 samples of 200 gene probes: the sizes that lassos and leaps cannot prove.
#[test]
fn eyedata() {
    let Some(path) = data_file("eyedata.csv") else { return };
    let mut columns = table(&path).columns;
    let y = columns.pop().unwrap();
    let design = Dense::new(y.len(), columns.len(), columns.concat()).unwrap();
    let problem = Problem::new(&design, y, Penalty::new(0.0, 0.0, 0.0)).unwrap().with_intercept(true);
    let found = subsets(&problem, 4, &Options::default()).unwrap();
    assert!(found.sizes.iter().all(|s| s.status == Status::Optimal), "{found:?}");
    assert!(found.sizes.windows(2).all(|w| w[1].loss < w[0].loss));
}

/// What is out of reach says which sizes are not; checkpoints are refused.
#[test]
fn what_is_out_of_reach_names_the_sizes() {
    let case = many(20, 60, 8);
    case.with_problem(|problem| {
        let error = subsets(problem, 15, &Options::default()).unwrap_err();
        let Error::TooWide { samples: 20, features: 60, most } = error else { panic!("{error}") };
        assert!((5..15).contains(&most), "{most}");
        assert!(error.to_string().contains(&format!("ask for at most {most} features")), "{error}");
        let limited = problem.clone().with_max_size(3).unwrap();
        let file = std::env::temp_dir().join(format!("enumerated-{}.json", std::process::id()));
        let refused = checkpoint::exact(&limited, &Options::with_method(Method::Exact), &file).unwrap_err();
        assert!(matches!(refused, Error::Unused { .. }) && refused.to_string().contains("checkpoint"), "{refused}");
        let _ = std::fs::remove_file(file);
    });
}
