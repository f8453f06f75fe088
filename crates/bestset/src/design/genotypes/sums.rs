//! Σ_i count(code_i) a_i of packed columns with whole numbers a: exact, in any order, on any machine.
//!
//! The numbers are written with digits of eight bits, a = Σ_d digit_d 256^d with −128 ≤ digit_d ≤ 127, so that one instruction
//! multiplies and adds 64 of them. A block of 64 packed bytes holds 256 people; the digits of its people lie in the order in which
//! two shifts unpack them.

use super::lanes::{BLOCK, Lanes, Plain, Table};
use pulp::NullaryFnOnce;

/// People of a block.
const PEOPLE: usize = 4 * BLOCK;

/// Blocks whose sums fit into sixteen bits: four times two products of at most 2 · 128 each.
const STRIPE: usize = 15;

/// Columns that pass by while the digits of a stripe stay near.
const TILE: usize = 32;

/// Digits of the largest numbers.
pub const MOST_DIGITS: usize = 7;

/// What |a| may be: below half of 256^7.
pub const LARGEST: i64 = 1 << 54;

/// What |a| may be with six digits.
const SHORT: i64 = 1 << 46;

/// One digit of 64 numbers, where a register loads it in one go.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Row([u8; BLOCK]);

/// Whole numbers as digits, in the order in which packed bytes are unpacked.
pub struct Digits {
    /// Digits of a number, 6 or 7.
    count: usize,
    /// `rows[(block * 4 + plane) * count + d]` are the digits d of the people 4 k + plane of the block.
    rows: Vec<Row>,
}

impl Digits {
    /// The digits of numbers that are at most [`LARGEST`].
    pub fn new(numbers: &[i64]) -> Self {
        let largest = numbers.iter().map(|a| a.unsigned_abs()).max().unwrap_or(0);
        debug_assert!(largest <= LARGEST as u64);
        let count = if largest <= SHORT as u64 { MOST_DIGITS - 1 } else { MOST_DIGITS };
        let mut rows = vec![Row([0; BLOCK]); numbers.len().div_ceil(PEOPLE) * 4 * count];
        for (i, &a) in numbers.iter().enumerate() {
            let (block, at) = (i / PEOPLE, i % PEOPLE);
            let (own, mut left) = (&mut rows[(block * 4 + at % 4) * count..][..count], a);
            for row in own {
                row.0[at / 4] = left as u8;
                left = (left - i64::from(left as i8)) >> 8;
            }
            debug_assert_eq!(left, 0);
        }
        Self { count, rows }
    }
}

/// Σ_i count(code_i) a_i of each of the columns `packed[j * stride..][..stride]`, j of `columns`.
pub fn sums(packed: &[u8], stride: usize, columns: &[usize], table: &Table, digits: &Digits, out: &mut [i128]) {
    #[cfg(target_arch = "x86_64")]
    {
        use super::lanes::{Half, Wide};
        if let Some(simd) = pulp::x86::V4::try_new() {
            return simd.vectorize(Sums { lanes: Wide(simd), packed, stride, columns, table, digits, out });
        }
        if let Some(simd) = pulp::x86::V3::try_new() {
            return simd.vectorize(Sums { lanes: Half(simd), packed, stride, columns, table, digits, out });
        }
    }
    pulp::Arch::new().dispatch(Sums { lanes: Plain, packed, stride, columns, table, digits, out });
}

struct Sums<'a, L> {
    lanes: L,
    packed: &'a [u8],
    stride: usize,
    columns: &'a [usize],
    table: &'a Table,
    digits: &'a Digits,
    out: &'a mut [i128],
}

impl<L: Lanes> NullaryFnOnce for Sums<'_, L> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        match self.digits.count {
            MOST_DIGITS => self.with::<MOST_DIGITS>(),
            _ => self.with::<{ MOST_DIGITS - 1 }>(),
        }
    }
}

impl<L: Lanes> Sums<'_, L> {
    /// Stripe by stripe: its digits stay in the nearest memory while the columns pass by.
    #[inline(always)]
    fn with<const D: usize>(self) {
        let Self { lanes, packed, stride, columns, table, digits, out } = self;
        let rows = digits.rows.as_chunks::<D>().0.as_chunks::<4>().0;
        let tables = [lanes.table(&table.lower), lanes.table(&table.upper)];
        for (columns, out) in columns.chunks(TILE).zip(out.chunks_mut(TILE)) {
            let mut totals = [[0i64; D]; TILE];
            for (s, rows) in rows.chunks(STRIPE).enumerate() {
                let from = s * STRIPE * BLOCK;
                let to = (from + rows.len() * BLOCK).min(stride);
                let piece = |j: usize| &packed[j * stride + from..j * stride + to];
                // The last of an odd number goes with itself.
                for (pair, totals) in columns.chunks(2).zip(totals.chunks_mut(2)) {
                    let found = stripe(lanes, [piece(pair[0]), piece(pair[pair.len() - 1])], tables, rows);
                    for (totals, found) in totals.iter_mut().zip(found) {
                        totals.iter_mut().zip(found).for_each(|(total, sum)| *total += i64::from(sum));
                    }
                }
            }
            for (out, totals) in out.iter_mut().zip(totals) {
                *out = totals.iter().rev().fold(0, |sum, t| (sum << 8) + i128::from(*t));
            }
        }
    }
}

/// The sums of two columns over so many blocks that sixteen bits hold them.
#[inline(always)]
fn stripe<L: Lanes, const D: usize>(
    lanes: L,
    columns: [&[u8]; 2],
    tables: [L::Bytes; 2],
    digits: &[[[Row; D]; 4]],
) -> [[i32; D]; 2] {
    let ((x, x_rest), (y, y_rest)) = (columns[0].as_chunks(), columns[1].as_chunks());
    let mut sums = [[lanes.zero(); D]; 2];
    for ((x, y), digits) in x.iter().zip(y).zip(digits) {
        sums = block(lanes, [x, y], tables, digits, sums);
    }
    if let (false, Some(digits)) = (x_rest.is_empty(), digits.get(x.len())) {
        // People beyond the last have no digits.
        let (mut x, mut y) = ([0; BLOCK], [0; BLOCK]);
        x[..x_rest.len()].copy_from_slice(x_rest);
        y[..y_rest.len()].copy_from_slice(y_rest);
        sums = block(lanes, [&x, &y], tables, digits, sums);
    }
    let mut totals = [[0; D]; 2];
    for c in 0..2 {
        for d in 0..D {
            totals[c][d] = lanes.total(sums[c][d]);
        }
    }
    totals
}

/// The sums with those of one block of two columns.
#[inline(always)]
fn block<L: Lanes, const D: usize>(
    lanes: L,
    columns: [&[u8; BLOCK]; 2],
    tables: [L::Bytes; 2],
    digits: &[[Row; D]; 4],
    mut sums: [[L::Sums; D]; 2],
) -> [[L::Sums; D]; 2] {
    for at in (0..BLOCK).step_by(L::WIDTH) {
        let nibbles = [lanes.nibbles(lanes.load(columns[0], at)), lanes.nibbles(lanes.load(columns[1], at))];
        for plane in 0..4 {
            let (table, nibble) = (tables[plane % 2], plane / 2);
            let counts = [lanes.look_up(table, nibbles[0][nibble]), lanes.look_up(table, nibbles[1][nibble])];
            for d in 0..D {
                let row = lanes.load(&digits[plane][d].0, at);
                sums[0][d] = lanes.add(sums[0][d], counts[0], row);
                sums[1][d] = lanes.add(sums[1][d], counts[1], row);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed(k: usize) -> u64 {
        (k as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    #[test]
    fn registers_of_every_width_give_the_exact_sums() {
        let counts = [2, 0, 1, 2];
        let table = Table::new(counts.map(|c| c as u8));
        for n in [1usize, 4, 7, 255, 256, 257, 3840, 3841, 9999] {
            let (stride, p) = (n.div_ceil(4), 37);
            let packed: Vec<u8> = (0..stride * p).map(|k| mixed(k) as u8).collect();
            let columns: Vec<usize> = (0..p).rev().chain([3, 3]).collect();
            for largest in [1, SHORT, SHORT + 1, LARGEST] {
                // The ends of the range, where digits are largest, among others.
                let number = |i: usize| match i % 3 {
                    0 => largest,
                    1 => -largest,
                    _ => (mixed(i) % (2 * largest as u64 + 1)) as i64 - largest,
                };
                let a: Vec<i64> = (0..n).map(number).collect();
                let plain = |&j: &usize| -> i128 {
                    let code = |i: usize| (packed[j * stride + i / 4] >> (2 * (i % 4))) as usize & 3;
                    (0..n).map(|i| counts[code(i)] * i128::from(a[i])).sum()
                };
                let expected: Vec<i128> = columns.iter().map(plain).collect();
                let (digits, mut out) = (Digits::new(&a), vec![1; columns.len()]);
                sums(&packed, stride, &columns, &table, &digits, &mut out);
                assert_eq!(out, expected, "{n} {largest}");
                let packed = &packed;
                let out = &mut vec![1; columns.len()];
                Sums { lanes: Plain, packed, stride, columns: &columns, table: &table, digits: &digits, out }.call();
                assert_eq!(*out, expected, "{n} {largest}");
                #[cfg(target_arch = "x86_64")]
                if let Some(simd) = pulp::x86::V3::try_new() {
                    let (lanes, columns, table, digits) = (super::super::lanes::Half(simd), &columns, &table, &digits);
                    simd.vectorize(Sums { lanes, packed, stride, columns, table, digits, out });
                    assert_eq!(*out, expected, "{n} {largest}");
                }
            }
        }
    }
}
