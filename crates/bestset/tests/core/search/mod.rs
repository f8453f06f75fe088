//! Better subsets: moves of one feature, and the walk past local minima.

mod crowd;
pub mod moves;
mod walk;
