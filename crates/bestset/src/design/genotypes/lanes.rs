//! The few instructions that sums over packed genotypes are made of, for the widest registers found at run time.
//!
//! All are of integers and exact: every width gives the same sums.

/// Packed bytes that are looked at together, and the length of a row of digits: the widest register.
pub const BLOCK: usize = 64;

/// What each code counts, for a nibble of two codes: the lower one, the upper one.
#[derive(Clone, Copy)]
pub struct Table {
    pub lower: [u8; 16],
    pub upper: [u8; 16],
}

impl Table {
    /// `counts` of the codes 00, 01, 10, 11; none above two, so that sixty sums of two products fit into sixteen bits.
    pub const fn new(counts: [u8; 4]) -> Self {
        let (mut lower, mut upper, mut k) = ([0; 16], [0; 16], 0);
        while k < 16 {
            lower[k] = counts[k & 3];
            upper[k] = counts[k >> 2];
            k += 1;
        }
        Self { lower, upper }
    }
}

/// Registers of packed bytes and of sixteen-bit sums.
pub trait Lanes: Copy {
    /// Packed bytes, or what their codes count.
    type Bytes: Copy;
    /// Sums of products, half as many.
    type Sums: Copy;
    /// Bytes of a register.
    const WIDTH: usize;

    /// The bytes from `at` on.
    fn load(self, block: &[u8; BLOCK], at: usize) -> Self::Bytes;

    /// The sixteen bytes again and again.
    fn table(self, sixteen: &[u8; 16]) -> Self::Bytes;

    /// The lower nibble of each byte, and the upper one.
    fn nibbles(self, bytes: Self::Bytes) -> [Self::Bytes; 2];

    /// The entry of the table for each nibble.
    fn look_up(self, table: Self::Bytes, nibbles: Self::Bytes) -> Self::Bytes;

    /// No sum.
    fn zero(self) -> Self::Sums;

    /// sums + counts · digits, the products of neighbours added.
    fn add(self, sums: Self::Sums, counts: Self::Bytes, digits: Self::Bytes) -> Self::Sums;

    /// All sums together.
    fn total(self, sums: Self::Sums) -> i32;
}

/// Registers of any machine, for what the compiler makes of them.
#[derive(Clone, Copy)]
pub struct Plain;

impl Lanes for Plain {
    type Bytes = [u8; 16];
    type Sums = [i16; 16];
    // That many bytes are in one of `Bytes`.
    const WIDTH: usize = 16;

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK], at: usize) -> [u8; 16] {
        block.as_chunks().0[at / 16]
    }

    #[inline(always)]
    fn table(self, sixteen: &[u8; 16]) -> [u8; 16] {
        *sixteen
    }

    #[inline(always)]
    fn nibbles(self, bytes: [u8; 16]) -> [[u8; 16]; 2] {
        [bytes.map(|b| b & 15), bytes.map(|b| b >> 4)]
    }

    #[inline(always)]
    fn look_up(self, table: [u8; 16], nibbles: [u8; 16]) -> [u8; 16] {
        nibbles.map(|k| table[k as usize & 15])
    }

    #[inline(always)]
    fn zero(self) -> [i16; 16] {
        [0; 16]
    }

    #[inline(always)]
    fn add(self, mut sums: [i16; 16], counts: [u8; 16], digits: [u8; 16]) -> [i16; 16] {
        for k in 0..16 {
            sums[k] += i16::from(counts[k]) * i16::from(digits[k] as i8);
        }
        sums
    }

    #[inline(always)]
    fn total(self, sums: [i16; 16]) -> i32 {
        sums.iter().map(|s| i32::from(*s)).sum()
    }
}

#[cfg(target_arch = "x86_64")]
pub use x86::{Half, Wide};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{BLOCK, Lanes};
    use pulp::bytemuck::cast;
    use pulp::x86::{V3, V4};
    use std::arch::x86_64::{__m256i, __m512i};

    /// Registers of 512 bits.
    #[derive(Clone, Copy)]
    pub struct Wide(pub V4);

    impl Lanes for Wide {
        type Bytes = __m512i;
        type Sums = __m512i;
        // That many bytes are in one of `Bytes`.
        const WIDTH: usize = 64;

        #[inline(always)]
        fn load(self, block: &[u8; BLOCK], _at: usize) -> __m512i {
            cast(*block)
        }

        #[inline(always)]
        fn table(self, sixteen: &[u8; 16]) -> __m512i {
            cast([*sixteen; 4])
        }

        #[inline(always)]
        fn nibbles(self, bytes: __m512i) -> [__m512i; 2] {
            let low: __m512i = cast([15u8; 64]);
            let upper = self.0.avx512bw._mm512_srli_epi16::<4>(bytes);
            [self.0.avx512f._mm512_and_si512(bytes, low), self.0.avx512f._mm512_and_si512(upper, low)]
        }

        #[inline(always)]
        fn look_up(self, table: __m512i, nibbles: __m512i) -> __m512i {
            self.0.avx512bw._mm512_shuffle_epi8(table, nibbles)
        }

        #[inline(always)]
        fn zero(self) -> __m512i {
            cast([0u8; 64])
        }

        #[inline(always)]
        fn add(self, sums: __m512i, counts: __m512i, digits: __m512i) -> __m512i {
            let products = self.0.avx512bw._mm512_maddubs_epi16(counts, digits);
            self.0.avx512bw._mm512_add_epi16(sums, products)
        }

        #[inline(always)]
        fn total(self, sums: __m512i) -> i32 {
            let pairs: [i32; 16] = cast(self.0.avx512bw._mm512_madd_epi16(sums, cast([1i16; 32])));
            pairs.iter().sum()
        }
    }

    /// Registers of 256 bits.
    #[derive(Clone, Copy)]
    pub struct Half(pub V3);

    impl Lanes for Half {
        type Bytes = __m256i;
        type Sums = __m256i;
        // That many bytes are in one of `Bytes`.
        const WIDTH: usize = 32;

        #[inline(always)]
        fn load(self, block: &[u8; BLOCK], at: usize) -> __m256i {
            let halves: &[[u8; 32]] = block.as_chunks().0;
            cast(halves[at / 32])
        }

        #[inline(always)]
        fn table(self, sixteen: &[u8; 16]) -> __m256i {
            cast([*sixteen; 2])
        }

        #[inline(always)]
        fn nibbles(self, bytes: __m256i) -> [__m256i; 2] {
            let low: __m256i = cast([15u8; 32]);
            let upper = self.0.avx2._mm256_srli_epi16::<4>(bytes);
            [self.0.avx2._mm256_and_si256(bytes, low), self.0.avx2._mm256_and_si256(upper, low)]
        }

        #[inline(always)]
        fn look_up(self, table: __m256i, nibbles: __m256i) -> __m256i {
            self.0.avx2._mm256_shuffle_epi8(table, nibbles)
        }

        #[inline(always)]
        fn zero(self) -> __m256i {
            cast([0u8; 32])
        }

        #[inline(always)]
        fn add(self, sums: __m256i, counts: __m256i, digits: __m256i) -> __m256i {
            let products = self.0.avx2._mm256_maddubs_epi16(counts, digits);
            self.0.avx2._mm256_add_epi16(sums, products)
        }

        #[inline(always)]
        fn total(self, sums: __m256i) -> i32 {
            let pairs: [i32; 8] = cast(self.0.avx2._mm256_madd_epi16(sums, cast([1i16; 16])));
            pairs.iter().sum()
        }
    }
}
