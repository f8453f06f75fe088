//! The model of the point chosen: searched for and proved at its price as any answer is, and still the one chosen afterwards.

use super::run::{Run, Searched};
use super::{By, Chosen, Remark, Selected, Standing};
use crate::control::{Observer, Options};
use crate::error::Result;
use crate::groups::Groups;
use crate::path::{Grid, Path, Point};
use crate::problem::Problem;
use crate::solution::{Local, Ranked, Solution, Status};

/// How often a better answer at the price chosen may change the choice. Each makes the points of its λ2 better, of which there are some dozens
/// at the most, and is found by one solve; should they not end, the point chosen last is proved as it is.
const ROUNDS: usize = 12;

/// Where the last point of a path is solved, in units of its price.
const BELOW: f64 = 0.995;

/// The share of P by which an answer must be lower to take the place of another: less is rounding.
const LOWER: f64 = 1e-12;

/// Better answers that were met at the prices of points chosen.
#[derive(Default)]
struct Met<'a> {
    /// Those that wait for their proof.
    searched: Vec<Searched<'a>>,
    /// Those that have had it.
    proved: Vec<Selected>,
}

impl<'a> Met<'a> {
    /// What was found at a point's price and waits for its proof.
    fn waiting(&mut self, run: &Run<'_, '_>, point: &Point) -> Option<Searched<'a>> {
        let is_point = |s: &Searched<'_>| {
            let prices = (s.problem.penalty().lambda0, s.problem.penalty().lambda2);
            prices == (point.lambda0, point.lambda2) && run.is_same_subset(&s.solution, &point.solution)
        };
        self.searched.iter().position(is_point).map(|at| self.searched.swap_remove(at))
    }
}

/// How a turn of the choice ended.
enum Turn {
    /// This is the model, of that point.
    Chosen(Box<Selected>, usize),
    /// A better answer joined the points, among which it is chosen again.
    Again,
    /// No more is to be had than the point chosen, with the bound that it has.
    Over,
}

impl<'a> Run<'_, 'a> {
    /// The point chosen, searched for at its price. An answer that is better there takes its place among the points, the choice is made
    /// again, and what stays chosen is proved: the model returned is the best known at its price, and the best in its table by what
    /// chose it. Where what is better is larger than was asked for, the model is the best of its size. It may be neither, and its bound says
    /// so, where sizes count nothing (`of_its_size`) and where the choice does not settle (`ROUNDS`).
    pub(super) fn conclude(&self, mut judged: Judged, most: usize, observer: &mut dyn Observer) -> Result<Selected> {
        let mut met = Met::default();
        for _ in 0..ROUNDS {
            match self.turn(&mut judged, &mut met, most, observer) {
                Ok(Turn::Chosen(found, k)) => return Ok(self.finish(*found, judged, k, most)),
                Ok(Turn::Again) => {}
                Ok(Turn::Over) => break,
                // Columns that cannot be read any more, or not in time, take nothing from the points.
                Err(error) if error.is_of_reading() => break,
                Err(error) => return Err(error),
            }
        }
        let (k, point) = judged.best(&self.posed.problem)?;
        let own = self.own(&point, observer)?;
        Ok(self.finish(own, judged, k, most))
    }

    /// The point chosen now, searched for and proved; what is better comes to the points.
    fn turn(&self, judged: &mut Judged, met: &mut Met<'a>, most: usize, observer: &mut dyn Observer) -> Result<Turn> {
        let (k, point) = judged.best(&self.posed.problem)?;
        if let Some(known) = met.proved.iter().find(|s| self.is_of(s, &point)) {
            return Ok(Turn::Chosen(Box::new(known.clone()), k));
        }
        if self.was_cut() {
            return Ok(Turn::Over);
        }
        let found = match met.waiting(self, &point) {
            Some(known) => known,
            None => self.searched(judged, (k, &point), most, observer)?,
        };
        let gap = |solution: &Solution| solution.certificate.relative_gap();
        if self.was_cut() && gap(&found.solution) > gap(&point.solution) {
            return Ok(Turn::Over);
        }
        let lambda0 = found.problem.penalty().lambda0;
        let is_larger = |solution: &Solution| self.size(solution) > most;
        let proved = match self.is_beaten(&point, lambda0, &found.solution) {
            true if is_larger(&found.solution) => None,
            true => {
                judged.insert(self, lambda0, &found.solution, &point)?;
                met.searched.push(found);
                return Ok(Turn::Again);
            }
            false => Some(self.proved_at(found, &point, observer)?),
        };
        match proved {
            Some(proved) if !self.is_beaten(&point, lambda0, &proved.solution) => {
                return Ok(Turn::Chosen(Box::new(proved), k));
            }
            Some(proved) if !is_larger(&proved.solution) => {
                judged.insert(self, lambda0, &proved.solution, &point)?;
                met.proved.push(proved);
            }
            // What is better is larger than was asked for.
            _ => match self.of_its_size(judged, &point, observer)? {
                Some(sized) => met.proved.push(sized),
                None => return Ok(Turn::Over),
            },
        }
        Ok(Turn::Again)
    }

    /// The answer at the price of point k; where one that is too large is better in the middle of its prices, at the point's own.
    fn searched(
        &self,
        judged: &Judged,
        (k, point): (usize, &Point),
        most: usize,
        observer: &mut dyn Observer,
    ) -> Result<Searched<'a>> {
        let lambda0 = self.price(judged, k, point.lambda0);
        // Several wait for their proofs: roots, which have a number for every feature, are not kept.
        let mut at = |lambda0| {
            let start = Some(point.solution.coefficients.clone());
            Ok(Searched { root: None, ..self.search(lambda0, point.lambda2, start, observer)? })
        };
        let found = at(lambda0)?;
        let is_too_large = self.is_beaten(point, lambda0, &found.solution) && self.size(&found.solution) > most;
        if is_too_large && lambda0 != point.lambda0 && !self.was_cut() { at(point.lambda0) } else { Ok(found) }
    }

    /// The proof of what was found at a price, with the answer of the point where another is no better.
    fn proved_at(&self, found: Searched<'a>, point: &Point, observer: &mut dyn Observer) -> Result<Selected> {
        let Searched { problem, mut solution, is_long, .. } = found;
        let (own, options) = (self.value_at(point, problem.penalty().lambda0), &self.options.solve);
        let keep = |solution: &mut Solution| {
            let is_better = solution.objective() < own * (1.0 - LOWER);
            if !is_better && !self.is_same_subset(solution, &point.solution) {
                take_over(solution, &point.solution, own, &problem, options);
            }
        };
        keep(&mut solution);
        let remarks = self.prove(&problem, &mut solution, self.methods().1, is_long, None, observer)?;
        keep(&mut solution);
        Ok(self.selected(&problem, solution, self.options.solve.method, remarks))
    }

    /// The best found of as many features as the point has, with its proof; where sizes count nothing, the point at its own price. Nothing
    /// where a limit left it a worse bound than the point has there.
    fn of_its_size(&self, judged: &mut Judged, point: &Point, observer: &mut dyn Observer) -> Result<Option<Selected>> {
        let size = self.size(&point.solution);
        if size == 0 || self.posed.check_counted().is_err() {
            return self.own(point, observer).map(Some);
        }
        let start = point.solution.coefficients.clone();
        let mut found = self.at_size(size, point.lambda2, Some(start), observer)?;
        found.remarks.push(Remark::OfItsSize(size));
        let is_better = self.is_beaten(point, 0.0, &found.solution);
        if is_better {
            judged.improve(self, &found.solution, point)?;
        }
        let gap = |solution: &Solution| solution.certificate.relative_gap();
        if self.was_cut() && gap(&found.solution) > gap(&point.solution) {
            return Ok(None);
        }
        if !is_better && !self.is_same_subset(&found.solution, &point.solution) {
            let limited = self.posed.limited(size, point.lambda2)?;
            let own = self.value_at(point, 0.0);
            take_over(&mut found.solution, &point.solution, own, &limited, &self.options.solve);
            let Solution { coefficients, certificate, status, .. } = &found.solution;
            found.standing = Standing::new(&limited, coefficients, certificate, *status);
        }
        Ok(Some(found))
    }

    /// The point as it is, at its own price: the bound that there is, raised unless the time is over.
    fn own(&self, point: &Point, observer: &mut dyn Observer) -> Result<Selected> {
        let problem = self.posed.priced(point.lambda0, point.lambda2)?;
        let (mut solution, solve) = (point.solution.clone(), &self.options.solve);
        if self.was_cut() {
            solution.status = solution.certificate.status(self.limit(), solve.absolute(&problem), solve.gap);
            return Ok(self.selected(&problem, solution, crate::Method::Incremental, Vec::new()));
        }
        let remarks = self.prove(&problem, &mut solution, self.methods().1, false, None, observer)?;
        if !self.is_same_subset(&solution, &point.solution) {
            take_over(&mut solution, &point.solution, point.solution.objective(), &problem, solve);
        }
        Ok(self.selected(&problem, solution, self.options.solve.method, remarks))
    }

    /// Whether the work was cancelled, or its time is over.
    fn was_cut(&self) -> bool {
        self.options.solve.cancel.is_cancelled() || self.solve_options().time_limit.is_some_and(|t| t.is_zero())
    }

    /// Whether another subset than the point's is better at a price.
    fn is_beaten(&self, point: &Point, lambda0: f64, found: &Solution) -> bool {
        let is_better = found.objective() < self.value_at(point, lambda0) * (1.0 - LOWER);
        is_better && !self.is_same_subset(found, &point.solution)
    }

    /// Whether what was proved is the point's answer, at its price or of its size.
    fn is_of(&self, proved: &Selected, point: &Point) -> bool {
        let is_priced = proved.k.is_some() || proved.lambda0 == point.lambda0;
        is_priced && proved.lambda2 == point.lambda2 && self.is_same_subset(&proved.solution, &point.solution)
    }

    /// The price at which point k is solved: the middle of those at which the path has it, or its own where prices were given.
    fn price(&self, judged: &Judged, k: usize, own: f64) -> f64 {
        let (high, low) = judged.prices(&self.posed.problem, self.posed.groups(), k);
        match self.options.grid.as_ref().is_none_or(|g| matches!(g, Grid::Dynamic { .. })) {
            // The roots apart: products of prices may be too large or too small for a number.
            true if low < high => (high.sqrt() * low.sqrt()).clamp(low, high),
            // Of the last of its path no lower end is known: just below its own, so that what is found comes beside it.
            true => BELOW * own,
            false => own,
        }
    }

    /// P of a point's answer at another price.
    fn value_at(&self, point: &Point, lambda0: f64) -> f64 {
        let cost = crate::path::cost(&self.posed.problem, self.posed.groups(), &point.solution.coefficients);
        point.solution.objective() + (lambda0 - point.lambda0) * cost
    }

    fn size(&self, solution: &Solution) -> usize {
        self.posed.problem.size(&solution.coefficients)
    }

    /// Whether two answers have the same features; of many classes a coefficient of one of them may be zero.
    fn is_same_subset(&self, a: &Solution, b: &Solution) -> bool {
        let classes = self.posed.problem.classes();
        a.coefficients.features(classes) == b.coefficients.features(classes)
    }

    fn finish(&self, mut found: Selected, judged: Judged, point: usize, most: usize) -> Selected {
        let prices = judged.prices(&self.posed.problem, self.posed.groups(), point);
        let Judged { path, by } = judged;
        // A path that was cut short may have missed the best point: the answer must say so.
        if path.status != Status::Converged {
            found.remarks.push(Remark::Path(path.status));
            if found.solution.status != Status::Interrupted {
                found.solution.status = path.status;
                found.solution.cause = found.solution.cause.take().or_else(|| path.cause.clone());
            }
        }
        let size = self.size(&found.solution);
        // The best of its size says already that larger ones are better.
        let is_sized = found.k.is_some();
        if size == most && !is_sized && most < self.posed.problem.variables() && path.status == Status::Converged {
            found.remarks.push(Remark::LargestSize(size));
        }
        found.remarks.extend(self.wide_groups(most));
        let ridges = path.points.iter().map(|p| p.lambda2);
        let (least, largest) = ridges.fold((f64::INFINITY, 0.0), |(a, b), l| (f64::min(a, l), f64::max(b, l)));
        if found.lambda2 == largest && least < largest && size > 0 {
            found.remarks.push(Remark::LargestRidge(largest));
        }
        found.chosen = Some(Chosen { path, point, prices, by });
        found
    }
}

impl Run<'_, '_> {
    /// The groups that no model of at most so many features has.
    fn wide_groups(&self, most: usize) -> Option<Remark> {
        let (groups, classes) = (self.posed.groups()?, self.posed.problem.classes());
        let widths = groups.members.iter().map(|members| members.len() / classes.max(1));
        let wide: Vec<usize> = widths.filter(|width| *width > most).collect();
        Some(Remark::WideGroups { groups: wide.len(), widest: wide.iter().copied().max()?, most })
    }
}

/// Another answer whose P is `objective`, with the bound that the solution has; the first of its ranks, where it has some.
fn take_over(solution: &mut Solution, other: &Solution, objective: f64, problem: &Problem<'_>, options: &Options) {
    (solution.coefficients, solution.certificate.objective) = (other.coefficients.clone(), objective);
    solution.local = Local::None;
    solution.status = solution.certificate.status(solution.status, options.absolute(problem), options.gap);
    let (ranked, classes) = (&mut solution.ranked, problem.classes());
    let is_own = |r: &Ranked| r.coefficients.features(classes) == other.coefficients.features(classes);
    // One that the search did not list is as good as the first: the proof of the last, whose place it takes, covers it.
    let place = ranked.iter().position(is_own).or(ranked.len().checked_sub(1));
    if let Some(place) = place {
        let own = ranked.remove(place);
        ranked.insert(0, Ranked { coefficients: other.coefficients.clone(), objective, ..own });
    }
}

/// A path and what judges its points.
pub(super) struct Judged {
    pub(super) path: Path,
    pub(super) by: By,
}

impl Judged {
    /// The best point by what judges them.
    fn best(&self, problem: &Problem<'_>) -> Result<(usize, Point)> {
        let k = match &self.by {
            By::Criterion(criterion, _) => criterion.best(problem, &self.path)?,
            By::CrossValidation(found, rule) => found.chosen(*rule),
        };
        Ok((k, self.path.points[k].clone()))
    }

    /// (fit(S) − fit(S′))/(f(S′) − f(S)) ≤ λ0 for every S′ that costs more, the reverse for those that cost less (MATH 10.20):
    /// the prices, from the largest down, between which no subset of the path is better than S, that of point k.
    fn prices(&self, problem: &Problem<'_>, groups: Option<&Groups>, k: usize) -> (f64, f64) {
        let own = &self.path.points[k];
        let weighed = |p: &Point| {
            let cost = crate::path::cost(problem, groups, &p.solution.coefficients);
            (p.solution.objective() - p.lambda0 * cost, cost)
        };
        let (fit, cost) = weighed(own);
        let (mut high, mut low) = (f64::INFINITY, 0.0);
        for (other, price) in self.path.points.iter().filter(|p| p.lambda2 == own.lambda2).map(weighed) {
            match price.total_cmp(&cost) {
                std::cmp::Ordering::Greater => low = f64::max(low, (fit - other) / (price - cost)),
                std::cmp::Ordering::Less => high = f64::min(high, (other - fit) / (cost - price)),
                std::cmp::Ordering::Equal => {}
            }
        }
        let high = if high.is_finite() { high } else { own.lambda0.max(low) };
        // The largest of its path has no next one, and one that is nowhere the best no range.
        if low > 0.0 && low <= high { (high, low) } else { (own.lambda0, own.lambda0) }
    }

    /// Takes in an answer found at a price between the points, and judges them again.
    fn insert(&mut self, run: &Run<'_, '_>, lambda0: f64, found: &Solution, beside: &Point) -> Result<()> {
        self.replace(run, lambda0, found, beside)?;
        let solution = Solution { trace: Vec::new(), ..found.clone() };
        let point = Point { lambda0, solution, ..beside.clone() };
        let (strand, points) = (|p: &Point| p.lambda2 == beside.lambda2, &mut self.path.points);
        match points.iter_mut().find(|p| strand(p) && p.lambda0 == lambda0) {
            Some(same) => *same = point,
            None => {
                let last = points.iter().rposition(|p| strand(p) && p.lambda0 > lambda0);
                points.insert(last.map_or(0, |k| k + 1), point);
            }
        }
        self.judge(&run.posed.problem)
    }

    /// The same for an answer of a size, which has no price of its own.
    fn improve(&mut self, run: &Run<'_, '_>, found: &Solution, beside: &Point) -> Result<()> {
        self.replace(run, 0.0, found, beside)?;
        self.judge(&run.posed.problem)
    }

    /// P(S) = fit(S) + λ0 f(S) (MATH 10.1): an answer whose P at λ0 is known takes the place of others with its λ2 at every price at
    /// which it is better. A subset that is best at no price is then no point any more.
    fn replace(&mut self, run: &Run<'_, '_>, lambda0: f64, found: &Solution, beside: &Point) -> Result<()> {
        let cost = crate::path::cost(&run.posed.problem, run.posed.groups(), &found.coefficients);
        let fit = found.objective() - lambda0 * cost;
        for point in self.path.points.iter_mut().filter(|p| p.lambda2 == beside.lambda2) {
            let value = fit + point.lambda0 * cost;
            if value < point.solution.objective() * (1.0 - LOWER) {
                let problem = run.posed.priced(point.lambda0, point.lambda2)?;
                take_over(&mut point.solution, found, value, &problem, &run.options.solve);
            }
        }
        Ok(())
    }

    /// The values of the points, after an answer has come in.
    fn judge(&mut self, problem: &Problem<'_>) -> Result<()> {
        match &mut self.by {
            By::Criterion(criterion, values) => *values = criterion.along(problem, &self.path)?,
            By::CrossValidation(found, _) => found.judge_again(self.path.points.clone()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Dense;
    use crate::{Certificate, Coefficients, Penalty};

    /// What is said first is what is ranked first, and no more ranks than there were.
    #[test]
    fn an_answer_that_is_taken_over_is_the_first_of_the_ranks() {
        let x = Dense::new(2, 4, vec![1.0f64; 8]).unwrap();
        let problem = Problem::new(&x, vec![1.0, 2.0], Penalty::new(0.1, 0.0, 0.1)).unwrap();
        let point = |j: usize| Coefficients::from_pairs(vec![(j, 1.0)], 0.0);
        let rank = |j: usize| Ranked { coefficients: point(j), objective: 1.0 + j as f64, proved: j < 2 };
        let of = |j: usize| Solution::new(point(j), Certificate::new(1.0, None, 1.0), Status::Optimal, Vec::new());
        for (other, ranks) in [(1, vec![1, 0, 2]), (3, vec![3, 0, 1])] {
            let mut solution = Solution { ranked: (0..3).map(rank).collect(), ..of(0) };
            take_over(&mut solution, &of(other), 1.0, &problem, &Options::default());
            let found: Vec<usize> = solution.ranked.iter().map(|r| r.coefficients.support[0]).collect();
            assert_eq!((found, solution.ranked[0].objective), (ranks, 1.0));
            assert_eq!(solution.coefficients, solution.ranked[0].coefficients);
        }
        let mut none = of(0);
        take_over(&mut none, &of(1), 1.0, &problem, &Options::default());
        assert!(none.ranked.is_empty());
    }
}
