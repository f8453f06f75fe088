//! All pairs of some vectors, each multiplied once in single precision, and the largest products of each (PROOF, "COHERENCE").

/// Products summed in single precision before the sum is added in double.
const CHUNK: usize = 64;

/// Vectors on either side of a block: both stay near the processor.
const BLOCK: usize = 32;

/// Rounding of single precision, 2⁻²⁴.
const SINGLE: f64 = 1.0 / (1 << 24) as f64;

/// Numbers side by side.
const LANES: usize = 8;

/// Vectors in single precision. The last entries of each count with a minus sign in products.
pub struct Vectors {
    /// Their length, a multiple of [`CHUNK`]; zeros fill it.
    width: usize,
    /// Where the entries with a minus sign begin.
    turn: usize,
    entries: Vec<f32>,
}

/// Of one vector: its product with itself, and the largest of the sizes of those with others, largest first.
pub struct Row {
    /// The product with itself.
    pub own: f64,
    /// The largest of the others.
    pub largest: Vec<f64>,
    /// What others must exceed to be among these.
    least: f64,
}

impl Vectors {
    /// So many entries that count as they are, and so many with a minus sign.
    pub fn new(plus: usize, minus: usize) -> Self {
        let turn = plus.div_ceil(CHUNK) * CHUNK;
        Self { width: turn + minus.div_ceil(CHUNK) * CHUNK, turn, entries: Vec::new() }
    }

    /// One more vector.
    pub fn push(&mut self, plus: impl Iterator<Item = f64>, minus: impl Iterator<Item = f64>) {
        let start = self.entries.len();
        self.entries.extend(plus.map(|x| x as f32));
        self.entries.resize(start + self.turn, 0.0);
        self.entries.extend(minus.map(|x| x as f32));
        self.entries.resize(start + self.width, 0.0);
    }

    fn len(&self) -> usize {
        self.entries.len().checked_div(self.width).unwrap_or(0)
    }

    fn one(&self, k: usize) -> &[f32] {
        &self.entries[k * self.width..(k + 1) * self.width]
    }

    /// What a product can be off by, as a share of the product of the two lengths: entries rounded to single precision, sums of
    /// [`CHUNK`] products in any order, and sums of these. Entries below 10⁻³⁸ are lost: 10⁻³⁰ is more than all of them together.
    pub fn error(&self) -> f64 {
        let chunk = (CHUNK + 8) as f64 * SINGLE;
        chunk / (1.0 - chunk) + (self.width as f64) * f64::EPSILON + 1e-30
    }

    /// The rows, with so many of the largest entries at the most.
    pub fn rows(&self, most: usize) -> Vec<Row> {
        let count = self.len();
        let mut rows: Vec<Row> = (0..count).map(|_| Row { own: 0.0, largest: Vec::new(), least: -1.0 }).collect();
        let mut products = vec![0.0; BLOCK * BLOCK];
        for first in (0..count).step_by(BLOCK) {
            for second in (0..=first).step_by(BLOCK) {
                let (a, b) = (first..count.min(first + BLOCK), second..count.min(second + BLOCK));
                self.block(a.clone(), b.clone(), &mut products);
                for j in a {
                    for k in b.clone().take_while(|k| *k <= j) {
                        let product = products[(j - first) * BLOCK + k - second];
                        if j == k {
                            rows[j].own = product;
                        } else {
                            rows[j].keep(product.abs(), most);
                            rows[k].keep(product.abs(), most);
                        }
                    }
                }
            }
        }
        rows.iter_mut().for_each(|row| row.sort(most));
        rows
    }

    /// The products of two ranges.
    fn block(&self, a: std::ops::Range<usize>, b: std::ops::Range<usize>, out: &mut [f64]) {
        out.fill(0.0);
        for from in (0..self.width).step_by(CHUNK) {
            let sign = if from < self.turn { 1.0 } else { -1.0 };
            let part = |k: usize| &self.one(k)[from..from + CHUNK];
            for j in a.clone().step_by(2) {
                for k in b.clone().step_by(2) {
                    // At an end the last one twice: the same product is written again.
                    let (j2, k2) = ((j + 1).min(a.end - 1), (k + 1).min(b.end - 1));
                    let sums = four(part(j), part(j2), part(k), part(k2));
                    let place = |j: usize, k: usize| (j - a.start) * BLOCK + k - b.start;
                    out[place(j, k)] += sign * sums[0];
                    if k2 != k {
                        out[place(j, k2)] += sign * sums[1];
                    }
                    if j2 != j {
                        out[place(j2, k)] += sign * sums[2];
                        if k2 != k {
                            out[place(j2, k2)] += sign * sums[3];
                        }
                    }
                }
            }
        }
    }
}

/// aᵀc, aᵀd, bᵀc, bᵀd.
fn four(a: &[f32], b: &[f32], c: &[f32], d: &[f32]) -> [f64; 4] {
    let mut sums = [[0.0f32; LANES]; 4];
    let all = a.chunks_exact(LANES).zip(b.chunks_exact(LANES)).zip(c.chunks_exact(LANES).zip(d.chunks_exact(LANES)));
    for ((a, b), (c, d)) in all {
        for l in 0..LANES {
            sums[0][l] += a[l] * c[l];
            sums[1][l] += a[l] * d[l];
            sums[2][l] += b[l] * c[l];
            sums[3][l] += b[l] * d[l];
        }
    }
    sums.map(|s| f64::from(((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))))
}

impl Row {
    /// Keeps a size if it may be among the largest; what is no number is.
    fn keep(&mut self, size: f64, most: usize) {
        let is_small = size <= self.least;
        if is_small || most == 0 {
            return;
        }
        self.largest.push(size);
        if self.largest.len() >= 4 * most {
            self.sort(most);
            self.least = self.largest[most - 1];
        }
    }

    fn sort(&mut self, most: usize) {
        self.largest.sort_unstable_by(|a, b| b.total_cmp(a));
        self.largest.truncate(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against sums in double precision: within the error of all, and as many as are asked for, largest first.
    #[test]
    fn the_largest_products_of_every_row() {
        let mut state = 0x1234_5678u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
        };
        for (count, plus, minus, most) in
            [(1, 5, 0, 3), (7, 100, 3, 2), (70, 130, 5, 9), (33, 64, 0, 40), (100, 10, 2, 0)]
        {
            let mut vectors = Vectors::new(plus, minus);
            let all: Vec<Vec<f64>> = (0..count).map(|_| (0..plus + minus).map(|_| random()).collect()).collect();
            for one in &all {
                vectors.push(one[..plus].iter().copied(), one[plus..].iter().copied());
            }
            let error = vectors.error() * (plus + minus) as f64 * 0.25;
            for (j, row) in vectors.rows(most).iter().enumerate() {
                let product = |k: usize| {
                    (0..plus + minus).map(|i| all[j][i] * all[k][i] * if i < plus { 1.0 } else { -1.0 }).sum::<f64>()
                };
                assert!((row.own - product(j)).abs() <= error);
                let mut sizes: Vec<f64> = (0..count).filter(|k| *k != j).map(|k| product(k).abs()).collect();
                sizes.sort_unstable_by(|a, b| b.total_cmp(a));
                sizes.truncate(most);
                assert_eq!(sizes.len(), row.largest.len());
                assert!(sizes.iter().zip(&row.largest).all(|(a, b)| (a - b).abs() <= error), "{j}");
            }
        }
    }
}
