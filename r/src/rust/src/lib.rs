//! The engine of the R package: lists in, lists out.
//!
//! What users see is written in R (`r/R`); here R's memory becomes a design without being copied, the engine works on threads of its
//! own, and interrupts are answered meanwhile. Nothing statistical is decided here.

mod ask;
mod classes;
mod errors;
mod fields;
mod input;
#[allow(unsafe_code, reason = "two functions of R that savvy does not have")]
mod interrupt;
mod model;
mod output;
mod report;
mod run;
mod survival;
mod value;

#[allow(unsafe_code, reason = "savvy generates the functions that R calls")]
mod calls;
