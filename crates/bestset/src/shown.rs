//! Numbers with few digits that stay true: a bound that is shown is rounded to the side on which it still is one.

/// The side of a number on which what is shown of it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Not above it, as of a lower bound or a share that is certain.
    Below,
    /// Not below it, as of a gap, or of a limit that nothing exceeds.
    Above,
}

impl Side {
    /// `text`, which is `value` as Rust formats it with digits left out, its last digit moved by one where the number that it says is on
    /// the other side.
    ///
    /// ```
    /// use bestset::shown::Side;
    ///
    /// assert_eq!(Side::Above.keep(format!("{:.4}", 0.79673), 0.79673), "0.7968");
    /// assert_eq!(Side::Below.keep(format!("{:.4}", 0.79673), 0.79673), "0.7967");
    /// assert_eq!(Side::Above.keep(format!("{:.1e}", 9.92e-9), 9.92e-9), "1.0e-8");
    /// ```
    pub fn keep(self, text: String, value: f64) -> String {
        let Ok(read) = text.parse::<f64>() else { return text };
        let is_kept = match self {
            Self::Below => read <= value,
            Self::Above => read >= value,
        };
        if is_kept || !value.is_finite() {
            return text;
        }
        let (sign, size) = text.strip_prefix('-').map_or(("", text.as_str()), |size| ("-", size));
        let grows = (self == Self::Above) == sign.is_empty();
        let (mantissa, power) = size.split_once('e').map_or((size, None), |(m, e)| (m, e.parse::<i32>().ok()));
        let (digits, carried) = moved(mantissa, grows);
        match (power, carried) {
            // 10 less one is 9, not 09.
            (None, false) => match digits.strip_prefix('0') {
                Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => format!("{sign}{rest}"),
                _ => format!("{sign}{digits}"),
            },
            (None, true) => format!("{sign}1{digits}"),
            // 9.99 and one more is 1.00 of the next power; 1.00 less one is 9.99 of the one before.
            (Some(e), true) => format!("{sign}{}e{}", digits.replacen('0', "1", 1), e + 1),
            (Some(e), false) if digits.starts_with('0') => {
                format!("{sign}{}e{}", digits.replace(|c: char| c.is_ascii_digit(), "9"), e - 1)
            }
            (Some(e), false) => format!("{sign}{digits}e{e}"),
        }
    }
}

/// Decimal digits with the last one moved up or down by one, and whether a one stands before them now.
fn moved(digits: &str, grows: bool) -> (String, bool) {
    let (from, to) = if grows { (b'9', b'0') } else { (b'0', b'9') };
    let mut bytes = digits.as_bytes().to_vec();
    let mut carried = true;
    for byte in bytes.iter_mut().rev().filter(|byte| byte.is_ascii_digit()) {
        if *byte != from {
            *byte = if grows { *byte + 1 } else { *byte - 1 };
            carried = false;
            break;
        }
        *byte = to;
    }
    (String::from_utf8(bytes).unwrap_or_default(), carried)
}

/// A number to so many decimal places.
///
/// ```
/// use bestset::shown::{Side, decimals};
///
/// assert_eq!(decimals(-0.00001, 2, Side::Below), "-0.01");
/// assert_eq!(decimals(99.999, 2, Side::Above), "100.00");
/// ```
pub fn decimals(value: f64, places: usize, side: Side) -> String {
    // A negative zero is none.
    let text = side.keep(format!("{value:.places$}"), value);
    match text.strip_prefix('-') {
        Some(size) if !size.contains(|c: char| ('1'..='9').contains(&c)) => size.to_owned(),
        _ => text,
    }
}

/// A number to so many significant digits, without zeros at its end, as `%g` writes it: Python and R show numbers so.
///
/// ```
/// use bestset::shown::{Side, significant};
///
/// assert_eq!(significant(0.300004, 4, Side::Above), "0.3001");
/// assert_eq!(significant(0.300004, 4, Side::Below), "0.3");
/// assert_eq!(significant(123456.7, 4, Side::Above), "1.235e+05");
/// assert_eq!(significant(0.000012345, 3, Side::Below), "1.23e-05");
/// ```
pub fn significant(value: f64, digits: usize, side: Side) -> String {
    let (digits, value) = (digits.max(1), value + 0.0);
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return (if value > 0.0 { "inf" } else { "-inf" }).to_owned();
    }
    let text = side.keep(format!("{value:.*e}", digits - 1), value);
    let Some((mantissa, power)) = text.split_once('e').and_then(|(m, e)| Some((m, e.parse::<i32>().ok()?))) else {
        return text;
    };
    // The powers between which %g writes no exponent.
    if power < -4 || power >= digits as i32 {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), power.abs());
    }
    // What was kept has no more digits than are written here: they say the same number.
    let places = (digits as i32 - 1 - power).max(0) as usize;
    let plain = format!("{:.places$}", text.parse().unwrap_or(value));
    trimmed(&plain).to_owned()
}

/// A share as a percentage of three significant digits, in every interface the same; rounded to a side.
///
/// ```
/// use bestset::shown::{Side, percent};
///
/// assert_eq!(percent(0.12341, Side::Above), "12.4 %");
/// assert_eq!(percent(1.2341e-9, Side::Above), "1.24e-07 %");
/// assert_eq!(percent(0.0, Side::Above), "0 %");
/// ```
pub fn percent(share: f64, side: Side) -> String {
    format!("{} %", significant(100.0 * share, 3, side))
}

/// Whether a number and its lower bound, as they are shown, make more of the gap between them than there is, as 12.346 and 12.345 of an answer
/// whose gap is 10⁻⁹: then the gap is to be shown in place of the bound.
///
/// ```
/// use bestset::shown::misleads;
///
/// assert!(misleads("12.346", "12.345", 1e-9));
/// assert!(!misleads("12.346", "12.301", 0.045));
/// ```
pub fn misleads(value: &str, bound: &str, gap: f64) -> bool {
    // Rounding both may double a gap of a few last digits, which nobody minds.
    const MORE: f64 = 2.5;
    match (value.parse::<f64>(), bound.parse::<f64>()) {
        (Ok(value), Ok(bound)) => value.is_finite() && bound.is_finite() && value - bound > MORE * gap,
        _ => false,
    }
}

/// The power of ten that a number is one to ten times of: what to divide it by to make it one of the usual size.
///
/// ```
/// assert_eq!(bestset::shown::power_of_ten(-2.5e200), 1e200);
/// ```
pub fn power_of_ten(value: f64) -> f64 {
    let text = format!("{:e}", value.abs());
    text.split_once('e').and_then(|(_, power)| format!("1e{power}").parse().ok()).unwrap_or(1.0)
}

/// Without zeros at the end of the decimals.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Numbers of all sizes and signs, many of them a hair beside ones with few digits.
    fn numbers() -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut all = vec![0.0, -0.0, 1.0, 9.9995, 99.995, 0.99995, 0.1, 0.3, 1e-4, 1e9, 5e-324, 0.000099999];
        for _ in 0..20_000 {
            let power = rng.random_range(-12..13);
            let short = f64::from(rng.random_range(0..100_000)) * 10f64.powi(power);
            all.extend([short, short.next_up(), short.next_down(), rng.random::<f64>() * 10f64.powi(power)]);
        }
        let negative: Vec<f64> = all.iter().map(|x| -x).collect();
        [all, negative].concat()
    }

    fn holds(text: &str, value: f64, side: Side) -> bool {
        let read: f64 = text.parse().unwrap();
        if side == Side::Below { read <= value } else { read >= value }
    }

    #[test]
    fn what_is_shown_is_on_its_side_and_less_than_a_digit_away() {
        for value in numbers() {
            for side in [Side::Below, Side::Above] {
                for places in [0, 2, 4] {
                    let text = decimals(value, places, side);
                    assert!(holds(&text, value, side), "{value:e} to {places} places: {text}");
                    let off = (text.parse::<f64>().unwrap() - value).abs();
                    let unit = 0.1f64.powi(places as i32);
                    assert!(off <= unit * (1.0 + 1e-9) + value.abs() * 1e-15, "{value:e} to {places} places: {text}");
                }
                for digits in [1, 3, 7] {
                    let text = significant(value, digits, side);
                    assert!(holds(&text, value, side), "{value:e} to {digits} digits: {text}");
                    let off = (text.parse::<f64>().unwrap() - value).abs();
                    let unit = value.abs() * 10f64.powi(1 - digits as i32);
                    assert!(off <= unit * (1.0 + 1e-9), "{value:e} to {digits} digits: {text}");
                }
            }
        }
    }

    #[test]
    fn what_has_few_digits_is_shown_as_it_is() {
        for side in [Side::Below, Side::Above] {
            assert_eq!(decimals(0.1, 4, side), "0.1000");
            assert_eq!(significant(0.1, 4, side), "0.1");
            assert_eq!(significant(1234.0, 4, side), "1234");
            assert_eq!(significant(0.0, 4, side), "0");
            assert_eq!((decimals(-0.0, 1, side), significant(-0.0, 4, side)), ("0.0".into(), "0".into()));
            assert_eq!(significant(f64::NEG_INFINITY, 4, side), "-inf");
        }
    }

    #[test]
    fn digits_are_carried_and_borrowed() {
        assert_eq!(significant(0.99996, 4, Side::Above), "1");
        assert_eq!(significant(99996.0, 4, Side::Below), "9.999e+04");
        assert_eq!(significant(-99996.0, 4, Side::Above), "-9.999e+04");
        assert_eq!(Side::Above.keep("9.999e9".into(), 9.9994e9), "1.000e10");
        assert_eq!(Side::Below.keep("1.000e5".into(), 99996.0), "9.999e4");
        assert_eq!(Side::Below.keep("100".into(), 99.6), "99");
        assert_eq!(Side::Above.keep("99".into(), 99.4), "100");
        // As decimals: no double is as large.
        assert_eq!(significant(f64::MAX, 3, Side::Above), "1.8e+308");
        assert_eq!(significant(f64::MAX, 3, Side::Below), "1.79e+308");
    }
}
