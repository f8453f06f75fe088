//! The paper's algorithms and the ones it is compared against, as published (MATH §6): the reference, not the default.

pub mod cdss;
pub mod dual_iht;
pub mod dynamic;
pub mod primal_dual;
