//! Attack through the public interface: checkpoints, ranks, paths and groups against enumeration, on hostile inputs.

mod common;

use bestset::design::Dense;
use bestset::groups::{Groups, solve_groups};
use bestset::path::{Grid, PathOptions, Search, path};
use bestset::{Bounds, Loss, Method, Options, Penalty, Problem, Solution, checkpoint, solve};
use common::{Case, Convex, RngExt, Shape, case, normal, pick, power, rng};

fn env(k: &str, d: u64) -> u64 {
    std::env::var(k).ok().and_then(|v| v.parse().ok()).unwrap_or(d)
}

fn fits(case: &Case) -> Vec<f64> {
    let model = case.model();
    (0u32..1 << case.p)
        .map(|mask| {
            let subset: Vec<usize> = (0..case.p).filter(|j| mask >> j & 1 == 1).collect();
            let penalties: Vec<Convex> = subset.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
            model.minimise(&subset, &penalties).value
        })
        .collect()
}

fn bits(found: &Solution) -> String {
    let mut found = found.clone();
    found.seconds = 0.0;
    found.trace.iter_mut().for_each(|row| row.seconds = 0.0);
    format!("{found:?}")
}

/// Resumed after random limits.
#[test]
fn resumed_equals_uninterrupted() {
    let (mut resumed, mut total, mut differ) = (0, 0, 0);
    for seed in env("FROM", 0)..env("TO", 40) {
        let mut rng = rng(6000 + seed);
        let (n, p) = (rng.random_range(8..40), rng.random_range(8..22));
        let common: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
        let near = pick(&mut rng, &[1.0, 0.3]);
        let x: Vec<f64> = (0..n * p).map(|k| near * normal(&mut rng) + common[k % n]).collect();
        let loss = pick(
            &mut rng,
            &[Loss::Squared, Loss::Squared, Loss::Logistic, Loss::SquaredHinge, Loss::Huber { delta: 0.7 }],
        );
        let mut y: Vec<f64> = (0..n).map(|i| (0..5).map(|j| x[j * n + i]).sum::<f64>() + normal(&mut rng)).collect();
        if loss.is_classification() {
            y.iter_mut().for_each(|y| *y = if *y > 0.0 { 1.0 } else { -1.0 });
            (y[0], y[1]) = (1.0, -1.0);
        }
        let k = pick(&mut rng, &[None, None, Some(3), Some(5)]);
        let top = pick(&mut rng, &[1, 1, 4]);
        let ridge =
            if loss == Loss::Squared && n > p + 2 && rng.random_bool(0.3) { 0.0 } else { power(&mut rng, -2.0, 0.0) };
        let l0 = if k.is_some() { 0.0 } else { power(&mut rng, -1.5, 0.3) };
        let x = Dense::new(n, p, x).unwrap();
        let problem = Problem::new(&x, y, Penalty::new(l0, 0.0, ridge))
            .unwrap()
            .with_loss(loss)
            .unwrap()
            .with_intercept(rng.random_bool(0.5));
        let problem = match k {
            Some(k) => problem.with_max_size(k).unwrap(),
            None => problem,
        };
        let options = Options {
            method: Method::Exact,
            trace: true,
            top,
            threads: Some(pick(&mut rng, &[1, 2])),
            gap: pick(&mut rng, &[1e-6, 1e-4]),
            ..Options::default()
        };
        let whole = solve(&problem, &Options { max_nodes: Some(1500), ..options.clone() }).unwrap();
        let file = std::env::temp_dir().join(format!("attack_resume_{seed}_{}", std::process::id()));
        let mut nodes = 1;
        while nodes < whole.iterations && nodes < 1500 {
            let found = checkpoint::exact(
                &problem,
                &Options { max_nodes: Some(nodes), threads: Some(1), ..options.clone() },
                &file,
            )
            .unwrap();
            resumed += usize::from(file.exists());
            assert!(found.certificate.lower_bound <= whole.objective() * (1.0 + 1e-12), "{seed}");
            nodes += rng.random_range(1..200);
        }
        let found = checkpoint::exact(&problem, &Options { max_nodes: Some(1500), ..options.clone() }, &file).unwrap();
        total += 1;
        if bits(&found) != bits(&whole) {
            differ += 1;
            println!(
                "seed {seed} {loss:?} n {n} p {p} k {k:?} top {top} ridge {ridge}: {} {:?} {} {} against {} {:?} {} {}",
                found.status,
                found.certificate,
                found.iterations,
                found.trace.len(),
                whole.status,
                whole.certificate,
                whole.iterations,
                whole.trace.len()
            );
        }
        let _ = std::fs::remove_file(&file);
    }
    println!("{resumed} resumed, {total} total, {differ} differ");
    assert_eq!(differ, 0);
}

/// Leaps with top > 1 against enumeration.
#[test]
fn leaps_ranks() {
    let (mut ranks, mut proved, mut wrong, mut errors) = (0, 0, 0, 0);
    for seed in env("FROM", 0)..env("TO", 400) {
        let mut rng = rng(7000 + seed);
        let p = rng.random_range(1..8);
        let n = rng.random_range(p + 1..p + 9);
        let near = pick(&mut rng, &[1.0, 0.1, 1e-3, 1e-5]);
        let spread = pick(&mut rng, &[0.0, 0.0, 6.0]);
        let common: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
        let kind = rng.random_range(0..4);
        let mut x: Vec<f64> = Vec::new();
        for j in 0..p {
            let s = if spread > 0.0 { power(&mut rng, -spread, spread) } else { 1.0 };
            let column: Vec<f64> = match kind {
                0 => (0..n).map(|i| s * (common[i] + near * normal(&mut rng))).collect(),
                1 if j > 0 && rng.random_bool(0.3) => x[..n].to_vec(),
                1 if rng.random_bool(0.1) => vec![s; n],
                _ => (0..n).map(|_| s * normal(&mut rng)).collect(),
            };
            x.extend(column);
        }
        let shift = pick(&mut rng, &[0.0, 0.0, 1e2]);
        let y: Vec<f64> = (0..n).map(|i| shift + common[i] + normal(&mut rng)).collect();
        let mut case = Case::dense(n, p, x, y, Penalty::new(0.0, 0.0, 0.0));
        case.intercept = shift > 0.0 || rng.random_bool(0.5);
        if rng.random_bool(0.3) {
            let mut w: Vec<f64> = (0..n).map(|_| power(&mut rng, -1.0, 1.0)).collect();
            if rng.random_bool(0.5) {
                w[0] = 0.0;
            }
            case.weights = Some(w);
        }
        let Ok(fit) = std::panic::catch_unwind(|| fits(&case)) else { continue };
        case.penalty.lambda0 = if rng.random_bool(0.2) { 0.0 } else { fit[0] * power(&mut rng, -4.0, 0.0) };
        let l0 = case.penalty.lambda0;
        let k = pick(&mut rng, &[None, None, Some(1), Some(p.div_ceil(2))]);
        let top = pick(&mut rng, &[2, 3, 10, 200]);
        let max_nodes = pick(&mut rng, &[None, None, Some(1), Some(3)]);
        let options = Options { method: Method::Exact, top, max_nodes, ..Options::default() };
        let scale = fit[0];
        let cost: Vec<f64> = (0..fit.len()).map(|m| fit[m] + l0 * (m as u32).count_ones() as f64).collect();
        let found = case.with_problem(|problem| {
            let problem = match k {
                Some(k) => problem.clone().with_max_size(k).unwrap(),
                None => problem.clone(),
            };
            solve(&problem, &options)
        });
        let found = match found {
            Ok(f) => f,
            Err(e) => {
                errors += 1;
                if errors < 5 {
                    println!("seed {seed}: {e}");
                }
                continue;
            }
        };
        let allowed = |m: usize| k.is_none_or(|k| (m as u32).count_ones() as usize <= k);
        let least = (0..cost.len()).filter(|m| allowed(*m)).map(|m| cost[m]).fold(f64::INFINITY, f64::min);
        let mut bad = |what: String| {
            wrong += 1;
            println!("WRONG seed {seed} n {n} p {p} k {k:?} top {top} kind {kind} near {near} shift {shift}: {what}");
        };
        if found.certificate.lower_bound > least + 1e-9 * scale {
            bad(format!("bound {} over {least}", found.certificate.lower_bound));
        }
        if found.status == bestset::Status::Optimal && found.objective() > least * (1.0 + 1e-6) + 1e-9 + 1e-9 * scale {
            bad(format!("optimal {} over {least}", found.objective()));
        }
        let supports: Vec<usize> =
            found.ranked.iter().map(|r| r.coefficients.support.iter().map(|j| 1usize << j).sum()).collect();
        let mut seen = supports.clone();
        seen.sort();
        seen.dedup();
        if seen.len() != supports.len() {
            bad("twice".into());
        }
        for (r, one) in found.ranked.iter().enumerate() {
            ranks += 1;
            if (one.objective - cost[supports[r]]).abs() > 1e-8 * scale {
                bad(format!("rank {r} {} is not {}", one.objective, cost[supports[r]]));
            }
            if !one.proved {
                continue;
            }
            proved += 1;
            let room = 1e-6 * one.objective.abs() + 2e-9 + 1e-9 * scale;
            let missed = (0..cost.len()).find(|&m| {
                allowed(m) && cost[m] < one.objective - room && !supports[..r].contains(&m)
                // with a coefficient that matters
                && (0..p).filter(|j| m >> j & 1 == 1).all(|j| fit[m & !(1 << j)] - fit[m] > 1e-9 * scale)
            });
            if let Some(m) = missed {
                bad(format!("proved rank {r} {} but {m:b} has {}", one.objective, cost[m]));
            }
        }
    }
    println!("{ranks} ranks, {proved} proved, {wrong} wrong, {errors} errors");
    assert_eq!(wrong, 0);
}

/// Points of paths against enumeration.
#[test]
fn paths() {
    let (mut points, mut wrong, mut optimal) = (0, 0, 0);
    for seed in env("FROM", 0)..env("TO", 150) {
        let mut rng = rng(8000 + seed);
        let shape = Shape { attained: true, certified: seed % 4 > 0, wild: seed % 2 == 0, ..Shape::new(2..=14, 1..=7) };
        let mut case = case(&mut rng, &shape);
        if rng.random_bool(0.4) {
            let one: Vec<f64> = (0..case.p).map(|_| pick(&mut rng, &[0.0, 0.5, 1.0, 3.0])).collect();
            case.penalty = case.penalty.clone().with_price(one);
        }
        if rng.random_bool(0.3) {
            case.offset = Some((0..case.n).map(|_| normal(&mut rng)).collect());
        }
        let Ok(fit) = std::panic::catch_unwind(|| fits(&case)) else { continue };
        let count = |m: usize| (0..case.p).filter(|j| m >> j & 1 == 1).map(|j| case.penalty.price.at(j)).sum::<f64>();
        let high = case.with_problem(|p| p.lambda0_max());
        let high = if high.is_finite() && high > 0.0 { high } else { fit[0].max(1e-3) };
        let grid = match rng.random_range(0..3) {
            0 => Grid::Dynamic { points: 30, shrink: 0.97 },
            1 => Grid::Log { points: rng.random_range(2..20), ratio: 1e-4 },
            _ => {
                let mut g: Vec<f64> = (0..rng.random_range(1..20)).map(|_| high * power(&mut rng, -6.0, 0.5)).collect();
                if rng.random_bool(0.3) {
                    g.push(0.0);
                }
                g.sort_by(|a, b| b.total_cmp(a));
                g.dedup();
                Grid::Given(g)
            }
        };
        let options = PathOptions {
            grid,
            max_size: Some(100),
            backward: rng.random_bool(0.5),
            search: if rng.random_bool(0.3) { Search::Full } else { Search::Neighbours },
            ..PathOptions::default()
        };
        let found = match case.with_problem(|p| path(p, &options)) {
            Ok(f) => f,
            Err(e) => {
                println!("seed {seed}: {e}");
                continue;
            }
        };
        let offset = case.offset.clone().unwrap_or_else(|| vec![0.0; case.n]);
        let scale = case.model().loss_sum(&offset, 0.0);
        for point in &found.points {
            points += 1;
            let least = (0..fit.len()).map(|m| fit[m] + point.lambda0 * count(m)).fold(f64::INFINITY, f64::min);
            let c = point.solution.certificate;
            optimal += usize::from(point.solution.status == bestset::Status::Optimal);
            let bad = c.lower_bound > least + 1e-11 * scale
                || c.objective < least - 1e-10 * scale
                || point.solution.status == bestset::Status::Optimal
                    && c.objective > least + 1e-6 * least.abs() + 2e-9 + 1e-11 * scale;
            if bad {
                wrong += 1;
                println!(
                    "WRONG seed {seed} at {}: {c:?} least {least} {} {:?}",
                    point.lambda0, point.solution.status, options.grid
                );
            }
        }
    }
    println!("{points} points, {optimal} optimal, {wrong} wrong");
    assert_eq!(wrong, 0);
}

/// Groups, alone and along paths.
#[test]
fn groups() {
    let (mut points, mut wrong, mut late) = (0, 0, 0);
    for seed in env("FROM", 0)..env("TO", 150) {
        let mut rng = rng(9000 + seed);
        let shape = Shape { attained: true, certified: true, wild: seed % 2 == 0, ..Shape::new(2..=14, 1..=8) };
        let mut case = case(&mut rng, &shape);
        case.penalty.bounds = Bounds::Free;
        case.penalty.lambda2 = case.penalty.lambda2.max(0.05);
        if seed % 5 == 0 {
            case.penalty.lambda2 = 1e-6;
        }
        let labels: Vec<usize> = (0..case.p).map(|_| pick(&mut rng, &[2, 5, 9, 11])).collect();
        let mut groups = Groups::new(&labels);
        if rng.random_bool(0.5) {
            let prices = groups.members.iter().map(|_| pick(&mut rng, &[0.0, 0.5, 1.0, 4.0])).collect();
            groups = groups.with_prices(prices).unwrap();
        }
        let model = case.model();
        let fit = std::panic::catch_unwind(|| {
            (0usize..1 << groups.len())
                .map(|mask| {
                    let features: Vec<usize> = (0..groups.len())
                        .filter(|g| mask >> g & 1 == 1)
                        .flat_map(|g| groups.members[g].iter().copied())
                        .collect();
                    let penalties: Vec<Convex> = features.iter().map(|&j| Convex::selected(&case.penalty, j)).collect();
                    model.minimise(&features, &penalties).value
                })
                .collect::<Vec<f64>>()
        });
        let Ok(fit) = fit else { continue };
        let count = |m: usize| (0..groups.len()).filter(|g| m >> g & 1 == 1).map(|g| groups.prices[g]).sum::<f64>();
        let scale = case.model().loss_sum(&vec![0.0; case.n], 0.0);
        let least = |l0: f64| (0..fit.len()).map(|m| fit[m] + l0 * count(m)).fold(f64::INFINITY, f64::min);
        let alone = case.with_problem(|p| solve_groups(p, &groups, &Options::default())).unwrap();
        let mut check = |l0: f64, c: bestset::Certificate, status: bestset::Status, what: &str| {
            points += 1;
            let least = least(l0);
            let bad = c.lower_bound > least + 1e-11 * scale
                || c.objective < least - 1e-10 * scale
                || status == bestset::Status::Optimal
                    && c.objective > least + 1e-6 * least.abs() + 2e-9 + 1e-11 * scale;
            if bad {
                wrong += 1;
                println!("WRONG {what} seed {seed} at {l0}: {c:?} least {least} {status}");
            }
        };
        check(case.penalty.lambda0, alone.certificate, alone.status, "alone");
        let grid = if seed % 2 == 0 {
            Grid::Dynamic { points: 20, shrink: 0.9 }
        } else {
            Grid::Log { points: 10, ratio: 1e-3 }
        };
        let options = PathOptions { grid, groups: Some(groups.clone()), max_size: Some(100), ..PathOptions::default() };
        let found = match case.with_problem(|p| path(p, &options)) {
            Ok(f) => f,
            Err(e) => {
                println!("seed {seed}: {e}");
                continue;
            }
        };
        for point in &found.points {
            check(point.lambda0, point.solution.certificate, point.solution.status, "path");
        }
        // The path begins where only free groups are best.
        if let Some(first) = found.points.first() {
            let free: usize = (0..groups.len()).filter(|&g| groups.prices[g] == 0.0).map(|g| 1 << g).sum();
            if fit[free] > least(first.lambda0) + 1e-9 * scale {
                late += 1;
                if late < 4 {
                    println!(
                        "seed {seed}: path begins at {} below the first entry, prices {:?}",
                        first.lambda0, groups.prices
                    );
                }
            }
        }
    }
    println!("{points} points, {wrong} wrong, {late} begin late");
    assert_eq!(wrong, 0);
}
