//! Columns rounded to integers of sixteen bits, whose inner products are exact in thirty-two: on processors that multiply and add pairs of them
//! some three times as many a second as in single precision (n = 1000, one core: 90 to 160 · 10⁹ multiplications a second, 52 · 10⁹ by a library of
//! linear algebra).

use std::ops::Range;

/// Numbers that any instruction takes at once.
const LANES: usize = 32;

/// Lengths up to this have products below 2³¹: by Cauchy and Schwarz no sum of a part of them is larger either.
const LONGEST: f64 = 46_300.0;

/// Columns x ≈ unit · x̃ of about one length, with x̃ in integers, filled up with zeros.
pub struct IntegerColumns {
    values: Vec<i16>,
    stride: usize,
    units: Vec<f32>,
    /// ‖x‖ of the longest, at least.
    longest: f64,
    /// ‖x − unit · x̃‖ at the most.
    lost: f64,
}

/// One column in integers.
struct IntegerColumn {
    unit: f32,
    length: f64,
    lost: f64,
}

impl IntegerColumns {
    /// Nothing where there is no fast way to multiply them, or a column has a number that is none.
    pub fn new<'x>(n: usize, columns: impl ExactSizeIterator<Item = &'x [f32]>) -> Option<Self> {
        let most = LONGEST - 0.5 * (n as f64).sqrt();
        if !are_fast() || most < 0.5 * LONGEST {
            return None;
        }
        let stride = n.next_multiple_of(LANES);
        let mut values = vec![0; stride * columns.len()];
        let each: Option<Vec<IntegerColumn>> =
            columns.zip(values.chunks_mut(stride.max(1))).map(|(x, out)| rounded(x, most, out)).collect();
        let each = each?;
        let largest = |of: fn(&IntegerColumn) -> f64| each.iter().map(of).fold(0.0, f64::max);
        let (longest, lost) = (largest(|c| c.length), largest(|c| c.lost));
        Some(Self { values, stride, units: each.iter().map(|c| c.unit).collect(), longest, lost })
    }

    /// |xᵀy − x̃ᵀỹ · units| ≤ ‖x‖ lost_y + lost_x ‖y‖ + lost_x lost_y (MATH 13.1), and what single precision does to the result.
    pub fn error(&self, other: &Self) -> f64 {
        let (x, y) = (self.longest + self.lost, other.longest + other.lost);
        1.001 * (x * other.lost + self.lost * y) + 4.0 * f64::from(f32::EPSILON) * x * y
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.units.len()
    }

    fn column(&self, k: usize) -> &[i16] {
        &self.values[k * self.stride..(k + 1) * self.stride]
    }
}

/// x̃ with a length of at most `most` + ½√n and no entry beyond sixteen bits.
fn rounded(x: &[f32], most: f64, out: &mut [i16]) -> Option<IntegerColumn> {
    let (mut square, mut largest) = (0.0, 0.0f64);
    for &x in x {
        square += f64::from(x).powi(2);
        largest = largest.max(f64::from(x).abs());
    }
    let length = square.sqrt() * (1.0 + 1e-9);
    let unit = (length / most).max(largest / f64::from(i16::MAX)) * (1.0 + 1e-6);
    // A column of zeros, or of next to nothing, is lost as a whole: products of such units have too few digits.
    let unit = if unit > 1e-15 { unit as f32 } else { 1.0 };
    if !(length.is_finite() && unit.is_finite()) {
        return None;
    }
    let mut lost = 0.0;
    for (&x, out) in x.iter().zip(out) {
        let x = f64::from(x);
        *out = (x / f64::from(unit)).round_ties_even() as i16;
        lost += (x - f64::from(*out) * f64::from(unit)).powi(2);
    }
    Some(IntegerColumn { unit, length, lost: lost.sqrt() * (1.0 + 1e-9) })
}

/// Products of each of some columns of `left` with each of some of `right`, those of one of `left` side by side.
pub fn products(
    left: &IntegerColumns,
    rows: Range<usize>,
    right: &IntegerColumns,
    columns: Range<usize>,
    out: &mut [f32],
) {
    let task = ProductsAsked { left, rows, right, columns, out };
    #[cfg(target_arch = "x86_64")]
    x86::run(task);
    #[cfg(not(target_arch = "x86_64"))]
    unreachable!("{} integers are made where they are multiplied alone", task.rows.len());
}

struct ProductsAsked<'a> {
    left: &'a IntegerColumns,
    rows: Range<usize>,
    right: &'a IntegerColumns,
    columns: Range<usize>,
    out: &'a mut [f32],
}

/// Whether the processor multiplies and adds pairs.
pub fn are_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::are_fast();
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LANES, ProductsAsked};
    use core::arch::x86_64::{__m256i, __m512i};
    use pulp::NullaryFnOnce;
    use pulp::x86::{V3, V4};

    pub fn are_fast() -> bool {
        V4::try_new().is_some() || V3::try_new().is_some()
    }

    /// The best there is; `are_fast` has said that there is one.
    pub fn run(task: ProductsAsked<'_>) {
        if let Some(simd) = V4::try_new() {
            simd.vectorize(Tiles::<V4, 4, 6>(simd, task));
        } else if let Some(simd) = V3::try_new() {
            simd.vectorize(Tiles::<V3, 2, 4>(simd, task));
        } else {
            unreachable!("integers are made where they are multiplied alone");
        }
    }

    /// Numbers in a register.
    trait Pairs: Copy {
        type Register: Copy;
        /// How many there are: as wide as the instruction set's registers.
        const COUNT: usize;
        fn zero(self) -> Self::Register;
        fn load(self, numbers: &[i16]) -> Self::Register;
        /// Each of the sums and two products more.
        fn add_products(self, sums: Self::Register, x: Self::Register, y: Self::Register) -> Self::Register;
        fn sum(self, sums: Self::Register) -> i32;
    }

    impl Pairs for V4 {
        type Register = __m512i;
        /// Of 512 bits.
        const COUNT: usize = 32;
        #[inline(always)]
        fn zero(self) -> __m512i {
            pulp::cast([0i32; 16])
        }
        #[inline(always)]
        fn load(self, numbers: &[i16]) -> __m512i {
            let numbers: &[i16; 32] = numbers.try_into().expect("32 numbers");
            pulp::cast(*numbers)
        }
        #[inline(always)]
        fn add_products(self, sums: __m512i, x: __m512i, y: __m512i) -> __m512i {
            self.avx512f._mm512_add_epi32(sums, self.avx512bw._mm512_madd_epi16(x, y))
        }
        #[inline(always)]
        fn sum(self, sums: __m512i) -> i32 {
            let sums: [i32; 16] = pulp::cast(sums);
            sums.iter().sum()
        }
    }

    impl Pairs for V3 {
        type Register = __m256i;
        /// Of 256 bits.
        const COUNT: usize = 16;
        #[inline(always)]
        fn zero(self) -> __m256i {
            pulp::cast([0i32; 8])
        }
        #[inline(always)]
        fn load(self, numbers: &[i16]) -> __m256i {
            let numbers: &[i16; 16] = numbers.try_into().expect("16 numbers");
            pulp::cast(*numbers)
        }
        #[inline(always)]
        fn add_products(self, sums: __m256i, x: __m256i, y: __m256i) -> __m256i {
            self.avx2._mm256_add_epi32(sums, self.avx2._mm256_madd_epi16(x, y))
        }
        #[inline(always)]
        fn sum(self, sums: __m256i) -> i32 {
            let sums: [i32; 8] = pulp::cast(sums);
            sums.iter().sum()
        }
    }

    /// A rows with B columns at a time: each number that is loaded serves several products, and all sums stay in registers.
    #[inline(always)]
    fn tile<P: Pairs, const A: usize, const B: usize>(pairs: P, x: [&[i16]; A], y: [&[i16]; B]) -> [[i32; B]; A] {
        let mut sums = [[pairs.zero(); B]; A];
        let length = x[0].len() / LANES * LANES;
        let (x, y) = (x.map(|x| &x[..length]), y.map(|y| &y[..length]));
        for from in (0..length).step_by(P::COUNT) {
            let part = from..from + P::COUNT;
            let y = y.map(|y| pairs.load(&y[part.clone()]));
            for (sums, x) in sums.iter_mut().zip(x) {
                let x = pairs.load(&x[part.clone()]);
                for (sum, y) in sums.iter_mut().zip(y) {
                    *sum = pairs.add_products(*sum, x, y);
                }
            }
        }
        sums.map(|sums| sums.map(|sum| pairs.sum(sum)))
    }

    struct Tiles<'a, P, const A: usize, const B: usize>(P, ProductsAsked<'a>);

    impl<P: Pairs, const A: usize, const B: usize> NullaryFnOnce for Tiles<'_, P, A, B> {
        type Output = ();
        #[inline(always)]
        fn call(self) {
            let Self(pairs, ProductsAsked { left, rows, right, columns, out }) = self;
            let width = columns.len();
            // The last ones go again where their number does not divide.
            for k in columns.clone().step_by(B) {
                let at: [usize; B] = std::array::from_fn(|b| (k + b).min(columns.end - 1));
                for j in rows.clone().step_by(A) {
                    let of: [usize; A] = std::array::from_fn(|a| (j + a).min(rows.end - 1));
                    let sums = tile(pairs, of.map(|j| left.column(j)), at.map(|k| right.column(k)));
                    for (&j, sums) in of.iter().zip(sums) {
                        let own = &mut out[(j - rows.start) * width..];
                        for (&k, sum) in at.iter().zip(sums) {
                            own[k - columns.start] = sum as f32 * (left.units[j] * right.units[k]);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{RngExt, normal, pick, power, rng};

    /// Every product is within the error that is stated of the one in double precision, and the error is not many times what it is: of columns
    /// of any length and shape, as many as divide and not, down to one number.
    #[test]
    fn products_are_within_their_error() {
        let mut closest = 0.0f64;
        for seed in 0..120 {
            let mut rng = rng(seed);
            let n = pick(&mut rng, &[1, 2, 31, 32, 33, 100, 1000]);
            let (count, others) = (rng.random_range(1..=15), rng.random_range(1..=15));
            let mut draw = |count: usize| -> Vec<f32> {
                let scale = power(&mut rng, -20.0, 3.0);
                let is_spiked = rng.random_bool(0.3);
                let one = |i: usize, x: f64| if is_spiked && !i.is_multiple_of(n) { 1e-3 * x } else { x };
                (0..n * count).map(|i| (scale * one(i, normal(&mut rng))) as f32).collect()
            };
            let (x, y) = (draw(count), draw(others));
            let columns = |x: &[f32]| IntegerColumns::new(n, x.chunks(n));
            let (Some(a), Some(b)) = (columns(&x), columns(&y)) else { return };
            let (from, to) = (rng.random_range(0..count), rng.random_range(0..others));
            let mut out = vec![f32::NAN; (count - from) * (others - to)];
            products(&a, from..count, &b, to..others, &mut out);
            let error = a.error(&b);
            for (m, found) in out.iter().enumerate() {
                let (j, k) = (from + m / (others - to), to + m % (others - to));
                let exact: f64 = (0..n).map(|i| f64::from(x[j * n + i]) * f64::from(y[k * n + i])).sum();
                let share = (f64::from(*found) - exact).abs() / error;
                assert!(share <= 1.0, "{seed}: {j} with {k}, {found} for {exact}, {share} of the error");
                closest = closest.max(share);
            }
        }
        assert!(closest > 0.02, "{closest}");
    }

    /// Columns as long as there may be, all of one sign: their products are next to 2³¹.
    #[test]
    fn nothing_overflows() {
        for n in [1, 2, 3, 64, 4096] {
            let x = vec![1.0f32; n];
            let Some(all) = IntegerColumns::new(n, [&x[..], &x[..]].into_iter()) else { return };
            let mut out = [0.0; 4];
            products(&all, 0..2, &all, 0..2, &mut out);
            assert!(out.iter().all(|p| (f64::from(*p) - n as f64).abs() <= all.error(&all)), "{n}: {out:?}");
        }
    }

    #[test]
    fn what_is_no_number_has_no_integers() {
        for x in [f32::NAN, f32::INFINITY] {
            assert!(IntegerColumns::new(2, [&[1.0, x][..]].into_iter()).is_none());
        }
        let zero = IntegerColumns::new(2, [&[0.0, 0.0][..]].into_iter());
        assert!(zero.is_none_or(|zero| zero.error(&zero) == 0.0));
    }
}
