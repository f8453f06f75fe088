//! The default solver, and the algorithms of the paper.

pub(crate) mod incremental;
mod outcome;
pub mod published;

pub(crate) use outcome::Outcome;
