//! The page, its plots and what is made of the core's answers; one program, so that they are linked once.

mod browser;
mod build;
mod common;
mod convert;
mod page;
