//! Features that no better subset has together (MATH 13.10), where columns stay where X is, against enumeration.
//!
//! Where nothing is better than the answer, nothing can be ruled out wrongly: here all subsets up to some prices above the best are of interest,
//! whatever was found, or the answer is forgotten as in `tree`. `make attack` has them on other seeds.

use super::attack::{Attack, holds};
use super::listing::Listing;
use crate::coherence::Look;
use crate::common::{Tally, pick, rng, seeds};
use crate::control::Monitor;
use crate::design::ColumnSubset;
use crate::exact::node::costs::PARTS;
use crate::exact::node::{FarCosts, Node};
use crate::exact::tests::tuning;
use crate::exact::tree::Tree;
use crate::exact::tree::remainder::LeftOpen;
use crate::exact::tuning::Tuning;
use crate::{Options, Problem};
use serde_json::Value;

/// A hostile problem of any size whose pairs are listed where X is; none where leaps and bounds are taken.
fn on_listing(seed: u64, edit: impl FnOnce(&mut Attack), visit: impl FnOnce(&Attack, &Problem<'_>, &Options)) {
    let mut attack = Attack::new(seed).of_any_size();
    edit(&mut attack);
    let design = Listing { inner: attack.case.matrix(), answers: true };
    let problem = attack.case.problem(&design);
    if !crate::leaps::is_needed(&problem) {
        visit(&attack, &problem, &attack.options());
    }
}

/// Few columns come near, one by one, and far features may take a little or much from a bound before they do.
fn mostly_far(seed: u64) -> Tuning {
    let mut rng = rng(83_000 + seed);
    Tuning {
        most_near: pick(&mut rng, &[1, 2, 3]),
        first_near: pick(&mut rng, &[0, 1]),
        least_brought: pick(&mut rng, &[1, 2]),
        far_gap_share: pick(&mut rng, &[0.01, 0.5, 3.0]),
        nodes_per_pass: pick(&mut rng, &[1, 2, 12]),
        far_nodes: pick(&mut rng, &[1, 4]),
        joining_to_split: 1,
        least_batch: 1,
        ..tuning()
    }
}

/// By how many features they add to the answer, what no better subset that is left goes below: a look without the pairs that are ruled out.
fn bounds_of_a_look(tree: &Tree<'_, '_>, left: &LeftOpen, (limit, monitor): (f64, &Monitor<'_>)) -> Option<Vec<f64>> {
    let (whole, answer) = (tree.setting.problem, left.placed(&tree.pool.entries()[0].1));
    let columns =
        ColumnSubset::new(whole.design(), left.features.clone()).ok().filter(|_| whole.loss().is_quadratic())?;
    let (among, paid) = left.problem(whole, &columns).unwrap();
    let look = Look::elsewhere(&among, &answer, left.apart()).unwrap()?;
    let found = look.bounds((limit - paid, f64::INFINITY), monitor.limits()).unwrap()?;
    Some(found.by_added.iter().map(|bound| bound + paid).collect())
}

/// Of every better subset of an open node: its far features cost no more together than the node has room for (13.10), no two of its features
/// are ruled out beside each other by what all nodes leave, and it is not below the bound of a look.
fn check(attack: &Attack, distinct: &[usize], (tree, monitor): (&Tree<'_, '_>, &Monitor<'_>), tally: &mut Tally) {
    let answer = &tree.pool.entries()[0].1;
    let left = tree.remainder(answer);
    let Some(apart) = left.apart() else { return };
    let (costs, room) = apart.of(&(0..left.features.len()).collect::<Vec<_>>());
    let is_apart = |a: usize, b: usize| a != b && costs[a] + costs[b] > room;
    let ruled_out = (0..costs.len()).map(|a| (0..a).filter(|&b| is_apart(a, b)).count()).sum::<usize>();
    let limit = tree.pool.limit() - attack.slack();
    let bounds = (ruled_out > 0).then(|| bounds_of_a_look(tree, &left, (limit, monitor))).flatten();
    tally.add("pairs ruled out", ruled_out);
    tally.add("looks without them", u64::from(bounds.is_some()));
    for &m in distinct.iter().filter(|m| attack.cost[**m] < limit) {
        let subset: Vec<usize> = (0..attack.case.p).filter(|j| m >> j & 1 == 1).collect();
        let places: Vec<usize> = subset.iter().filter_map(|j| left.features.binary_search(j).ok()).collect();
        let added = subset.iter().filter(|j| !answer.support.contains(j)).count();
        let bound = bounds.as_ref().and_then(|bounds| bounds.get(added).copied());
        for node in tree.frontier.open().filter(|node| holds(tree, node, m)) {
            let say = |what: &str| format!("{m:b} in node {} {what}: {}", node.id, attack.label());
            let sum = node.costs.as_ref().map_or(0, |costs| costs.of(&subset).map(|f| usize::from(f.1)).sum());
            assert!(sum <= usize::from(PARTS), "{}", say("costs more than there is room for"));
            let is_left = places.len() == subset.len() && places.iter().all(|k| apart.may_have(*k));
            assert!(is_left, "{}", say("is not left"));
            let is_whole = !places.iter().any(|&a| places.iter().any(|&b| is_apart(a, b)));
            assert!(is_whole, "{}", say("is taken apart"));
            let is_below = bound.is_some_and(|bound| attack.cost[m] < bound - attack.slack());
            assert!(!is_below, "{}", say(&format!("costs {}, below the bound {bound:?}", attack.cost[m])));
            tally.add("better subsets", 1);
            tally.add("with a cost", u64::from(sum > 0));
        }
    }
}

/// Every open node by its number, with its far features and what they cost.
fn listed<'t>(tree: &'t Tree<'_, '_>) -> Vec<(usize, &'t [usize], Option<&'t FarCosts>)> {
    let one = |node: &'t Node| (node.id, node.far.as_slice(), node.costs.as_deref());
    let mut nodes: Vec<_> = tree.frontier.open().map(one).collect();
    nodes.sort_unstable_by_key(|node| node.0);
    nodes
}

/// The tree through a text and back.
fn restored<'p, 'a>(tree: &Tree<'p, 'a>, monitor: &mut Monitor<'_>, edit: impl FnOnce(&mut Value)) -> Tree<'p, 'a> {
    let mut saved = serde_json::to_value(tree.save(monitor)).unwrap();
    edit(&mut saved);
    let saved = serde_json::from_str(&saved.to_string()).unwrap();
    Tree::restore(tree.setting.clone(), saved, monitor).unwrap()
}

/// As nodes were saved before costs were: those of every other list have none.
fn forget_some(saved: &mut Value) {
    for node in saved["open"].as_array_mut().unwrap() {
        if node["costs"].as_u64().is_some_and(|list| list % 2 == 0) {
            node.as_object_mut().unwrap().remove("costs");
        }
    }
}

#[test]
fn what_better_subsets_have_together_is_not_ruled_out() {
    let (mut tally, seeds) = (Tally::default(), seeds(1000));
    for seed in seeds.clone() {
        let widen = |attack: &mut Attack| {
            let prices = pick(&mut rng(84_000 + seed), &[0.1, 0.5, 1.5, 4.0]);
            attack.ceiling = attack.least() + prices * attack.case.penalty.lambda0;
            attack.top = attack.cost.len() + 1;
        };
        on_listing(seed, widen, |attack, problem, options| {
            let mut observer = ();
            let mut monitor = Monitor::new(options, &mut observer);
            let mut tree = attack.plant(problem, options, mostly_far(seed), &mut monitor);
            let distinct: Vec<usize> = (0..attack.cost.len()).filter(|m| attack.is_distinct(*m)).collect();
            for step in 0..30 {
                let Some(batch) = tree.next_batch() else { break };
                tree.process(batch, &mut monitor).unwrap();
                check(attack, &distinct, (&tree, &monitor), &mut tally);
                if (seed + step) % 3 == 0 {
                    let same = restored(&tree, &mut monitor, |_| ());
                    assert_eq!(listed(&same), listed(&tree), "{}", attack.label());
                    tree = restored(&tree, &mut monitor, forget_some);
                    check(attack, &distinct, (&tree, &monitor), &mut tally);
                }
            }
        });
        tally.add("problems", 1);
    }
    let least = [
        ("with a cost", 1000, "problems"),
        ("pairs ruled out", 100, "problems"),
        ("looks without them", 10, "problems"),
    ];
    tally.conclude("costs of nodes", &seeds, &least);
}

/// Trees that look at coherence among what is left again and again; those that go on from a text come to the same.
#[test]
fn no_subset_is_below_the_bound_of_a_tree_that_rules_pairs_out() {
    let (mut tally, seeds) = (Tally::default(), seeds(1000));
    for seed in seeds.clone() {
        let alone = |attack: &mut Attack| attack.top = 1;
        on_listing(seed, alone, |attack, problem, options| {
            let always = f64::INFINITY;
            let tuning = Tuning {
                coherence_work_per_node: always,
                coherence_work_per_entry: always,
                nodes_before_coherence: 0,
                ..mostly_far(seed)
            };
            let mut observers = [(), ()];
            let [mut monitor, mut other] = observers.each_mut().map(|observer| Monitor::new(options, observer));
            let mut tree = attack.plant(problem, options, tuning, &mut monitor);
            for _ in 0..seed % 4 {
                let Some(batch) = tree.next_batch() else { break };
                tree.process(batch, &mut monitor).unwrap();
            }
            let mut again = restored(&tree, &mut other, |_| ());
            let (bound, ended) = tree.grow_as_part(&mut monitor).unwrap();
            assert_eq!(again.grow_as_part(&mut other).unwrap(), (bound, ended), "{}", attack.label());
            let (least, slack) = (attack.least(), attack.slack());
            assert!(bound <= least + slack, "{bound} above {least}: {}", attack.label());
            tally.add("looked", u64::from(tree.looked_among.is_some()));
            tally.add("ended by it", u64::from(tree.floor > least * (1.0 - 1e-5)));
        });
        tally.add("problems", 1);
    }
    tally.conclude("trees", &seeds, &[("looked", 100, "problems"), ("ended by it", 10, "problems")]);
}
