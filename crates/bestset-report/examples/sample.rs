//! A page from a real selection from simulated data.
//!
//! ```sh
//! cargo run --release -p bestset-report --example sample -- out.html
//! cargo run --release -p bestset-report --example sample -- out.html --classification --plots folder
//! ```

use bestset::cv::Rule;
use bestset::select::{Folded, How, Prove, Samples, Selection, Setup};
use bestset::{Loss, Options};
use bestset_data::{Scaling, Simulator, SupportSize, Task};
use bestset_report::{Report, Subject, Subset, build};
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

/// Sizes up to which the best subset of each is shown.
const SIZES: usize = 8;

/// Cross-validates, takes the point of the one-standard-error rule and proves what a few seconds can prove of it.
fn report(classification: bool) -> Fallible<Report> {
    let start = Instant::now();
    let (samples, features) = if classification { (240, 400) } else { (200, 1200) };
    let simulator =
        Simulator::paper().n(samples).p(features).support(SupportSize::Count(8)).scaling(Scaling::Raw).seed(11);
    let simulator = if classification { simulator.snr(4.0).task(Task::Classification) } else { simulator.snr(6.0) };
    let data = simulator.generate()?;
    let (design, names) = (data.design(), |j: usize| format!("gene_{j:04}"));
    let setup = Setup { loss: if classification { Loss::Logistic } else { Loss::Squared }, ..Setup::default() };
    let selection = Selection {
        how: How::CrossValidation(Folded { rule: Rule::OneSe, seed: 3, ..Folded::default() }),
        prove: Prove::For(Duration::from_secs(6)),
        solve: Options { trace: true, top: if classification { 1 } else { 5 }, ..Options::default() },
        ..Selection::default()
    };
    let samples = Samples { x: &design, y: data.y(), weights: None, offset: None };
    setup.pose(&samples, |posed| -> Fallible<Report> {
        let found = posed.select(&selection, &mut ())?;
        let subject = Subject {
            source: "Simulated expression study".into(),
            target: if classification { "relapse" } else { "response" }.into(),
            classes: classification.then(|| ("healthy".into(), "relapse".into())),
            labels: Vec::new(),
            names: &names,
            notes: vec!["The data are simulated: eight features are real, the others are noise.".into()],
            seconds: Some(start.elapsed().as_secs_f64()),
            cancel: bestset::CancelFlag::default(),
        };
        let kind = if classification { " --classification" } else { "" };
        let mut report = build(posed, &found, &subject)?;
        report.command = format!("cargo run --release -p bestset-report --example sample -- out.html{kind}");
        if !classification {
            let options = Options { time_limit: Some(Duration::from_secs(6)), ..Options::default() };
            let sizes = posed.subsets(SIZES, &options)?.sizes;
            report.subsets = sizes.iter().map(|s| Subset::of(s, &names)).collect();
        }
        Ok(report)
    })
}
