//! `bestset cv`: cross-validation of a path, and the model it chooses.

use super::deliver::deliver;
use crate::args::{CvArgs, FittingArgs, InputArgs, LimitArgs, OutputArgs, PathArgs, seconds};
use crate::exit::{Exit, Failure};
use crate::work::{Loaded, Session, answer};
use bestset::{CancelFlag, Method};
use clap::Args;
use std::io::Write;
use std::time::Duration;

/// Subsets that a report shows, the best and its runners-up.
const RUNNERS_UP: usize = 5;

/// Choose the number of features and lambda2 by cross-validation, and fit with them.
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
    /// Seconds of branch and bound to close the gap; 0 for none [default: as long again as the fit, two seconds at least, and 150
    /// nodes at the most].
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits", allow_negative_numbers = true)]
    pub prove: Option<Duration>,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl Cv {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        self.output.check(&self.input.file)?;
        self.path.check()?;
        let session = Session::start(&self.limits, cancel);
        let data = Loaded::read(&self.input, &self.fitting, &session)?;
        self.fitting.pose(&data, &session, |posed| {
            let how = self.cv.how();
            let mut options = self.path.selection(how, self.prove, session.options(Method::Incremental));
            if self.output.wants_report() {
                options.solve.top = RUNNERS_UP;
            }
            let found = answer::select(posed, &options, &session)?;
            deliver(posed, &found, (&self.input, &self.fitting, &self.output), &session, out)
        })
    }
}
