//! Tables from file to file some columns at a time: what is written is what a reading of all columns gives.

use bestset::design::{Design, Stored};
use bestset_data::{Converted, Label, Matrix, Names, ReadOptions, Table, convert, read, write};
use std::path::Path;

const ROWS: usize = 40_000;
const COLUMNS: usize = 10;

fn entry(i: usize, j: usize) -> f64 {
    ((i * 31 + j * 17) % 1009) as f64 / 8.0 - 60.0
}

/// Columns a0, a1, … in any format, a0 the one that is to be the label.
fn table() -> Table {
    let data = (0..COLUMNS).flat_map(|j| (0..ROWS).map(move |i| entry(i, j))).collect();
    let names = Names::Listed((0..COLUMNS).map(|j| format!("a{j}")).collect());
    Table::of_numbers("made".into(), Matrix::Dense { rows: ROWS, columns: COLUMNS, data }, names, None)
}

/// A NumPy array row after row.
fn by_rows(path: &Path) {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({ROWS}, {COLUMNS}), }}");
    header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((0..ROWS).flat_map(|i| (0..COLUMNS).flat_map(move |j| entry(i, j).to_le_bytes())));
    std::fs::write(path, bytes).unwrap();
}

/// The same through memory of every size, with columns left out and one taken for the label.
#[test]
fn a_file_is_read_as_often_as_memory_asks_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["t.csv", "t.parquet"] {
        write(&table(), at(name), None).unwrap();
    }
    by_rows(&at("rows.npy"));
    for (from, label, dropped) in [("t.csv", "a4", "a9"), ("t.parquet", "a4", "-1"), ("rows.npy", "x5", "10")] {
        for (limit, readings) in [(None, 1), (Some(1 << 24), 1), (Some(1 << 21), 4), (Some(1), 4)] {
            let options = ReadOptions { max_memory: limit.map(|l: usize| l.max(1 << 21)), ..ReadOptions::default() };
            let done = convert(at(from), at("out.npy"), &options, Some(label), &[dropped.to_owned()]).unwrap().unwrap();
            let Converted { rows, columns, label, readings: found, .. } = done;
            assert_eq!((rows, columns, found), (ROWS, COLUMNS - 2, readings), "{from} {limit:?}");
            assert_eq!(label.unwrap().values, (0..ROWS).map(|i| entry(i, 4)).collect::<Vec<_>>(), "{from}");
            let stored = Stored::open(at("out.npy")).unwrap();
            let (mut k, mut buffer) = (0, Default::default());
            for j in (0..COLUMNS).filter(|j| ![4, 9].contains(j)) {
                stored.column(k, &mut buffer).unwrap();
                assert!((0..ROWS).all(|i| buffer.values[i] == entry(i, j)), "{from}: {j}");
                k += 1;
            }
        }
    }
}

#[test]
fn what_an_array_cannot_hold_is_an_error_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("t.csv"), folder.path().join("t.npy"));
    for (text, drop, problem) in [
        ("a,b\n1,x\n2,y\n", vec![], "column \"b\": holds texts"),
        ("a,b\n1,\n2,3\n", vec![], "row 1, column \"b\": a value is missing"),
        ("a,b\n1,2\n2,3\n", vec!["c".to_owned()], "there is no column \"c\""),
        ("a,b\n1,2\n2\n", vec![], "the row has 1 fields"),
    ] {
        std::fs::write(&from, text).unwrap();
        let error = convert(&from, &to, &ReadOptions::default(), None, &drop).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
        assert!(!to.exists() && folder.path().read_dir().unwrap().count() == 1, "{error}");
    }
    std::fs::write(&from, "a,b\n1,x\n2,y\n").unwrap();
    let done = convert(&from, &to, &ReadOptions::default(), None, &["b".to_owned()]).unwrap().unwrap();
    assert_eq!((done.rows, done.columns), (2, 1));
}

#[test]
fn a_folder_takes_the_parts_of_a_sparse_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let (file, parts) = (folder.path().join("t.libsvm"), folder.path().join("parts/"));
    std::fs::write(&file, "1 1:0.5 3:2\n-1 2:4\n1 3:-1\n").unwrap();
    let table = read(&file, &ReadOptions::default()).unwrap();
    write(&table, &parts, None).unwrap();
    let stored = Stored::open(&parts).unwrap();
    let mut tau = [0.0; 3];
    stored.correlate(&[0, 1, 2], &[1.0, 10.0, 100.0], &mut tau).unwrap();
    assert_eq!((stored.nrows(), tau), (3, [0.5, 40.0, -98.0]));
    let label = read(parts.join("y.npy"), &ReadOptions::default()).unwrap();
    assert_eq!(label.numbers.column(0).into_owned(), [1.0, -1.0, 1.0]);
    let dense = Matrix::Dense { rows: 1, columns: 1, data: vec![1.0] };
    let label = Some(Label { name: "y".into(), values: vec![1.0] });
    let dense = Table::of_numbers("made".into(), dense, Names::Numbered { first: 1 }, label);
    assert!(write(&dense, &parts, None).unwrap_err().to_string().contains("write a .npy file"));
}
