//! The model as a table.

use crate::model::Model;
use std::fmt;

impl fmt::Display for Model {
    /// One line on the fit, one on its proof, and one for each coefficient.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lambda0, lambda1, lambda2, features, certificate, status, coefficients, .. } = self;
        let size = coefficients.nonzeros();
        writeln!(f, "{} loss, {size} of {features} features, {status}", self.loss.name())?;
        writeln!(f, "lambda0 {lambda0:.6e}, lambda1 {lambda1:.6e}, lambda2 {lambda2:.6e}")?;
        match certificate.gap().is_finite() {
            true => writeln!(
                f,
                "objective {:.6e}, at least {:.6e}, gap {:.2e}",
                certificate.objective,
                certificate.lower_bound,
                certificate.relative_gap()
            )?,
            false => writeln!(f, "objective {:.6e}, no bound", certificate.objective)?,
        }
        let width = coefficients.support.iter().map(|&j| self.name(j).chars().count()).max().unwrap_or(0).max(9);
        writeln!(f, "{:width$}  {:>13}", "intercept", format!("{:.6e}", coefficients.intercept))?;
        for (j, b) in coefficients.iter() {
            writeln!(f, "{:width$}  {:>13}", self.name(j), format!("{b:.6e}"))?;
        }
        Ok(())
    }
}
