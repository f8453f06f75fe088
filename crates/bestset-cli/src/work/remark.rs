//! A word on targets that may be meant otherwise than they are fitted.

use bestset_data::{Dataset, Target};

/// Different values that may be classes.
const CLASSES: usize = 5;

/// Different values that may be counts.
const COUNTS: usize = 200;

/// Rows for each class or count below which nothing is said.
const ROWS: usize = 5;

/// What a target looks like that the squared loss is not made for, if it is certain enough.
pub fn on_target(target: &Target, set: &Dataset) -> Option<String> {
    let (name, values) = (&target.name, &target.values);
    if let Some(status) = censoring(target, set) {
        return Some(format!(
            "{name} looks like times until an event and {status} says whether it came: here times are regressed as they are, censored \
             ones too, and {status} is a feature; --time {name} --event {status} takes them as survival times"
        ));
    }
    let most = COUNTS.min(values.len() / ROWS);
    let levels = Target::levels(values, most);
    let listed = || levels.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let whole = values.iter().all(|y| y.fract() == 0.0 && *y >= 0.0);
    let consecutive = levels.windows(2).all(|w| w[1] == w[0] + 1.0);
    match levels[..] {
        // As many as were looked for: there may be more.
        _ if levels.len() >= most => None,
        [low, high] => Some(format!(
            "{name} has the values {low} and {high} and is regressed with the squared loss; --loss logistic takes them as classes"
        )),
        [_, _, _, ..] if whole && consecutive && levels.len() <= CLASSES => Some(format!(
            "{name} has the values {} and is regressed with the squared loss; --family multinomial takes them as classes",
            listed()
        )),
        [0.0, .., most] if whole && levels.len() > CLASSES => Some(format!(
            "{name} has whole numbers from 0 to {most} and is regressed with the squared loss; --family poisson takes them as counts"
        )),
        _ => None,
    }
}

/// The column that says whether an event came, where the target is named like a time.
fn censoring(target: &Target, set: &Dataset) -> Option<String> {
    const TIMES: [&str; 8] = ["time", "times", "days", "months", "futime", "survival", "survtime", "ostime"];
    const EVENTS: [&str; 10] =
        ["event", "status", "censor", "censored", "death", "dead", "died", "fustat", "osstatus", "osevent"];
    let plain = |name: &str| name.to_lowercase().replace(['_', '.', '-', ' '], "");
    let is_time = TIMES.contains(&plain(&target.name).as_str()) || plain(&target.name) == "survivaltime";
    if !is_time {
        return None;
    }
    let two = |j: usize| set.column(j).is_ok_and(|column| Target::levels(&column, 3).len() == 2);
    let numbers = (0..set.features()).find(|&j| EVENTS.contains(&plain(&set.names.get(j)).as_str()) && two(j));
    let texts = || set.categories.iter().find(|c| EVENTS.contains(&plain(&c.column).as_str()) && c.levels.len() == 1);
    numbers.map(|j| set.names.get(j)).or_else(|| texts().map(|c| c.column.clone()))
}
