//! Paths, and what judges their points: a criterion, or samples left out.

use super::conclude::Judged;
use super::run::Run;
use super::{By, Folded, Progress, Remark, Selected, workers};
use crate::control::Observer;
use crate::criteria::{Counted, Criterion, usual_size};
use crate::cv::{CrossValidation, CvOptions, Division, FoldEnd, Work};
use crate::error::Result;
use crate::path::{PathOptions, Point, Search};
use crate::solution::Status;
use std::time::Instant;

/// Cross-validation compares so many sizes at least: samples left out judge larger models than a criterion can.
const FOLDED_SIZE: usize = 20;

impl<'a> Run<'_, 'a> {
    /// The model at the point that the criterion chooses.
    pub(super) fn by_criterion(&self, criterion: Criterion, observer: &mut dyn Observer) -> Result<Selected> {
        let most = self.most(usual_size(&self.posed.problem))?;
        let options = self.path_options(most, self.options.lambda2.clone());
        // Where X takes long to read, sizes that the criterion cannot choose are not looked at, and points that it may not choose have
        // the bounds that looks give: the one chosen is solved again.
        let is_vast = self.posed.problem.design().stored() > options.solve.thresholds.vast;
        let search = if is_vast && options.search == Search::Neighbours { Search::Light } else { options.search };
        let path = self.path(&PathOptions { until: is_vast.then_some(criterion), search, ..options })?;
        if path.points.is_empty() {
            return self.null(path.status, observer);
        }
        let values = criterion.along(&self.posed.problem, &path)?;
        self.conclude(Judged { path, by: By::Criterion(criterion, values) }, most, observer)
    }

    /// The model at the point that cross-validation chooses.
    pub(super) fn by_cross_validation(&self, folded: &Folded, observer: &mut dyn Observer) -> Result<Selected> {
        let (problem, most) = (&self.posed.problem, self.most_folded()?);
        let options = self.folding(folded)?;
        let found = self.cross_validated(&options, folded)?;
        if found.path.points.is_empty() {
            return self.null(found.status, observer);
        }
        let all = match folded.splits.len() {
            0 => found.parts.iter().map(|p| p.iter().max().map_or(0, |m| m + 1)).sum(),
            given => given,
        };
        let (done, limit, mut path) = (found.folds(), found.status, found.path.clone());
        let cause = found.cause.clone();
        let judged = match done {
            0 => {
                // A criterion would take the least of several λ2: it has the usual one, or the nearest that was compared.
                let usual = self.posed.lambda2();
                let far = |p: &Point| (p.lambda2 - usual).abs();
                let nearest = path.points.iter().map(far).fold(f64::INFINITY, f64::min);
                path.points.retain(|p| far(p) == nearest);
                let criterion = Criterion::Ebic { gamma: 1.0 };
                let values = criterion.along(problem, &path)?;
                Judged { path, by: By::Criterion(criterion, values) }
            }
            _ => Judged { path, by: By::CrossValidation(Box::new(found), folded.rule) },
        };
        let mut chosen = self.conclude(judged, most, observer)?;
        if done < all {
            chosen.remarks.push(if done == 0 { Remark::NoFolds } else { Remark::Folds { done, all } });
        }
        if limit != Status::Converged && chosen.solution.status != Status::Interrupted {
            chosen.solution.status = limit;
            chosen.solution.cause = chosen.solution.cause.take().or(cause);
        }
        Ok(chosen)
    }

    /// The largest size that cross-validation compares.
    fn most_folded(&self) -> Result<usize> {
        let problem = &self.posed.problem;
        let n = Counted::new(problem).samples as usize;
        self.most(usual_size(problem).max(FOLDED_SIZE.min(n / 2)).max(1))
    }

    fn folding(&self, folded: &Folded) -> Result<CvOptions> {
        let ridges = match self.options.lambda2.is_empty() {
            true => self.posed.ridges(),
            false => self.options.lambda2.clone(),
        };
        let (path, folds) = (self.path_options(self.most_folded()?, ridges), folded.parts(&self.posed.problem));
        Ok(CvOptions { path, folds, score: folded.score, seed: folded.seed })
    }

    fn work<'w>(&'w self, options: &'w CvOptions, folded: &Folded) -> Result<Work<'w, 'a>> {
        let problem = &self.posed.problem;
        let parts = match folded.splits.is_empty() {
            true => Division::drawn(problem, options)?,
            false => Division::given(problem, &folded.splits)?,
        };
        Ok(Work { problem, options, parts })
    }

    /// One fold alone.
    pub(super) fn fold(&self, folded: &Folded, number: usize) -> Result<FoldEnd> {
        self.work(&self.folding(folded)?, folded)?.fold(number)
    }

    fn cross_validated(&self, options: &CvOptions, folded: &Folded) -> Result<CrossValidation> {
        let show = |done: usize, all: usize| (self.progress)(Progress::Folds(done, all));
        let work = self.work(options, folded)?;
        match (self.path_checkpoint(), &self.options.workers) {
            (Some(file), _) => crate::checkpoint::cross_validate_work(work, file, &show),
            (None, Some(workers)) => {
                let (problem, count) = (&self.posed.problem, work.parts.splits.len());
                let until = options.path.solve.time_limit.and_then(|left| Instant::now().checked_add(left));
                work.with_folds(&show, || workers::folds(&**workers, problem, count, until))
            }
            (None, None) => work.observed(&show),
        }
    }
}
