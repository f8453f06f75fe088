//! Arguments of paths, criteria and cross-validation.

use super::result::check_place;
use crate::exit::Failure;
use bestset::Options;
use bestset::criteria::Criterion;
use bestset::cv::{Rule, Score};
use bestset::path::Search;
use bestset::select::{Folded, How, Prove, Selection};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args};
use std::path::PathBuf;
use std::time::Duration;

/// The path over lambda0.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Path")]
pub struct PathArgs {
    /// Most points of the path [default: as many as the largest size takes].
    #[arg(long, value_name = "COUNT", value_parser = super::count, allow_negative_numbers = true)]
    pub points: Option<usize>,
    /// Evenly spaced logarithms of lambda0 down to this share of the largest [default: where answers change].
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub ratio: Option<f64>,
    /// These lambda0, descending.
    #[arg(long, value_name = "PRICES", value_delimiter = ',', conflicts_with_all = ["points", "ratio"])]
    pub grid: Vec<f64>,
    /// Largest number of features compared [default: n / (log p log log n), at most n / 2; in cross-validation 20 at least].
    #[arg(long, value_name = "COUNT", value_parser = super::count, allow_negative_numbers = true)]
    pub max_size: Option<usize>,
    /// A solve of its own for every point: slower, and no point is worse than a fit at its lambda0.
    #[arg(long)]
    pub full: bool,
    /// File that keeps what is done, and from which an interrupted run goes on.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
}

impl PathArgs {
    /// Refuses a file that could not be written, before any work is done.
    pub fn check(&self) -> Result<(), Failure> {
        self.checkpoint.as_deref().map_or(Ok(()), check_place)
    }

    /// The settings of a selection.
    pub fn selection(&self, how: How, prove: Option<Duration>, solve: Options) -> Selection {
        Selection {
            how,
            grid: Selection::prices(&self.grid, self.ratio, self.points),
            max_size: self.max_size,
            search: if self.full { Search::Full } else { Search::Neighbours },
            prove: proof(prove),
            checkpoint: self.checkpoint.clone(),
            solve: Options { trace: true, ..solve },
            ..Selection::default()
        }
    }
}

/// What `--prove` asks for.
pub fn proof(seconds: Option<Duration>) -> Prove {
    match seconds {
        None => Prove::Usual,
        Some(time) if time.is_zero() => Prove::No,
        Some(time) => Prove::For(time),
    }
}

/// Arguments that say how lambda0 is chosen are refused where it is given: they would have no effect.
pub fn only_without_size(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "points" | "ratio" | "grid" | "max_size" | "full" | "criterion" | "gamma" => {
            arg.conflicts_with_all(["lambda0", "k"])
        }
        _ => arg,
    }
}

/// The criterion that chooses a point of the path.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Path")]
pub struct ChoiceArgs {
    /// Criterion that chooses among the points; ebic is BIC that pays for the number of subsets of a size as well.
    #[arg(long, value_parser = criterion_parser(), default_value = "ebic")]
    pub criterion: Criterion,
    /// Weight of the number of subsets in ebic, from 0, which is BIC, up.
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0, allow_negative_numbers = true)]
    pub gamma: f64,
}

impl ChoiceArgs {
    pub fn how(&self) -> How {
        How::Criterion(self.criterion.with_gamma(self.gamma))
    }
}

/// Names with an underscore, which a hyphen may take the place of.
fn name_parser(names: Vec<&'static str>) -> impl TypedValueParser<Value = String> {
    let hyphened = |name: &'static str| match name {
        "adjusted_r2" => "adjusted-r2",
        "squared_error" => "squared-error",
        "absolute_error" => "absolute-error",
        other => other,
    };
    let values = names.into_iter().map(move |name| clap::builder::PossibleValue::new(name).alias(hyphened(name)));
    PossibleValuesParser::new(values).map(|name| name.replace('-', "_"))
}

fn criterion_parser() -> impl TypedValueParser<Value = Criterion> {
    // R² grows with every feature: it chooses nothing.
    let choosing = Criterion::ALL.into_iter().filter(|c| *c != Criterion::R2);
    name_parser(choosing.map(Criterion::name).collect()).try_map(|name| name.parse::<Criterion>())
}

fn score_parser() -> impl TypedValueParser<Value = Score> {
    name_parser(Score::ALL.map(Score::name).to_vec()).try_map(|name| name.parse::<Score>())
}

fn rule_parser() -> impl TypedValueParser<Value = Rule> {
    PossibleValuesParser::new([Rule::Min, Rule::OneSe].map(Rule::name)).map(|name| match name.as_str() {
        "1se" => Rule::OneSe,
        _ => Rule::Min,
    })
}

/// Cross-validation.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Cross-validation")]
pub struct CvArgs {
    /// Parts of which each is left out once [default: 10, or the number of samples].
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub folds: Option<usize>,
    /// How often a division is drawn.
    #[arg(long, value_name = "COUNT", default_value_t = 1, allow_negative_numbers = true)]
    pub repeats: usize,
    /// Seed of the division.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
    /// What is best on samples left out [default: squared error, or the deviance of other losses].
    #[arg(long, value_parser = score_parser())]
    pub score: Option<Score>,
    /// The model with the best mean, or the one with the fewest features within one standard error of it.
    #[arg(long, value_parser = rule_parser(), default_value = "min")]
    pub rule: Rule,
}

impl CvArgs {
    pub fn how(&self) -> How {
        let Self { folds, repeats, seed, score, rule } = *self;
        How::CrossValidation(Folded { folds, repeats, splits: Vec::new(), score, rule, seed })
    }
}
