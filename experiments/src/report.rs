//! RESULTS.md: the template with the figures filled in, and the plots beside it.

use crate::Result;
use crate::charts;
use crate::figures::{Figure, news20, prediction, quality::Quality, simulation::Simulation};
use crate::readings;
use crate::row::Row;
use crate::summary::{Standing, data_sets, median, standings};
use crate::tables::{self, is_above, number, percent};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const TEMPLATE: &str = include_str!("../RESULTS.template.md");

/// All results there are.
pub struct Results {
    /// Figure 1.
    pub simulation: Vec<Row>,
    /// Figure 2.
    pub news20: Vec<Row>,
    /// Figure 3.
    pub quality: Vec<Row>,
    /// Figure 4.
    pub prediction: Vec<prediction::Row>,
}

type Values = BTreeMap<String, String>;

impl Results {
    /// Writes the plots into `out/results` and `out/RESULTS.md`.
    pub fn write(&self, out: &Path) -> Result<()> {
        let plots = [
            ("simulation", charts::simulation(&self.simulation)?),
            ("news20", charts::news20(&self.news20)?),
            ("quality", charts::quality(&self.quality)?),
            ("prediction", charts::prediction(&self.prediction)?),
        ];
        for (name, svg) in plots {
            fs::write(out.join("results").join(format!("{name}.svg")), svg)?;
        }
        let mut values = self.values();
        // What a reader must know about how these very rows came about, kept beside them.
        let notes = fs::read_to_string(out.join("results/NOTES.md")).unwrap_or_default();
        values.insert("notes".into(), notes.trim().to_owned());
        fs::write(out.join("RESULTS.md"), fill(TEMPLATE, &values)?)?;
        Ok(())
    }

    fn values(&self) -> Values {
        let mut values = Values::new();
        figure(&mut values, "simulation", &self.simulation, &names(&Simulation.settings()));
        figure(&mut values, "news20", &self.news20, &names(&news20::settings()));
        figure(&mut values, "quality", &self.quality, &names(&Quality.settings()));
        values.insert("prediction_table".into(), tables::predictions(&self.prediction));
        values.insert(
            "prediction_replicates".into(),
            replicates(self.prediction.iter().map(|r| (r.setting.as_str(), r.replicate))),
        );
        values.insert("prediction_words".into(), prediction_words(&self.prediction));
        values
    }
}

fn names(settings: &[crate::figures::Setting]) -> Vec<String> {
    settings.iter().map(|s| s.name.clone()).collect()
}

/// Every value of one figure, under names that begin with its name.
fn figure(values: &mut Values, name: &str, rows: &[Row], wanted: &[String]) {
    let mut put = |key: &str, value: String| values.insert(format!("{name}_{key}"), value);
    let standings = standings(rows);
    put("table", tables::medians(rows));
    put("envelope_table", tables::envelope(rows));
    put("true_gap_table", tables::true_gaps(rows));
    put("step_table", tables::steps(rows));
    put("screening_table", tables::screening(rows));
    put("duality_table", tables::duality(rows));
    put("replicates", replicates(rows.iter().map(|r| (r.setting.as_str(), r.replicate))));
    put("filled", format!("{} of {}", charts::filled(rows, wanted), wanted.len()));
    put("caps", caps(rows));
    put("envelope_words", envelope_words(&standings));
    put("time_words", time_words(&standings));
    put("duality_words", duality_words(rows));
    put("screening_words", screening_words(rows));
    put("readings_table", readings::table(rows));
    put("endings_table", readings::endings(rows));
    for (key, label) in [("primdual", "PrimDual"), ("dualast", "DualAst")] {
        put(&format!("{key}_words"), readings::words(rows, label));
        put(&format!("{key}_patient_words"), readings::words(rows, &format!("{label} (patient)")));
    }
}

/// `10` or `1 to 3` or `none`.
fn replicates<'a>(runs: impl Iterator<Item = (&'a str, u64)>) -> String {
    let mut found: BTreeMap<&str, std::collections::BTreeSet<u64>> = BTreeMap::new();
    runs.for_each(|(setting, replicate)| {
        found.entry(setting).or_default().insert(replicate);
    });
    let counts = found.values().map(|set| set.len());
    match (counts.clone().min(), counts.max()) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => "none".to_owned(),
    }
}

fn caps(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "no runs yet".to_owned();
    }
    let mut caps: Vec<f64> = rows.iter().map(|r| r.cap).collect();
    caps.sort_by(f64::total_cmp);
    caps.dedup();
    let hits = rows.iter().filter(|r| r.capped == 1).count();
    let seconds: Vec<String> = caps.iter().map(|c| format!("{c} s")).collect();
    format!("{hits} of {} runs ended at the cap of {}", rows.len(), seconds.join(" or "))
}

fn list(all: &[Standing], bad: impl Fn(&&Standing) -> bool) -> (usize, String) {
    let names: Vec<&str> = all.iter().filter(bad).map(|s| s.setting.as_str()).collect();
    (names.len(), names.join(", "))
}

fn envelope_words(all: &[Standing]) -> String {
    if all.is_empty() {
        return "no complete replicate yet".to_owned();
    }
    let (count, names) = list(all, |s| !s.on_envelope());
    let (lowest, sets) = all.iter().fold((0, 0), |(a, b), s| (a + s.lowest, b + s.replicates));
    let start = match count {
        0 => format!("the default solver is on the lower envelope of P in all {} settings", all.len()),
        _ => format!(
            "the default solver is on the lower envelope of P in {} of {} settings, not in {names}",
            all.len() - count,
            all.len()
        ),
    };
    format!("{start}; its P is the lowest, or as low as any published one, on {lowest} of {sets} data sets")
}

fn time_words(all: &[Standing]) -> String {
    if all.is_empty() {
        return "no complete replicate yet".to_owned();
    }
    let (count, names) = list(all, |s| s.fastest.1.is_nan() || s.fastest.1 <= 1.0);
    let least = all.iter().min_by(|a, b| a.fastest.1.total_cmp(&b.fastest.1));
    let margin = least.map_or(String::new(), |s| {
        format!("{} times at the least ({}, against {})", number(s.fastest.1), s.setting, s.fastest.0)
    });
    let middle = number(median(all.iter().map(|s| s.fastest.1)));
    match count {
        0 => format!(
            "its time is below every published algorithm's in all {} settings: the fastest of them takes {margin}, {middle} times in the middle",
            all.len()
        ),
        _ => format!(
            "its time is below every published algorithm's in {} of {} settings, not in {names}; the fastest of them takes {margin}, {middle} times in the middle",
            all.len() - count,
            all.len()
        ),
    }
}

fn duality_words(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "there are no runs yet".to_owned();
    }
    let sets = data_sets(rows);
    let tried = sets.iter().filter(|s| s.of("exact").is_some() && s.relaxation().is_some());
    let refuted = tried.clone().filter(|s| s.relaxation().is_some_and(|d| is_above(s.bound(), d))).count();
    let proved: Vec<f64> =
        tried.clone().filter_map(|s| Some((s.certified()? - s.relaxation()?).max(0.0) / s.certified()?)).collect();
    let middle = if proved.is_empty() { "–".to_owned() } else { percent(median(proved.iter().copied())) };
    format!(
        "branch and bound proves P* > max D on {refuted} of {} data sets; where it proves the optimum ({} data sets), the median of (P* − max D) / P* is {middle}",
        tried.count(),
        proved.len()
    )
}

fn screening_words(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "there are no runs yet".to_owned();
    }
    let share = |value: fn(&Row) -> Option<f64>| percent(median(rows.iter().filter_map(value)));
    let none = rows.iter().filter(|r| r.screened_by_p == Some(0.0)).count();
    let all = rows.iter().filter(|r| r.screened_by_p.is_some()).count();
    format!(
        "the median share of features screened at the best dual point is {} with the radius from P and {} with the radius from R; with the radius from P nothing at all is screened on {none} of {all} data sets",
        share(|r| r.screened_by_p),
        share(|r| r.screened_by_r)
    )
}

fn prediction_words(rows: &[prediction::Row]) -> String {
    let error = |setting: &str, method: &str| {
        median(rows.iter().filter(|r| r.setting == setting && r.method == method).map(|r| r.test_error))
    };
    let lines = prediction::RHO.map(|rho| {
        let wins = |a: &str, b: &str| {
            let better = |snr: &&f64| error(&prediction::name(rho, **snr), a) < error(&prediction::name(rho, **snr), b);
            let found: Vec<String> = prediction::SNR.iter().filter(better).map(f64::to_string).collect();
            if found.is_empty() { "at no SNR".to_owned() } else { format!("at SNR {}", found.join(", ")) }
        };
        if !rows.iter().any(|r| r.rho == rho) {
            return format!("- ρ = {rho}: no runs yet.");
        }
        format!(
            "- ρ = {rho}: best subset predicts better than the lasso {}; better than the relaxed lasso {}. With a ridge term it is better than the lasso {}, and than the relaxed lasso {}.",
            wins("best subset", "lasso"),
            wins("best subset", "relaxed lasso"),
            wins("best subset + ridge", "lasso"),
            wins("best subset + ridge", "relaxed lasso")
        )
    });
    if rows.is_empty() { "No runs yet.".to_owned() } else { lines.join("\n") }
}

/// Puts values in the places of their names; a name without a value, or the other way round, is an error.
fn fill(template: &str, values: &Values) -> Result<String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let end = rest[start..].find("}}").ok_or("template: {{ without }}")? + start;
        let name = &rest[start + 2..end];
        text += &rest[..start];
        text += values.get(name).ok_or_else(|| format!("template: there is no value {name}"))?;
        rest = &rest[end + 2..];
    }
    Ok(text + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::complete;

    #[test]
    fn the_template_is_filled_with_and_without_results() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("results")).unwrap();
        for rows in [Vec::new(), complete()] {
            let prediction = prediction::run(&prediction::settings()[9], 1).unwrap();
            let results = Results { simulation: rows.clone(), news20: rows.clone(), quality: rows, prediction };
            results.write(directory.path()).unwrap();
            let text = fs::read_to_string(directory.path().join("RESULTS.md")).unwrap();
            assert!(!text.contains("{{") && text.contains("results/simulation.svg"));
            for name in ["simulation", "news20", "quality", "prediction"] {
                let svg = fs::read_to_string(directory.path().join("results").join(format!("{name}.svg"))).unwrap();
                assert!(svg.starts_with("<svg") && !svg.contains("NaN") && !svg.contains("inf"), "{name}");
            }
        }
    }

    #[test]
    fn names_without_a_value_are_an_error() {
        assert!(fill("a {{b}} c", &Values::new()).unwrap_err().to_string().contains("no value b"));
        assert_eq!(fill("a {{b}} c", &Values::from([("b".into(), "x".into())])).unwrap(), "a x c");
    }

    #[test]
    fn words_count_what_there_is() {
        let rows = complete();
        assert_eq!(caps(&rows), "0 of 8 runs ended at the cap of 20 s");
        assert!(duality_words(&rows).contains("on 1 of 1 data sets"));
        assert!(envelope_words(&standings(&rows)).contains("in all 1 settings"));
        assert!(time_words(&standings(&rows)).contains("takes 5 times at the least (s, against D-IHT)"));
        assert_eq!(replicates([("a", 1), ("a", 2), ("b", 1)].into_iter()), "1 to 2");
    }
}
