//! The default solver against enumeration, over the whole product: its bound is below P*, its answer is not, and what it
//! calls optimal is.

mod common;

use bestset::{Options, Status, solve};
use common::{Shape, case, enumerate, rng};

#[test]
fn bounds_answers_and_claims_of_the_default_solver_are_true() {
    let mut rng = rng(71);
    let (mut optimal, mut exact, mut total) = (0, 0, 0);
    for trial in 0..1200 {
        let case = case(&mut rng, &Shape { attained: true, ..Shape::new(3..=16, 1..=8) });
        let all = enumerate(&case);
        case.with_problem(|problem| {
            // The claims must hold however it ends.
            let time_limit = Some(std::time::Duration::from_millis(500));
            let solution = solve(problem, &Options { time_limit, ..Options::default() }).unwrap();
            let c = solution.certificate;
            let scale = case.model().loss_sum(&vec![0.0; case.n], 0.0) + all.best;
            let context = format!(
                "{trial}: {c:?}, P* = {}, {:?} {:?} weights {} intercept {} standardised {}",
                all.best,
                case.loss,
                case.penalty,
                case.weights.is_some(),
                case.intercept,
                case.standard.is_some()
            );
            solution.coefficients.validate(case.p).unwrap();
            assert!(c.lower_bound <= all.best + 1e-12 * scale, "the bound is wrong: {context}");
            assert!(c.objective >= all.best - 1e-11 * scale, "better than best: {context}");
            assert!(c.objective.is_finite(), "{context}");
            if let Some(r) = c.relaxation {
                assert!(c.lower_bound <= r + 1e-12 * scale, "{context}");
            }
            if solution.status == Status::Optimal {
                assert!(c.objective <= all.best + 1e-6 * all.best + 2e-9, "not optimal: {context}");
                optimal += 1;
            }
            exact += usize::from(c.objective <= all.best + 1e-7 * scale);
            total += 1;
        });
    }
    assert!(optimal > total / 4 && exact > total / 2, "{optimal} {exact} {total}");
}
