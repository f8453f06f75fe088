//! Sums that keep what rounding takes away.

/// A sum that carries its own rounding along (MATH 12.1; Neumaier): exact to a few units in the last place of the result and of
/// Σ |terms| · ε².
#[derive(Default)]
pub(crate) struct CompensatedSum {
    high: f64,
    low: f64,
}

impl CompensatedSum {
    pub(crate) fn add(&mut self, x: f64) {
        let total = self.high + x;
        self.low += if self.high.abs() >= x.abs() { (self.high - total) + x } else { (x - total) + self.high };
        self.high = total;
    }

    /// Adds xy with what its rounding leaves.
    pub(crate) fn add_product(&mut self, x: f64, y: f64) {
        let product = x * y;
        self.add(product);
        if product.is_finite() {
            self.low += x.mul_add(y, -product);
        }
    }

    pub(crate) fn value(&self) -> f64 {
        self.high + self.low
    }

    /// The value, and what it lacks.
    pub(crate) fn split(&self) -> (f64, f64) {
        let value = self.value();
        (value, (self.high - value) + self.low)
    }
}

/// Σ x_i, accurate also when the terms cancel.
pub(crate) fn accurate_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let mut sum = CompensatedSum::default();
    terms.for_each(|x| sum.add(x));
    sum.value()
}
