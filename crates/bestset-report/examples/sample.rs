//! A page from a real solve of simulated data.
//!
//! ```sh
//! cargo run --release -p bestset-report --example sample -- out.html
//! cargo run --release -p bestset-report --example sample -- out.html --classification --plots folder
//! ```

use bestset::cv::{CvOptions, Folds, Score, cross_validate};
use bestset::{Loss, Method, Options, Penalty, Problem, solve, subsets};
use bestset_data::{Scaling, Simulator, SupportSize, Task};
use bestset_report::convert::{deviations, importance};
use bestset_report::{
    Certificate, CrossValidation, Data, Diagnostics, Model, Path, Ranked, Report, Row, Screening, Subset, TraceRow,
};
use std::time::{Duration, Instant};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Fallible<()> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments.next().ok_or("usage: sample OUT.html [--classification] [--plots FOLDER]")?;
    let rest: Vec<String> = arguments.collect();
    let report = report(rest.iter().any(|a| a == "--classification"))?;
    std::fs::write(&out, report.html())?;
    if let Some(at) = rest.iter().position(|a| a == "--plots") {
        let folder = std::path::Path::new(rest.get(at + 1).ok_or("--plots needs a folder")?);
        std::fs::create_dir_all(folder)?;
        for plot in report.plots() {
            std::fs::write(folder.join(format!("{}.svg", plot.name)), plot.svg())?;
            std::fs::write(folder.join(format!("{}.png", plot.name)), plot.png()?)?;
        }
    }
    println!("{out}");
    Ok(())
}

/// Cross-validates a path, takes the point of the one-standard-error rule and proves what can be proved of it.
fn report(classification: bool) -> Fallible<Report> {
    let start = Instant::now();
    let (n, p) = if classification { (240, 400) } else { (200, 1200) };
    let simulator = Simulator::paper().n(n).p(p).support(SupportSize::Count(8)).scaling(Scaling::Raw).seed(11);
    let simulator = match classification {
        true => simulator.snr(4.0).task(Task::Classification),
        false => simulator.snr(6.0),
    };
    let data = simulator.generate()?;
    let design = data.design();
    let loss = if classification { Loss::Logistic } else { Loss::Squared };
    let ridge = if classification { 4.0 } else { 30.0 };
    let base = Problem::new(&design, data.y(), Penalty::new(0.0, 0.0, ridge))?.with_loss(loss)?.with_intercept(true);
    let folds = Folds::Random { folds: 10, repeats: 1 };
    let found = cross_validate(&base, &CvOptions { folds, seed: 3, ..CvOptions::default() })?;
    let point = found.one_se_point();
    let problem = base.with_penalty(Penalty::new(point.lambda0, 0.0, ridge))?;
    let limit = Some(Duration::from_secs(if classification { 6 } else { 3 }));
    let top = if classification { 0 } else { 5 };
    let options =
        Options { method: Method::Exact, trace: true, time_limit: limit, top: top.max(1), ..Options::default() };
    let solution = solve(&problem, &options)?;
    let names = |j: usize| format!("gene_{j:04}");
    let mut margins = problem.margins(&solution.coefficients);
    margins.iter_mut().for_each(|u| *u += solution.coefficients.intercept);
    let support = solution.support();
    let rises = importance(&problem, &solution.coefficients, &Options::default())?;
    Ok(Report {
        title: "Simulated expression study".into(),
        command: format!(
            "bestset cv study.csv --target response --ridge {ridge} --choose 1se --method exact --report study.html"
        ),
        version: env!("CARGO_PKG_VERSION").into(),
        created: None,
        seconds: Some(start.elapsed().as_secs_f64()),
        data: Data {
            source: "study.csv".into(),
            samples: n,
            features: p,
            target: if classification { "relapse" } else { "response" }.into(),
            task: loss.into(),
            loss: format!("{} loss", loss.name()),
            classes: classification.then(|| ("healthy".into(), "relapse".into())),
        },
        asked: vec![
            Row::new("Method", "branch and bound"),
            Row::new("Price of a feature λ0", format!("{:.4} (one standard error)", point.lambda0)),
            Row::new("Lasso term λ1", "0"),
            Row::new("Ridge term λ2", format!("{ridge}")),
            Row::new("Intercept", "yes"),
            Row::new("Time limit", format!("{} s", limit.map_or(0, |l| l.as_secs()))),
        ],
        notes: vec!["The data are simulated: eight features are real, the others are noise.".into()],
        certificate: Certificate::of(&solution, None),
        model: Model::of(&solution.coefficients, true, &names, &deviations(&problem, support), &rises),
        trace: TraceRow::of(&solution.trace),
        screening: Some(Screening::of(&solution.screened, p, support.len())),
        path: Some(Path::of(&found.path, &names, Some(found.one_se)).with_criteria(&problem, &found.path)),
        cv: Some(CrossValidation::of(&found, Score::of(loss), "10 folds")),
        subsets: if classification { Vec::new() } else { sizes(&base, &names)? },
        ranked: solution.ranked.iter().take(top).map(|r| Ranked::of(r, &names)).collect(),
        diagnostics: Some(Diagnostics::of(loss, problem.y(), &margins)),
    })
}

fn sizes(problem: &Problem<'_>, names: &dyn Fn(usize) -> String) -> Fallible<Vec<Subset>> {
    let options = Options { time_limit: Some(Duration::from_secs(6)), ..Options::default() };
    Ok(subsets(problem, 8, &options)?.sizes.iter().map(|s| Subset::of(s, names)).collect())
}
