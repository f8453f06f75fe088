//! Branch and bound over groups: bounds, answers, sizes and ranks against all choices of groups.

use crate::common::{
    Case, ChaCha8Rng, LOSSES, RngExt, Shape, Tally, awkward_columns, brackets, case, dependent, holds_between, hostile,
    least_of, members, near_copies, nearly_dependent, normal, pick, power, respond, rng, share, sized, twofold_fits,
};
use bestset::design::Dense;
use bestset::groups::{GroupSolution, Groups, solve_groups};
use bestset::{
    Bounds, Error, Factors, Loss, Method, Options, Penalty, Problem, Status, Subsets, subsets, subsets_of_groups,
};

pub fn exact() -> Options {
    Options::with_method(Method::Exact)
}

/// Groups of one to four features, anywhere among them, sometimes at prices of their own.
pub fn groups_of(rng: &mut ChaCha8Rng, case: &mut Case) -> Groups {
    let (mut labels, mut order) = (vec![0; case.p], (0..case.p).collect::<Vec<_>>());
    let mut label = 0;
    while !order.is_empty() {
        for _ in 0..rng.random_range(1..=4usize).min(order.len()) {
            labels[order.swap_remove(rng.random_range(0..order.len()))] = 7 * label + 3;
        }
        label += 1;
    }
    let groups = Groups::new(&labels);
    // Of a group all or no features are free.
    if let Factors::Each(factors) = &mut case.penalty.price {
        for group in &groups.members {
            let is_free = group.iter().any(|&j| factors[j] == 0.0);
            group.iter().filter(|_| is_free).for_each(|&j| factors[j] = 0.0);
        }
    }
    if rng.random_bool(0.4) {
        let prices = groups.members.iter().map(|_| pick(rng, &[0.0, 0.5, 1.0, 4.0])).collect();
        return groups.with_prices(prices).unwrap();
    }
    groups
}

/// No more columns than can be enumerated in twice the precision.
fn few_columns(mut case: Case) -> Case {
    let (n, p) = (case.n, case.p.min(9));
    case.replace(n, case.x[..n * p].to_vec());
    case
}

/// Every kind of problem, in turn.
pub fn drawn(rng: &mut ChaCha8Rng, seed: u64) -> Case {
    match seed % 8 {
        0 => hostile(rng, &LOSSES, 10),
        1 => dependent(rng),
        2 => few_columns(nearly_dependent(rng)),
        6 => few_columns(near_copies(rng)),
        7 => awkward_columns(rng, 9, seed.is_multiple_of(3)),
        3 => {
            let (n, p) = (rng.random_range(3..=20), rng.random_range(2..=12));
            let x: Vec<f64> = (0..n * p).map(|_| normal(rng)).collect();
            let y: Vec<f64> = (0..n).map(|i| x[i] - x[(p - 1) * n + i] + 0.5 * normal(rng)).collect();
            let square: f64 = y.iter().map(|y| y * y).sum();
            let lambda2 = pick(rng, &[0.0, 0.0, 1e-9, 1e-3, 1.0, 100.0]);
            let mut case = Case::dense(n, p, x, y, Penalty::new(square * power(rng, -3.0, -0.5), 0.0, lambda2));
            case.intercept = rng.random_bool(0.5);
            if rng.random_bool(0.3) {
                case.penalty = case.penalty.clone().never(&[rng.random_range(0..p)], p).unwrap();
            }
            case
        }
        other => {
            let shape = Shape { attained: true, wild: other == 4, ..Shape::new(3..=14, 1..=10) };
            case(rng, &shape)
        }
    }
}

/// λ0_g of MATH (9.3) in units of λ0.
pub fn factor(case: &Case, groups: &Groups, g: usize) -> f64 {
    let members = &groups.members[g];
    groups.prices[g] * members.iter().map(|&j| case.penalty.price.at(j)).sum::<f64>() / members.len() as f64
}

/// What the choices of groups cost, and how many features they have.
pub struct Truth {
    pub fits: Vec<(f64, f64)>,
    pub prices: Vec<f64>,
    pub sizes: Vec<usize>,
}

impl Truth {
    pub fn new(case: &Case, groups: &Groups) -> Self {
        let masks = 0..1usize << groups.len();
        let price = |mask: usize| members(mask).iter().map(|&g| factor(case, groups, g)).sum::<f64>();
        let size = |mask: usize| members(mask).iter().map(|&g| groups.members[g].len()).sum();
        Self { fits: fits(case, groups), prices: masks.clone().map(price).collect(), sizes: masks.map(size).collect() }
    }

    /// What the least P is between, with at most k features.
    pub fn least(&self, lambda0: f64, k: usize) -> (f64, f64) {
        let price = |mask: usize| if self.sizes[mask] > k { f64::INFINITY } else { lambda0 * self.prices[mask] };
        least_of(&self.fits, price)
    }
}

/// The least P of every choice of groups without prices: in twice the precision where that can be had.
fn fits(case: &Case, groups: &Groups) -> Vec<(f64, f64)> {
    let Penalty { lambda1, bounds, shrinkage, .. } = &case.penalty;
    let is_plain = *lambda1 == 0.0 && (bounds, shrinkage) == (&Bounds::Free, &Factors::One) && case.offset.is_none();
    if case.loss != Loss::Squared || !is_plain || case.p > 9 {
        return brackets(case, &groups.members);
    }
    let all = twofold_fits(case);
    let features = |mask: usize| members(mask).into_iter().flat_map(|g| groups.members[g].clone());
    let fit = |mask: usize| all[features(mask).map(|j| 1 << j).sum::<usize>()];
    (0..1 << groups.len()).map(|mask| (fit(mask), fit(mask))).collect()
}

/// One problem, at its price and with a largest size, against the truth; whether there was an answer.
pub fn attack(seed: u64, tally: &mut Tally) {
    let mut rng = rng(12_000 + seed);
    let mut case = drawn(&mut rng, seed);
    let groups = groups_of(&mut rng, &mut case);
    let (truth, scale) = (Truth::new(&case, &groups), case.null_loss());
    tally.add("problems", 1);
    for k in [None, Some(rng.random_range(1..=case.p))] {
        let found = case.with_problem(|p| solve_groups(&sized(p.clone(), k), &groups, &exact()));
        let found = match found {
            Ok(found) => found,
            Err(
                Error::Unsupported { .. }
                | Error::Unpenalised { .. }
                | Error::Dependent { .. }
                | Error::Dependences { .. }
                | Error::TooWide { .. },
            ) => {
                tally.add("refused", 1);
                continue;
            }
            Err(error) => panic!("{seed} {k:?}: {error}"),
        };
        let least = truth.least(case.penalty.lambda0, k.unwrap_or(case.p));
        let proved = holds_between(found.certificate, found.status, least, scale, &(seed, k, found.nodes));
        tally.add("answers", 1);
        tally.add("proved", u8::from(proved));
        tally.add("nodes", found.nodes);
        whole(&found, &groups, k, seed);
    }
}

/// The answer is made of the groups it names, and within its size.
fn whole(found: &GroupSolution, groups: &Groups, k: Option<usize>, seed: u64) {
    let place = |label: &usize| groups.labels.binary_search(label).unwrap();
    let inside: Vec<usize> = found.selected.iter().flat_map(|l| groups.members[place(l)].clone()).collect();
    assert!(found.coefficients.support.iter().all(|j| inside.contains(j)), "{seed}");
    assert!(k.is_none_or(|k| inside.len() <= k), "{seed}: {inside:?} {k:?}");
}

#[test]
fn branch_and_bound_equals_enumeration() {
    let mut tally = Tally::default();
    let seeds = 0..share(400) as u64;
    seeds.clone().for_each(|seed| attack(seed, &mut tally));
    tally.conclude("trees of groups", &seeds, &[("answers", 1500, "problems"), ("proved", 970, "answers")]);
}

/// Plain data for ranks and sizes: n samples of p features in groups.
fn plain(rng: &mut ChaCha8Rng, loss: Loss, lambda2: f64) -> (Case, Groups) {
    let (n, p) = (24, 8);
    let x: Vec<f64> = (0..n * p).map(|_| normal(rng)).collect();
    let mut y: Vec<f64> = (0..n).map(|i| x[i] + 0.5 * x[2 * n + i] - x[5 * n + i] + normal(rng)).collect();
    respond(rng, loss, &mut y);
    let mut case = Case::dense(n, p, x, y, Penalty::new(0.4, 0.0, lambda2));
    (case.loss, case.intercept) = (loss, rng.random_bool(0.5));
    (case, Groups::new(&[4, 4, 1, 9, 9, 2, 1, 9]))
}

/// The best choices in their order, each proved.
#[test]
fn ranks_are_those_of_all_choices() {
    let mut rng = rng(712);
    for trial in 0..share(60) {
        let lambda2 = pick(&mut rng, &[0.3, 3.0]);
        let (case, groups) = plain(&mut rng, LOSSES[trial % LOSSES.len()], lambda2);
        let truth = Truth::new(&case, &groups);
        let lambda0 = case.penalty.lambda0;
        let mut costs: Vec<f64> = truth.fits.iter().zip(&truth.prices).map(|(f, c)| f.1 + lambda0 * c).collect();
        costs.sort_by(f64::total_cmp);
        let options = Options { top: 5, ..exact() };
        let found = case.with_problem(|p| solve_groups(p, &groups, &options)).unwrap();
        assert_eq!((found.ranked.len(), found.status), (5, Status::Optimal), "{trial}");
        for (rank, cost) in found.ranked.iter().zip(&costs) {
            assert!(rank.proved && (rank.objective - cost).abs() <= 2e-6 * cost, "{trial}: {} {cost}", rank.objective);
        }
    }
}

/// Every size, without a ridge where least squares needs none; sizes that no choice has are those before.
#[test]
fn sizes_are_those_of_all_choices() {
    let mut rng = rng(713);
    for trial in 0..48 {
        let loss = LOSSES[trial % LOSSES.len()];
        let lambda2 = if loss == Loss::Squared { pick(&mut rng, &[0.0, 1e-6, 0.5]) } else { 0.5 };
        let (case, groups) = plain(&mut rng, loss, lambda2);
        let truth = Truth::new(&case, &groups);
        let found: Subsets = case.with_problem(|p| subsets_of_groups(p, &groups, case.p, &exact())).unwrap();
        for (k, subset) in found.sizes.iter().enumerate() {
            let least = truth.least(0.0, k + 1);
            let context = (trial, k + 1);
            assert!(holds_between(subset.certificate, subset.status, least, case.null_loss(), &context), "{context:?}");
            assert!(subset.size == k + 1 && subset.coefficients.nonzeros() <= k + 1);
        }
    }
}

/// A limit leaves a bound below the best, and an answer above it; nothing is called best that is not.
#[test]
fn limits_leave_valid_bounds() {
    let mut rng = rng(714);
    let mut cut = 0;
    for trial in 0..60 {
        let lambda2 = pick(&mut rng, &[0.01, 0.3]);
        let (case, groups) = plain(&mut rng, LOSSES[trial % LOSSES.len()], lambda2);
        let least = Truth::new(&case, &groups).least(case.penalty.lambda0, case.p);
        for nodes in [1, 2, 4] {
            let options = Options { max_nodes: Some(nodes), top: 3, ..exact() };
            let found = case.with_problem(|p| solve_groups(p, &groups, &options)).unwrap();
            holds_between(found.certificate, found.status, least, case.null_loss(), &(trial, nodes));
            assert!(found.nodes <= nodes);
            cut += usize::from(found.status == Status::NodeLimit);
        }
        let options = exact();
        options.cancel.cancel();
        let found = case.with_problem(|p| solve_groups(p, &groups, &options)).unwrap();
        holds_between(found.certificate, found.status, least, case.null_loss(), &trial);
        assert!(matches!(found.status, Status::Interrupted | Status::Optimal), "{}", found.status);
    }
    assert!(cut > 20, "{cut} were cut short");
}

/// Groups of one feature are features, at whatever prices.
#[test]
fn groups_of_one_are_proved_as_features() {
    let mut rng = rng(715);
    let (mut case, _) = plain(&mut rng, Loss::Squared, 0.0);
    let labels: Vec<usize> = (0..case.p).rev().collect();
    let prices: Vec<f64> = (0..case.p).map(|j| 1.0 + 0.1 * j as f64).collect();
    let single = Groups::new(&labels);
    let (a, b) = case.with_problem(|p| {
        (subsets_of_groups(p, &single, 5, &exact()).unwrap(), subsets(p, 5, &Options::default()).unwrap())
    });
    assert_eq!(a.sizes, b.sizes);
    case.penalty.lambda2 = 0.2;
    let priced = single.with_prices(prices.clone()).unwrap();
    let grouped = case.with_problem(|p| solve_groups(p, &priced, &exact()).unwrap());
    // Labels descend: the first feature has the last price.
    case.penalty = case.penalty.clone().with_price(prices.into_iter().rev().collect());
    let plain = case.with_problem(|p| bestset::solve(p, &exact()).unwrap());
    assert_eq!((grouped.coefficients, grouped.certificate), (plain.coefficients, plain.certificate));
}

/// What cannot be proved or is half free says so.
#[test]
fn refusals_name_their_reason() {
    let x = Dense::new(3, 3, vec![1.0, 0.0, 2.0, 0.5, 1.0, 1.0, 0.0, 3.0, 1.0]).unwrap();
    let labels = vec![1.0, -1.0, 1.0];
    let problem = |loss, penalty| Problem::new(&x, labels.clone(), penalty).unwrap().with_loss(loss).unwrap();
    let groups = Groups::new(&[0, 0, 1]);
    let fails = |loss, penalty| solve_groups(&problem(loss, penalty), &groups, &exact()).unwrap_err();
    let bare = Penalty::new(0.1, 0.0, 0.0);
    assert!(matches!(fails(Loss::Logistic, bare.clone()), Error::Unpenalised { what: "a model of groups", .. }));
    assert!(matches!(fails(Loss::Squared, Penalty::new(0.1, 0.2, 0.0)), Error::Unpenalised { .. }));
    let half = bare.clone().with_price(vec![0.0, 1.0, 1.0]);
    assert_eq!(fails(Loss::Squared, half), Error::PartlyFree { free: 0, other: 1 });
    // Bounds on every coefficient are as good as a ridge.
    let boxed = bare.with_bounds(Bounds::All(-1.0, 2.0));
    assert_eq!(solve_groups(&problem(Loss::Logistic, boxed), &groups, &exact()).unwrap().status, Status::Optimal);
}
