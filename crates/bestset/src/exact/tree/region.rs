//! What coherence leaves open: subsets that add many features to those of the best answer (MATH 13.5). They pay for all of them, so that a
//! tree of its own, in which features outside the answer are cheap, closes them.

use crate::coherence::Coherent;
use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::exact::seed::Seed;
use crate::exact::setting::{Added, Setting};
use crate::exact::tree::Tree;
use crate::penalty::{Factors, Penalty};
use crate::problem::Problem;
use crate::relaxation::convex;
use crate::relaxation::workspace::Workspace;
use crate::solution::{Coefficients, Status};
use crate::solver::incremental;
use crate::solver::incremental::Root;

/// Prices outside the answer that a proof file tries, as shares of their own. The higher they are, the fewer features the relaxation takes: n =
/// 1000, p = 10⁴, λ2 = .01 takes 41 nodes and 5.9 s with 0.4, 55 nodes and 4.2 s with 0.6.
pub(in crate::exact) const PRICES: [f64; 4] = [0.6, 0.4, 0.2, 0.1];

/// The prices that a tree's root is made with: the first, then the lower one where that has little to spare for the subsets with all of the answer's features, and the
/// higher one where it has for those with none. Nodes go on from there with prices of their own. Each costs a root.
const ROOTS: [f64; 3] = [0.6, 0.3, 0.8];

/// The least price of a node: below it the relaxation takes in more and more features. Not tuned.
pub(in crate::exact) const LEAST: f64 = 0.25;

/// Features of Â that may stay undecided in a node with the others in it for no other price to be tried: as many times what one gains by being
/// decided is to be spared. n = 1000: with p = 10⁴, λ2 = .01 the first price leaves 2.8, and lower ones take in more features; with p = 10³,
/// λ2 = .001 it leaves 1.1 and takes twice the nodes that half of it does, which leaves 4.4.
const UNDECIDED: f64 = 2.5;

/// By which share the sum of what was saved may be too large.
const ROUNDING: f64 = 1e-12;

/// A tree for a part of the subsets, seen from the tree of all.
pub(in crate::exact) struct Outer {
    /// The bound of all subsets before.
    pub bound: f64,
    /// That of the subsets outside the part.
    pub others: f64,
    /// What features cost that all of the part's subsets have, and that have no price in its problem.
    pub paid: f64,
    /// P of the best answer, and how many features it has.
    pub objective: f64,
    pub support: usize,
}

impl Outer {
    /// A bound of all subsets, from one of the part.
    pub fn bound(&self, part: f64) -> f64 {
        (part + self.paid - ROUNDING * self.paid).min(self.others).min(self.objective).max(self.bound)
    }
}

/// The subsets that a look is about.
pub(super) struct PartOfSubsets<'q, 'b> {
    /// P of them, less what is paid.
    pub problem: &'q Problem<'b>,
    /// The best answer, by the features of that problem.
    pub answer: &'q Coefficients,
    /// What features cost that all of these subsets have, and that have no price in the problem (MATH 13.9).
    pub paid: f64,
}

/// What the bounds of nodes will come to when all of Â is decided.
struct Promises {
    /// D + Σ_Â (π_j(β_j) − ρ_j(β_j)): all of it in.
    inside: f64,
    /// All of it out, but for what has no price; +∞ where that is all.
    outside: f64,
    /// π_j(β_j) − ρ_j(β_j) in the mean: what a feature of Â gains by being decided.
    rise: f64,
}

impl Promises {
    fn least(&self) -> f64 {
        self.inside.min(self.outside)
    }

    /// The same of P, where so much is paid once.
    fn paying(&self, saved: f64) -> Self {
        Self { inside: self.inside + saved, outside: self.outside + saved, rise: self.rise }
    }
}

/// The problem with cheap features outside a subset Â.
pub(in crate::exact) struct Cheap<'a> {
    pub problem: Problem<'a>,
    /// What those who add m₀ features at least pay less here.
    pub saved: f64,
}

impl<'a> Cheap<'a> {
    /// P_ψ with the prices ψλ0 outside Â, and (1 − ψ)(the m₀ least prices outside Â).
    pub fn new(problem: &Problem<'a>, inside: &[usize], added: usize, share: f64) -> Option<Self> {
        let is_outside = |j: usize| inside.binary_search(&j).is_err();
        let penalty = problem.penalty();
        let factor = |j: usize| penalty.price.at(j) * if is_outside(j) { share } else { 1.0 };
        let price = Factors::Each((0..problem.ncols()).map(factor).collect());
        let cheap = problem.with_penalty(Penalty { price, ..penalty.clone() }).ok()?;
        let saved = |j: usize| problem.coordinate(j).l0 - cheap.coordinate(j).l0;
        let mut saved: Vec<f64> = (0..problem.ncols()).filter(|j| is_outside(*j)).map(saved).collect();
        saved.sort_unstable_by(f64::total_cmp);
        // Fewer than so many cannot be added at all.
        let saved = saved.get(..added)?.iter().sum::<f64>() * (1.0 - ROUNDING);
        Some(Self { problem: cheap, saved })
    }

    /// The root, and what the bounds of nodes will come to when all of Â is decided: in, D + Σ_Â (π_j(β_j) − ρ_j(β_j)), or out.
    pub fn root(
        &self,
        answer: &Coefficients,
        options: &Options,
        monitor: &mut Monitor<'_>,
    ) -> Result<Option<(Root, f64)>> {
        let found = self.promises(answer, options, monitor)?;
        Ok(found.map(|(root, promises)| (root, promises.least())))
    }

    /// As [`Cheap::root`], with what the promise is made of.
    fn promises(
        &self,
        answer: &Coefficients,
        options: &Options,
        monitor: &mut Monitor<'_>,
    ) -> Result<Option<(Root, Promises)>> {
        let started = Options { warm_start: Some(answer.clone()), ..options.clone() };
        let root = incremental::sketch(&mut self.workspace(&self.problem, options), &started, monitor)?;
        let rise = |(j, b): (usize, f64)| {
            let c = self.problem.coordinate(j);
            c.value(b) - c.envelope(b)
        };
        let of_answer = root.minimiser.iter().filter(|(j, _)| answer.support.binary_search(j).is_ok());
        let rise = of_answer.map(rise).sum::<f64>();
        let inside = root.outcome.lower_bound + rise;
        // What has no price is in all subsets.
        let priced = |j: &usize| self.problem.coordinate(*j).l0 > 0.0;
        let droppable: Vec<usize> = answer.support.iter().copied().filter(priced).collect();
        let penalty = self.problem.penalty().clone().never(&droppable, self.problem.ncols());
        let Ok(without) = penalty.and_then(|penalty| self.problem.with_penalty(penalty)) else { return Ok(None) };
        let outside = match droppable.is_empty() {
            true => f64::INFINITY,
            false => convex::solve(&mut self.workspace(&without, options), options, monitor)?.lower_bound,
        };
        let rise = rise / answer.support.len().max(1) as f64;
        Ok(Some((root, Promises { inside, outside, rise })))
    }

    fn workspace<'p>(&self, problem: &'p Problem<'a>, options: &Options) -> Workspace<'p, 'a> {
        Workspace::new(problem).within(options.memory())
    }
}

/// What m₀ features outside of the answer cost at least; nothing where there are not so many.
pub(in crate::exact) fn adding(problem: &Problem<'_>, inside: &[usize], added: usize) -> Option<Added> {
    let is_outside = |j: &usize| inside.binary_search(j).is_err();
    let mut prices: Vec<f64> = (0..problem.ncols()).filter(is_outside).map(|j| problem.coordinate(j).l0).collect();
    if added < prices.len() {
        prices.select_nth_unstable_by(added, f64::total_cmp);
    }
    let paid = prices.get(..added)?.iter().fold(0.0, |sum, price| sum + price) * (1.0 - ROUNDING);
    Some(Added { paid, least: LEAST })
}

/// The root of P_ψ as one of the subsets that add some, with ψ for its multiplier (MATH 13.11). Its answer is the one that these add to, unless it has a
/// better one.
pub(in crate::exact) fn part_seed(
    problem: &Problem<'_>,
    mut root: Root,
    (share, added): (f64, Added),
    answer: &Coefficients,
) -> Result<Seed> {
    let (bound, saved) = (root.outcome.lower_bound, added.saved(share));
    root.outcome.lower_bound = bound + saved - 2.0 * f64::EPSILON * (bound.abs() + saved);
    root.objective = problem.value(&root.outcome.coefficients)?;
    let known = problem.value(answer)?;
    if known <= root.objective {
        (root.objective, root.outcome.coefficients) = (known, answer.clone());
    }
    Ok(Seed { root, multiplier: share })
}

/// The root of P_ψ.
pub(in crate::exact) struct RegionRoot {
    /// ψ.
    share: f64,
    root: Root,
    promises: Promises,
}

impl<'p, 'a> Tree<'p, 'a> {
    /// P ≥ min(the bounds of fewer than m₀ added features, min P_ψ + (1 − ψ)(the m₀ least prices outside Â)) (MATH 13.5), where m₀ is
    /// the first number whose bound does not close: raises the floor, if a tree of P_ψ promises to close. False where the limit on
    /// the nodes of the whole search cut that short. `roots` are those of some P_ψ where they are known.
    pub(super) fn search_region(
        &mut self,
        part: &PartOfSubsets<'_, '_>,
        coherent: &Coherent,
        mut roots: Vec<RegionRoot>,
        monitor: &mut Monitor<'_>,
    ) -> Result<bool> {
        let (options, cutoff) = (self.setting.options, self.cutoff());
        let added = coherent.closes(cutoff - part.paid);
        if self.floor > cutoff {
            return Ok(true);
        }
        if roots.is_empty() {
            roots = self.region_roots(part, added, monitor)?;
        }
        let Some(at) = self.most_promising(part, added, &roots) else { return Ok(true) };
        let RegionRoot { share, root, .. } = roots.swap_remove(at);
        let Some(adding) = adding(part.problem, &part.answer.support, added) else { return Ok(true) };
        let most = self.processed + self.setting.tuning.region_nodes;
        let options = Options { max_nodes: Some(options.max_nodes.map_or(most, |m| m.min(most))), ..options.clone() };
        let mut setting = Setting::new(part.problem, None, &options, self.setting.tuning.clone());
        // The answer is below that: it says what closes the part, as in the tree of all.
        setting.ceiling = cutoff - part.paid + self.room();
        (setting.first, setting.added) = (part.answer.support.clone(), Some(adding));
        let seed = part_seed(part.problem, root, (share, adding), part.answer)?;
        let others = coherent.by_added[..added].iter().copied().fold(f64::INFINITY, f64::min) + part.paid;
        let (bound, support) = (self.lower_bound(), part.answer.support.len());
        let others = others.min(self.frontier.closed);
        let outer = Outer { bound, others, paid: part.paid, objective: self.pool.best(), support };
        let mut tree = Tree::of_part(setting, seed, outer, monitor)?;
        tree.processed = self.processed;
        let (bound, ended) = tree.grow_as_part(monitor)?;
        (self.floor, self.processed) = (self.floor.max(bound), tree.processed);
        Ok(ended != Status::NodeLimit || self.setting.options.max_nodes.is_none_or(|m| m >= most))
    }

    /// The roots of P_ψ for the prices outside the answer that are tried, until one has much to spare; none where m₀ is too small or a
    /// limit strikes.
    pub(super) fn region_roots(
        &self,
        part: &PartOfSubsets<'_, '_>,
        added: usize,
        monitor: &mut Monitor<'_>,
    ) -> Result<Vec<RegionRoot>> {
        let Setting { size, options, .. } = self.setting;
        let (problem, support) = (part.problem, &part.answer.support);
        let mut roots: Vec<RegionRoot> = Vec::new();
        if added < 2 || size.is_some() || problem.penalty().lambda0 == 0.0 {
            return Ok(roots);
        }
        let was_muted = std::mem::replace(&mut monitor.muted, true);
        for (at, share) in ROOTS.into_iter().enumerate() {
            if let Some(first) = roots.first() {
                let Some(adding) = adding(problem, support, added) else { break };
                let Promises { inside, outside, rise } = first.promises.paying(adding.saved(first.share) + part.paid);
                let promise = if at == 1 { inside } else { outside };
                if promise - self.cutoff() > UNDECIDED * rise {
                    continue;
                }
            }
            let Some(cheap) = Cheap::new(problem, support, added, share) else { break };
            let Some((root, promises)) = cheap.promises(part.answer, options, monitor)? else { break };
            roots.push(RegionRoot { share, root, promises });
        }
        monitor.muted = was_muted;
        if monitor.stop(0).is_some() {
            roots.clear();
        }
        Ok(roots)
    }

    /// The root that promises most for m₀ added features, `None` where all of them, one for the subsets with all of Â and one for those with
    /// none, do not promise to close what is left.
    pub(super) fn most_promising(
        &self,
        part: &PartOfSubsets<'_, '_>,
        added: usize,
        roots: &[RegionRoot],
    ) -> Option<usize> {
        let adding = adding(part.problem, &part.answer.support, added)?;
        let promises: Vec<Promises> =
            roots.iter().map(|root| root.promises.paying(adding.saved(root.share) + part.paid)).collect();
        let most = |of: fn(&Promises) -> f64| promises.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        let closes = most(|p| p.inside).min(most(|p| p.outside)) > self.cutoff();
        let best = || (0..promises.len()).max_by(|a, b| promises[*a].least().total_cmp(&promises[*b].least()));
        if closes { best() } else { None }
    }

    /// A tree for a part of the subsets: it looks for no answers outside of its nodes, and has no part of its own.
    pub(in crate::exact) fn of_part(
        setting: Setting<'p, 'a>,
        seed: Seed,
        outer: Outer,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self> {
        // Its answers and bounds are of a part of the subsets, by other places.
        let was_muted = std::mem::replace(&mut monitor.muted, true);
        let mut tree = Tree::plant(setting, seed, monitor)?;
        monitor.muted = was_muted;
        (tree.searched, tree.looked_among, tree.outer) = (true, Some(0), Some(outer));
        Ok(tree)
    }

    /// The bound of all subsets when this tree has grown, and why it ended.
    pub(in crate::exact) fn grow_as_part(&mut self, monitor: &mut Monitor<'_>) -> Result<(f64, Status)> {
        let ended = self.grow_on(monitor, None)?;
        let own = self.lower_bound();
        Ok((self.outer.as_ref().map_or(own, |o| o.bound(own)), ended))
    }
}
