//! The two passes.

use super::{Path, PathOptions, Point, Search, grid};
use crate::certificate::Certificate;
use crate::error::Result;
use crate::problem::Problem;
use crate::solution::{Coefficients, Solution, Status};
use crate::solver::incremental::{self, Root};
use crate::solver::ladder::Ladder;
use crate::solver::workspace::{Columns, Workspace};
use crate::solver::{Monitor, Options};

/// Rounds of the backward pass.
const ROUNDS: usize = 3;

/// One path after the other, one for each λ2.
pub(super) fn run(
    problem: &Problem<'_>,
    options: &PathOptions,
    observer: &mut (dyn FnMut(&Point) + Send),
) -> Result<Path> {
    let own = [problem.penalty().lambda2];
    let ridges = if options.lambda2.is_empty() { &own[..] } else { &options.lambda2 };
    let mut silent = ();
    let mut monitor = Monitor::new(&options.solve, &mut silent);
    let (mut points, mut columns) = (Vec::new(), None);
    for &lambda2 in ridges {
        let mut penalty = problem.penalty().clone();
        penalty.lambda2 = lambda2;
        let strand = Strand { base: problem.with_penalty(penalty)?, options };
        let (found, kept) = strand.walk(columns.take(), &mut monitor, observer)?;
        columns = kept;
        points.extend(found);
        if let Some(status) = monitor.stop(0) {
            return Ok(Path { points, status });
        }
    }
    Ok(Path { points, status: Status::Converged })
}

/// A path with one λ2.
struct Strand<'o, 'a> {
    base: Problem<'a>,
    options: &'o PathOptions,
}

/// What a point hands to the next: the columns and where the relaxation has its minimum.
struct Memory {
    columns: Option<Columns>,
    minimiser: Coefficients,
    /// For problems that it serves.
    ladder: Option<Ladder>,
}

impl Memory {
    /// Runs `body` on a workspace with the columns kept.
    fn on_columns<T>(
        &mut self,
        problem: &Problem<'_>,
        body: impl FnOnce(&mut Workspace<'_, '_>, &Coefficients) -> T,
    ) -> T {
        let mut work = match self.columns.take() {
            Some(columns) => Workspace::with_columns(problem, columns),
            None => Workspace::new(problem),
        };
        let result = body(&mut work, &self.minimiser);
        self.columns = Some(work.into_columns());
        result
    }
}

impl Strand<'_, '_> {
    fn walk(
        &self,
        columns: Option<Columns>,
        monitor: &mut Monitor<'_>,
        observer: &mut (dyn FnMut(&Point) + Send),
    ) -> Result<(Vec<Point>, Option<Columns>)> {
        let null = null_model(&self.base, &self.options.solve)?;
        let first = self.largest(&null);
        let ladder = Ladder::serves(&self.base).then(Ladder::default);
        let mut memory = Memory { columns, minimiser: null.clone(), ladder };
        let (mut points, mut last, mut entry): (Vec<Point>, _, _) = (Vec::new(), f64::INFINITY, f64::INFINITY);
        let mut same = 0;
        while let Some(lambda0) = self.options.grid.at(points.len(), first, last, entry, same) {
            let before = points.last().map_or(&null, |p: &Point| &p.solution.coefficients);
            let (point, next) = self.point(lambda0, std::slice::from_ref(before), &mut memory, monitor)?;
            // A point cut short has a valid bound, but it is not the answer that the same path without a limit would have.
            if monitor.stop(0).is_some() {
                break;
            }
            observer(&point);
            let most = self.options.max_size.unwrap_or(self.base.nrows().min(self.base.ncols()));
            let full = point.solution.support().len() >= most;
            let unchanged = !points.is_empty() && point.solution.support() == before.support;
            same = if unchanged { same + 1 } else { 0 };
            (last, entry) = (lambda0, next);
            points.push(point);
            if full {
                break;
            }
        }
        if self.options.backward {
            self.back(&mut points, &mut memory, monitor)?;
        }
        Ok((points, memory.columns))
    }

    /// λ0 at which the null model is proved best; without a dual, at which it stops being coordinate-wise best.
    fn largest(&self, null: &Coefficients) -> f64 {
        let proved = self.base.lambda0_max_at(null);
        if proved.is_finite() { proved } else { grid::entry(&self.base, null, &correlations(&self.base, null)) }
    }

    fn at(&self, lambda0: f64) -> Result<Problem<'_>> {
        let mut penalty = self.base.penalty().clone();
        penalty.lambda0 = lambda0;
        self.base.with_penalty(penalty)
    }

    /// The answer at λ0 from the starts given, and the λ0 at which it changes.
    fn point(
        &self,
        lambda0: f64,
        starts: &[Coefficients],
        memory: &mut Memory,
        monitor: &mut Monitor<'_>,
    ) -> Result<(Point, f64)> {
        let problem = self.at(lambda0)?;
        let (begun, passes) = (monitor.seconds(), monitor.passes);
        let solve = &self.options.solve;
        let mut ladder = memory.ladder.take();
        let (Root { outcome, minimiser, .. }, known) = match (self.options.search, &mut ladder) {
            (Search::Full, _) => (incremental::root(&mut Workspace::new(&problem), solve, monitor), None),
            (Search::Neighbours, Some(ladder)) => memory.on_columns(&problem, |work, minimiser| {
                work.load(minimiser);
                let (root, entry) = incremental::on_ladder(work, ladder, solve, monitor);
                (root, Some(entry))
            }),
            (Search::Neighbours, None) => memory.on_columns(&problem, |work, minimiser| {
                work.load(minimiser);
                (incremental::neighbour(work, starts, solve, monitor), None)
            }),
        };
        memory.ladder = ladder;
        memory.minimiser = minimiser;
        let objective = problem.value(&outcome.coefficients);
        let (relaxation, lower_bound) = (outcome.relaxation, outcome.lower_bound);
        let certificate = Certificate { objective, relaxation, lower_bound };
        let entry = known.unwrap_or_else(|| {
            grid::entry(&problem, &outcome.coefficients, &correlations(&problem, &outcome.coefficients))
        });
        let solution = Solution {
            status: certificate.status(outcome.ended, self.options.solve.gap_absolute, self.options.solve.gap),
            certificate,
            coefficients: outcome.coefficients,
            dual: outcome.dual,
            iterations: outcome.iterations,
            passes: monitor.passes - passes,
            seconds: monitor.seconds() - begun,
            screened: outcome.screened,
            local: outcome.local,
            trace: Vec::new(),
        };
        let (lambda1, lambda2) = (problem.penalty().lambda1, problem.penalty().lambda2);
        Ok((Point { lambda0, lambda1, lambda2, solution }, entry))
    }

    /// From the smallest λ0 up and down again: each point takes the best that any other point has found, improved, until
    /// nothing changes. What a support costs is its fit, which does not depend on λ0, and its price.
    fn back(&self, points: &mut [Point], memory: &mut Memory, monitor: &mut Monitor<'_>) -> Result<()> {
        let price = |c: &Coefficients| c.support.iter().map(|&j| self.base.penalty().price.at(j)).sum::<f64>();
        let entry = |p: &Point| {
            let price = price(&p.solution.coefficients);
            (p.solution.objective() - p.lambda0 * price, price, p.solution.coefficients.clone())
        };
        let mut pool: Vec<(f64, f64, Coefficients)> = points.iter().map(entry).collect();
        let up = (0..points.len()).rev();
        let order: Vec<usize> = up.clone().chain(0..points.len()).collect();
        for round in 0..ROUNDS {
            let mut changed = false;
            for &k in &order {
                if monitor.stop(0).is_some() {
                    return Ok(());
                }
                let lambda0 = points[k].lambda0;
                let cost = |e: &(f64, f64, Coefficients)| e.0 + lambda0 * e.1;
                let Some(best) = pool.iter().min_by(|a, b| cost(a).total_cmp(&cost(b))) else { return Ok(()) };
                // The first time also from the neighbour, whose answer may lead on where it is not the best.
                let neighbour = points.get(k + 1).map(|p| &p.solution.coefficients).filter(|_| round == 0);
                let own = &points[k].solution.coefficients.support;
                let starts: Vec<Coefficients> =
                    [Some(&best.2), neighbour].into_iter().flatten().filter(|c| c.support != *own).cloned().collect();
                for start in starts {
                    let better = self.improve(&mut points[k], &start, memory, monitor)?;
                    if better {
                        pool.push(entry(&points[k]));
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        Ok(())
    }

    /// Goes down from `start` at the point's λ0 and keeps what is found if it is better.
    fn improve(
        &self,
        point: &mut Point,
        start: &Coefficients,
        memory: &mut Memory,
        monitor: &Monitor<'_>,
    ) -> Result<bool> {
        let problem = self.at(point.lambda0)?;
        let found = match &mut memory.ladder {
            Some(ladder) => ladder.from(&problem, &start.support, monitor).1,
            None => memory.on_columns(&problem, |work, _| {
                work.load(start);
                crate::solver::primal::improve(work, monitor);
                work.coefficients()
            }),
        };
        let (objective, solution) = (problem.value(&found), &mut point.solution);
        // By more than rounding, or two equal supports would take turns.
        if objective >= solution.certificate.objective * (1.0 - 1e-12) {
            return Ok(false);
        }
        solution.certificate.objective = objective;
        let Options { gap, gap_absolute, .. } = self.options.solve;
        solution.status = solution.certificate.status(solution.status, gap_absolute, gap);
        solution.local = crate::Local::None;
        solution.coefficients = found;
        Ok(true)
    }
}

/// Xᵀα at the dual point of the coefficients.
fn correlations(problem: &Problem<'_>, coefficients: &Coefficients) -> Vec<f64> {
    let u = problem.margins(coefficients);
    let mut alpha = vec![0.0; u.len()];
    problem.dual_point(&u, problem.best_intercept(&u, coefficients.intercept), &mut alpha);
    let features: Vec<usize> = (0..problem.ncols()).collect();
    let mut tau = vec![0.0; features.len()];
    problem.design().correlate(&features, &alpha, &mut tau);
    tau
}

/// The fit of the features that cost nothing; β = 0 when there is none.
fn null_model(problem: &Problem<'_>, options: &Options) -> Result<Coefficients> {
    let (p, penalty) = (problem.ncols(), problem.penalty());
    let priced: Vec<usize> = (0..p).filter(|&j| penalty.price.at(j) > 0.0).collect();
    if priced.len() == p {
        let intercept = problem.best_intercept(&problem.null_margins(), 0.0);
        return Ok(Coefficients { intercept, ..Coefficients::default() });
    }
    let free = problem.with_penalty(penalty.clone().never(&priced, p)?)?;
    let options = Options { method: crate::Method::Incremental, warm_start: None, ..options.clone() };
    Ok(crate::solve(&free, &options)?.coefficients)
}
