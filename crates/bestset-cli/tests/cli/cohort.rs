//! Genotypes from the outside: one cohort to fit, another to predict.

use crate::place::Place;
use crate::support::{assert_certified, code, errors, text};
use std::path::Path;

const PEOPLE: usize = 150;
const VARIANTS: usize = 60;

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Copies of the first allele; 3 where they are not known. Neighbours are alike.
fn genotypes(numbers: &mut Numbers) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for j in 0..VARIANTS {
        let frequency = if j == 9 { 0.004 } else { 0.15 + 0.3 * numbers.next() };
        let one = |i: usize, numbers: &mut Numbers| match all.last() {
            Some(before) if j % 4 > 0 && ![9, 10].contains(&j) && numbers.next() < 0.8 => before[i],
            _ if numbers.next() < 0.01 => 3,
            _ => (0..2).filter(|_| numbers.next() < frequency).count(),
        };
        all.push((0..PEOPLE).map(|i| one(i, numbers)).collect());
    }
    all
}

/// Writes a cohort; `swapped` has the alleles of every variant exchanged, and the variants in the reverse order.
fn write(folder: &Path, name: &str, copies: &[Vec<usize>], swapped: bool) {
    let order: Vec<usize> = if swapped { (0..VARIANTS).rev().collect() } else { (0..VARIANTS).collect() };
    let (mut bed, mut bim) = (vec![0x6c, 0x1b, 0x01], String::new());
    for &j in &order {
        let code = |c: usize| [3u8, 2, 0, 1][if swapped && c < 3 { 2 - c } else { c }];
        bed.extend(
            copies[j].chunks(4).map(|four| four.iter().enumerate().fold(0, |b, (k, c)| b | code(*c) << (2 * k))),
        );
        let alleles = if swapped { "G A" } else { "A G" };
        bim.push_str(&format!("{} rs{j} 0 {} {alleles}\n", 1 + j / 30, 1000 * (j + 1)));
    }
    let fam: String = (0..PEOPLE).map(|i| format!("F{i} I{i} 0 0 1 -9\n")).collect();
    for (ending, bytes) in [("bed", &bed[..]), ("bim", bim.as_bytes()), ("fam", fam.as_bytes())] {
        std::fs::write(folder.join(format!("{name}.{ending}")), bytes).unwrap();
    }
}

fn cohort() -> Place {
    let (place, mut numbers) = (Place::new(), Numbers(18));
    let copies = genotypes(&mut numbers);
    let known = |j: usize, i: usize| if copies[j][i] == 3 { 0.5 } else { copies[j][i] as f64 };
    let (mut traits, mut covariates) = ("FID\tIID\tBMI\tother\n".to_owned(), "IID\tage\n".to_owned());
    for i in 0..PEOPLE {
        let (age, noise) = (20.0 + 50.0 * numbers.next(), numbers.next() - 0.5);
        let bmi = 22.0 + 2.0 * known(12, i) - 1.5 * known(40, i) + 0.1 * age + noise;
        let bmi = if i % 50 == 7 { "-9".to_owned() } else { bmi.to_string() };
        traits.push_str(&format!("F{i}\tI{i}\t{bmi}\t1\n"));
        if i != 11 {
            covariates.push_str(&format!("I{i}\t{age}\n"));
        }
    }
    place.write("traits.tsv", &traits);
    place.write("age.tsv", &covariates);
    write(place.path("").as_path(), "cohort", &copies, false);
    write(place.path("").as_path(), "other", &copies, true);
    place
}

const FIT: &str = "cohort.bed --pheno traits.tsv --pheno-name BMI --covar age.tsv --maf 0.05";

#[test]
fn every_output_names_variants_with_their_effect_allele_and_its_frequency() {
    let place = cohort();
    let found = place.json(&format!("fit {FIT} --json -o model.json"));
    assert_certified(&found);
    assert_eq!((&found["data"]["samples"], &found["data"]["features"]), (&146.into(), &60.into()));
    let notes = found["data"]["notes"].to_string();
    assert!(
        notes.contains("3 of 150 people without BMI") && notes.contains("1 of 150 people without all cov"),
        "{notes}"
    );
    assert!(notes.contains("1 of 60 variants with an allele rarer than 0.05"), "{notes}");
    let features = found["features"].as_array().unwrap();
    let names: Vec<&str> = features.iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(
        {
            let mut sorted = names.clone();
            sorted.sort();
            sorted
        },
        ["1:13000:G:A", "2:41000:G:A", "age"]
    );
    let variant = &features.iter().find(|f| f["name"] == "1:13000:G:A").unwrap()["variant"];
    assert_eq!((&variant["id"], &variant["effect_allele"]), (&"rs12".into(), &"A".into()));
    assert!((0.1..0.5).contains(&variant["frequency"].as_f64().unwrap()));
    assert!(features.iter().find(|f| f["name"] == "age").unwrap().get("variant").is_none());
    let shown = place.done(&format!("fit {FIT}"));
    for word in
        ["cohort.bed: 146 people, 59 variants, 1 covariate", "effect allele", "frequency", "rs12", "2:41000:G:A"]
    {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let model = std::fs::read_to_string(place.path("model.json")).unwrap();
    assert!(model.contains("\"effect\": \"A\"") && model.contains("\"id\": \"rs40\""), "{model}");
    let path = place.json(&format!("path {FIT} --json"));
    assert_eq!(path["variants"]["1:13000:G:A"]["effect_allele"], "A");
    let page = place.done(&format!("report {FIT} --folds 3 --prove 0"));
    assert!(page.contains("cohort.report.html"), "{page}");
    let page = std::fs::read_to_string(place.path("cohort.report.html")).unwrap();
    assert!(page.contains("Where on the genome") && page.contains("rs12") && page.contains("A (other G)"));
    // A size counts every feature the same: covariates, which are always in, have no place beside it.
    let exact = place.json("exact cohort.bed --pheno traits.tsv --pheno-name BMI --maf 0.05 -k 3 --json");
    assert_eq!((&exact["status"], &exact["nonzeros"]), (&"optimal".into(), &3.into()));
}

/// Genotypes read from their file, as asked or because memory has no room, give the answers of those in memory; weights and offset are
/// columns of the table of traits.
#[test]
fn genotypes_on_disk_weights_and_offsets() {
    let place = cohort();
    let table = std::fs::read_to_string(place.path("traits.tsv")).unwrap();
    let with = |(k, line): (usize, &str)| match k {
        0 => format!("{line}\tw\to\n"),
        _ => format!("{line}\t{}\t{}\n", 1.0 + 0.5 * (k as f64).sin(), 0.1 * (k as f64).cos()),
    };
    place.write("traits.tsv", &table.lines().enumerate().map(with).collect::<String>());
    let mut objectives = Vec::new();
    for (verb, rest) in [
        ("fit", ""),
        ("fit", "--weights w"),
        ("fit", "--weights w --offset o"),
        ("cv", "--folds 3"),
        ("exact", "--lambda0 2 --lambda2 0.5"),
    ] {
        let line = format!("{verb} {FIT} {rest} --json");
        let memory = place.json(&line);
        objectives.push(memory["objective"].clone());
        for more in ["--on-disk", "--max-memory 2000"] {
            // A limit on memory is one on the search as well: what it finds may be less, where the data are is not why.
            if more.starts_with("--max") && verb != "fit" {
                continue;
            }
            let disk = place.json(&format!("{line} {more}"));
            for key in ["features", "objective", "lower_bound", "status"] {
                assert_eq!(memory[key], disk[key], "{line} {more}: {key}");
            }
        }
    }
    assert!(objectives[0] != objectives[1] && objectives[1] != objectives[2]);
    let shown = place.done(&format!("fit {FIT} --on-disk --verbose"));
    assert!(shown.contains("59 variants on disk, 1 covariate") && shown.contains("Read from disk: "), "{shown}");
    // A model with an offset asks for it again.
    place.done(&format!("fit {FIT} --offset o -o model.json"));
    let refused = place.run("predict model.json other.bed --covar age.tsv");
    assert!(code(&refused) == 2 && errors(&refused).contains("give it by --pheno"), "{}", errors(&refused));
    let predicted =
        place.json("predict model.json other.bed --covar age.tsv --pheno traits.tsv --pheno-name BMI --json");
    assert!(predicted["score"]["value"].as_f64().unwrap() > 0.9, "{predicted}");
    let page = place.done(&format!("report {FIT} --folds 3 --prove 0 --on-disk"));
    assert!(page.contains("cohort.report.html"), "{page}");
}

#[test]
fn another_cohort_is_predicted_by_place_and_alleles() {
    let place = cohort();
    place.done(&format!("fit {FIT} -o model.json"));
    let run = |line: &str| {
        let output = place.run(line);
        assert_eq!(code(&output), 0, "{line}: {}", errors(&output));
        (text(&output), errors(&output))
    };
    let (own, told) = run("predict model.json cohort.bed --covar age.tsv");
    assert!(told.contains("2 of 2 variants of the model were found among 60; the alleles of 0"), "{told}");
    assert!(told.contains("1 of 150 people without all covariates"), "{told}");
    assert!(own.starts_with("FID,IID,BMI\nF0,I0,"), "{own}");
    assert_eq!(own.lines().count(), 150);
    let (other, told) = run("predict model.json other.bed --covar age.tsv");
    assert!(told.contains("the alleles of 2 were exchanged"), "{told}");
    assert_eq!(own, other);
    let (scored, _) = run("predict model.json other.bed --covar age.tsv --pheno traits.tsv --pheno-name BMI --json");
    let scored: serde_json::Value = serde_json::from_str(&scored).unwrap();
    assert!(scored["score"]["value"].as_f64().unwrap() > 0.9, "{scored}");
    assert_eq!(scored["people"][0][1], "I0");
    assert!(place.refused("predict model.json other.bed").contains("uses the covariate \"age\": give the table"));
    place.done("fit flats.csv --target rent -o flats.json");
    assert!(place.refused("predict flats.json other.bed").contains("is no model of genotypes"));
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let place = cohort();
    assert!(place.refused("fit flats.csv --target rent --maf 0.1").contains("--maf goes with genotypes"));
    assert!(place.refused("fit flats.csv --target rent --covar age.tsv").contains("--covar goes with genotypes"));
    assert!(place.refused("fit cohort.bed --target BMI").contains("--pheno FILE --pheno-name NAME"));
    assert!(place.refused("fit cohort.bed --pheno traits.tsv").contains("which of \"BMI\", \"other\""));
    assert!(place.refused("fit cohort.bed --pheno traits.tsv --pheno-name BMI --maf 2").contains("between 0 and 1"));
    assert!(place.refused("fit cohort.bed").contains("nobody is left"));
    assert!(place.refused("fit absent.bed").contains("absent.fam: cannot be read"));
}
