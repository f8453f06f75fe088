//! The paper's algorithms and the ones it is compared against, as published (MATH §6): the reference, not the default.
//!
//! | file | algorithm |
//! |---|---|
//! | [`primal_dual`] | Algorithm 1 on all features, with (PrimDual) and without (DualAst) the pass of T |
//! | [`dynamic`] | Algorithms 2 and 3 around it |
//! | [`dual_iht`] | D-IHT for the k-sparse problem |
//! | [`cdss`] | coordinate descent with spacer steps and PSI(1) swaps |
//!
//! All of them keep the best primal point and the best bound they meet, whatever the current iterate does. One
//! iteration is one dual step, or for CDSS one pass of T over all features. Passes count every sweep by the share of
//! the features that it covers, also when it works on copied columns.

pub mod cdss;
pub mod dual_iht;
pub mod dynamic;
mod gaps;
mod ledger;
mod primal;
pub mod primal_dual;
mod swap;
