//! Nodes with more open features than memory holds columns of: their relaxation is closed by passes over the rest of X (MATH 11.23–11.25).
//! A feature is *near* when its column is in memory, *far* when it is not.

use crate::control::{Limits, Monitor};
use crate::design::correlate_roughly;
use crate::error::Result;
use crate::exact::node::bound::{correlate, measure, solves};
use crate::exact::node::branch::branch;
use crate::exact::node::decide::decide;
use crate::exact::node::minimise::next_working;
use crate::exact::node::relax::relax;
use crate::exact::node::round::round;
use crate::exact::node::start::start;
use crate::exact::node::{Link, Members, Node, NodeRelaxation};
use crate::exact::tree::{CORE_PAIR_BYTES, Tree};
use crate::kernel::each::{chosen, each};
use crate::problem::screening;
use rayon::prelude::*;
use std::sync::Arc;

/// A node relaxed on the near features alone.
pub(in crate::exact) struct Pending {
    pub node: Node,
    pub relaxed: NodeRelaxation,
}

/// What the far features add to a node's bound.
struct FarTerms {
    /// Σ Ψ_j(x_jᵀα) over the far features, from below.
    sum: f64,
    /// Those beyond their thresholds, by how far they are.
    violating: Vec<(f64, usize)>,
}

impl Tree<'_, '_> {
    /// Columns that may still come into memory; where all may, there is no limit: another node may have brought them near meanwhile.
    fn vacancies(&self) -> usize {
        match self.near.most_columns(self.setting.tuning.memory_for_columns) {
            most if most >= self.setting.problem.ncols() => usize::MAX,
            most => most.saturating_sub(self.near.active.len()),
        }
    }

    /// D_node(α) = D_near(α) + Σ_{j far} Ψ_j(x_jᵀα) (MATH 11.23): relaxes the node on the near features, splits it as if these were all,
    /// and looks at the far features with the dual points of what that ends in, in one pass; takes in those that violate optimality,
    /// and repeats until each bound prunes or none does. Far features that the optimality rule excludes with a node's bound stay
    /// behind.
    pub(super) fn look_far(&mut self, node: Node, monitor: &mut Monitor<'_>) -> Result<()> {
        // Of all nodes that it is split into.
        let open = node.far.clone();
        let mut pending = vec![self.relax_near(node, monitor.limits())];
        self.dive(&mut pending, monitor)?;
        while !pending.is_empty() {
            let far = self.not_near(&open);
            if !monitor.has_time_for(0.25 * (far.len() * pending.len() * self.setting.problem.nrows()) as f64) {
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

    /// Those whose columns are not in memory.
    fn not_near(&self, features: &[usize]) -> Vec<usize> {
        chosen(features.len(), |k| Some(features[k]).filter(|&j| self.near.position(j).is_none()))
    }

    /// All relaxed on the near features, or all given back where there is no time left for one of them.
    fn relax_all(&self, nodes: Vec<Node>, limits: &Limits) -> std::result::Result<Vec<Pending>, Vec<Node>> {
        // Each starts with the inner products of all columns in memory.
        let work = (self.near.active.len() * self.setting.problem.nrows()) as f64;
        let one = |node: Node| match limits.has_time_for(work) {
            true => Ok(self.relax_near(node, limits)),
            false => Err(node),
        };
        let relaxed: Vec<std::result::Result<Pending, Node>> = nodes.into_par_iter().map(one).collect();
        match relaxed.iter().all(|one| one.is_ok()) {
            true => Ok(relaxed.into_iter().flatten().collect()),
            false => Err(relaxed.into_iter().map(|one| one.map_or_else(|node| node, |p| p.node)).collect()),
        }
    }

    /// One pass over the far features with all dual points (MATH 11.25); the nodes that are to be relaxed again.
    fn pass(&mut self, pending: Vec<Pending>, far: &[usize], monitor: &mut Monitor<'_>) -> Result<Vec<Node>> {
        let problem = self.setting.problem;
        let vectors: Vec<&[f64]> = pending.iter().map(|p| p.relaxed.alpha.as_slice()).collect();
        let mut rough = vec![0.0; far.len() * vectors.len()];
        correlate_roughly(problem.design(), far, &vectors, &mut rough, &|| monitor.check())?;
        monitor.passes += far.len() as f64 / problem.ncols() as f64;
        let (count, mut unfinished) = (pending.len(), Vec::new());
        for (v, one) in pending.into_iter().enumerate() {
            let of_one = each(far.len(), |k| f64::from(rough[k * count + v]));
            unfinished.extend(self.finish_with_far(one, far, &of_one, monitor)?);
        }
        Ok(unfinished)
    }

    /// Puts nodes back for which no time is left: what is known of them is what was of the node they come from.
    fn postpone(&mut self, nodes: impl IntoIterator<Item = Node>) {
        self.out_of_time = true;
        nodes.into_iter().for_each(|node| self.frontier.push(node));
    }

    /// The node's relaxation as if the near features were all.
    pub(in crate::exact) fn relax_near(&self, node: Node, limits: &Limits) -> Pending {
        let context = self.context();
        let relaxed = relax(&context, start(&context, &node), &self.goal(), limits);
        Pending { node, relaxed }
    }

    /// Splits the node with the lowest value, which the near features alone give it, until there are as many as share a pass or all
    /// seem to be closed. Nothing is decided on the word of such a value, but which nodes are looked at.
    fn dive(&mut self, pending: &mut Vec<Pending>, monitor: &Monitor<'_>) -> Result<()> {
        while pending.len() < self.setting.tuning.nodes_per_pass && monitor.stop(0).is_none() {
            let is_open = |p: &Pending| p.relaxed.dual <= self.cutoff() && !solves(&self.context(), &p.relaxed, 0.0);
            let lowest = |&a: &usize, &b: &usize| pending[a].relaxed.dual.total_cmp(&pending[b].relaxed.dual);
            let Some(first) = (0..pending.len()).filter(|&a| is_open(&pending[a])).min_by(lowest) else {
                return Ok(());
            };
            let Some(member) = branch(&self.context(), &pending[first].relaxed) else { return Ok(()) };
            let Pending { node, relaxed } = pending.remove(first);
            let (position, beta) = (relaxed.members.positions[member] as u32, relaxed.members.nonzeros());
            self.share_products(next_working(&self.context(), &relaxed))?;
            let parent = Node { beta, multiplier: relaxed.multiplier, ..node };
            let [without, with] = [(vec![], vec![position]), (vec![position], vec![])]
                .map(|(inside, outside)| self.child(&parent, Link { parent: parent.link.clone(), inside, outside }));
            self.processed += 2;
            let (this, limits) = (&*self, monitor.limits());
            let relax = |child: Node| {
                let mut child = this.relax_near(child, limits);
                this.blend_with_parent(&mut child.relaxed, &relaxed);
                child
            };
            let (without, with) = rayon::join(|| relax(without), || relax(with));
            pending.extend([without, with]);
        }
        Ok(())
    }

    /// The features at some positions join the core, as far as memory has room: their inner products are made once for all nodes that
    /// work on them, not once for each.
    fn share_products(&mut self, positions: Vec<usize>) -> Result<()> {
        let share = self.setting.tuning.memory_for_columns;
        let columns = (0, self.core.most_columns(share));
        let most = self.memory.most(share, columns, |columns| CORE_PAIR_BYTES * columns * columns);
        for k in positions {
            if self.core.active.len() < most {
                self.core.include(self.near.active.features()[k])?;
            }
        }
        self.extend_core();
        Ok(())
    }

    /// α = (1 − ϑ)α_parent + ϑα_own, the least ϑ found with D_near ≥ cutoff + 0.3(cutoff − D_parent) (MATH 11.24): moves the dual point of
    /// a node that seems closed back towards its parent's, where far features hardly violate anything, as far as it still seems closed
    /// there, with room for those that do. Any dual point gives a bound.
    fn blend_with_parent(&self, child: &mut NodeRelaxation, parent: &NodeRelaxation) {
        let (cutoff, tuning) = (self.cutoff(), &self.setting.tuning);
        let wanted = cutoff + tuning.spare_share * (cutoff - parent.dual);
        if child.dual <= wanted || child.inherited.is_some() {
            return;
        }
        let (context, own) = (self.context(), child.clone());
        let mut before = NodeRelaxation { alpha: parent.alpha.clone(), ..child.clone() };
        correlate(&context, &mut before);
        // D is concave along the way, and at its end more than is wanted.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..tuning.blend_halvings {
            let theta = 0.5 * (low + high);
            child.alpha = blend(&before.alpha, &own.alpha, theta);
            child.members.tau = blend(&before.members.tau, &own.members.tau, theta);
            measure(&context, child);
            if child.dual > wanted { high = theta } else { low = theta }
        }
        child.alpha = blend(&before.alpha, &own.alpha, high);
        self.setting.problem.project(&mut child.alpha);
        correlate(&context, child);
        measure(&context, child);
        if child.dual <= cutoff {
            *child = own;
        }
    }

    /// D_near(α) + Σ_{j far} Ψ_j(x_jᵀα) (MATH 11.23) of a node, from rough correlations: closes or splits the node, or gives it back, the
    /// features that violate its optimality most taken in, when it is neither pruned nor tight enough.
    fn finish_with_far(
        &mut self,
        one: Pending,
        far: &[usize],
        rough: &[f64],
        monitor: &mut Monitor<'_>,
    ) -> Result<Option<Node>> {
        let Pending { mut node, mut relaxed } = one;
        let terms = self.far_terms(&relaxed, far, rough, monitor)?;
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
            node.far = Arc::new(self.still_open(&relaxed, far, rough, dual)?);
            (relaxed.dual, relaxed.bound) = (dual, bound);
            self.close_or_split_far(node, relaxed, monitor)?;
            return Ok(None);
        }
        self.bring_near(terms.violating, vacancies)?;
        (node.beta, node.multiplier) = (relaxed.members.nonzeros(), relaxed.multiplier);
        Ok(Some(node))
    }

    /// Σ_{j far} Ψ_j(x_jᵀα) (MATH 11.23), those that may be beyond their threshold computed anew in double precision (MATH 11.25).
    fn far_terms(
        &self,
        relaxed: &NodeRelaxation,
        far: &[usize],
        rough: &[f64],
        monitor: &mut Monitor<'_>,
    ) -> Result<FarTerms> {
        let problem = self.setting.problem;
        let coordinate = |k: usize| problem.coordinate(far[k]).priced(relaxed.multiplier);
        let places = self.bounds.unsure(&relaxed.alpha, far, rough, coordinate);
        let beyond: Vec<usize> = places.iter().map(|&k| far[k]).collect();
        let mut tau = vec![0.0; beyond.len()];
        problem.design().correlate(&beyond, &relaxed.alpha, &mut tau)?;
        monitor.passes += beyond.len() as f64 / problem.ncols() as f64;
        let sum = self.bounds.least_psi_sum(&relaxed.alpha, &beyond, &tau, |m| coordinate(places[m]));
        let excess = |(m, t): (usize, &f64)| (t.abs() - coordinate(places[m]).threshold(*t), beyond[m]);
        Ok(FarTerms { sum, violating: tau.iter().enumerate().map(excess).filter(|v| v.0 > 0.0).collect() })
    }

    /// The far features that the optimality rule does not exclude (MATH 5.4) with the node's D and the ends of their rough correlations.
    /// Where the ends disagree the correlation itself decides, so that single precision decides nothing.
    fn still_open(&self, relaxed: &NodeRelaxation, far: &[usize], rough: &[f64], dual: f64) -> Result<Vec<usize>> {
        let (problem, best) = (self.setting.problem, self.pool.limit());
        let coordinate = |k: usize| problem.coordinate(far[k]).priced(relaxed.multiplier);
        let excludes = |k: usize, t: f64| screening::in_no_optimal_subset(coordinate(k), t, dual, best);
        let mut ends = self.bounds.rough_ends(&relaxed.alpha, far, rough, coordinate);
        // All of them in one trip, wherever the columns are.
        let unsure = chosen(far.len(), |k| Some(k).filter(|&k| excludes(k, ends[k].1) && !excludes(k, ends[k].0)));
        for (&k, outer) in unsure.iter().zip(self.outer_correlations(relaxed, far, &unsure)?) {
            ends[k].0 = outer;
        }
        Ok(chosen(far.len(), |k| (!excludes(k, ends[k].0)).then_some(far[k])))
    }

    /// The features that violate most come into memory, as many as were near at most.
    fn bring_near(&mut self, mut violating: Vec<(f64, usize)>, vacancies: usize) -> Result<()> {
        violating.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let most = self.near.active.len().max(self.setting.tuning.least_brought);
        violating.truncate(most.min(vacancies));
        self.near.include_all(&violating.iter().map(|v| v.1).collect::<Vec<_>>())
    }

    /// x_jᵀα of the features at these places of a list at the node's dual point, at the end of their rounding where φ is least (MATH
    /// 3.13).
    fn outer_correlations(&self, relaxed: &NodeRelaxation, far: &[usize], places: &[usize]) -> Result<Vec<f64>> {
        let features: Vec<usize> = places.iter().map(|&k| far[k]).collect();
        let (problem, mut tau) = (self.setting.problem, vec![0.0; features.len()]);
        problem.design().correlate(&features, &relaxed.alpha, &mut tau)?;
        let coordinate = |k: usize| problem.coordinate(features[k]).priced(relaxed.multiplier);
        Ok(self.bounds.outer_correlations(&relaxed.alpha, &features, &tau, coordinate))
    }

    /// Decides, rounds and splits as for a node without far features; few enough of them come near.
    pub(in crate::exact) fn close_or_split_far(
        &mut self,
        mut node: Node,
        mut relaxed: NodeRelaxation,
        monitor: &mut Monitor<'_>,
    ) -> Result<()> {
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
        self.join_members(&mut relaxed.members, &node.far)?;
        node.far = Arc::new(self.not_near(&node.far));
        self.close_or_split(node, relaxed, monitor)
    }

    /// Far features that come near, or that another node has brought near meanwhile, become members. All come where they are few; a
    /// node whose members are all decided still has the subsets with far features: some must come to be split on.
    ///
    /// The children know these features by the list their parent keeps, then as positions of their own.
    fn join_members(&mut self, members: &mut Members, far: &[usize]) -> Result<()> {
        let few = self.setting.tuning.joining_to_split;
        let wanted = match far.len() + self.near.active.len() <= self.most_near {
            true => usize::MAX,
            false if members.inside() == members.len() => few,
            false => 0,
        };
        let vacancies = self.vacancies();
        self.starved |= vacancies == 0 && wanted == few;
        let mut joining = wanted.min(vacancies);
        let mut is_member = vec![false; self.near.active.len()];
        members.positions.iter().for_each(|&k| is_member[k] = true);
        // Where none may come, only those that are near already are looked at one after the other.
        let asked = chosen(far.len(), |k| Some(far[k]).filter(|&j| joining > 0 || self.near.position(j).is_some()));
        for j in asked {
            let known = self.near.position(j);
            let joins = known.is_none() && joining > 0;
            let position = if joins { Some(self.near.include(j)?) } else { known };
            joining -= usize::from(joins);
            if let Some(k) = position.filter(|&k| !is_member.get(k).is_some_and(|m| *m)) {
                members.push_free(k);
            }
        }
        Ok(())
    }
}

/// (1 − ϑ)a + ϑb.
fn blend(a: &[f64], b: &[f64], theta: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| (1.0 - theta) * a + theta * b).collect()
}
