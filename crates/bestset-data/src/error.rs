//! Why data could not be made.

/// A bad setting, named with its value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No samples or no features.
    #[error("cannot simulate {n} samples of {p} features; n and p must be at least 1")]
    Empty {
        /// Samples asked for.
        n: usize,
        /// Features asked for.
        p: usize,
    },
    /// A scalar setting outside its range.
    #[error("{name} is {value}; it must be {range}")]
    Range {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The values allowed.
        range: &'static str,
    },
    /// More true features than features.
    #[error("the true support cannot have {count} of {p} features")]
    Support {
        /// True features asked for.
        count: usize,
        /// Features asked for.
        p: usize,
    },
    /// A matrix that does not fit into memory.
    #[error("there is no memory for {n} x {p} entries; stream the columns instead")]
    Memory {
        /// Samples asked for.
        n: usize,
        /// Features asked for.
        p: usize,
    },
}

/// The result of a fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;
