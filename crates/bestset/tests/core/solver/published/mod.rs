//! The published algorithms (MATH §6) against enumeration of all subsets, and the simulation of MATH §8.

mod ascent;
mod bounds;
mod data;
mod descent;
mod designs;
mod limits;
mod simulation;
mod stopping;
