//! Different texts of a column, counted in the order they come.

use std::borrow::Cow;
use std::collections::HashMap;

/// The texts met so far. Spellings of one number are one text, the first of them: 24.0 is 24.00.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    pub texts: Vec<String>,
    known: HashMap<Vec<u8>, u32>,
}

impl Levels {
    /// The position of a text among those met so far, itself included; an error where it is not UTF-8.
    pub fn code_of(&mut self, field: &[u8]) -> Result<u32, std::str::Utf8Error> {
        match self.known.get(field) {
            Some(code) => Ok(*code),
            None => std::str::from_utf8(field).map(|text| self.code(text)),
        }
    }

    /// The position of a text among those met so far, itself included.
    pub fn code(&mut self, text: &str) -> u32 {
        if let Some(code) = self.known.get(text.as_bytes()) {
            return *code;
        }
        let key = level_key(text).into_owned().into_bytes();
        let code = *self.known.entry(key).or_insert(self.texts.len() as u32);
        self.known.insert(text.as_bytes().to_owned(), code);
        if code as usize == self.texts.len() {
            self.texts.push(text.to_owned());
        }
        code
    }
}

/// Digits that a double always tells apart; longer numbers, such as keys of a data base, are texts.
const DIGITS: usize = 15;

/// What spellings of one level have in common: the value of a number, any other text itself.
pub(crate) fn level_key(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    let mantissa = trimmed.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    match trimmed.parse::<f64>() {
        // Adding zero makes one of the two zeros.
        Ok(value) if value.is_finite() && digits.trim_matches('0').len() <= DIGITS => {
            Cow::Owned((value + 0.0).to_string())
        }
        _ => Cow::Borrowed(text),
    }
}

/// Whether two texts are one level.
pub(crate) fn same_level(a: &str, b: &str) -> bool {
    a == b || level_key(a) == level_key(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_number_are_one_level() {
        for same in ["24", "24.0", "24.00", "+24", " 24", "024", "2.4e1"] {
            assert!(same_level(same, "24"), "{same}");
        }
        for (a, b) in [("24", "24.5"), ("a", "A"), ("a", "a "), ("1,5", "15"), ("inf", "Infinity"), ("nan", "NaN")] {
            assert!(!same_level(a, b), "{a} {b}");
        }
        assert!(same_level("-0", "0") && same_level("1000000", "1e6"));
        assert!(!same_level("12345678901234567890", "12345678901234567891"), "more digits than a double has");
        let mut levels = Levels::default();
        let codes = ["24.0", "x", "24.00", "24", "24.0"].map(|text| levels.code(text));
        assert_eq!((levels.code_of(b"x"), levels.code_of(b"caf\xe9").is_err()), (Ok(1), true));
        assert_eq!((codes, levels.texts), ([0, 1, 0, 0, 0], vec!["24.0".to_owned(), "x".to_owned()]));
    }
}
