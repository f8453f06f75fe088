//! Proof where it is cheap: branch and bound for a bounded time after every fit.

use crate::certificate::Certificate;
use crate::control::{Method, Observer, Options};
use crate::error::{Error, Result};
use crate::groups::{Groups, solve_groups_observed};
use crate::problem::Problem;
use crate::search::fit::margin;
use crate::select::proof::set_aside;
use crate::select::{Prove, Workers, workers};
use crate::solution::{Local, Ranked, Solution, Status, TraceRow};
use crate::solve::solve_rooted;
use crate::solver::incremental::Root;
use std::path::Path;
use std::time::{Duration, Instant};

/// Nodes that the usual proof may take. Small problems end long before the clock: what they say does not depend on it.
const USUAL_NODES: usize = 150;

/// The usual proof takes as long again as the fit, and this long at least.
const USUAL_TIME: Duration = Duration::from_secs(2);

/// A proof to be made of an answer that took `fit` so far.
pub(super) struct Proof<'p, 'a> {
    pub(super) problem: &'p Problem<'a>,
    /// Features that are in or out together.
    pub(super) groups: Option<&'p Groups>,
    pub(super) prove: Prove,
    /// Whether its relaxation takes long: the usual proof, which works on it in every node, is then not cheap and not made.
    pub(super) is_long: bool,
    pub(super) fit: Duration,
    /// What earlier proofs of the same selection took.
    pub(super) spent: Duration,
    /// When this one began.
    pub(super) begun: Instant,
    /// Limits of what is left of the whole; `top` asks for the runners-up as well.
    pub(super) options: &'p Options,
    /// File that keeps the search.
    pub(super) file: Option<&'p Path>,
    /// Those who grow slices of its tree.
    pub(super) workers: Option<&'p dyn Workers>,
}

impl Proof<'_, '_> {
    /// Raises the bound and takes over a better answer if one turns up; the error that kept branch and bound from starting, if there
    /// was one.
    pub(super) fn raise(
        &self,
        first: &mut Solution,
        root: Option<Root>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Error>> {
        // Runners-up hold up the proof of the best: where time is short they come after it.
        let top = if self.prove == Prove::Fully { self.options.top } else { 1 };
        if first.status == Status::ReadFailed {
            return Ok(None);
        }
        if first.status != Status::Optimal || top > 1 {
            match self.search(first, top, root, observer) {
                Ok(Some(proved)) => take(self.problem, first, proved, self.options, top),
                Ok(None) => {
                    // A proof that was demanded and could not begin has been cut short, however well the fit ended.
                    if self.prove == Prove::Fully {
                        first.status = self.options.limit();
                    }
                    return Ok(None);
                }
                Err(Error::Stopped) => {
                    first.status = self.options.limit();
                    return Ok(None);
                }
                // Where branch and bound cannot start, the answer has the bound it has.
                Err(
                    error @ (Error::Unsupported { .. }
                    | Error::Unpenalised { .. }
                    | Error::TooWide { .. }
                    | Error::Dependent { .. }
                    | Error::Dependences { .. }),
                ) => return Ok(Some(error)),
                // An answer that was found before columns could not be read stays one.
                Err(error) if error.is_of_reading() => {
                    (first.status, first.cause) = (Status::ReadFailed, Some(error.to_string()));
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        let wanted = self.options.top > top && first.status == Status::Optimal && self.prove != Prove::No;
        if wanted && let Ok(Some(found)) = self.search(first, self.options.top, None, observer) {
            first.ranked = found.ranked;
            rank_answer(first);
        }
        Ok(None)
    }

    /// Branch and bound from the answer, within what is set aside; nothing where that is nothing.
    fn search(
        &self,
        first: &Solution,
        top: usize,
        root: Option<Root>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Solution>> {
        let left = self.options.time_limit;
        let within = |time: Duration| {
            let time = time.saturating_sub(self.spent + self.begun.elapsed());
            Some(left.map_or(time, |left| left.min(time)))
        };
        let given = self.options.max_nodes;
        let (time_limit, max_nodes) = match self.prove {
            Prove::No => return Ok(None),
            Prove::Usual if self.is_long => return Ok(None),
            Prove::Usual => {
                let nodes = given.map_or(USUAL_NODES, |most| most.min(USUAL_NODES));
                (within(self.fit.max(USUAL_TIME)), Some(nodes))
            }
            Prove::For(time) => (within(time), given),
            Prove::Fully => (left, given),
        };
        if time_limit.is_some_and(|t| t.is_zero()) || self.options.cancel.is_cancelled() {
            return Ok(None);
        }
        let warm_start = Some(first.coefficients.clone());
        let start_is_searched = first.local == Local::Swap;
        let exact = Options { method: Method::Exact, time_limit, max_nodes, top, ..self.options.clone() };
        let settings = Options { warm_start, start_is_searched, ..exact };
        let mut proved = match (self.groups, self.file) {
            (Some(groups), _) => solve_groups_observed(self.problem, groups, &settings, observer)?,
            (None, Some(file)) => {
                let run = |observer: &mut dyn Observer| {
                    crate::checkpoint::exact_observed(self.problem, &settings, file, observer)
                };
                match run(observer) {
                    Err(error) if set_aside(file, &error)? => run(observer)?,
                    found => found?,
                }
            }
            (None, None) => match self.workers.filter(|_| self.prove != Prove::Usual) {
                Some(workers) => workers::prove(self.problem, &settings, workers, observer)?,
                None => solve_rooted(self.problem, &settings, observer, &mut root.map(|root| root.with_answer(first)))?,
            },
        };
        // What was set aside for the proof is no limit that the user gave.
        let own_time = proved.status == Status::TimeLimit && time_limit != left;
        let own_nodes = proved.status == Status::NodeLimit && max_nodes != given;
        let own_memory =
            proved.status == Status::MemoryLimit && self.options.max_memory.is_none() && self.prove != Prove::Fully;
        if own_time || own_nodes || own_memory {
            proved.status = first.status;
        }
        Ok(Some(proved))
    }
}

/// The better answer of the two with the better bound, and the traces one after the other.
fn take(problem: &Problem<'_>, first: &mut Solution, mut proved: Solution, options: &Options, top: usize) {
    let shift = first.seconds;
    let mut trace = std::mem::take(&mut first.trace);
    let (mut best, mut bound) = (f64::INFINITY, f64::NEG_INFINITY);
    trace.extend(proved.trace.iter().map(|row| TraceRow { seconds: row.seconds + shift, ..*row }));
    for row in &mut trace {
        (best, bound) = (best.min(row.objective), bound.max(row.lower_bound));
        (row.objective, row.lower_bound, row.gap) = (best, bound, (best - bound).max(0.0));
    }
    // What is better by the last digits of columns that were taken for combinations of each other is made of rounding.
    let holds = |list: &Vec<usize>| list.iter().all(|j| first.coefficients.support.binary_search(j).is_ok());
    let is_rounding = proved.dependent.iter().any(holds);
    // A subset that the search has fitted once more keeps that fit: P, which is flat there, may have risen by its last digit.
    let is_same = proved.coefficients.support == first.coefficients.support;
    let room = if is_same { margin(first.certificate.objective) } else { 0.0 };
    if first.certificate.objective < proved.certificate.objective - room && !is_rounding {
        proved.coefficients = first.coefficients.clone();
        proved.certificate.objective = first.certificate.objective;
        if !is_same {
            // What the search knows of exchanges it knows of another subset.
            proved.local = Local::None;
        }
    }
    let known = &first.certificate;
    if known.lower_bound > proved.certificate.lower_bound {
        (proved.certificate.lower_bound, proved.dual) = (known.lower_bound, std::mem::take(&mut first.dual));
    }
    rank_answer(&mut proved);
    let Certificate { objective, relaxation, lower_bound } = proved.certificate;
    proved.certificate = Certificate::new(objective, relaxation.or(known.relaxation), lower_bound);
    (proved.trace, proved.seconds, proved.passes) = (trace, shift + proved.seconds, first.passes + proved.passes);
    if proved.coefficients.support == first.coefficients.support {
        proved.local = proved.local.max(first.local);
    }
    // With runners-up the search itself says whether all of them are proved.
    if top == 1 {
        proved.status = proved.certificate.status(proved.status, options.absolute(problem), options.gap);
    }
    *first = proved;
}

/// The answer is the first of the ranks, whoever found it: of its subset the fit of lower P, and no more ranks than there were. A subset that
/// is not among them takes the place of the last if it is better, whose proof covers it.
fn rank_answer(found: &mut Solution) {
    let (ranked, objective) = (&mut found.ranked, found.certificate.objective);
    if ranked.is_empty() {
        return;
    }
    let place = ranked.iter().position(|r| r.coefficients.support == found.coefficients.support);
    let is_among = place.is_some() || ranked.last().is_some_and(|last| objective < last.objective);
    if is_among {
        let mut own = ranked.remove(place.unwrap_or(ranked.len() - 1));
        if place.is_none() || objective < own.objective {
            own = Ranked { objective, coefficients: found.coefficients.clone(), ..own };
        }
        ranked.insert(ranked.partition_point(|r| r.objective < own.objective), own);
    }
    if ranked[0].coefficients.support != found.coefficients.support {
        found.local = Local::None;
    }
    (found.certificate.objective, found.coefficients) = (ranked[0].objective, ranked[0].coefficients.clone());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Penalty;
    use crate::design::Dense;
    use crate::solution::Coefficients;

    fn point(features: &[usize], value: f64) -> Coefficients {
        Coefficients::from_pairs(features.iter().map(|&j| (j, value)).collect(), 0.0)
    }

    fn found(features: &[usize], objective: f64, ranks: &[(&[usize], f64)]) -> Solution {
        let certificate = Certificate::new(objective, None, 0.5);
        let mut found = Solution::new(point(features, 1.0), certificate, Status::Optimal, Vec::new());
        let rank = |r: &(&[usize], f64)| Ranked { coefficients: point(r.0, 2.0), objective: r.1, proved: true };
        found.ranked = ranks.iter().map(rank).collect();
        found
    }

    /// The fit of the same subset that the search has made anew stays where P differs by rounding; what is truly better does, whoever found it.
    #[test]
    fn a_fit_made_anew_gives_way_to_better_ones_alone() {
        let x = Dense::new(2, 3, vec![1.0, 2.0, 2.0, 0.5, -1.0, 0.3]).unwrap();
        let problem = Problem::new(&x, vec![1.0, 2.0], Penalty::new(0.1, 0.0, 0.1)).unwrap();
        let (ulp, worse) = (1.0 + f64::EPSILON, 1.0 + 1e-6);
        // The subset and P that the search has beside a first answer of {0} and 1, and whether it stays.
        let cases: [(&[usize], f64, bool); 7] = [
            (&[0], 1.0, true),
            (&[0], 1.0 / ulp, true),
            (&[0], ulp, true),
            (&[0], worse, false),
            (&[1], 1.0 / worse, true),
            (&[1], 1.0 / ulp, true),
            (&[1], ulp, false),
        ];
        for ((features, objective, stays), is_ranked) in cases.into_iter().flat_map(|c| [(c, false), (c, true)]) {
            let mut first = found(&[0], 1.0, &[]);
            let rank = [(features, objective)];
            let mut proved = found(features, objective, if is_ranked { &rank } else { &[] });
            (proved.coefficients, proved.local) = (point(features, 2.0), Local::Swap);
            take(&problem, &mut first, proved, &Options::default(), 1);
            let (expected, least) = if stays { (point(features, 2.0), objective) } else { (point(&[0], 1.0), 1.0) };
            assert_eq!(
                (first.coefficients, first.certificate.objective),
                (expected, least),
                "{features:?} {objective}"
            );
            let is_of_another = !stays && features != [0];
            assert_eq!(first.local == Local::Swap, !is_of_another, "{features:?} {objective}");
            assert_eq!(first.ranked.len(), usize::from(is_ranked));
        }
    }

    /// Fits that end at other digits, and answers that the search did not meet: what is said first is what is ranked first.
    #[test]
    fn the_answer_is_the_first_of_the_ranks() {
        let ranks: &[(&[usize], f64)] = &[(&[0], 1.0), (&[1], 1.1), (&[2], 1.2)];
        let cases: &[(&[usize], f64, &[usize], f64)] = &[
            // The same subset, fitted better before, and fitted better by the search.
            (&[0], 0.9, &[0], 0.9),
            (&[0], 1.05, &[0], 1.0),
            // A subset of the ranks, of which the search knew a worse fit, and one that is not among them.
            (&[1], 0.9, &[1], 0.9),
            (&[5], 0.9, &[5], 0.9),
            // One that is not among them and worse than all: the ranks stay.
            (&[5], 1.3, &[0], 1.0),
        ];
        for (features, objective, first, least) in cases {
            let mut given = found(features, *objective, ranks);
            rank_answer(&mut given);
            assert_eq!((given.ranked.len(), given.ranked[0].objective), (3, *least), "{features:?} {objective}");
            assert_eq!(given.ranked[0].coefficients, given.coefficients, "{features:?} {objective}");
            assert_eq!((&given.coefficients.support[..], given.certificate.objective), (*first, *least));
            assert!(given.ranked.is_sorted_by(|a, b| a.objective <= b.objective), "{features:?} {objective}");
        }
        let mut none = found(&[0], 0.9, &[]);
        rank_answer(&mut none);
        assert_eq!((none.ranked.len(), none.certificate.objective), (0, 0.9));
    }
}
