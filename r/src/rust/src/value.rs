//! Answers as plain trees, made on any thread; vectors and lists of R on R's own.

use savvy::{OwnedIntegerSexp, OwnedListSexp, OwnedLogicalSexp, OwnedRealSexp, OwnedStringSexp, Sexp};

/// What R is given.
pub enum Value {
    Null,
    Flag(bool),
    Numbers(Vec<f64>),
    Wholes(Vec<i32>),
    Texts(Vec<String>),
    List(Vec<Value>),
    Named(Vec<(String, Value)>),
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Numbers(vec![x])
    }
}

impl From<bool> for Value {
    fn from(x: bool) -> Self {
        Self::Flag(x)
    }
}

impl From<Vec<f64>> for Value {
    fn from(x: Vec<f64>) -> Self {
        Self::Numbers(x)
    }
}

impl From<&str> for Value {
    fn from(x: &str) -> Self {
        Self::Texts(vec![x.to_owned()])
    }
}

impl From<String> for Value {
    fn from(x: String) -> Self {
        Self::Texts(vec![x])
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(x: Option<T>) -> Self {
        x.map_or(Self::Null, Into::into)
    }
}

/// A count: a whole number, or where R has none so large a real one.
pub fn count(x: usize) -> Value {
    i32::try_from(x).map_or(Value::from(x as f64), |x| Value::Wholes(vec![x]))
}

/// Counts; R's matrices have no more rows or columns than its whole numbers.
pub fn counts(from: impl Iterator<Item = usize>) -> Value {
    Value::Wholes(from.map(|x| i32::try_from(x).unwrap_or(i32::MAX)).collect())
}

/// Places, which R counts from one.
pub fn places(from: &[usize]) -> Value {
    counts(from.iter().map(|j| j + 1))
}

/// Fields of a list.
#[derive(Default)]
pub struct Record(Vec<(String, Value)>);

impl Record {
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.push((name.to_owned(), value.into()));
    }
}

impl From<Record> for Value {
    fn from(record: Record) -> Self {
        Self::Named(record.0)
    }
}

impl Value {
    /// As R has it. Owned vectors protect themselves until the list that they are put into does.
    pub fn to_r(&self) -> savvy::Result<Sexp> {
        match self {
            Self::Null => Sexp::try_from(()),
            Self::Flag(x) => OwnedLogicalSexp::try_from(*x)?.into(),
            Self::Numbers(x) => OwnedRealSexp::try_from_slice(x)?.into(),
            Self::Wholes(x) => OwnedIntegerSexp::try_from_slice(x)?.into(),
            Self::Texts(x) => OwnedStringSexp::try_from_slice(x)?.into(),
            Self::List(items) => {
                let mut list = OwnedListSexp::new(items.len(), false)?;
                for (place, item) in items.iter().enumerate() {
                    list.set_value(place, item.to_r()?)?;
                }
                list.into()
            }
            Self::Named(fields) => {
                let mut list = OwnedListSexp::new(fields.len(), true)?;
                for (place, (name, value)) in fields.iter().enumerate() {
                    list.set_name_and_value(place, name, value.to_r()?)?;
                }
                list.into()
            }
        }
    }
}
