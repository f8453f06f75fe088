//! A simulated cohort: genotypes with linkage in PLINK's files, a trait with known causal variants, and what was recovered of them.
//!
//!     cargo run --release -p bestset-experiments --example cohort -- write PREFIX PEOPLE VARIANTS CAUSAL SEED
//!     bestset fit PREFIX.bed --pheno PREFIX.tsv --json -o PREFIX.json
//!     cargo run --release -p bestset-experiments --example cohort -- judge PREFIX PREFIX.json
//!
//! Variants come in blocks of 25. Within a block a haplotype has the allele of the variant before, or, one time in eight, a new one
//! of the block's frequency: neighbours have r² near 0.77, ten apart near 0.07. Three genotypes in a thousand are not known.
//! Causal variants are drawn from all; together they make half of the variance of the trait.

use bestset::design::Design;
use bestset_data::{CohortFiles, CohortOptions, Dataset, Genotyped, read_cohort};
use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

const BLOCK: usize = 25;
/// χ² of one degree of freedom that one in 2·10⁷ exceeds by chance: p < 5·10⁻⁸.
const SIGNIFICANT: f64 = 29.717;

/// Random bits, sixty-four at once.
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// 64 bits, each set with probability k/256.
    fn frequent(&mut self, k: u8) -> u64 {
        let next = |word: u64, bit: u32, more: u64| if k >> bit & 1 == 1 { word | more } else { word & more };
        (k.trailing_zeros()..8).fold(0, |word, bit| next(word, bit, self.next()))
    }
}

/// The bits of a word, each followed by a zero.
fn spread(half: u32) -> u64 {
    let steps = [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ];
    steps.iter().fold(u64::from(half), |x, (shift, mask)| (x | x << shift) & mask)
}

/// The next variant of all haplotypes, packed: 64 people a word. k/256 is the frequency of a new allele.
fn next_variant(haplotypes: &mut [[u64; 2]], k: u8, is_first: bool, bits: &mut Bits, out: &mut Vec<u8>) {
    let flip = if bits.next() & 1 == 1 { u64::MAX } else { 0 };
    for pair in haplotypes {
        for word in pair.iter_mut() {
            let fresh = if is_first { u64::MAX } else { bits.next() & bits.next() & bits.next() };
            *word = fresh & bits.frequent(k) | !fresh & *word;
        }
        let (a, b) = (pair[0] ^ flip, pair[1] ^ flip);
        let missing = bits.frequent(1) & (bits.next() | bits.next());
        let (high, low) = (!(a & b) & !missing, !(a | b) | missing);
        for half in [0, 32] {
            let code = spread((low >> half) as u32) | spread((high >> half) as u32) << 1;
            out.extend_from_slice(&code.to_le_bytes());
        }
    }
}

fn write(prefix: &Path, [people, variants, causal]: [usize; 3], seed: u64) -> Result<(), Box<dyn Error>> {
    let mut bits = Bits(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut chosen = HashSet::new();
    while chosen.len() < causal.min(variants) {
        chosen.insert((bits.uniform() * variants as f64) as usize);
    }
    let file = |ending: &str| File::create(prefix.with_extension(ending)).map(|f| BufWriter::with_capacity(1 << 20, f));
    let (mut bed, mut bim, mut truth) = (file("bed")?, file("bim")?, file("truth")?);
    bed.write_all(&[0x6c, 0x1b, 0x01])?;
    let (mut haplotypes, mut packed) = (vec![[0; 2]; people.div_ceil(64)], Vec::new());
    let (mut genetic, mut k) = (vec![0.0; people], 0);
    for j in 0..variants {
        if j % BLOCK == 0 {
            k = 13 + (bits.uniform() * 110.0) as u8;
        }
        packed.clear();
        next_variant(&mut haplotypes, k, j % BLOCK == 0, &mut bits, &mut packed);
        bed.write_all(&packed[..people.div_ceil(4)])?;
        let (chromosome, position) = (1 + j * 22 / variants, 1000 + 2000 * (j % variants.div_ceil(22)));
        writeln!(bim, "{chromosome}\trs{j}\t0\t{position}\tA\tG")?;
        if chosen.contains(&j) {
            let f = f64::from(k) / 256.0;
            let sign = if bits.next() & 1 == 1 { 1.0 } else { -1.0 };
            let effect = sign * (0.5 + bits.uniform()) / (2.0 * f * (1.0 - f)).sqrt();
            writeln!(truth, "rs{j}\t{effect}")?;
            let copies = |i: usize| [2.0, 1.0, 1.0, 0.0][(packed[i / 4] >> (2 * (i % 4))) as usize & 3];
            genetic.iter_mut().enumerate().for_each(|(i, g)| *g += effect * copies(i));
        }
    }
    let mean = genetic.iter().sum::<f64>() / people as f64;
    let noise = (genetic.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / people as f64).sqrt();
    let (mut fam, mut tsv) = (file("fam")?, file("tsv")?);
    writeln!(tsv, "FID\tIID\ttrait")?;
    for (i, g) in genetic.iter().enumerate() {
        writeln!(fam, "F{i}\tI{i}\t0\t0\t0\t-9")?;
        writeln!(tsv, "F{i}\tI{i}\t{}", g - mean + noise * bits.normal())?;
    }
    Ok(())
}

/// χ² of every variant alone, and what a pass took.
fn marginal(data: &Dataset, genotypes: &dyn Design, y: &[f64]) -> bestset::Result<Vec<f64>> {
    let (n, all) = (data.rows() as f64, (0..genotypes.ncols()).collect::<Vec<_>>());
    let (mut tau, mut seconds) = (vec![0.0; all.len()], f64::INFINITY);
    for _ in 0..3 {
        let start = Instant::now();
        genotypes.correlate(&all, y, &mut tau)?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    let bytes = (data.rows().div_ceil(4) * all.len()) as f64;
    let (speed, threads) = (bytes / seconds / 1e9, rayon::current_num_threads());
    println!("one pass, the best of three: {seconds:.3} s, {speed:.2} GB/s of packed bytes, {threads} threads");
    let total: f64 = y.iter().map(|y| y * y).sum();
    let one = |j: usize| n * tau[j] * tau[j] / (n * data.deviation(j).powi(2) * total);
    Ok(all.iter().map(|&j| one(j)).collect())
}

/// Sets a model beside marginal tests.
fn judge(prefix: &Path, model: &Path) -> Result<(), Box<dyn Error>> {
    let files = CohortFiles::of(&prefix.with_extension("bed")).ok_or("the prefix has no name")?;
    let options = CohortOptions { traits: Some(prefix.with_extension("tsv")), ..CohortOptions::default() };
    let start = Instant::now();
    let data = read_cohort(&files, &options)?;
    println!("read in {:.2} s: {} people, {} variants", start.elapsed().as_secs_f64(), data.rows(), data.features());
    let (Some(Genotyped { genotypes, variants }), Some(target)) = (&data.genotyped, &data.target) else {
        return Err("there are no genotypes".into());
    };
    let mean = target.values.iter().sum::<f64>() / data.rows() as f64;
    let y: Vec<f64> = target.values.iter().map(|y| y - mean).collect();
    let chi2 = marginal(&data, genotypes.design(), &y)?;
    let lines = std::fs::read_to_string(prefix.with_extension("truth"))?;
    let truth: HashSet<&str> = lines.lines().filter_map(|line| line.split('\t').next()).collect();
    let text = std::fs::read_to_string(model)?;
    let all = || 0..variants.len();
    let causal: Vec<usize> = all().filter(|&j| truth.contains(variants[j].id.as_str())).collect();
    let ids: HashSet<&str> = text.split("\"id\": \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let selected: Vec<usize> = all().filter(|&j| ids.contains(variants[j].id.as_str())).collect();
    let mut by_test: Vec<usize> = all().collect();
    by_test.sort_by(|a, b| chi2[*b].total_cmp(&chi2[*a]));
    by_test.truncate(selected.len());
    let significant: Vec<usize> = all().filter(|&j| chi2[j] > SIGNIFICANT).collect();
    for (what, found) in [("model", &selected), ("as many by p-value", &by_test), ("p < 5e-8", &significant)] {
        let near = |c: usize| found.iter().copied().filter(|j| j.abs_diff(c) < BLOCK).collect::<Vec<_>>();
        let tagged =
            causal.iter().filter(|&&c| genotypes.r2(c, &near(c)).is_ok_and(|r2| r2.iter().any(|r2| *r2 > 0.5))).count();
        let hits = found.iter().filter(|j| causal.contains(j)).count();
        let (count, most) = (found.len(), causal.len());
        println!("{what}: {count} variants, {hits} of {most} causal ones among them, {tagged} tagged with r² > 0.5");
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", prefix, people, variants, causal, seed] => {
            write(Path::new(prefix), [people.parse()?, variants.parse()?, causal.parse()?], seed.parse()?)
        }
        ["judge", prefix, model] => judge(Path::new(prefix), Path::new(model)),
        _ => Err("write PREFIX PEOPLE VARIANTS CAUSAL SEED, or judge PREFIX MODEL".into()),
    }
}
