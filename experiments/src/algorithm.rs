//! The algorithms compared: the four of the paper as published, the default solver and the proof.

use bestset::Method;

/// An algorithm with the name the figures give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    /// As in the paper.
    pub label: &'static str,
    /// What runs.
    pub method: Method,
}

/// In the order of the figures' keys.
pub const ALL: [Algorithm; 6] = [
    Algorithm { label: "D-IHT", method: Method::DualIht },
    CDSS,
    Algorithm { label: "DualAst", method: Method::DualAscent },
    Algorithm { label: "PrimDual", method: Method::PrimalDual { dynamic: true } },
    DEFAULT,
    EXACT,
];

/// The yardstick of the paper.
pub const CDSS: Algorithm = Algorithm { label: "CDSS", method: Method::Cdss };
/// The default solver.
pub const DEFAULT: Algorithm = Algorithm { label: "incremental", method: Method::Incremental };
/// Branch and bound.
pub const EXACT: Algorithm = Algorithm { label: "exact", method: Method::Exact };

impl Algorithm {
    /// Whether it is one of the paper's four.
    pub fn is_published(self) -> bool {
        self != DEFAULT && self != EXACT
    }

    /// Whether it solves the problem with at most k features in place of a price per feature.
    pub fn is_k_sparse(self) -> bool {
        self.method == Method::DualIht
    }

    /// The algorithm with this label or method name, in any case.
    pub fn find(name: &str) -> Option<Self> {
        ALL.into_iter().find(|a| a.label.eq_ignore_ascii_case(name) || a.method.name().eq_ignore_ascii_case(name))
    }
}

/// The paper's four.
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
        assert_eq!(published().count(), 4);
    }
}
