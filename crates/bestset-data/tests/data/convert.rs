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

/// Sparse files within little memory, read many times: the bytes of every part are those of a conversion by way of memory.
#[test]
fn sparse_files_are_converted_some_columns_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (rows, columns) = (3000usize, 200usize);
    let is_there = |i: usize, j: usize| (i * 7 + j * 13 + i * j).is_multiple_of(11) && j % 17 != 5;
    let (mut svm, mut market, mut skew) = (String::new(), String::new(), String::new());
    let (mut count, mut upper) = (0, 0);
    for i in 0..rows {
        svm.push_str(&format!("{}", (i as f64 * 0.7).sin()));
        for j in (0..columns).filter(|&j| is_there(i, j)) {
            svm.push_str(&format!(" {}:{}", j + 1, entry(i, j)));
            market.push_str(&format!("{} {} {}\n", i + 1, j + 1, entry(i, j)));
            count += 1;
            if i < columns && j < i {
                skew.push_str(&format!("{} {} {}\n", i + 1, j + 1, entry(i, j)));
                upper += 1;
            }
        }
        svm.push('\n');
    }
    // Indices that begin at zero, and a last column of zeros alone.
    let zero = "1 0:2 3:0\n-1 2:5\n";
    let head = "%%MatrixMarket matrix coordinate real";
    let files = [
        ("t.libsvm", svm),
        ("z.libsvm", zero.to_owned()),
        ("t.mtx", format!("{head} general\n{rows} {columns} {count}\n{market}")),
        ("s.mtx", format!("{head} skew-symmetric\n{columns} {columns} {upper}\n{skew}")),
    ];
    for (name, text) in files {
        std::fs::write(at(name), text).unwrap();
        let (whole, parts) = (at(&format!("{name}.whole/")), at(&format!("{name}.parts/")));
        write(&read(at(name), &ReadOptions::default()).unwrap(), &whole, None).unwrap();
        let unlimited = ReadOptions::default();
        assert!(convert(at(name), &parts, &unlimited, None, &[]).unwrap().is_none(), "memory has no limit");
        let options = ReadOptions { max_memory: Some(1), ..unlimited };
        let done = convert(at(name), &parts, &options, None, &[]).unwrap().unwrap();
        assert!(done.readings > if name.starts_with('t') { 2 } else { 1 }, "{name}: {}", done.readings);
        for part in ["indptr", "indices", "data", "shape"] {
            let [a, b] = [&whole, &parts].map(|f| std::fs::read(f.join(format!("{part}.npy"))).unwrap());
            assert!(a == b, "{name}: {part}");
        }
        assert_eq!(whole.join("y.npy").exists(), parts.join("y.npy").exists());
        Stored::open(&parts).unwrap();
    }
    for (name, text, problem) in [
        ("bad.libsvm", "1 1:2\n1 x:3\n", "line 2"),
        ("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n1 1 4\n", "comes twice"),
        ("cut.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n", "ends after 1 of 2"),
    ] {
        std::fs::write(at(name), text).unwrap();
        let options = ReadOptions { max_memory: Some(1), ..ReadOptions::default() };
        let error = convert(at(name), at("bad/"), &options, None, &[]).unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains(name), "{error}");
        assert!(!at("bad/data.npy").exists());
    }
}
