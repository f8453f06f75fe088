//! From samples to a model: everything between the data and the answer that is returned, once for every interface.
//!
//! [`Setup::pose`] standardises; [`Posed::select`] takes a price, a size, a criterion or cross-validation and returns the model with
//! its certificate. What a front end does is translate words into these settings and show what comes back.
//!
//! | file | what it decides |
//! |---|---|
//! | `selection` | what is asked of it: [`Selection`], its settings and their defaults |
//! | `check` | what a selection could not use, which is refused |
//! | `classes` | many classes: columns inside, coefficients of every class outside |
//! | `cut` | what is answered where a limit strikes before there is anything |
//! | `data` | what there is to know about the samples |
//! | `pose` | the scale inside, λ2 where none is given, coefficients on the scale of the columns given |
//! | `choose` | what judges the points of a path |
//! | `conclude` | which of them is the model, and that it stays the one chosen |
//! | `run` | one after the other: path, solve, proof, within the limits |
//! | `prove` | how much is spent on closing the gap |
//! | `proof` | the proof of a selection as a file |
//! | `provable` | what would be proved where that was not enough |
//! | `remark` | what the user should know about the choice |
//! | `spread` | δ of Huber's loss in the units of y |
//! | `standing` | what that proves, in words |
//! | `stability` | how often features are selected on subsamples |
//! | `workers` | which parts of the work others may do, and how their results are put together |

mod check;
mod choose;
mod classes;
mod conclude;
mod cut;
mod data;
mod pose;
mod proof;
mod provable;
mod prove;
mod remark;
mod run;
mod selection;
mod spread;
mod stability;
mod standing;
mod workers;

pub use pose::{Posed, RIDGES, Samples, Scale, Setup, USUAL_RIDGE};
pub use proof::ProofFile;
pub use provable::Provable;
pub use remark::Remark;
pub use selection::{Folded, How, Prove, Selection};
pub use standing::Standing;
pub use workers::Workers;

use crate::control::{Method, Observer, Options};
use crate::criteria::Criterion;
use crate::cv::{CrossValidation, Rule};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::path::Path;
use crate::solution::{Solution, Status};
use check::Task;
use run::Run;

/// Sizes that [`Posed::subsets`] is asked for unless the user says otherwise, as far as there are features.
pub const SUBSET_SIZES: usize = 8;

/// The model, and all that led to it.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The answer on the scale inside.
    pub solution: Solution,
    /// λ0 that its certificate is for; zero where a size was given.
    pub lambda0: f64,
    /// λ1.
    pub lambda1: f64,
    /// λ2.
    pub lambda2: f64,
    /// The largest size, where one was given.
    pub k: Option<usize>,
    /// What found the bound.
    pub method: Method,
    /// The path it was chosen from.
    pub chosen: Option<Chosen>,
    /// What it stands for.
    pub standing: Standing,
    /// What the user should know.
    pub remarks: Vec<Remark>,
}

/// How good given coefficients are.
#[derive(Debug, Clone)]
pub struct Certified {
    /// P of the coefficients and a bound on that of any subset.
    pub certificate: crate::Certificate,
    /// `Optimal` when they are proved best, else `Converged`.
    pub status: Status,
    /// What they stand for.
    pub standing: Standing,
    /// The answer that was found on the way.
    pub found: Selected,
}

/// A path from which the model was chosen.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The points, with what was found later at their prices.
    pub path: Path,
    /// The model's.
    pub point: usize,
    /// The prices, the larger first, between which no subset of the path is better.
    pub prices: (f64, f64),
    /// By what.
    pub by: By,
}

/// What chose a point of a path.
#[derive(Debug, Clone)]
pub enum By {
    /// A criterion with its value at each point.
    Criterion(Criterion, Vec<f64>),
    /// Scores on samples left out.
    CrossValidation(Box<CrossValidation>, Rule),
}

impl<'a> Posed<'a> {
    /// The model.
    ///
    /// ```
    /// use bestset::design::Dense;
    /// use bestset::select::{Samples, Selection, Setup};
    ///
    /// let x: Vec<f64> = (0..90).map(|k| ((k * k) as f64 * 0.7).sin()).collect();
    /// let y: Vec<f64> = (0..30).map(|i| 3.0 * x[i] + 0.2 * ((i * i * i) as f64 * 0.3).sin()).collect();
    /// let x = Dense::new(30, 3, x)?;
    /// let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    /// let model = Setup::default().pose(&samples, |posed| {
    ///     let found = posed.select(&Selection::default(), &mut ())?;
    ///     assert!(found.standing.is_best);
    ///     posed.model(&found)
    /// })?;
    /// assert_eq!(model.coefficients.support, [0]);
    /// # Ok::<(), bestset::Error>(())
    /// ```
    pub fn select(&self, options: &Selection, observer: &mut dyn Observer) -> Result<Selected> {
        self.select_observed(options, observer, &|_| ())
    }

    /// As [`Posed::select`], showing how far paths and folds are.
    pub fn select_observed(
        &self,
        options: &Selection,
        observer: &mut dyn Observer,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Selected> {
        options.check(self, Task::of(&options.how))?;
        let options = &self.selection_within(options);
        let run = Run::new(self, options, progress);
        if matches!(options.how, How::Criterion(_) | How::CrossValidation(_)) {
            self.know_chance(&run.solve_options())?;
        }
        let found = match &options.how {
            How::Price(lambda0) => run.at_price(*lambda0, run.ridge(), None, observer),
            How::Size(k) => run.at_size(*k, run.ridge(), None, observer),
            How::Criterion(criterion) => run.by_criterion(*criterion, observer),
            How::CrossValidation(folded) => run.by_cross_validation(folded, observer),
        };
        let mut found = match found {
            // Points of a path that can no longer be judged, as their columns would have to be read again.
            Err(Error::Stopped) if Task::of(&options.how).is_choice() => run.null(run.limit(), observer)?,
            found => found?,
        };
        found.remarks.extend(found.solution.cause.clone().map(Remark::ReadFailed));
        // Columns that cannot be read any more take nothing from the answer.
        found.remarks.extend(run.infinite(&found).ok().flatten());
        found.remarks.extend(self.remarks());
        found.solution.dependent.extend(self.flat());
        Ok(found)
    }

    /// The path alone, with λ2 and the sizes of a selection; where a limit struck before its first point, the model without features at the
    /// first price.
    pub fn path(&self, options: &Selection) -> Result<Path> {
        options.check(self, Task::Path)?;
        let options = &self.selection_within(options);
        let run = Run::new(self, options, &|_| ());
        self.know_chance(&run.solve_options())?;
        let settings = run.path_options(run.most(crate::criteria::usual_size(&self.problem))?, options.lambda2.clone());
        let mut found = run.path(&settings)?;
        if found.points.is_empty() && found.status != Status::Converged {
            found.points.push(run.null_point()?);
        }
        Ok(found)
    }

    /// A bound and gaps for any coefficients on the scale inside, at the price or the size of the selection; and the answer that
    /// was found on the way.
    pub fn certify(
        &self,
        coefficients: &crate::Coefficients,
        options: &Selection,
        observer: &mut dyn Observer,
    ) -> Result<Certified> {
        if self.classes().is_some() {
            let reason = "has coefficients for every class: see Posed::certify_classes";
            return Err(Error::Unsupported { method: "certify", reason });
        }
        self.check_flat(&coefficients.support, |k| coefficients.values[k] != 0.0)?;
        let (found, problem) = self.found_beside(coefficients.clone(), options, observer)?;
        let dual = Some(&found.solution.dual[..]).filter(|d| !d.is_empty());
        let own = problem.certify(coefficients, &dual.into_iter().collect::<Vec<_>>())?;
        // Branch and bound proves more than its dual point does.
        let lower_bound = own.lower_bound.max(found.solution.certificate.lower_bound);
        let certificate = crate::Certificate::new(own.objective, own.relaxation, lower_bound);
        let status = certificate.status(Status::Converged, options.solve.absolute(&problem), options.solve.gap);
        let standing = Standing::new(&problem, coefficients, &certificate, status);
        Ok(Certified { certificate, status, standing, found })
    }

    /// As [`Posed::certify`], for coefficients of every class of the columns given, with the intercepts they have.
    pub fn certify_classes(
        &self,
        coefficients: &crate::ClassCoefficients,
        options: &Selection,
        observer: &mut dyn Observer,
    ) -> Result<Certified> {
        coefficients.validate(self.problem.variables())?;
        self.check_flat(&coefficients.support, |k| coefficients.values.iter().any(|row| row[k] != 0.0))?;
        let start = self.inward_classes(coefficients).0;
        let (found, problem) = self.found_beside(start, options, observer)?;
        self.judged(&problem, coefficients, found, &options.solve)
    }

    /// The answer at the price or the size that given coefficients are judged by, and the problem.
    fn found_beside(
        &self,
        given: crate::Coefficients,
        options: &Selection,
        observer: &mut dyn Observer,
    ) -> Result<(Selected, crate::Problem<'a>)> {
        options.check(self, Task::of(&options.how))?;
        let options = &self.selection_within(options);
        let run = Run::new(self, options, &|_| ());
        match options.how {
            How::Price(lambda0) => {
                let found = run.at_price(lambda0, run.ridge(), Some(given), observer)?;
                Ok((found, self.priced(lambda0, run.ridge())?))
            }
            How::Size(k) => {
                let found = run.at_size(k, run.ridge(), None, observer)?;
                Ok((found, self.limited(k.min(self.problem.variables()), run.ridge())?))
            }
            _ => {
                let reason = "needs a price or a size: the objective that coefficients are judged by";
                Err(Error::Unsupported { method: "certify", reason })
            }
        }
    }

    /// The model of a selection, on the scale of the columns given.
    pub fn model(&self, selected: &Selected) -> Result<Model> {
        let problem = self.priced(selected.lambda0, selected.lambda2)?;
        let inside = &selected.solution.coefficients;
        if let Some(classes) = self.outward_classes(inside)? {
            return Model::new(&problem, &selected.solution)?.with_classes(classes);
        }
        let mut model = Model::new(&problem, &selected.solution)?.with_coefficients(self.outward(inside))?;
        if let (Some(baseline), Some(view)) = (&mut model.baseline, self.view) {
            // u = Xβ of the columns given is more than inside by what their centring took.
            baseline.centre -= view.unscale(&inside.support, &inside.values).1;
        }
        Ok(model)
    }

    /// The best subset of every size; λ2 unless given is zero where least squares can do without.
    pub fn subsets(&self, most: usize, options: &Options) -> Result<crate::Subsets> {
        self.check_counted()?;
        let most = most.min(self.problem.variables());
        let plain = self.setup.lambda2.is_none() && self.needs_no_ridge(most);
        let problem = self.priced(0.0, if plain { 0.0 } else { self.lambda2() })?;
        let options = self.solve_within(options);
        let mut found = match self.groups() {
            Some(groups) => crate::subsets_of_groups(&problem, groups, most, &options),
            None => crate::subsets(&problem, most, &options),
        }?;
        found.dependent.extend(self.flat());
        Ok(found)
    }

    /// Whether least squares of this shape can be searched without λ2; by groups, where there are more samples than features.
    fn needs_no_ridge(&self, most: usize) -> bool {
        let has_rest = || self.setup.never.is_empty() && crate::leaps::determined(&self.problem) > self.problem.ncols();
        let is_narrow = self.groups().is_none() || has_rest();
        is_narrow && crate::subsets::needs_no_ridge(&self.problem, most)
    }
}

/// How far a selection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The path has an answer of this size.
    Path(usize),
    /// So many folds of all are done.
    Folds(usize, usize),
    /// The answer chosen is being solved and proved.
    Solving,
}
