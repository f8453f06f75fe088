//! Algorithms 2 and 3 of the paper: Algorithm 1 on an active set that grows by inclusion (MATH 6.4) and shrinks by
//! screening (MATH 5.3).

use crate::control::{Monitor, Options, Published, Stop};
use crate::error::Result;
use crate::problem::screening;
use crate::problem::screening::zero_in_relaxation;
use crate::problem::{Lengths, Problem};
use crate::solution::{Coefficients, Screened, StopRule};
use crate::solver::Outcome;
use crate::solver::published::ascent::{Ascent, start_dual};
use crate::solver::published::gaps::{Gaps, has_fallen};
use crate::solver::published::halt::Halt;
use crate::solver::published::ledger;
use crate::solver::published::ledger::{Ledger, Schedule};
use crate::solver::published::primal::Primal;

/// The dynamic incremental algorithm: screening (MATH 5.3) and inclusion (MATH 6.4).
///
/// The paper ends only when the gap is below ξ. The radius comes from P, so the gap stalls at the optimality gap:
/// inclusion then goes on until every feature is in, and afterwards the loop would spin. Where it ends
/// instead is in `Rounds`.
pub fn solve(problem: &Problem<'_>, options: &Options, monitor: &mut Monitor<'_>) -> Result<Outcome> {
    let start = ledger::start(problem, options)?;
    let alpha = start_dual(problem, options, &start)?;
    let mut ledger = Ledger::new(problem, &start, &alpha, monitor)?;
    let mut pool = Features::new(problem, options);
    let mut screened = Screened::default();
    let first = pool.first(&start.support, monitor)?;
    let ended = match Primal::new(problem, &first, monitor) {
        Ok(mut primal) => {
            let beta = start.to_dense(problem.ncols());
            primal.set(first.iter().map(|&j| beta[j]));
            let mut ascent = Ascent::new(problem, primal, alpha, true);
            outer_loop(&mut ascent, &mut pool, options, &mut ledger, &mut screened, monitor)
        }
        Err(stopped) => Err(stopped),
    };
    ledger.finish_ascent(ended, screened, monitor)
}

fn outer_loop(
    ascent: &mut Ascent<'_, '_>,
    pool: &mut Features<'_, '_>,
    options: &Options,
    ledger: &mut Ledger<'_, '_>,
    screened: &mut Screened,
    monitor: &mut Monitor<'_>,
) -> std::result::Result<StopRule, Halt> {
    let mu = pool.problem.mu();
    let (mut schedule, mut rounds, mut do_add) = (Schedule::default(), Rounds::new(options.published, mu), true);
    let mut s = 0;
    loop {
        // Sub-problem solver
        let ended = ascent.run(options, ledger, monitor);
        // Dual range estimation, with all features: the D of the sub-problem bounds nothing else
        let (bound, tau) = ledger.certify(&ascent.alpha, monitor)?;
        let objective = ledger.offer(&ascent.primal);
        let radius = screening::radius(objective, bound, mu);
        if schedule.due(s) {
            ledger.record_now(&ascent.primal, monitor);
        }
        ended?;
        if ledger.gap() < options.published.epsilon {
            return Ok(StopRule::Epsilon);
        }
        // Feature screening
        let removed = pool.screen(&mut ascent.primal, &tau, radius)?;
        screened.published += removed;
        if let Some(rule) = rounds.end(objective - bound, ledger.gap(), !do_add && removed == 0) {
            return Ok(rule);
        }
        // Feature inclusion
        do_add = do_add && !pool.rest_is_inactive(&tau, radius)?;
        if do_add {
            ascent.primal.include(&pool.include(&tau), monitor)?;
        }
        s += 1;
    }
}

/// Where the outer loop ends though the gap is not below ξ.
///
/// | rule | the loop ends |
/// |---|---|
/// | literal | by the rules of the inner loop for the gap P(β^s) − D(α^s) of the full problem: when it changes by less than ζ over two rounds or, once the set of features is settled, does not decrease |
/// | patient | once the set of features is settled and a round has not lowered the least gap by more than ζ and a trifle |
struct Rounds {
    published: Published,
    gaps: Gaps,
    least: f64,
}

impl Rounds {
    fn new(published: Published, mu: f64) -> Self {
        Self { published, gaps: Gaps::new(published, mu), least: f64::INFINITY }
    }

    /// Takes the gap of a round and the least gap so far; `settled` when inclusion is over and the round screened
    /// nothing.
    fn end(&mut self, gap: f64, least: f64, settled: bool) -> Option<StopRule> {
        let rule = match self.published.stop {
            Stop::Literal => self.gaps.end(gap),
            Stop::Patient => {
                let fallen = has_fallen(self.least, least, self.published.zeta);
                (!fallen).then_some(StopRule::NotDecreasing)
            }
        };
        self.least = least;
        rule.filter(|rule| settled || *rule != StopRule::NotDecreasing)
    }
}

/// Where a feature is: 𝓐, 𝓡, or screened away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Membership {
    Active,
    Rest,
    Removed,
}

/// The sets 𝓐 and 𝓡 of Algorithm 2.
struct Features<'p, 'a> {
    problem: &'p Problem<'a>,
    place: Vec<Membership>,
    /// h = ⌈c log p⌉ features enter at a time (Algorithm 3).
    batch: usize,
}

impl<'p, 'a> Features<'p, 'a> {
    fn new(problem: &'p Problem<'a>, options: &Options) -> Self {
        let p = problem.ncols();
        let batch = (options.published.inclusion * (p as f64).ln()).ceil().max(1.0) as usize;
        Self { problem, place: vec![Membership::Rest; p], batch }
    }

    /// 𝓐₀: the h features with the largest |Xᵀℓ′(0)|, after those of a warm start.
    fn first(&mut self, start: &[usize], monitor: &mut Monitor<'_>) -> Result<Vec<usize>> {
        start.iter().for_each(|&j| self.place[j] = Membership::Active);
        let problem = self.problem;
        let tau = problem.correlations_at(&Coefficients::default())?;
        monitor.passes += 1.0;
        Ok([start, &self.include(&tau)].concat())
    }

    /// Algorithm 3 (MATH 6.4): moves the h features of 𝓡 with the largest |x_jᵀα| into 𝓐.
    fn include(&mut self, tau: &[f64]) -> Vec<usize> {
        let mut rest: Vec<usize> = (0..tau.len()).filter(|&j| self.place[j] == Membership::Rest).collect();
        let larger = |a: &usize, b: &usize| tau[*b].abs().total_cmp(&tau[*a].abs()).then(a.cmp(b));
        if rest.len() > self.batch {
            rest.select_nth_unstable_by(self.batch, larger);
            rest.truncate(self.batch);
        }
        rest.sort_unstable_by(larger);
        rest.iter().for_each(|&j| self.place[j] = Membership::Active);
        rest
    }

    fn is_inactive(&self, lengths: &Lengths<'_>, j: usize, tau: f64, radius: f64) -> bool {
        zero_in_relaxation(self.problem.coordinate(j), tau, lengths.of(j), radius)
    }

    /// |x_jᵀα| + ‖x̂_j‖ r < τ₀ (MATH 5.2, 5.3; paper eq. screen_rule): drops these features of 𝓐 for good; returns how many.
    ///
    /// They are zero in the minimiser of the relaxation, which does not prove that they are in no best subset: the
    /// best P is kept outside.
    fn screen(&mut self, primal: &mut Primal<'_, '_>, tau: &[f64], radius: f64) -> Result<usize> {
        let lengths = self.problem.lengths()?;
        let keep: Vec<bool> =
            primal.features().iter().map(|&j| !self.is_inactive(&lengths, j, tau[j], radius)).collect();
        for (&j, _) in primal.features().iter().zip(&keep).filter(|p| !*p.1) {
            self.place[j] = Membership::Removed;
        }
        let removed = keep.iter().filter(|k| !**k).count();
        if removed > 0 {
            primal.retain(&keep);
        }
        Ok(removed)
    }

    /// The test that ends inclusion: the rule holds for every feature of 𝓡; also when there is none left.
    fn rest_is_inactive(&self, tau: &[f64], radius: f64) -> Result<bool> {
        let (lengths, mut rest) =
            (self.problem.lengths()?, (0..tau.len()).filter(|&j| self.place[j] == Membership::Rest));
        Ok(rest.all(|j| self.is_inactive(&lengths, j, tau[j], radius)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Penalty;
    use crate::design::Dense;

    /// Identity columns, so that τ = α.
    fn identity(p: usize) -> Dense<'static> {
        Dense::new(p, p, (0..p * p).map(|k| if k % (p + 1) == 0 { 1.0 } else { 0.0 }).collect::<Vec<f64>>()).unwrap()
    }

    #[test]
    fn inclusion_takes_the_largest_of_the_rest_in_batches() {
        let x = identity(10);
        let problem = Problem::new(&x, vec![1.0; 10], Penalty::new(0.1, 0.0, 1.0)).unwrap();
        let mut options = Options::default();
        options.published.inclusion = 1.0;
        let mut pool = Features::new(&problem, &options);
        assert_eq!(pool.batch, 3, "the ceiling of log 10");
        let tau = [0.1, -0.9, 0.3, 0.8, -0.3, 0.0, 0.2, 0.0, -0.05, 0.7];
        assert_eq!(pool.include(&tau), [1, 3, 9]);
        assert_eq!(pool.include(&tau), [2, 4, 6]);
        assert_eq!(pool.include(&tau), [0, 8, 5]);
        assert_eq!(pool.include(&tau), [7]);
        assert!(pool.include(&tau).is_empty());
        let x = identity(1);
        let problem = Problem::new(&x, vec![1.0], Penalty::new(0.1, 0.0, 1.0)).unwrap();
        assert_eq!(Features::new(&problem, &options).batch, 1, "log 1 is 0, but one feature is one to include");
    }

    #[test]
    fn screened_features_leave_for_good_and_inclusion_ends_with_the_last_doubt() {
        let x = identity(4);
        // τ₀ = 2√(0.04 · 1) = 0.4.
        let problem = Problem::new(&x, vec![1.0; 4], Penalty::new(0.04, 0.0, 1.0)).unwrap();
        let mut options = Options::default();
        options.published.inclusion = 1.0;
        let mut observer = ();
        let mut monitor = Monitor::new(&options, &mut observer);
        let mut pool = Features::new(&problem, &options);
        let mut primal = Primal::new(&problem, &pool.include(&[0.9, 0.8, 0.0, 0.0]), &monitor).unwrap();
        assert_eq!(primal.features(), [0, 1]);
        let tau = [0.35, -0.2, 0.25, 0.05];
        assert_eq!(pool.screen(&mut primal, &tau, 0.1).unwrap(), 1);
        assert_eq!(primal.features(), [0], "0.35 + 0.1 reaches 0.4, 0.2 + 0.1 does not");
        assert!(pool.rest_is_inactive(&tau, 0.1).unwrap() && !pool.rest_is_inactive(&tau, 0.2).unwrap());
        assert_eq!(pool.include(&tau), [2, 3], "what was screened does not come back");
        primal.include(&[2, 3], &monitor).unwrap();
        let moved = primal.pass(0..3, |coordinate, c, q| coordinate.threshold_operator(c, q), &mut monitor);
        assert!(moved > 0.0 && primal.support() == [0, 1, 2]);
    }
}
