//! Settings of a solve; `validate` names the bad field.

use crate::control::{CancelFlag, Memory};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::solution::{Coefficients, Status};
use std::time::Duration;

/// Which algorithm runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The default: convex phase on the envelope, then primal phase (MATH §7).
    Incremental,
    /// Branch-and-bound after the default solver: closes the gap, or reports what remains at a limit.
    Exact,
    /// The paper's primal-dual method: Algorithms 1–3, or (`dynamic: false`) Algorithm 1 on all features.
    PrimalDual {
        /// Whether the active set grows and is screened.
        dynamic: bool,
    },
    /// Algorithm 1 without its primal pass (DualAst).
    DualAscent,
    /// Dual iterative hard thresholding for the k-sparse problem (D-IHT).
    DualIht,
    /// Coordinate descent with spacer steps and partial swaps (CDSS with PSI(1)).
    Cdss,
}

impl Method {
    /// Every method, the default first.
    pub const ALL: [Self; 7] = [
        Self::Incremental,
        Self::Exact,
        Self::PrimalDual { dynamic: true },
        Self::PrimalDual { dynamic: false },
        Self::DualAscent,
        Self::DualIht,
        Self::Cdss,
    ];

    /// The name used on the command line and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Incremental => "incremental",
            Self::Exact => "exact",
            Self::PrimalDual { dynamic: true } => "primal_dual",
            Self::PrimalDual { dynamic: false } => "primal_dual_plain",
            Self::DualAscent => "dual_ascent",
            Self::DualIht => "dual_iht",
            Self::Cdss => "cdss",
        }
    }
}

impl std::str::FromStr for Method {
    type Err = Error;

    /// The method of this [name](Method::name).
    fn from_str(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|method| method.name() == name);
        known.ok_or_else(|| Error::UnknownMethod { name: name.to_owned() })
    }
}

/// Step sizes of the dual ascent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// The same ω in every step; the paper's runs use 0.0005.
    Constant(f64),
    /// ω_t = 1/(tγ), the paper's analysis.
    Diminishing {
        /// γ, positive; μ of the loss is the safe choice.
        gamma: f64,
    },
}

impl Step {
    /// ω_t for t = 1, 2, …
    pub fn at(self, t: usize) -> f64 {
        match self {
            Self::Constant(omega) => omega,
            Self::Diminishing { gamma } => 1.0 / (t as f64 * gamma),
        }
    }
}

/// When the ascent of the paper's Algorithm 1, "while the duality gap of the sub-problem is decreasing", ends. Of
/// D-IHT it is no part: that goes on as under `Patient` either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// As it is written: at the first step at which the gap does not decrease.
    #[default]
    Literal,
    /// When the least gap has not fallen for a long time, twice as long as the constant step needs to bring the dual
    /// point nearer to its optimum by a factor of e. With a constant step the gap goes up and down on its way, so that
    /// the first rise comes long before the dual point is near its optimum.
    Patient,
}

impl Stop {
    /// Both, the default first.
    pub const ALL: [Self; 2] = [Self::Literal, Self::Patient];

    /// The name used on the command line and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Literal => "literal",
            Self::Patient => "patient",
        }
    }
}

impl std::str::FromStr for Stop {
    type Err = Error;

    /// The rule of this [name](Stop::name).
    fn from_str(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|stop| stop.name() == name);
        known.ok_or_else(|| Error::UnknownStop { name: name.to_owned() })
    }
}

/// Parameters of the published algorithms, with the paper's values as defaults.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `step` | constant 0.0005 | dual step ω | > 0 |
/// | `stop` | literal | when the gap of a sub-problem counts as no longer decreasing | |
/// | `epsilon` | 1e-6 | stop when the (sub-)problem's gap is below | ≥ 0 |
/// | `zeta` | 1e-6 | stop when the gap changed less over two steps | ≥ 0 |
/// | `inclusion` | 4 | c of h = ⌈c log p⌉ features added at a time | > 0 |
/// | `swaps` | true | CDSS goes on until no swap of one feature lowers P | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// Dual step sizes.
    pub step: Step,
    /// When the gap counts as no longer decreasing.
    pub stop: Stop,
    /// Gap at which to stop.
    pub epsilon: f64,
    /// Change of the gap over two steps at which to stop.
    pub zeta: f64,
    /// c of Algorithm 3.
    pub inclusion: f64,
    /// Whether CDSS continues with PSI(1) swaps.
    pub swaps: bool,
}

impl Default for Published {
    fn default() -> Self {
        let (step, stop) = (Step::Constant(0.0005), Stop::default());
        Self { step, stop, epsilon: 1e-6, zeta: 1e-6, inclusion: 4.0, swaps: true }
    }
}

/// From which sizes on less is done: a convex phase ends sooner (MATH 7.10) by the entries of its active columns. Tests make them small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// Minimising R to its last digits takes minutes: 256 megabytes of columns.
    pub long: usize,
    /// Minimising R takes longer than a moment: some ten milliseconds a step.
    pub costly: usize,
    /// Entries of X from which on reading it takes longer than what is done with it: 8 gigabytes of numbers.
    pub vast: usize,
    /// Entries that are multiplied with all of a support to price what is outside (MATH 7.11), where those that pull most will do instead:
    /// half a minute of packed genotypes.
    pub priced: usize,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { long: 1 << 25, costly: 1 << 22, vast: 1 << 30, priced: 1 << 38 }
    }
}

/// Settings of a solve.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `method` | incremental | the algorithm | |
/// | `gap` | 1e-6 | relative gap that counts as `Optimal` | ≥ 0 |
/// | `gap_absolute` | 0 | absolute gap that counts as `Optimal`, in the units of P | ≥ 0 |
/// | `relaxation_gap` | 1e-9 | relative relaxation gap (R − D)/|R| that ends the convex phase | ≥ 0 |
/// | `max_iterations` | none | limit on iterations, in the unit of the method | ≥ 1 |
/// | `max_nodes` | none | limit on branch-and-bound nodes | ≥ 1 |
/// | `max_memory` | half of what the machine has to spare | limit on the bytes taken besides the data | ≥ 1 |
/// | `top` | 1 | how many of the best subsets branch and bound looks for | ≥ 1 |
/// | `time_limit` | none | wall-clock limit | |
/// | `threads` | all | threads for passes over X, at most four for each processor | ≥ 1 |
/// | `trace` | false | record a trace | |
/// | `warm_start` | none | coefficients to start from | |
/// | `cancel` | unset | set it from anywhere to stop | |
#[derive(Debug, Clone)]
pub struct Options {
    /// The algorithm.
    pub method: Method,
    /// Relative optimality gap that counts as proved.
    pub gap: f64,
    /// Absolute optimality gap that counts as proved, in the units of P; never below the rounding of a perfect fit.
    pub gap_absolute: f64,
    /// Relative relaxation gap that ends the convex phase.
    pub relaxation_gap: f64,
    /// Limit on iterations.
    pub max_iterations: Option<usize>,
    /// Limit on branch-and-bound nodes.
    pub max_nodes: Option<usize>,
    /// Limit on the bytes that a solve takes besides the data, about: open nodes, copied columns, and all that grows with the square of
    /// a number of features. `None` for half of what the machine, `ulimit -v` and control groups leave.
    pub max_memory: Option<usize>,
    /// How many of the best subsets branch and bound looks for, each proved.
    pub top: usize,
    /// Wall-clock limit.
    pub time_limit: Option<Duration>,
    /// Threads; `None` leaves it to rayon.
    pub threads: Option<usize>,
    /// Whether to record a trace.
    pub trace: bool,
    /// Coefficients to start from.
    pub warm_start: Option<Coefficients>,
    /// No setting: whether the start is what the default solver found, with all that it looks for answers with.
    #[doc(hidden)]
    pub start_is_searched: bool,
    /// Parameters of the published algorithms.
    pub published: Published,
    /// Cancellation.
    pub cancel: CancelFlag,
    /// No setting: the sizes that the code takes for large.
    #[doc(hidden)]
    pub thresholds: Thresholds,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            method: Method::Incremental,
            gap: 1e-6,
            gap_absolute: 0.0,
            relaxation_gap: 1e-9,
            max_iterations: None,
            max_nodes: None,
            max_memory: None,
            top: 1,
            time_limit: None,
            threads: None,
            trace: false,
            warm_start: None,
            start_is_searched: false,
            published: Published::default(),
            cancel: CancelFlag::default(),
            thresholds: Thresholds::default(),
        }
    }
}

impl Options {
    /// Default settings with another method.
    pub fn with_method(method: Method) -> Self {
        Self { method, ..Self::default() }
    }

    /// Bytes that may be taken besides the data: `max_memory`, or half of what the machine has to spare.
    pub fn memory_limit(&self) -> usize {
        self.memory().limit()
    }

    /// Which limit it was, where one has struck: a cancellation, or the time.
    pub(crate) fn limit(&self) -> Status {
        if self.cancel.is_cancelled() { Status::Interrupted } else { Status::TimeLimit }
    }

    /// The limit on memory.
    pub(crate) fn memory(&self) -> Memory {
        Memory::new(self.max_memory)
    }

    /// The absolute gap that counts as proved for this problem: `gap_absolute`, and at least what rounding leaves of a perfect
    /// fit (MATH 12.3, `Problem::perfect_objective`), where a relative gap says nothing; like P it is multiplied by c² when
    /// targets are by c.
    pub fn absolute(&self, problem: &Problem<'_>) -> f64 {
        let rounding = problem.perfect_objective();
        if rounding.is_finite() { self.gap_absolute.max(rounding) } else { self.gap_absolute }
    }

    /// Checks every field against its range.
    pub(crate) fn validate_ranges(&self, problem: &Problem<'_>) -> Result<()> {
        let p = &self.published;
        let step = match p.step {
            Step::Constant(omega) => ("step", omega),
            Step::Diminishing { gamma } => ("gamma", gamma),
        };
        for (name, value) in [
            ("gap", self.gap),
            ("gap_absolute", self.gap_absolute),
            ("relaxation_gap", self.relaxation_gap),
            ("epsilon", p.epsilon),
            ("zeta", p.zeta),
        ] {
            if value.is_nan() || value < 0.0 {
                return Err(Error::Range { name, value, range: "at least 0" });
            }
        }
        for (name, value) in [step, ("inclusion", p.inclusion)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::Range { name, value, range: "finite and above 0" });
            }
        }
        for (name, value) in [
            ("max_iterations", self.max_iterations),
            ("max_nodes", self.max_nodes),
            ("max_memory", self.max_memory),
            ("top", Some(self.top)),
            ("threads", self.threads),
        ] {
            if value == Some(0) {
                return Err(Error::Range { name, value: 0.0, range: "at least 1" });
            }
        }
        if let Some(start) = &self.warm_start {
            start.validate(problem.ncols())?;
        }
        Ok(())
    }
}
