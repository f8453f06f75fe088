//! The best subsets found so far, and what a subset must beat.

/// The best subset of each size 0..=most, by its fit; with a price, sizes compete.
#[derive(Debug, Clone)]
pub struct Incumbents {
    /// λ0, when only the best of fit(T) + λ0|T| is wanted.
    price: Option<f64>,
    found: Vec<Found>,
    /// With a price: the least fit(T) + λ0|T|.
    least: f64,
}

/// A subset with its fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// fit(T), +∞ when there is none.
    pub fit: f64,
    /// T, as positions.
    pub members: Vec<u32>,
}

impl Incumbents {
    /// Knows the empty subset only.
    pub fn new(most: usize, price: Option<f64>, empty: f64) -> Self {
        let mut found = vec![Found { fit: f64::INFINITY, members: Vec::new() }; most + 1];
        found[0].fit = empty;
        Self { price, found, least: empty }
    }

    /// The largest size.
    pub fn most(&self) -> usize {
        self.found.len() - 1
    }

    /// A subset of this size is better when its fit is below. At a price it falls with the size.
    pub fn threshold(&self, size: usize) -> f64 {
        match self.price {
            None => self.found[size].fit,
            Some(price) => self.least - price * size as f64,
        }
    }

    /// Takes over S ∪ `extra` if it is better than what is known.
    pub fn offer(&mut self, fit: f64, inside: &[u32], extra: &[u32]) {
        let size = inside.len() + extra.len();
        if size <= self.most() && fit < self.found[size].fit {
            let mut members = [inside, extra].concat();
            members.sort_unstable();
            self.found[size] = Found { fit, members };
            self.least = self.least.min(self.cost(size));
        }
    }

    /// Takes over whatever another search has found that is better.
    pub fn merge(&mut self, other: Self) {
        other.found.into_iter().for_each(|found| self.offer(found.fit, &found.members, &[]));
    }

    /// The best of this size.
    pub fn best(&self, size: usize) -> &Found {
        &self.found[size]
    }

    /// λ0, if sizes compete.
    pub fn price(&self) -> Option<f64> {
        self.price
    }

    /// fit(T) + λ0|T| of the best of this size.
    pub fn cost(&self, size: usize) -> f64 {
        self.found[size].fit + self.price.unwrap_or(0.0) * size as f64
    }

    /// The size of least cost, the smallest of equals.
    pub fn cheapest(&self) -> usize {
        (0..=self.most()).reduce(|a, t| if self.cost(t) < self.cost(a) { t } else { a }).unwrap_or(0)
    }
}
