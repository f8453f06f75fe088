//! Coefficients as R has them: one for each feature with an intercept, or of many classes a column and an intercept for each of them.

use crate::errors::said;
use crate::fields::{Failure, Fields};
use crate::value::{places, Record};
use bestset::design::Design;
use bestset::select::Posed;
use bestset::{ClassCoefficients, Coefficients};

/// Coefficients for the columns given.
pub enum Given {
    One(Coefficients),
    /// Where there is more than one intercept.
    Classes(ClassCoefficients),
}

impl Given {
    /// Reads places from one, values, of classes column after column, and intercepts.
    pub fn read(from: &Fields) -> Result<Self, Failure> {
        let (support, values) = (from.places("support")?, from.numbers("values")?.unwrap_or_default());
        let intercepts = from.numbers("intercept")?.unwrap_or_else(|| vec![0.0]);
        if let [intercept] = intercepts[..] {
            return Ok(Self::One(Coefficients { support, values, intercept }));
        }
        if values.len() != support.len() * intercepts.len() {
            let (found, features, classes) = (values.len(), support.len(), intercepts.len());
            return Err(format!("{found} coefficients for {features} features and {classes} classes"));
        }
        let rows = (0..intercepts.len()).map(|k| values[k * support.len()..(k + 1) * support.len()].to_vec());
        Ok(Self::Classes(ClassCoefficients { values: rows.collect(), support, intercepts }))
    }

    /// For the columns inside, as a start.
    pub fn inward(&self, posed: &Posed<'_>) -> Coefficients {
        match self {
            Self::One(outside) => posed.inward(outside),
            Self::Classes(outside) => posed.inward_classes(outside).0,
        }
    }

    /// u = Xβ + b; of many classes one block of rows after the other.
    pub fn predict(&self, x: &dyn Design) -> Result<Vec<f64>, Failure> {
        match self {
            Self::Classes(outside) => {
                outside.validate(x.ncols()).map_err(said)?;
                outside.margins(x, None).map_err(said)
            }
            Self::One(outside) => {
                outside.validate(x.ncols()).map_err(said)?;
                let mut u = vec![0.0; x.nrows()];
                let Coefficients { support, values, intercept } = outside;
                bestset::design::predict(x, support, values, *intercept, &mut u).map_err(said)?;
                Ok(u)
            }
        }
    }

    /// As [`Given::read`] reads them.
    pub fn show(&self, all: &mut Record) {
        let (support, values, intercepts) = match self {
            Self::One(from) => (&from.support, from.values.clone(), vec![from.intercept]),
            Self::Classes(from) => (&from.support, from.values.concat(), from.intercepts.clone()),
        };
        all.set("support", places(support));
        all.set("values", values);
        all.set("intercept", intercepts);
    }
}

/// Coefficients inside, for the columns given.
pub fn outward(posed: &Posed<'_>, inside: &Coefficients) -> bestset::Result<Given> {
    let classes = posed.outward_classes(inside)?;
    Ok(classes.map_or_else(|| Given::One(posed.outward(inside)), Given::Classes))
}
