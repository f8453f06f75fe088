//! The root of the k-sparse problem: the price ν at which the relaxation takes k features, and an answer with k of them.

use crate::control::{Limits, Monitor, Options};
use crate::exact::multiplier::Multiplier;
use crate::exact::{Root, Seed};
use crate::penalty::{Factors, Penalty};
use crate::problem::Problem;
use crate::problem::screening;
use crate::relaxation::workspace::Workspace;
use crate::search::fit::{apply, refit};
use crate::search::tableau::Tableau;
use crate::solution::Coefficients;
use crate::solver::incremental;

/// Features of one relaxation among which an answer is looked for: those that are charged most.
const MOST_CHARGED: usize = 1500;

/// Solves the problem with λ0 + ν for prices ν until the relaxation takes about k features, keeps the best bound D − νk and the
/// best answer of at most k features.
pub fn root(problem: &Problem<'_>, k: usize, options: &Options, monitor: &mut Monitor<'_>) -> Seed {
    let base = problem.penalty().lambda0;
    let mut best: Option<Seed> = None;
    let (mut answer, mut objective) = (Coefficients::default(), f64::INFINITY);
    let mut starts: Vec<Coefficients> = options.warm_start.iter().cloned().collect();
    let (mut search, absolute) = (Multiplier::patient(k), options.absolute(problem));
    let empty = || Workspace::new(problem).within(options.memory());
    let mut core = empty();
    // Beyond the largest price nothing is taken, and every feature pays it, whatever its factor of λ0 (which may be zero); the
    // first guess is a part of it, and 0 when λ0 alone is enough.
    let same = Penalty { price: Factors::One, ..problem.penalty().clone() };
    let highest = problem.with_penalty(same).map_or(0.0, |p| p.lambda0_max());
    let mut nu = if base > 0.0 { 0.0 } else { 0.1 * highest };
    monitor.muted = true;
    loop {
        let Ok(priced) = problem.with_penalty(problem.penalty().priced(nu)) else { break };
        let settings = Options { warm_start: starts.last().cloned(), ..options.clone() };
        let mut work = Workspace::new(&priced).within(options.memory());
        let mut found = incremental::root(&mut work, &settings, monitor);
        found.outcome.lower_bound -= nu * k as f64 + f64::EPSILON * (nu * k as f64 + found.outcome.lower_bound.abs());
        let coordinate = |j: usize| priced.coordinate(j);
        let count: f64 = found.minimiser.iter().map(|(j, b)| coordinate(j).fraction(b)).sum();
        drop(work);
        // Where they are too many for a tableau, those that are charged most.
        let charged = largest(&found.minimiser, MOST_CHARGED.max(4 * k), |j, b| coordinate(j).fraction(b));
        if !core.has_room_for(core.active.len() + charged.support.len()) {
            core = empty();
        }
        charged.support.iter().for_each(|&j| {
            core.include(j);
        });
        for candidate in [&found.minimiser, &found.outcome.coefficients] {
            core.load(&largest(candidate, k, |j, b| coordinate(j).fraction(b)));
            improve(&mut core, k, monitor);
            let value = problem.value(&core.coefficients());
            if value < objective {
                (answer, objective) = (core.coefficients(), value);
            }
        }
        starts.push(found.minimiser.clone());
        let gap = objective - found.outcome.lower_bound;
        if best.as_ref().is_none_or(|b| b.root.outcome.lower_bound < found.outcome.lower_bound) {
            best = Some(Seed { root: found, multiplier: nu });
        }
        let closed = gap <= absolute.max(options.gap * objective.abs());
        match search.next(nu, count, gap) {
            Some(next) if !closed && monitor.stop(0).is_none() => nu = next.min(highest),
            _ => break,
        }
    }
    monitor.muted = false;
    let Some(Seed { root: Root { mut outcome, minimiser, tau, visited, .. }, multiplier }) = best else {
        unreachable!("the first price is always tried")
    };
    // The counts were those of the problem with a price; with the price fixed the rule holds for the limited one as well.
    let bound = outcome.lower_bound;
    let excluded = |j: &usize| {
        screening::in_no_optimal_subset(problem.coordinate(*j).priced(multiplier), tau[*j], bound, objective)
    };
    (outcome.screened.excluded, outcome.screened.included) = ((0..tau.len()).filter(excluded).count(), 0);
    (outcome.coefficients, outcome.relaxation) = (answer, None);
    Seed { root: Root { outcome, minimiser, tau, objective, visited }, multiplier }
}

/// The k coefficients with the greatest `share`, the larger ones among equals.
fn largest(from: &Coefficients, k: usize, share: impl Fn(usize, f64) -> f64) -> Coefficients {
    let mut ranked: Vec<(f64, usize, f64)> = from.iter().map(|(j, b)| (share(j, b), j, b)).collect();
    ranked.sort_by(|x, y| y.0.total_cmp(&x.0).then(y.2.abs().total_cmp(&x.2.abs())).then(x.1.cmp(&y.1)));
    ranked.truncate(k);
    Coefficients::from_pairs(ranked.into_iter().map(|(_, j, b)| (j, b)).collect(), from.intercept)
}

/// Lowers P from the workspace's point by moves of one feature that keep the size within k, each verified by its refit.
pub fn improve(work: &mut Workspace<'_, '_>, k: usize, limits: &Limits) {
    refit(work, limits);
    while limits.stop(0).is_none() && work.has_room_for(work.active.len()) {
        let (objective, start) = (work.objective(), work.coefficients());
        let margin = 1e-10 * objective.abs();
        let (gradients, beta, coordinates) = (work.gradients(), work.beta.clone(), work.coordinates.clone());
        let moves = {
            let gram = work.gram();
            let Some(tableau) = Tableau::new(&gram, &coordinates, &beta, &gradients) else { return };
            tableau.improving(margin, usize::MAX).0
        };
        let room = start.nonzeros() < k;
        let mut tried = moves.into_iter().filter(|m| room || m.1.drop.is_some() || m.1.add.is_none()).take(4);
        let better = tried.any(|(_, step)| {
            apply(work, step);
            refit(work, limits);
            let better = work.objective() < objective - 0.01 * margin;
            if !better {
                work.load(&start);
            }
            better
        });
        if !better {
            return;
        }
    }
}
