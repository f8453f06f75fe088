//! What there is room for, and whether inner products of the columns are worth having.

use crate::relaxation::active_set::TALL;
use crate::relaxation::workspace::Workspace;

/// The most sparse columns whose inner products are always worth having for prices (no record of how the number was chosen).
const SPARSE_GRAM: usize = 1500;

/// The same of dense columns, whose inner products cost n multiplications each.
const SMALL_GRAM: usize = 500;

/// The most columns of a least-squares problem whose inner products are worth having: 128 megabytes of them.
const MOST_IN_GRAM: usize = 4096;

/// The most sparse columns for each of their entries whose inner products are worth a step of descent.
const CROWD: usize = 64;

/// Share of the limit on memory for columns that are copied: one part in so many.
const COLUMNS: usize = 4;

/// The same of tall ones of the squared loss without weights, which are held once: what they and their inner products take is known.
const TALL_COLUMNS: usize = 2;

/// Bytes for an entry of these, and of all others: storage grows by doubling, which takes three times as much.
const ENTRY: (f64, f64) = (10.0, 24.0);

/// Bytes for an entry that is there in single precision as well.
const NARROW: f64 = 12.0;

/// The same for what grows with the square of their number.
const SQUARES: usize = 2;

/// Bytes for each pair of positions: inner products with room to grow, and the tableaus of a search.
const PAIR: f64 = 72.0;

impl Workspace<'_, '_> {
    /// Whether descent is faster through the matrix of inner products: not where it is long compared with the columns. Sparse
    /// columns have it for little, and without it pay for every entry with an access out of order.
    pub fn prefers_gram(&self, members: usize) -> bool {
        let (stored, columns) = (self.active.stored(), self.active.len().max(1));
        let short = match self.active.is_sparse() {
            true => members * columns <= CROWD * stored,
            false => members <= 4 * (stored / columns),
        };
        short && self.can_price(members)
    }

    /// Whether the matrix of inner products is worth having for the prices of moves: it is small, or not much longer than the
    /// columns, and fits. n = 400, p = 3000, 1700 features: up to four times as long as a column left P 2 to 6 millionths above that of coordinate
    /// descent from R's minimiser, up to eight times 3 to 12 below it, for 2 s in place of 0.4.
    pub fn can_price(&self, members: usize) -> bool {
        let length = self.active.stored() / self.active.len().max(1);
        let most = match (self.problem.loss().is_quadratic(), self.active.is_sparse()) {
            (true, _) => MOST_IN_GRAM,
            (false, true) => 1024,
            (false, false) => 512,
        };
        let short = if self.active.is_sparse() { SPARSE_GRAM } else { SMALL_GRAM }.max(8 * length);
        members <= short && members <= most && self.has_room_for(members)
    }

    /// How many columns more leave the matrix of inner products worth having, where columns are long and it is the number of them that
    /// counts against it; `None` elsewhere.
    pub fn gram_room(&self) -> Option<usize> {
        let is_long =
            !self.active.is_sparse() && self.active.nrows() >= MOST_IN_GRAM && self.has_room_for(MOST_IN_GRAM);
        (is_long && self.problem.loss().is_quadratic()).then(|| MOST_IN_GRAM.saturating_sub(self.active.len()))
    }

    /// Whether the coefficients that are not zero are too many for it already, where columns are long.
    pub fn is_beyond_gram(&self) -> bool {
        self.gram_room().is_some() && self.support().len() + 100 > MOST_IN_GRAM
    }

    /// Whether memory has room for the inner products of so many columns, and for tableaus made of them.
    pub fn has_room_for(&self, members: usize) -> bool {
        self.memory.allows(PAIR * (members * members) as f64, SQUARES)
    }

    /// How many columns more memory has room for.
    pub fn room(&self) -> usize {
        let share = if self.holds_once() { TALL_COLUMNS } else { COLUMNS };
        self.most_columns(share).saturating_sub(self.active.len())
    }

    /// Whether columns are held once, and multiplied where they are.
    fn holds_once(&self) -> bool {
        let is_plain = self.problem.loss().is_quadratic() && self.problem.weights().is_none();
        is_plain && !self.active.is_sparse() && self.active.nrows() >= TALL
    }

    /// The most columns for which copies take a `share`-th of the memory.
    pub(crate) fn most_columns(&self, share: usize) -> usize {
        let entry = if self.holds_once() { ENTRY.0 } else { ENTRY.1 };
        let entry = entry + if self.active.is_narrow() { NARROW } else { 0.0 };
        let length = match self.active.is_sparse() {
            true => 36.0 * (self.active.stored() / self.active.len().max(1)).max(16) as f64,
            false => entry * self.active.nrows() as f64,
        };
        self.memory.most(share, (64, self.problem.ncols()), |columns| length * columns)
    }
}
