//! `bestset stability`: how often each feature is selected on random halves of the samples.

use crate::args::{FittingArgs, InputArgs, LimitArgs, count};
use crate::exit::{Exit, Failure};
use crate::output::answer::{DataJson, write_data};
use crate::output::{self, percent};
use crate::work::{Loaded, Session};
use bestset::CancelFlag;
use bestset::cv::{STABLE_SHARE, Stability as Found};
use bestset::select::Selection;
use bestset::{Method, Status};
use clap::Args;
use serde::Serialize;
use std::io::Write;

/// Count how often each feature is selected on random subsamples (stability selection).
///
/// Every subsample has its best subset of each size; a feature that matters is in most of them whatever the samples.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples: bestset stability trial.csv --target outcome
          bestset stability genes.csv.gz --target y --max-size 5 --subsamples 200 --threshold 0.8 --json")]
pub struct Stability {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fitting: FittingArgs,
    /// Subsamples drawn.
    #[arg(long, value_name = "COUNT", default_value_t = 100, help_heading = "Subsamples", value_parser = count, allow_negative_numbers = true)]
    subsamples: usize,
    /// Share of the samples in each.
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.5,
        help_heading = "Subsamples",
        allow_negative_numbers = true
    )]
    share: f64,
    /// Seed of the draws.
    #[arg(long, default_value_t = 0, help_heading = "Subsamples", allow_negative_numbers = true)]
    seed: u64,
    /// Largest size [default: n / (log p log log n), at most half of the samples and of the features].
    #[arg(long, value_name = "COUNT", help_heading = "Subsamples", value_parser = count, allow_negative_numbers = true)]
    max_size: Option<usize>,
    /// Share of the subsamples from which on a feature is listed.
    #[arg(long, value_name = "SHARE", default_value_t = STABLE_SHARE, help_heading = "Output", allow_negative_numbers = true)]
    threshold: f64,
    #[command(flatten)]
    limits: LimitArgs,
    /// One JSON object in place of a table.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Serialize)]
struct StabilityJson<'a> {
    data: DataJson<'a>,
    subsamples: usize,
    share: f64,
    status: Status,
    features: Vec<ShareJson>,
}

#[derive(Serialize)]
struct ShareJson {
    name: String,
    /// The largest share over the sizes.
    share: f64,
    /// The share at every size from 1 up.
    by_size: Vec<f64>,
}

impl Stability {
    pub fn run(&self, cancel: &CancelFlag, out: &mut dyn Write) -> Result<Exit, Failure> {
        let session = Session::start(&self.limits, cancel);
        let data = Loaded::read(&self.input, &self.fitting, &session)?;
        self.fitting.pose(&data, &session, |posed| {
            session.progress.start(format!("{} subsamples", self.subsamples));
            let solve = session.options(Method::Incremental);
            let options = Selection { max_size: self.max_size, solve, ..Selection::default() };
            let found = posed.stability(&options, self.subsamples, self.share, self.seed)?;
            session.progress.done();
            self.write(posed.data, &found, out)?;
            out.flush()?;
            Ok(Exit::of_status(found.status))
        })
    }

    fn write(&self, data: &Loaded, found: &Found, out: &mut dyn Write) -> Result<(), Failure> {
        let of = |size: &Vec<(usize, f64)>, j: usize| size.iter().find(|f| f.0 == j).map_or(0.0, |f| f.1);
        let mut features: Vec<ShareJson> = found
            .largest
            .iter()
            .filter(|f| f.1 >= self.threshold)
            .map(|&(j, share)| {
                let by_size = found.frequencies.iter().skip(1).map(|size| of(size, j)).collect();
                ShareJson { name: data.name(j), share, by_size }
            })
            .collect();
        features.sort_by(|a, b| b.share.total_cmp(&a.share));
        let (subsamples, share, status) = (found.subsamples, self.share, found.status);
        if self.json {
            let json = StabilityJson { data: DataJson::new(data), subsamples, share, status, features };
            serde_json::to_writer_pretty(&mut *out, &json)?;
            return Ok(writeln!(out)?);
        }
        write_data(data, out)?;
        output::heading(out, &format!("Selected on {subsamples} subsamples of {} of the samples", percent(share)))?;
        let smallest = |f: &ShareJson| f.by_size.iter().position(|s| *s >= self.threshold).map_or(0, |k| k + 1);
        let rows = features.iter().map(|f| vec![f.name.clone(), percent(f.share), smallest(f).to_string()]);
        writeln!(out, "{}", output::table(&["feature", "largest share", "stable from size"], rows))?;
        if subsamples == 0 {
            return Ok(writeln!(out, "A limit struck before a subsample was done.")?);
        }
        Ok(writeln!(out, "Listed: features in at least {} of the subsamples at some size.", percent(self.threshold))?)
    }
}
