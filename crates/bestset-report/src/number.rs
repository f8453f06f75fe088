//! Numbers for people and for files: what is not finite never reaches JSON as a number.

use bestset::shown::Side;

/// An `f64` in JSON: a number, or `null` when it is not finite; `null` comes back as NaN.
pub mod finite {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes a number or `null`.
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(serializer)
    }

    /// Reads a number, or NaN from `null`.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
    }
}

/// The same for a list.
pub mod finite_list {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes numbers and `null`s.
    pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|v| v.is_finite().then_some(*v)))
    }

    /// Reads numbers, NaN for `null`.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let values = Vec::<Option<f64>>::deserialize(deserializer)?;
        Ok(values.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect())
    }
}

/// The same for (position, value) pairs.
pub mod finite_pairs {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes positions with numbers and `null`s.
    pub fn serialize<S: Serializer>(values: &[(usize, f64)], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|(k, v)| (k, v.is_finite().then_some(*v))))
    }

    /// Reads them, NaN for `null`.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(usize, f64)>, D::Error> {
        let values = Vec::<(usize, Option<f64>)>::deserialize(deserializer)?;
        Ok(values.into_iter().map(|(k, v)| (k, v.unwrap_or(f64::NAN))).collect())
    }
}

/// About `digits` significant digits with thousands separated; `–` for what is not there.
pub fn number(value: f64, digits: usize) -> String {
    rounded(value, digits, None)
}

/// The same of a bound: rounded to the side on which it still is one.
pub fn bound(value: f64, digits: usize, side: Side) -> String {
    rounded(value, digits, Some(side))
}

fn rounded(value: f64, digits: usize, side: Option<Side>) -> String {
    let keep = |text: String| side.map_or(text.clone(), |side| side.keep(text, value));
    let size = value.abs();
    if value.is_nan() {
        return "–".to_owned();
    }
    if value.is_infinite() {
        return (if value > 0.0 { "∞" } else { "−∞" }).to_owned();
    }
    let text = if size == 0.0 {
        "0".to_owned()
    } else if !(1e-4..1e7).contains(&size) {
        keep(format!("{value:.*e}", digits.saturating_sub(2).max(1)))
    } else {
        let whole = size.log10().floor() as i32;
        let places = (digits as i32 - 1 - whole).max(0) as usize;
        grouped(&trimmed(keep(format!("{value:.places$}"))))
    };
    text.replace('-', "−")
}

/// Without zeros at the end of the decimals.
pub(crate) fn trimmed(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A comma between thousands.
fn grouped(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, decimals) = rest.split_once('.').map_or((rest, None), |(a, b)| (a, Some(b)));
    let mut out = String::from(sign);
    for (k, digit) in whole.chars().enumerate() {
        if k > 0 && (whole.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(decimals) = decimals {
        out.push('.');
        out.push_str(decimals);
    }
    out
}

/// A count with thousands separated.
pub fn count(value: usize) -> String {
    grouped(&value.to_string())
}

/// A number of things.
pub fn plural(amount: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(amount), if amount == 1 { "" } else { "s" })
}

/// A share as a percentage of about two digits that stays on one line; never rounded to nothing.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return number(share, 2);
    }
    format!("{}\u{a0}%", number(100.0 * share, 2))
}

/// A share of a bound as every interface shows it: rounded to the side on which it still is one.
pub fn percent_bound(share: f64, side: Side) -> String {
    if !share.is_finite() {
        return number(share, 2);
    }
    bestset::shown::percent(share, side).replace(' ', "\u{a0}").replace('-', "−")
}

/// A lower bound on the objective: as a number, or, where the digits left out would make more of the gap than there is, as how far below it is.
pub fn below_objective(objective: f64, lower: f64, digits: usize) -> String {
    let (shown, text, gap) =
        (number(objective, digits), bound(lower, digits, Side::Below), (objective - lower).max(0.0));
    let plain = |text: &str| text.replace(',', "").replace('−', "-");
    match bestset::shown::misleads(&plain(&shown), &plain(&text), gap) {
        true if gap > 0.0 => format!("the objective less {}", bound(gap, 4, Side::Above)),
        true => "the objective itself".to_owned(),
        false => text,
    }
}

/// A duration with its unit.
pub fn seconds(value: f64) -> String {
    match value {
        v if !v.is_finite() => number(v, 3),
        v if v < 1.0 => format!("{} ms", number(1000.0 * v, 2)),
        v if v < 120.0 => format!("{} s", number(v, 3)),
        v if v < 7200.0 => format!("{} min", number(v / 60.0, 3)),
        v => format!("{} h", number(v / 3600.0, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well_at_every_size() {
        let cases = [
            (9.0281234567, "9.02812"),
            (-0.0123456789, "−0.0123457"),
            (123456.789, "123,457"),
            (7129.0, "7,129"),
            (-1234567.0, "−1,234,567"),
            (1.5e-9, "1.5000e−9"),
            (f64::MAX, "1.7977e308"),
            (0.0, "0"),
            (-0.0, "0"),
            (100.0, "100"),
            (0.5, "0.5"),
            (f64::NAN, "–"),
            (f64::NEG_INFINITY, "−∞"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value, 6), text, "{value}");
        }
        assert_eq!((count(999), count(62061), count(10_000_000)), ("999".into(), "62,061".into(), "10,000,000".into()));
    }

    #[test]
    fn bounds_are_rounded_to_their_side() {
        assert_eq!(
            (bound(123456.2, 6, Side::Below), bound(123456.2, 6, Side::Above)),
            ("123,456".into(), "123,457".into())
        );
        assert_eq!(
            (bound(-0.0123456789, 3, Side::Above), bound(1.51e-9, 3, Side::Below)),
            ("−0.0123".into(), "1.5e−9".into())
        );
        assert_eq!((bound(f64::NAN, 3, Side::Below), bound(0.0, 3, Side::Above)), ("–".into(), "0".into()));
    }

    #[test]
    fn shares_and_durations_carry_their_unit() {
        assert_eq!(percent(0.00312), "0.31\u{a0}%");
        assert_eq!(percent(1.0), "100\u{a0}%");
        assert_eq!(percent(3e-9), "3.0e−7\u{a0}%");
        assert_eq!(
            (percent_bound(0.00312, Side::Above), percent_bound(f64::INFINITY, Side::Above)),
            ("0.312\u{a0}%".into(), "∞".into())
        );
        assert_eq!(percent_bound(1.231e-9, Side::Above), "1.24e−07\u{a0}%");
        assert_eq!(
            (below_objective(1234567.7, 1234567.6, 6), below_objective(1234567.4, 1230000.0, 6)),
            ("the objective less 0.1".into(), "1,230,000".into())
        );
        assert_eq!(percent(f64::INFINITY), "∞");
        assert_eq!(seconds(0.0123), "12 ms");
        assert_eq!(seconds(3.21987), "3.22 s");
        assert_eq!(seconds(600.0), "10 min");
    }
}
