// nested CV scratch
use bestset::cv::*;
use bestset::design::*;
use bestset::path::*;
use bestset::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let file = &args[1];
    let target = &args[2];
    let most: usize = args[3].parse().unwrap();
    let shares: Vec<f64> = args[4].split(',').map(|s| s.parse().unwrap()).collect();
    let folds: usize = args[5].parse().unwrap();
    let perm: Vec<usize> =
        std::fs::read_to_string(&args[6]).unwrap().split_whitespace().map(|s| s.parse().unwrap()).collect();
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').map(|s| s.trim_matches('"')).collect();
    let t = names.iter().position(|n| n == target).unwrap();
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|s| s.parse().unwrap()).collect()).collect();
    let p = names.len() - 1;
    let logistic = args.get(7).is_some_and(|s| s == "logistic");
    let (mut sse, mut sizes, mut se1, mut sizes1, mut var) = (0.0, vec![], 0.0, vec![], 0.0);
    let ally: Vec<f64> = rows.iter().map(|r| r[t]).collect();
    let mean = ally.iter().sum::<f64>() / ally.len() as f64;
    ally.iter().for_each(|y| var += (y - mean).powi(2));
    let start = Instant::now();
    let (mut err, mut err1) = (0, 0);
    for f in 0..5 {
        let train: Vec<usize> = (0..rows.len()).filter(|&i| perm[i] != f).collect();
        let test: Vec<usize> = (0..rows.len()).filter(|&i| perm[i] == f).collect();
        let mut x = Vec::new();
        for j in (0..=p).filter(|&j| j != t) {
            train.iter().for_each(|&i| x.push(rows[i][j]));
        }
        let y: Vec<f64> = train.iter().map(|&i| rows[i][t]).collect();
        let d = Dense::new(train.len(), p, x).unwrap();
        let v = Standardized::fit(&d, None, true, 1.0).unwrap();
        let y = if logistic { y.iter().map(|y| if *y > mean { 1.0 } else { -1.0 }).collect() } else { y };
        let mut problem = Problem::new(&v, y, Penalty::new(0.0, 0.0, 0.01)).unwrap().with_intercept(true);
        if logistic {
            problem = problem.with_loss(Loss::Logistic).unwrap();
        }
        let scale = 1.0;
        let path = PathOptions {
            lambda2: shares.iter().map(|s| s * scale).collect(),
            max_size: Some(most),
            ..Default::default()
        };
        let fold = if logistic { Folds::Stratified { folds, repeats: 1 } } else { Folds::Random { folds, repeats: 1 } };
        let o = CvOptions { path, folds: fold, ..Default::default() };
        let t0 = Instant::now();
        let found = cross_validate(&problem, &o).unwrap();
        for (which, rule) in [(0, Rule::Min), (1, Rule::OneSe)] {
            let pt = &found.path.points[found.chosen(rule)];
            let c = &pt.solution.coefficients;
            let (b, shift) = v.unscale(&c.support, &c.values);
            let mut s = 0.0;
            let mut wrong = 0;
            for &i in &test {
                let u = c.intercept
                    + shift
                    + c.support.iter().zip(&b).map(|(&j, b)| rows[i][if j >= t { j + 1 } else { j }] * b).sum::<f64>();
                if logistic {
                    let yy = if rows[i][t] > mean { 1.0 } else { -1.0 };
                    s += 2.0 * Loss::Logistic.value(u, yy);
                    wrong += usize::from(u * yy <= 0.0);
                } else {
                    s += (rows[i][t] - u).powi(2);
                }
            }
            if which == 0 {
                sse += s;
                sizes.push((c.support.len(), pt.lambda2));
                err += wrong
            } else {
                se1 += s;
                sizes1.push((c.support.len(), pt.lambda2));
                err1 += wrong
            }
        }
        eprintln!("fold {f} {:.2}s", t0.elapsed().as_secs_f64());
    }
    let norm = if logistic { rows.len() as f64 } else { var };
    println!(
        "min {:.4} err {err} {:?}\n1se {:.4} err {err1} {:?}\n{:.1}s",
        sse / norm,
        sizes,
        se1 / norm,
        sizes1,
        start.elapsed().as_secs_f64()
    );
}
