//! Families bounded by fits alone (PROOF, "FIT", "PAIRS"): leaps and bounds.

use crate::bound::Choice;
use crate::fit::{Equations, MOST_FITTED};
use crate::form::Form;
use crate::loss::Loss;
use crate::round::{down, up};
use crate::source::Source;
use crate::tree::Tree;
use std::io::Read;
use std::rc::Rc;

/// What fits of a family are found from, made for it or for one that holds it.
#[derive(Clone, Default)]
pub struct Forms {
    /// Inner products, those that are in eliminated: fits of what is in and one or two features more.
    gains: Option<Rc<Form>>,
    /// Their inverse, those that are out eliminated: fits of all members, and of all but one.
    costs: Option<Rc<Form>>,
}

impl Tree<'_> {
    /// Equations that hold the features which were not out after so many decisions, and the places of these.
    fn equations(&mut self, decided: usize) -> Result<(Rc<Equations>, Vec<usize>), String> {
        let p = self.header.p();
        let is_member = |j: &usize| self.choices[*j] != Choice::Out || self.decided[decided..].contains(j);
        let members: Vec<usize> = (0..p).filter(is_member).collect();
        if let Some(known) = &self.equations
            && let Some(places) = known.places(&members)
        {
            return Ok((known.clone(), places));
        }
        let features = if p <= MOST_FITTED { (0..p).collect() } else { members.clone() };
        let made = Rc::new(Equations::new(self.header, self.model, &mut self.products, features)?);
        self.equations = Some(made.clone());
        let places = made.places(&members).ok_or("a member is missing")?;
        Ok((made, places))
    }

    /// The inverse with what is out eliminated; where it is asked for anew, that of the members alone, with no rounding of others.
    fn costs(&mut self, is_new: bool) -> Result<Rc<Form>, String> {
        if is_new || self.forms.costs.is_none() {
            let shared = if is_new { None } else { self.shared_inverse() };
            self.forms.costs = Some(shared.map_or_else(|| self.inverse(self.decided.len()), Ok)?);
        }
        let form = self.forms.costs.as_mut().ok_or("no inverse")?;
        if form.is_behind(&self.choices, &[Choice::Out]) {
            Rc::make_mut(form).settle(&self.choices, Choice::Out)?;
        }
        Ok(form.clone())
    }

    fn inverse(&mut self, decided: usize) -> Result<Rc<Form>, String> {
        let (equations, places) = self.equations(decided)?;
        Ok(Rc::new(equations.inverse(&places)?))
    }

    /// One inverse for all families that wait without one and for this one, which they hold; `None` where there is none.
    fn shared_inverse(&mut self) -> Option<Rc<Form>> {
        let first = self.waiting.iter().position(|w| w.forms.costs.is_none())?;
        let made = self.inverse(self.waiting[first].decided).ok()?;
        self.waiting[first..].iter_mut().for_each(|w| {
            w.forms.costs.get_or_insert_with(|| made.clone());
        });
        Some(made)
    }

    /// Inner products with what is in eliminated, of the free features.
    fn gains(&mut self) -> Result<Rc<Form>, String> {
        if self.forms.gains.is_none() {
            let (equations, places) = self.equations(self.decided.len())?;
            self.forms.gains = Some(Rc::new(equations.form(&places)));
        }
        let form = self.forms.gains.as_mut().ok_or("no inner products")?;
        if form.is_behind(&self.choices, &[Choice::In, Choice::Out]) {
            Rc::make_mut(form).settle(&self.choices, Choice::In)?;
        }
        Ok(form.clone())
    }

    /// Brings all up to date once fits are asked for: both sides of a split go on from it.
    pub fn settle(&mut self) {
        if self.equations.is_some() && self.gains().is_err() {
            self.forms.gains = None;
        }
        if self.equations.is_some() && self.costs(false).is_err() {
            self.forms.costs = None;
        }
    }

    /// c_t of (P11): at least what a fit must be for no subset of t features to be below B, for t up to the most.
    fn needed(&mut self, most: usize) -> Result<(), String> {
        if self.header.loss != Loss::Squared {
            return Err("a fit is one of the squared loss".to_owned());
        }
        if self.needs.len() > most {
            return Ok(());
        }
        let least = (0..self.header.p()).map(|j| self.header.penalty(j).l0).fold(f64::INFINITY, f64::min);
        for t in self.needs.len()..=most {
            let fit = up(2.0 * up(self.header.bound - down(least * t as f64).max(0.0))).max(0.0);
            let norm = up(up(fit.sqrt()) + self.model.y_error);
            self.needs.push(if fit > 0.0 { up(norm * norm) } else { 0.0 });
        }
        Ok(())
    }

    /// The largest size that a subset of the family may have.
    fn largest(&self) -> usize {
        let free = self.choices.iter().filter(|c| **c == Choice::Free).count();
        (self.inside + free).min(self.header.size.unwrap_or(usize::MAX))
    }

    /// The sizes that (P11) leaves of these, by the fits without the features at these places.
    fn open_sizes(&self, form: &Form, places: impl Iterator<Item = usize>, sizes: &[usize]) -> Vec<usize> {
        let reaches = |inverse: f64, t: usize| up(inverse * self.needs[t]) <= 1.0;
        let is_open = |t: &&usize| !reaches(form.with_all(), **t);
        let mut left: Vec<(usize, usize)> = sizes.iter().filter(is_open).map(|t| (*t, t - self.inside)).collect();
        for place in places {
            if left.is_empty() {
                break;
            }
            let inverse = form.without(place);
            // One feature more that a subset of that size cannot lack, while there is room for it.
            left.retain_mut(|(t, room)| {
                let is_dear = reaches(inverse, *t);
                let is_left = !is_dear || *room > 0;
                *room -= usize::from(is_dear && *room > 0);
                is_left
            });
        }
        left.into_iter().map(|(t, _)| t).collect()
    }

    /// The first size from `least` on that may hold a subset below B.
    fn first_open(&mut self, least: usize, most: usize) -> Result<Option<usize>, String> {
        let sizes: Vec<usize> = (least.max(self.inside)..=most).filter(|t| self.needs[*t] > 0.0).collect();
        if sizes.is_empty() {
            return Ok(None);
        }
        let mut form = self.costs(false)?;
        loop {
            let is_free = |a: &usize| self.choices[form.features[*a]] == Choice::Free;
            let open = self.open_sizes(&form, (0..form.features.len()).filter(is_free), &sizes);
            if open.is_empty() || form.eliminated == 0 {
                return Ok(open.first().copied());
            }
            form = self.costs(true)?;
        }
    }

    /// Fits on all members, and on all but one, leave no size open, or show that features are in.
    pub fn fit<R: Read>(&mut self, from: &mut Source<R>) -> Result<(), String> {
        let most = self.largest();
        self.needed(most)?;
        self.counts.fits += 1;
        if !from.flag()? {
            return self.fit_inside(from, most);
        }
        match self.first_open(0, most)? {
            None => {
                self.close();
                Ok(())
            }
            Some(t) => Err(format!("fits do not close the subsets of {t} features")),
        }
    }

    /// Each feature listed is too dear to leave out at every size that is left.
    fn fit_inside<R: Read>(&mut self, from: &mut Source<R>, most: usize) -> Result<(), String> {
        let listed = from.features(self.header.p())?;
        if listed.iter().any(|&j| self.choices[j] != Choice::Free) {
            return Err("a feature that is not free is to be in".to_owned());
        }
        let sizes: Vec<usize> = (self.inside..=most).filter(|t| self.needs[*t] > 0.0).collect();
        let mut form = self.costs(false)?;
        loop {
            let place = |j: &usize| form.features.iter().position(|k| k == j);
            let places: Vec<usize> = listed.iter().map(place).collect::<Option<_>>().ok_or("a feature is missing")?;
            let open = self.open_sizes(&form, places.iter().copied(), &sizes);
            let is_dear = |a: &usize| open.iter().all(|t| up(form.without(*a) * self.needs[*t]) <= 1.0);
            match (places.iter().position(|a| !is_dear(a)), form.eliminated) {
                (None, _) => return listed.into_iter().try_for_each(|j| self.decide(j, Choice::In)),
                (Some(place), 0) => return Err(format!("nothing shows that feature {} is in", listed[place])),
                (Some(_), _) => form = self.costs(true)?,
            }
        }
    }

    /// All subsets with at most two more features than those that are in are fitted; fits on all members leave no larger size open.
    pub fn pairs(&mut self) -> Result<(), String> {
        let (inside, most) = (self.inside, self.largest());
        self.needed(most.max(inside))?;
        self.counts.fits += 1;
        if self.first_open(inside + 3, most)?.is_some() {
            return Err("more than two features may be added".to_owned());
        }
        let left = Some(self.gains()?).filter(|form| form.is_definite()).ok_or("features depend on each other")?;
        let is_none = inside > most || left.none_reaches(self.needs[inside]) || self.is_excepted(&[]);
        let singles = if most > inside { left.singles(self.needs[inside + 1]) } else { Vec::new() };
        let pairs = if most > inside + 1 { left.pairs(self.needs[inside + 2]) } else { Vec::new() };
        let feature = |a: usize| left.features[a];
        let are_listed = singles.iter().all(|a| self.is_excepted(&[feature(*a)]))
            && pairs.iter().all(|(a, b)| self.is_excepted(&[feature(*a), feature(*b)]));
        match is_none && are_listed {
            true => {
                self.close();
                Ok(())
            }
            false => Err("a subset with at most two features more may be below what is claimed".to_owned()),
        }
    }
}
