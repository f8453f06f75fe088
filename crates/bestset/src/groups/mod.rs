//! Whole groups of features in or out (MATH 9.3–9.11, 11.36–11.41).
//!
//! P(β, β₀) = L(β, β₀) + Σ_g λ0_g [β_g ≠ 0] + λ1‖β‖₁ + λ2‖β‖². With τ = Xᵀα and φ_j⁰ the φ_j without λ0 (MATH 3.1):
//!
//!   Ψ_g(τ) = min(0, λ0_g + Σ_{j ∈ g} φ_j⁰(τ_j)),        D(α) = −Σ ℓ* + Σ_g Ψ_g,
//!   ρ_g(β) = λ1‖β‖₁ + { 2√(λ0_g λ2) ‖β‖₂  if ‖β‖₂ ≤ √(λ0_g/λ2),  λ0_g + λ2‖β‖₂²  otherwise },
//!
//! so that the envelope of a group is that of a single coefficient in the length of β_g, after λ1 has taken its part.
//!
//! | file | what |
//! |---|---|
//! | `grouped` | prices, P, and D of a node |
//! | `block` | the envelope of one group, whatever its factors and bounds, and the step of descent |
//! | `relax` | the relaxation minimised, its dual points |
//! | `model` | the quadratic model that its steps minimise |
//! | `search` | fits, and groups added, dropped and exchanged |
//! | `kicks` | on past what exchanges end in |
//! | `changes` | what that is worth by the model: which fits to make |
//! | `tree/`, `prove` | branch and bound |
mod block;
mod changes;
mod grouped;
mod kicks;
mod model;
mod prove;
pub(crate) mod relax;
pub(crate) mod search;
mod tree;

pub(crate) use changes::largest_entry;
pub(crate) use grouped::{Decision, Grouped, Part};
pub(crate) use prove::of_features;

use crate::certificate::Certificate;
use crate::control::{Limits, Method, Monitor, Observer, Options};
use crate::error::{Error, Result, check_length};
use crate::penalty::Factors;
use crate::problem::Problem;
use crate::solution::{Coefficients, Ranked, Solution, Status};
use crate::solver::incremental::is_settled;

/// Which features belong together, and what each group costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// The features of each group, ascending; groups in the order of their labels.
    pub members: Vec<Vec<usize>>,
    /// The label of each group.
    pub labels: Vec<usize>,
    /// What each group costs, in units of λ0: its size unless given.
    pub prices: Vec<f64>,
}

impl Groups {
    /// Features with the same label form a group; labels may be any numbers in any order. A group costs λ0 times its size.
    pub fn new(labels: &[usize]) -> Self {
        let mut known = labels.to_vec();
        known.sort_unstable();
        known.dedup();
        let members: Vec<Vec<usize>> =
            known.iter().map(|l| (0..labels.len()).filter(|&j| labels[j] == *l).collect()).collect();
        let prices = members.iter().map(|m: &Vec<usize>| m.len() as f64).collect();
        Self { members, labels: known, prices }
    }

    /// A group of K columns for every one of p features, at the price of one: the groups of a [`PerClass`](crate::design::PerClass) design.
    pub fn per_class(features: usize, classes: usize) -> Self {
        let members = (0..features).map(|j| (j * classes..(j + 1) * classes).collect()).collect();
        Self { members, labels: (0..features).collect(), prices: vec![1.0; features] }
    }

    /// The same groups at the given prices, in units of λ0, in the order of the labels.
    pub fn with_prices(mut self, prices: Vec<f64>) -> Result<Self> {
        check_length("group prices", prices.len(), self.members.len())?;
        if let Some(feature) = prices.iter().position(|f| !(*f >= 0.0 && f.is_finite())) {
            return Err(Error::Factor { name: "group price", feature, value: prices[feature] });
        }
        self.prices = prices;
        Ok(self)
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// Whether every group has one feature.
pub(crate) fn is_single(groups: &Groups) -> bool {
    groups.members.iter().all(|members| members.len() == 1)
}

/// An answer whose support is made of groups.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupSolution {
    /// The coefficients.
    pub coefficients: Coefficients,
    /// The labels of the groups in the model.
    pub selected: Vec<usize>,
    /// P, R of the relaxation, and the bound.
    pub certificate: Certificate,
    /// How it ended.
    pub status: Status,
    /// The dual point that gives the bound; after branch and bound, the bound before branching.
    pub dual: Vec<f64>,
    /// Branch-and-bound nodes.
    pub nodes: usize,
    /// The best choices of groups, best first, as many as [`Options::top`] asks branch and bound for.
    pub ranked: Vec<Ranked>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// The best found with whole groups in or out, and a bound that no choice of groups can beat; with [`Method::Exact`] branch and bound
/// closes the gap, and ranks the best [`Options::top`] choices.
///
/// A group costs λ0 times its price, times the mean of the price factors of its features, of which all or none may be zero. Factors of
/// shrinkage and bounds are those of the features. A largest size ([`Problem::with_max_size`]) is for [`Method::Exact`]; a group counts
/// for as many features as it has. The bound needs λ2 > 0 or bounds on every coefficient; branch and bound does without for least
/// squares that has neither λ1 nor bounds.
///
/// ```
/// use bestset::design::Dense;
/// use bestset::groups::{Groups, solve_groups};
/// use bestset::{Method, Options, Penalty, Problem, Status};
///
/// let x = Dense::new(4, 3, vec![1.0, 2.0, 3.0, 4.0, 1.0, -1.0, 1.0, -1.0, 0.5, 0.5, -0.5, 0.0])?;
/// let problem = Problem::new(&x, vec![2.1, 3.9, 6.0, 8.1], Penalty::new(0.2, 0.0, 0.01))?;
/// let found = solve_groups(&problem, &Groups::new(&[7, 3, 7]), &Options::default())?;
///
/// assert_eq!(found.selected, [7]);
/// assert!(found.certificate.lower_bound <= found.certificate.objective);
///
/// let proved = solve_groups(&problem, &Groups::new(&[7, 3, 7]), &Options::with_method(Method::Exact))?;
/// assert_eq!((proved.selected, proved.status), (vec![7], Status::Optimal));
/// # Ok::<(), bestset::Error>(())
/// ```
pub fn solve_groups(problem: &Problem<'_>, groups: &Groups, options: &Options) -> Result<GroupSolution> {
    let found = solve_groups_observed(problem, groups, options, &mut ())?;
    let grouped = Grouped { problem, groups };
    let selected = grouped.chosen(&found.coefficients).iter().map(|&g| groups.labels[g]).collect();
    let Solution { coefficients, certificate, status, dual, iterations: nodes, ranked, seconds, .. } = found;
    Ok(GroupSolution { coefficients, selected, certificate, status, dual, nodes, ranked, seconds })
}

/// As [`solve_groups`], with an observer that sees every trace row of branch and bound; all that is known of the answer.
pub fn solve_groups_observed(
    problem: &Problem<'_>,
    groups: &Groups,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Solution> {
    let plain = problem.without_max_size();
    let grouped = Grouped { problem: &plain, groups };
    validate_groups(&grouped)?;
    options.validate_ranges(problem)?;
    if options.method == Method::Exact {
        if is_single(groups) {
            let mut features = of_features(&grouped)?;
            if let Some(k) = problem.max_size() {
                features = features.with_max_size(k)?;
            }
            return crate::solve_observed(&features, options, observer);
        }
        let mut monitor = Monitor::new(options, observer);
        let found =
            crate::control::on_threads(options.threads, || prove::prove(problem, &grouped, options, &mut monitor));
        return found.or_else(|error| crate::solve::rescued(problem, monitor, error));
    }
    validate(problem, groups)?;
    let limits = Monitor::new(options, observer).limits().clone();
    let run = || -> Result<Solution> {
        let relaxed = root(&grouped, None, f64::NEG_INFINITY, options, &limits)?;
        let mut known = search::KnownFits::default();
        let starts = relaxed.starts(&grouped, &SHARES, options.warm_start.as_ref());
        let coefficients = first(&grouped, &starts, &mut known, options, &limits)?;
        conclude(&grouped, &relaxed, coefficients, options, &limits)
    };
    crate::control::on_threads(options.threads, run)
}

/// R minimised over all groups, from the minimiser of another λ0 if there is one; of a loss that is not quadratic as far as the bound is worth
/// beside an answer of P = `reached` (MATH 7.10).
pub(crate) fn root(
    grouped: &Grouped<'_, '_>,
    start: Option<&relax::GroupRelaxation>,
    reached: f64,
    options: &Options,
    limits: &Limits,
) -> Result<relax::GroupRelaxation> {
    let choices = vec![Decision::Open; grouped.groups.len()];
    let start = start.map(|s| (s.beta.as_slice(), s.intercept));
    let part = Part { choices: &choices, price: (0.0, 0.0) };
    let is_costly = !grouped.problem.loss().is_quadratic();
    let enough = |value: f64, bound: f64| is_costly && is_settled(value, bound, reached);
    let until = relax::Until { gap: options.relaxation_gap.max(LEAST_GAP), enough: &enough, polish: false };
    relax::minimise(grouped, &part, start, until, limits)
}

/// What rounding leaves of the gap of a relaxation.
const LEAST_GAP: f64 = 1e-9;

/// Shares of its price that a group must be charged in R to be in a start. Not tuned.
pub(crate) const SHARES: [f64; 4] = [0.0, 0.25, 0.5, 0.9];

/// The best found from several starts; fits that are `known` are not made again.
pub(crate) fn first(
    grouped: &Grouped<'_, '_>,
    starts: &[Coefficients],
    known: &mut search::KnownFits,
    options: &Options,
    limits: &Limits,
) -> Result<Coefficients> {
    let mut fits = search::Fits::new(grouped, options, limits).knowing(std::mem::take(known));
    let found = search::search(&mut fits, starts, None, limits);
    *known = fits.known();
    Ok(found?.coefficients)
}

pub(crate) fn conclude(
    grouped: &Grouped<'_, '_>,
    relaxed: &relax::GroupRelaxation,
    coefficients: Coefficients,
    options: &Options,
    limits: &Limits,
) -> Result<Solution> {
    let objective = grouped.objective(&coefficients)?;
    let certificate = Certificate::new(objective, Some(relaxed.value), relaxed.bound);
    let ended = limits.stop(0).unwrap_or(Status::Converged);
    let status = certificate.status(ended, options.absolute(grouped.problem), options.gap);
    let known = Solution::new(coefficients, certificate, status, relaxed.dual.clone());
    Ok(Solution { seconds: limits.seconds(), ..known })
}

/// What the problem is called where it cannot be solved: a feature of many classes is a group inside only.
pub(crate) fn problem_name(problem: &Problem<'_>) -> &'static str {
    if problem.classes() > 1 { problem.loss().name() } else { "groups" }
}

/// The same in words.
pub(crate) fn problem_words(problem: &Problem<'_>) -> &'static str {
    if problem.classes() > 1 { "a multinomial model" } else { "a model of groups" }
}

/// What the relaxation of all groups needs.
pub(crate) fn validate(problem: &Problem<'_>, groups: &Groups) -> Result<()> {
    validate_groups(&Grouped { problem, groups })?;
    let unsupported = |reason| Err(Error::Unsupported { method: problem_name(problem), reason });
    if !problem.penalty().has_certificate(problem.ncols()) {
        return Err(Error::Unpenalised { what: problem_words(problem), or: "" });
    }
    if problem.max_size().is_some() {
        return unsupported("has a largest size with method exact only");
    }
    Ok(())
}

/// What groups need: every feature in one, and of the features of a group all or none free.
pub(crate) fn validate_groups(grouped: &Grouped<'_, '_>) -> Result<()> {
    let Grouped { problem, groups } = *grouped;
    let p = problem.ncols();
    check_length("group labels", groups.members.iter().map(Vec::len).sum(), p)?;
    check_length("group prices", groups.prices.len(), groups.len())?;
    let Factors::Each(factors) = &problem.penalty().price else { return Ok(()) };
    for members in &groups.members {
        let is_free = |j: &&usize| factors[**j] == 0.0;
        if let (Some(&free), Some(&other)) = (members.iter().find(is_free), members.iter().find(|j| !is_free(j))) {
            return Err(Error::PartlyFree { free, other });
        }
    }
    Ok(())
}
