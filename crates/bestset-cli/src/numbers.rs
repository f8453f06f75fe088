//! Numbers for people.

use bestset::shown::Side;

/// About six significant digits, fewer of what is tiny; `–` for values that are not there.
pub fn number(value: f64) -> String {
    rounded(value, None)
}

/// The same of a lower bound: not above it.
pub fn below(value: f64) -> String {
    rounded(value, Some(Side::Below))
}

/// The same of a gap: not below it.
pub fn above(value: f64) -> String {
    rounded(value, Some(Side::Above))
}

/// To the nearest number, or to the side on which it stays a bound.
fn rounded(value: f64, side: Option<Side>) -> String {
    let size = value.abs();
    let text = if value.is_nan() {
        "–".to_owned()
    } else if value.is_infinite() {
        (if value > 0.0 { "∞" } else { "−∞" }).to_owned()
    } else if size == 0.0 {
        "0".to_owned()
    } else if size < 1e-4 {
        format!("{value:.3e}")
    } else if size >= 1e9 {
        format!("{value:.5e}")
    } else {
        let whole = size.log10().floor().max(0.0) as usize;
        format!("{value:.*}", 6usize.saturating_sub(whole))
    };
    side.map_or(text.clone(), |side| side.keep(text, value))
}

/// A setting: as it was given, or six significant digits of one that was computed.
pub fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let size = rounded.abs();
    if size != 0.0 && !(1e-5..1e15).contains(&size) { format!("{rounded:e}") } else { rounded.to_string() }
}

/// A lower bound on P: as a number, or, where the digits left out would make more of the gap than there is, as how far below P it is.
pub fn below_objective(objective: f64, bound: f64, gap: f64) -> String {
    let text = below(bound);
    match bestset::shown::misleads(&number(objective), &text, gap) {
        true if gap > 0.0 => format!("P − {}", above(gap)),
        true => "P".to_owned(),
        false => text,
    }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return number(share);
    }
    let value = 100.0 * share;
    let text = if value == 0.0 || value >= 0.01 { format!("{value:.2}") } else { format!("{value:.0e}") };
    format!("{text} %")
}

/// A relative gap: not below it, as all interfaces show it.
pub fn percent_above(share: f64) -> String {
    if share.is_finite() { bestset::shown::percent(share, Side::Above) } else { number(share) }
}

/// A duration.
pub fn seconds(value: f64) -> String {
    match value {
        v if v < 0.001 => format!("{v:.6}"),
        v if v < 0.1 => format!("{v:.4}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let cases = [
            (9.0281234567, "9.028123"),
            (-0.0123456789, "-0.012346"),
            (123456.789, "123456.8"),
            (1.5e-9, "1.500e-9"),
            (1921234.6, "1921235"),
            (23456789012.0, "2.34568e10"),
            (0.0, "0"),
            (f64::NAN, "–"),
            (f64::NEG_INFINITY, "−∞"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn bounds_are_rounded_to_their_side() {
        assert_eq!((below(3.8021356789), above(3.8021351)), ("3.802135".into(), "3.802136".into()));
        assert_eq!((below(-3.8021351), above(6.3681e-7)), ("-3.802136".into(), "6.369e-7".into()));
        assert_eq!(
            (above(999999.96), below(0.5), above(f64::INFINITY)),
            ("1000000.0".into(), "0.500000".into(), "∞".into())
        );
        assert_eq!((percent_above(0.123401), percent_above(1.011e-9)), ("12.4 %".into(), "1.02e-07 %".into()));
        assert_eq!((percent_above(0.0), percent_above(0.5)), ("0 %".into(), "50 %".into()));
        assert_eq!((below(f64::NAN), percent_above(f64::INFINITY)), ("–".into(), "∞".into()));
    }

    /// 12.345679 and 12.345678 would be a gap of a millionth.
    #[test]
    fn a_bound_next_to_the_objective_is_shown_by_its_distance() {
        let shown = |objective: f64, bound: f64| below_objective(objective, bound, objective - bound);
        assert_eq!(shown(12.345678901, 12.345678900), "P − 1.001e-9");
        assert_eq!((shown(12.345678901, 12.345678901), shown(4.0, 4.0)), ("P".into(), "4.000000".into()));
        assert_eq!((shown(12.345678901, 12.3), shown(2.0, f64::NEG_INFINITY)), ("12.30000".into(), "−∞".into()));
        assert_eq!(shown(2e12, 2e12 - 0.5), "P − 0.500000");
    }

    #[test]
    fn settings_are_as_given_or_short() {
        let cases = [(0.002, "0.002"), (12584.0677, "12584.1"), (1e-9, "1e-9"), (0.0, "0"), (1e5, "100000")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn percentages_do_not_round_to_nothing() {
        assert_eq!(percent(0.00617), "0.62 %");
        assert_eq!(percent(1e-9), "1e-7 %");
        assert_eq!(percent(0.0), "0.00 %");
        assert_eq!(percent(f64::INFINITY), "∞");
    }
}
