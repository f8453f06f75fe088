//! Why a computation could not start. How it ended is [`Status`](crate::Status).

mod check;
mod words;

pub(crate) use check::{check_finite, check_length, check_weights};

use crate::shown::power_of_ten;
use words::{factor_said, folds_said, listed, remedy, sizes_up_to};

/// The result of a fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Bad input, named with the offending value and its place. Rows and columns count from zero.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A design without rows or without columns.
    #[error("the design is empty: {rows} rows, {columns} columns")]
    Empty {
        /// Number of rows given.
        rows: usize,
        /// Number of columns given.
        columns: usize,
    },
    /// Two inputs whose sizes do not fit.
    #[error("{what} has length {found}, expected {expected}")]
    Shape {
        /// The input.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that would fit.
        expected: usize,
    },
    /// A row of another length than the first.
    #[error("row {row} of X has {found} entries, expected {expected}")]
    Row {
        /// The row.
        row: usize,
        /// Its length.
        found: usize,
        /// The length of the first row.
        expected: usize,
    },
    /// NaN or infinity in the design.
    #[error(
        "X[{row}, {column}] is {value}; every entry must be finite: fill it in, or leave out its row or its column"
    )]
    NonFiniteDesign {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// NaN or infinity in a vector.
    #[error("{what}[{index}] is {value}; every entry must be finite{}", remedy(what))]
    NonFinite {
        /// The vector.
        what: &'static str,
        /// Position of the entry.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// Finite entries so large that sums of their squares overflow.
    #[error(
        "column {column} of X is too large: its largest entry is {value:e}, and the sum of its squares overflows; divide it by {:e}, or \
         leave it out",
        power_of_ten(*value)
    )]
    Overflow {
        /// The column.
        column: usize,
        /// Its entry farthest from zero.
        value: f64,
    },
    /// What is wrong with a matrix that is in a file.
    #[error("{path}: {cause}")]
    InFile {
        /// The file.
        path: String,
        /// What is wrong.
        cause: Box<Error>,
    },
    /// A finite target, offset or weight so large that sums of squares overflow.
    #[error("{what}[{index}] is {value:e}: sums of squares overflow; rescale the data")]
    TooLarge {
        /// The vector.
        what: &'static str,
        /// Position of the entry.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// A negative sample weight.
    #[error("weight[{index}] is {value}; weights must be at least 0, and 0 leaves a sample out")]
    NegativeWeight {
        /// Position of the weight.
        index: usize,
        /// The weight.
        value: f64,
    },
    /// All sample weights are zero.
    #[error("all {count} sample weights are zero")]
    NoWeight {
        /// Number of weights.
        count: usize,
    },
    /// A scalar setting outside its range.
    #[error("{name} is {value}; it must be {range}")]
    Range {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The values allowed.
        range: &'static str,
    },
    /// A class label that is neither −1 nor +1.
    #[error("y[{index}] is {value}; classification needs the labels -1 and +1")]
    Label {
        /// Position of the label.
        index: usize,
        /// The label.
        value: f64,
    },
    /// Labels of one class only.
    #[error("every label with a positive weight is {label}; classification needs two classes")]
    OneClass {
        /// The one label present.
        label: f64,
    },
    /// A target that the loss does not have.
    #[error("y[{index}] is {value}; the {loss} loss needs targets {range}")]
    Target {
        /// Position of the target.
        index: usize,
        /// The target.
        value: f64,
        /// The loss.
        loss: &'static str,
        /// The values allowed.
        range: &'static str,
    },
    /// Counts that are all zero.
    #[error(
        "every count with a positive weight is 0; the {loss} loss needs one above 0: the mean would be 0, and its logarithm no number"
    )]
    NoCounts {
        /// The loss.
        loss: &'static str,
    },
    /// A negative binomial loss without its parameter.
    #[error("the negative binomial loss needs theta: the variance of a count of mean m is m + m²/theta")]
    NoTheta,
    /// A number that is none of the classes.
    #[error("y[{index}] is {value}; classes are the whole numbers from 0 to {}", classes - 1)]
    ClassNumber {
        /// Position of the sample.
        index: usize,
        /// Its number.
        value: f64,
        /// How many classes there are.
        classes: usize,
    },
    /// A class of which there is no sample.
    #[error(
        "class {class} has no sample with a positive weight; leave the class out, or keep a sample of it in every fold"
    )]
    EmptyClass {
        /// The class, counted from 0.
        class: usize,
    },
    /// A time before the beginning.
    #[error("time[{index}] is {value}; times must be at least 0")]
    Time {
        /// Position of the time.
        index: usize,
        /// The time.
        value: f64,
    },
    /// A sample that comes under observation when it is over.
    #[error("entry[{index}] is {entry}, not before the time {time} of the same sample; it must be")]
    Entry {
        /// Position of the sample.
        index: usize,
        /// When it enters.
        entry: f64,
        /// Its time.
        time: f64,
    },
    /// Survival times of which none is that of an event.
    #[error(
        "none of {samples} samples with a positive weight has an event: all times are censored, and nothing can be learnt from them"
    )]
    NoEvents {
        /// Number of samples.
        samples: usize,
    },
    /// A lower bound above zero, an upper bound below zero, or NaN.
    #[error("the bounds of feature {feature} are [{lower}, {upper}]; they must contain 0")]
    Bounds {
        /// The feature.
        feature: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// A factor of the penalty that is negative or not finite.
    #[error("{}", factor_said(name, *feature, *value))]
    Factor {
        /// Which factor.
        name: &'static str,
        /// The feature, or the group of a `group price`.
        feature: usize,
        /// Its factor.
        value: f64,
    },
    /// A subset size that the data cannot have.
    #[error("k is {k}; it must be between 1 and the number of features, {features}")]
    Size {
        /// The size asked for.
        k: usize,
        /// Number of features.
        features: usize,
    },
    /// A largest size with no room for the features that are always in.
    #[error(
        "k is {k}, but {always} features are always in (a price factor of 0), and they count; raise k to {always} or free fewer"
    )]
    SizeBelowAlways {
        /// The size asked for.
        k: usize,
        /// Number of features without a price.
        always: usize,
    },
    /// A group of which some features cost nothing and others do not.
    #[error(
        "feature {free} costs nothing (it is always in, or has a price factor of 0), but feature {other} of the same group does not: \
         a group is in or out as a whole; name all of its features or none"
    )]
    PartlyFree {
        /// A feature without a price.
        free: usize,
        /// One of the same group that has one.
        other: usize,
    },
    /// A row or feature index outside the design, or out of order.
    #[error("index {index} at position {position} of {what}: {problem}")]
    Index {
        /// The list that holds it.
        what: &'static str,
        /// Its position in that list.
        position: usize,
        /// The index.
        index: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A feature's name that another feature has.
    #[error("names[{index}] is {name:?}, as is the name of an earlier feature")]
    Name {
        /// Position of the name.
        index: usize,
        /// The name.
        name: String,
    },
    /// A file that could not be read or written, or is not what it should be.
    #[error("cannot use the {what} file: {reason}")]
    File {
        /// What the file should hold.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Columns that could not be read.
    #[error("cannot read {what} at {place}: {reason}")]
    Read {
        /// The file, or what else holds the columns.
        what: String,
        /// Where in it.
        place: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A limit struck in the middle of a pass over the columns, and before there was an answer where this comes out.
    #[error(
        "it was ended, by Ctrl-C or by its time limit, while X was being read and before there was an answer to return: give it more time, or a matrix that is read faster"
    )]
    Stopped,
    /// A name that no method has.
    #[error("there is no method named {name:?}")]
    UnknownMethod {
        /// The name given.
        name: String,
    },
    /// A name that no stopping rule has.
    #[error("there is no stopping rule named {name:?}; there are literal and patient")]
    UnknownStop {
        /// The name given.
        name: String,
    },
    /// A name that nothing of its kind has.
    #[error("there is no {what} named {name:?}")]
    UnknownName {
        /// The kind.
        what: &'static str,
        /// The name given.
        name: String,
    },
    /// A column that others determine nearly, but not exactly: fits with it would be made of rounding.
    #[error(
        "column {column} of X is nearly a combination of {}: {share:.1e} of its square is left without; drop one of them, or raise lambda2",
        listed(others)
    )]
    Dependent {
        /// The column.
        column: usize,
        /// Those that determine it, as far as they are known.
        others: Vec<usize>,
        /// What is left of its sum of squares when they are projected out, as a share.
        share: f64,
    },
    /// A column that is constant but for rounding, where coefficients or a proof in a file speak of it.
    #[error(
        "column {column} of X is constant but for its last digits, of which nothing is made; leave it out, or give it with a constant \
         subtracted"
    )]
    Flat {
        /// The column.
        column: usize,
    },
    /// More columns that are exact combinations of others than can be left out in turn.
    #[error(
        "{} of X are combinations of each other, and there are more such lists: leaving out one of each makes more than {most} \
         families of subsets; drop copies of columns, and one column of every category",
        listed(columns)
    )]
    Dependences {
        /// One list of columns of which each is a combination of the others.
        columns: Vec<usize>,
        /// The number of families that are searched.
        most: usize,
    },
    /// A value that an independent second computation does not confirm.
    #[error("{what} was {claimed}, but is {found} when computed anew; rounding explains {slack:e}")]
    Recheck {
        /// The value.
        what: &'static str,
        /// As first computed.
        claimed: f64,
        /// As computed again.
        found: f64,
        /// The largest difference that rounding explains.
        slack: f64,
    },
    /// Least squares without a ridge, bounds or λ1 on more features than a search without them can serve.
    #[error(
        "least squares without lambda2 cannot be searched with {samples} samples and {features} features: set lambda2 > 0{}, or bound \
         every coefficient",
        sizes_up_to(*most)
    )]
    TooWide {
        /// Number of samples.
        samples: usize,
        /// Number of features.
        features: usize,
        /// The largest size of subsets that could be searched, 0 if none.
        most: usize,
    },
    /// A proof that cannot be made as the problem is stated, and what could be.
    #[error("{cause}; {advice}")]
    Unprovable {
        /// Why.
        cause: Box<Error>,
        /// What would be proved, or is.
        advice: String,
    },
    /// A setting that could have no effect where it is given.
    #[error("{setting} cannot be used {place}: {advice}")]
    Unused {
        /// The setting with its value.
        setting: String,
        /// Where it is given.
        place: &'static str,
        /// Why, and what to do.
        advice: &'static str,
    },
    /// Parts of the samples that are too few or more than there are samples.
    #[error("{}", folds_said(*folds, *samples))]
    Folds {
        /// The number asked for.
        folds: usize,
        /// Number of samples.
        samples: usize,
    },
    /// A limit struck before a proof was written to its end; the answer stands.
    #[error("the proof is unfinished ({limit}): {advice}")]
    Unfinished {
        /// The limit, in words.
        limit: String,
        /// Whether it was Ctrl-C, or another cancellation.
        is_interrupted: bool,
        /// How to go on.
        advice: String,
    },
    /// A coefficient that neither a ridge nor bounds keep finite, in a model whose relaxation needs one of them.
    #[error(
        "{what} cannot be fitted where a coefficient has neither a ridge nor bounds: set lambda2 above 0 (1e-6 hardly changes a fit) and no shrinkage factor to 0, or bound every coefficient{or}"
    )]
    Unpenalised {
        /// What cannot be fitted.
        what: &'static str,
        /// What else would do.
        or: &'static str,
    },
    /// A method that cannot solve the problem as stated.
    #[error("method {method} {reason}")]
    Unsupported {
        /// The method.
        method: &'static str,
        /// What it would need.
        reason: &'static str,
    },
}
