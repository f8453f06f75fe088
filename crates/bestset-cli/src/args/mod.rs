//! Arguments: the groups that commands share.

mod choice;
mod cohort;
mod fitting;
mod input;
mod limits;
mod proof_file;
mod result;
mod simulated;

pub use choice::{ChoiceArgs, CvArgs, PathArgs, only_without_size, proof};
pub use cohort::{CohortArgs, TraitArgs};
pub use fitting::{FittingArgs, SizeArgs};
pub use input::{ImputeName, InputArgs, ReadArgs, TiesName, event, format_parser, joined};
pub use limits::{Clock, LimitArgs};
pub use proof_file::ProofArgs;
pub use result::{OutputArgs, check_apart};
pub use simulated::{DataArgs, ProblemArgs, SolverArgs, Terms};

use bestset::Method;
use bestset::Stop;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::time::Duration;

/// Parses the name of a method and lists the names in help and errors.
pub fn method_parser() -> impl TypedValueParser<Value = Method> {
    PossibleValuesParser::new(Method::ALL.map(Method::name)).try_map(|name| name.parse::<Method>())
}

/// Parses the name of a stopping rule of the published ascents.
pub fn stop_parser() -> impl TypedValueParser<Value = Stop> {
    PossibleValuesParser::new(Stop::ALL.map(Stop::name)).try_map(|name| name.parse::<Stop>())
}

/// Most threads that can be asked for: more cannot help, and starting them would take longer than the solve.
const MOST_THREADS: usize = 1024;

/// Parses a number of things of which there is one at least.
pub fn count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "a whole number from 1 up is wanted".to_owned())
}

/// Parses a number of threads.
pub fn threads(text: &str) -> Result<usize, String> {
    let value: usize = text.parse().map_err(|_| "not a number of threads".to_owned())?;
    if (1..=MOST_THREADS).contains(&value) {
        Ok(value)
    } else {
        Err(format!("threads is {value}; it must be between 1 and {MOST_THREADS}"))
    }
}

/// Parses a number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let value: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(value).map_err(|_| "seconds must be finite and at least 0".to_owned())
}

/// Parses a number of bytes: `512M`, `8G`, or bytes.
pub fn bytes(text: &str) -> Result<usize, String> {
    let (digits, factor) = match text.trim_end_matches(['b', 'B']) {
        t if t.ends_with(['k', 'K']) => (&t[..t.len() - 1], 1 << 10),
        t if t.ends_with(['m', 'M']) => (&t[..t.len() - 1], 1 << 20),
        t if t.ends_with(['g', 'G']) => (&t[..t.len() - 1], 1 << 30),
        t => (t, 1usize),
    };
    let count: usize = digits.trim().parse().map_err(|_| "not a size such as 512M or 8G".to_owned())?;
    count.checked_mul(factor).filter(|b| *b > 0).ok_or_else(|| "must be at least 1 byte and fit into memory".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_at_least_one_and_not_absurdly_many() {
        assert_eq!((threads("1"), threads("1024")), (Ok(1), Ok(1024)));
        for bad in ["0", "1025", "-1", "all", ""] {
            assert!(threads(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn seconds_are_finite_and_not_negative() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        for bad in ["-1", "inf", "nan", "soon", ""] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_of_memory_have_units() {
        assert_eq!((bytes("7"), bytes("3k"), bytes("2MB")), (Ok(7), Ok(3072), Ok(2 << 20)));
        for bad in ["0", "", "G", "many", "99999999999G", "-1"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
