//! The figures of the paper, run again with the proof beside them; and two figures it does not have.

mod algorithm;
mod args;
mod charts;
mod check;
mod figures;
mod measure;
mod plot;
mod progress;
mod readings;
mod report;
mod row;
mod runner;
mod store;
mod summary;
mod tables;

use args::{Args, Which};
use clap::Parser;
use figures::{Figure, news20::News20, prediction, quality::Quality, simulation::Simulation};
use report::Results;
use row::Row;
use std::path::Path;
use std::process::ExitCode;
use store::Store;

/// Errors are for reading: they end the program.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    // One thread: times are compared, and the published algorithms have no parallel form.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let results = args.out.join("results");
    if args.fresh && results.is_dir() {
        std::fs::remove_dir_all(&results)?;
    }
    if !args.report_only {
        run_figures(args, &results)?;
    }
    let results = Results {
        simulation: open(&results, "simulation")?.rows().to_vec(),
        news20: open(&results, "news20")?.rows().to_vec(),
        quality: open(&results, "quality")?.rows().to_vec(),
        prediction: Store::open(&results.join("prediction.csv"))?.rows().to_vec(),
    };
    results.write(&args.out)?;
    println!("written: {}", args.out.join("RESULTS.md").display());
    if args.check { check(&results) } else { Ok(()) }
}

fn run_figures(args: &Args, results: &Path) -> Result<()> {
    let news20 = open_news20(args)?;
    let figures: [(Which, Option<&dyn Figure>); 3] = [
        (Which::Simulation, Some(&Simulation)),
        (Which::News20, news20.as_ref().map(|figure| figure as &dyn Figure)),
        (Which::Quality, Some(&Quality)),
    ];
    for (_, figure) in figures.into_iter().filter(|(which, _)| args.wants(*which)) {
        let Some(figure) = figure else { continue };
        runner::run(figure, &args.plan, &mut open(results, figure.name())?)?;
    }
    if args.wants(Which::Prediction) {
        runner::run_prediction(&args.plan, &mut Store::<prediction::Row>::open(&results.join("prediction.csv"))?)?;
    }
    Ok(())
}

/// Bounds below objectives, the default solver on the envelope of the published ones.
fn check(results: &Results) -> Result<()> {
    let mut found = Vec::new();
    for (name, rows) in
        [("simulation", &results.simulation), ("news20", &results.news20), ("quality", &results.quality)]
    {
        println!("{name}: {} runs, {} settings compared", rows.len(), summary::standings(rows).len());
        found.extend(check::violations(rows).into_iter().map(|v| format!("{name}, {v}")));
    }
    if [&results.simulation, &results.news20, &results.quality].iter().all(|rows| rows.is_empty()) {
        found.push("nothing was run, so nothing is checked".to_owned());
    }
    match found.is_empty() {
        true => {
            println!("checked: bounds below objectives, default solver on the lower envelope of P");
            Ok(())
        }
        false => Err(found.join("\n").into()),
    }
}

fn open(results: &Path, name: &str) -> Result<Store<Row>> {
    Store::open(&results.join(format!("{name}.csv")))
}

fn open_news20(args: &Args) -> Result<Option<News20>> {
    if !args.wants(Which::News20) {
        return Ok(None);
    }
    let found = News20::open(&args.data)?;
    if found.is_none() {
        eprintln!("News20 is skipped: there is no news20.bz2 in {} (--data, BESTSET_DATA)", args.data.display());
    }
    Ok(found)
}
