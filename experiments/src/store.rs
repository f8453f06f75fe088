//! A CSV file that grows line by line and survives a kill: what is there is not run again.

use crate::Result;
use serde::{Serialize, de::DeserializeOwned};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// A line that knows which run it is of.
pub trait Keyed: Serialize + DeserializeOwned + Clone {
    /// The same for runs of the same thing.
    fn key(&self) -> String;

    /// Whether a run with this cap would be no different: it ended by itself, or was given as much.
    fn allows(&self, cap: f64) -> bool;
}

/// The lines of one file.
pub struct Store<T> {
    file: File,
    rows: Vec<T>,
    place: HashMap<String, usize>,
    is_empty: bool,
}

impl<T: Keyed> Store<T> {
    /// Opens or makes the file. A last line that a kill cut short is taken off.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let text = fs::read(path)?;
        let whole = text.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64)?;
        file.seek(SeekFrom::End(0))?;
        let mut store = Self { file, rows: Vec::new(), place: HashMap::new(), is_empty: whole == 0 };
        for (number, row) in csv::Reader::from_reader(&text[..whole]).deserialize().enumerate() {
            let row: T = row.map_err(|e| format!("{}, row {}: {e}", path.display(), number + 1))?;
            store.keep(row);
        }
        Ok(store)
    }

    /// A later row of the same run takes the place of the earlier one.
    fn keep(&mut self, row: T) {
        match self.place.entry(row.key()) {
            std::collections::hash_map::Entry::Occupied(at) => self.rows[*at.get()] = row,
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(self.rows.len());
                self.rows.push(row);
            }
        }
    }

    /// Writes the row with one call, so that a kill leaves it whole or cut, never mixed.
    pub fn append(&mut self, row: T) -> Result<()> {
        let mut line = Vec::new();
        let mut writer = csv::WriterBuilder::new().has_headers(self.is_empty).from_writer(&mut line);
        writer.serialize(&row)?;
        writer.flush()?;
        drop(writer);
        self.file.write_all(&line)?;
        self.file.flush()?;
        self.is_empty = false;
        self.keep(row);
        Ok(())
    }

    /// The row of this run.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.place.get(key).map(|&at| &self.rows[at])
    }

    /// Whether this run need not be made again.
    pub fn has(&self, key: &str, cap: f64) -> bool {
        self.get(key).is_some_and(|row| row.allows(cap))
    }

    /// All rows, the last one of each run.
    pub fn rows(&self) -> &[T] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Line {
        name: String,
        value: f64,
        cap: f64,
    }

    impl Keyed for Line {
        fn key(&self) -> String {
            self.name.clone()
        }
        fn allows(&self, cap: f64) -> bool {
            self.cap >= cap
        }
    }

    fn line(name: &str, value: f64, cap: f64) -> Line {
        Line { name: name.into(), value, cap }
    }

    #[test]
    fn a_cut_line_is_run_again_and_whole_ones_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/lines.csv");
        let mut store = Store::open(&path).unwrap();
        store.append(line("a", 0.1 + 0.2, 5.0)).unwrap();
        store.append(line("b", f64::NEG_INFINITY, 5.0)).unwrap();
        drop(store);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 2]).unwrap();
        let mut store: Store<Line> = Store::open(&path).unwrap();
        assert_eq!(store.rows(), [line("a", 0.1 + 0.2, 5.0)]);
        assert!(store.has("a", 5.0) && !store.has("a", 6.0) && !store.has("b", 5.0));
        store.append(line("b", f64::NEG_INFINITY, 5.0)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "the same file as without the kill");
    }

    #[test]
    fn a_later_row_replaces_an_earlier_one_and_damage_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines.csv");
        let mut store = Store::open(&path).unwrap();
        store.append(line("a", 1.0, 5.0)).unwrap();
        store.append(line("a", 2.0, 9.0)).unwrap();
        drop(store);
        let store: Store<Line> = Store::open(&path).unwrap();
        assert_eq!(store.rows(), [line("a", 2.0, 9.0)]);
        fs::write(&path, "name,value,cap\na,1,2\nb,x,2\n").unwrap();
        let error = Store::<Line>::open(&path).err().unwrap().to_string();
        assert!(error.contains("lines.csv, row 2"), "{error}");
    }
}
