//! Where on the genome the chosen variants are, for the report.

use super::{Answer, Loaded};
use crate::exit::Failure;
use bestset_report::{Chromosome, Genome, Locus, Neighbour};

/// Base pairs to either side in which neighbours are looked at.
const WINDOW: i64 = 250_000;

/// Most neighbours to either side.
const MOST: usize = 200;

/// The chosen variants with their neighbours; `None` where features are no variants.
pub fn genome(data: &Loaded, answer: &Answer) -> Result<Option<Genome>, Failure> {
    let Some(genotyped) = data.set.genotyped.as_ref() else { return Ok(None) };
    let variants = &genotyped.variants;
    let mut chromosomes: Vec<Chromosome> = Vec::new();
    for v in variants {
        match chromosomes.iter_mut().rev().find(|c| c.name == v.chromosome) {
            Some(c) => (c.from, c.to) = (c.from.min(v.position), c.to.max(v.position)),
            None => chromosomes.push(Chromosome { name: v.chromosome.clone(), from: v.position, to: v.position }),
        }
    }
    let locus = |(j, coefficient): (usize, f64)| {
        let Some(known) = data.variant(j) else { return Ok(None) };
        let near = |k: &usize| {
            let v = &variants[*k];
            v.chromosome == known.variant.chromosome && (v.position - known.variant.position).abs() <= WINDOW
        };
        let before = (0..j).rev().take(MOST).take_while(near);
        let mut around: Vec<usize> = before.chain((j + 1..variants.len()).take(MOST).take_while(near)).collect();
        around.sort_unstable();
        let r2 = genotyped.genotypes.r2(j, &around)?;
        let neighbour = |(&k, r2): (&usize, f64)| {
            let v = &variants[k];
            Neighbour { id: if v.id == "." { data.name(k) } else { v.id.clone() }, position: v.position, r2 }
        };
        let neighbours = around.iter().zip(r2).map(neighbour).collect();
        let (v, name, frequency) = (known.variant, known.name, known.frequency);
        let (id, chromosome, position, effect, other) = (v.id, v.chromosome, v.position, v.effect, v.other);
        Ok(Some(Locus { name, id, chromosome, position, effect, other, frequency, coefficient, neighbours }))
    };
    let loci = answer.coefficients.iter().filter_map(|c| locus(c).transpose()).collect::<Result<_, Failure>>()?;
    Ok(Some(Genome { chromosomes, loci, window: WINDOW }))
}
