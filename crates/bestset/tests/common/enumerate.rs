//! The oracle: subsets tried one by one, each fitted by the reference solver.

use super::case::Case;
use super::reference::{Convex, Fit, Model, price};
use bestset::{Coefficients, Penalty};

/// What the fits on all subsets S say; a subset costs its fit plus the prices of its features.
#[derive(Debug, Clone)]
pub struct Enumeration {
    /// P*, the least cost, whatever the size.
    pub best: f64,
    /// Coefficients that attain it.
    pub coefficients: Coefficients,
    /// Least cost among the subsets with feature j.
    pub with: Vec<f64>,
    /// Least cost among the subsets without feature j.
    pub without: Vec<f64>,
    /// Least cost among the subsets of at most k features, k = 0..=p.
    pub sized: Vec<f64>,
    /// Least cost among the subsets of at most k features that hold feature j: `with_sized[j][k]`.
    pub with_sized: Vec<Vec<f64>>,
    /// The cost of every subset, with the coefficients that are not zero in its best fit; least first.
    pub costs: Vec<(f64, Vec<usize>)>,
}

/// The features of a subset.
pub fn members(mask: usize) -> Vec<usize> {
    (0..usize::BITS as usize).filter(|j| mask >> j & 1 == 1).collect()
}

/// The least Σ w ℓ + λ1‖β‖₁ + λ2‖β‖² over the features of a support, without their prices.
pub fn fit(case: &Case, support: &[usize]) -> Fit {
    let penalties: Vec<Convex> = support.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
    case.model().minimise(support, &penalties)
}

/// β with the coefficients of `free`, and the intercept, fitted anew beside the others.
pub fn refit(case: &Case, free: &[usize], beta: &[f64]) -> Coefficients {
    let mut pairs: Vec<(usize, f64)> = beta.iter().copied().enumerate().filter(|(j, _)| !free.contains(j)).collect();
    let (others, values): (Vec<usize>, Vec<f64>) = pairs.iter().copied().unzip();
    let offset = Some(case.model().margins(&others, &values));
    let fit = fit(&Case { offset, ..case.clone() }, free);
    pairs.extend(free.iter().copied().zip(fit.beta));
    Coefficients::from_pairs(pairs, fit.intercept)
}

/// The prices of the features of a support.
pub fn prices(case: &Case, support: &[usize]) -> f64 {
    support.iter().map(|&j| price(&case.penalty, j)).sum()
}

/// The least P over a support.
pub fn cost(case: &Case, support: &[usize]) -> f64 {
    fit(case, support).value + prices(case, support)
}

/// What the least P of every choice of groups, without prices, is between, by its mask: hostile problems have fits that the reference
/// comes near to and no nearer.
pub fn brackets(case: &Case, groups: &[Vec<usize>]) -> Vec<(f64, f64)> {
    assert!(groups.len() <= 15, "too many subsets");
    let model = case.model();
    let mut fits: Vec<Fit> = Vec::new();
    for mask in 0..1 << groups.len() {
        let chosen = members(mask);
        let features: Vec<usize> = chosen.iter().flat_map(|&g| groups[g].clone()).collect();
        let penalties: Vec<Convex> = features.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
        let (beta, intercept) = warm(&fits, mask, chosen.first().map_or(0, |&g| groups[g].len()));
        let fit = model.approach(&features, &penalties, beta, intercept);
        assert!(fit.gap <= 1e-4 * (fit.value + case.null_loss()), "a gap of {}: {features:?} {case:?}", fit.gap);
        fits.push(fit);
    }
    fits.iter().map(|fit| (fit.value - fit.gap, fit.value)).collect()
}

/// Where the fit of a mask begins: at that of the mask without its first member, whose coefficients, so many of them, are zero.
fn warm(fits: &[Fit], mask: usize, first: usize) -> (Vec<f64>, f64) {
    let before = fits.get(mask & mask.wrapping_sub(1));
    let beta = before.map_or(&[][..], |fit| &fit.beta);
    ([&vec![0.0; first], beta].concat(), before.map_or(0.0, |fit| fit.intercept))
}

/// The ends of the least cost at prices of so much for each mask.
pub fn least_of(brackets: &[(f64, f64)], price: impl Fn(usize) -> f64) -> (f64, f64) {
    let infinite = (f64::INFINITY, f64::INFINITY);
    let costs = brackets.iter().enumerate().map(|(mask, b)| (b.0 + price(mask), b.1 + price(mask)));
    costs.fold(infinite, |least, cost| (least.0.min(cost.0), least.1.min(cost.1)))
}

/// The minimiser of R over all features, with its dual point.
pub fn relaxed(case: &Case) -> Fit {
    let envelopes: Vec<Convex> = (0..case.p).map(|j| Convex::envelope(&case.penalty, j)).collect();
    case.model().minimise(&(0..case.p).collect::<Vec<_>>(), &envelopes)
}

/// The fit on every subset, by its mask; p ≤ 15.
pub fn subset_fits(model: &Model<'_>, penalty: &Penalty) -> Vec<Fit> {
    assert!(model.p <= 15, "too many subsets");
    let mut fits: Vec<Fit> = Vec::with_capacity(1 << model.p);
    for mask in 0..1 << model.p {
        let subset = members(mask);
        let penalties: Vec<Convex> = subset.iter().map(|&j| Convex::selected(penalty, j)).collect();
        let (beta, intercept) = warm(&fits, mask, subset.len().min(1));
        fits.push(model.minimise_from(&subset, &penalties, beta, intercept));
    }
    fits
}

/// The least P on every subset, by its mask.
pub fn subset_costs(model: &Model<'_>, penalty: &Penalty) -> Vec<f64> {
    let prices = |mask: usize| members(mask).iter().map(|&j| price(penalty, j)).sum::<f64>();
    subset_fits(model, penalty).iter().enumerate().map(|(mask, fit)| fit.value + prices(mask)).collect()
}

/// What the fits on all subsets say; p ≤ 15.
pub fn enumerate(case: &Case) -> Enumeration {
    let infinite = |len: usize| vec![f64::INFINITY; len];
    let mut all = Enumeration {
        best: f64::INFINITY,
        coefficients: Coefficients::default(),
        with: infinite(case.p),
        without: infinite(case.p),
        sized: infinite(case.p + 1),
        with_sized: vec![infinite(case.p + 1); case.p],
        costs: Vec::new(),
    };
    for (mask, fit) in subset_fits(&case.model(), &case.penalty).into_iter().enumerate() {
        let subset = members(mask);
        let cost = fit.value + prices(case, &subset);
        let kept = subset.iter().zip(&fit.beta).filter(|p| *p.1 != 0.0).map(|p| *p.0).collect();
        all.costs.push((cost, kept));
        if cost < all.best {
            all.best = cost;
            let pairs = subset.iter().copied().zip(fit.beta.iter().copied()).collect();
            all.coefficients = Coefficients::from_pairs(pairs, fit.intercept);
        }
        let lower = |least: &mut f64| *least = least.min(cost);
        all.sized[subset.len()..].iter_mut().for_each(lower);
        for j in 0..case.p {
            if subset.contains(&j) {
                lower(&mut all.with[j]);
                all.with_sized[j][subset.len()..].iter_mut().for_each(lower);
            } else {
                lower(&mut all.without[j]);
            }
        }
    }
    all.costs.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

impl Enumeration {
    /// The least cost within the size that the case allows.
    pub fn least(&self, case: &Case) -> f64 {
        self.sized[case.max_size.unwrap_or(case.p)]
    }
}
