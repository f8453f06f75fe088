//! Products of all pairs of some columns, made where the columns are.

use crate::design::LargeProducts;

/// Of which columns the largest products are asked for. With s_j the scale of feature j, c_j = s_j x_j, less its mean where they are centred, and
/// r_j = c_j − B C Bᵀc_j with the vectors B of the basis, these are products r_jᵀc_k.
pub struct PairsAsked<'q> {
    /// Ascending.
    pub features: &'q [usize],
    /// s_j, so that c_j has about the length one.
    pub scales: &'q [f64],
    /// Whether means are taken away.
    pub is_centred: bool,
    /// B, its vectors centred where columns are.
    pub basis: &'q [&'q [f64]],
    /// C, symmetric, row by row.
    pub inverse: &'q [f64],
    /// How many products of each feature are listed.
    pub count: usize,
    /// A cost of each feature, and what the costs of two may come to: of pairs with more nothing is asked, and whatever is listed of them serves.
    pub apart: Option<(&'q [f64], f64)>,
}

/// The largest products of each feature with others.
pub struct LargestPairs {
    /// For each feature the places of others in the list that was asked for, and products with them.
    pub rows: Vec<LargeProducts>,
    /// |r_jᵀc_k| is at most |the product listed| and this; of what is not listed, |the least listed| and this; for the pairs that are asked for.
    pub error: f64,
}
