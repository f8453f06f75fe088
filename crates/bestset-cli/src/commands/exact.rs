//! `bestset exact`: branch and bound until the answer is proved.

use crate::args::{
    ChoiceArgs, FittingArgs, InputArgs, LimitArgs, OutputArgs, PathArgs, SizeArgs, count, only_without_size,
};
use crate::exit::{Exit, Failure};
use crate::work::answer::refuse_groups;
use crate::work::{Answer, Loaded, Posed, Session, answer, choose, deliver};
use bestset::solver::CancelFlag;
use bestset::{Method, Options};
use clap::Args;
use std::io::Write;

/// Prove the best subset by branch and bound; a limit or Ctrl-C returns the best answer and its gap.
///
/// Without --lambda0 and -k the price of a feature is chosen along a path by a criterion first.
#[derive(Debug, Args)]
#[command(mut_args(only_without_size))]
#[command(after_help = "\
Examples: bestset exact trial.csv --target outcome -k 5
          bestset exact trial.csv --target outcome --lambda0 0.5 --best 3 --time-limit 60")]
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
    output: OutputArgs,
}

impl Exact {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        self.output.check()?;
        self.path.check()?;
        let session = Session::start(&self.limits, cancel);
        let data = Loaded::read(&self.input, &self.fitting, &session)?;
        self.fitting.pose(&data, |posed| {
            refuse_groups(posed, "branch and bound")?;
            let found = self.solve(posed, &session)?;
            deliver(posed, &found, (&self.input, &self.fitting, &self.output), &session, out)
        })
    }

    fn solve(&self, posed: &Posed<'_>, session: &Session<'_>) -> Result<Answer, Failure> {
        let first = match (self.size.lambda0, self.size.k) {
            // The file of the checkpoint is for the search, which is what takes long.
            (None, None) => {
                let path = PathArgs { checkpoint: None, ..self.path.clone() };
                Some(choose::by_criterion(posed, &path, &self.choice, session)?)
            }
            _ => None,
        };
        let lambda0 = self.size.lambda0.or(first.as_ref().map(|f| f.terms.lambda0)).unwrap_or(0.0);
        let problem = posed.priced(lambda0)?;
        let problem = match self.size.k {
            Some(k) => problem.with_max_size(k)?,
            None => problem,
        };
        let start = first.as_ref().map(|f| f.solution.coefficients.clone());
        let options = Options { trace: true, top: self.best, warm_start: start, ..session.options(Method::Exact) };
        session.progress.start("proving");
        let solution = match &self.path.checkpoint {
            Some(file) => answer::kept(&problem, &options, file, session)?,
            None => answer::observed(&problem, &options, session)?,
        };
        let mut found = Answer::new(posed, Method::Exact, posed.terms(lambda0, self.size.k), solution);
        found.chosen = first.and_then(|f| f.chosen);
        Ok(found)
    }
}
