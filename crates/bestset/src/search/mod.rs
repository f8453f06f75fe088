//! Better subsets (MATH 7.4–7.9): from a point to an answer that no addition, removal or exchange improves, and past it.

pub(crate) mod exchange;
mod explore;
pub(crate) mod fit;
pub(crate) mod kick;
pub(crate) mod ladder;
pub(crate) mod multistart;
pub(crate) mod outside;
pub(crate) mod polish;
pub mod rules;
pub mod tableau;
pub(crate) mod widen;
