//! The binaries from the outside: one file per command.

mod bench;
mod classes;
mod cohort;
mod compare;
mod demo;
mod disk;
mod files;
mod input;
mod limits;
mod place;
mod real_data;
mod support;
mod survival;
mod words;
