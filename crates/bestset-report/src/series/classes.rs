//! Curves of many classes, each against all others.

use super::short;
use crate::ClassesFit;
use crate::types::brief;
use serde::Serialize;

/// The most curves drawn: so many colours can be told apart.
pub const MOST_CURVES: usize = 8;

/// The curves.
#[derive(Debug, Clone, Serialize)]
pub struct ClassesSeries {
    /// Which samples these are, in few words.
    pub samples: String,
    /// The curves drawn: those of the first classes where there are many.
    pub curves: Vec<ClassCurve>,
}

/// One of them.
#[derive(Debug, Clone, Serialize)]
pub struct ClassCurve {
    /// The class.
    pub name: String,
    /// Its area.
    pub auc: Option<f64>,
    /// (others mistaken, own found).
    pub roc: Vec<(Option<f64>, Option<f64>)>,
}

impl ClassesSeries {
    /// `None` where no class has a curve.
    pub fn new(fit: &ClassesFit) -> Option<Self> {
        let one = |c: &crate::ClassFit| ClassCurve {
            name: c.name.clone(),
            auc: short(c.auc),
            roc: c.roc.iter().map(|p| (short(p.0), short(p.1))).collect(),
        };
        let curves: Vec<ClassCurve> =
            fit.classes.iter().filter(|c| !c.roc.is_empty()).take(MOST_CURVES).map(one).collect();
        (!curves.is_empty()).then(|| Self { samples: brief(&fit.samples).to_owned(), curves })
    }
}
