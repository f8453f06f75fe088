//! The penalty of one coefficient, its limits, and its factors for each feature.

mod coordinate;
mod factors;
mod limits;
