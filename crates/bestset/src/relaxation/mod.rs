//! The convex relaxation R (MATH 4.3, 7.1): minimised on an active set that grows, with the bound over all features.
//!
//! | file | what |
//! |---|---|
//! | `active_set` | the columns that the work is done on, and the samples' view of them |
//! | `workspace` | a point on them, its margins, gradients and values; Newton steps |
//! | `quadratic` | a quadratic model of the loss, by inner products or by residuals |
//! | `gap` | the share of each coefficient in R − D |
//! | `descend`, `augmented` | minimise the model plus the envelopes: coordinate descent; augmented Lagrangian steps |
//! | `convex` | the outer loop: minimise on the active set, look at all features, take in those that violate |
//! | `everywhere` | correlations of all features, carried from one point to the next |

pub mod active_set;
pub(crate) mod augmented;
pub mod convex;
pub(crate) mod descend;
pub(crate) mod everywhere;
pub(crate) mod gap;
pub mod quadratic;
pub mod workspace;
