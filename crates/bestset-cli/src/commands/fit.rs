//! `bestset fit`: one answer from a file.

use super::deliver::deliver;
use crate::args::{
    ChoiceArgs, FittingArgs, InputArgs, LimitArgs, OutputArgs, PathArgs, SizeArgs, only_without_size, seconds,
};
use crate::exit::{Exit, Failure};
use crate::work::{Loaded, Session, answer};
use bestset::{CancelFlag, Method};
use clap::Args;
use std::io::Write;
use std::time::Duration;

/// Fit a model with few features to a file, with a certificate.
///
/// Without --lambda0 and -k the price of a feature is chosen along a path by a criterion.
#[derive(Debug, Args)]
#[command(mut_args(only_without_size))]
#[command(after_help = "\
Examples: bestset fit trial.csv --target outcome
          bestset fit trial.csv --target outcome -k 5 --prove 10 -o model.json
          bestset fit counts.libsvm.bz2 --lambda0 0.1 --lambda1 0.15 --lambda2 1 --no-intercept
          bestset fit cohort.bed --pheno traits.tsv --pheno-name BMI --covar pcs.tsv --maf 0.01")]
pub struct Fit {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fitting: FittingArgs,
    #[command(flatten)]
    size: SizeArgs,
    #[command(flatten)]
    path: PathArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// Seconds of branch and bound to close the gap; 0 for none [default: as long again as the fit, two seconds at least, and 150
    /// nodes at the most].
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits", allow_negative_numbers = true)]
    prove: Option<Duration>,
    #[command(flatten)]
    output: OutputArgs,
}

impl Fit {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        self.output.check(&self.input.file)?;
        self.path.check()?;
        let session = Session::start(&self.limits, cancel);
        let data = Loaded::read(&self.input, &self.fitting, &session)?;
        self.fitting.pose(&data, &session, |posed| {
            let how = self.size.how().unwrap_or_else(|| self.choice.how());
            let options = self.path.selection(how, self.prove, session.options(Method::Incremental));
            let found = answer::select(posed, &options, &session)?;
            deliver(posed, &found, (&self.input, &self.fitting, &self.output), &session, out)
        })
    }
}
