//! P, R and D of a problem: their order, their rounding, the dual domain, weights, and the rules that follow from a bound.

mod bound;
mod domain;
mod far;
mod rounding;
mod screening;
mod weights;
