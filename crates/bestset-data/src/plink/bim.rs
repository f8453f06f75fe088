//! Variants: their place, their alleles, and whether two are the same.

use super::lines::{Divider, each};
use crate::error::{FileError, Result, quoted};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A variant as a line of a `.bim` file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Chromosome, as the file writes it.
    pub chromosome: String,
    /// Position on it, in base pairs.
    pub position: i64,
    /// Name, often an rs number.
    pub id: String,
    /// The first allele, whose copies are counted: the effect allele.
    pub effect: String,
    /// The second allele.
    pub other: String,
}

/// How the genotypes of one cohort stand for those of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// The alleles are exchanged: x becomes 2 − x.
    pub exchanged: bool,
    /// The alleles are those of the other strand.
    pub flipped: bool,
}

impl Variant {
    /// chromosome:position:ref:alt, with the effect allele as alt.
    pub fn name(&self) -> String {
        format!("{}:{}:{}:{}", self.chromosome, self.position, self.other, self.effect)
    }

    /// Chromosome and position, the chromosome as all spell it: without `chr`, letters for 23 to 26.
    pub fn place(&self) -> (String, i64) {
        let name = self.chromosome.to_ascii_uppercase();
        let name = name.strip_prefix("CHR").unwrap_or(&name);
        let plain = match name {
            "23" => "X",
            "24" => "Y",
            "25" | "PAR1" | "PAR2" => "XY",
            "26" | "M" | "MT" => "MT",
            other => match other.trim_start_matches('0') {
                "" => "0",
                rest => rest,
            },
        };
        (plain.to_owned(), self.position)
    }

    /// A/T or C/G: the strand cannot be told from the alleles.
    pub fn is_ambiguous(&self) -> bool {
        complement(&self.effect).is_some_and(|c| c == self.other.to_ascii_uppercase())
    }

    /// How `there`, a variant at the same place, has the alleles of this one; `None` where it has others.
    ///
    /// A/T and C/G are their own complements: their strand is taken to be the same.
    pub fn fit(&self, there: &Self) -> Option<Fit> {
        let upper = |a: &str| a.to_ascii_uppercase();
        let own = (upper(&self.effect), upper(&self.other));
        let found = (upper(&there.effect), upper(&there.other));
        let match_of = |a: &str, b: &str, flipped: bool| match () {
            _ if (a, b) == (&own.0, &own.1) => Some(Fit { exchanged: false, flipped }),
            _ if (a, b) == (&own.1, &own.0) => Some(Fit { exchanged: true, flipped }),
            _ => None,
        };
        let other_strand = || match_of(complement(&found.0)?, complement(&found.1)?, true);
        match_of(&found.0, &found.1, false).or_else(other_strand)
    }
}

/// The base of the other strand; alleles of several bases begin at another place there.
fn complement(allele: &str) -> Option<&'static str> {
    match allele {
        "A" | "a" => Some("T"),
        "T" | "t" => Some("A"),
        "C" | "c" => Some("G"),
        "G" | "g" => Some("C"),
        _ => None,
    }
}

/// The variants of a `.bim` file.
pub fn read(path: &Path) -> Result<Vec<Variant>> {
    let (mut variants, mut count) = (Vec::new(), None);
    each(path, |line, text| {
        let bad = |problem: String| FileError::new(path, problem).at_line(line);
        let fields = Divider::Blanks.fields(text);
        let [chromosome, id, position, effect, other] = match fields[..] {
            [chromosome, id, _, position, effect, other] => [chromosome, id, position, effect, other],
            // The position in morgans is sometimes left out.
            [chromosome, id, position, effect, other] => [chromosome, id, position, effect, other],
            _ => {
                let problem = format!(
                    "a variant has six fields (chromosome, name, morgans, position, two alleles), not {}: {}",
                    fields.len(),
                    quoted(text)
                );
                return Err(bad(problem).into());
            }
        };
        // A line that has lost its allele would be one without morgans, of another place and other alleles.
        let before = *count.get_or_insert(fields.len());
        if fields.len() != before {
            let problem = format!("a line of {} fields follows lines of {before}: {}", fields.len(), quoted(text));
            return Err(bad(problem).into());
        }
        let number = position.parse::<i64>();
        let position = number.map_err(|_| bad(format!("the position {} is not a whole number", quoted(position))))?;
        let [chromosome, id, effect, other] = [chromosome, id, effect, other].map(str::to_owned);
        variants.push(Variant { chromosome, position, id, effect, other });
        Ok(())
    })?;
    match variants.is_empty() {
        true => Err(FileError::new(path, "there are no variants").into()),
        false => Ok(variants),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(chromosome: &str, effect: &str, other: &str) -> Variant {
        let [chromosome, effect, other] = [chromosome, effect, other].map(str::to_owned);
        Variant { chromosome, position: 5, id: "rs1".to_owned(), effect, other }
    }

    #[test]
    fn alleles_are_exchanged_and_strands_flipped_where_that_is_certain() {
        let fit = |own: (&str, &str), there: (&str, &str)| {
            let found = variant("1", own.0, own.1).fit(&variant("1", there.0, there.1));
            found.map(|f| (f.exchanged, f.flipped))
        };
        assert_eq!(fit(("A", "G"), ("A", "G")), Some((false, false)));
        assert_eq!(fit(("A", "G"), ("a", "g")), Some((false, false)));
        assert_eq!(fit(("A", "G"), ("G", "A")), Some((true, false)));
        assert_eq!(fit(("A", "G"), ("T", "C")), Some((false, true)));
        assert_eq!(fit(("A", "G"), ("C", "T")), Some((true, true)));
        assert_eq!(fit(("A", "G"), ("A", "C")), None);
        // The strand of these cannot be told: never flipped, which would exchange them.
        assert_eq!(fit(("A", "T"), ("A", "T")), Some((false, false)));
        assert_eq!(fit(("A", "T"), ("T", "A")), Some((true, false)));
        assert_eq!(fit(("AC", "A"), ("GT", "T")), None);
        assert_eq!(fit(("<DEL>", "A"), ("<DEL>", "A")), Some((false, false)));
        assert_eq!(fit(("A", "0"), ("T", "0")), None);
        assert!(variant("1", "G", "C").is_ambiguous() && !variant("1", "G", "A").is_ambiguous());
    }

    #[test]
    fn chromosomes_are_the_same_however_they_are_spelled() {
        for (a, b) in [("chr1", "1"), ("01", "1"), ("23", "chrX"), ("MT", "26"), ("chrM", "mt"), ("XY", "25")] {
            assert_eq!(variant(a, "A", "G").place(), variant(b, "A", "G").place(), "{a} {b}");
        }
        assert_ne!(variant("1", "A", "G").place(), variant("11", "A", "G").place());
    }
}
