//! The algorithms compared: the four of the paper as published, two of them in two readings, the default solver and the proof.

use bestset::Method;
use bestset::Stop;

/// An algorithm with the name the figures give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    /// As in the paper.
    pub label: &'static str,
    /// What runs.
    pub method: Method,
    /// When the gap of a sub-problem counts as no longer decreasing.
    pub stop: Stop,
}

/// In the order of the figures' keys. Without a word beside it, a label stands for the rule as the paper has it.
pub const ALL: [Algorithm; 8] = [
    D_IHT,
    CDSS,
    literal("DualAst", Method::DualAscent),
    patient("DualAst (patient)", Method::DualAscent),
    literal("PrimDual", Method::PrimalDual { dynamic: true }),
    patient("PrimDual (patient)", Method::PrimalDual { dynamic: true }),
    DEFAULT,
    EXACT,
];

/// The rival with a number of features given; it knows one rule only, the patient one.
pub const D_IHT: Algorithm = patient("D-IHT", Method::DualIht);
/// The yardstick of the paper.
pub const CDSS: Algorithm = literal("CDSS", Method::Cdss);
/// The default solver.
pub const DEFAULT: Algorithm = literal("incremental", Method::Incremental);
/// Branch and bound.
pub const EXACT: Algorithm = literal("exact", Method::Exact);

const fn literal(label: &'static str, method: Method) -> Algorithm {
    Algorithm { label, method, stop: Stop::Literal }
}

const fn patient(label: &'static str, method: Method) -> Algorithm {
    Algorithm { label, method, stop: Stop::Patient }
}

impl Algorithm {
    /// Whether it is one of the paper's four, in either reading.
    pub fn is_published(self) -> bool {
        self != DEFAULT && self != EXACT
    }

    /// Whether it solves the problem with at most k features in place of a price per feature.
    pub fn is_k_sparse(self) -> bool {
        self.method == Method::DualIht
    }

    /// Whether it climbs the dual, by steps of ω, until one of its rules ends it.
    pub fn is_ascent(self) -> bool {
        self.is_published() && self != CDSS
    }

    /// The algorithm with this label or method name, in any case.
    pub fn find(name: &str) -> Option<Self> {
        ALL.into_iter().find(|a| a.label.eq_ignore_ascii_case(name) || a.method.name().eq_ignore_ascii_case(name))
    }
}

/// The paper's four, two of them in both readings.
pub fn published() -> impl Iterator<Item = Algorithm> {
    ALL.into_iter().filter(|a| a.is_published())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_algorithm() {
        assert_eq!(Algorithm::find("d-iht").unwrap().method, Method::DualIht);
        assert_eq!(Algorithm::find("primal_dual").unwrap().label, "PrimDual");
        assert!(Algorithm::find("simplex").is_none());
        assert_eq!(Algorithm::find("primdual (patient)").unwrap().stop, Stop::Patient);
        assert_eq!((published().count(), published().filter(|a| a.is_ascent()).count()), (6, 5));
    }
}
