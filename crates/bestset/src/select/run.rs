//! A selection under way: paths, solves and proofs within what is left of its limits.

use crate::control::{Method, Observer, Options};
use crate::error::{Error, Result};
use crate::groups::{Groups, solve_groups_observed};
use crate::loss::Loss;
use crate::path::{Grid, Path, PathOptions};
use crate::penalty::Penalty;
use crate::problem::Problem;
use crate::select::provable::Unproved;
use crate::select::{Posed, Progress, Provable, Prove, Remark, Selected, Selection, Standing, prove};
use crate::solution::{Local, Solution, Status, TraceRow};
use crate::solve::{solve_observed, solve_rooted};
use crate::solver::incremental::Root;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is kept of a time limit, a tenth at the most, to find out what would be proved.
const ADVICE: Duration = Duration::from_secs(1);

/// A selection under way.
pub(super) struct Run<'r, 'a> {
    pub(super) posed: &'r Posed<'a>,
    pub(super) options: &'r Selection,
    pub(super) start: Instant,
    pub(super) progress: &'r (dyn Fn(Progress) + Sync),
    /// What proofs have taken.
    pub(super) spent: Mutex<Spent>,
}

/// The time before the first proof and that of all proofs: a choice that is made again has no more for it than one that is not.
#[derive(Default)]
pub(super) struct Spent {
    fit: Option<Duration>,
    proofs: Duration,
}

/// An answer at a price before its proof.
pub(super) struct Searched<'a> {
    pub(super) problem: Problem<'a>,
    pub(super) solution: Solution,
    /// Whether R was minimised on more than a proof can repeat for every node.
    pub(super) is_long: bool,
    /// What branch and bound grows from.
    pub(super) root: Option<Root>,
}

impl<'r, 'a> Run<'r, 'a> {
    /// Starts the clock.
    pub(super) fn new(posed: &'r Posed<'a>, options: &'r Selection, progress: &'r (dyn Fn(Progress) + Sync)) -> Self {
        Self { posed, options, start: Instant::now(), progress, spent: Mutex::default() }
    }
}

impl<'a> Run<'_, 'a> {
    /// The options of a solve that begins now.
    pub(super) fn solve_options(&self) -> Options {
        let mut solve = self.options.solve.clone();
        solve.time_limit = solve.time_limit.map(|limit| limit.saturating_sub(self.start.elapsed()));
        solve
    }

    /// The options of a path that begins now.
    pub(super) fn path_options(&self, most: usize, lambda2: Vec<f64>) -> PathOptions {
        let usual = PathOptions::default();
        let solve = Options {
            relaxation_gap: usual.solve.relaxation_gap,
            trace: false,
            warm_start: None,
            method: Method::Incremental,
            ..self.solve_options()
        };
        PathOptions {
            grid: self.options.grid.clone().unwrap_or_else(|| Grid::for_sizes(most)),
            lambda2,
            max_size: Some(most),
            search: self.options.search,
            groups: self.posed.groups().cloned(),
            solve,
            ..usual
        }
    }

    /// λ2 of a single solve: the one given, or the setup's. Only cross-validation has several; without a path it takes the first.
    pub(super) fn ridge(&self) -> f64 {
        self.options.lambda2.first().copied().unwrap_or(self.posed.lambda2())
    }

    /// The largest size compared: the one given, or the usual one beside the features that are always in.
    pub(super) fn most(&self, usual: usize) -> Result<usize> {
        let (always, p) = (self.posed.setup.always.len(), self.posed.problem.variables());
        match self.options.max_size {
            Some(k) if k < always => Err(Error::SizeBelowAlways { k, always }),
            Some(given) => Ok(given.min(p)),
            None => Ok((usual + always).min(p)),
        }
    }

    /// The file for paths and folds; with branch and bound it is for the search, which is what takes long.
    pub(super) fn path_checkpoint(&self) -> Option<&PathBuf> {
        self.options.checkpoint.as_ref().filter(|_| self.options.solve.method != Method::Exact)
    }

    pub(super) fn path(&self, options: &PathOptions) -> Result<Path> {
        let size = |point: &crate::path::Point| self.posed.problem.size(&point.solution.coefficients);
        let mut show = |point: &crate::path::Point| (self.progress)(Progress::Path(size(point)));
        let mut found = match self.path_checkpoint() {
            Some(file) => crate::checkpoint::path_observed(&self.posed.problem, options, file, &mut show)?,
            None => crate::path::path_observed(&self.posed.problem, options, &mut show)?,
        };
        let most = options.max_size.unwrap_or(usize::MAX);
        // A path ends at the first answer of the size or a larger one; what is larger was not asked for.
        found.points.retain(|p| size(p) <= most);
        Ok(found)
    }

    /// The answer at a price with its proof, from `start`.
    pub(super) fn at_price(
        &self,
        lambda0: f64,
        lambda2: f64,
        start: Option<crate::Coefficients>,
        observer: &mut dyn Observer,
    ) -> Result<Selected> {
        let Searched { problem, mut solution, is_long, root } = self.search(lambda0, lambda2, start, observer)?;
        let remarks = self.prove(&problem, &mut solution, self.methods().1, is_long, root, observer)?;
        Ok(self.selected(&problem, solution, self.options.solve.method, remarks))
    }

    /// The answer at a price before its proof, from `start`.
    pub(super) fn search(
        &self,
        lambda0: f64,
        lambda2: f64,
        start: Option<crate::Coefficients>,
        observer: &mut dyn Observer,
    ) -> Result<Searched<'a>> {
        (self.progress)(Progress::Solving);
        let (problem, mut solve) = (self.posed.priced(lambda0, lambda2)?, self.solve_options());
        solve.warm_start = start.or(solve.warm_start);
        let (first, prove) = self.methods();
        let options = Options { method: first, top: 1, ..solve };
        let (mut active, mut root) = (0, None);
        let mut watched = |row: &TraceRow| {
            active = active.max(row.active);
            observer.record(row);
        };
        let mut solution = match self.posed.groups() {
            Some(groups) => self.of_groups(&problem, groups, options, &mut watched)?,
            None => solve_rooted(&problem, &options, &mut watched, &mut root)?,
        };
        // What memory leaves room for is no limit that the user gave.
        if solution.status == Status::MemoryLimit && self.options.solve.max_memory.is_none() && prove != Prove::Fully {
            solution.status = Status::Converged;
        }
        let (entries, long) = (problem.design().stored() / problem.ncols().max(1), self.options.solve.thresholds.long);
        Ok(Searched { problem, solution, is_long: active * entries > long, root })
    }

    /// The best found with at most k features, from `start`, and its proof.
    pub(super) fn at_size(
        &self,
        k: usize,
        lambda2: f64,
        start: Option<crate::Coefficients>,
        observer: &mut dyn Observer,
    ) -> Result<Selected> {
        self.posed.check_counted()?;
        (self.progress)(Progress::Solving);
        let k = k.min(self.posed.problem.variables());
        let limited = self.posed.limited(k, lambda2)?;
        let (first, prove) = self.methods();
        let mut solve = self.solve_options();
        solve.warm_start = start.or(solve.warm_start);
        let mut solution = match (first, self.posed.groups()) {
            (_, Some(groups)) => {
                self.of_groups(&limited, groups, Options { method: first, top: 1, ..solve }, observer)?
            }
            (Method::Incremental, None) => self.of_size(k, &limited, solve)?,
            _ => solve_observed(&limited, &Options { method: first, top: 1, ..solve }, observer)?,
        };
        let remarks = self.prove(&limited, &mut solution, prove, false, None, observer)?;
        let found = self.selected(&limited, solution, self.options.solve.method, remarks);
        Ok(Selected { k: Some(k), ..found })
    }

    /// The best choice of groups found before a proof: that of the relaxation, or, where there is none or the size is limited, the one
    /// that branch and bound starts from.
    fn of_groups(
        &self,
        problem: &Problem<'_>,
        groups: &Groups,
        options: Options,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        let has_relaxation = problem.penalty().has_certificate(problem.ncols());
        if has_relaxation && problem.max_size().is_none() {
            return solve_groups_observed(problem, groups, &options, observer);
        }
        let options = Options { method: Method::Exact, max_nodes: Some(1), ..options };
        let mut found = solve_groups_observed(problem, groups, &options, observer)?;
        if found.status == Status::NodeLimit {
            found.status = Status::Converged;
        }
        Ok(Solution { ranked: Vec::new(), ..found })
    }

    /// The best found by exchanges, or the coefficients to start from where they are better.
    fn of_size(&self, k: usize, limited: &Problem<'_>, mut options: Options) -> Result<Solution> {
        let (begun, start) = (Instant::now(), options.warm_start.take());
        options.method = Method::Incremental;
        let found = crate::sizes::sizes(&self.posed.priced(0.0, limited.penalty().lambda2)?, &[k], &options)?;
        let features = self.posed.problem.ncols();
        let mut solution = found.solutions.into_iter().next().ok_or(Error::Size { k, features })?;
        if let Some(start) = start.filter(|start| start.nonzeros() <= k) {
            let objective = limited.objective(&start)?;
            if objective < solution.certificate.objective {
                (solution.coefficients, solution.certificate.objective) = (start, objective);
                solution.local = Local::None;
            }
        }
        solution.seconds = begun.elapsed().as_secs_f64();
        Ok(solution)
    }

    /// The method that looks for the answer, and the proof that follows: published algorithms are left as they are.
    pub(super) fn methods(&self) -> (Method, Prove) {
        match self.options.solve.method {
            Method::Exact => (Method::Incremental, Prove::Fully),
            Method::Incremental => (Method::Incremental, self.options.prove),
            published => (published, Prove::No),
        }
    }

    pub(super) fn prove(
        &self,
        problem: &Problem<'a>,
        solution: &mut Solution,
        prove: Prove,
        is_long: bool,
        root: Option<Root>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Remark>> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut solve, is_first) = (self.solve_options(), spent.fit.is_none());
        if prove == Prove::Fully {
            // What would be proved, if this is not, is worth a little of the time.
            solve.time_limit = solve.time_limit.map(|limit| limit - ADVICE.min(limit / 10));
        }
        let (fit, begun) = (*spent.fit.get_or_insert_with(|| self.start.elapsed()), Instant::now());
        // The file is of one search: the path has it unless branch and bound was asked for, and later rounds have other prices.
        let file = self.options.checkpoint.as_deref();
        let file = file.filter(|_| is_first && self.options.solve.method == Method::Exact);
        let groups = self.posed.groups();
        let workers = self.options.workers.as_deref();
        let proof = prove::Proof {
            problem,
            groups,
            prove,
            is_long,
            fit,
            spent: spent.proofs,
            begun,
            options: &solve,
            file,
            workers,
        };
        let failed = proof.raise(solution, root, observer)?;
        spent.proofs += begun.elapsed();
        match (failed, prove) {
            // Where a proof was demanded, that there cannot be one is an error; where time was set aside for it, a remark.
            (
                Some(error @ (Error::Unsupported { .. } | Error::Unpenalised { .. } | Error::TooWide { .. })),
                Prove::Fully,
            ) => Err(match self.provable(problem, solution, prove) {
                Some(provable) => Error::Unprovable { cause: Box::new(error), advice: provable.to_string() },
                None => error,
            }),
            // Dependent columns are named, and their error says what to do.
            (Some(error), Prove::Fully) => Err(error),
            (error, prove) => {
                let unproved = error.filter(|_| matches!(prove, Prove::For(_))).map(Remark::Unproved);
                let ranks = self.missing_ranks(solution).filter(|_| prove == Prove::Fully);
                let provable = || self.provable(problem, solution, prove).map(Remark::Provable);
                Ok(unproved.into_iter().chain(ranks.or_else(provable)).collect())
            }
        }
    }

    /// What would be proved, where this is not. Where a proof was demanded it is tried; else no more than a few passes are worth it.
    fn provable(&self, problem: &Problem<'a>, solution: &Solution, prove: Prove) -> Option<Provable> {
        let is_open = !matches!(solution.status, Status::Optimal | Status::Interrupted | Status::ReadFailed);
        let options = self.solve_options();
        let is_late = options.cancel.is_cancelled() || options.time_limit.is_some_and(|left| left.is_zero());
        // Where columns are not in memory a pass is dear, and nobody asked for it.
        let is_far = problem.design().reads_ahead() || problem.design().trip().is_some();
        if !is_open || is_late || is_far || self.posed.groups().is_some() || prove == Prove::No {
            return None;
        }
        let unproved = Unproved { posed: self.posed, problem, solution, options };
        if prove == Prove::Fully { unproved.tried() } else { unproved.expected() }
    }

    /// What is to be said where fewer of the best subsets are proved than were asked for, though there may be more.
    fn missing_ranks(&self, solution: &Solution) -> Option<Remark> {
        let (asked, status) = (self.options.solve.top, solution.status);
        let known = solution.ranked.iter().filter(|r| r.proved).count();
        let listed = solution.ranked.len();
        let is_dependent = known < listed && status == Status::Optimal && !solution.dependent.is_empty();
        match asked > 1 && known < asked && status != Status::Optimal {
            true => Some(Remark::Ranks { known, asked, status }),
            false => is_dependent.then_some(Remark::DependentRanks { known, listed }),
        }
    }

    /// That coefficients grow without an end, where nothing shrinks or bounds them and the loss may have no minimum.
    pub(super) fn infinite(&self, found: &Selected) -> Result<Option<Remark>> {
        // An answer that a limit cut short may be no fit yet.
        let is_cut = |status| {
            matches!(status, Status::Interrupted | Status::ReadFailed | Status::TimeLimit | Status::MemoryLimit)
        };
        // Many classes are not looked at; the other losses have a minimum.
        let is_other = matches!(
            self.posed.problem.loss(),
            Loss::Squared | Loss::SquaredHinge | Loss::Huber { .. } | Loss::Multinomial { .. }
        );
        if is_other || is_cut(found.solution.status) || found.lambda1 != 0.0 || found.lambda2 != 0.0 {
            return Ok(None);
        }
        let problem = self.posed.priced(found.lambda0, found.lambda2)?;
        let features = crate::search::polish::growing(&problem, &found.solution.coefficients)?;
        Ok(Some(features).filter(|features| !features.is_empty()).map(Remark::Infinite))
    }

    pub(super) fn selected(
        &self,
        problem: &Problem<'a>,
        solution: Solution,
        method: Method,
        remarks: Vec<Remark>,
    ) -> Selected {
        let Penalty { lambda0, lambda1, lambda2, .. } = *problem.penalty();
        let standing = Standing::new(problem, &solution.coefficients, &solution.certificate, solution.status);
        Selected { solution, lambda0, lambda1, lambda2, k: None, method, chosen: None, standing, remarks }
    }
}
