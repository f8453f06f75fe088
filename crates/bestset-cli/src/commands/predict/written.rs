//! Predictions, and how they are written.

use serde::Serialize;

/// Predictions and, where the file has the target, how good they are.
#[derive(Default, Serialize)]
pub struct Predictions {
    pub target: String,
    /// What the column is called where it is not the target that is predicted: a linear predictor or a risk is no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'static str>,
    /// FID and IID of each, where they are people of a cohort.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<(String, String)>,
    pub predictions: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Vec<f64>>,
    /// The names of many classes, and their probabilities, a row for each sample.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_probabilities: Vec<Vec<f64>>,
    /// Survival or cumulative hazards, a row for each sample, and their times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// The share of the deviance explained, of many classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub d2: Option<f64>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum Value {
    Number(f64),
    Class(String),
}

#[derive(Serialize)]
pub struct Score {
    pub name: &'static str,
    pub value: f64,
}

/// A line for each row under a title; curves have their times for titles.
pub fn csv(found: &Predictions) -> String {
    let quote = |text: &str| match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    if !found.curves.is_empty() {
        let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
        return line(&found.times) + &found.curves.iter().map(|row| line(row)).collect::<String>();
    }
    let mut text = if found.people.is_empty() { String::new() } else { "FID,IID,".to_owned() };
    text.push_str(&quote(found.title.unwrap_or(&found.target)));
    let titles = found.class_names.iter().map(|name| format!(",{}", quote(&format!("probability {name}"))));
    text.extend(titles);
    text.push_str(if found.probabilities.is_some() { ",probability\n" } else { "\n" });
    for (i, value) in found.predictions.iter().enumerate() {
        if let Some((family, name)) = found.people.get(i) {
            text.push_str(&format!("{},{},", quote(family), quote(name)));
        }
        match value {
            Value::Number(value) => text.push_str(&value.to_string()),
            Value::Class(class) => text.push_str(&quote(class)),
        }
        if let Some(probabilities) = &found.probabilities {
            text.push_str(&format!(",{}", probabilities[i]));
        }
        text.extend(found.class_probabilities.get(i).into_iter().flatten().map(|p| format!(",{p}")));
        text.push('\n');
    }
    text
}
