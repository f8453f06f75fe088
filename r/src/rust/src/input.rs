//! What R hands over: samples and the problem asked of them, as `R/words.R` writes them.

use crate::classes::Given;
use crate::errors::said;
use crate::fields::{needed, Failure, Fields};
use crate::survival;
use bestset::design::{Csc, Dense, Design, GenotypeFile, Stored};
use bestset::groups::Groups;
use bestset::select::{Posed, Samples, Scale, Setup};
use bestset::{Bounds, Factors, Limits, Loss, Survival, Ties};
use bestset_data::{read_cohort, CohortFiles, CohortOptions};
use savvy::RealSexp;

/// X: a matrix of R by columns, the parts of a `dgCMatrix`, or files: of NumPy, which stay where they are, or of PLINK, packed.
enum Matrix {
    Dense(usize, usize, RealSexp),
    Sparse(usize, Vec<usize>, Vec<u32>, RealSexp),
    File(String),
}

/// The samples.
pub struct Data {
    x: Matrix,
    y: Option<RealSexp>,
    weights: Option<RealSexp>,
    offset: Option<RealSexp>,
    survival: Option<Survival>,
}

/// Makes the design of entries borrowed from R, on the thread that needs it: that reads all of them once.
type MakeDesign<'a> = Box<dyn Fn() -> bestset::Result<Box<dyn Design + 'a>> + Send + Sync + 'a>;

/// All input as slices and plain values, which other threads may read while R waits.
pub struct Input<'a> {
    design: MakeDesign<'a>,
    pub y: &'a [f64],
    weights: Option<&'a [f64]>,
    offset: Option<&'a [f64]>,
    pub setup: Setup,
}

impl Matrix {
    fn read(data: &Fields) -> Result<Self, Failure> {
        if let Some(path) = data.text("file")? {
            return Ok(Self::File(path));
        }
        let rows = needed("n", data.whole("n")?)?;
        match data.wholes("p")? {
            Some(starts) => {
                let row = |i: usize| u32::try_from(i).map_err(|_| format!("x has a row {i}"));
                let rows_of = needed("i", data.wholes("i")?)?.into_iter().map(row).collect::<Result<_, _>>()?;
                Ok(Self::Sparse(rows, starts, rows_of, needed("x", data.real("x")?)?))
            }
            None => Ok(Self::Dense(rows, needed("columns", data.whole("columns")?)?, needed("x", data.real("x")?)?)),
        }
    }

    fn borrow(&self) -> MakeDesign<'_> {
        fn later<'a, D: Design + 'a>(make: impl Fn() -> bestset::Result<D> + Send + Sync + 'a) -> MakeDesign<'a> {
            Box::new(move || Ok(Box::new(make()?)))
        }
        match self {
            Self::Dense(n, p, x) => {
                let (n, p, x) = (*n, *p, x.as_slice());
                later(move || Dense::new(n, p, x))
            }
            Self::Sparse(n, starts, rows, x) => {
                let (n, x) = (*n, x.as_slice());
                later(move || Csc::new(n, &starts[..], &rows[..], x))
            }
            Self::File(path) => match CohortFiles::of(path.as_ref()) {
                Some(files) => Box::new(move || Ok(genotypes(&files)?.0.into_design())),
                None => later(move || Stored::open(path)),
            },
        }
    }
}

/// The genotypes of all people in the files, and the names of the variants.
pub fn genotypes(files: &CohortFiles) -> bestset::Result<(GenotypeFile, Vec<String>)> {
    let options = CohortOptions { needs_trait: false, ..CohortOptions::default() };
    let failed = |reason: String| bestset::Error::File { what: "genotype", reason };
    let cohort = read_cohort(files, &options).map_err(|e| failed(e.to_string()))?;
    let found = cohort.genotyped.ok_or_else(|| failed("there are no genotypes".to_owned()))?;
    Ok((found.genotypes, cohort.names.list(found.variants.len())))
}

impl Data {
    /// Reads the list.
    pub fn read(data: &Fields) -> Result<Self, Failure> {
        let (y, weights, offset) = (data.real("y")?, data.real("weights")?, data.real("offset")?);
        let survival = data.list("survival")?.map(|times| survival::times(&times)).transpose()?;
        Ok(Self { x: Matrix::read(data)?, y, weights, offset, survival })
    }

    /// Borrows everything for a problem.
    pub fn borrow(&self, setup: Setup) -> Input<'_> {
        Input {
            design: self.x.borrow(),
            y: self.y.as_ref().map_or(&[], |y| y.as_slice()),
            weights: self.weights.as_ref().map(RealSexp::as_slice),
            offset: self.offset.as_ref().map(RealSexp::as_slice),
            setup: Setup { survival: self.survival.clone(), ..setup },
        }
    }
}

/// The loss of a name or family, with its parameters.
pub fn loss(from: &Fields) -> Result<Loss, Failure> {
    let (name, delta) = (needed("loss", from.text("loss")?)?, from.number("delta")?.unwrap_or(Loss::USUAL_DELTA));
    if name == "multinomial" {
        return Ok(Loss::Multinomial { classes: needed("classes", from.whole("classes")?)? });
    }
    if name == "cox" {
        let ties = from.text("ties")?.map_or(Ok(Ties::default()), |name| survival::ties(&name))?;
        return Ok(Loss::Cox { ties });
    }
    Loss::named(&name, delta, from.number("theta")?).map_err(said)
}

/// The scale of this name.
pub fn scale(name: &str) -> Result<Scale, Failure> {
    match name {
        "norm" => Ok(Scale::Norm),
        "variance" => Ok(Scale::Variance),
        "none" => Ok(Scale::None),
        other => Err(format!("there is no scale named {other:?}")),
    }
}

/// The problem, but for the number of features.
pub fn setup(from: &Fields) -> Result<Setup, Failure> {
    let bounds = match (from.numbers("lower")?, from.numbers("upper")?) {
        (Some(lower), Some(upper)) if lower.len() == 1 && upper.len() == 1 => Bounds::All(lower[0], upper[0]),
        (Some(lower), Some(upper)) => Bounds::Each(lower, upper),
        _ => Bounds::Free,
    };
    let factors = |name| Ok::<_, Failure>(from.numbers(name)?.map_or(Factors::One, Factors::Each));
    let groups = from.wholes("groups")?.map(|labels| Groups::new(&labels));
    let groups = match (groups, from.numbers("group_prices")?) {
        (Some(groups), Some(prices)) => Some(groups.with_prices(prices).map_err(said)?),
        (groups, _) => groups,
    };
    Ok(Setup {
        loss: loss(from)?,
        delta_in_spreads: from.number("delta")?.is_none(),
        survival: None,
        intercept: from.flag("intercept")?,
        scale: scale(&needed("scale", from.text("scale")?)?)?,
        lambda1: from.number("lambda1")?.unwrap_or(0.0),
        lambda2: from.number("lambda2")?,
        bounds,
        price: factors("price")?,
        shrinkage: factors("shrinkage")?,
        always: from.places("always")?,
        never: from.places("never")?,
        groups,
    })
}

impl Input<'_> {
    /// Poses the problem and hands it on.
    pub fn pose<T>(&self, limits: &Limits, body: impl FnOnce(&Posed<'_>) -> Result<T, Stop>) -> Result<T, Failure> {
        let x = (self.design)().map_err(said)?;
        let samples = Samples { x: &*x, y: self.y, weights: self.weights, offset: self.offset };
        self.setup.pose_within(&samples, limits, body).map_err(|stop| stop.0)
    }

    /// u = Xβ + b.
    pub fn predict(&self, given: &Given) -> Result<Vec<f64>, Failure> {
        let x = (self.design)().map_err(said)?;
        given.predict(&*x)
    }
}

/// A failure, from the engine or from here.
pub struct Stop(pub Failure);

impl From<bestset::Error> for Stop {
    fn from(error: bestset::Error) -> Self {
        Self(said(error))
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}
