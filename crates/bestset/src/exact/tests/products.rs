//! Inner products that nodes hand down, against those of the columns.

use crate::control::Monitor;
use crate::exact::node::NodeContext;
use crate::exact::node::products::{LatestProducts, Products};
use crate::exact::tests::{Small, numbers, of_any_scale, planted, tuning};
use crate::relaxation::workspace::Workspace;
use crate::{Method, Options};

/// Σ_i w_i (x_ik − x̄_k)(x_il − x̄_l) (MATH 1.4), means only beside an intercept; and the most that its terms add up to.
fn inner_product(small: &Small, k: usize, l: usize) -> (f64, f64) {
    let (w, total) = (&small.w, small.w.iter().sum::<f64>());
    let columns = [k, l].map(|j| small.design.col(j).to_vec());
    let mean = |x: &[f64]| x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() / total;
    let means = if small.intercept { [mean(&columns[0]), mean(&columns[1])] } else { [0.0; 2] };
    let [x, z] = &columns;
    let sum = (0..w.len()).map(|i| w[i] * (x[i] - means[0]) * (z[i] - means[1])).sum();
    let size = |x: &[f64]| x.iter().zip(w).map(|(x, w)| w * x * x).sum::<f64>().sqrt();
    (sum, size(x) * size(z))
}

/// Some of the numbers below p in any order, at least one.
fn some_of(p: usize, draw: &mut impl FnMut() -> f64) -> Vec<usize> {
    let mut keyed: Vec<(f64, usize)> = (0..p).map(|k| (draw(), k)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = 1 + keyed.iter().skip(1).filter(|k| k.0 < 0.5).count();
    keyed.into_iter().take(count).map(|k| k.1).collect()
}

/// Q_kl − d_k[k = l] of the columns, whatever was worked on before, in the node or in those above it: others, the same in another order or
/// with other curvature moved, columns in the core and columns that are not.
#[test]
fn products_handed_down_are_those_of_the_columns() {
    let mut checked = [0, 0];
    for trial in 0..80 {
        let mut draw = numbers(900 + trial);
        let small = of_any_scale(trial, &mut draw);
        let (problem, mut observer) = (small.problem(), ());
        let options = Options { top: 1000, method: Method::Exact, ..Options::default() };
        let mut monitor = Monitor::new(&options, &mut observer);
        let tree = planted(&problem, &options, tuning(), &mut monitor);
        let features = tree.near.active.features();
        let mut core = Workspace::new(&problem);
        // In an order of its own; in every other trial all of them are there.
        let known = [5, 2, 0, 6, 3, 1, 4];
        core.include_all(if trial % 2 == 0 { &known[..] } else { &known[..5] }).unwrap();
        core.gram();
        let context = NodeContext { core: &core, ..tree.context() };
        let mut before = Products::default();
        for depth in 0..4 {
            let mut latest = LatestProducts::after(&before);
            let mut positions = some_of(features.len(), &mut draw);
            for step in 0..6 {
                let moved: Vec<f64> = positions.iter().map(|_| draw()).collect();
                let gram = latest.over(&context, positions.clone(), |e| moved[e]);
                for (e, f) in (0..positions.len()).flat_map(|e| (0..positions.len()).map(move |f| (e, f))) {
                    let (product, size) = inner_product(&small, features[positions[e]], features[positions[f]]);
                    let (expected, found) = (product - if e == f { moved[e] } else { 0.0 }, gram.at(e, f));
                    let label = || format!("{trial}, {depth}, {step}: {positions:?} at {e}, {f}");
                    assert!((found - expected).abs() <= 1e-12 * (size + 1.0), "{found} is not {expected}: {}", label());
                    checked[usize::from(e == f)] += 1;
                }
                match step % 3 {
                    // The same with other curvature, then in another order, then others.
                    0 => {}
                    1 => positions.rotate_left(1),
                    _ => positions = some_of(features.len(), &mut draw),
                }
            }
            before = latest.into_own();
        }
    }
    assert!(checked.iter().all(|count| *count > 3000), "{checked:?}");
}
