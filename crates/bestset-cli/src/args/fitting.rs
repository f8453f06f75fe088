//! Arguments that pose the problem.

use super::count;
use crate::exit::Failure;
use bestset::Loss;
use bestset::select::{How, Scale};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// The problem posed on the data.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Problem")]
pub struct FittingArgs {
    /// Family of the target, or the loss: counts are poisson or negbin, positive amounts gamma, all three with the logarithm of the
    /// mean as linear predictor [default: binomial for a target of two texts, multinomial for one of more, else gaussian].
    #[arg(long, visible_alias = "family", value_name = "NAME", value_parser = loss_parser())]
    pub loss: Option<String>,
    /// How little the counts of negbin vary beyond poisson: the variance of a count of mean m is m + m²/theta.
    #[arg(long, value_name = "THETA", allow_negative_numbers = true)]
    pub theta: Option<f64>,
    /// Residual at which the Huber loss turns linear, in units of the target [default: 1.345 times the spread of the residuals of a
    /// first fit].
    #[arg(long, value_name = "RESIDUAL", allow_negative_numbers = true)]
    pub delta: Option<f64>,
    /// Penalty on the absolute size of a coefficient [default: 0].
    #[arg(long, value_name = "PENALTY", allow_negative_numbers = true)]
    pub lambda1: Option<f64>,
    /// Penalty on the squared size of a coefficient (no factor 1/2), on the scale inside; above zero it is what bounds live on
    /// [default: 0.01 of a column's sum of squares; cross-validation compares 0.001 to 1; 0 in `subsets` where least squares can do
    /// without].
    #[arg(long, value_name = "PENALTY", allow_negative_numbers = true)]
    pub lambda2: Option<f64>,
    /// Fit no intercept.
    #[arg(long)]
    pub no_intercept: bool,
    /// Scale of the columns inside; coefficients are always on the scale of the file. Columns are centred unless there is no
    /// intercept [default: norm].
    #[arg(long, visible_alias = "normalize", value_name = "SCALE", value_parser = scale_parser())]
    pub standardize: Option<Scale>,
    /// Allow no negative coefficient.
    #[arg(long, conflicts_with = "bounds")]
    pub nonnegative: bool,
    /// Bounds on every coefficient, on the scale of the file; -inf and inf for none.
    #[arg(long, value_name = "LOW,HIGH", value_parser = bounds, allow_hyphen_values = true)]
    pub bounds: Option<(f64, f64)>,
    /// Features that cost nothing, by name or number: in every model, unless their best coefficient is exactly zero; a category by the name of its column.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub always: Vec<String>,
    /// Features kept out, by name or number; a category by the name of its column.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub never: Vec<String>,
    /// What features cost in units of lambda0, 1 for those not named: age=2,dose=0.5.
    #[arg(long, value_name = "COLUMN=FACTOR", value_delimiter = ',', value_parser = factor)]
    pub price: Vec<(String, f64)>,
    /// How much features are shrunk in units of lambda1 and lambda2, 1 for those not named: age=2,dose=0.5.
    #[arg(long, value_name = "COLUMN=FACTOR", value_delimiter = ',', value_parser = factor)]
    pub shrinkage: Vec<(String, f64)>,
}

fn bounds(text: &str) -> Result<(f64, f64), String> {
    let pair = text.split_once(',').and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
    pair.filter(|(low, high): &(f64, f64)| *low <= 0.0 && *high >= 0.0)
        .ok_or_else(|| "two numbers are wanted, the first at most 0 and the second at least 0, such as -1,1".to_owned())
}

fn factor(text: &str) -> Result<(String, f64), String> {
    let pair = text.rsplit_once('=').and_then(|(name, value)| Some((name.to_owned(), value.trim().parse().ok()?)));
    pair.filter(|(_, value): &(String, f64)| *value >= 0.0 && value.is_finite())
        .ok_or_else(|| "a column and a factor of at least 0 are wanted, such as age=2".to_owned())
}

impl FittingArgs {
    /// Where the Huber loss turns linear: in units of the target where it is given, else in spreads of the residuals.
    pub fn delta(&self) -> f64 {
        self.delta.unwrap_or(Loss::USUAL_DELTA)
    }

    /// The loss that is asked for, if one is, with so many classes; of survival times it is `cox`, and no other.
    pub fn loss(&self, cox: Option<Loss>, classes: usize) -> Result<Option<Loss>, Failure> {
        match (self.loss.as_deref(), cox) {
            (Some("multinomial"), None) => Ok(Some(Loss::Multinomial { classes })),
            (None | Some("cox"), Some(cox)) => Ok(Some(cox)),
            (Some(name), Some(_)) => Err(Failure::Message(format!(
                "--time makes the family cox, and --loss is {name}; leave one of the two out"
            ))),
            (Some("cox"), None) => {
                Err(Failure::Message("the family cox needs survival times: --time COLUMN --event COLUMN".to_owned()))
            }
            (name, None) => Ok(name.map(|name| Loss::named(name, self.delta(), self.theta)).transpose()?),
        }
    }

    /// Scale of the columns inside.
    pub fn scale(&self) -> Scale {
        self.standardize.unwrap_or_default()
    }
}

/// Losses and families, with a word on each.
fn loss_parser() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new([
        PossibleValue::new("gaussian").alias("squared").help("Least squares; also squared"),
        PossibleValue::new("binomial").alias("logistic").help("Two classes; also logistic"),
        PossibleValue::new("multinomial").help("More than two classes, a feature in for all of them"),
        PossibleValue::new("poisson").help("Counts whose variance is their mean"),
        PossibleValue::new("gamma").help("Positive amounts whose spread grows with their mean"),
        PossibleValue::new("negbin")
            .alias("negative_binomial")
            .help("Counts that vary more than poisson; needs --theta"),
        PossibleValue::new("cox").help("Survival times, see --time and --event"),
        PossibleValue::new("huber").help("Least squares that outliers pull less, see --delta"),
        PossibleValue::new("squared_hinge").alias("squared-hinge").help("Two classes with a margin"),
    ])
    .map(|name| name.replace('-', "_"))
}

/// Scales of the columns, with a word on each.
fn scale_parser() -> impl TypedValueParser<Value = Scale> {
    let values = [
        PossibleValue::new("norm").alias("unit").help("Every column has norm one"),
        PossibleValue::new("variance").help("Every column has variance one"),
        PossibleValue::new("none").help("As in the file"),
    ];
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "variance" => Scale::Variance,
        "none" => Scale::None,
        _ => Scale::Norm,
    })
}

/// How many features.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Problem")]
pub struct SizeArgs {
    /// Penalty per selected feature [default: chosen along a path].
    #[arg(long, value_name = "PENALTY", allow_negative_numbers = true)]
    pub lambda0: Option<f64>,
    /// Most features allowed, in place of a price.
    #[arg(long, short = 'k', value_name = "COUNT", conflicts_with = "lambda0", value_parser = count, allow_negative_numbers = true)]
    pub k: Option<usize>,
}

impl SizeArgs {
    /// The price or the size, where one is given.
    pub fn how(&self) -> Option<How> {
        self.lambda0.map(How::Price).or(self.k.map(How::Size))
    }
}
