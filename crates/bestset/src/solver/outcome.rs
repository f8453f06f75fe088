//! What a solver hands back, and the solution that is made of it.

use crate::certificate::Certificate;
use crate::control::{Limits, Method, Options};
use crate::error::Result;
use crate::problem::Problem;
use crate::search::polish::{polished, pruned};
use crate::solution::{Coefficients, Local, Ranked, Screened, Solution, Status};

/// What a solver hands back: its best coefficients, a dual point with the bound it proves, and how its loop ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The best primal point found.
    pub coefficients: Coefficients,
    /// The least R met, `None` where R is not the relaxation.
    pub relaxation: Option<f64>,
    /// The best bound proved, −∞ if none.
    pub lower_bound: f64,
    /// The dual point that proves it.
    pub dual: Vec<f64>,
    /// How the loop ended.
    pub ended: Status,
    /// Iterations in the unit of the method.
    pub iterations: usize,
    /// What screening did.
    pub screened: Screened,
    /// Which changes of the support cannot lower P.
    pub local: Local,
    /// The best subsets, best first, from branch and bound.
    pub ranked: Vec<Ranked>,
    /// Features taken for combinations of each other, by leaps and bounds.
    pub dependent: Vec<Vec<usize>>,
}

impl Outcome {
    /// An answer, the bound that the dual point proves, and how the loop ended; nothing else is known.
    pub fn new(coefficients: Coefficients, lower_bound: f64, dual: Vec<f64>, ended: Status) -> Self {
        Self {
            coefficients,
            relaxation: None,
            lower_bound,
            dual,
            ended,
            iterations: 0,
            screened: Screened::default(),
            local: Local::None,
            ranked: Vec::new(),
            dependent: Vec::new(),
        }
    }

    /// The answer without coefficients that P is lower without; not beside other subsets of the best, of which it may be one then.
    pub fn pruned(self, problem: &Problem<'_>, limits: &Limits) -> Result<Self> {
        if problem.loss().is_quadratic() || self.ranked.len() > 1 {
            return Ok(self);
        }
        let Some(coefficients) = pruned(problem, &self.coefficients, limits)
            .or_else(|error| if error.is_of_reading() { Ok(None) } else { Err(error) })?
        else {
            return Ok(self);
        };
        let objective = problem.value(&coefficients)?;
        let ranked = self.ranked.into_iter().map(|r| Ranked { objective, coefficients: coefficients.clone(), ..r });
        // What was known of changes was known of another support.
        Ok(Self { ranked: ranked.collect(), coefficients, local: Local::None, ..self })
    }

    /// The same answer, and the other subsets of the best, to their last digits (MATH 7.12).
    pub fn polished(self, problem: &Problem<'_>, limits: &Limits) -> Result<Self> {
        if problem.loss().is_quadratic() {
            return Ok(self);
        }
        // Columns that cannot be read now take nothing away from what there is.
        let polish = |found: Coefficients| match polished(problem, found.clone(), limits) {
            Err(error) if error.is_of_reading() => Ok(found),
            polished => polished,
        };
        let coefficients = polish(self.coefficients.clone())?;
        let one = |ranked: Ranked| {
            // The first is the answer, whatever a limit that strikes now leaves of the others.
            let own = match ranked.coefficients == self.coefficients {
                true => coefficients.clone(),
                false => polish(ranked.coefficients)?,
            };
            let objective = problem.value(&own).or_else(|error| match error.is_of_reading() {
                true => Ok(ranked.objective),
                false => Err(error),
            })?;
            Ok(Ranked { objective, coefficients: own, ..ranked })
        };
        let mut ranked = self.ranked.into_iter().map(one).collect::<Result<Vec<_>>>()?;
        // Copies of columns make subsets of the same P but for its last digits, which are others now.
        ranked.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        let coefficients = ranked.first().map_or(coefficients, |first| first.coefficients.clone());
        Ok(Self { coefficients, ranked, ..self })
    }

    /// Evaluates P from scratch and derives the status from the gap alone; what a monitor knows is left empty.
    pub fn certified(self, problem: &Problem<'_>, options: &Options) -> Result<Solution> {
        let Self {
            coefficients, relaxation, lower_bound, dual, iterations, screened, local, ranked, dependent, ..
        } = self;
        let objective = problem.value(&coefficients)?;
        // R of the answer is at most its P: rounding may have said otherwise.
        let relaxation = relaxation.map(|r| r.min(objective));
        let certificate = Certificate::new(objective, relaxation, lower_bound);
        let status = certificate.status(self.ended, options.absolute(problem), options.gap);
        // A limit that struck before as many subsets were ranked as were asked for: the search is not done.
        let unranked = options.top > 1 && (ranked.len() < options.top || ranked.iter().any(|r| !r.proved));
        let searches = options.method == Method::Exact && self.ended != Status::Converged;
        let status = if unranked && searches { self.ended } else { status };
        let known = Solution::new(coefficients, certificate, status, dual);
        Ok(Solution { iterations, screened, local, ranked, dependent, ..known })
    }
}
