//! Better subsets: moves of one feature, and the walk past local minima.

pub mod moves;
mod walk;
