//! A limit on memory is kept, whatever it is, and what is said under it is true.

#![expect(unsafe_code, reason = "an allocator that counts must be one")]

use bestset_oracle as common;

use bestset::design::Dense;
use bestset::{Loss, Method, Options, Penalty, Problem, Status, solve, subsets};
use common::{normal, rng, share};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting what is taken.
struct Counting;

// SAFETY: every call is handed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(NOW.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What `run` returns, and the most bytes it held at once.
fn peak<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = run();
    (result, PEAK.load(Relaxed).saturating_sub(before))
}

/// Columns of length one, ten of which matter.
fn data(n: usize, p: usize) -> (Vec<f32>, Vec<f64>) {
    let mut rng = rng(9);
    let mut x: Vec<f32> = Vec::with_capacity(n * p);
    for _ in 0..p {
        let column: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
        let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.extend(column.iter().map(|x| (x / length) as f32));
    }
    let signal = |i: usize| (0..10).map(|j| if j % 2 == 0 { 1.0 } else { -1.0 } * f64::from(x[j * n + i])).sum::<f64>();
    let spread = (10.0 / n as f64 / 5.0).sqrt();
    let y = (0..n).map(|i| signal(i) + spread * normal(&mut rng)).collect();
    (x, y)
}

/// One test, since what is counted is what all threads take: the default solver, branch and bound and sizes, with limits from far too
/// little to plenty. Bounds hold, the limit is kept but for vectors of one number for each feature, and the answer says if it struck.
#[test]
fn limits_are_kept_and_bounds_hold() {
    let (n, p) = (60, 6000);
    let (x, y) = data(n, p);
    let design = Dense::new(n, p, x).unwrap();
    // What a few dozen vectors of one number for each feature take, and what the threads have for themselves.
    let spare = 64 * 8 * p + (4 << 20);
    let cases = [(Loss::Squared, 0.005), (Loss::Huber { delta: 0.3 }, 0.005), (Loss::Squared, 0.0005)];
    for (loss, lambda2) in cases.into_iter().take(share(3)) {
        let problem = Problem::new(&design, y.as_slice(), Penalty::new(0.1, 0.0, lambda2)).unwrap();
        let problem = problem.with_loss(loss).unwrap().with_intercept(true);
        let mut found = Vec::new();
        for limit in [None, Some(48 << 20), Some(12 << 20), Some(3 << 20)] {
            for method in [Method::Incremental, Method::Exact] {
                let options = Options { max_memory: limit, max_nodes: Some(60), ..Options::with_method(method) };
                let (solution, taken) = peak(|| solve(&problem, &options).unwrap());
                eprintln!(
                    "{loss:?} {lambda2} {limit:?} {}: {} {:.4} {:.4} {:.1} MB",
                    method.name(),
                    solution.status,
                    solution.certificate.lower_bound,
                    solution.objective(),
                    taken as f64 / 1e6
                );
                assert!(limit.is_none_or(|most| taken <= most + spare), "{taken} of {limit:?}");
                found.push(solution);
            }
        }
        let best = found.iter().map(|s| s.objective()).fold(f64::INFINITY, f64::min);
        assert!(found.iter().all(|s| s.certificate.lower_bound <= best * (1.0 + 1e-9)));
        assert!(found.iter().all(|s| s.objective() <= 1.5 * best), "a limit must not cost the answer");
    }
    let problem = Problem::new(&design, y.as_slice(), Penalty::new(0.0, 0.0, 0.05)).unwrap().with_intercept(true);
    let sizes = |limit: Option<usize>| {
        let options = Options { max_memory: limit, max_nodes: Some(60), ..Options::default() };
        let (found, taken) = peak(|| subsets(&problem, 3, &options).unwrap());
        eprintln!(
            "subsets {limit:?}: {:.1} MB {:?}",
            taken as f64 / 1e6,
            found.sizes.iter().map(|s| s.status).collect::<Vec<Status>>()
        );
        assert!(limit.is_none_or(|most| taken <= most + spare), "{taken} of {limit:?}");
        found
    };
    let (free, narrow) = (sizes(None), sizes(Some(6 << 20)));
    for (a, b) in free.sizes.iter().zip(&narrow.sizes) {
        let best = a.certificate.objective.min(b.certificate.objective);
        assert!(a.certificate.lower_bound.max(b.certificate.lower_bound) <= best * (1.0 + 1e-9), "{a:?} {b:?}");
    }
}
