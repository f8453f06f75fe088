//! Arguments that pose the problem.

use super::{LossName, count};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// The problem posed on the data.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Problem")]
pub struct FittingArgs {
    /// Loss [default: logistic for a target of two texts, else squared].
    #[arg(long, value_enum)]
    pub loss: Option<LossName>,
    /// Residual at which the Huber loss turns linear.
    #[arg(long, default_value_t = 1.345, value_name = "RESIDUAL", allow_negative_numbers = true)]
    pub delta: f64,
    /// Price of the absolute size of a coefficient.
    #[arg(long, default_value_t = 0.0, value_name = "PRICE", allow_negative_numbers = true)]
    pub lambda1: f64,
    /// Price of the squared size of a coefficient (no factor 1/2); above zero it is what bounds live on
    /// [default: 0.01 times the mean sum of squares of a column, which is 0.01 for columns of norm one].
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true)]
    pub lambda2: Option<f64>,
    /// Fit no intercept.
    #[arg(long)]
    pub no_intercept: bool,
    /// Scale of the columns inside; coefficients are always on the scale of the file. Columns are centred unless there is no
    /// intercept.
    #[arg(long, visible_alias = "normalize", value_enum, default_value_t = Scale::Norm)]
    pub standardize: Scale,
    /// Allow no negative coefficient.
    #[arg(long)]
    pub nonnegative: bool,
}

/// Scale of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Every column has norm one.
    #[value(alias = "unit")]
    Norm,
    /// Every column has variance one.
    Variance,
    /// As in the file.
    None,
}

/// How many features.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Problem")]
pub struct SizeArgs {
    /// Price of one selected feature [default: chosen along a path].
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true)]
    pub lambda0: Option<f64>,
    /// Most features allowed, in place of a price.
    #[arg(long, short = 'k', value_name = "COUNT", conflicts_with = "lambda0", value_parser = count, allow_negative_numbers = true)]
    pub k: Option<usize>,
}
