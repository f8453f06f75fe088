//! A page from a real solve of simulated data.
//!
//! ```sh
//! cargo run --release -p bestset-report --example sample -- out.html
//! cargo run --release -p bestset-report --example sample -- out.html --classification --plots folder
//! ```

use bestset::cv::{CvOptions, Folds, Score, cross_validate};
use bestset::path::PathOptions;
use bestset::{Loss, Method, Options, Penalty, Problem, Solution, solve, subsets};
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
    let report = report(if rest.iter().any(|a| a == "--classification") { &CLASSES } else { &NUMBERS })?;
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

/// What is simulated and how it is fitted.
struct Study {
    classification: bool,
    samples: usize,
    features: usize,
    loss: Loss,
    ridge: f64,
    /// Subsets to rank.
    top: usize,
}

const NUMBERS: Study =
    Study { classification: false, samples: 200, features: 1200, loss: Loss::Squared, ridge: 30.0, top: 5 };
const CLASSES: Study =
    Study { classification: true, samples: 240, features: 400, loss: Loss::Logistic, ridge: 4.0, top: 1 };
const LIMIT: Duration = Duration::from_secs(6);

fn name(j: usize) -> String {
    format!("gene_{j:04}")
}

/// Cross-validates a path, takes the point of the one-standard-error rule and proves what can be proved of it.
fn report(study: &Study) -> Fallible<Report> {
    let start = Instant::now();
    let (n, p) = (study.samples, study.features);
    let simulator = Simulator::paper().n(n).p(p).support(SupportSize::Count(8)).scaling(Scaling::Raw).seed(11);
    let simulator =
        if study.classification { simulator.snr(4.0).task(Task::Classification) } else { simulator.snr(6.0) };
    let data = simulator.generate()?;
    let design = data.design();
    let base = Problem::new(&design, data.y(), Penalty::new(0.0, 0.0, study.ridge))?;
    let base = base.with_loss(study.loss)?.with_intercept(true);
    let folds = Folds::Random { folds: 10, repeats: 1 };
    let path = PathOptions { max_size: Some(40), ..PathOptions::default() };
    let found = cross_validate(&base, &CvOptions { path, folds, seed: 3, ..CvOptions::default() })?;
    let lambda0 = found.one_se_point().lambda0;
    let problem = base.with_penalty(Penalty::new(lambda0, 0.0, study.ridge))?;
    let (method, top) = (Method::Exact, study.top);
    let options = Options { method, trace: true, time_limit: Some(LIMIT), top, ..Options::default() };
    let solution = solve(&problem, &options)?;
    let answer = answered(&problem, &solution)?;
    Ok(Report {
        title: "Simulated expression study".into(),
        command: study.command(),
        version: env!("CARGO_PKG_VERSION").into(),
        data: study.data(),
        asked: study.asked(lambda0),
        notes: vec!["The data are simulated: eight features are real, the others are noise.".into()],
        path: Some(Path::of(&found.path, &name, Some(found.one_se)).with_criteria(&problem, &found.path)),
        cv: Some(CrossValidation::of(&found, Score::of(study.loss), "10 folds")),
        subsets: if study.classification { Vec::new() } else { sizes(&base)? },
        seconds: Some(start.elapsed().as_secs_f64()),
        ..answer
    })
}

/// What follows from the solution alone.
fn answered(problem: &Problem<'_>, solution: &Solution) -> Fallible<Report> {
    let (coefficients, support) = (&solution.coefficients, solution.support());
    let margins: Vec<f64> = problem.margins(coefficients).iter().map(|u| u + coefficients.intercept).collect();
    let rises = importance(problem, coefficients, &Options::default())?;
    let ranked = solution.ranked.iter().map(|r| Ranked::of(r, &name));
    Ok(Report {
        certificate: Certificate::of(solution, None),
        model: Model::of(coefficients, true, &name, &deviations(problem, support), &rises),
        trace: TraceRow::of(&solution.trace),
        screening: Some(Screening::of(&solution.screened, problem.ncols(), support.len())),
        ranked: if solution.ranked.len() > 1 { ranked.collect() } else { Vec::new() },
        diagnostics: Some(Diagnostics::of(problem.loss(), problem.y(), &margins)),
        ..Report::default()
    })
}

impl Study {
    fn command(&self) -> String {
        let kind = if self.classification { " --classification" } else { "" };
        format!("cargo run --release -p bestset-report --example sample -- out.html{kind}")
    }

    fn data(&self) -> Data {
        Data {
            source: "simulated".into(),
            samples: self.samples,
            features: self.features,
            target: if self.classification { "relapse" } else { "response" }.into(),
            task: self.loss.into(),
            loss: format!("{} loss", self.loss.name()),
            classes: self.classification.then(|| ("healthy".into(), "relapse".into())),
        }
    }

    fn asked(&self, lambda0: f64) -> Vec<Row> {
        vec![
            Row::new("Method", "branch and bound"),
            Row::new("Price of a feature λ0", format!("{lambda0:.4} (one standard error)")),
            Row::new("Lasso term λ1", "0"),
            Row::new("Ridge term λ2", format!("{}", self.ridge)),
            Row::new("Intercept", "yes"),
            Row::new("Time limit", format!("{} s", LIMIT.as_secs())),
        ]
    }
}

fn sizes(problem: &Problem<'_>) -> Fallible<Vec<Subset>> {
    let options = Options { time_limit: Some(LIMIT), ..Options::default() };
    Ok(subsets(problem, 8, &options)?.sizes.iter().map(|s| Subset::of(s, &name)).collect())
}
