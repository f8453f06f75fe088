//! What vectors must be: of one length, finite, and weights no less than 0.

use crate::error::{Error, Result};

/// Checks that every entry of a named vector is finite.
pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<()> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(Error::NonFinite { what, index, value: values[index] }),
        None => Ok(()),
    }
}

/// Checks the length of a named vector.
pub(crate) fn check_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Shape { what, found, expected }) }
}

/// Checks that sample weights are n finite numbers, none negative and not all zero.
pub(crate) fn check_weights(weights: &[f64], n: usize) -> Result<()> {
    check_length("weight", weights.len(), n)?;
    check_finite("weight", weights)?;
    if let Some(index) = weights.iter().position(|&w| w < 0.0) {
        return Err(Error::NegativeWeight { index, value: weights[index] });
    }
    if weights.iter().all(|&w| w == 0.0) {
        return Err(Error::NoWeight { count: weights.len() });
    }
    Ok(())
}
