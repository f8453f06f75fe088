//! Which point of a path is the model, and that it stays the one chosen.

use super::run::Run;
use super::{By, Chosen, Folded, Progress, Remark, Selected, workers};
use crate::control::Observer;
use crate::criteria::{Counted, Criterion, usual_size};
use crate::cv::{CrossValidation, CvOptions, Division, FoldEnd, Work};
use crate::error::Result;
use crate::path::{Grid, Path, PathOptions, Point, Search};
use crate::solution::{Solution, Status};

/// Cross-validation compares so many sizes at least: samples left out judge larger models than a criterion can.
const FOLDED_SIZE: usize = 20;

/// How often a better answer at the price chosen may change the choice; the point's own certificate serves afterwards.
const ROUNDS: usize = 6;

/// Where the last point of a path is solved, in units of its price.
const BELOW: f64 = 0.995;

impl<'a> Run<'_, 'a> {
    /// The model at the point that the criterion chooses.
    pub(super) fn by_criterion(&self, criterion: Criterion, observer: &mut dyn Observer) -> Result<Selected> {
        let most = self.most(usual_size(&self.posed.problem))?;
        let options = self.path_options(most, self.options.lambda2.clone());
        // Where X takes long to read, sizes that the criterion cannot choose are not looked at, and points that it may not choose have
        // the bounds that looks give: the one chosen is solved again.
        let is_vast = self.posed.problem.design().stored() > options.solve.thresholds.vast;
        let search = if is_vast && options.search == Search::Neighbours { Search::Light } else { options.search };
        let path = self.path(&PathOptions { until: is_vast.then_some(criterion), search, ..options })?;
        if path.points.is_empty() {
            return self.null(path.status, observer);
        }
        let values = criterion.along(&self.posed.problem, &path)?;
        self.conclude(Judged { path, by: By::Criterion(criterion, values) }, most, observer)
    }

    /// The model at the point that cross-validation chooses.
    pub(super) fn by_cross_validation(&self, folded: &Folded, observer: &mut dyn Observer) -> Result<Selected> {
        let (problem, most) = (&self.posed.problem, self.most_folded()?);
        let options = self.folding(folded)?;
        let found = self.cross_validated(&options, folded)?;
        if found.path.points.is_empty() {
            return self.null(found.status, observer);
        }
        let all = match folded.splits.len() {
            0 => found.parts.iter().map(|p| p.iter().max().map_or(0, |m| m + 1)).sum(),
            given => given,
        };
        let (done, limit, mut path) = (found.folds(), found.status, found.path.clone());
        let cause = found.cause.clone();
        let judged = match done {
            0 => {
                // A criterion would take the least of several λ2: it has the usual one, or the nearest that was compared.
                let usual = self.posed.lambda2();
                let far = |p: &Point| (p.lambda2 - usual).abs();
                let nearest = path.points.iter().map(far).fold(f64::INFINITY, f64::min);
                path.points.retain(|p| far(p) == nearest);
                let criterion = Criterion::Ebic { gamma: 1.0 };
                let values = criterion.along(problem, &path)?;
                Judged { path, by: By::Criterion(criterion, values) }
            }
            _ => Judged { path, by: By::CrossValidation(Box::new(found), folded.rule) },
        };
        let mut chosen = self.conclude(judged, most, observer)?;
        if done < all {
            chosen.remarks.push(if done == 0 { Remark::NoFolds } else { Remark::Folds { done, all } });
        }
        if limit != Status::Converged && chosen.solution.status != Status::Interrupted {
            chosen.solution.status = limit;
            chosen.solution.cause = chosen.solution.cause.take().or(cause);
        }
        Ok(chosen)
    }

    /// The largest size that cross-validation compares.
    fn most_folded(&self) -> Result<usize> {
        let problem = &self.posed.problem;
        let n = Counted::new(problem).samples as usize;
        self.most(usual_size(problem).max(FOLDED_SIZE.min(n / 2)).max(1))
    }

    fn folding(&self, folded: &Folded) -> Result<CvOptions> {
        let ridges = match self.options.lambda2.is_empty() {
            true => self.posed.ridges(),
            false => self.options.lambda2.clone(),
        };
        let (path, folds) = (self.path_options(self.most_folded()?, ridges), folded.parts(&self.posed.problem));
        Ok(CvOptions { path, folds, score: folded.score, seed: folded.seed })
    }

    fn work<'w>(&'w self, options: &'w CvOptions, folded: &Folded) -> Result<Work<'w, 'a>> {
        let problem = &self.posed.problem;
        let parts = match folded.splits.is_empty() {
            true => Division::drawn(problem, options)?,
            false => Division::given(problem, &folded.splits)?,
        };
        Ok(Work { problem, options, parts })
    }

    /// One fold alone.
    pub(super) fn fold(&self, folded: &Folded, number: usize) -> Result<FoldEnd> {
        self.work(&self.folding(folded)?, folded)?.fold(number)
    }

    fn cross_validated(&self, options: &CvOptions, folded: &Folded) -> Result<CrossValidation> {
        let show = |done: usize, all: usize| (self.progress)(Progress::Folds(done, all));
        let work = self.work(options, folded)?;
        match (self.path_checkpoint(), &self.options.workers) {
            (Some(file), _) => crate::checkpoint::cross_validate_work(work, file, &show),
            (None, Some(workers)) => {
                let count = work.parts.splits.len();
                work.with_folds(&show, || workers::folds(&**workers, count))
            }
            (None, None) => work.observed(&show),
        }
    }

    /// A limit struck before the first point: the null model, which is best at the price that its loss is.
    fn null(&self, status: Status, observer: &mut dyn Observer) -> Result<Selected> {
        let problem = &self.posed.problem;
        let u = problem.null_margins();
        let lambda0 = problem.loss_sum(&u, problem.best_intercept(&u, 0.0));
        let mut found = self.at_price(lambda0, self.ridge(), None, observer)?;
        // Or every answer of the path is larger than the largest size.
        if status != Status::Converged {
            found.remarks.push(Remark::Path(status));
            if found.solution.status != Status::Interrupted {
                found.solution.status = status;
            }
        }
        Ok(found)
    }

    /// Solves and proves at the price chosen. An answer that is better there takes its place among the points, and the choice is
    /// made again: the model returned is the best in its table by what chose it.
    fn conclude(&self, mut judged: Judged, most: usize, observer: &mut dyn Observer) -> Result<Selected> {
        let mut solved: Vec<Selected> = Vec::new();
        for _ in 0..ROUNDS {
            let (k, point) = judged.best(&self.posed.problem)?;
            let is_point = |s: &&Selected| {
                (s.lambda0, s.lambda2) == (point.lambda0, point.lambda2)
                    && self.is_same_subset(&s.solution, &point.solution)
            };
            if let Some(known) = solved.iter().find(is_point) {
                return Ok(self.finish(known.clone(), judged, k, most));
            }
            if self.was_cut() {
                break;
            }
            let lambda0 = self.price(&judged, k, point.lambda0);
            let start = Some(point.solution.coefficients.clone());
            let found = self.at_price(lambda0, point.lambda2, start, observer)?;
            if self.was_cut() && found.solution.certificate.relative_gap() > point.solution.certificate.relative_gap() {
                break;
            }
            let own = self.value_at(&point, lambda0);
            let is_better = found.solution.objective() < own * (1.0 - 1e-12);
            if is_better && !self.is_same_subset(&found.solution, &point.solution) {
                if self.size(&found.solution) > most {
                    // What is better at this price is larger than was asked for.
                    break;
                }
                judged.insert(lambda0, &found);
                solved.push(found);
                judged.judge(&self.posed.problem)?;
                continue;
            }
            let found = self.of_point(found, &point, own)?;
            return Ok(self.finish(found, judged, k, most));
        }
        // The point's own certificate, at its own price.
        let (k, point) = judged.best(&self.posed.problem)?;
        let problem = self.posed.priced(point.lambda0, point.lambda2)?;
        let (mut solution, solve) = (point.solution, &self.options.solve);
        if self.was_cut() {
            let limit = if solve.cancel.is_cancelled() { Status::Interrupted } else { Status::TimeLimit };
            solution.status = solution.certificate.status(limit, solve.absolute(&problem), solve.gap);
        }
        let own = self.selected(&problem, solution, crate::Method::Incremental, Vec::new());
        Ok(self.finish(own, judged, k, most))
    }

    /// Whether the work was cancelled, or its time is over.
    fn was_cut(&self) -> bool {
        self.options.solve.cancel.is_cancelled() || self.solve_options().time_limit.is_some_and(|t| t.is_zero())
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

    /// What was found at a price, with the answer of the point where the method found another that is no better.
    fn of_point(&self, mut found: Selected, point: &Point, objective: f64) -> Result<Selected> {
        if self.is_same_subset(&found.solution, &point.solution) {
            return Ok(found);
        }
        let solution = &mut found.solution;
        (solution.coefficients, solution.certificate.objective) = (point.solution.coefficients.clone(), objective);
        let problem = self.posed.priced(found.lambda0, found.lambda2)?;
        let solve = &self.options.solve;
        solution.status = solution.certificate.status(solution.status, solve.absolute(&problem), solve.gap);
        let (method, remarks) = (found.method, std::mem::take(&mut found.remarks));
        Ok(self.selected(&problem, found.solution, method, remarks))
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
        if size == most && most < self.posed.problem.variables() && path.status == Status::Converged {
            found.remarks.push(Remark::LargestSize(size));
        }
        let ridges = path.points.iter().map(|p| p.lambda2);
        let (least, largest) = ridges.fold((f64::INFINITY, 0.0), |(a, b), l| (f64::min(a, l), f64::max(b, l)));
        if found.lambda2 == largest && least < largest && size > 0 {
            found.remarks.push(Remark::LargestRidge(largest));
        }
        found.chosen = Some(Chosen { path, point, prices, by });
        found
    }
}

/// A path and what judges its points.
struct Judged {
    path: Path,
    by: By,
}

impl Judged {
    /// The best point by what judges them.
    fn best(&self, problem: &crate::Problem<'_>) -> Result<(usize, Point)> {
        let k = match &self.by {
            By::Criterion(criterion, _) => criterion.best(problem, &self.path)?,
            By::CrossValidation(found, rule) => found.chosen(*rule),
        };
        Ok((k, self.path.points[k].clone()))
    }

    /// (fit(S) − fit(S′))/(f(S′) − f(S)) ≤ λ0 for every S′ that costs more, the reverse for those that cost less (MATH 10.20):
    /// the prices, from the largest down, between which no subset of the path is better than S, that of point k.
    fn prices(&self, problem: &crate::Problem<'_>, groups: Option<&crate::groups::Groups>, k: usize) -> (f64, f64) {
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

    /// Takes in an answer found at a price between the points.
    fn insert(&mut self, lambda0: f64, found: &Selected) {
        let strand = |p: &Point| p.lambda2 == found.lambda2;
        let point = Point {
            lambda0,
            lambda1: found.lambda1,
            lambda2: found.lambda2,
            solution: Solution { trace: Vec::new(), ..found.solution.clone() },
        };
        let points = &mut self.path.points;
        if let Some(same) = points.iter_mut().find(|p| strand(p) && p.lambda0 == lambda0) {
            *same = point;
            return;
        }
        let last = points.iter().rposition(|p| strand(p) && p.lambda0 > lambda0);
        points.insert(last.map_or(0, |k| k + 1), point);
    }

    /// The values of the points, after an answer has come in.
    fn judge(&mut self, problem: &crate::Problem<'_>) -> Result<()> {
        match &mut self.by {
            By::Criterion(criterion, values) => *values = criterion.along(problem, &self.path)?,
            By::CrossValidation(found, _) => found.judge_again(self.path.points.clone()),
        }
        Ok(())
    }
}
