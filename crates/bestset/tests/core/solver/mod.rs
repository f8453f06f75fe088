//! The solvers: what they claim, on inputs nobody would choose, in any unit; the published algorithms.

mod claims;
mod extremes;
mod published;
mod units;
