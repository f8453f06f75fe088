//! The tree for subsets that add many features to an answer (MATH 13.5), against the fit on every subset.

use super::attack::{Attack, TreeTally, costs, draw};
use super::listing::Listing;
use crate::coherence::Look;
use crate::common::{Case, ChaCha8Rng, Convex, RngExt, Tally, normal, pick, power, rng, seeds};
use crate::control::Monitor;
use crate::design::{Dense, Design, Held};
use crate::exact::seed::Seed;
use crate::exact::setting::Setting;
use crate::exact::tests::tuning;
use crate::exact::tree::Tree;
use crate::exact::tree::region::{Cheap, Outer, adding, part_seed};
use crate::exact::tuning::Tuning;
use crate::{Coefficients, Loss, Method, Options, Penalty, Problem};

/// No subset with m₀ features outside Â, or more, is below the bound, whatever Â, the prices and the ceiling; and where the tree ended
/// below its ceiling, the bound is the least P_ψ there is.
#[test]
fn no_subset_that_adds_many_is_below_the_bound() {
    let (mut tried, mut split, mut cut) = (0, 0, 0);
    for seed in 0..1000 {
        let mut rng = rng(91_000 + seed);
        let kind = pick(&mut rng, &[0, 1, 2, 5]);
        let case = draw(&mut rng, kind, &[Loss::Squared]);
        let (cost, design) = (costs(&case), Dense::new(case.n, case.p, case.x.clone()).unwrap());
        let problem = case.problem(&design);
        let support: Vec<usize> = (0..case.p).filter(|_| rng.random_bool(0.4)).collect();
        let penalties: Vec<Convex> = support.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
        let fit = case.model().minimise(&support, &penalties);
        let answer = Coefficients::from_pairs(support.iter().copied().zip(fit.beta).collect(), fit.intercept);
        let outside = |mask: usize| (0..case.p).filter(|j| mask >> j & 1 == 1 && !answer.support.contains(j)).count();
        let added = rng.random_range(1..=case.p);
        let share = pick(&mut rng, &[0.8, 0.4, 0.1]);
        let Some(cheap) = Cheap::new(&problem, &answer.support, added, share) else { continue };
        let (options, mut silent) = (Options { gap: 1e-6, ..Options::with_method(Method::Exact) }, ());
        let mut monitor = Monitor::new(&options, &mut silent);
        let Some((root, _)) = cheap.root(&answer, &options, &mut monitor).unwrap() else { continue };
        let least = (0..cost.len()).filter(|m| outside(*m) >= added).map(|m| cost[m]).fold(f64::INFINITY, f64::min);
        let tuning = Tuning { most_near: pick(&mut rng, &[2, 4000]), ..tuning() };
        let adding = adding(&problem, &answer.support, added).unwrap();
        let mut setting = Setting::new(&problem, None, &options, tuning);
        let reach = pick(&mut rng, &[0.7, 1.0, 1.3]);
        setting.ceiling = reach * least;
        (setting.first, setting.added) = (answer.support.clone(), Some(adding));
        let no_limit = f64::INFINITY;
        let outer = Outer { bound: -no_limit, others: no_limit, paid: 0.0, objective: no_limit, support: 0 };
        let seed_of_part = part_seed(&problem, root, (share, adding), &answer).unwrap();
        let mut tree = Tree::of_part(setting, seed_of_part, outer, &mut monitor).unwrap();
        let (bound, _) = tree.grow_as_part(&mut monitor).unwrap();
        let slack = 1e-9 * (least.abs() + cost[0].abs());
        assert!(bound <= least + slack, "{seed}: {added} added, {bound} above {least}, {case:?}");
        tried += 1;
        split += usize::from(tree.made > 1);
        cut += usize::from(bound >= reach * least * (1.0 - 1e-5) && reach < 1.0);
    }
    assert!(tried > 500 && split > 100 && cut > 100, "{tried} tried, {split} split, {cut} ended at the ceiling");
}

/// Whatever Â, m₀ and the ψ of nodes: no subset with m₀ features outside Â that is better than the answer is lost, and no bound of a node is above one of its
/// subsets with so many. The answer is nothing, said to be worth a little more than the best of them.
fn keeps_what_adds_some(seeds: std::ops::Range<u64>) {
    let mut seen = TreeTally::default();
    for seed in seeds.clone() {
        let mut rng = rng(95_000 + seed);
        let kind = pick(&mut rng, &[0, 1, 2, 5]);
        let mut case = if seed % 3 == 0 { clear(&mut rng) } else { draw(&mut rng, kind, &[Loss::Squared]) };
        if rng.random_bool(0.5) {
            // Prices that are the same for all are gone through in another way.
            let Penalty { lambda0, lambda1, lambda2, .. } = case.penalty;
            case.penalty = Penalty::new(lambda0, lambda1, lambda2.max(1e-6 * lambda0));
        }
        let answer: Vec<usize> = (0..case.p).filter(|_| rng.random_bool(0.4)).collect();
        let added = rng.random_range(0..=case.p - answer.len());
        let psi = pick(&mut rng, &[1.0, 0.9, 0.6, 0.3]);
        let attack = Attack::on(case, seed, &mut rng).adding(answer, added, psi);
        let design = Dense::new(attack.case.n, attack.case.p, attack.case.x.clone()).unwrap();
        attack.run(&attack.case.problem(&design), &mut seen);
    }
    let mut tally = Tally::default();
    let TreeTally { steps, far, claims, .. } = seen;
    let counts = [("problems", (seeds.end - seeds.start) as usize), ("steps", steps), ("far", far), ("claims", claims)];
    counts.into_iter().for_each(|(what, count)| tally.add(what, count));
    tally.conclude("subsets that add some", &seeds, &[("steps", 2000, "problems"), ("far", 500, "problems")]);
}

#[test]
fn no_better_subset_that_adds_some_is_lost() {
    keeps_what_adds_some(seeds(500));
}

/// Three of a few nearly orthogonal columns of any scale matter, and the ridge is small: the relaxation is far from P, coherence is not.
fn clear(rng: &mut ChaCha8Rng) -> Case {
    let (p, scale) = (rng.random_range(5..=9), power(rng, -6.0, 6.0));
    let n = 25 * p;
    let x: Vec<f64> = (0..n * p).map(|_| scale * normal(rng)).collect();
    let signal = |i: usize| (0..3).map(|j| x[j * n + i] / scale).sum::<f64>();
    let y: Vec<f64> = (0..n).map(|i| signal(i) + 0.5 * normal(rng)).collect();
    let lambda2 = n as f64 * scale * scale * power(rng, -4.0, -1.5);
    Case::dense(n, p, x, y, Penalty::new(n as f64 * power(rng, -1.5, -0.8), 0.0, lambda2))
}

/// Most of these trees end too soon to look at anything where curvature is moved.
fn often_unmoved(seed: u64) -> Tuning {
    if seed.is_multiple_of(3) { tuning() } else { Tuning { least_curved: 0, curvature_work: 0.0, ..tuning() } }
}

/// Trees that look at coherence after their first nodes, whenever it promises anything: no subset is below their bound, and most of those
/// that looked ended by it.
#[test]
fn no_subset_is_below_the_bound_of_a_look_after_the_first_nodes() {
    let (mut looked, mut ended) = (0, 0);
    for seed in 0..400 {
        let mut rng = rng(93_000 + seed);
        let kind = pick(&mut rng, &[0, 1, 2, 5]);
        let case = if seed % 2 == 0 { clear(&mut rng) } else { draw(&mut rng, kind, &[Loss::Squared]) };
        let (cost, design) = (costs(&case), Dense::new(case.n, case.p, case.x.clone()).unwrap());
        let problem = case.problem(&design);
        let (options, mut silent) = (Options { gap: 1e-6, ..Options::with_method(Method::Exact) }, ());
        let mut monitor = Monitor::new(&options, &mut silent);
        // Never due by the work of its nodes, and always far from P.
        let most_near = pick(&mut rng, &[2, 4000]);
        let tuning = Tuning { coherence_work_per_node: 0.0, coherence_gap: -1.0, most_near, ..often_unmoved(seed) };
        let setting = Setting::new(&problem, None, &options, tuning);
        let root = Seed::new(&setting, &mut monitor).unwrap();
        let mut tree = Tree::plant(setting, root, &mut monitor).unwrap();
        let (bound, _) = tree.grow_as_part(&mut monitor).unwrap();
        let least = cost.iter().copied().fold(f64::INFINITY, f64::min);
        // Of targets that are all the same P is what rounding leaves of them.
        let slack = 1e-9 * (least.abs() + cost[0].abs()) + 1e-24 * case.y.iter().map(|y| y * y).sum::<f64>();
        assert!(bound <= least + slack, "{seed}: {bound} above {least}, {case:?}");
        assert!(tree.pool.best() <= least * (1.0 + 1e-5) + slack, "{seed}: {} found", tree.pool.best());
        looked += usize::from(tree.floor > f64::NEG_INFINITY);
        ended += usize::from(tree.floor > least * (1.0 - 1e-5));
    }
    assert!(looked >= 25 && ended >= 20, "{looked} looked, {ended} ended by it");
}

/// Trees that look at coherence among what is left again and again: no subset is below their bound.
#[test]
fn no_subset_is_below_the_bound_of_looks_at_what_is_left() {
    let (among_fewer, ended) = looks_at_what_is_left(97_000, |x| Box::new(x));
    assert!(among_fewer >= 25 && ended >= 20, "{among_fewer} looked among fewer, {ended} ended by it");
}

/// The same where columns stay where X is, whose pairs are listed there with factors of eight bits.
#[test]
fn no_subset_is_below_the_bound_of_looks_elsewhere() {
    let (among_fewer, ended) = looks_at_what_is_left(98_000, |inner| Box::new(Listing { inner, answers: true }));
    assert!(among_fewer >= 25 && ended >= 20, "{among_fewer} looked among fewer, {ended} ended by it");
}

/// Where the place of X has no lists after all, the columns are copied.
#[test]
fn a_look_elsewhere_that_has_no_lists_is_made_here() {
    let (among_fewer, ended) = looks_at_what_is_left(97_000, |inner| Box::new(Listing { inner, answers: false }));
    assert!(among_fewer >= 25 && ended >= 20, "{among_fewer} looked among fewer, {ended} ended by it");
}

/// What is listed elsewhere proves no more than copies of the columns do, but for what weights are chosen, and about as much.
#[test]
fn a_look_elsewhere_proves_what_one_here_does() {
    let (mut compared, mut close) = (0, 0);
    for seed in 0..60 {
        let (mut rng, n, p) = (rng(99_000 + seed), 60, 12);
        let common: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
        let x: Vec<f64> = (0..n * p).map(|k| 0.6 * common[k % n] + normal(&mut rng)).collect();
        let y: Vec<f64> = (0..n).map(|i| x[i] - x[n + i] + 0.5 * normal(&mut rng)).collect();
        let (dense, penalty) = (Dense::new(n, p, x).unwrap(), Penalty::new(2.0, 0.0, 1.0));
        let listing = Listing { inner: dense.clone(), answers: true };
        let [here, there] = [&dense as &dyn Design, &listing].map(|design| {
            let problem = Problem::new(design, y.clone(), penalty.clone()).unwrap().with_intercept(seed % 2 == 0);
            let answer = Coefficients::from_pairs(vec![(0, 0.9), (1, -0.9)], 0.0);
            let (options, mut silent) = (Options::default(), ());
            let monitor = Monitor::new(&options, &mut silent);
            let look = match design.lists_pairs() {
                true => Look::elsewhere(&problem, &answer, None),
                false => Look::new(&problem, &answer),
            };
            let value = problem.objective(&answer).unwrap();
            look.unwrap().unwrap().bounds((value, f64::INFINITY), monitor.limits()).unwrap().unwrap().by_added
        });
        for (m, (here, there)) in here.iter().zip(&there).enumerate().filter(|b| b.1.0.is_finite()) {
            assert!(*there <= here + 0.02 * here.abs(), "{seed}: {m} added, {there} above {here}");
            compared += 1;
            close += usize::from(*there >= here - 0.1 * here.abs());
        }
    }
    assert!(compared > 120 && 2 * close > compared, "{compared} compared, {close} close");
}

/// How many trees looked among fewer features than all, and how many ended by a look.
fn looks_at_what_is_left(first: u64, design_of: fn(Dense<'static>) -> Box<dyn Design>) -> (usize, usize) {
    let (mut among_fewer, mut ended) = (0, 0);
    for seed in 0..400 {
        let mut rng = rng(first + seed);
        let kind = pick(&mut rng, &[0, 1, 2, 5]);
        let case = if seed % 2 == 0 { clear(&mut rng) } else { draw(&mut rng, kind, &[Loss::Squared]) };
        let (cost, design) = (costs(&case), design_of(Dense::new(case.n, case.p, case.x.clone()).unwrap()));
        let problem = case.problem(&*design);
        let size = pick(&mut rng, &[None, None, Some(case.p / 2)]);
        let (options, mut silent) = (Options { gap: 1e-6, ..Options::with_method(Method::Exact) }, ());
        let mut monitor = Monitor::new(&options, &mut silent);
        let most_near = pick(&mut rng, &[2, 4000]);
        let always = f64::INFINITY;
        let tuning = Tuning {
            coherence_work_per_node: always,
            coherence_work_per_entry: always,
            nodes_before_coherence: 0,
            least_batch: 1,
            most_near,
            ..often_unmoved(seed)
        };
        let setting = Setting::new(&problem, size, &options, tuning);
        let root = Seed::new(&setting, &mut monitor).unwrap();
        let mut tree = Tree::plant(setting, root, &mut monitor).unwrap();
        let (bound, _) = tree.grow_as_part(&mut monitor).unwrap();
        let allowed = |m: &usize| size.is_none_or(|k| m.count_ones() as usize <= k);
        let least = (0..cost.len()).filter(allowed).map(|m| cost[m]).fold(f64::INFINITY, f64::min);
        let slack = 1e-9 * (least.abs() + cost[0].abs()) + 1e-24 * case.y.iter().map(|y| y * y).sum::<f64>();
        assert!(bound <= least + slack, "{seed}: {bound} above {least}, {case:?}");
        assert!(tree.pool.best() <= least * (1.0 + 1e-5) + slack, "{seed}: {} found", tree.pool.best());
        among_fewer += usize::from(tree.looked_among.is_some_and(|count| count > 0 && count < case.p));
        ended += usize::from(tree.looked_among.is_some() && tree.floor > least * (1.0 - 1e-5));
    }
    (among_fewer, ended)
}

mod long {
    use super::*;

    #[test]
    fn no_better_subset_that_adds_some_is_lost() {
        keeps_what_adds_some(500..6000);
    }

    /// Every subset that no closed node holds and that is better than the answer has the features that are left, and all that are in every open
    /// node; P of it is that of the problem that is left and what is paid.
    #[test]
    fn subsets_that_are_left_are_in_the_remainder() {
        let (mut left, mut fewer, mut decided) = (0, 0, 0);
        for seed in 0..1000 {
            let mut rng = rng(95_000 + seed);
            let kind = pick(&mut rng, &[0, 1, 2, 5]);
            let case = if seed % 2 == 0 { clear(&mut rng) } else { draw(&mut rng, kind, &[Loss::Squared]) };
            let (cost, design) = (costs(&case), Dense::new(case.n, case.p, case.x.clone()).unwrap());
            let problem = case.problem(&design);
            let nodes = rng.random_range(1..=12);
            // Where many subsets are asked for, many are better than the last of them, and open.
            let top = pick(&mut rng, &[1, 2, 4, 20]);
            let options = Options { gap: 1e-6, top, max_nodes: Some(nodes), ..Options::with_method(Method::Exact) };
            let (mut silent, most_near) = ((), pick(&mut rng, &[2, 4000]));
            let mut monitor = Monitor::new(&options, &mut silent);
            let setting = Setting::new(&problem, None, &options, Tuning { most_near, least_batch: 1, ..tuning() });
            let seed_of_tree = Seed::new(&setting, &mut monitor).unwrap();
            let mut tree = Tree::plant(setting, seed_of_tree, &mut monitor).unwrap();
            tree.grow_as_part(&mut monitor).unwrap();
            let answer = tree.pool.entries()[0].1.clone();
            let remainder = tree.remainder(&answer);
            if remainder.features.is_empty() {
                continue;
            }
            let [features, inside] =
                [&remainder.features, &remainder.inside].map(|list| list.iter().map(|j| 1usize << j).sum::<usize>());
            let columns = Held::new(&design, &remainder.features, &|| Ok(())).unwrap();
            let (among, paid) = remainder.problem(&problem, &columns).unwrap();
            let below = tree.frontier.closed.min(tree.pool.limit());
            let found: Vec<usize> = tree
                .pool
                .entries()
                .iter()
                .map(|(_, answer)| answer.support.iter().map(|j| 1usize << j).sum())
                .collect();
            let is_left = |m: &usize| cost[*m] < below - 1e-7 * below.abs() && !found.contains(m);
            for mask in (0..cost.len()).filter(is_left) {
                assert_eq!(mask & !features, 0, "{seed}: {mask:b} has more than is left, {features:b}, {case:?}");
                assert_eq!(inside & !mask, 0, "{seed}: {mask:b} has not all of {inside:b}, {case:?}");
                let subset: Vec<usize> = (0..case.p).filter(|j| mask >> j & 1 == 1).collect();
                let penalties: Vec<Convex> = subset.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
                let fit = case.model().minimise(&subset, &penalties);
                let point = Coefficients::from_pairs(subset.iter().copied().zip(fit.beta).collect(), fit.intercept);
                let (own, whole) =
                    (among.objective(&remainder.placed(&point)).unwrap(), problem.objective(&point).unwrap());
                assert!(
                    (own + paid - whole).abs() <= 1e-11 * (whole.abs() + cost[0].abs()),
                    "{seed}: {own} {paid} {whole}"
                );
                left += 1;
            }
            fewer += usize::from(remainder.features.len() < case.p);
            decided += usize::from(inside != 0 && tree.frontier.len() > 0);
        }
        assert!(
            left > 200 && fewer > 100 && decided > 50,
            "{left} left, {fewer} of fewer features, {decided} with some in"
        );
    }
}
