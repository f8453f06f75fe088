//! The records, one after the other: a depth-first walk through the families of subsets (PROOF, "Records").

use crate::bound::{Anchor, Bound, Choice, bound};
use crate::coherence::Coherence;
use crate::fit::Equations;
use crate::header::{Header, sparse};
use crate::leaps::Forms;
use crate::lemma::{Lemma, Products};
use crate::loss::Loss;
use crate::model::Model;
use crate::round::up;
use crate::source::Source;
use std::io::Read;
use std::rc::Rc;

const SPLIT: u8 = 1;
const BOUND: u8 = 2;
const PSD: u8 = 3;
const SIZE: u8 = 4;
const LISTED: u8 = 5;
const END: u8 = 6;
const FIT: u8 = 7;
const PAIRS: u8 = 8;
const COHERENCE: u8 = 9;
const DEPENDENT: u8 = 10;
const COVERED: u8 = 11;

/// What the records came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Families that were divided.
    pub splits: usize,
    /// Bounds that were computed.
    pub bounds: usize,
    /// Lemmas that were proved.
    pub lemmas: usize,
    /// Fits on all features of a family, and looks at all pairs.
    pub fits: usize,
    /// Single subsets that hold an answer's and are no better than it.
    pub covered: usize,
    /// Bytes of the file.
    pub bytes: u64,
}

/// A family that waits while the other side of its split is looked at.
pub(crate) struct Waiting {
    /// Decisions that it shares with that side.
    pub(crate) decided: usize,
    feature: usize,
    side: Choice,
    lemma: Option<Rc<Lemma>>,
    pub(crate) forms: Forms,
}

/// The family that is looked at, and those that wait.
pub struct Tree<'a> {
    /// The problem, its prices and its claim as they are below a COHERENCE.
    pub(crate) header: Header,
    pub(crate) model: &'a Model,
    pub(crate) choices: Vec<Choice>,
    /// Features decided since the root, in order.
    pub(crate) decided: Vec<usize>,
    pub(crate) inside: usize,
    lemma: Option<Rc<Lemma>>,
    pub(crate) waiting: Vec<Waiting>,
    is_closed: bool,
    pub(crate) products: Products,
    pub(crate) equations: Option<Rc<Equations>>,
    /// What fits of the family are found from.
    pub(crate) forms: Forms,
    /// What fits must be, by the number of features.
    pub(crate) needs: Vec<f64>,
    /// What subsets that hold an answer's must be, by answers.
    covers: Vec<f64>,
    pub(crate) counts: Counts,
}

impl<'a> Tree<'a> {
    /// All subsets; a feature whose coefficient can only be zero is out.
    pub fn new(header: &Header, model: &'a Model, objectives: &[f64]) -> Self {
        // P of the answer less what the last may be off by.
        let last = objectives.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let cover = |own: &f64| up(up(own - last) + header.bound);
        let choice = |j: usize| {
            let penalty = header.penalty(j);
            if penalty.low == 0.0 && penalty.high == 0.0 { Choice::Out } else { Choice::Free }
        };
        Self {
            header: header.clone(),
            model,
            choices: (0..header.p()).map(choice).collect(),
            decided: Vec::new(),
            inside: 0,
            lemma: None,
            waiting: Vec::new(),
            is_closed: false,
            products: Products::default(),
            equations: None,
            forms: Forms::default(),
            needs: Vec::new(),
            covers: objectives.iter().map(cover).collect(),
            counts: Counts::default(),
        }
    }

    /// Follows all records; an error at the first that does not hold.
    pub fn follow<R: Read>(mut self, from: &mut Source<R>) -> Result<Counts, String> {
        loop {
            let (place, record) = (from.place(), from.byte()?);
            if record == END {
                return match self.is_closed {
                    true if from.is_at_end() => Ok(Counts { bytes: place + 1, ..self.counts }),
                    true => Err(format!("byte {}: there is more after the end", place + 1)),
                    false => Err(format!("byte {place}: the end, with {} families open", self.waiting.len() + 1)),
                };
            }
            if self.is_closed {
                return Err(format!("byte {place}: a record where no family is open"));
            }
            let step = match record {
                SPLIT => self.split(from),
                BOUND => self.bound(from),
                PSD => self.psd(from),
                SIZE => self.size(),
                LISTED => self.listed(),
                FIT => self.fit(from),
                PAIRS => self.pairs(),
                COHERENCE => self.coherence(from),
                DEPENDENT => self.dependent(),
                COVERED => self.covered(from),
                other => Err(format!("no record has the number {other}")),
            };
            step.map_err(|problem| format!("record at byte {place}: {problem}"))?;
        }
    }

    pub(crate) fn decide(&mut self, j: usize, choice: Choice) -> Result<(), String> {
        if self.choices[j] != Choice::Free {
            return Err(format!("feature {j} is decided already"));
        }
        self.choices[j] = choice;
        self.inside += usize::from(choice == Choice::In);
        self.decided.push(j);
        Ok(())
    }

    /// Goes on with the last family that waits.
    pub(crate) fn close(&mut self) {
        let Some(Waiting { decided, feature, side, lemma, forms }) = self.waiting.pop() else {
            self.is_closed = true;
            return;
        };
        for j in self.decided.drain(decided..) {
            self.inside -= usize::from(self.choices[j] == Choice::In);
            self.choices[j] = Choice::Free;
        }
        (self.lemma, self.forms) = (lemma, forms);
        self.choices[feature] = side;
        self.inside += usize::from(side == Choice::In);
        self.decided.push(feature);
    }

    /// The subsets with j and those without; which of them comes first.
    fn split<R: Read>(&mut self, from: &mut Source<R>) -> Result<(), String> {
        let (j, in_first) = (from.feature(self.header.p())?, from.flag()?);
        let (first, side) = if in_first { (Choice::In, Choice::Out) } else { (Choice::Out, Choice::In) };
        let (decided, lemma, forms) = (self.decided.len(), self.lemma.clone(), self.forms.clone());
        self.decide(j, first)?;
        self.waiting.push(Waiting { decided, feature: j, side, lemma, forms });
        self.counts.splits += 1;
        Ok(())
    }

    /// V of the family, at a point, with a lemma or without, and a price.
    fn value<R: Read>(&mut self, from: &mut Source<R>) -> Result<Bound, String> {
        let p = self.header.p();
        let (beta, uses_lemma, price) = (sparse(from, p)?, from.flag()?, from.usable()?);
        let lemma = if uses_lemma { self.lemma.clone() } else { None };
        if uses_lemma && lemma.is_none() {
            return Err("a bound by a lemma where there is none".to_owned());
        }
        if let Some(lemma) = &lemma
            && let Some((j, _)) = beta.iter().find(|c| lemma.of(c.0).is_none())
        {
            return Err(format!("a bound at a point with feature {j}, of which its lemma does not speak"));
        }
        if price < 0.0 || (price > 0.0 && self.header.size.is_none()) {
            return Err(format!("a price of {price} for the size"));
        }
        let anchor = Anchor { beta: &beta, lemma: lemma.as_deref(), price };
        self.counts.bounds += 1;
        Ok(bound(&self.header, self.model, &self.choices, &anchor))
    }

    /// V ≥ B closes the family; features are put in or out where V without them, or with them, is at least B.
    fn bound<R: Read>(&mut self, from: &mut Source<R>) -> Result<(), String> {
        let (p, found, wanted) = (self.header.p(), self.value(from)?, self.header.bound);
        if from.flag()? {
            return match found.value >= wanted {
                true => {
                    self.close();
                    Ok(())
                }
                false => Err(format!("the bound is {:e}, below the {wanted:e} that is claimed", found.value)),
            };
        }
        let inside = from.features(p)?;
        let are_kept = from.flag()?;
        let listed = from.features(p)?;
        let outside: Vec<usize> = match are_kept {
            false => listed,
            true => {
                let is_out = |j: &usize| listed.binary_search(j).is_err() && inside.binary_search(j).is_err();
                found.free.iter().map(|f| f.0).filter(is_out).collect()
            }
        };
        for j in inside {
            if !found.includes(j, wanted) {
                return Err(format!("nothing shows that feature {j} is in"));
            }
            self.decide(j, Choice::In)?;
        }
        for j in outside {
            if !found.excludes(j, wanted) {
                return Err(format!("nothing shows that feature {j} is out"));
            }
            self.decide(j, Choice::Out)?;
        }
        Ok(())
    }

    /// A lemma about all features that are not out, for this family and those it is divided into.
    fn psd<R: Read>(&mut self, from: &mut Source<R>) -> Result<(), String> {
        if self.header.loss != Loss::Squared {
            return Err("a lemma is about the squared loss".to_owned());
        }
        let features = from.features(self.header.p())?;
        let mut d = Vec::new();
        for _ in 0..features.len() {
            d.push(from.usable()?);
        }
        let is_missing = |j: &usize| self.choices[*j] != Choice::Out && features.binary_search(j).is_err();
        if let Some(j) = (0..self.choices.len()).find(is_missing) {
            return Err(format!("the lemma does not speak of feature {j}, which is not out"));
        }
        self.lemma = Some(Rc::new(Lemma::new(self.model, &mut self.products, features, d)?));
        self.counts.lemmas += 1;
        Ok(())
    }

    /// No subset with fewer than m₀ features outside Â is below B. Where none can have more, the family is closed; otherwise each of these
    /// is μ cheaper from here on, for all families, and B is m₀μ lower.
    fn coherence<R: Read>(&mut self, from: &mut Source<R>) -> Result<(), String> {
        let p = self.header.p();
        let beta = sparse(from, p)?;
        let mut rho = Vec::new();
        for _ in 0..beta.len() {
            rho.push(from.usable()?);
        }
        let (added, cheaper) = (from.whole()?, from.usable()?);
        if self.header.loss != Loss::Squared || rho.iter().any(|r| *r < 0.0) {
            return Err("coherence is one of the squared loss, with curvature that is not negative".to_owned());
        }
        let (header, products) = (&self.header, &mut self.products);
        let found = Coherence::new(header, self.model, products, &self.choices, (&beta, &rho), added)?;
        self.counts.bounds += 1;
        let ((fewest, most), wanted) = (found.range(), self.header.bound);
        for m in (fewest..=most).take_while(|m| *m < added) {
            let value = found.bound(m);
            let holds = value >= wanted;
            if !holds {
                return Err(format!(
                    "{m} features more have the bound {value:e}, below the {wanted:e} that is claimed"
                ));
            }
        }
        if added > most {
            self.close();
            return Ok(());
        }
        if !self.waiting.is_empty() {
            return Err("families wait, of which nothing is said about how many features they add".to_owned());
        }
        let is_outside = |j: usize| beta.binary_search_by_key(&j, |c| c.0).is_err();
        self.header.make_cheaper(is_outside, cheaper, added)?;
        self.needs.clear();
        Ok(())
    }

    /// With k features in, the others are out; with more there is no subset.
    fn size(&mut self) -> Result<(), String> {
        match self.header.size {
            Some(k) if self.inside > k => self.close(),
            Some(k) if self.inside == k => {
                let free: Vec<usize> = (0..self.choices.len()).filter(|&j| self.choices[j] == Choice::Free).collect();
                free.into_iter().try_for_each(|j| self.decide(j, Choice::Out))?;
            }
            _ => return Err("the size is not reached".to_owned()),
        }
        Ok(())
    }

    /// The family is one subset, which is an answer that the claim excepts.
    fn listed(&mut self) -> Result<(), String> {
        if !self.header.excepted {
            return Err("the claim excepts no answer".to_owned());
        }
        if self.choices.contains(&Choice::Free) {
            return Err("a family of more than one subset is no answer".to_owned());
        }
        if !self.is_answer(&[]) {
            return Err("the subset is not among the answers".to_owned());
        }
        self.close();
        Ok(())
    }

    /// All features of a set of whose subsets nothing is claimed are in.
    fn dependent(&mut self) -> Result<(), String> {
        if !self.is_dependent(&[]) {
            return Err("no set of features of which nothing is claimed is in".to_owned());
        }
        self.close();
        Ok(())
    }

    /// The family is one subset, which holds that of an answer and has V at least what it is to be.
    fn covered<R: Read>(&mut self, from: &mut Source<R>) -> Result<(), String> {
        let place = from.whole()?;
        let answer =
            self.header.answers.get(place).filter(|_| self.header.excepted).ok_or("there is no such answer")?;
        let holds = answer.len() < self.inside && answer.iter().all(|c| self.choices[c.0] == Choice::In);
        if !holds || self.choices.contains(&Choice::Free) {
            return Err("this is no single subset that holds the answer's".to_owned());
        }
        let (found, wanted) = (self.value(from)?.value, self.covers[place]);
        let is_reached = found >= wanted;
        if !is_reached {
            return Err(format!("the bound is {found:e}, below the {wanted:e} of an answer that the subset holds"));
        }
        self.counts.covered += 1;
        self.close();
        Ok(())
    }

    /// Whether nothing is claimed of the features that are in and these: an answer that is excepted, or more than a set that is.
    pub(crate) fn is_excepted(&self, more: &[usize]) -> bool {
        self.is_answer(more) || self.is_dependent(more)
    }

    fn is_in(&self, j: usize, more: &[usize]) -> bool {
        self.choices[j] == Choice::In || more.contains(&j)
    }

    fn is_dependent(&self, more: &[usize]) -> bool {
        self.header.dependent.iter().any(|set| set.iter().all(|&j| self.is_in(j, more)))
    }

    fn is_answer(&self, more: &[usize]) -> bool {
        let is_this = |answer: &Vec<(usize, f64)>| {
            answer.len() == self.inside + more.len() && answer.iter().all(|c| self.is_in(c.0, more))
        };
        self.header.excepted && self.header.answers.iter().any(is_this)
    }
}
