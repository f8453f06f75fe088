//! Arguments of paths, criteria and cross-validation.

use super::result::check_place;
use crate::exit::Failure;
use bestset::Loss;
use bestset::criteria::Criterion;
use bestset::cv::{Folds, Score};
use bestset::path::{Grid, Search};
use clap::{Arg, Args, ValueEnum};
use std::path::PathBuf;

/// The path over lambda0.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Path")]
pub struct PathArgs {
    /// Most points of the path.
    #[arg(long, value_name = "COUNT", default_value_t = 100, allow_negative_numbers = true)]
    pub points: usize,
    /// Evenly spaced logarithms of lambda0 down to this share of the largest [default: where answers change].
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub ratio: Option<f64>,
    /// These lambda0, descending.
    #[arg(long, value_name = "PRICES", value_delimiter = ',', conflicts_with_all = ["points", "ratio"])]
    pub grid: Vec<f64>,
    /// The path ends at an answer of this size [default: n / (log p log log n), at most n / 2 and 50].
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
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

    pub fn grid(&self) -> Grid {
        match self.ratio {
            _ if !self.grid.is_empty() => Grid::Given(self.grid.clone()),
            Some(ratio) => Grid::Log { points: self.points, ratio },
            None => Grid::Dynamic { points: self.points, shrink: 0.99 },
        }
    }

    pub fn search(&self) -> Search {
        if self.full { Search::Full } else { Search::Neighbours }
    }

    /// The size at which the path ends.
    pub fn max_size(&self, rows: usize, features: usize) -> usize {
        // Larger supports fit noise so well that criteria take it for signal.
        let (n, p) = (rows.max(3) as f64, features.max(2) as f64);
        let usual = (n / (p.ln().max(1.0) * n.ln().ln().max(1.0))) as usize;
        self.max_size.unwrap_or(usual.min(rows / 2).clamp(1, 50)).min(features)
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
    #[arg(long, value_enum, default_value_t = CriterionName::Ebic)]
    pub criterion: CriterionName,
    /// Weight of the number of subsets in ebic, from 0, which is BIC, up.
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0, allow_negative_numbers = true)]
    pub gamma: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CriterionName {
    Aic,
    Bic,
    Ebic,
    Gic,
    Cp,
    AdjustedR2,
}

impl ChoiceArgs {
    pub fn criterion(&self) -> Criterion {
        match self.criterion {
            CriterionName::Aic => Criterion::Aic,
            CriterionName::Bic => Criterion::Bic,
            CriterionName::Ebic => Criterion::Ebic { gamma: self.gamma },
            CriterionName::Gic => Criterion::Gic,
            CriterionName::Cp => Criterion::Cp,
            CriterionName::AdjustedR2 => Criterion::AdjustedR2,
        }
    }
}

impl CriterionName {
    /// As it is written.
    pub fn title(self) -> &'static str {
        match self {
            Self::Aic => "AIC",
            Self::Bic => "BIC",
            Self::Ebic => "EBIC",
            Self::Gic => "GIC",
            Self::Cp => "Cp",
            Self::AdjustedR2 => "adjusted R²",
        }
    }
}

/// Cross-validation.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Cross-validation")]
pub struct CvArgs {
    /// Parts of which each is left out once.
    #[arg(long, value_name = "COUNT", default_value_t = 10, allow_negative_numbers = true)]
    pub folds: usize,
    /// How often a division is drawn.
    #[arg(long, value_name = "COUNT", default_value_t = 1, allow_negative_numbers = true)]
    pub repeats: usize,
    /// Seed of the division.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
    /// What is best on samples left out [default: squared error, or the deviance of other losses].
    #[arg(long, value_enum)]
    pub score: Option<ScoreName>,
    /// The point with the best mean, or the one with the fewest features within one standard error of it.
    #[arg(long, value_enum, default_value_t = Rule::OneSe)]
    pub rule: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rule {
    Min,
    #[value(name = "1se")]
    OneSe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScoreName {
    SquaredError,
    AbsoluteError,
    Deviance,
    Accuracy,
    Auc,
}

impl CvArgs {
    pub fn score(&self, loss: Loss) -> Score {
        match self.score {
            None => Score::of(loss),
            Some(ScoreName::SquaredError) => Score::SquaredError,
            Some(ScoreName::AbsoluteError) => Score::AbsoluteError,
            Some(ScoreName::Deviance) => Score::Deviance,
            Some(ScoreName::Accuracy) => Score::Accuracy,
            Some(ScoreName::Auc) => Score::Auc,
        }
    }

    /// Classes are dealt out evenly; there are never more parts than samples.
    pub fn folds(&self, loss: Loss) -> Folds {
        let (folds, repeats) = (self.folds, self.repeats);
        match loss.is_classification() {
            true => Folds::Stratified { folds, repeats },
            false => Folds::Random { folds, repeats },
        }
    }

    /// How it is done, in words.
    pub fn describe(&self, loss: Loss) -> String {
        let repeats = if self.repeats > 1 { format!(", {} repeats", self.repeats) } else { String::new() };
        let kind = if loss.is_classification() { ", stratified" } else { "" };
        format!("{} folds{repeats}{kind}, seed {}", self.folds, self.seed)
    }
}

/// A score as it is written.
pub fn score_title(score: Score) -> &'static str {
    match score {
        Score::SquaredError => "mean squared error",
        Score::AbsoluteError => "mean absolute error",
        Score::Deviance => "mean deviance",
        Score::Accuracy => "accuracy",
        Score::Auc => "AUC",
        _ => "score",
    }
}
