//! What all nodes look at: the columns in memory, inner products of some of them, and limits.

use crate::control::Memory;
use crate::exact::multiplier::Multiplier;
use crate::exact::node::members::Choice;
use crate::exact::node::relaxation::NodeRelaxation;
use crate::exact::setting::{Added, priced};
use crate::exact::tuning::Tuning;
use crate::penalty::Coordinate;
use crate::problem::{LowerBounds, Problem};
use crate::relaxation::quadratic::{Gram, Metric};
use crate::relaxation::workspace::Workspace;
use faer::Mat;

/// Bytes for each pair of members whose inner products are looked at, with the copies on the way to them.
pub const MEMBER_PAIR_BYTES: f64 = 40.0;

/// What every node looks at. Members of a node are named by their place `a` in it, columns by their position in `near`.
pub struct NodeContext<'g, 'p, 'a> {
    /// The bounds of the problem.
    pub bounds: LowerBounds<'p, 'a>,
    /// The columns that nodes decide about.
    pub near: &'g Workspace<'p, 'a>,
    /// The features that were not zero in some node before, with their inner products for the squared loss.
    pub core: &'g Workspace<'p, 'a>,
    /// The most features allowed.
    pub size: Option<usize>,
    /// The most members among which curvature is moved.
    pub most_curved: usize,
    /// About the size of P.
    pub scale: f64,
    /// The limit on memory.
    pub memory: &'g Memory,
    /// What steers the search.
    pub tuning: &'g Tuning,
    /// Features that nodes are split on before any other, ascending: those of the answer.
    pub first: &'g [usize],
    /// Where it is about subsets that add some to those.
    pub added: Option<Added>,
}

impl<'p, 'a> NodeContext<'_, 'p, 'a> {
    /// The problem, without the limit on its size.
    pub fn problem(&self) -> &'p Problem<'a> {
        self.near.problem
    }

    /// The penalty of a member in the node: π less its λ0 if it is in, with the node's price if it is free (MATH 11.1, 11.5, 13.11), and with
    /// λ2 + d_j/2 in place of λ2 (MATH 11.6).
    pub fn coordinate(&self, node: &NodeRelaxation, a: usize) -> Coordinate {
        let members = &node.members;
        match members.choices[a] {
            Choice::In => self.near.coordinates[members.positions[a]].selected().curved(members.moved[a]),
            _ => self.priced(members.positions[a], node.multiplier).curved(members.moved[a]),
        }
    }

    /// The penalty of the feature at a position in a node with the multiplier.
    pub fn priced(&self, position: usize, multiplier: f64) -> Coordinate {
        let is_first = || self.is_first(position);
        priced(self.near.coordinates[position], multiplier, self.added, is_first)
    }

    /// The search for the multiplier of a node: for the price that makes the relaxation take so many (MATH 11.5, 13.11).
    pub fn multipliers(&self) -> Multiplier {
        let (tries, worth) = (self.tuning.prices, self.tuning.price_worth);
        match self.added {
            Some(added) => Multiplier::between((added.least, 1.0), added.paid, tries, worth),
            None => Multiplier::new(self.size, tries, worth),
        }
    }

    /// The price of most features in a node with the multiplier.
    pub fn price(&self, multiplier: f64) -> f64 {
        let lambda0 = self.problem().penalty().lambda0;
        if self.added.is_some() { multiplier * lambda0 } else { lambda0 + multiplier }
    }

    /// What the feature at a position counts where the relaxation takes it: one, or its price outside the answer (MATH 11.5, 13.11).
    pub fn weight(&self, position: usize) -> f64 {
        match self.added {
            None => 1.0,
            Some(_) if self.is_first(position) => 0.0,
            Some(_) => self.near.coordinates[position].l0,
        }
    }

    /// Whether nodes are split on the feature at a position before any other.
    pub fn is_first(&self, position: usize) -> bool {
        self.first.binary_search(&self.near.active.features()[position]).is_ok()
    }

    /// The free members that are split on before any other.
    pub fn first_free(&self, node: &NodeRelaxation) -> Vec<usize> {
        let is_first =
            |a: &usize| node.members.choices[*a] == Choice::Free && self.is_first(node.members.positions[*a]);
        if self.first.is_empty() { Vec::new() } else { (0..node.members.len()).filter(is_first).collect() }
    }

    /// The feature that a member stands for.
    pub fn feature(&self, node: &NodeRelaxation, a: usize) -> usize {
        self.near.active.features()[node.members.positions[a]]
    }

    /// The features at some positions.
    pub fn features(&self, positions: &[usize]) -> Vec<usize> {
        positions.iter().map(|&k| self.near.active.features()[k]).collect()
    }

    /// Whether a node may take so many bytes, while others are relaxed beside it.
    pub fn fits(&self, bytes: f64) -> bool {
        self.memory.allows(bytes, self.tuning.memory_for_nodes * rayon::current_num_threads())
    }

    /// Multiplications that the inner products of so many members take.
    pub fn products_cost(&self, members: usize) -> f64 {
        let length = self.near.active.stored() / self.near.active.len().max(1);
        0.5 * (members * members * length) as f64
    }

    /// The most members whose inner products a node may have at once.
    pub fn most_working(&self) -> usize {
        let (share, least) = (self.tuning.memory_for_nodes * rayon::current_num_threads(), self.tuning.least_working);
        let most = self.near.active.len().max(least);
        self.memory.most(share, (least, most), |m| MEMBER_PAIR_BYTES * m * m)
    }

    /// x_jᵀα − d_jβ_j, the slope of the smooth part along the member (MATH 11.8).
    pub fn correlation(&self, node: &NodeRelaxation, a: usize) -> f64 {
        let members = &node.members;
        self.near.active.dot(members.positions[a], &node.alpha) - members.moved[a] * members.beta[a]
    }

    /// Square of the length of a column as stored, which a view's shift may cancel: rounding in Q is relative to it.
    pub fn stored_square(&self, node: &NodeRelaxation, a: usize) -> f64 {
        let (problem, j) = (self.problem(), self.feature(node, a));
        let total = problem.weights().map_or(problem.nrows() as f64, crate::kernel::sum);
        (self.bounds.square(j).sqrt() + problem.design().offset(j) * total.sqrt()).powi(2)
    }

    /// Where the core has the inner products of the position.
    fn place_in_core(&self, position: usize) -> Option<usize> {
        let place = self.core.position(self.near.active.features()[position]);
        place.filter(|&k| k < self.core.kept_gram().len())
    }

    /// As [`NodeContext::inner_products`], those that `part` has at the places given copied from there; nothing where some of the others are not
    /// in the core.
    pub fn inner_products_beside(&self, positions: &[usize], part: &Gram, places: &[Option<usize>]) -> Option<Gram> {
        let in_core: Option<Vec<usize>> = positions.iter().map(|&k| self.place_in_core(k)).collect();
        in_core.map(|in_core| self.core.kept_gram().select_beside(&in_core, part, places))
    }

    /// Q = X̂ᵀX̂ over the positions (MATH 1.4): copied from the core as far as it holds them, the products with the others made anew.
    pub fn inner_products(&self, positions: &[usize]) -> Gram {
        let kept = self.core.kept_gram();
        let places: Vec<Option<usize>> = positions.iter().map(|&k| self.place_in_core(k)).collect();
        let known: Vec<usize> = places.iter().flatten().copied().collect();
        let gram = kept.select(&known);
        if known.len() == positions.len() {
            return gram;
        }
        let (first, last): (Vec<usize>, Vec<usize>) = (0..positions.len()).partition(|&e| places[e].is_some());
        let order: Vec<usize> = first.into_iter().chain(last).collect();
        let of_order: Vec<usize> = order.iter().map(|&e| positions[e]).collect();
        let (part, h, mut gram) = (self.near.active.select(&of_order), self.problem().weights(), gram);
        gram.extend(&part, h, &Metric::new(&part, h, self.problem().has_intercept()));
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &e)| back[e] = at);
        gram.select(&back)
    }

    /// x̂ = √w ∘ (x − x̄) (MATH 1.4): the columns at `positions`, centred where there is an intercept and scaled by the roots of the
    /// weights.
    pub fn whitened(&self, positions: &[usize]) -> Mat<f64> {
        let (active, weights) = (&self.near.active, self.problem().weights());
        let (n, total) = (active.nrows(), weights.map_or(active.nrows() as f64, crate::kernel::sum));
        let roots: Option<Vec<f64>> = weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
        let mut columns = Mat::zeros(n, positions.len());
        for (a, &k) in positions.iter().enumerate() {
            let column = columns.col_as_slice_mut(a);
            active.axpy(k, 1.0, column);
            if self.problem().has_intercept() && total > 0.0 {
                let sum = weights.map_or_else(|| crate::kernel::sum(column), |w| crate::kernel::dot(column, w));
                column.iter_mut().for_each(|x| *x -= sum / total);
            }
            if let Some(roots) = &roots {
                column.iter_mut().zip(roots).for_each(|(x, r)| *x *= r);
            }
        }
        columns
    }
}
