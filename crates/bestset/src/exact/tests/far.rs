//! What a pass leaves of a node's far features, against correlations in double precision.

use super::listing::Listing;
use crate::common::{ChaCha8Rng, RngExt, pick, power, rng};
use crate::control::Monitor;
use crate::design::{Dense, Design, Reaching};
use crate::exact::node::costs::PARTS;
use crate::exact::node::products::Products;
use crate::exact::node::{FarCosts, NodeRelaxation};
use crate::exact::setting::Added;
use crate::exact::tests::{planted, tuning};
use crate::exact::tree::far::FarView;
use crate::exact::tuning::Tuning;
use crate::penalty::Coordinate;
use crate::problem::{Unlisted, screening};
use crate::{Method, Options, Penalty, Problem};
use std::sync::Arc;

/// λ0, λ1, λ2.
const LAMBDA: (f64, f64, f64) = (0.1, 0.01, 0.4);

/// Columns whose correlations with a dual point are within a few roundings of single precision from where c_j is so many parts of a gap; all
/// parts of it are where the feature is left out.
fn columns_at_steps(alpha: &[f64], gap: f64, p: usize, draw: &mut impl RngExt) -> Vec<f64> {
    let mut x = Vec::with_capacity(alpha.len() * p);
    for _ in 0..p {
        let part = if draw.random_bool(0.5) { PARTS } else { draw.random_range(1..PARTS) };
        let cost = gap * f64::from(part) / f64::from(PARTS);
        let step = LAMBDA.1 + 2.0 * (LAMBDA.2 * (LAMBDA.0 - cost)).sqrt();
        let sign = if draw.random_bool(0.5) { 1.0 } else { -1.0 };
        let close = 1.0 + sign * 10f64.powf(draw.random_range(-9.0..-5.0));
        let column: Vec<f64> = alpha.iter().map(|_| draw.random_range(-1.0..1.0)).collect();
        let dot: f64 = column.iter().zip(alpha).map(|(x, a)| x * a).sum();
        x.extend(column.iter().map(|x| x * sign * close * step / dot));
    }
    x
}

/// Single precision decides nothing: the features left open are those that double precision does not exclude, no more and no fewer, and none
/// costs more than it does there.
#[test]
fn rough_correlations_leave_what_exact_ones_leave() {
    let (mut rng, mut split, mut open) = (rng(311), 0, 0);
    for trial in 0..120 {
        let (n, p, share) = (rng.random_range(2..=60), 40, pick(&mut rng, &[0.02, 0.3, 0.9]));
        let (scale, gap) = (power(&mut rng, -3.0, 3.0), share * LAMBDA.0);
        let alpha: Vec<f64> = (0..n).map(|_| scale * rng.random_range(-1.0..1.0)).collect();
        let inner = Dense::new(n, p, columns_at_steps(&alpha, gap, p, &mut rng)).unwrap();
        let design = Listing { inner, answers: true };
        // P of about the size of the gap: the room for its rounding hides nothing of single precision.
        let y = vec![0.5 / (n as f64).sqrt(); n];
        let problem = Problem::new(&design, y, Penalty::new(LAMBDA.0, LAMBDA.1, LAMBDA.2)).unwrap();
        let (options, mut observer) = (Options::with_method(Method::Exact), ());
        let mut monitor = Monitor::new(&options, &mut observer);
        let mut tree = planted(&problem, &options, Tuning { most_near: 1, ..tuning() }, &mut monitor);
        let node = tree.frontier.pop().unwrap();
        let one = tree.relax_near(node, &Products::default(), &monitor);
        let (mut node, best) = (one.node, tree.pool.limit());
        let (relaxed, dual) = (NodeRelaxation { alpha, ..one.relaxed }, best - gap);
        let (all, mut rough, mut exact): (Vec<usize>, _, _) = ((0..p).collect(), vec![0.0; p], vec![0.0; p]);
        design.inner.correlate_roughly(&all, &[&relaxed.alpha], &mut rough).unwrap();
        problem.design().correlate(&all, &relaxed.alpha, &mut exact).unwrap();
        let found = all.iter().map(|&j| Reaching { feature: j as u32, value: rough[j] }).collect();
        let told = Unlisted { below: f64::NEG_INFINITY, excluded_from: f64::NEG_INFINITY };
        tree.leave_out(&mut node, &relaxed, FarView::new(found, told), dual).unwrap();
        let coordinate = |j: usize| problem.coordinate(j);
        let excludes = |j: usize, t: f64| screening::in_no_optimal_subset(coordinate(j), t, dual, best);
        let outer = tree.bounds.outer_correlations(&relaxed.alpha, &all, &exact, coordinate);
        let left: Vec<usize> = all.iter().copied().filter(|&j| !excludes(j, outer[j])).collect();
        assert_eq!(*node.far, left, "{trial}");
        let costs = node.costs.unwrap();
        for (j, part) in costs.of(&left) {
            let most = FarCosts::part(coordinate(j).phi(exact[j]), (dual, best));
            assert!(part <= most, "{trial}: {j} costs {part} parts of {most}");
        }
        let wide: Vec<f64> = rough.iter().map(|r| f64::from(*r)).collect();
        let ends = tree.bounds.rough_ends(&relaxed.alpha, &all, &wide, coordinate);
        split += all.iter().filter(|&&j| excludes(j, ends[j].1) != excludes(j, ends[j].0)).count();
        open += left.len();
    }
    assert!(split > 500 && open > 1000, "single precision left {split} undecided, {open} are open");
}

/// x_jᵀα of all columns on either side of the thresholds that λ0 and ψλ0 have, some next to them.
fn columns_at_thresholds(alpha: &[f64], psi: f64, p: usize, draw: &mut ChaCha8Rng) -> Vec<f64> {
    let mut x = Vec::with_capacity(alpha.len() * p);
    for _ in 0..p {
        let price = LAMBDA.0 * pick(draw, &[psi, 1.0]);
        let threshold = LAMBDA.1 + 2.0 * (LAMBDA.2 * price).sqrt();
        let from_it =
            if draw.random_bool(0.5) { 10f64.powf(draw.random_range(-9.0..-5.0)) } else { draw.random_range(0.0..0.5) };
        let wanted = threshold * (1.0 + pick(draw, &[1.0, -1.0]) * from_it) * pick(draw, &[1.0, -1.0]);
        let column: Vec<f64> = alpha.iter().map(|_| draw.random_range(-1.0..1.0)).collect();
        let dot: f64 = column.iter().zip(alpha).map(|(x, a)| x * a).sum();
        x.extend(column.iter().map(|x| x * wanted / dot));
    }
    x
}

/// Among subsets that add some, a node's far features have ψ times their price (MATH 13.11): a pass tells of all that this makes pay, what they take from the
/// bound is Σ Ψ of it, and those are left out that it excludes, whatever the whole price says.
#[test]
fn far_features_have_the_price_of_their_node() {
    let (mut rng, mut between, mut left_open) = (rng(313), 0, 0);
    for trial in 0..150 {
        let (n, p, psi) = (rng.random_range(2..=60), 40, pick(&mut rng, &[0.25, 0.6, 0.95]));
        let alpha: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        let design = Dense::new(n, p, columns_at_thresholds(&alpha, psi, p, &mut rng)).unwrap();
        let problem = Problem::new(&design, vec![0.5; n], Penalty::new(LAMBDA.0, LAMBDA.1, LAMBDA.2)).unwrap();
        let (options, mut observer) = (Options::with_method(Method::Exact), ());
        let mut monitor = Monitor::new(&options, &mut observer);
        let mut tree = planted(&problem, &options, Tuning { most_near: 1, ..tuning() }, &mut monitor);
        let node = tree.frontier.pop().unwrap();
        let one = tree.relax_near(node, &Products::default(), &monitor);
        tree.setting.added = Some(Added { paid: 0.2, least: 0.1 });
        let (mut node, best) = (one.node, tree.pool.limit());
        let gap = LAMBDA.0 * psi * pick(&mut rng, &[0.02, 0.5, 0.99]);
        // What a pass leaves out it does for the gap of the node.
        let relaxed = NodeRelaxation { alpha, multiplier: psi, dual: best - gap, ..one.relaxed };
        let (all, mut rough, mut exact): (Vec<usize>, _, _) = ((0..p).collect(), vec![0.0; p], vec![0.0; p]);
        design.correlate_roughly(&all, &[&relaxed.alpha], &mut rough).unwrap();
        problem.design().correlate(&all, &relaxed.alpha, &mut exact).unwrap();
        let told = tree.unlisted(&relaxed);
        let told_of = all.iter().filter(|&&j| f64::from(rough[j]).abs() >= told.below);
        let found: Vec<Reaching> = told_of.map(|&j| Reaching { feature: j as u32, value: rough[j] }).collect();
        let coordinate = |j: usize| Coordinate { l0: psi * LAMBDA.0, ..problem.coordinate(j) };
        let terms = tree.far_terms(&relaxed, &FarView::new(found.clone(), told), &mut monitor).unwrap();
        let sum: f64 = all.iter().map(|&j| coordinate(j).psi(exact[j])).sum();
        assert!(terms.sum <= sum && terms.sum >= sum - 1e-9 * (1.0 + sum.abs()), "{trial}: {} for {sum}", terms.sum);
        let beyond = |j: &usize| exact[*j].abs() > coordinate(*j).threshold(exact[*j]) * (1.0 + 1e-12);
        assert!(all.iter().filter(|j| beyond(j)).all(|j| terms.violating.iter().any(|v| v.1 == *j)), "{trial}");
        between += all.iter().filter(|j| beyond(j) && problem.coordinate(**j).psi(exact[**j]) == 0.0).count();
        node.far = Arc::new(all.clone());
        tree.leave_out(&mut node, &relaxed, FarView::new(found, told), relaxed.dual).unwrap();
        let outer = tree.bounds.outer_correlations(&relaxed.alpha, &all, &exact, coordinate);
        let excludes = |j: &usize| screening::in_no_optimal_subset(coordinate(*j), outer[*j], relaxed.dual, best);
        let left: Vec<usize> = all.iter().copied().filter(|j| !excludes(j)).collect();
        assert!(left.iter().all(|j| node.far.binary_search(j).is_ok()), "{trial}: {left:?}, {:?}", node.far);
        left_open += left.len();
    }
    assert!(between > 500 && left_open > 1000, "{between} between the thresholds, {left_open} open");
}
