//! From samples to a model: paths, folds, criteria, groups, files.

mod checkpoint;
mod classes;
mod criteria;
mod cv;
mod families;
mod groups;
mod models;
mod path;
mod select;
