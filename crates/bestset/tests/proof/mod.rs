//! Proofs: branch and bound, leaps and bounds, all subsets of small sizes, given sizes and the best subset of every size.

mod enumerate;
mod exact;
mod file;
mod interrupted;
mod leaps;
mod sizes;
mod subsets;
mod unreadable;
