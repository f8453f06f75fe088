//! Proofs: branch and bound, leaps and bounds, given sizes and the best subset of every size.

#[path = "../common/mod.rs"]
mod common;
mod exact;
mod leaps;
mod sizes;
mod subsets;
