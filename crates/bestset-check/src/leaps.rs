//! Families bounded by fits alone (PROOF, "FIT", "PAIRS"): leaps and bounds.

use crate::bound::Choice;
use crate::fit::{Equations, Fit, Left, MOST_FITTED};
use crate::loss::Loss;
use crate::round::{down, up};
use crate::source::Source;
use crate::tree::Tree;
use std::io::Read;
use std::rc::Rc;

/// The features of a family that are not out, ascending.
struct Members {
    free: Vec<usize>,
    inside: Vec<usize>,
    all: Vec<usize>,
}

/// Where features are in the equations.
fn places(equations: &Equations, features: &[usize]) -> Result<Vec<usize>, String> {
    equations.places(features.iter().copied()).ok_or_else(|| "a member is missing".to_owned())
}

impl Tree<'_> {
    /// What is not out.
    fn members(&self) -> Members {
        let of = |is: &dyn Fn(Choice) -> bool| (0..self.choices.len()).filter(|&j| is(self.choices[j])).collect();
        Members { free: of(&|c| c == Choice::Free), inside: of(&|c| c == Choice::In), all: of(&|c| c != Choice::Out) }
    }

    /// Equations that hold the members.
    fn equations(&mut self, members: &[usize]) -> Result<Rc<Equations>, String> {
        if self.header.loss != Loss::Squared {
            return Err("a fit is one of the squared loss".to_owned());
        }
        if let Some(known) = self.equations.as_ref().filter(|e| e.places(members.iter().copied()).is_some()) {
            return Ok(known.clone());
        }
        let p = self.header.p();
        let features = if p <= MOST_FITTED { (0..p).collect() } else { members.to_vec() };
        let made = Rc::new(Equations::new(self.header, self.model, &mut self.products, features)?);
        (self.equations, self.fit) = (Some(made.clone()), None);
        // Fits that wait are of other equations.
        self.waiting.iter_mut().for_each(|w| w.fit = None);
        Ok(made)
    }

    /// The fit on all members, known already where the last was of the same.
    fn fitted(&mut self, equations: &Equations, members: &[usize]) -> Result<Rc<Fit>, String> {
        let feature = |place: usize| equations.features[place];
        let is_member = |place: usize| members.binary_search(&feature(place)).is_ok();
        let known = self.fit.clone().filter(|f| f.places.iter().filter(|p| is_member(**p)).count() == members.len());
        let made = match known {
            Some(fit) if fit.places.len() == members.len() => return Ok(fit),
            Some(fit) => fit.reduced(equations, is_member, |place| self.choices[feature(place)] == Choice::Free)?,
            None => Fit::new(equations, places(equations, members)?)?,
        };
        let made = Rc::new(made);
        self.fit = Some(made.clone());
        Ok(made)
    }

    /// c_t of (P11): at least what a fit must be for no subset of t features to be below B, for t up to the most.
    fn needed(&mut self, most: usize) {
        if self.needs.len() > most {
            return;
        }
        let least = (0..self.header.p()).map(|j| self.header.penalty(j).l0).fold(f64::INFINITY, f64::min);
        for t in self.needs.len()..=most.min(MOST_FITTED) {
            let fit = up(2.0 * up(self.header.bound - down(least * t as f64).max(0.0))).max(0.0);
            let norm = up(up(fit.sqrt()) + self.model.y_error);
            self.needs.push(if fit > 0.0 { up(norm * norm) } else { 0.0 });
        }
    }

    /// The largest size that a subset of the family may have.
    fn largest(&self, free: usize) -> usize {
        (self.inside + free).min(self.header.size.unwrap_or(usize::MAX))
    }

    /// The sizes from `least` on that may hold a subset below B (P11), by the fits without the features of these rows, looked at until none
    /// is left.
    fn open_sizes(&self, fit: &Fit, rows: impl Iterator<Item = usize>, least: usize, most: usize) -> Vec<usize> {
        let mut sizes: Vec<(usize, usize)> = (least.max(self.inside)..=most)
            .filter(|t| fit.all < self.needs[*t])
            .map(|t| (t, t - self.inside))
            .collect();
        for row in rows {
            if sizes.is_empty() {
                break;
            }
            let dear = fit.without(row);
            // One feature more that a subset of that size cannot lack, while there is room for it.
            sizes.retain_mut(|(t, room)| {
                let is_dear = dear >= self.needs[*t];
                let is_left = !is_dear || *room > 0;
                *room -= usize::from(is_dear && *room > 0);
                is_left
            });
        }
        sizes.into_iter().map(|(t, _)| t).collect()
    }

    /// The rows of free features, the last first.
    fn free_rows<'f>(&'f self, equations: &'f Equations, fit: &'f Fit) -> impl Iterator<Item = usize> + 'f {
        let is_free = move |row: &usize| self.choices[equations.features[fit.places[*row]]] == Choice::Free;
        (0..fit.places.len()).rev().filter(is_free)
    }

    /// Fits on all members, and on all but one, leave no size open, or show that features are in.
    pub fn fit<R: Read>(&mut self, from: &mut Source<R>) -> Result<(), String> {
        let members = self.members();
        let (equations, most) = (self.equations(&members.all)?, self.largest(members.free.len()));
        let fit = self.fitted(&equations, &members.all)?;
        self.needed(most);
        self.counts.fits += 1;
        if from.flag()? {
            return match self.open_sizes(&fit, self.free_rows(&equations, &fit), 0, most).first() {
                None => {
                    self.close();
                    Ok(())
                }
                Some(t) => Err(format!("fits do not close the subsets of {t} features")),
            };
        }
        let listed = from.features(self.header.p())?;
        let row = |j: &usize| {
            let is_it = |place: &usize| equations.features[*place] == *j;
            fit.places.iter().position(is_it).filter(|_| self.choices[*j] == Choice::Free)
        };
        let found: Option<Vec<usize>> = listed.iter().map(row).collect();
        let rows = found.ok_or("a feature that is not free is to be in")?;
        let sizes = self.open_sizes(&fit, rows.iter().copied(), 0, most);
        for (j, row) in listed.into_iter().zip(rows) {
            if !sizes.iter().all(|t| fit.without(row) >= self.needs[*t]) {
                return Err(format!("nothing shows that feature {j} is in"));
            }
            self.decide(j, Choice::In)?;
        }
        Ok(())
    }

    /// All subsets with at most two more features than those that are in are fitted; fits on all members leave no larger size open.
    pub fn pairs(&mut self) -> Result<(), String> {
        let (members, inside) = (self.members(), self.inside);
        let (free, most) = (&members.free, self.largest(members.free.len()));
        let equations = self.equations(&members.all)?;
        self.needed(most);
        if most > inside + 2 {
            let fit = self.fitted(&equations, &members.all)?;
            if !self.open_sizes(&fit, self.free_rows(&equations, &fit), inside + 3, most).is_empty() {
                return Err("more than two features may be added".to_owned());
            }
        }
        let left = Left::new(&equations, &places(&equations, &members.inside)?, &places(&equations, free)?)?;
        self.counts.fits += 1;
        let is_none = inside > most || left.none_reaches(self.needs[inside]) || self.is_excepted(&[]);
        let singles = if most > inside { left.singles(self.needs[inside + 1]) } else { Vec::new() };
        let pairs = if most > inside + 1 { left.pairs(self.needs[inside + 2]) } else { Vec::new() };
        let are_listed = singles.iter().all(|a| self.is_excepted(&[free[*a]]))
            && pairs.iter().all(|(a, b)| self.is_excepted(&[free[*a], free[*b]]));
        match is_none && are_listed {
            true => {
                self.close();
                Ok(())
            }
            false => Err("a subset with at most two features more may be below what is claimed".to_owned()),
        }
    }
}
