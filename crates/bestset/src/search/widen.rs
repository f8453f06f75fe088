//! The last part of the primal phase: a walk past the local minimum, and a look at the features outside the active set.

use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::kernel::each::{chosen, count_of};
use crate::relaxation::workspace::Workspace;
use crate::search::exchange::{Priced, Walked, exchange, tableau, walk};
use crate::search::fit::{BUDGET, Incumbent, descend, margin};
use crate::search::outside::may_enter;
use crate::search::rules::{Rules, Verdict};
use crate::solution::Local;

/// What the first part of the primal phase has found out.
pub(crate) struct Known<'r> {
    /// Which features can still matter.
    pub rules: &'r Rules,
    /// The tableau at the best point, where there is one.
    pub priced: Option<Priced>,
}

/// A dual point, all features, and their correlations with it.
pub type Met<'m> = (&'m [f64], &'m [usize], &'m [f64]);

/// Features outside the active set are all taken in when these are the most that the rules leave, or no more than the support.
const FEW: usize = 64;

/// Features priced in one tableau at the least: fewer cost as much, for the support is in each.
const BLOCK: usize = 64;

/// Blocks of features whose columns come together, where they are far.
const EXPECTED: usize = 64;

/// Rounds of walking and looking outside at the most; not met in practice, each lowers P.
const ROUNDS: usize = 20;

/// Walks on from the best point, then looks at the features outside the active set: what could enter alone or in exchange is
/// taken in, and both are repeated until nothing lowers P. `bound` is told every dual point met, with its correlations, and says
/// what P is known not to be below; features that the rules settle are left as they are.
pub(crate) fn search_outside(
    work: &mut Workspace<'_, '_>,
    best: &mut Incumbent,
    bound: &mut dyn FnMut(Option<Met<'_>>) -> Result<f64>,
    Known { rules, mut priced }: Known<'_>,
    options: &Options,
    budget: &mut f64,
    monitor: &mut Monitor<'_>,
) -> Result<()> {
    let problem = work.problem;
    let (all, tolerances) = (problem.features(), (options.absolute(problem), options.gap));
    for _ in 0..ROUNDS {
        work.load(&best.coefficients)?;
        let (whole, proved) = (take_in(work, rules, best.objective)?, bound(None)?);
        let is_wanted = |best: &Incumbent| !is_proved(best, proved, tolerances);
        let mut inescapable = walk_on(work, best, (rules, &mut priced), is_wanted, budget, monitor)?;
        work.load(&best.coefficients)?;
        if monitor.stop(0).is_some() {
            return Ok(());
        }
        if whole && inescapable && problem.loss().is_quadratic() {
            best.local = Local::Swap;
            return Ok(());
        }
        let tau = problem.correlations_within(&work.alpha, &|| monitor.check())?;
        monitor.passes += 1.0;
        bound(Some((&work.alpha, &all, &tau)))?;
        let (entering, complete) = take_in_entering(work, &tau, rules, options.thresholds.priced, budget, monitor)?;
        if entering > 0 {
            descend(work, monitor);
        }
        if !(entering == 0 && inescapable) {
            inescapable = exchange(work, rules, best.objective, budget, monitor)?;
        }
        inescapable &= complete;
        if !best.offer(work, monitor) {
            best.local = vouched_for(work, best, inescapable, &tau)?;
            return Ok(());
        }
    }
    Ok(())
}

/// Walks past the best point as long as a lower one is met and `is_wanted`; whether it was shown that no move leads anywhere.
fn walk_on(
    work: &mut Workspace<'_, '_>,
    best: &mut Incumbent,
    (rules, known): (&Rules, &mut Option<Priced>),
    mut is_wanted: impl FnMut(&Incumbent) -> bool,
    budget: &mut f64,
    monitor: &mut Monitor<'_>,
) -> Result<bool> {
    while is_wanted(best) {
        match walk(work, known.take(), rules, budget, monitor)? {
            Walked::Lower => {
                let before = best.objective;
                exchange(work, rules, best.objective, budget, monitor)?;
                best.offer(work, monitor);
                // Rounding can make a circle of points each lower than the last.
                if best.objective >= before - margin(before) || monitor.stop(0).is_some() {
                    return Ok(false);
                }
            }
            Walked::Nowhere { inescapable } => return Ok(inescapable),
        }
    }
    Ok(false)
}

/// Takes in what could enter, as far as there is room, those that pull most first; how many, and whether these were all.
fn take_in_entering(
    work: &mut Workspace<'_, '_>,
    tau: &[f64],
    rules: &Rules,
    most: usize,
    budget: &mut f64,
    monitor: &mut Monitor<'_>,
) -> Result<(usize, bool)> {
    let (mut entering, mut complete) = entering(work, tau, rules, most, budget, monitor)?;
    if entering.len() > work.room() {
        let lengths = work.problem.lengths()?;
        let pull = |j: usize| tau[j].abs() / lengths.of(j).max(f64::MIN_POSITIVE);
        entering.sort_by(|&a, &b| pull(b).total_cmp(&pull(a)).then(a.cmp(&b)));
        entering.truncate(work.room());
        complete = false;
    }
    work.include_all(&entering)?;
    Ok((entering.len(), complete))
}

/// What may be said of the best point when the last look led nowhere.
fn vouched_for(work: &mut Workspace<'_, '_>, best: &Incumbent, inescapable: bool, tau: &[f64]) -> Result<Local> {
    // A tie may have led elsewhere: only what was looked at is vouched for.
    let same = work.coefficients().support == best.coefficients.support;
    if inescapable && same && work.problem.loss().is_quadratic() {
        return Ok(Local::Swap);
    }
    work.load(&best.coefficients)?;
    Ok(if is_coordinatewise(work, tau)? { Local::Coordinate } else { Local::None })
}

/// Takes all features that the rules leave open into the active set if they are few; whether none is left outside.
pub(crate) fn take_in(work: &mut Workspace<'_, '_>, rules: &Rules, best: f64) -> Result<bool> {
    let candidates = outside(work, rules, best);
    let few = candidates.len() <= FEW.max(work.support().len()) && work.can_price(work.active.len() + candidates.len());
    if few {
        work.include_all(&candidates)?;
    }
    Ok(few)
}

/// The features outside the active set that the rules leave open.
fn outside(work: &Workspace<'_, '_>, rules: &Rules, best: f64) -> Vec<usize> {
    let candidate = |j: usize| work.position(j).is_none() && rules.verdict(work.problem, j, best) == Verdict::Open;
    chosen(work.problem.ncols(), |j| candidate(j).then_some(j))
}

/// Whether the bound already shows that nothing better is left to find.
fn is_proved(best: &Incumbent, bound: f64, (absolute, relative): (f64, f64)) -> bool {
    best.objective - bound <= absolute.max(relative * best.objective.abs())
}

/// Whether no change of one coefficient (and the intercept) lowers P by more than rounding (MATH 6.7); τ = Xᵀα at the current
/// point.
///
/// For the squared loss each coefficient's best value is known. Another loss is at least its tangent, which settles the
/// features outside; a change inside is stationary already, so that only zero remains, and is tried.
fn is_coordinatewise(work: &Workspace<'_, '_>, tau: &[f64]) -> Result<bool> {
    let (problem, objective) = (work.problem, work.objective());
    let lengths = problem.lengths()?;
    let (quadratic, margin) = (problem.loss().is_quadratic(), margin(objective));
    let change = |j: usize| {
        let (c, b) = (problem.coordinate(j), work.position(j).map_or(0.0, |k| work.beta[k]));
        if quadratic {
            let curvature = lengths.of(j).powi(2);
            let to = |new: f64| (0.5 * curvature * (new - b) + tau[j]) * (new - b) + c.value(new) - c.value(b);
            return to(0.0).min(to(c.prox_selected(curvature, curvature * b - tau[j])));
        }
        let Some(k) = work.position(j).filter(|_| b != 0.0) else { return c.psi(tau[j]) };
        let mut u = work.margins.clone();
        work.active.axpy(k, -b, &mut u);
        let without = problem.loss_sum(&u, problem.best_intercept(&u, work.intercept)) - c.value(b);
        (without - work.loss()).min(-c.selected().envelope_violation(b, tau[j]) * b.abs())
    };
    Ok(count_of(problem.ncols(), |j| change(j) < -margin) == 0)
}

/// Features outside the active set that lower P alone or in exchange, by the prices of the model, and whether these are all.
///
/// Adding j after dropping i gains at most (|τ_j| + ‖x̂_j‖ reach_i − λ1)₊² / (4λ2_j) (MATH 7.9), since its curvature is at least
/// 2λ2_j: below the price of the move it is ruled out. What that leaves is priced in one pass over its columns where it is much
/// (MATH 7.11), and what that leaves in blocks, each in a tableau with the support alone. Where that pass would multiply more than `most`
/// entries, or the budget is short, those that pull most are priced.
fn entering(
    work: &mut Workspace<'_, '_>,
    tau: &[f64],
    rules: &Rules,
    most: usize,
    budget: &mut f64,
    monitor: &mut Monitor<'_>,
) -> Result<(Vec<usize>, bool)> {
    let (problem, best) = (work.problem, work.objective());
    let mut outside = outside(work, rules, best);
    if outside.is_empty() {
        return Ok((outside, true));
    }
    let mut support = work.on_support()?;
    let view = rules.open(&support, best);
    let removals = match support.can_price(support.active.len()) && *budget > 0.0 {
        true => tableau(&mut support, &view, budget).map(|tableau| tableau.removals()),
        false => None,
    };
    let Some(removals) = removals else {
        let (squares, typical) = (problem.squares()?, problem.typical_curvature(&work.alpha));
        let kept =
            chosen(outside.len(), |k| Some(outside[k]).filter(|&j| lowers(work, squares[j] * typical, j, tau[j])));
        return Ok((kept, false));
    };
    let (removals, lengths) = (best_removals(removals), problem.lengths()?);
    let steepest = problem.largest_curvature(&work.alpha).sqrt();
    let worth = |j: usize| {
        let (c, length) = (problem.coordinate(j), lengths.of(j) * steepest);
        let gain = |extra: f64| (tau[j].abs() + extra - c.l1).max(0.0).powi(2) / (4.0 * c.l2);
        let moves = removals.iter().map(|(cost, reach)| gain(reach * length) - cost);
        moves.fold(gain(0.0), f64::max) - c.l0
    };
    outside = chosen(outside.len(), |k| Some(outside[k]).filter(|&j| worth(j) > 0.0));
    let few = (4 * support.active.len()).max(500);
    let room = match *budget < 0.5 * BUDGET {
        true => few,
        false => few.max(most / (problem.nrows() * support.active.len()).max(1)),
    };
    let complete = outside.len() <= room;
    if !complete {
        keep_strongest(&mut outside, room, |j| tau[j].abs() / lengths.of(j).max(f64::MIN_POSITIVE));
        if problem.design().reads_ahead() {
            // In the order of X the columns come in long parts.
            outside.sort_unstable();
        }
    }
    let width = support.active.len().max(BLOCK);
    if outside.len() > width {
        outside = may_enter(&mut support, &view, outside, tau, monitor)?;
    }
    let (entering, all) = improving_by_blocks(&mut support, &view, &outside, width, budget)?;
    Ok((entering, complete && all))
}

/// The features outside that lower P alone or in exchange, found in blocks of so many, and whether these are all.
fn improving_by_blocks(
    support: &mut Workspace<'_, '_>,
    view: &[usize],
    outside: &[usize],
    width: usize,
    budget: &mut f64,
) -> Result<(Vec<usize>, bool)> {
    let (mut entering, mut complete) = (Vec::new(), true);
    for (number, block) in outside.chunks(width).enumerate() {
        if number % EXPECTED == 0 {
            let soon = &outside[number * width..outside.len().min((number + EXPECTED) * width)];
            support.problem.design().expect(soon)?;
        }
        let (found, all) = improving(support, view, block, budget)?;
        entering.extend(found);
        complete &= all;
    }
    Ok((entering, complete))
}

/// Keeps so many features, those that pull most first.
fn keep_strongest(features: &mut Vec<usize>, count: usize, pull: impl Fn(usize) -> f64) {
    let by_pull = |a: &usize, b: &usize| pull(*b).total_cmp(&pull(*a)).then(a.cmp(b));
    // Of millions the first few: to sort them all takes longer than passes over X.
    if count < features.len() {
        features.select_nth_unstable_by(count, by_pull);
        features.truncate(count);
    }
    features.sort_by(by_pull);
}

/// Those of the removals, each a cost and a reach, that no cheaper one reaches as far as.
fn best_removals(mut removals: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    removals.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut reached = f64::NEG_INFINITY;
    removals.retain(|r| {
        let further = r.1 > reached;
        reached = reached.max(r.1);
        further
    });
    removals
}

/// The features of the block that lower P alone or in exchange for one in view of the support, which is all that the
/// workspace holds.
fn improving(
    support: &mut Workspace<'_, '_>,
    view: &[usize],
    block: &[usize],
    budget: &mut f64,
) -> Result<(Vec<usize>, bool)> {
    let (size, margin) = (support.active.len(), margin(support.objective()));
    support.include_all(block)?;
    let view: Vec<usize> = view.iter().copied().chain(size..support.active.len()).collect();
    let priced = tableau(support, &view, budget).map(|tableau| tableau.improving(margin, usize::MAX));
    let keep: Vec<bool> = (0..support.active.len()).map(|k| k < size).collect();
    support.retain(&keep);
    let Some((moves, complete)) = priced else { return Ok((block.to_vec(), false)) };
    let mut found: Vec<usize> = moves.iter().filter_map(|m| m.1.add).map(|k| block[view[k] - size]).collect();
    found.sort_unstable();
    found.dedup();
    Ok((found, complete))
}

/// Whether giving feature j a coefficient, all others fixed, lowers P: T with this curvature.
fn lowers(work: &Workspace<'_, '_>, c: f64, j: usize, tau: f64) -> bool {
    work.problem.coordinate(j).threshold_operator(c, -tau) != 0.0 && work.position(j).is_none()
}

#[cfg(test)]
mod tests {
    use crate::search::widen::best_removals;

    #[test]
    fn a_removal_is_left_out_only_for_a_cheaper_one_that_reaches_as_far() {
        let removals = vec![(3.0, 5.0), (1.0, 2.0), (2.0, 1.0), (2.5, 2.0), (4.0, 4.0), (5.0, 6.0)];
        assert_eq!(best_removals(removals), [(1.0, 2.0), (3.0, 5.0), (5.0, 6.0)]);
    }
}
