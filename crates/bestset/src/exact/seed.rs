//! What a tree grows from: an answer, the minimiser of the relaxation and its bound, and for a limited size the price ν at which the
//! relaxation takes k features (MATH 11.5).

use crate::control::{Monitor, Options};
use crate::error::Result;
use crate::exact::multiplier::Multiplier;
use crate::exact::setting::Setting;
use crate::exact::size::{improve, largest};
use crate::penalty::{Factors, Penalty};
use crate::problem::screening;
use crate::relaxation::workspace::Workspace;
use crate::search::fit::{margin, refit};
use crate::solution::Coefficients;
use crate::solver::incremental;
use crate::solver::incremental::Root;

/// The default solver's answer and the price ν of a feature that a limited size adds.
pub struct Seed {
    /// The answer, and the bound with the point that gives it.
    pub root: Root,
    /// ν (MATH 11.5), 0 without a limited size.
    pub multiplier: f64,
}

impl Seed {
    /// The root of the problem, penalised or of a limited size.
    pub fn new(setting: &Setting<'_, '_>, monitor: &mut Monitor<'_>) -> Result<Self> {
        match setting.size {
            None => {
                let root = incremental::sketch(&mut setting.workspace(), setting.options, monitor)?;
                Ok(Self { root, multiplier: 0.0 })
            }
            Some(k) => Self::within(setting, k, monitor),
        }
    }

    /// A root that is known, its answer fitted once more: P knows half of the digits of a coefficient.
    pub fn grown(mut root: Root, setting: &Setting<'_, '_>, monitor: &Monitor<'_>) -> Result<Self> {
        let mut work = setting.workspace();
        work.load(&root.outcome.coefficients)?;
        refit(&mut work, monitor);
        let fitted = work.coefficients();
        let objective = setting.problem.value(&fitted)?;
        if objective <= root.objective + margin(root.objective) {
            (root.outcome.coefficients, root.objective) = (fitted, objective);
        }
        Ok(Self { root, multiplier: 0.0 })
    }

    /// max_ν { min R_ν − νk } (MATH 11.5): solves the problem with λ0 + ν for prices ν until the relaxation takes about k features, keeps
    /// the best bound D − νk and the best answer of at most k features.
    fn within(setting: &Setting<'_, '_>, k: usize, monitor: &mut Monitor<'_>) -> Result<Self> {
        let (problem, options, tuning) = (setting.problem, setting.options, &setting.tuning);
        // Beyond the largest price nothing is taken, and every feature pays it, whatever its factor of λ0 (which may be zero); the
        // first guess is a part of it, and 0 when λ0 alone is enough.
        let same = problem.with_penalty(Penalty { price: Factors::One, ..problem.penalty().clone() })?;
        let (null, features) = (same.null_dual_point(), same.features());
        let tau = same.correlations(&null)?;
        let highest = same.worth_of(&features, &tau);
        // A bound of the problem as posed before the first price has one.
        let limited = problem.clone().with_max_size(k)?;
        let (bound, s) = limited.lower_bounds()?.best_multiple(&null, &features, &tau);
        monitor.so_far.offer_bound(bound, &null.iter().map(|a| s * a).collect::<Vec<f64>>());
        let mut nu = if problem.penalty().lambda0 > 0.0 { 0.0 } else { tuning.first_price * highest };
        let mut prices = Multiplier::new(Some(k), tuning.root_prices, tuning.price_worth);
        let mut search = PriceSearch::new(setting, k);
        let absolute = options.absolute(problem);
        monitor.muted = true;
        while let Some(count) = search.solve(nu, monitor)? {
            let gap = search.objective - search.last_bound;
            let closed = gap <= absolute.max(options.gap * search.objective.abs());
            match prices.next(nu, count, gap) {
                Some(next) if !closed && monitor.stop(0).is_none() => nu = next.min(highest),
                _ => break,
            }
        }
        monitor.muted = false;
        Ok(search.conclude())
    }
}

/// The root solved at one price after the other.
struct PriceSearch<'s, 'p, 'a> {
    setting: &'s Setting<'p, 'a>,
    k: usize,
    /// The root with the best bound.
    best: Option<Seed>,
    /// The best answer of at most k features, and its P.
    answer: Coefficients,
    objective: f64,
    /// Bound at the last price.
    last_bound: f64,
    /// Where the next root starts: the last one's minimiser.
    start: Option<Coefficients>,
    /// The features that answers are made of.
    core: Workspace<'p, 'a>,
}

impl<'s, 'p, 'a> PriceSearch<'s, 'p, 'a> {
    fn new(setting: &'s Setting<'p, 'a>, k: usize) -> Self {
        Self {
            setting,
            k,
            best: None,
            answer: Coefficients::default(),
            objective: f64::INFINITY,
            last_bound: f64::NEG_INFINITY,
            start: setting.options.warm_start.clone(),
            core: setting.workspace(),
        }
    }

    /// The root at λ0 + ν; how many features its relaxation takes (MATH 11.5), `None` where ν is no price.
    fn solve(&mut self, nu: f64, monitor: &mut Monitor<'_>) -> Result<Option<f64>> {
        let (problem, options) = (self.setting.problem, self.setting.options);
        let Ok(priced) = problem.with_penalty(problem.penalty().priced(nu)) else { return Ok(None) };
        let started = Options { warm_start: self.start.clone(), ..options.clone() };
        let mut work = Workspace::new(&priced).within(options.memory());
        let mut root = incremental::root(&mut work, &started, monitor)?;
        drop(work);
        let (bound, back) = (root.outcome.lower_bound, nu * self.k as f64);
        root.outcome.lower_bound -= back + f64::EPSILON * (back + bound.abs());
        let charge = |j: usize, b: f64| priced.coordinate(j).fraction(b);
        let count: f64 = root.minimiser.iter().map(|(j, b)| charge(j, b)).sum();
        self.answer_from(&root, charge, monitor)?;
        self.start = Some(root.minimiser.clone());
        self.last_bound = root.outcome.lower_bound;
        // Muted for the sake of the priced problem: these are of the one that is posed.
        monitor.so_far.offer_bound(self.last_bound, &root.outcome.dual);
        monitor.so_far.offer(self.objective, || self.answer.clone());
        if self.best.as_ref().is_none_or(|b| b.root.outcome.lower_bound < self.last_bound) {
            self.best = Some(Seed { root, multiplier: nu });
        }
        Ok(Some(count))
    }

    /// Answers of at most k features from the root's minimiser and from its answer.
    fn answer_from(&mut self, root: &Root, charge: impl Fn(usize, f64) -> f64, monitor: &Monitor<'_>) -> Result<()> {
        let tuning = &self.setting.tuning;
        // Where they are too many for a tableau, those that are charged most.
        let charged = largest(&root.minimiser, tuning.most_charged.max(4 * self.k), &charge);
        if !self.core.has_room_for(self.core.active.len() + charged.support.len()) {
            self.core = self.setting.workspace();
        }
        self.core.include_all(&charged.support)?;
        for candidate in [&root.minimiser, &root.outcome.coefficients] {
            self.core.load(&largest(candidate, self.k, &charge))?;
            improve(&mut self.core, self.k, tuning.moves_within_size, monitor.limits())?;
            let value = self.setting.problem.value(&self.core.coefficients())?;
            if value < self.objective {
                (self.answer, self.objective) = (self.core.coefficients(), value);
            }
        }
        Ok(())
    }

    /// The root with the best bound, and the best answer in place of its own.
    fn conclude(self) -> Seed {
        let Some(Seed { root: Root { mut outcome, minimiser, tau, visited, .. }, multiplier }) = self.best else {
            unreachable!("the first price is always tried")
        };
        let (problem, objective) = (self.setting.problem, self.objective);
        // The counts were those of the problem with a price; with the price fixed the rule holds for the limited one as well.
        let bound = outcome.lower_bound;
        let excluded = |j: &usize| {
            screening::in_no_optimal_subset(problem.coordinate(*j).priced(multiplier), tau[*j], bound, objective)
        };
        (outcome.screened.excluded, outcome.screened.included) = ((0..tau.len()).filter(excluded).count(), 0);
        (outcome.coefficients, outcome.relaxation) = (self.answer, None);
        Seed { root: Root { outcome, minimiser, tau, objective, visited }, multiplier }
    }
}
