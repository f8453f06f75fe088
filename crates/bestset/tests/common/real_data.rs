//! Files of the data folder beside the project, for tests that skip where it is absent.

use std::path::{Path, PathBuf};

/// A file of the data folder beside the project, if it is there.
pub fn data_file(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: there is no {}", path.display());
    None
}

/// A file of numbers.
pub struct Table {
    pub names: Vec<String>,
    pub columns: Vec<Vec<f64>>,
}

/// A file of numbers with a line of quoted names; the target is the last column.
pub fn table(path: &Path) -> Table {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names: Vec<String> = lines.next().unwrap().split(',').map(|s| s.trim_matches('"').to_owned()).collect();
    let mut columns = vec![Vec::new(); names.len()];
    for line in lines.filter(|l| !l.is_empty()) {
        for (column, entry) in columns.iter_mut().zip(line.split(',')) {
            column.push(entry.parse().unwrap());
        }
    }
    Table { names, columns }
}
