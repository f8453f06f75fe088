//! An answer that waits for its page.

use crate::build::{Subject, build};
use crate::types::Report;
use bestset::Result;
use bestset::select::{By, Posed, Selected};

/// A selection on the scale inside, kept for its report.
pub struct Kept {
    /// The selection, without the dual points of its path.
    pub selected: Selected,
    /// Σ w ℓ of the answer: on other samples it would be another.
    loss: f64,
}

impl Kept {
    /// Without the dual points of the path, one number per sample each, which nobody asks for again.
    pub fn new(posed: &Posed<'_>, mut selected: Selected) -> Self {
        if let Some(chosen) = &mut selected.chosen {
            chosen.path.points.iter_mut().for_each(|p| p.solution.dual = Vec::new());
            if let By::CrossValidation(found, _) = &mut chosen.by {
                found.path.points.iter_mut().for_each(|p| p.solution.dual = Vec::new());
            }
        }
        let loss = posed.problem.loss_of(&selected.solution.coefficients, selected.solution.objective());
        Self { selected, loss }
    }

    /// The report; `None` where the samples are not those of the answer, or have been changed since.
    pub fn report(&self, posed: &Posed<'_>, subject: &Subject<'_>) -> Result<Option<Report>> {
        let loss = posed.problem.loss_at(&self.selected.solution.coefficients)?;
        let is_other = (loss - self.loss).abs() > 1e-9 * self.loss.abs();
        if is_other { Ok(None) } else { build(posed, &self.selected, subject).map(Some) }
    }
}
