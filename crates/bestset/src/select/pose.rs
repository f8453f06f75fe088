//! Standardising and back: the problem on the scale it is solved on, coefficients on the scale of the columns given.

use crate::control::Limits;
use crate::design::{Check, Design, PerClass, Standardized, Unread};
use crate::error::{Error, Result, check_length};
use crate::groups::{Groups, is_single};
use crate::loss::{Loss, Survival};
use crate::penalty::{Bounds, Factors, Penalty};
use crate::problem::Problem;
use crate::solution::{Coefficients, Solution, Status};
use serde::{Deserialize, Serialize};

/// λ2 unless given, as a share of a column's sum of squares: a coefficient alone is shrunk by two percent.
pub const USUAL_RIDGE: f64 = 0.01;

/// The λ2 that cross-validation compares unless one is given, as shares of a column's sum of squares: from next to nothing to
/// coefficients shrunk to a third. On data with many correlated columns prediction wants tenths, on clear signals nothing.
pub const RIDGES: [f64; 5] = [0.001, 0.01, 0.1, 0.3, 1.0];

/// The samples, as they are given.
#[derive(Clone, Copy)]
pub struct Samples<'a> {
    /// X.
    pub x: &'a dyn Design,
    /// y.
    pub y: &'a [f64],
    /// Weights of the samples.
    pub weights: Option<&'a [f64]>,
    /// A fixed part of the predictor.
    pub offset: Option<&'a [f64]>,
}

/// Scale of the columns inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Every column has norm one: λ2 is a share of its sum of squares, whatever the number of samples.
    #[default]
    Norm,
    /// Every column has variance one.
    Variance,
    /// As given.
    None,
}

/// The problem asked of the samples, but for the number of features.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `loss` | squared | for many classes y has their numbers, from 0 |
/// | `survival` | none | times, events, entries and strata, for the loss of Cox |
/// | `intercept` | true | |
/// | `scale` | norm one | scale of the columns inside, where λ1 and λ2 are meant; centred if there is an intercept |
/// | `lambda1` | 0 | |
/// | `lambda2` | [`USUAL_RIDGE`], or [`RIDGES`] in cross-validation | times the mean sum of squares of a column |
/// | `delta_in_spreads` | no | whether δ of Huber's loss is a multiple of the residuals' spread |
/// | `bounds` | none | on the coefficients of the columns given |
/// | `price`, `shrinkage` | one | factors of λ0, and of λ1 and λ2, by feature |
/// | `always`, `never` | none | features that cost nothing, features kept out |
/// | `groups` | none | features that are in or out together |
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// The loss.
    pub loss: Loss,
    /// Whether δ of Huber's loss is a multiple of the spread of the residuals, which is estimated (MATH 2.17), and not in the units of y.
    pub delta_in_spreads: bool,
    /// Survival times, for the loss of Cox; y is not looked at then.
    pub survival: Option<Survival>,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Scale of the columns inside.
    pub scale: Scale,
    /// λ1.
    pub lambda1: f64,
    /// λ2, or the usual one.
    pub lambda2: Option<f64>,
    /// Bounds on the coefficients of the columns given.
    pub bounds: Bounds,
    /// Factors of λ0.
    pub price: Factors,
    /// Factors of λ1 and λ2.
    pub shrinkage: Factors,
    /// Features that cost nothing.
    pub always: Vec<usize>,
    /// Features kept out.
    pub never: Vec<usize>,
    /// Features that are in or out together.
    pub groups: Option<Groups>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            loss: Loss::Squared,
            delta_in_spreads: false,
            survival: None,
            intercept: true,
            scale: Scale::Norm,
            lambda1: 0.0,
            lambda2: None,
            bounds: Bounds::Free,
            price: Factors::One,
            shrinkage: Factors::One,
            always: Vec::new(),
            never: Vec::new(),
            groups: None,
        }
    }
}

/// A problem without λ0 on the scale inside, and the way back.
pub struct Posed<'a> {
    /// The problem; its λ2 is the one given or the usual one.
    pub problem: Problem<'a>,
    /// What was asked.
    pub setup: &'a Setup,
    /// The columns given.
    pub(super) x: &'a dyn Design,
    pub(super) view: Option<&'a Standardized<'a>>,
    /// The mean sum of squares of a column inside: what shares for λ2 are taken of.
    unit: f64,
    /// Features that are in or out together, or the columns of one of many classes.
    groups: Option<&'a Groups>,
    /// The limit that struck while X was looked at for the first time.
    pub(super) cut: Option<Status>,
}

impl Setup {
    /// Poses the problem and hands it on: the view on the columns lives as long as that takes.
    pub fn pose<T, E: From<Error>>(
        &self,
        samples: &Samples<'_>,
        body: impl FnOnce(&Posed<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.pose_within(samples, &Limits::default(), body)
    }

    /// As [`Setup::pose`], within the limits of a call that has begun. Where one strikes while X is looked at for the first time, the problem
    /// handed on has columns that nothing is known of, and whatever is asked of it ends at once: with the model without features, whose P
    /// does not need them, and the bound 0 (MATH 4.9), or with an error where that is no answer.
    pub fn pose_within<T, E: From<Error>>(
        &self,
        samples: &Samples<'_>,
        limits: &Limits,
        body: impl FnOnce(&Posed<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        match self.in_units(samples, limits)? {
            Some((own, chance)) => own.posed(samples, chance, limits, body),
            None => self.posed(samples, None, limits, body),
        }
    }

    /// The same where δ is in the units of y, with what chance gains where that is known.
    fn posed<T, E: From<Error>>(
        &self,
        samples: &Samples<'_>,
        chance: Option<f64>,
        limits: &Limits,
        body: impl FnOnce(&Posed<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let limit = || limits.stop(0).unwrap_or(Status::Interrupted);
        let body = |posed: &Posed<'_>| {
            chance.iter().for_each(|chance| posed.problem.know_chance(*chance));
            body(posed)
        };
        match self.view(samples, limits) {
            Err(Error::Stopped) => {
                let unread = Unread { rows: samples.x.nrows(), columns: samples.x.ncols() };
                self.pose_view(&Samples { x: &unread, ..*samples }, None, Some(limit()), limit, body)
            }
            view => self.pose_view(samples, view?, None, limit, body),
        }
    }

    /// The length of every column inside, where they have one.
    fn norm(&self, samples: &Samples<'_>) -> Option<f64> {
        let total: f64 = samples.weights.map_or(samples.x.nrows() as f64, |w| w.iter().sum());
        match self.scale {
            Scale::Norm => Some(1.0),
            // The problem names what is wrong with such weights.
            Scale::Variance => Some(total.sqrt()).filter(|norm| *norm > 0.0 && norm.is_finite()),
            Scale::None => None,
        }
    }

    /// The columns as they are inside, where they are not so already: the first look at all of X.
    fn view<'d>(&self, samples: &Samples<'d>, limits: &Limits) -> Result<Option<Standardized<'d>>> {
        self.penalty(0.0).validate(samples.x.ncols())?;
        // The partial likelihood does not see constants: without them columns keep their digits.
        let centred = self.intercept || matches!(self.loss, Loss::Cox { .. });
        let check: Check<'_> = &|| limits.check();
        match self.norm(samples) {
            Some(norm) => Standardized::fit_while(samples.x, samples.weights, centred, norm, check).map(Some),
            None if centred => Standardized::flattened(samples.x, samples.weights, check),
            None => Ok(None),
        }
    }

    /// Hands the problem on; `cut` is the limit that kept X from being looked at, and `limit` says which one struck meanwhile.
    fn pose_view<T, E: From<Error>>(
        &self,
        samples: &Samples<'_>,
        view: Option<Standardized<'_>>,
        cut: Option<Status>,
        limit: impl FnOnce() -> Status,
        body: impl FnOnce(&Posed<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let x: &dyn Design = match &view {
            Some(view) => view,
            None => samples.x,
        };
        let per_class = self.classes().map(|classes| (PerClass::new(x, classes), classes));
        let penalty = self.penalty_inside(x.ncols(), view.as_ref())?;
        let problem = match &per_class {
            Some((x, classes)) => self.problem_of_classes(samples, x, *classes, penalty)?,
            None => self.problem(samples, x, penalty)?,
        };
        let columns = self.classes().map(|classes| self.groups_of_classes(x.ncols(), classes));
        let groups = columns.as_ref().or(self.groups.as_ref().filter(|groups| !is_single(groups)));
        let (unit, cut) = match self.norm(samples).map(|norm| norm * norm).map_or_else(|| mean_square(&problem), Ok) {
            // No share of it is taken where λ2 is given.
            Err(Error::Stopped) if self.lambda2.is_some() => (1.0, cut.or_else(|| Some(limit()))),
            unit => (unit?, cut),
        };
        let lambda2 = self.lambda2.unwrap_or(USUAL_RIDGE * unit);
        let problem = problem.with_penalty(Penalty { lambda2, ..problem.penalty().clone() })?;
        body(&Posed { problem, setup: self, x: samples.x, view: view.as_ref(), unit, groups, cut })
    }

    fn penalty(&self, lambda2: f64) -> Penalty {
        let (bounds, price, shrinkage) = (self.bounds.clone(), self.price.clone(), self.shrinkage.clone());
        Penalty {
            lambda0: 0.0,
            lambda1: self.lambda1,
            lambda2: self.lambda2.unwrap_or(lambda2),
            bounds,
            price,
            shrinkage,
        }
    }

    /// The penalty of p features on the scale inside.
    fn penalty_inside(&self, p: usize, view: Option<&Standardized<'_>>) -> Result<Penalty> {
        let mut penalty = self.penalty(0.0);
        if let (Some(view), true) = (view, self.bounds != Bounds::Free) {
            // The sign of a bound does not depend on the scale: such bounds stay the same for all.
            let signs = |v: f64| v == 0.0 || v.is_infinite();
            let same = matches!(self.bounds, Bounds::All(lower, upper) if signs(lower) && signs(upper));
            if !same {
                let scaled = |j: usize| (view.inward(j, self.bounds.at(j).0), view.inward(j, self.bounds.at(j).1));
                let (lower, upper) = (0..p).map(scaled).unzip();
                penalty = penalty.with_bounds(Bounds::Each(lower, upper));
            }
        }
        if !self.always.is_empty() {
            penalty = penalty.always(&self.always, p)?;
        }
        if !self.never.is_empty() {
            penalty = penalty.never(&self.never, p)?;
        }
        if let Some(groups) = &self.groups {
            penalty = self.single(groups, penalty, p)?;
        }
        Ok(penalty)
    }

    fn problem<'d>(&self, samples: &Samples<'d>, x: &'d dyn Design, penalty: Penalty) -> Result<Problem<'d>> {
        let mut problem = Problem::new(x, samples.y, penalty)?.with_intercept(self.intercept);
        if let Some(weights) = samples.weights {
            problem = problem.with_weights(weights)?;
        }
        if let Some(offset) = samples.offset {
            problem = problem.with_offset(offset)?;
        }
        match (&self.survival, self.loss) {
            (Some(times), Loss::Cox { ties }) => problem.with_survival(times.clone(), ties),
            _ => problem.with_loss(self.loss),
        }
    }
}

impl Setup {
    /// Groups of one feature each are features: what they cost is a factor of the price of the feature.
    fn single(&self, groups: &Groups, mut penalty: Penalty, p: usize) -> Result<Penalty> {
        check_length("group labels", groups.members.iter().map(Vec::len).sum(), p)?;
        check_length("group prices", groups.prices.len(), groups.len())?;
        if is_single(groups) && groups.prices.iter().any(|f| *f != 1.0) {
            let mut factors: Vec<f64> = (0..p).map(|j| penalty.price.at(j)).collect();
            groups.members.iter().zip(&groups.prices).for_each(|(m, f)| factors[m[0]] *= f);
            penalty = penalty.with_price(factors);
        }
        Ok(penalty)
    }
}

fn mean_square(problem: &Problem<'_>) -> Result<f64> {
    let mean = problem.column_squares()?.iter().sum::<f64>() / problem.ncols() as f64;
    Ok(if mean > 0.0 { mean } else { 1.0 })
}

impl<'a> Posed<'a> {
    /// The problem with a price of a feature and a λ2.
    pub fn priced(&self, lambda0: f64, lambda2: f64) -> Result<Problem<'a>> {
        self.problem.with_penalty(Penalty { lambda0, lambda2, ..self.problem.penalty().clone() })
    }

    /// The problem with at most k features in place of a price, and a λ2.
    pub fn limited(&self, k: usize, lambda2: f64) -> Result<Problem<'a>> {
        self.priced(0.0, lambda2)?.with_max_size(k)
    }

    /// The bounds inside, none wider than `size` for the columns given.
    pub(super) fn within(&self, size: f64) -> Bounds {
        let inside = |j: usize| self.view.map_or(size, |view| view.inward(j, size));
        let own = |j: usize| self.problem.penalty().bounds.at(j);
        let bounded = |j: usize| (own(j).0.max(-inside(j)), own(j).1.min(inside(j)));
        let (lower, upper) = (0..self.problem.ncols()).map(bounded).unzip();
        Bounds::Each(lower, upper)
    }

    /// Features that are constant but for rounding, a list each: they are zero inside, and in no answer.
    pub(super) fn flat(&self) -> Vec<Vec<usize>> {
        self.view.map(Standardized::flat).unwrap_or_default().iter().map(|&j| vec![j]).collect()
    }

    /// Refuses coefficients that make something of a feature that is constant but for rounding: there is no such column inside.
    pub(super) fn check_flat(&self, support: &[usize], is_used: impl Fn(usize) -> bool) -> Result<()> {
        let flat = self.view.map(Standardized::flat).unwrap_or_default();
        match (0..support.len()).find(|&k| is_used(k) && flat.binary_search(&support[k]).is_ok()) {
            Some(k) => Err(Error::Flat { column: support[k] }),
            None => Ok(()),
        }
    }

    /// λ2 of the problem.
    pub fn lambda2(&self) -> f64 {
        self.problem.penalty().lambda2
    }

    /// The λ2 that cross-validation compares: the one given, or [`RIDGES`], for classification without the least. A few features
    /// often separate two classes, and then nothing but λ2 keeps coefficients, and the deviance of samples left out, from growing
    /// without an end.
    pub fn ridges(&self) -> Vec<f64> {
        let shares = if self.problem.kinds().is_some() { &RIDGES[1..] } else { &RIDGES[..] };
        match self.setup.lambda2 {
            Some(given) => vec![given],
            None => shares.iter().map(|share| share * self.unit).collect(),
        }
    }

    /// The groups, if features are in or out together, of columns where there are many classes.
    pub fn groups(&self) -> Option<&'a Groups> {
        self.groups
    }

    /// Coefficients for the columns given; of many classes the features with the lengths of their coefficients
    /// ([`Posed::outward_classes`] has these).
    pub fn outward(&self, inside: &Coefficients) -> Coefficients {
        if let Some(classes) = self.classes() {
            return self.outward_lengths(inside, classes);
        }
        let Some(view) = self.view else { return inside.clone() };
        let (mut values, shift) = view.unscale(&inside.support, &inside.values);
        for (b, &j) in values.iter_mut().zip(&inside.support) {
            // Dividing by the scale may round across a bound.
            let (lower, upper) = self.setup.bounds.at(j);
            *b = b.clamp(lower, upper);
        }
        let intercept = if self.problem.coupled().is_some() { 0.0 } else { inside.intercept + shift };
        Coefficients { support: inside.support.clone(), values, intercept }
    }

    /// Coefficients for the columns inside.
    pub fn inward(&self, outside: &Coefficients) -> Coefficients {
        let Some(view) = self.view else { return outside.clone() };
        let mut inside = outside.clone();
        for (b, &j) in inside.values.iter_mut().zip(&inside.support) {
            // Features that the design does not have are left to its own check.
            let Some(centre) = view.centre().get(j) else { continue };
            inside.intercept += centre * *b;
            *b = view.inward(j, *b);
        }
        inside
    }

    /// A solution with its coefficients for the columns given.
    pub fn outward_solution(&self, solution: &Solution) -> Solution {
        let mut outside = solution.clone();
        outside.coefficients = self.outward(&solution.coefficients);
        for ranked in &mut outside.ranked {
            ranked.coefficients = self.outward(&ranked.coefficients);
        }
        outside
    }
}
