//! Coefficients from a file: one for every feature, or one for every feature and class.

use crate::exit::Failure;
use crate::work::Posed;
use bestset::model::Model;
use bestset::{ClassCoefficients, Coefficients};
use std::path::{Path, PathBuf};

/// Coefficients by name, as a file has them.
pub(super) enum Given {
    /// An object of feature: coefficient, or of feature: \[coefficient of each class\].
    Object(PathBuf, serde_json::Map<String, serde_json::Value>),
    /// Lines feature,coefficient or feature,coefficient,…,coefficient, one for each class.
    Lines(PathBuf, String),
    /// A model, and the names of its classes.
    Model(Box<Model>, Option<Vec<String>>),
}

/// What the coefficients are, on the scale that their judge takes.
pub(super) enum Judged {
    /// Inside.
    One(Coefficients),
    /// For the columns given.
    Classes(ClassCoefficients),
}

/// Features with as many values each, those of the intercept, and what the values are called where the file says so.
#[derive(Default)]
struct Rows {
    pairs: Vec<(String, Vec<f64>)>,
    intercept: Option<Vec<f64>>,
    titles: Option<Vec<String>>,
}

impl Judged {
    /// Features that are in.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::One(coefficients) => coefficients.nonzeros(),
            Self::Classes(classes) => classes.lengths().nonzeros(),
        }
    }
}

impl Rows {
    fn add(&mut self, name: &str, values: Vec<f64>) {
        match name {
            "(intercept)" | "(Intercept)" | "intercept" => self.intercept = Some(values),
            _ => self.pairs.push((name.to_owned(), values)),
        }
    }
}

impl Given {
    pub(super) fn parse(path: &Path, text: String, json: Option<serde_json::Value>) -> Result<Self, Failure> {
        match json {
            None => Ok(Self::Lines(path.to_owned(), text)),
            Some(serde_json::Value::Object(object)) => Ok(Self::Object(path.to_owned(), object)),
            Some(_) => {
                Err(Failure::Message(format!("{}: the JSON is no object of feature: coefficient", path.display())))
            }
        }
    }

    /// The coefficients of these data: one for every class where there are many.
    pub(super) fn find(&self, posed: &Posed<'_>) -> Result<Judged, Failure> {
        let rows = self.rows(posed.classes().unwrap_or(1), &posed.data.target.labels)?;
        let features = rows.pairs.iter().map(|row| place(posed, &row.0)).collect::<Result<Vec<_>, _>>()?;
        let stray = rows.intercept.iter().flatten().find(|b| **b != 0.0);
        let has_intercept = posed.problem.has_intercept() || (posed.classes().is_some() && posed.setup.intercept);
        if let Some(b) = stray.filter(|_| !has_intercept) {
            return Err(Failure::Message(format!(
                "the intercept is {b}, but the problem has none: leave out --no-intercept"
            )));
        }
        match posed.classes() {
            Some(classes) => of_classes(posed, &rows, &features, classes).map(Judged::Classes),
            None => of_features(posed, &rows, &features).map(Judged::One),
        }
    }

    /// With so many values in each row, of classes of these names.
    fn rows(&self, count: usize, labels: &[String]) -> Result<Rows, Failure> {
        match self {
            Self::Lines(path, text) => some(path, of_lines(path, text, count, labels)?),
            Self::Object(path, object) => some(path, of_object(path, object, count)?),
            Self::Model(model, names) => {
                let rows = of_model(model, names.clone());
                match rows.intercept.as_ref().map_or(1, Vec::len) {
                    own if own == count => Ok(rows),
                    own => Err(Failure::Message(format!(
                        "the model has coefficients of {}, the data {}: give the family and the data that it was fitted to",
                        sets(own),
                        sets(count)
                    ))),
                }
            }
        }
    }
}

/// The rows of a file, if it has any: an empty one is more likely the wrong one than the model without features.
fn some(path: &Path, rows: Rows) -> Result<Rows, Failure> {
    if rows.pairs.is_empty() && rows.intercept.is_none() {
        let problem = "there is no coefficient in it; the model without features is (intercept) and its value";
        return Err(Failure::Message(format!("{}: {problem}", path.display())));
    }
    Ok(rows)
}

fn sets(count: usize) -> String {
    if count == 1 { "one target".to_owned() } else { format!("{count} classes") }
}

fn of_object(path: &Path, object: &serde_json::Map<String, serde_json::Value>, count: usize) -> Result<Rows, Failure> {
    let bad = |problem: String| Failure::Message(format!("{}: {problem}", path.display()));
    let mut rows = Rows::default();
    for (name, value) in object {
        let list = value.as_array().filter(|_| count > 1);
        let all = list.map_or_else(|| vec![value], |list| list.iter().collect());
        let values: Option<Vec<f64>> = all.into_iter().map(|v| v.as_f64()).collect();
        match values.filter(|values| values.len() == count) {
            Some(values) => rows.add(name, values),
            None if count > 1 => {
                return Err(bad(format!(
                    "the coefficients of {name:?} are {value}, not a list of {count} numbers, one for each class"
                )));
            }
            None => return Err(bad(format!("the coefficient of {name:?} is {value}, not a number"))),
        }
    }
    Ok(rows)
}

fn of_lines(path: &Path, text: &str, count: usize, labels: &[String]) -> Result<Rows, Failure> {
    let bad =
        |line: usize, problem: String| Failure::Message(format!("{}: line {}: {problem}", path.display(), line + 1));
    let clean = |field: &str| field.trim().trim_matches('"').to_owned();
    let mut rows = Rows::default();
    for (k, line) in text.lines().enumerate().filter(|l| !l.1.trim().is_empty()) {
        // From the right: a name may have commas of its own.
        let mut fields: Vec<&str> = line.rsplitn(count + 1, [',', '\t', ';']).collect();
        let name = fields.pop().filter(|_| fields.len() == count);
        let form = if count == 1 { "feature,coefficient" } else { "feature and a coefficient for each class" };
        let name = clean(name.ok_or_else(|| bad(k, format!("{line:?} is not {form}")))?);
        fields.reverse();
        let values: Vec<Option<f64>> = fields.iter().map(|f| clean(f).parse().ok()).collect();
        // Classes may be called by numbers.
        let names_classes = count > 1 && labels.iter().all(|label| fields.iter().any(|f| clean(f) == *label));
        if k == 0 && (names_classes || values.iter().all(Option::is_none)) {
            rows.titles = Some(fields.iter().map(|f| clean(f)).collect());
            continue;
        }
        let wrong = values.iter().position(|v| !v.is_some_and(f64::is_finite));
        if let Some(at) = wrong {
            return Err(bad(k, format!("the coefficient {:?} is not a finite number", fields[at].trim())));
        }
        rows.add(&name, values.into_iter().flatten().collect());
    }
    Ok(rows)
}

fn of_model(model: &Model, titles: Option<Vec<String>>) -> Rows {
    let Some(classes) = &model.classes else {
        let pairs = model.coefficients.iter().map(|(j, b)| (model.name(j), vec![b])).collect();
        return Rows { pairs, intercept: Some(vec![model.coefficients.intercept]), titles: None };
    };
    let own = |k: usize| classes.values.iter().map(|row| row[k]).collect();
    let pairs = classes.support.iter().enumerate().map(|(k, &j)| (model.name(j), own(k))).collect();
    Rows { pairs, intercept: Some(classes.intercepts.clone()), titles }
}

fn place(posed: &Posed<'_>, name: &str) -> Result<usize, Failure> {
    let found = posed.data.set.names.find(name, posed.features());
    found.ok_or_else(|| Failure::Message(format!("there is no feature {name:?} in the data")))
}

/// On the scale inside, with the best intercept where the file has none.
fn of_features(posed: &Posed<'_>, rows: &Rows, features: &[usize]) -> Result<Coefficients, Failure> {
    let pairs = features.iter().zip(&rows.pairs).map(|(&j, row)| (j, row.1[0])).collect();
    let intercept = rows.intercept.as_ref().map(|values| values[0]);
    let mut inside = posed.inward(&Coefficients::from_pairs(pairs, intercept.unwrap_or(0.0)));
    if intercept.is_none() && posed.problem.has_intercept() {
        let u = posed.problem.margins(&inside)?;
        inside.intercept = posed.problem.best_intercept(&u, 0.0);
    }
    inside.validate(posed.features())?;
    Ok(inside)
}

/// For the columns given, classes in the order of the data, with the best intercepts where the file has none.
fn of_classes(
    posed: &Posed<'_>,
    rows: &Rows,
    features: &[usize],
    classes: usize,
) -> Result<ClassCoefficients, Failure> {
    let labels = &posed.data.target.labels;
    let order = match &rows.titles {
        None => (0..classes).collect(),
        Some(titles) => order(titles, labels)?,
    };
    let mut sorted: Vec<(usize, &Vec<f64>)> =
        features.iter().copied().zip(rows.pairs.iter().map(|row| &row.1)).collect();
    sorted.sort_by_key(|row| row.0);
    let of = |k: usize| sorted.iter().map(|row| row.1[k]).collect();
    let mut outside = ClassCoefficients {
        support: sorted.iter().map(|row| row.0).collect(),
        values: order.iter().map(|&k| of(k)).collect(),
        intercepts: vec![0.0; classes],
    };
    outside.validate(posed.features())?;
    match &rows.intercept {
        Some(values) => outside.intercepts = order.iter().map(|&k| values[k]).collect(),
        None => {
            let (inside, shift) = posed.inward_classes(&outside);
            let u = posed.problem.margins(&inside)?;
            let best = posed.problem.coupled().map_or_else(Vec::new, |loss| loss.intercepts(&u));
            outside.intercepts = best.iter().zip(shift).map(|(best, shift)| best - shift).collect();
        }
    }
    Ok(outside)
}

/// Where the file has each class of the data.
fn order(titles: &[String], labels: &[String]) -> Result<Vec<usize>, Failure> {
    let place = |label: &String| {
        let found = titles.iter().position(|title| title == label);
        found.ok_or_else(|| {
            let named = titles.join(", ");
            Failure::Message(format!("the coefficients have no column for class {label:?}: theirs are {named}"))
        })
    };
    labels.iter().map(place).collect()
}
