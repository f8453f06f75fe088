//! Leaps and bounds under attack: the ranks of several answers, each held against all subsets.

use crate::common::{RngExt, Tally, holds, near_copies, pick, power, rng, seeds, twofold_fits};
use bestset::{Error, Method, Options, solve};

/// Several answers, limits of size and of nodes, on columns that leave hardly a digit.
#[test]
fn ranks_of_near_copies_equal_enumeration() {
    let (seeds, mut tally) = (seeds(400), Tally::default());
    for seed in seeds.clone() {
        let mut rng = rng(7000 + seed);
        let mut case = near_copies(&mut rng);
        let fit = twofold_fits(&case);
        case.penalty.lambda0 = if rng.random_bool(0.2) { 0.0 } else { fit[0] * power(&mut rng, -4.0, 0.0) };
        case.max_size = pick(&mut rng, &[None, None, Some(1), Some(case.p.div_ceil(2))]);
        let top = pick(&mut rng, &[2, 3, 10, 200]);
        let max_nodes = pick(&mut rng, &[None, None, Some(1), Some(3)]);
        let options = Options { method: Method::Exact, top, max_nodes, ..Options::default() };
        tally.add("problems", 1);
        let found = match case.with_problem(|problem| solve(problem, &options)) {
            Ok(found) => found,
            // What is left of a column beside others is less than their digits tell.
            Err(Error::Dependent { share, .. }) if share < 1e-10 => {
                tally.add("dependent", 1);
                continue;
            }
            Err(error) => panic!("{seed}: {error}"),
        };
        let size = |mask: usize| mask.count_ones() as usize;
        let cost = |mask: usize| fit[mask] + case.penalty.lambda0 * size(mask) as f64;
        let allowed: Vec<usize> = (0..fit.len()).filter(|&m| case.max_size.is_none_or(|k| size(m) <= k)).collect();
        let (scale, context) = (fit[0], format!("{seed}, top {top}, {max_nodes:?}"));
        let least = allowed.iter().map(|&m| cost(m)).fold(f64::INFINITY, f64::min);
        // Room for what the evaluation of P costs where columns nearly cancel.
        let proved = holds(found.certificate, found.status, least, 1e3 * scale, &context);
        tally.add("proved", u8::from(proved));
        let supports: Vec<usize> =
            found.ranked.iter().map(|r| r.coefficients.support.iter().map(|j| 1usize << j).sum()).collect();
        assert!((1..supports.len()).all(|r| !supports[..r].contains(&supports[r])), "a subset twice: {context}");
        for (r, one) in found.ranked.iter().enumerate() {
            tally.add("ranks", 1);
            let own = cost(supports[r]);
            assert!((one.objective - own).abs() <= 1e-8 * scale, "{context}: rank {r} {} is not {own}", one.objective);
            if one.proved {
                tally.add("ranks proved", 1);
                let room = 1e-6 * one.objective.abs() + 2e-9 + 1e-9 * scale;
                // With coefficients that matter: without, the subset is a smaller one.
                let matters =
                    |m: usize| (0..case.p).all(|j| m >> j & 1 == 0 || fit[m & !(1 << j)] - fit[m] > 1e-9 * scale);
                let missed = |m: &usize| cost(*m) < one.objective - room && !supports[..r].contains(m) && matters(*m);
                let missed = allowed.iter().copied().find(missed);
                assert!(missed.is_none(), "{context}: rank {r} {} but {missed:?} comes before", one.objective);
            }
        }
    }
    let least = [("proved", 700, "problems"), ("ranks proved", 700, "ranks")];
    // One problem may have two hundred ranks, and one in a hundred is refused: of a hundred seeds such shares are chance.
    let is_many = tally.of("problems") >= 400;
    assert!(!is_many || 100 * tally.of("dependent") <= 3 * tally.of("problems"), "{tally:?}");
    tally.conclude("ranks of near copies", &seeds, if is_many { &least } else { &least[..1] });
}
