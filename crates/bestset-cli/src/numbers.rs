//! Numbers for people.

/// About six significant digits, fewer of what is tiny; `–` for values that are not there.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
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
    }
}

/// A setting: as it was given, or six significant digits of one that was computed.
pub fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let size = rounded.abs();
    if size != 0.0 && !(1e-5..1e15).contains(&size) { format!("{rounded:e}") } else { rounded.to_string() }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return number(share);
    }
    let value = 100.0 * share;
    if value == 0.0 || value >= 0.01 { format!("{value:.2} %") } else { format!("{value:.0e} %") }
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
