//! Lists of R, read field by field. NULL is what is not given.

use savvy::{ListSexp, NumericSexp, RealSexp, Sexp, StringSexp};

/// Why a call brought no answer, in words.
pub type Failure = String;

/// The fields of a list.
pub struct Fields(pub ListSexp);

impl Fields {
    /// What is there.
    pub fn get(&self, name: &str) -> Option<Sexp> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn read<T>(&self, name: &str, read: impl FnOnce(Sexp) -> savvy::Result<T>) -> Result<Option<T>, Failure> {
        self.get(name).map(|value| read(value).map_err(|e| format!("{name}: {e}"))).transpose()
    }

    /// A list.
    pub fn list(&self, name: &str) -> Result<Option<Fields>, Failure> {
        self.read(name, |value| Ok(Self(ListSexp::try_from(value)?)))
    }

    /// Lists in a list.
    pub fn items(&self, name: &str) -> Result<Vec<Fields>, Failure> {
        let all = self.read(name, |value| {
            ListSexp::try_from(value)?.values_iter().map(|item| Ok(Self(ListSexp::try_from(item)?))).collect()
        })?;
        Ok(all.unwrap_or_default())
    }

    /// Numbers, as R has them.
    pub fn real(&self, name: &str) -> Result<Option<RealSexp>, Failure> {
        self.read(name, RealSexp::try_from)
    }

    /// A copy of numbers.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, Failure> {
        self.read(name, |value| Ok(NumericSexp::try_from(value)?.iter_f64().collect()))
    }

    /// Whole numbers that are not negative.
    pub fn wholes(&self, name: &str) -> Result<Option<Vec<usize>>, Failure> {
        self.read(name, |value| NumericSexp::try_from(value)?.iter_usize().collect())
    }

    /// Places, which R counts from one.
    pub fn places(&self, name: &str) -> Result<Vec<usize>, Failure> {
        let from_zero = |j: usize| j.checked_sub(1).ok_or_else(|| format!("{name} lists 0; places count from 1"));
        self.wholes(name)?.unwrap_or_default().into_iter().map(from_zero).collect()
    }

    /// Texts.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Failure> {
        self.read(name, |value| Ok(StringSexp::try_from(value)?.iter().map(str::to_owned).collect()))
    }

    /// One number.
    pub fn number(&self, name: &str) -> Result<Option<f64>, Failure> {
        one(name, self.numbers(name)?)
    }

    /// One whole number.
    pub fn whole(&self, name: &str) -> Result<Option<usize>, Failure> {
        one(name, self.wholes(name)?)
    }

    /// One text.
    pub fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        one(name, self.texts(name)?)
    }

    /// Yes or no; no where it is not given.
    pub fn flag(&self, name: &str) -> Result<bool, Failure> {
        Ok(self.read(name, bool::try_from)?.unwrap_or(false))
    }
}

fn one<T>(name: &str, given: Option<Vec<T>>) -> Result<Option<T>, Failure> {
    match given {
        Some(values) if values.len() != 1 => Err(format!("{name} has {} values; it must have one", values.len())),
        given => Ok(given.and_then(|values| values.into_iter().next())),
    }
}

/// What must be given.
pub fn needed<T>(name: &str, value: Option<T>) -> Result<T, Failure> {
    value.ok_or_else(|| format!("{name} is missing"))
}
