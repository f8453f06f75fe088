//! The best subsets found so far, and what a subset must beat.

use crate::file::float;
use serde::{Deserialize, Serialize};

/// The best subset of each size 0..=most, by its fit; with a price, sizes compete.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incumbents {
    /// λ0, when only the best of fit(S) + λ0|S| are wanted.
    price: Option<f64>,
    found: Vec<Contender>,
    /// With a price: how many of the least fit(S) + λ0|S| are wanted.
    top: usize,
    /// Those known, least first.
    ranked: Vec<Contender>,
    /// How far apart two fits must be for rounding not to have exchanged them.
    #[serde(default)]
    doubt: f64,
    /// Without a price: subsets other than the best of their size that may be better but for rounding; none where there are too many.
    #[serde(default)]
    doubtful: Option<Vec<Contender>>,
}

/// The most subsets that are kept to be looked at again.
const DOUBTFUL: usize = 200;

/// A subset with its fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    /// fit(S), +∞ when there is none.
    #[serde(with = "float")]
    pub fit: f64,
    /// S, as positions.
    pub members: Vec<u32>,
}

impl Incumbents {
    /// Knows the empty subset only.
    pub fn new(most: usize, price: Option<f64>, empty: f64) -> Self {
        let mut found = vec![Contender { fit: f64::INFINITY, members: Vec::new() }; most + 1];
        found[0].fit = empty;
        let ranked = if price.is_some() { found[..1].to_vec() } else { Vec::new() };
        Self { price, found, top: 1, ranked, doubt: 0.0, doubtful: Some(Vec::new()) }
    }

    /// Wants the best `top` ≥ 1 subsets, for which a price must be given.
    pub fn with_top(self, top: usize) -> Self {
        Self { top, ..self }
    }

    /// Keeps the subsets whose fits are not told from the best by more than `doubt`.
    pub fn with_doubt(self, doubt: f64) -> Self {
        Self { doubt, ..self }
    }

    /// The best of this size and those that are not told from it; `None` where there were too many to keep.
    pub fn contenders(&self, size: usize) -> Option<Vec<&Contender>> {
        let (best, doubtful) = (&self.found[size], self.doubtful.as_ref()?);
        let near =
            |f: &&Contender| f.members.len() == size && f.fit < best.fit + self.doubt && f.members != best.members;
        Some([best].into_iter().chain(doubtful.iter().filter(near)).collect())
    }

    /// Keeps a subset of the size of another, if it is near enough.
    fn keep_doubtful(&mut self, fit: f64, mut members: Vec<u32>) {
        let best = &self.found[members.len()];
        members.sort_unstable();
        let Some(doubtful) = &mut self.doubtful else { return };
        if fit >= best.fit + self.doubt || members == best.members || doubtful.iter().any(|f| f.members == members) {
            return;
        }
        doubtful.retain(|f| f.fit < self.found[f.members.len()].fit + self.doubt);
        doubtful.push(Contender { fit, members });
        if doubtful.len() > DOUBTFUL {
            self.doubtful = None;
        }
    }

    /// Whether subsets are wanted besides the best.
    pub fn wants_several(&self) -> bool {
        self.top > 1
    }

    /// The best subsets at the price, least first.
    pub fn ranked(&self) -> &[Contender] {
        &self.ranked
    }

    fn cost_of(&self, fit: f64, size: usize) -> f64 {
        fit + self.price.unwrap_or(0.0) * size as f64
    }

    /// The cost that a subset must be below to be among the wanted ones.
    fn limit(&self) -> f64 {
        self.ranked.get(self.top - 1).map_or(f64::INFINITY, |last| self.cost_of(last.fit, last.members.len()))
    }

    /// The largest size.
    pub fn most(&self) -> usize {
        self.found.len() - 1
    }

    /// A subset of this size is better when its fit is below: the best one known, or P̂ − λ0k at a price (MATH 11.32).
    pub fn threshold(&self, size: usize) -> f64 {
        match self.price {
            None => self.found[size].fit,
            Some(price) => self.limit() - price * size as f64,
        }
    }

    /// Takes over I ∪ `extra` if it is better than what is known.
    pub fn offer(&mut self, fit: f64, inside: &[u32], extra: &[u32]) {
        let size = inside.len() + extra.len();
        let ranks = self.price.is_some() && self.cost_of(fit, size) < self.limit();
        if size > self.most() {
            return;
        }
        if !(ranks || fit < self.found[size].fit) {
            if self.price.is_none() && fit < self.found[size].fit + self.doubt {
                self.keep_doubtful(fit, [inside, extra].concat());
            }
            return;
        }
        let mut members = [inside, extra].concat();
        members.sort_unstable();
        let found = Contender { fit, members };
        if ranks && self.ranked.iter().all(|known| known.members != found.members) {
            self.rank(found.clone());
        }
        if fit < self.found[size].fit {
            let before = std::mem::replace(&mut self.found[size], found);
            if self.price.is_none() && before.members.len() == size {
                self.keep_doubtful(before.fit, before.members);
            }
        }
    }

    fn rank(&mut self, found: Contender) {
        let cost = |f: &Contender| self.cost_of(f.fit, f.members.len());
        let place = self.ranked.partition_point(|known| cost(known) <= cost(&found));
        self.ranked.insert(place, found);
        self.ranked.truncate(self.top);
    }

    /// Takes over whatever another search has found that is better.
    pub fn merge(&mut self, other: Self) {
        self.doubtful = self.doubtful.take().filter(|_| other.doubtful.is_some());
        let all = other.ranked.into_iter().chain(other.found).chain(other.doubtful.into_iter().flatten());
        all.for_each(|found| self.offer(found.fit, &found.members, &[]));
    }

    /// Every position in a subset that is known.
    pub fn members(&self) -> impl Iterator<Item = &u32> {
        self.ranked.iter().chain(&self.found).flat_map(|found| &found.members)
    }

    /// The best of this size.
    pub fn best(&self, size: usize) -> &Contender {
        &self.found[size]
    }

    /// λ0, if sizes compete.
    pub fn price(&self) -> Option<f64> {
        self.price
    }

    /// fit(S) + λ0|S| of the best of this size.
    pub fn cost(&self, size: usize) -> f64 {
        self.cost_of(self.found[size].fit, size)
    }

    /// The size of least cost, the smallest of equals.
    pub fn cheapest(&self) -> usize {
        (0..=self.most()).reduce(|a, t| if self.cost(t) < self.cost(a) { t } else { a }).unwrap_or(0)
    }
}
