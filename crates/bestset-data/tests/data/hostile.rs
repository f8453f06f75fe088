//! Damaged and hostile files: an error or a table, never a panic, never memory out of proportion.

use bestset_data::{Label, Matrix, Names, ReadOptions, Table, TextColumn, read, write};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest single request for memory, which is what a lying header leads to.
struct Watched;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything to the system's allocator unchanged; only the size is noted.
#[allow(unsafe_code, reason = "an allocator cannot be watched otherwise")]
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        let pointer = unsafe { System.alloc(layout) };
        // A request that is refused costs nothing: readers ask before they rely on memory.
        if !pointer.is_null() {
            LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// More than any of these small files can need: the largest sparse matrix that a few bytes can ask for has this many columns.
const MOST: usize = 1 << 30;

fn table() -> Table {
    let data = (0..40).map(|k| (k * k % 17) as f64 - 3.5).collect();
    let names = Names::Listed((0..4).map(|j| format!("c{j}")).collect());
    let label = Label { name: "y".into(), values: (0..10).map(f64::from).collect() };
    Table::of_numbers("made".into(), Matrix::Dense { rows: 10, columns: 4, data }, names, Some(label))
}

fn sparse() -> Table {
    let (starts, indices, values) = (vec![0, 2, 2, 3], vec![0, 9, 4], vec![1.0, -2.0, 0.5]);
    Table {
        numbers: Matrix::Sparse { rows: 10, starts, indices, values },
        names: Names::Numbered { first: 1 },
        ..table()
    }
}

/// A whole file of each kind.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let mut mixed = table();
    let codes = (0..10).map(|i| i % 3).collect();
    mixed.texts =
        vec![TextColumn { name: "t".into(), position: 1, levels: ["u", "v", "w"].map(str::to_owned).into(), codes }];
    let without = |table: Table| Table { label: None, ..table };
    let kinds = [
        ("a.csv", mixed.clone()),
        ("a.csv.gz", mixed.clone()),
        ("a.tsv.bz2", mixed.clone()),
        ("a.csv.zst", mixed.clone()),
        ("a.parquet", mixed),
        ("a.libsvm", sparse()),
        ("a.libsvm.bz2", sparse()),
        ("a.npy", without(table())),
        ("a.npy.gz", without(table())),
        ("a.npz", table()),
        ("b.npz", sparse()),
        ("a.mtx", without(sparse())),
        ("b.mtx", without(table())),
    ];
    let directory = tempfile::tempdir().unwrap();
    let bytes = |(name, table): (&'static str, Table)| {
        let path = directory.path().join(name);
        write(&table, &path, None).unwrap();
        (name, std::fs::read(path).unwrap())
    };
    kinds.into_iter().map(bytes).collect()
}

fn try_read(name: &str, bytes: &[u8]) -> Result<Table, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let found = read(&path, &ReadOptions::default());
    let largest = LARGEST.load(Ordering::Relaxed);
    assert!(largest <= MOST, "{name} of {} bytes asked for {largest} bytes at once", bytes.len());
    found.map_err(|e| e.to_string())
}

/// A table that was read is whole.
fn check(table: &Table) {
    let rows = table.rows();
    assert!(table.texts.iter().all(|t| t.codes.len() == rows && t.position < table.columns()));
    assert!(table.label.as_ref().is_none_or(|l| l.values.len() == rows));
    match &table.numbers {
        Matrix::Dense { rows, columns, data } => assert_eq!(data.len(), rows * columns),
        Matrix::Sparse { starts, indices, values, .. } => {
            assert_eq!((starts[starts.len() - 1], indices.len()), (values.len(), values.len()));
        }
    }
    if table.numbers.columns() > 0 && table.gaps.is_empty() {
        // Sums of squares of finite numbers may overflow, which the library says.
        let _ = table.numbers.design();
    }
}

#[derive(Debug, Clone)]
enum Damage {
    Set(prop::sample::Index, u8),
    Flip(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    let words =
        ["99999999999999999999", "-1", "nan", "1e999", ":", ",", "\n", "\"", "0", "\u{0}", "18446744073709551615"];
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(k, b)| Damage::Set(k, b)),
        (at(), 0..8u8).prop_map(|(k, b)| Damage::Flip(k, b)),
        at().prop_map(Damage::Cut),
        (at(), 1..20usize).prop_map(|(k, n)| Damage::Remove(k, n)),
        (at(), 1..60usize).prop_map(|(k, n)| Damage::Repeat(k, n)),
        (at(), prop::sample::select(words.map(|w| w.as_bytes().to_vec()).to_vec()))
            .prop_map(|(k, w)| Damage::Insert(k, w)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let length = bytes.len();
    match damage {
        Damage::Set(k, byte) => bytes[k.index(length)] = *byte,
        Damage::Flip(k, bit) => bytes[k.index(length)] ^= 1 << bit,
        Damage::Cut(k) => bytes.truncate(k.index(length)),
        Damage::Remove(k, n) => drop(bytes.drain(k.index(length)..(k.index(length) + n).min(length))),
        Damage::Repeat(k, n) => {
            let part = bytes[k.index(length)..(k.index(length) + n).min(length)].to_vec();
            bytes.splice(k.index(length)..k.index(length), part);
        }
        Damage::Insert(k, word) => drop(bytes.splice(k.index(length)..k.index(length), word.iter().copied())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::share(150) as u32, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_refused_or_read(damages in prop::collection::vec(damage(), 1..5)) {
        for (name, mut bytes) in files() {
            damages.iter().for_each(|d| apply(&mut bytes, d));
            if let Ok(table) = try_read(name, &bytes) {
                check(&table);
            }
        }
    }

    #[test]
    fn noise_is_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for name in ["a.csv", "a.csv.gz", "a.parquet", "a.libsvm", "a.npy", "a.npz", "a.mtx"] {
            if let Ok(table) = try_read(name, &bytes) {
                check(&table);
            }
        }
    }
}

#[test]
fn headers_that_promise_too_much_are_refused() {
    let npy = |shape: &str| {
        let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend([0; 64]);
        bytes
    };
    assert!(try_read("ok.npy", &npy("(4, 2)")).is_ok());
    for shape in
        ["(1000000000, 1000000)", "(18446744073709551615, 2)", "(4294967296, 4294967296)", "(9, 1)", "(-1, 2)", "()"]
    {
        let refused = try_read("a.npy", &npy(shape)).unwrap_err();
        assert!(refused.contains("a.npy"), "{shape}: {refused}");
    }
    for (name, text, named) in [
        ("a.libsvm", "1 1000000000000000000:1\n", "the index 1000000000000000000 is larger"),
        ("a.libsvm", "1 99999999999999999999999:1\n", "not a whole number"),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate real general\n4000000000 4000000000 1\n1 1 1\n",
            "larger than can be read",
        ),
        (
            "a.mtx",
            "%%MatrixMarket matrix coordinate real general\n9 9 1000000000000000\n1 1 1\n",
            "more than a file of its size",
        ),
        (
            "a.mtx",
            "%%MatrixMarket matrix array real general\n1000000000 1000000000\n1\n",
            "more than a file of its size",
        ),
    ] {
        let refused = try_read(name, text.as_bytes()).unwrap_err();
        assert!(refused.contains(named), "{refused}");
    }
}

#[test]
fn compressed_files_that_end_early_are_refused() {
    for (name, bytes) in files().into_iter().filter(|f| [".gz", ".bz2", ".zst"].iter().any(|end| f.0.ends_with(end))) {
        let cut = &bytes[..bytes.len() * 2 / 3];
        assert!(try_read(name, cut).is_err(), "{name}");
    }
}
