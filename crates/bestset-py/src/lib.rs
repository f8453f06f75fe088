//! The Python module `bestset._core`: arrays in, plain dictionaries out.
//!
//! What users see is written in Python (`python/bestset`); here numpy memory becomes a design without being copied, the
//! interpreter is released while the engine works, and signals are answered meanwhile.

mod ask;
mod block;
mod calls;
mod disk;
mod elsewhere;
mod errors;
mod input;
mod model;
mod output;
mod report;
mod run;
mod survival;
mod workers;

use pyo3::prelude::*;
use std::ffi::OsString;

/// The command `bestset` with these words, the first of them its name; its exit code.
#[pyfunction]
fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| bestset_cli::run(words))
}

/// The command `bestset-check` with these words, the first of them its name; its exit code.
#[pyfunction]
fn check_command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| bestset_check::run(words.into_iter().skip(1)))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<disk::OnDisk>()?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(check_command, module)?)?;
    module.add_function(wrap_pyfunction!(calls::shown, module)?)?;
    module.add_function(wrap_pyfunction!(calls::percent, module)?)?;
    module.add_function(wrap_pyfunction!(calls::misleads, module)?)?;
    module.add_function(wrap_pyfunction!(calls::select, module)?)?;
    module.add_function(wrap_pyfunction!(calls::certify, module)?)?;
    module.add_function(wrap_pyfunction!(calls::explained, module)?)?;
    module.add_function(wrap_pyfunction!(calls::path, module)?)?;
    module.add_function(wrap_pyfunction!(calls::subsets, module)?)?;
    module.add_function(wrap_pyfunction!(calls::stability, module)?)?;
    module.add_function(wrap_pyfunction!(workers::part, module)?)?;
    module.add_function(wrap_pyfunction!(block::block_correlate, module)?)?;
    module.add_function(wrap_pyfunction!(block::block_columns, module)?)?;
    module.add_function(wrap_pyfunction!(block::block_moments, module)?)?;
    module.add_function(wrap_pyfunction!(report::report, module)?)?;
    module.add_function(wrap_pyfunction!(survival::curves, module)?)?;
    module.add_function(wrap_pyfunction!(survival::concordance, module)?)?;
    module.add_function(wrap_pyfunction!(model::save_model, module)?)?;
    module.add_function(wrap_pyfunction!(model::read_model, module)?)
}
