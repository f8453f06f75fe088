//! `bestset cv`: cross-validation of a path, and the model it chooses.

use crate::args::{CvArgs, FittingArgs, InputArgs, LimitArgs, OutputArgs, PathArgs, seconds};
use crate::exit::{Exit, Failure};
use crate::work::{Loaded, Session, answer, choose, deliver};
use bestset::solver::CancelFlag;
use clap::Args;
use std::io::Write;
use std::time::Duration;

/// Choose the price of a feature by cross-validation, and fit with it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: bestset cv genes.csv.gz --target y --report genes.html
          bestset cv trial.csv --target outcome --folds 5 --repeats 10 --rule min --seed 1 -o model.json")]
pub struct Cv {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub fitting: FittingArgs,
    #[command(flatten)]
    pub cv: CvArgs,
    #[command(flatten)]
    pub path: PathArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Raise the bound by branch and bound for so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits", allow_negative_numbers = true)]
    pub prove: Option<Duration>,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl Cv {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        self.output.check()?;
        self.path.check()?;
        let session = Session::start(&self.limits, cancel);
        let data = Loaded::read(&self.input, &self.fitting, &session)?;
        self.fitting.pose(&data, |posed| {
            let mut found = choose::by_cross_validation(posed, &self.path, &self.cv, &session)?;
            answer::prove(posed, &mut found, self.prove.unwrap_or_default(), &session)?;
            deliver(posed, &found, (&self.input, &self.fitting, &self.output), &session, out)
        })
    }
}
