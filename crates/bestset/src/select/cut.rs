//! What there is to say where a limit strikes before there is anything else: the model without features.

use super::run::Run;
use super::{Posed, Remark, Selected, Selection};
use crate::control::{CancelFlag, Observer, Options};
use crate::error::Result;
use crate::path::{Grid, Point};
use crate::solution::Status;
use std::time::Duration;

impl Posed<'_> {
    /// The settings as they are; where X was not looked at, such that all ends at once.
    pub(super) fn selection_within(&self, options: &Selection) -> Selection {
        let solve = self.solve_within(&options.solve);
        match self.cut {
            None => options.clone(),
            Some(_) => Selection { checkpoint: None, workers: None, solve, ..options.clone() },
        }
    }

    /// The same of a solve: coefficients to start from are not known on the scale inside.
    pub(super) fn solve_within(&self, options: &Options) -> Options {
        let own = Options { warm_start: None, ..options.clone() };
        match self.cut {
            None => options.clone(),
            Some(Status::TimeLimit) => Options { time_limit: Some(Duration::ZERO), ..own },
            Some(_) => {
                let cancel = CancelFlag::default();
                cancel.cancel();
                Options { cancel, ..own }
            }
        }
    }
}

impl Run<'_, '_> {
    /// The limit that has struck.
    pub(super) fn limit(&self) -> Status {
        self.options.solve.limit()
    }

    /// The price at which the null model is best: its loss.
    fn null_price(&self) -> f64 {
        let (problem, u) = (&self.posed.problem, self.posed.problem.null_margins());
        problem.loss_sum(&u, problem.best_intercept(&u, 0.0))
    }

    /// A limit struck before the first point: the null model, at the first price that was asked for.
    pub(super) fn null_point(&self) -> Result<Point> {
        let asked = match &self.options.grid {
            Some(Grid::Given(prices)) => prices.first().copied(),
            _ => None,
        };
        let found = self.at_price(asked.unwrap_or_else(|| self.null_price()), self.ridge(), None, &mut ())?;
        let Selected { lambda0, lambda1, lambda2, solution, .. } = found;
        Ok(Point { lambda0, lambda1, lambda2, solution })
    }

    /// A limit struck before the first point: the null model, which is best at the price that its loss is.
    pub(super) fn null(&self, status: Status, observer: &mut dyn Observer) -> Result<Selected> {
        let mut found = self.at_price(self.null_price(), self.ridge(), None, observer)?;
        // Or every answer of the path is larger than the largest size.
        if status != Status::Converged {
            found.remarks.push(Remark::Path(status));
            if found.solution.status != Status::Interrupted {
                found.solution.status = status;
            }
        }
        Ok(found)
    }
}
