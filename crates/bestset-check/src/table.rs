//! The data as it is in a file: columns of numbers by name, from CSV or NPY, read by this crate alone.

use std::fs;
use std::path::Path;

/// Columns of texts or numbers, by name.
#[derive(Debug, Clone)]
pub struct Table {
    names: Vec<String>,
    rows: usize,
    cells: Cells,
}

#[derive(Debug, Clone)]
enum Cells {
    /// Row by row, as in the file.
    Text(Vec<String>),
    /// Column by column.
    Numbers(Vec<f64>),
}

impl Table {
    /// Columns of numbers, each as long as the others.
    pub fn of_columns(names: Vec<String>, columns: Vec<Vec<f64>>) -> Self {
        let rows = columns.first().map_or(0, Vec::len);
        Self { names, rows, cells: Cells::Numbers(columns.concat()) }
    }

    /// Reads `.npy` as an array of 64-bit floating point numbers with columns x1, x2, …; anything else as CSV with a line of names.
    pub fn read(path: &Path) -> Result<Self, String> {
        let place = |problem: String| format!("{}: {problem}", path.display());
        let bytes = fs::read(path).map_err(|error| place(error.to_string()))?;
        match path.extension().is_some_and(|e| e == "npy") {
            true => Self::npy(&bytes).map_err(place),
            false => {
                let text = String::from_utf8(bytes).map_err(|_| place("this is no UTF-8 text".to_owned()))?;
                Self::csv(&text).map_err(place)
            }
        }
    }

    /// Comma, semicolon or tab, the first found in the first line; quotes as in RFC 4180.
    pub fn csv(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let first = text.lines().next().unwrap_or("");
        let delimiter = first.chars().find(|c| [',', ';', '\t'].contains(c)).unwrap_or(',');
        let (mut lines, mut line, mut cell) = (Vec::new(), Vec::new(), String::new());
        let (mut quoted, mut chars) = (false, text.chars().peekable());
        while let Some(c) = chars.next() {
            match c {
                '"' if quoted && chars.next_if_eq(&'"').is_some() => cell.push('"'),
                '"' => quoted = !quoted,
                c if quoted => cell.push(c),
                '\r' => {}
                '\n' => {
                    line.push(std::mem::take(&mut cell));
                    lines.push(std::mem::take(&mut line));
                }
                c if c == delimiter => line.push(std::mem::take(&mut cell)),
                c => cell.push(c),
            }
        }
        if !cell.is_empty() || !line.is_empty() {
            line.push(cell);
            lines.push(line);
        }
        lines.retain(|line: &Vec<String>| !(line.len() == 1 && line[0].trim().is_empty()));
        let mut lines = lines.into_iter();
        let name = |(k, cell): (usize, &String)| match cell.trim_matches(|c: char| c.is_ascii_whitespace()) {
            "" => format!("x{}", k + 1),
            name => name.to_owned(),
        };
        let names: Vec<String> = lines.next().ok_or("the file is empty")?.iter().enumerate().map(name).collect();
        let mut cells = Vec::new();
        let mut rows = 0;
        for line in lines {
            rows += 1;
            if line.len() != names.len() {
                return Err(format!("row {rows} has {} cells, the first line {}", line.len(), names.len()));
            }
            cells.extend(line);
        }
        Ok(Self { names, rows, cells: Cells::Text(cells) })
    }

    /// A NumPy array of 64-bit floating point numbers, by rows or by columns.
    pub fn npy(bytes: &[u8]) -> Result<Self, String> {
        let bad = |what: &str| format!("{what}; a two-dimensional .npy array of '<f8' is wanted");
        if bytes.len() < 12 || &bytes[..6] != b"\x93NUMPY" {
            return Err(bad("no NumPy array"));
        }
        let (length, start) = match bytes[6] {
            1 => (usize::from(u16::from_le_bytes([bytes[8], bytes[9]])), 10),
            _ => (u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize, 12),
        };
        let header = bytes.get(start..start + length).ok_or_else(|| bad("the header is cut short"))?;
        let header = std::str::from_utf8(header).map_err(|_| bad("the header is no text"))?;
        if !header.contains("'<f8'") {
            return Err(bad("the entries are of another type"));
        }
        let by_columns = header.contains("'fortran_order': True");
        let shape = header.split("'shape':").nth(1).and_then(|s| s.split(['(', ')']).nth(1));
        let shape: Vec<usize> = shape.unwrap_or("").split(',').filter_map(|n| n.trim().parse().ok()).collect();
        let (rows, columns) = match shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => return Err(bad("the array has not one or two dimensions")),
        };
        // Without rows an array of no bytes could announce any number of columns.
        if rows == 0 || columns == 0 {
            return Err(bad("the array is empty"));
        }
        let body = &bytes[start + length..];
        if rows.checked_mul(columns).and_then(|c| c.checked_mul(8)) != Some(body.len()) {
            return Err(format!("{rows} × {columns} numbers are announced, {} bytes follow", body.len()));
        }
        let at = |k: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&body[8 * k..8 * k + 8]);
            f64::from_le_bytes(number)
        };
        let place = |k: usize| if by_columns { k } else { (k % rows) * columns + k / rows };
        let numbers = (0..rows * columns).map(|k| at(place(k))).collect();
        let names = (1..=columns).map(|j| format!("x{j}")).collect();
        Ok(Self { names, rows, cells: Cells::Numbers(numbers) })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.names.len()
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The places of the columns of these names; of a name that is there twice, the second place the second time.
    pub fn find(&self, names: &[String]) -> Result<Vec<usize>, String> {
        let mut places = std::collections::HashMap::<&str, Vec<usize>>::new();
        for (k, name) in self.names.iter().enumerate().rev() {
            places.entry(name).or_default().push(k);
        }
        let place = |name: &String| places.get_mut(name.as_str()).and_then(Vec::pop);
        let missing = |name: &String| format!("the data has no column {name:?}, of which the proof speaks");
        let mut place = place;
        names.iter().map(|name| place(name).ok_or_else(|| missing(name))).collect()
    }

    /// The numbers of column k.
    pub fn numbers(&self, k: usize) -> Result<Vec<f64>, String> {
        match &self.cells {
            Cells::Numbers(all) => Ok(all[k * self.rows..(k + 1) * self.rows].to_vec()),
            Cells::Text(cells) => {
                let one = |i: usize| {
                    let text = cells[i * self.names.len() + k].trim();
                    text.parse().map_err(|_| {
                        let name = &self.names[k];
                        format!("row {}, column {name:?}: {text:?} is no number, and a proof speaks of numbers: `bestset exact … --proof-data FILE` writes the data as it was used", i + 1)
                    })
                };
                (0..self.rows).map(one).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_delimiters() {
        let table = Table::csv("\"a;b\";c\n1;2\r\n3;4e-1\n").unwrap();
        assert_eq!((table.rows(), table.columns()), (2, 2));
        assert_eq!(table.numbers(1).unwrap(), [2.0, 0.4]);
        assert_eq!(table.find(&["c".to_owned(), "a;b".to_owned()]).unwrap(), [1, 0]);
        assert!(table.find(&["d".to_owned()]).unwrap_err().contains("\"d\""));
        assert!(Table::csv("a,b\n1\n").unwrap_err().contains("row 1"));
        assert!(Table::csv("a\nx\n").unwrap().numbers(0).unwrap_err().contains("\"x\""));
    }

    #[test]
    fn arrays_by_rows() {
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        [1.0, 2.0, 3.0, 4.0f64].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        let table = Table::npy(&bytes).unwrap();
        assert_eq!((table.numbers(0).unwrap(), table.numbers(1).unwrap()), (vec![1.0, 3.0], vec![2.0, 4.0]));
        (0..bytes.len()).for_each(|cut| assert!(Table::npy(&bytes[..cut]).is_err()));
    }
}
