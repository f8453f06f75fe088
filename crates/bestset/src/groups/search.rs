//! The answer with groups: the rounded relaxation, then groups added, dropped and exchanged while P falls.

use crate::control::{Limits, Options};
use crate::error::Result;
use crate::groups::Grouped;
use crate::groups::relax::GroupRelaxation;
use crate::penalty::{Bounds, Penalty};
use crate::solution::Coefficients;
use std::collections::HashMap;

/// Groups outside that are tried in each round: those that the dual point would pay most for.
const CANDIDATES: usize = 8;

/// The best found from the relaxation rounded at several sizes, and from `start`.
pub(crate) fn search(
    grouped: &Grouped<'_, '_>,
    relaxed: &GroupRelaxation,
    start: Option<&Coefficients>,
    options: &Options,
    limits: &Limits,
) -> Result<Coefficients> {
    let mut fits = Fits { grouped, options, known: HashMap::new() };
    let mut best = fits.fit(&[])?;
    let rounded = [0.0, 0.25, 0.5, 0.9].map(|share| relaxed.rounded(grouped, share));
    for start in rounded.iter().chain(start) {
        let start = grouped.chosen(start);
        let mut current = fits.fit(&start)?;
        while limits.stop(0).is_none() {
            let Some(next) = fits.better(&current)? else { break };
            current = next;
        }
        if current.0 < best.0 {
            best = current;
        }
    }
    Ok(best.1)
}

/// Fits of choices of groups, each made once: P and the coefficients.
struct Fits<'f, 'p, 'a> {
    grouped: &'f Grouped<'p, 'a>,
    options: &'f Options,
    known: HashMap<Vec<usize>, (f64, Coefficients)>,
}

impl Fits<'_, '_, '_> {
    /// The fit with these groups, ascending, in the model.
    fn fit(&mut self, chosen: &[usize]) -> Result<(f64, Coefficients)> {
        if let Some(known) = self.known.get(chosen) {
            return Ok(known.clone());
        }
        let problem = self.grouped.problem;
        let (mut lower, mut upper) = (vec![0.0; problem.ncols()], vec![0.0; problem.ncols()]);
        for &j in chosen.iter().flat_map(|&g| &self.grouped.groups.members[g]) {
            (lower[j], upper[j]) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        let Penalty { lambda1, lambda2, .. } = *problem.penalty();
        let penalty = Penalty::new(0.0, lambda1, lambda2).with_bounds(Bounds::Each(lower, upper));
        // A fit is the answer itself: the tolerance of the relaxation is not for it.
        let (gap, method) = (self.options.relaxation_gap.min(1e-11), crate::Method::Incremental);
        let options = Options { method, warm_start: None, relaxation_gap: gap, gap, ..self.options.clone() };
        let found = crate::solve(&problem.with_penalty(penalty)?, &options)?.coefficients;
        let fit = (self.grouped.objective(&found), found);
        self.known.insert(chosen.to_vec(), fit.clone());
        Ok(fit)
    }

    /// The best of the choices one group away, if it is better.
    fn better(&mut self, current: &(f64, Coefficients)) -> Result<Option<(f64, Coefficients)>> {
        let chosen = self.grouped.chosen(&current.1);
        let adding = self.promising(&current.1, &chosen);
        let without = |i: usize| chosen.iter().copied().filter(|&g| g != i).collect::<Vec<usize>>();
        let mut choices: Vec<Vec<usize>> = chosen.iter().map(|&i| without(i)).collect();
        for &j in &adding {
            choices.push([chosen.as_slice(), &[j]].concat());
            choices.extend(chosen.iter().map(|&i| [without(i), vec![j]].concat()));
        }
        let mut best: Option<(f64, Coefficients)> = None;
        for mut choice in choices {
            choice.sort_unstable();
            let fit = self.fit(&choice)?;
            if fit.0 < best.as_ref().unwrap_or(current).0 * (1.0 - 1e-12) {
                best = Some(fit);
            }
        }
        Ok(best)
    }

    /// The groups outside with the least λ0_g + Σ φ_j⁰ (MATH 9.4) at the current dual point.
    fn promising(&self, coefficients: &Coefficients, chosen: &[usize]) -> Vec<usize> {
        let (groups, tau) = (self.grouped.groups, self.grouped.problem.correlations_at(coefficients));
        let worth = |g: usize| groups.members[g].iter().map(|&j| self.grouped.selected(j).phi(tau[j])).sum::<f64>();
        let outside = (0..groups.len()).filter(|g| !chosen.contains(g));
        let mut order: Vec<(f64, usize)> = outside.map(|g| (self.grouped.price(g) + worth(g), g)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.iter().take(CANDIDATES).map(|o| o.1).collect()
    }
}
