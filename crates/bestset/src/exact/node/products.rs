//! Inner products of the columns that a node works on.

use crate::exact::node::NodeContext;
use crate::relaxation::quadratic::Gram;

/// Q − diag(d) (MATH 11.6) over the columns that a node worked on last: the next working set, its own or that of a node it is split into, has
/// most of them, and the core of all nodes is many times as large.
#[derive(Default)]
pub struct Products {
    /// The positions.
    positions: Vec<usize>,
    /// The same with their places in that list, ascending.
    places: Vec<(usize, usize)>,
    /// Q_kk.
    squares: Vec<f64>,
    gram: Gram,
}

impl Products {
    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// The same over other positions, the diagonal aside.
    fn changed_to(&self, context: &NodeContext<'_, '_, '_>, positions: Vec<usize>) -> Self {
        let place = |k: &usize| Some(self.places[self.places.binary_search_by_key(k, |p| p.0).ok()?].1);
        let known: Vec<Option<usize>> = positions.iter().map(place).collect();
        let beside = context.inner_products_beside(&positions, &self.gram, &known);
        let (is_beside, gram) = (beside.is_some(), beside.unwrap_or_else(|| context.inner_products(&positions)));
        // The diagonal of what is copied is another node's.
        let square = |e: usize| known[e].filter(|_| is_beside).map_or_else(|| gram.at(e, e), |at| self.squares[at]);
        let squares = (0..positions.len()).map(square).collect();
        let mut places: Vec<(usize, usize)> = positions.iter().enumerate().map(|(e, &k)| (k, e)).collect();
        places.sort_unstable();
        Self { positions, places, squares, gram }
    }
}

/// The inner products that a relaxation works with, and those of the node before it.
pub struct LatestProducts<'b> {
    before: &'b Products,
    own: Option<Products>,
}

impl<'b> LatestProducts<'b> {
    /// None of its own yet.
    pub fn after(before: &'b Products) -> Self {
        Self { before, own: None }
    }

    /// Its own, for the nodes that this one is split into.
    pub fn into_own(self) -> Products {
        self.own.unwrap_or_default()
    }

    /// Q_kl − d_k[k = l] over these positions.
    pub fn over(
        &mut self,
        context: &NodeContext<'_, '_, '_>,
        positions: Vec<usize>,
        moved: impl Fn(usize) -> f64,
    ) -> &Gram {
        let own = match self.own.take() {
            Some(own) if own.positions == positions => own,
            other => other.as_ref().unwrap_or(self.before).changed_to(context, positions),
        };
        let own = self.own.insert(own);
        own.squares.iter().enumerate().for_each(|(e, q)| own.gram.set_diagonal(e, q - moved(e)));
        &own.gram
    }
}
