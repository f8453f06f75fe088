//! Good subsets of every size before the search: features added and dropped one by one, with exchanges in between.

use crate::control::Limits;
use crate::leaps::equations::Equations;
use crate::leaps::incumbents::Incumbents;
use crate::penalty::Coordinate;
use crate::relaxation::quadratic::Gram;
use crate::search::tableau::{Move, Tableau};

/// Improving exchanges taken at one size, at most this many for each feature of the subset.
const EXCHANGES: usize = 4;

/// Splits that are walked through; the search looks at all of them.
const CELLS: usize = 4;

/// Offers subsets of sizes 1..=most, found on the way up and on the way down again. Every size has one afterwards; at a price those that
/// could be the best, as far as the limits allow.
pub fn offer_all(equations: &Equations<'_, '_>, incumbents: &mut Incumbents, limits: &Limits) {
    for cell in equations.cells.iter().take(CELLS) {
        let mut members = cell.members();
        members.sort_unstable();
        let mut gram = equations.gram.clone();
        gram.retain(&(0..equations.len() as u32).map(|k| members.binary_search(&k).is_ok()).collect::<Vec<bool>>());
        walk(equations, &members, &gram, incumbents, limits);
    }
}

/// Up and down within the listed columns.
fn walk(equations: &Equations<'_, '_>, members: &[u32], gram: &Gram, incumbents: &mut Incumbents, limits: &Limits) {
    let (lower, upper) = (f64::NEG_INFINITY, f64::INFINITY);
    let coordinate = |&k: &u32| Coordinate { l0: 0.0, l1: 0.0, l2: equations.ridge_of(k), lower, upper };
    let coordinates: Vec<Coordinate> = members.iter().map(coordinate).collect();
    let gradients: Vec<f64> = members.iter().map(|&k| -equations.moments[k as usize]).collect();
    let Some(tableau) = Tableau::new(gram, &coordinates, &vec![0.0; members.len()], &gradients) else { return };
    let mut walk = Walk { equations, members, tableau, inside: Vec::new(), margin: 1e-12 * equations.total };
    // At a price, larger ones cost more than what is known.
    let is_over = |incumbents: &Incumbents, size: usize| {
        incumbents.price().is_some() && (incumbents.threshold(size) <= 0.0 || limits.stop(0).is_some())
    };
    for size in 1..=incumbents.most() {
        if is_over(incumbents, size) {
            break;
        }
        walk.add();
        walk.settle(incumbents, limits);
    }
    while walk.inside.len() > 1 && !(incumbents.price().is_some() && limits.stop(0).is_some()) {
        walk.drop();
        walk.settle(incumbents, limits);
    }
}

struct Walk<'e, 'p, 'a> {
    equations: &'e Equations<'p, 'a>,
    /// The columns, ascending.
    members: &'e [u32],
    tableau: Tableau,
    /// The subset, by position among the members, ascending.
    inside: Vec<u32>,
    margin: f64,
}

impl Walk<'_, '_, '_> {
    fn pivot(&mut self, k: usize) {
        self.tableau.pivot(k);
        match self.inside.binary_search(&(k as u32)) {
            Ok(at) => drop(self.inside.remove(at)),
            Err(at) => self.inside.insert(at, k as u32),
        }
    }

    fn best_move(&self, wanted: impl Fn(&Move) -> bool) -> Option<Move> {
        let (moves, _) = self.tableau.improving(self.margin, usize::MAX);
        moves.into_iter().map(|m| m.1).find(wanted)
    }

    /// Adds the feature that gains most; any, when none gains.
    fn add(&mut self) {
        let outside = |k: &usize| self.inside.binary_search(&(*k as u32)).is_err();
        let best = self.best_move(|m| m.drop.is_none()).and_then(|m| m.add);
        if let Some(k) = best.or_else(|| (0..self.members.len()).find(outside)) {
            self.pivot(k);
        }
    }

    /// Drops the feature that costs least.
    fn drop(&mut self) {
        let costs = self.tableau.removals();
        let cheaper = |a: usize, k: usize| if costs[k].0 < costs[a].0 { k } else { a };
        if let Some(least) = (0..costs.len()).reduce(cheaper) {
            self.pivot(self.inside[least] as usize);
        }
    }

    /// Exchanges while they help, then offers the subset.
    fn settle(&mut self, incumbents: &mut Incumbents, limits: &Limits) {
        for _ in 0..EXCHANGES * self.inside.len() {
            if limits.stop(0).is_some() {
                break;
            }
            let Some(Move { drop: Some(i), add: Some(j) }) = self.best_move(|m| m.drop.is_some() && m.add.is_some())
            else {
                break;
            };
            self.pivot(i);
            self.pivot(j);
        }
        let subset: Vec<u32> = self.inside.iter().map(|&k| self.members[k as usize]).collect();
        incumbents.offer(self.equations.fit(&subset), &subset, &[]);
    }
}
