//! Nodes with more open features than memory holds columns of: their relaxation is closed by passes over the rest of X (MATH 11.23–11.25).
//! A feature is *near* when its column is in memory, *far* when it is not.

use crate::control::{Limits, Monitor};
use crate::design::{Reaching, reaching};
use crate::error::Result;
use crate::exact::node::bound::solves;
use crate::exact::node::decide::decide;
use crate::exact::node::products::{LatestProducts, Products};
use crate::exact::node::relax::relax_after;
use crate::exact::node::round::round;
use crate::exact::node::start::start;
use crate::exact::node::{FarCosts, Members, Node, NodeRelaxation, is_listed};
use crate::exact::tree::{CORE_PAIR_BYTES, Tree};
use crate::kernel::each::{chosen, each, union};
use crate::problem::{Unlisted, screening};
use rayon::prelude::*;
use std::sync::Arc;

/// A list of far features is long where it has so many times as many as are near: those of it that have come near cost less than a copy
/// without them. Not tuned.
const LONG_LIST: usize = 16;

/// The most columns whose inner products a node keeps for those that it is split into: of the dozens that wait for a pass they take 4 MB each. Not
/// tuned.
const MOST_KEPT: usize = 700;

/// A node relaxed on the near features alone.
pub(in crate::exact) struct Pending {
    pub node: Node,
    pub relaxed: NodeRelaxation,
    /// How many columns were in memory then.
    pub known: usize,
    /// Inner products of what it worked on.
    pub products: Products,
}

/// What a pass tells of a node's far features.
pub(in crate::exact) struct FarView {
    /// Those that it lists, ascending, with their rough correlations.
    listed: Vec<usize>,
    rough: Vec<f64>,
    unlisted: Unlisted,
}

impl FarView {
    /// Of so much that was found.
    pub(in crate::exact) fn new(found: Vec<Reaching>, unlisted: Unlisted) -> Self {
        let listed = found.iter().map(|r| r.feature as usize).collect();
        Self { listed, rough: found.iter().map(|r| f64::from(r.value)).collect(), unlisted }
    }
}

/// What the far features add to a node's bound.
pub(in crate::exact) struct FarTerms {
    /// Σ Ψ_j(x_jᵀα) over the far features, from below.
    pub sum: f64,
    /// Those beyond their thresholds, by how far they are.
    pub violating: Vec<(f64, usize)>,
}

impl Tree<'_, '_> {
    /// So many nodes at a time, or more where pairs are listed elsewhere and the tree does not end soon. It does not depend on how many threads
    /// there are.
    pub(super) fn at_a_time(&self, nodes: usize) -> usize {
        let tuning = &self.setting.tuning;
        let is_more = self.processed >= tuning.search_from && self.setting.problem.design().lists_pairs();
        if is_more { tuning.more_elsewhere * nodes } else { nodes }
    }

    /// Columns that may still come into memory; where all may, there is no limit: another node may have brought them near meanwhile.
    fn vacancies(&self) -> usize {
        match self.near.most_columns(self.setting.tuning.memory_for_columns) {
            most if most >= self.setting.problem.ncols() => usize::MAX,
            most => most.saturating_sub(self.near.active.len()),
        }
    }

    /// D_node(α) = D_near(α) + Σ_{j far} Ψ_j(x_jᵀα) (MATH 11.23): relaxes the nodes on the near features, splits them as if these were
    /// all, and looks at the far features with the dual points of what that ends in, in one pass; takes in those that violate
    /// optimality, and repeats until each bound prunes or none does. Far features that the optimality rule excludes with a node's bound
    /// stay behind.
    pub(super) fn look_far(&mut self, nodes: Vec<Node>, monitor: &mut Monitor<'_>) -> Result<()> {
        // Of all nodes that they are split into.
        let open = together(&nodes);
        let mut pending = match self.relax_all(nodes, monitor.limits()) {
            Ok(relaxed) => relaxed,
            Err(nodes) => {
                self.postpone(nodes);
                return Ok(());
            }
        };
        self.dive(&mut pending, monitor)?;
        while !pending.is_empty() {
            let far = self.without_near(&open);
            if !monitor.has_time_to_sweep(self.sweep_work(far.len() * pending.len())) {
                self.postpone(pending.into_iter().map(|p| p.node));
                return Ok(());
            }
            let known = self.near.active.len();
            let unfinished = self.pass(pending, &far, monitor)?;
            // What came near violates the optimality of some of them, which will all work on it.
            self.share_products((known..self.near.active.len()).collect())?;
            match self.relax_all(unfinished, monitor.limits()) {
                Ok(relaxed) => pending = relaxed,
                Err(nodes) => {
                    self.postpone(nodes);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Multiplications of double precision that take as long as so many correlations in single precision.
    fn sweep_work(&self, correlations: usize) -> f64 {
        0.25 * (correlations * self.setting.problem.nrows()) as f64
    }

    /// Those whose columns are not in memory, and a few of the others where the list is long: it is shared then, not copied.
    fn without_near(&self, far: &Arc<Vec<usize>>) -> Arc<Vec<usize>> {
        if far.len() > LONG_LIST * self.near.active.len() {
            return far.clone();
        }
        Arc::new(chosen(far.len(), |k| Some(far[k]).filter(|&j| self.near.position(j).is_none())))
    }

    /// All relaxed on the near features, or all given back where there is no time left for one of them.
    fn relax_all(&self, nodes: Vec<Node>, limits: &Limits) -> std::result::Result<Vec<Pending>, Vec<Node>> {
        // Each starts with the inner products of all columns in memory.
        let work = (self.near.active.len() * self.setting.problem.nrows()) as f64;
        let one = |node: Node| match limits.has_time_for(work) {
            true => Ok(self.relax_near(node, &Products::default(), limits)),
            false => Err(node),
        };
        let relaxed: Vec<std::result::Result<Pending, Node>> = nodes.into_par_iter().map(one).collect();
        match relaxed.iter().all(|one| one.is_ok()) {
            true => Ok(relaxed.into_iter().flatten().collect()),
            false => Err(relaxed.into_iter().map(|one| one.map_or_else(|node| node, |p| p.node)).collect()),
        }
    }

    /// One pass over the far features with all dual points (MATH 11.25), which tells of those that matter; the nodes that are to be relaxed
    /// again.
    fn pass(&mut self, pending: Vec<Pending>, far: &Arc<Vec<usize>>, monitor: &mut Monitor<'_>) -> Result<Vec<Node>> {
        let problem = self.setting.problem;
        let vectors: Vec<&[f64]> = pending.iter().map(|p| p.relaxed.alpha.as_slice()).collect();
        let unlisted: Vec<Unlisted> = pending.iter().map(|p| self.unlisted(&p.relaxed)).collect();
        let limits: Vec<f64> = unlisted.iter().map(|u| u.below).collect();
        let begun = monitor.seconds();
        let found = reaching(problem.design(), far, &vectors, &limits, &|| monitor.check())?;
        monitor.swept(self.sweep_work(far.len() * vectors.len()), monitor.seconds() - begun);
        monitor.passes += far.len() as f64 / problem.ncols() as f64;
        let told = pending.par_iter().zip(found).map(|(one, found)| self.told_of(one, far, found));
        let told: Vec<Vec<Reaching>> = told.collect();
        let mut unfinished = Vec::new();
        for ((one, unlisted), found) in pending.into_iter().zip(unlisted).zip(told) {
            unfinished.extend(self.finish_with_far(one, FarView::new(found, unlisted), monitor)?);
        }
        Ok(unfinished)
    }

    /// D + max(0, φ_j) > P̂ (MATH 5.4) for D ≥ P̂ − (P̂ − D_near)/(1 − 0.01): what a pass need not tell of a node that is looked at again
    /// only where the far features take no more than 0.01 of its gap.
    pub(in crate::exact) fn unlisted(&self, relaxed: &NodeRelaxation) -> Unlisted {
        let best = self.pool.limit();
        let gap = (best - relaxed.dual).max(0.0) / (1.0 - self.setting.tuning.far_gap_share);
        let penalty = self.setting.priced_outside(relaxed.multiplier);
        let outside = (penalty, self.setting.least_threshold(relaxed.multiplier));
        self.bounds.unlisted(&relaxed.alpha, outside, best - gap, best)
    }

    /// What a pass has found, without those that were near when the node was relaxed, or are open in other nodes of the pass alone.
    fn told_of(&self, one: &Pending, far: &Arc<Vec<usize>>, found: Vec<Reaching>) -> Vec<Reaching> {
        let is_own = |j: usize| Arc::ptr_eq(far, &one.node.far) || is_listed(&one.node.far, j);
        let is_far = |j: usize| self.near.position(j).is_none_or(|k| k >= one.known) && is_own(j);
        found.into_iter().filter(|r| is_far(r.feature as usize)).collect()
    }

    /// Puts nodes back for which no time is left: what is known of them is what was of the node they come from.
    fn postpone(&mut self, nodes: impl IntoIterator<Item = Node>) {
        self.out_of_time = true;
        nodes.into_iter().for_each(|node| self.frontier.push(node));
    }

    /// The node's relaxation as if the near features were all, with the inner products of the node before it.
    pub(in crate::exact) fn relax_near(&self, node: Node, before: &Products, limits: &Limits) -> Pending {
        let context = self.context();
        let mut products = LatestProducts::after(before);
        let relaxed = relax_after(&context, start(&context, &node), &mut products, &self.goal(), limits);
        let (waiting, share) =
            (self.at_a_time(self.setting.tuning.nodes_per_pass), self.setting.tuning.memory_for_nodes);
        let most = self.memory.most(share, (0, MOST_KEPT), |columns| 8.0 * columns * columns * waiting as f64);
        let products = Some(products.into_own()).filter(|own| own.len() <= most).unwrap_or_default();
        Pending { node, relaxed, known: self.near.active.len(), products }
    }

    /// The features at some positions join the core, as far as memory has room: their inner products are made once for all nodes that
    /// work on them, not once for each.
    pub(super) fn share_products(&mut self, positions: Vec<usize>) -> Result<()> {
        let share = self.setting.tuning.memory_for_columns;
        let columns = (0, self.core.most_columns(share));
        let most = self.memory.most(share, columns, |columns| CORE_PAIR_BYTES * columns * columns);
        self.core.include_until(positions.into_iter().map(|k| self.near.active.features()[k]), most)?;
        self.extend_core();
        Ok(())
    }

    /// D_near(α) + Σ_{j far} Ψ_j(x_jᵀα) (MATH 11.23) of a node, from rough correlations: closes or splits the node, or gives it back, the
    /// features that violate its optimality most taken in, when it is neither pruned nor tight enough.
    fn finish_with_far(&mut self, one: Pending, view: FarView, monitor: &mut Monitor<'_>) -> Result<Option<Node>> {
        let Pending { mut node, mut relaxed, known, .. } = one;
        let terms = self.far_terms(&relaxed, &view, monitor)?;
        let dual = relaxed.dual + terms.sum;
        let bound = dual.max(node.bound);
        if bound > self.cutoff() {
            self.frontier.close(bound, false);
            return Ok(None);
        }
        // What the node is closed with if its minimiser is an answer must be as tight as that is.
        let small = match solves(&self.context(), &relaxed, self.node_room()) {
            true => self.node_room(),
            false => self.setting.tuning.far_gap_share * (self.pool.limit() - bound).max(0.0),
        };
        let is_tight = terms.sum >= -small || monitor.stop(0).is_some();
        // Columns that there is no room for are left where they are, with a bound that counts them.
        let vacancies = self.vacancies();
        if terms.violating.is_empty() || is_tight || vacancies == 0 {
            self.starved |= !terms.violating.is_empty() && !is_tight;
            self.leave_out(&mut node, &relaxed, view, dual)?;
            (relaxed.dual, relaxed.bound) = (dual, bound);
            self.close_or_split_far(Pending { node, relaxed, known, products: Products::default() }, monitor)?;
            return Ok(None);
        }
        self.bring_near(terms.violating, vacancies)?;
        (node.beta, node.multiplier) = (relaxed.members.nonzeros(), relaxed.multiplier);
        Ok(Some(node))
    }

    /// Σ_{j far} Ψ_j(x_jᵀα) (MATH 11.23), those that may be beyond their threshold computed anew in double precision (MATH 11.25).
    pub(in crate::exact) fn far_terms(
        &self,
        relaxed: &NodeRelaxation,
        view: &FarView,
        monitor: &mut Monitor<'_>,
    ) -> Result<FarTerms> {
        let (problem, listed) = (self.setting.problem, &view.listed);
        let coordinate = |k: usize| self.setting.priced(listed[k], relaxed.multiplier);
        let least = self.setting.least_threshold(relaxed.multiplier);
        let places = self.bounds.unsure(&relaxed.alpha, listed, &view.rough, least, coordinate);
        let beyond: Vec<usize> = places.iter().map(|&k| listed[k]).collect();
        let mut tau = vec![0.0; beyond.len()];
        problem.design().correlate(&beyond, &relaxed.alpha, &mut tau)?;
        monitor.passes += beyond.len() as f64 / problem.ncols() as f64;
        let sum = self.bounds.least_psi_sum(&relaxed.alpha, &beyond, &tau, least, |m| coordinate(places[m]));
        let excess = |(m, t): (usize, &f64)| (t.abs() - coordinate(places[m]).threshold(*t), beyond[m]);
        Ok(FarTerms { sum, violating: tau.iter().enumerate().map(excess).filter(|v| v.0 > 0.0).collect() })
    }

    /// Leaves the far features that the optimality rule does not exclude (MATH 5.4) with the node's D and the ends of their rough
    /// correlations. Where the ends disagree the correlation itself decides, so that single precision decides nothing. All stay open where
    /// the pass has not told enough.
    pub(in crate::exact) fn leave_out(
        &self,
        node: &mut Node,
        relaxed: &NodeRelaxation,
        view: FarView,
        dual: f64,
    ) -> Result<()> {
        if dual < view.unlisted.excluded_from {
            return Ok(());
        }
        let (best, listed) = (self.pool.limit(), &view.listed);
        let coordinate = |k: usize| self.setting.priced(listed[k], relaxed.multiplier);
        let excludes = |k: usize, t: f64| screening::in_no_optimal_subset(coordinate(k), t, dual, best);
        let mut ends = self.bounds.rough_ends(&relaxed.alpha, listed, &view.rough, coordinate);
        // All of them in one trip, wherever the columns are.
        let unsure = chosen(listed.len(), |k| Some(k).filter(|&k| excludes(k, ends[k].1) && !excludes(k, ends[k].0)));
        for (&k, outer) in unsure.iter().zip(self.outer_correlations(relaxed, listed, &unsure)?) {
            ends[k].0 = outer;
        }
        let left = chosen(listed.len(), |k| (!excludes(k, ends[k].0)).then_some(k));
        node.far = Arc::new(each(left.len(), |m| listed[left[m]]));
        if self.lists_pairs() {
            let part = |k: usize| FarCosts::part(coordinate(k).phi(ends[k].0), (dual, best));
            let (features, parts) = (node.far.clone(), each(left.len(), |m| part(left[m])));
            node.costs = Some(Arc::new(FarCosts { features, parts }));
        }
        Ok(())
    }

    /// The features that violate most come into memory, as many as were near at most, or as there are samples among subsets that add some.
    fn bring_near(&mut self, mut violating: Vec<(f64, usize)>, vacancies: usize) -> Result<()> {
        violating.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        // At a lower price of their own nodes ask for tens of thousands, of which those that come first leave few.
        let most = match self.setting.added {
            Some(_) => self.setting.problem.nrows(),
            None => self.near.active.len(),
        };
        let most = most.max(self.setting.tuning.least_brought);
        violating.truncate(most.min(vacancies));
        self.near.include_all(&violating.iter().map(|v| v.1).collect::<Vec<_>>())
    }

    /// x_jᵀα of the features at these places of a list at the node's dual point, at the end of their rounding where φ is least (MATH
    /// 3.13).
    fn outer_correlations(&self, relaxed: &NodeRelaxation, far: &[usize], places: &[usize]) -> Result<Vec<f64>> {
        let features: Vec<usize> = places.iter().map(|&k| far[k]).collect();
        let (problem, mut tau) = (self.setting.problem, vec![0.0; features.len()]);
        problem.design().correlate(&features, &relaxed.alpha, &mut tau)?;
        let coordinate = |k: usize| self.setting.priced(features[k], relaxed.multiplier);
        Ok(self.bounds.outer_correlations(&relaxed.alpha, &features, &tau, coordinate))
    }

    /// Decides, rounds and splits as for a node without far features; few enough of them come near.
    pub(in crate::exact) fn close_or_split_far(&mut self, one: Pending, monitor: &mut Monitor<'_>) -> Result<()> {
        let Pending { mut node, mut relaxed, known, .. } = one;
        if relaxed.bound <= self.cutoff() {
            let context = self.context();
            decide(&context, &mut relaxed, self.pool.limit());
            let point = round(&context, &relaxed, monitor.limits());
            if point.value < self.pool.limit() {
                self.offer(&point.beta, relaxed.intercept, monitor)?;
            }
        }
        let inside = relaxed.members.inside();
        if self.setting.size.is_some_and(|k| inside >= k) {
            node.far = Arc::default();
        }
        self.join_members(&mut relaxed.members, &node.far, known)?;
        node.far = self.without_near(&node.far);
        self.close_or_split(node, relaxed, monitor)
    }

    /// Far features that come near, or that another node has brought near since the node was relaxed with so many `known`, become members.
    /// All come where they are few; a node whose members are all decided still has the subsets with far features: some must come to be
    /// split on.
    ///
    /// The children know these features by the list their parent keeps, then as positions of their own.
    fn join_members(&mut self, members: &mut Members, far: &[usize], known: usize) -> Result<()> {
        let few = self.setting.tuning.joining_to_split;
        let wanted = match far.len() + self.near.active.len() <= self.most_near {
            true => usize::MAX,
            false if members.inside() == members.len() => few,
            false => 0,
        };
        let vacancies = self.vacancies();
        self.starved |= vacancies == 0 && wanted == few;
        let joining = wanted.min(vacancies);
        let came = &self.near.active.features()[known..];
        let mut joined: Vec<usize> = came.iter().copied().filter(|&j| is_listed(far, j)).collect();
        joined.extend(far.iter().copied().filter(|&j| self.near.position(j).is_none()).take(joining));
        joined.sort_unstable();
        self.near.include_all(&joined)?;
        joined.into_iter().filter_map(|j| self.near.position(j)).for_each(|k| members.push_free(k));
        Ok(())
    }
}

/// The far features of some nodes together, ascending; the list itself where they share one.
fn together(nodes: &[Node]) -> Arc<Vec<usize>> {
    let mut lists: Vec<&Arc<Vec<usize>>> = Vec::new();
    for node in nodes {
        if !lists.iter().any(|list| Arc::ptr_eq(list, &node.far)) {
            lists.push(&node.far);
        }
    }
    match lists[..] {
        [one] => one.clone(),
        _ => Arc::new(union(&lists.iter().map(|list| list.as_slice()).collect::<Vec<_>>())),
    }
}
