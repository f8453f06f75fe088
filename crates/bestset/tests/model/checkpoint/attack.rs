//! Searches ended again and again by limits: what they end with is what an uninterrupted one has, to the bit.

use super::{Place, exact_bits, exact_options};
use crate::common::{Case, ChaCha8Rng, RngExt, Tally, UNIFORM, normal, pick, power, rng, seeds};
use bestset::{Loss, Options, Penalty, checkpoint, solve};

/// Columns around a common one; a price or a limit of size, a ridge or none.
fn draw(rng: &mut ChaCha8Rng) -> Case {
    let (n, p) = (rng.random_range(8..40), rng.random_range(8..22));
    let common: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
    let near = pick(rng, &[1.0, 0.3]);
    let x: Vec<f64> = (0..n * p).map(|k| near * normal(rng) + common[k % n]).collect();
    let loss = if rng.random_bool(0.4) { Loss::Squared } else { pick(rng, &UNIFORM) };
    let mut y: Vec<f64> = (0..n).map(|i| (0..5).map(|j| x[j * n + i]).sum::<f64>() + normal(rng)).collect();
    if loss.is_classification() {
        y.iter_mut().for_each(|y| *y = if *y > 0.0 { 1.0 } else { -1.0 });
        (y[0], y[1]) = (1.0, -1.0);
    }
    let max_size = pick(rng, &[None, None, Some(3), Some(5)]);
    let is_plain = loss == Loss::Squared && n > p + 2 && rng.random_bool(0.3);
    let ridge = if is_plain { 0.0 } else { power(rng, -2.0, 0.0) };
    let l0 = if max_size.is_some() { 0.0 } else { power(rng, -1.5, 0.3) };
    let mut case = Case::dense(n, p, x, y, Penalty::new(l0, 0.0, ridge));
    (case.loss, case.max_size, case.intercept) = (loss, max_size, rng.random_bool(0.5));
    case
}

#[test]
fn resumed_equals_uninterrupted() {
    let (seeds, mut tally) = (seeds(40), Tally::default());
    seeds.clone().for_each(|seed| is_resumed(seed, &mut tally));
    tally.conclude("resumed searches", &seeds, &[("parts", 2500, "problems"), ("resumed", 700, "parts")]);
}

/// The limit on nodes strikes in the tree for what coherence leaves open: a search that goes on looks at it again, as a whole.
#[test]
fn what_a_limit_cut_short_is_looked_at_again() {
    is_resumed(200_177, &mut Tally::default());
}

/// A search in parts of ever more nodes, held against the same in one.
fn is_resumed(seed: u64, tally: &mut Tally) {
    let mut rng = rng(6000 + seed);
    let case = draw(&mut rng);
    let options = Options {
        top: pick(&mut rng, &[1, 1, 4]),
        threads: Some(pick(&mut rng, &[1, 2])),
        gap: pick(&mut rng, &[1e-6, 1e-4]),
        max_nodes: Some(1500),
        ..exact_options()
    };
    let place = Place::new(&format!("attack_{seed}"));
    let file = place.file("exact.json");
    case.with_problem(|problem| {
        let whole = solve(problem, &options).unwrap();
        let mut nodes = 1;
        while nodes < whole.iterations && nodes < 1500 {
            let part = Options { max_nodes: Some(nodes), threads: Some(1), ..options.clone() };
            let found = checkpoint::exact(problem, &part, &file).unwrap();
            assert!(found.certificate.lower_bound <= whole.objective() * (1.0 + 1e-12), "{seed}");
            tally.add("parts", 1);
            tally.add("resumed", u8::from(file.exists()));
            nodes += 1 + rng.random_range(0..=nodes);
        }
        let found = checkpoint::exact(problem, &options, &file).unwrap();
        assert_eq!(exact_bits(&found), exact_bits(&whole), "{seed}: {case:?}");
        tally.add("problems", 1);
    });
}
