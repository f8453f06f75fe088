//! Families bounded by fits alone (PROOF, "FIT", "PAIRS"): leaps and bounds.

use crate::bound::Choice;
use crate::fit::{Equations, MOST_FITTED};
use crate::form::Form;
use crate::loss::Loss;
use crate::round::{down, up};
use crate::source::Source;
use crate::tree::{Tree, Waiting};
use std::io::Read;
use std::rc::Rc;

/// A form, and how many of the decisions since the root it has seen.
#[derive(Clone)]
pub struct Seen {
    form: Rc<Form>,
    decided: usize,
}

/// What fits of a family are found from, made for it or for one that holds it.
#[derive(Clone, Default)]
pub struct Forms {
    /// Inner products, those that are in eliminated: fits of what is in and one or two features more.
    gains: Option<Seen>,
    /// Their inverse, those that are out eliminated: fits of all members, and of all but one.
    costs: Option<Seen>,
}

impl Forms {
    fn of(&mut self, gone: Choice) -> &mut Option<Seen> {
        if gone == Choice::In { &mut self.gains } else { &mut self.costs }
    }
}

/// The one that has seen more.
fn later(a: Option<Seen>, b: Option<Seen>) -> Option<Seen> {
    let seen = |one: &Option<Seen>| one.as_ref().map(|s| s.decided);
    if seen(&a) > seen(&b) { a } else { b }
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
        let made = Rc::new(Equations::new(&self.header, self.model, &mut self.products, features)?);
        self.equations = Some(made.clone());
        let places = made.places(&members).ok_or("a member is missing")?;
        Ok((made, places))
    }

    /// The inverse with what is out eliminated; where it is asked for anew, that of the members alone, with no rounding of others.
    fn costs(&mut self, is_new: bool) -> Result<Rc<Form>, String> {
        if is_new {
            let decided = self.decided.len();
            self.forms.costs = Some(Seen { form: self.inverse(decided)?, decided });
        }
        self.brought_up(Choice::Out)
    }

    fn inverse(&mut self, decided: usize) -> Result<Rc<Form>, String> {
        let (equations, places) = self.equations(decided)?;
        Ok(Rc::new(equations.inverse(&self.header, self.model, &places)?))
    }

    /// A form of the features that were not out after so many decisions, which has seen these.
    fn made(&mut self, gone: Choice, decided: usize) -> Result<Seen, String> {
        if gone == Choice::Out {
            return Ok(Seen { form: self.inverse(decided)?, decided });
        }
        let (equations, places) = self.equations(decided)?;
        let mut form = equations.form(&places);
        form.settle(&self.decided[..decided], &self.choices, gone)?;
        Ok(Seen { form: Rc::new(form), decided })
    }

    /// The family's form once it has seen all decisions. Those of the families that wait see theirs on the way, from the last on that
    /// has: what is eliminated for one is there for all below.
    fn brought_up(&mut self, gone: Choice) -> Result<Rc<Form>, String> {
        let is_current = |w: &mut Waiting| w.forms.of(gone).as_ref().is_some_and(|seen| seen.decided == w.decided);
        let first = self.waiting.iter_mut().rposition(is_current).map_or(0, |k| k + 1);
        let mut last = first.checked_sub(1).and_then(|k| self.waiting[k].forms.of(gone).clone());
        for k in first..self.waiting.len() {
            let decided = self.waiting[k].decided;
            let own = self.waiting[k].forms.of(gone).take();
            // Where the first has none, columns depend on each other: fewer may not.
            last = match later(last, own) {
                None if k > first => None,
                from => self.seeing(from, gone, decided).ok(),
            };
            self.waiting[k].forms.of(gone).clone_from(&last);
        }
        let (own, decided) = (self.forms.of(gone).take(), self.decided.len());
        let seen = self.seeing(later(last, own), gone, decided)?;
        *self.forms.of(gone) = Some(seen.clone());
        Ok(seen.form)
    }

    /// A form that has seen so many decisions, from one that has seen fewer or from the beginning.
    fn seeing(&mut self, from: Option<Seen>, gone: Choice, decided: usize) -> Result<Seen, String> {
        let Some(Seen { mut form, decided: before }) = from else { return self.made(gone, decided) };
        if before < decided {
            Rc::make_mut(&mut form).settle(&self.decided[before..decided], &self.choices, gone)?;
        }
        Ok(Seen { form, decided })
    }

    /// Inner products with what is in eliminated, of the free features.
    fn gains(&mut self) -> Result<Rc<Form>, String> {
        self.brought_up(Choice::In)
    }

    /// √c_t of (P11) but for ‖ι_y‖: at least the length a fit must have for no subset of t features to be below B, for t up to the most.
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
            self.needs.push(if fit > 0.0 { up(fit.sqrt()) } else { 0.0 });
        }
        Ok(())
    }

    /// c_t of (P11).
    fn square(&self, t: usize) -> f64 {
        let length = up(self.needs[t] + self.model.y_error);
        if self.needs[t] > 0.0 { up(length * length) } else { 0.0 }
    }

    /// The largest size that a subset of the family may have.
    fn largest(&self) -> usize {
        let free = self.choices.iter().filter(|c| **c == Choice::Free).count();
        (self.inside + free).min(self.header.size.unwrap_or(usize::MAX))
    }

    /// The sizes that (P11) leaves of these, by the fits without the features at these places.
    fn open_sizes(&self, form: &Form, places: impl Iterator<Item = usize>, sizes: &[usize]) -> Vec<usize> {
        let reaches = |about: f64, t: usize| form.reaches(about, self.needs[t]);
        let is_open = |t: &&usize| !reaches(form.with_all(), **t);
        let mut left: Vec<(usize, usize)> = sizes.iter().filter(is_open).map(|t| (*t, t - self.inside)).collect();
        for place in places {
            if left.is_empty() {
                break;
            }
            let about = form.without(place);
            // One feature more that a subset of that size cannot lack, while there is room for it.
            left.retain_mut(|(t, room)| {
                let is_dear = reaches(about, *t);
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
            let is_dear = |a: &usize| open.iter().all(|t| form.reaches(form.without(*a), self.needs[*t]));
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
        let is_none = inside > most || left.none_reaches(self.square(inside)) || self.is_excepted(&[]);
        let singles = if most > inside { left.singles(self.square(inside + 1)) } else { Vec::new() };
        let pairs = if most > inside + 1 { left.pairs(self.square(inside + 2)) } else { Vec::new() };
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
