//! `bestset exact`: branch and bound until the answer is proved.

use super::deliver::deliver;
use crate::args::{
    ChoiceArgs, FittingArgs, InputArgs, LimitArgs, OutputArgs, PathArgs, ProofArgs, SizeArgs, count, only_without_size,
};
use crate::exit::{Exit, Failure};
use crate::work::{Loaded, Session, answer};
use bestset::{CancelFlag, Method};
use clap::Args;
use std::io::Write;

/// Prove the best subset by branch and bound; a limit or Ctrl-C returns the best answer and its gap.
///
/// Without --lambda0 and -k the price of a feature is chosen along a path by a criterion first. A category is in or out as a whole and
/// counts for as many features as it has indicators.
#[derive(Debug, Args)]
#[command(mut_args(only_without_size))]
#[command(after_help = "\
Examples: bestset exact trial.csv --target outcome -k 5
          bestset exact trial.csv --target outcome --lambda0 0.5 --best 3 --time-limit 60
          bestset exact trial.csv --target outcome -k 5 --proof trial.bsp; bestset-check trial.csv trial.bsp")]
pub struct Exact {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fitting: FittingArgs,
    #[command(flatten)]
    size: SizeArgs,
    /// How many of the best subsets to prove.
    #[arg(long, value_name = "COUNT", default_value_t = 1, help_heading = "Problem", value_parser = count, allow_negative_numbers = true)]
    best: usize,
    #[command(flatten)]
    path: PathArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    proof: ProofArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Exact {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        self.output.check(&self.input.file)?;
        self.path.check()?;
        let session = Session::start(&self.limits, cancel);
        let data = Loaded::read(&self.input, &self.fitting, &session)?;
        self.proof.check(&data, &self.input)?;
        self.fitting.pose(&data, &session, |posed| {
            self.proof.check_problem(posed)?;
            let how = self.size.how().unwrap_or_else(|| self.choice.how());
            let mut options = self.path.selection(how, None, session.options(Method::Exact));
            options.solve.top = self.best;
            self.proof.prepare(posed, &self.input, &mut options)?;
            let found = answer::select(posed, &options, &session)?;
            let exit = deliver(posed, &found, (&self.input, &self.fitting, &self.output), &session, out)?;
            match self.proof.write(posed, &found, &options.solve, &self.input, &session) {
                // The answer stands, as after any limit.
                Err(Failure::Problem(unfinished @ bestset::Error::Unfinished { is_interrupted, .. })) => {
                    session.progress.done();
                    eprintln!("bestset: {unfinished}");
                    Ok(if is_interrupted { Exit::Interrupted } else { Exit::Limit })
                }
                written => {
                    if let Some(line) = written?.filter(|_| !self.output.json) {
                        writeln!(out, "{line}")?;
                    }
                    Ok(exit)
                }
            }
        })
    }
}
