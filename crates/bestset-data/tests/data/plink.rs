//! Genotypes as PLINK has them: what is read, joined and left out; what damaged files say; variants found in another cohort.

use bestset_data::{CohortFiles, CohortOptions, Dataset, KnownVariant, Variant, find_variants, read_cohort};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::PathBuf;

/// Codes of copies: two, one, none, not known.
const CODES: [u8; 4] = [0b11, 0b10, 0b00, 0b01];
const MISSING: usize = 3;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// A cohort with these copies of the first allele by variants.
    fn cohort(&self, name: &str, bim: &str, copies: &[Vec<usize>]) -> CohortFiles {
        let people = copies[0].len();
        let mut bed = vec![0x6c, 0x1b, 0x01];
        for own in copies {
            bed.extend(
                own.chunks(4).map(|four| four.iter().enumerate().fold(0, |byte, (k, c)| byte | CODES[*c] << (2 * k))),
            );
        }
        let fam: String = (0..people).map(|i| format!("F{}\tI{i}\t0\t0\t1\t{}\n", i / 2, 0.5 * i as f64)).collect();
        self.write(&format!("{name}.bim"), bim);
        self.write(&format!("{name}.fam"), fam);
        CohortFiles::of(&self.write(&format!("{name}.bed"), bed)).unwrap()
    }
}

const BIM: &str = "1\trs1\t0\t100\tA\tG\n1 rs2 0 200 C T\nX\t.\t0\t300\tT\tA\n";

fn copies() -> Vec<Vec<usize>> {
    vec![vec![2, 1, 0, 3, 1, 0], vec![0, 0, 0, 0, 0, 1], vec![2, 2, 2, 2, 3, 3]]
}

fn values(data: &Dataset, j: usize) -> Vec<f64> {
    data.column(j).unwrap().into_owned()
}

fn refused(files: &CohortFiles, options: &CohortOptions) -> String {
    read_cohort(files, options).unwrap_err().to_string()
}

#[test]
fn genotypes_are_copies_of_the_first_allele_and_missing_ones_the_mean() {
    let place = Place::new();
    let files = place.cohort("a", BIM, &copies());
    let data = read_cohort(&files, &CohortOptions::default()).unwrap();
    assert_eq!((data.rows(), data.features()), (6, 3));
    assert_eq!(values(&data, 0), [2.0, 1.0, 0.0, 0.8, 1.0, 0.0]);
    assert_eq!(values(&data, 1), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(values(&data, 2), [2.0; 6]);
    assert_eq!(data.names.list(3), ["1:100:G:A", "1:200:T:C", "X:300:A:T"]);
    assert_eq!(data.variants()[0].id, "rs1");
    let target = data.target.as_ref().unwrap();
    assert_eq!((target.name.as_str(), &target.values[..]), ("phenotype", &[0.0, 0.5, 1.0, 1.5, 2.0, 2.5][..]));
    assert_eq!(data.remarks, ["Missing genotypes, set to the mean of their variant: 3."]);
    assert!((data.mean(0) - 0.8).abs() < 1e-15 && data.deviation(2) == 0.0);
    assert_eq!(data.design().unwrap().ncols(), 3);
    // The same variant twice has two names.
    let twice = place.cohort("b", &BIM.replace("200 C T", "100 A G"), &copies());
    assert_eq!(read_cohort(&twice, &CohortOptions::default()).unwrap().names.list(2), ["1:100:G:A", "1:100:G:A#2"]);
}

#[test]
fn traits_and_covariates_are_joined_by_the_names_of_people() {
    let place = Place::new();
    let files = place.cohort("a", BIM, &copies());
    let by_both = "#FID\tIID\tBMI\tHDL\nF2\tI5\t1.5\t-9\nF0\tI0\t20\t1\nF1\tI2\tNA\t2\nF9\tI9\t7\t7\nF1\tI3\t-9\t3\nF2\tI4\t1e1\tnan\n";
    let traits = Some(place.write("traits.tsv", by_both));
    let bmi = CohortOptions { traits: traits.clone(), trait_name: Some("BMI".into()), ..CohortOptions::default() };
    let data = read_cohort(&files, &bmi).unwrap();
    assert_eq!(data.target.as_ref().unwrap().values, [20.0, 10.0, 1.5]);
    assert_eq!(values(&data, 0), [2.0, 1.0, 0.0]);
    assert_eq!(values(&data, 2), [2.0; 3], "people who are left out do not make the mean");
    assert_eq!(data.remarks[0], "Left out: 3 of 6 people without BMI.");
    // By IID alone, divided by commas; covariates leave out more people.
    let covariates = Some(place.write("pcs.csv", "IID,PC1,PC2\nI5,1,2\nI0,3,4\nI4,NA,5\nI1,6,7\n"));
    let both = CohortOptions { covariates, ..bmi.clone() };
    let data = read_cohort(&files, &both).unwrap();
    assert_eq!((data.rows(), data.features(), data.names.get(4)), (2, 5, "PC2".to_owned()));
    assert_eq!((values(&data, 3), values(&data, 4)), (vec![3.0, 1.0], vec![4.0, 2.0]));
    assert_eq!(data.remarks[1], "Left out: 1 of 6 people without all covariates.");
    let (design, mut tau) = (data.design().unwrap(), [0.0; 2]);
    design.correlate(&[4, 0], &[1.0, 10.0], &mut tau).unwrap();
    assert_eq!(tau, [24.0, 2.0]);
    // Texts are classes.
    let status = place.write("status.txt", "IID status\nI0 case\nI1 control\nI2 case\nI3 NA\n");
    let classes = CohortOptions { traits: Some(status), ..CohortOptions::default() };
    let target = read_cohort(&files, &classes).unwrap().target.unwrap();
    assert_eq!((target.values, target.classes.unwrap().positive), (vec![-1.0, 1.0, -1.0], "control".to_owned()));
    let refused = |options: CohortOptions| refused(&files, &options);
    assert!(
        refused(CohortOptions { trait_name: None, ..bmi.clone() })
            .contains("--pheno-name says which of \"BMI\", \"HDL\"")
    );
    assert!(
        refused(CohortOptions { trait_name: Some("LDL".into()), ..bmi.clone() }).contains("there is no trait \"LDL\"")
    );
    let with =
        |name: &str, text: &str| CohortOptions { traits: Some(place.write(name, text)), ..CohortOptions::default() };
    assert!(refused(with("t1", "F0 I0 3\n")).contains("line 1: the first line must name the columns"));
    assert!(refused(with("t2", "IID y\nI0 3\nI0 4\n")).contains("t2, line 3: \"I0\" has been there before, on line 2"));
    assert!(refused(with("t3", "IID y\nI0\n")).contains("t3, line 2: has 1 fields, the first line 2"));
    assert!(refused(with("t4", "IID y\nQ0 3\n")).contains("nobody is left"));
    assert!(
        refused(with("t5", "IID y\nI0 3\nI1 high\n")).contains("holds numbers such as 3 and texts such as \"high\"")
    );
    let text = CohortOptions { covariates: Some(place.write("c", "IID sex\nI0 m\n")), ..bmi.clone() };
    assert!(refused(text).contains("c, line 2, column \"sex\": \"m\" is not a number"));
    place.write("a.fam", "F0 I0 0 0 1 1\nF1 I0 0 0 1 1\nF2 I2 0 0 0 0\nF3 I3 0 0 0 0\nF4 I4 0 0 0 0\nF5 I5 0 0 0 0\n");
    assert!(refused(with("t6", "IID y\nI0 3\n")).contains("two people of the .fam file have the IID \"I0\""));
}

#[test]
fn cases_and_controls_of_a_fam_file_leave_zero_unknown() {
    let place = Place::new();
    let files = place.cohort("a", BIM, &copies());
    let fam = |codes: [&str; 6]| {
        place.write(
            "a.fam",
            codes.iter().enumerate().map(|(i, c)| format!("F{i} I{i} 0 0 1 {c}\n")).collect::<String>(),
        );
        read_cohort(&files, &CohortOptions::default()).unwrap().target.unwrap().values
    };
    assert_eq!(fam(["1", "2", "0", "-9", "1", "2"]), [1.0, 2.0, 1.0, 2.0]);
    assert_eq!(fam(["1.5", "2", "0", "-9", "NA", "2"]), [1.5, 2.0, 0.0, 2.0]);
}

#[test]
fn rare_variants_and_those_often_unknown_are_left_out_and_counted() {
    let place = Place::new();
    let files = place.cohort("a", BIM, &copies());
    let rare = CohortOptions { least_frequency: 0.1, ..CohortOptions::default() };
    let data = read_cohort(&files, &rare).unwrap();
    assert_eq!((data.names.list(data.features()), data.remarks.len()), (vec!["1:100:G:A".to_owned()], 2));
    assert_eq!(data.remarks[0], "Left out: 2 of 3 variants with an allele rarer than 0.1.");
    let known = CohortOptions { most_missing: 0.2, ..CohortOptions::default() };
    let data = read_cohort(&files, &known).unwrap();
    assert_eq!(
        (data.features(), &data.remarks[0][..]),
        (2, "Left out: 1 of 3 variants not known of more than 0.2 of the people.")
    );
    let none = CohortOptions { least_frequency: 0.5, ..CohortOptions::default() };
    assert!(refused(&files, &none).contains("no variant is left"));
}

/// Weights and offsets are columns of the table of traits; genotypes that have no room stay in their file, with the same numbers.
#[test]
fn weights_offsets_and_genotypes_that_stay_on_disk() {
    let place = Place::new();
    let files = place.cohort("a", BIM, &copies());
    let table = "IID\ty\tw\to\nI0\t1\t0.5\t9\nI1\t2\tNA\t8\nI2\tNA\t1\t7\nI3\t4\t2\t6\nI4\t5\t3\t-9\nI5\t6\t1\t5\n";
    let options = CohortOptions {
        traits: Some(place.write("t.tsv", table)),
        trait_name: Some("y".into()),
        weights: Some("w".into()),
        offset: Some("o".into()),
        ..CohortOptions::default()
    };
    let of = |options: &CohortOptions| read_cohort(&files, options).unwrap();
    let memory = of(&options);
    assert_eq!(memory.target.as_ref().unwrap().values, [1.0, 4.0, 6.0]);
    assert_eq!((memory.weights.clone(), memory.offset.clone()), (Some(vec![0.5, 2.0, 1.0]), Some(vec![9.0, 6.0, 5.0])));
    assert!(memory.remarks.iter().any(|said| said == "Left out: 1 of 6 people without w."), "{:?}", memory.remarks);
    for disk in [
        of(&CohortOptions { on_disk: true, ..options.clone() }),
        of(&CohortOptions { max_memory: Some(2), ..options.clone() }),
    ] {
        assert!(disk.genotyped.as_ref().unwrap().genotypes.reading().is_some());
        assert_eq!(disk.remarks, memory.remarks);
        for j in 0..3 {
            assert_eq!(values(&disk, j), values(&memory, j));
            assert_eq!((disk.mean(j), disk.deviation(j)), (memory.mean(j), memory.deviation(j)));
        }
    }
    let refused = |options: CohortOptions| refused(&files, &options);
    assert!(refused(CohortOptions { weights: Some("v".into()), ..options }).contains("there is no column \"v\""));
    assert!(
        refused(CohortOptions { offset: Some("o".into()), ..CohortOptions::default() }).contains("give it by --pheno")
    );
}

#[test]
fn damaged_files_say_what_is_wrong_and_where() {
    let place = Place::new();
    let files = place.cohort("a", BIM, &copies());
    let whole = std::fs::read(&files.bed).unwrap();
    let ask = || refused(&files, &CohortOptions::default());
    let bed = |bytes: &[u8]| {
        std::fs::write(&files.bed, bytes).unwrap();
        ask()
    };
    let cut = bed(&whole[..whole.len() - 1]);
    assert!(
        cut.contains("has 8 bytes; 3 variants (.bim) of 6 people (.fam) take 9, 2 bytes each; it ends after variant 2"),
        "{cut}"
    );
    assert!(bed(&[whole.clone(), vec![0]].concat()).contains("the .bim or .fam file is cut off"));
    assert!(bed(&[&[0x6c, 0x1b, 0x00], &whole[3..]].concat()).contains("--make-bed"));
    assert!(bed(b"6c1b").contains("is no .bed file: it begins with \"36 63 31\""));
    assert!(bed(&[]).contains("begins with \"\""));
    assert!(bed(&[0x1f, 0x8b, 8]).contains("decompress it first"));
    std::fs::write(&files.bed, &whole).unwrap();
    place.write("a.bim", BIM.lines().take(2).map(|line| format!("{line}\n")).collect::<String>());
    assert!(ask().contains("2 variants (.bim)"), "{}", ask());
    place.write("a.bim", BIM.replace("200", "2x0"));
    assert!(ask().contains("a.bim, line 2: the position \"2x0\" is not a whole number"), "{}", ask());
    place.write("a.bim", BIM.replace("0 200 C T", "T"));
    assert!(ask().contains("a.bim, line 2: a variant has six fields"), "{}", ask());
    place.write("a.bim", BIM.replace("200 C T", "200 T"));
    assert!(ask().contains("a.bim, line 2: a line of 5 fields follows lines of 6"), "{}", ask());
    place.write("a.bim", "");
    assert!(ask().contains("there are no variants"));
    place.write("a.bim", BIM);
    place.write("a.fam", "F I 0 0 1 1\nF I 0 0 1 1\n");
    assert!(ask().contains("a.fam, line 2: FID \"F\" and IID \"I\" occur twice"), "{}", ask());
    std::fs::remove_file(place.path("a.fam")).unwrap();
    assert!(ask().contains("a.fam: cannot be read"), "{}", ask());
    assert!(CohortFiles::of(&place.path("a.csv")).is_none() && CohortFiles::of(&place.path("a.BIM")).is_some());
}

#[test]
fn damaged_cohorts_end_in_an_error_that_names_a_file_or_in_whole_data() {
    let place = Place::new();
    let files = place.cohort("a", BIM, &copies());
    let traits = place.write("t.tsv", "FID\tIID\ty\nF0\tI0\t1\nF0\tI1\t2\nF1\tI2\t-9\nF1\tI3\t4\nF2\tI4\t5\n");
    let covariates = place.write("c.tsv", "IID\tage\nI0\t31\nI1\t42\nI3\t53\nI4\tNA\nI5\t1\n");
    let options = CohortOptions {
        traits: Some(traits.clone()),
        covariates: Some(covariates.clone()),
        least_frequency: 0.01,
        ..CohortOptions::default()
    };
    let all = [&files.bed, &files.bim, &files.fam, &traits, &covariates];
    let whole: Vec<Vec<u8>> = all.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let (mut rng, mut good) = (ChaCha8Rng::seed_from_u64(18), 0);
    let rounds = std::env::var("BESTSET_DAMAGED")
        .map_or_else(|_| crate::share(2_000), |text| all.len() * text.parse::<usize>().unwrap());
    for round in 0..rounds {
        let options = CohortOptions { on_disk: round % 2 == 1, ..options.clone() };
        let file = round % all.len();
        let mut bytes = whole[file].clone();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..=bytes.len());
            match rng.random_range(0..5) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, rng.random_range(0..=255)),
                2 if at < bytes.len() => bytes[at] = rng.random_range(0..=255),
                3 if at < bytes.len() => {
                    bytes.remove(at);
                }
                _ => bytes.extend_from_within(at..),
            }
        }
        std::fs::write(all[file], &bytes).unwrap();
        match read_cohort(&files, &options) {
            Ok(data) => {
                good += 1;
                let rows = data.target.as_ref().unwrap().values.len();
                assert_eq!((data.rows(), data.matrix.rows()), (rows, rows), "round {round}");
                assert!((0..data.features()).all(|j| values(&data, j).iter().all(|x| x.is_finite())));
            }
            Err(error) => {
                let text = error.to_string();
                let named = all.iter().any(|path| text.contains(&path.display().to_string()));
                assert!(named && text.len() < 2500, "round {round}: {text}");
            }
        }
        std::fs::write(all[file], &whole[file]).unwrap();
    }
    assert!((rounds / 20..rounds - rounds / 20).contains(&good), "both happen: {good}");
}

#[test]
fn variants_of_a_model_are_found_by_place_and_alleles() {
    let place = Place::new();
    // Another order, chr in the names, alleles exchanged, the other strand, other alleles at the same place.
    let bim = "chr7 rs7 0 700 C A\nchr1 rs2x 0 200 T C\nchr1 rs1x 0 100 T C\nchr1 rs9 0 300 A T\nchrX rs8 0 800 A G\n";
    let copies = vec![vec![2, 2, 0], vec![0, 1, MISSING], vec![2, 1, 0], vec![0, 0, 2], vec![1, 1, 1]];
    let files = place.cohort("b", bim, &copies);
    let known = |name: &str, chromosome: &str, position, effect: &str, other: &str, frequency| KnownVariant {
        name: name.into(),
        variant: Variant {
            chromosome: chromosome.into(),
            position,
            id: ".".into(),
            effect: effect.into(),
            other: other.into(),
        },
        frequency,
    };
    let wanted = [
        known("flipped", "1", 100, "A", "G", 0.1),
        known("exchanged", "1", 200, "C", "T", 0.25),
        known("ambiguous", "1", 300, "T", "A", 0.3),
        known("as it is", "23", 800, "A", "G", 0.5),
        known("other alleles", "7", 700, "C", "G", 0.4),
        known("not there", "5", 500, "C", "G", 0.35),
    ];
    let options = CohortOptions { needs_trait: false, ..CohortOptions::default() };
    let (data, people) = find_variants(&files, &wanted, &options).unwrap();
    assert_eq!((data.rows(), data.features(), people.len()), (3, 6, 3));
    assert_eq!(values(&data, 0), [2.0, 1.0, 0.0]);
    assert_eq!(values(&data, 1), [2.0, 1.0, 0.5], "2 − x, and the mean of the fit where it is not known");
    assert_eq!(values(&data, 2), [2.0, 2.0, 0.0], "exchanged by name, never flipped");
    assert_eq!(values(&data, 3), [1.0; 3]);
    assert_eq!((values(&data, 4), values(&data, 5)), (vec![0.8; 3], vec![0.7; 3]));
    let told = data.remarks.join("\n");
    assert!(told.contains(
        "4 of 6 variants of the model were found among 5; the alleles of 2 were exchanged, the strand of 1 flipped"
    ));
    assert!(told.contains("1 of them are A/T or C/G, whose strand cannot be told"), "{told}");
    assert!(told.contains("taken at the mean of the data of the fit: other alleles, not there."), "{told}");
    assert!(told.contains("Missing genotypes, set to the mean of the data of the fit: 1"), "{told}");
}
