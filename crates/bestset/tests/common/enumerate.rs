//! The best subset by trying all of them.

use super::generate::Case;
use super::reference::{Convex, price};
use bestset::Coefficients;

/// What the fits on all subsets S say; a subset costs its fit plus the prices of its features.
#[derive(Debug, Clone)]
pub struct Enumeration {
    /// P*, the least cost.
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

/// Fits every subset; p ≤ 15.
pub fn enumerate(case: &Case) -> Enumeration {
    assert!(case.p <= 15, "too many subsets");
    let model = case.model();
    let convex: Vec<Convex> = (0..case.p).map(|j| Convex::selected(&case.penalty, j)).collect();
    let infinite = |len: usize| vec![f64::INFINITY; len];
    let with_sized = vec![infinite(case.p + 1); case.p];
    let (with, without, sized) = (infinite(case.p), infinite(case.p), infinite(case.p + 1));
    let mut all = Enumeration {
        best: f64::INFINITY,
        coefficients: Coefficients::default(),
        with,
        without,
        sized,
        with_sized,
        costs: Vec::new(),
    };
    for mask in 0u32..1 << case.p {
        let subset: Vec<usize> = (0..case.p).filter(|j| mask >> j & 1 == 1).collect();
        let penalties: Vec<Convex> = subset.iter().map(|&j| convex[j]).collect();
        let fit = model.minimise(&subset, &penalties);
        let cost = fit.value + subset.iter().map(|&j| price(&case.penalty, j)).sum::<f64>();
        let kept = subset.iter().zip(&fit.beta).filter(|p| *p.1 != 0.0).map(|p| *p.0).collect();
        all.costs.push((cost, kept));
        if cost < all.best {
            all.best = cost;
            let pairs = subset.iter().copied().zip(fit.beta.iter().copied()).collect();
            all.coefficients = Coefficients::from_pairs(pairs, fit.intercept);
        }
        for j in 0..case.p {
            let least = if mask >> j & 1 == 1 { &mut all.with[j] } else { &mut all.without[j] };
            *least = least.min(cost);
            if mask >> j & 1 == 1 {
                all.with_sized[j][subset.len()..].iter_mut().for_each(|least| *least = least.min(cost));
            }
        }
        for least in &mut all.sized[subset.len()..] {
            *least = least.min(cost);
        }
    }
    all.costs.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}
