//! The problem posed on the data: the core standardises, errors name columns.

use super::fault::with_names;
use super::{Loaded, Session};
use crate::args::FittingArgs;
use crate::exit::Failure;
use bestset::design::Design;
use bestset::groups::Groups;
use bestset::select::{Samples, Setup};
use bestset::{Bounds, Limits};
use std::ops::Range;

/// The core's problem with the names of the data.
pub struct Posed<'a> {
    pub data: &'a Loaded,
    core: &'a bestset::select::Posed<'a>,
}

impl<'a> std::ops::Deref for Posed<'a> {
    type Target = bestset::select::Posed<'a>;

    fn deref(&self) -> &Self::Target {
        self.core
    }
}

impl FittingArgs {
    /// Poses the problem and hands it on: views on the data live as long as that takes.
    pub fn pose<T>(
        &self,
        data: &Loaded,
        session: &Session<'_>,
        body: impl FnOnce(&Posed<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let own;
        let x: &dyn Design = match &data.disk {
            Some(stored) => stored,
            None => {
                own = data.set.design().map_err(|e| with_names(e.into(), data))?;
                own.as_ref()
            }
        };
        let samples = Samples {
            x,
            y: &data.target.values,
            weights: data.set.weights.as_deref(),
            offset: data.set.offset.as_deref(),
        };
        let setup = self.setup(data)?;
        let limits = Limits::begin(session.clock.left(), session.cancel.clone());
        let posed = setup.pose_within(&samples, &limits, |core| body(&Posed { data, core }));
        posed.map_err(|failure| with_names(failure, data))
    }

    /// What is asked of the data.
    fn setup(&self, data: &Loaded) -> Result<Setup, Failure> {
        let usual = Setup::default();
        let features = |names: &[String], what: &str| -> Result<Vec<usize>, Failure> {
            let each = names.iter().map(|name| named_features(data, name, what)).collect::<Result<Vec<_>, _>>()?;
            Ok(each.into_iter().flatten().collect())
        };
        let factors = |given: &[(String, f64)], what: &str| -> Result<bestset::Factors, Failure> {
            if given.is_empty() {
                return Ok(bestset::Factors::One);
            }
            let mut all = vec![1.0; data.features()];
            for (name, value) in given {
                all[named_features(data, name, what)?].fill(*value);
            }
            Ok(bestset::Factors::Each(all))
        };
        // Covariates of genotypes are there to be allowed for, not to be chosen.
        let mut always = features(&self.always, "--always")?;
        if !data.set.variants().is_empty() {
            always.extend(data.set.variants().len()..data.set.features());
            always.sort_unstable();
            always.dedup();
        }
        Ok(Setup {
            loss: data.loss,
            delta_in_spreads: self.delta.is_none(),
            survival: data.survival.clone(),
            intercept: !self.no_intercept,
            scale: self.scale(),
            lambda1: self.lambda1.unwrap_or(usual.lambda1),
            lambda2: self.lambda2,
            bounds: match (self.nonnegative, self.bounds) {
                (true, _) => Bounds::All(0.0, f64::INFINITY),
                (false, Some((low, high))) => Bounds::All(low, high),
                (false, None) => Bounds::Free,
            },
            price: factors(&self.price, "--price")?,
            shrinkage: factors(&self.shrinkage, "--shrinkage")?,
            always,
            never: features(&self.never, "--never")?,
            groups: data.groups().map(|labels| Groups::new(&labels)),
        })
    }
}

/// The feature of this name or number, or those of the category of this name, which are side by side.
fn named_features(data: &Loaded, name: &str, what: &str) -> Result<Range<usize>, Failure> {
    let count = data.features();
    let numbered = || name.parse::<usize>().ok().filter(|k| (1..=count).contains(k)).map(|k| k - 1);
    let category = || data.set.categories.iter().find(|c| c.column == name).map(|c| c.features());
    let one = |j: usize| j..j + 1;
    data.set.names.find(name, count).map(one).or_else(category).or_else(|| numbered().map(one)).ok_or_else(|| {
        let some: Vec<String> = (0..count.min(5)).map(|j| data.name(j)).collect();
        let more = if count > 5 { ", ..." } else { "" };
        Failure::Message(format!("{what}: there is no feature {name:?} among the {count} ({}{more})", some.join(", ")))
    })
}

impl Posed<'_> {
    /// Number of features.
    pub fn features(&self) -> usize {
        self.problem.variables()
    }

    /// What is asked, in numbers.
    pub fn terms(&self, selected: &bestset::select::Selected) -> crate::args::Terms {
        let bestset::select::Selected { lambda0, lambda1, lambda2, k, .. } = *selected;
        crate::args::Terms { loss: self.problem.loss(), lambda0, lambda1, lambda2, k }
    }
}
