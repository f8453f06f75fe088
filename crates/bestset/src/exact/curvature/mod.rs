//! Curvature moved between the squared loss and the penalty, so that the envelope of the penalty is tighter where it matters.
//!
//! | file | what | MATH |
//! |---|---|---|
//! | `diagonal` | who gives, who takes, and how much | 11.9–11.14, 11.22 |
//! | `split` | the curvature left for the takers once the givers have answered | 11.10 |
//! | `barrier` | the largest diagonal below a matrix | 11.9, 11.10 |
//! | `worth` | what a diagonal is worth, to second order | 11.9 |
//! | `budget` | how many of the weak features a better subset can hold | 11.20, 11.21 |
//! | `pool` | what pooled members have to give, as a better subset holds few of them | 11.22 |

mod barrier;
mod budget;
mod diagonal;
mod pool;
mod split;
mod worth;

pub use barrier::largest_diagonal;
pub use diagonal::move_curvature;
pub use worth::Worth;
#[cfg(test)]
pub use worth::{Taker, taker};
