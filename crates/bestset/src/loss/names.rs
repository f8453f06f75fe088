//! The words for losses and families in every interface.

use crate::error::{Error, Result};
use crate::loss::Loss;

/// Every name of a loss: its own, and that of the family whose half deviance it is.
const NAMES: [(&str, &str); 12] = [
    ("squared", "squared"),
    ("gaussian", "squared"),
    ("logistic", "logistic"),
    ("binomial", "logistic"),
    ("squared_hinge", "squared_hinge"),
    ("huber", "huber"),
    ("poisson", "poisson"),
    ("gamma", "gamma"),
    ("Gamma", "gamma"),
    ("negative_binomial", "negative_binomial"),
    ("negbin", "negative_binomial"),
    ("nb", "negative_binomial"),
];

impl Loss {
    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Squared => "squared",
            Self::Logistic => "logistic",
            Self::SquaredHinge => "squared_hinge",
            Self::Huber { .. } => "huber",
            Self::Poisson => "poisson",
            Self::Gamma => "gamma",
            Self::NegativeBinomial { .. } => "negative_binomial",
            Self::Cox { .. } => "cox",
            Self::Multinomial { .. } => "multinomial",
        }
    }

    /// The loss of a name or of a family, with δ for Huber and θ for the negative binomial, which must be given.
    ///
    /// ```
    /// use bestset::Loss;
    ///
    /// assert_eq!(Loss::named("binomial", 1.345, None)?, Loss::Logistic);
    /// assert_eq!(Loss::named("negbin", 1.345, Some(2.0))?, Loss::NegativeBinomial { theta: 2.0 });
    /// assert!(Loss::named("negbin", 1.345, None).is_err());
    /// # Ok::<(), bestset::Error>(())
    /// ```
    pub fn named(name: &str, delta: f64, theta: Option<f64>) -> Result<Self> {
        match NAMES.iter().find(|n| n.0 == name).map(|n| n.1) {
            Some("squared") => Ok(Self::Squared),
            Some("logistic") => Ok(Self::Logistic),
            Some("squared_hinge") => Ok(Self::SquaredHinge),
            Some("huber") => Ok(Self::Huber { delta }),
            Some("poisson") => Ok(Self::Poisson),
            Some("gamma") => Ok(Self::Gamma),
            Some("negative_binomial") => match theta {
                Some(theta) => Ok(Self::NegativeBinomial { theta }),
                None => Err(Error::NoTheta),
            },
            _ => Err(Error::UnknownName { what: "loss or family", name: name.to_owned() }),
        }
    }

    /// δ of the Huber loss unless it is given, in spreads of the residuals: 95 % as efficient as least squares where errors are normal.
    pub const USUAL_DELTA: f64 = 1.345;

    /// δ of the Huber loss.
    pub fn delta(self) -> Option<f64> {
        if let Self::Huber { delta } = self { Some(delta) } else { None }
    }

    /// θ of the negative binomial.
    pub fn theta(self) -> Option<f64> {
        if let Self::NegativeBinomial { theta } = self { Some(theta) } else { None }
    }

    /// The family whose half deviance the loss is, `None` where it is none.
    pub fn family(self) -> Option<&'static str> {
        match self {
            Self::Squared => Some("gaussian"),
            Self::Logistic => Some("binomial"),
            Self::Poisson => Some("Poisson"),
            Self::Gamma => Some("Gamma"),
            Self::NegativeBinomial { .. } => Some("negative binomial"),
            Self::Multinomial { .. } => Some("multinomial"),
            Self::SquaredHinge | Self::Huber { .. } | Self::Cox { .. } => None,
        }
    }
}
