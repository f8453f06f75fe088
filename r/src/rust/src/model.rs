//! Model files: the core's, with what R knows of classes and columns beside the model.

use crate::classes::Given;
use crate::errors::said;
use crate::fields::{needed, Failure, Fields};
use crate::input::loss;
use crate::output;
use crate::survival;
use crate::value::{count, Record, Value};
use bestset::model::Model;
use bestset::{Certificate, Loss, Status};
use serde_json::Value as Json;

/// The model that R describes.
pub fn model(from: &Fields) -> Result<Model, Failure> {
    let named = needed("status", from.text("status")?)?;
    let number = |name| needed(name, from.number(name)?);
    let (coefficients, classes) = match Given::read(from)? {
        Given::One(own) => (own, None),
        Given::Classes(own) => (own.lengths(), Some(own)),
    };
    let mut model = Model {
        loss: loss(from)?,
        lambda0: number("lambda0")?,
        lambda1: number("lambda1")?,
        lambda2: number("lambda2")?,
        features: needed("features", from.whole("features")?)?,
        names: Vec::new(),
        coefficients,
        certificate: Certificate {
            objective: number("objective")?,
            relaxation: from.number("relaxation")?,
            lower_bound: number("lower_bound")?,
        },
        status: Status::named(&named).ok_or_else(|| format!("there is no status named {named:?}"))?,
        classes: None,
        baseline: from.list("baseline")?.map(|given| survival::baseline(&given)).transpose()?,
    };
    if let Some(classes) = classes {
        model = model.with_classes(classes).map_err(said)?;
    }
    model.coefficients.validate(model.features).map_err(said)?;
    match from.texts("names")? {
        Some(names) => model.with_names(names).map_err(said),
        None => Ok(model),
    }
}

/// What front ends keep beside a model, as the command line writes it.
pub fn encoding(from: &Fields) -> Result<String, Failure> {
    let labels = from.texts("labels")?;
    let categories = from.items("categories")?.iter().map(category).collect::<Result<Vec<Json>, Failure>>()?;
    let many = from.whole("classes")?.is_some();
    let classes = labels.as_ref().filter(|_| !many);
    let classes = classes.map(|l| serde_json::json!({ "negative": l[0], "positive": l[1] }));
    let json = serde_json::json!({
        "target": needed("target", from.text("target")?)?,
        "classes": classes,
        "scaling": Json::Null,
        "categories": categories,
        "means": {},
        "imputed": false,
        "standardize": needed("scale", from.text("scale")?)?,
        "intercept": from.flag("has_intercept")?,
        "k": from.whole("k")?,
        "offset": from.text("offset")?,
        "class_names": labels.as_ref().filter(|_| many),
        "labels": labels,
        "strata": from.texts("strata")?,
        "exposure": from.text("exposure")?,
    });
    Ok(json.to_string())
}

/// A column of texts, whose levels but the first are features.
fn category(from: &Fields) -> Result<Json, Failure> {
    let first = from.places("first")?;
    Ok(serde_json::json!({
        "column": from.text("column")?,
        "reference": from.text("reference")?,
        "levels": from.texts("levels")?,
        "first": first.first(),
        "usual": Json::Null,
    }))
}

/// The model in a text, and what is beside it.
pub fn read(text: &str) -> Result<Value, Failure> {
    let model = Model::from_json(text).map_err(said)?;
    let mut all = Record::default();
    model.classes.map_or_else(|| Given::One(model.coefficients), Given::Classes).show(&mut all);
    output::certificate(&model.certificate, &mut all);
    all.set("loss", model.loss.name());
    all.set("delta", model.loss.delta());
    all.set("theta", model.loss.theta());
    all.set("ties", if let Loss::Cox { ties } = model.loss { ties.name().into() } else { Value::Null });
    all.set("baseline", model.baseline.as_ref().map(survival::shown));
    all.set("lambda0", model.lambda0);
    all.set("lambda1", model.lambda1);
    all.set("lambda2", model.lambda2);
    all.set("features", count(model.features));
    all.set("names", if model.names.is_empty() { Value::Null } else { Value::Texts(model.names) });
    all.set("status", model.status.name());
    let whole: Json = serde_json::from_str(text).map_err(|e| e.to_string())?;
    all.set("encoding", whole.get("encoding").map_or(Value::Null, tree));
    Ok(all.into())
}

/// Any JSON as lists and vectors.
fn tree(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(x) => (*x).into(),
        Json::Number(x) => x.as_f64().unwrap_or(f64::NAN).into(),
        Json::String(x) => x.as_str().into(),
        Json::Array(items) => match items.iter().map(|x| x.as_str().map(str::to_owned)).collect() {
            Some(texts) if !items.is_empty() => Value::Texts(texts),
            _ => Value::List(items.iter().map(tree).collect()),
        },
        Json::Object(fields) => Value::Named(fields.iter().map(|(name, x)| (name.clone(), tree(x))).collect()),
    }
}
