//! Rounding, bounded beforehand (PROOF, "Rounding"). Scalars are rounded outwards: the neighbour of a correctly rounded result is beyond the
//! exact one. Sums of products in any order are off by γ of the sum of their sizes.

/// u = 2⁻⁵³: one operation is off by at most this share of its result.
pub const U: f64 = f64::EPSILON / 2.0;

/// Numbers of a problem and of a proof are zero or lie between the two in size: products of four of them do not underflow.
pub const LEAST: f64 = 1e-60;
/// See [`LEAST`].
pub const MOST: f64 = 1e60;

/// Whether a number is one that sums can be bounded of.
pub fn is_usable(x: f64) -> bool {
    x == 0.0 || (LEAST..=MOST).contains(&x.abs())
}

/// At most the exact result of the operation that rounded to x.
pub fn down(x: f64) -> f64 {
    x.next_down()
}

/// At least the exact result of the operation that rounded to x.
pub fn up(x: f64) -> f64 {
    x.next_up()
}

/// At least γ_m = mu/(1 − mu), for m < 2⁴⁰.
pub fn gamma(m: usize) -> f64 {
    let mu = m as f64 * U;
    up(up(mu) / down(1.0 - mu))
}

/// At most and at least log x of a positive number that is not subnormal: 16u of itself on either side (PROOF, "Other losses").
///
/// x = 2ᵉm with m between √½ and √2, log m = 2z(1 + z²/3 + z⁴/5 + …), z = (m − 1)/(m + 1).
pub fn ln(x: f64) -> (f64, f64) {
    let is_normal = x.is_normal() && x > 0.0;
    if !is_normal {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    let bits = x.to_bits();
    let mut e = ((bits >> 52) as i32 - 1023) as f64;
    let mut m = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if m > std::f64::consts::SQRT_2 {
        (m, e) = (0.5 * m, e + 1.0);
    }
    let z = (m - 1.0) / (m + 1.0);
    let w = z * z;
    let series = (0..TERMS).rev().fold(0.0, |sum, k| sum * w + 1.0 / (2 * k + 1) as f64);
    let found = e * std::f64::consts::LN_2 + 2.0 * z * series;
    let off = found.abs() * (16.0 * U);
    (down(found - off), up(found + off))
}

/// Terms of the series of [`ln`]: z² ≤ 0.0295, what is left out is below 10⁻¹⁸ of the sum.
const TERMS: u32 = 11;

/// Σ a_ib_i in eight sums side by side, off by γ_n Σ|a_ib_i| like any order.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (of_a, of_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = of_a.remainder().iter().zip(of_b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in of_a.zip(of_b) {
        for k in 0..8 {
            sums[k] += x[k] * y[k];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// out += a x.
pub fn axpy(a: f64, x: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(x).for_each(|(o, x)| *o += a * x);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_neighbours_enclose_the_exact_result() {
        // 0.1 · 0.1 and 1/3 are no numbers; what is beyond the largest one is at least that.
        assert!(down(0.1 * 0.1) < 0.1 * 0.1 && up(1.0 / 3.0) > 1.0 / 3.0);
        assert_eq!(down(f64::MAX * 2.0), f64::MAX);
        assert!(gamma(10) > 10.0 * U && gamma(10) < 10.01 * U);
    }

    /// Against the platform's logarithm, which is good to one unit in the last place.
    #[test]
    fn logarithms_lie_between_their_bounds() {
        for k in 0..20000 {
            let x = (f64::from(k) * 0.07 - 700.0).exp() * (1.0 + f64::from(k % 97) * 0.013);
            for x in [x, 1.0 + f64::from(k) * U * 2.0, 1.0 - f64::from(k) * U, 0.7 + f64::from(k) * 4e-5] {
                let (low, high) = ln(x);
                let truth = x.ln();
                assert!(low <= truth.next_up() && high >= truth.next_down(), "{x}: {low} {truth} {high}");
                assert!(high - low <= 40.0 * U * truth.abs() + 1e-300, "{x}");
            }
        }
        assert_eq!(ln(1.0), (-5e-324, 5e-324));
        assert_eq!(ln(0.0), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(ln(-1.0).1, f64::INFINITY);
        assert_eq!(ln(f64::NAN).1, f64::INFINITY);
    }

    #[test]
    fn a_sum_of_products_is_that_of_the_definition() {
        let (a, b): (Vec<f64>, Vec<f64>) = (0..21).map(|i| (f64::from(i), f64::from(i % 5))).unzip();
        assert_eq!(dot(&a, &b), a.iter().zip(&b).map(|(x, y)| x * y).sum::<f64>());
    }
}
