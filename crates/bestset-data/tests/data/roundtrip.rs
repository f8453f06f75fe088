//! What is written comes back, in every format and compression.

use bestset_data::{Label, Matrix, Names, ReadOptions, Table, TextColumn, read, write};
use proptest::prelude::*;

fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1e3..1e3f64,
        1 => Just(0.0),
        1 => (-1000i32..1000).prop_map(f64::from),
        1 => prop_oneof![Just(1e300), Just(-2.5e-308), Just(5e-324), Just(0.1 + 0.2), Just(1e15), Just(-123456789012345680.0)],
    ]
}

fn dense() -> impl Strategy<Value = Table> {
    (1..12usize, 1..6usize).prop_flat_map(|(rows, columns)| {
        let data = prop::collection::vec(numbers(), rows * columns);
        let label = prop::option::of(prop::collection::vec(numbers(), rows));
        (data, label).prop_map(move |(data, label)| {
            let names = Names::Listed((0..columns).map(|j| format!("column {j}")).collect());
            let label = label.map(|values| Label { name: "y".into(), values });
            Table::of_numbers("made".into(), Matrix::Dense { rows, columns, data }, names, label)
        })
    })
}

fn there_and_back(table: &Table, name: &str) -> Table {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    write(table, &path, None).unwrap();
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    // Arrays have no place for names.
    let beside = usize::from(name.contains(".npy"));
    assert_eq!(left.len(), 1 + beside, "nothing but the file is left, and its names");
    read(&path, &ReadOptions::default()).unwrap()
}

fn columns(table: &Table) -> Vec<Vec<u64>> {
    let all =
        (0..table.numbers.columns()).map(|j| table.numbers.column(j).iter().map(|x| (x + 0.0).to_bits()).collect());
    let label = table.label.iter().map(|l| l.values.iter().map(|x| (x + 0.0).to_bits()).collect());
    all.chain(label).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::share(64) as u32, ..ProptestConfig::default() })]

    #[test]
    fn every_bit_of_numbers_comes_back(table in dense()) {
        let without = Table { label: None, ..table.clone() };
        let labelled = Table {
            label: Some(table.label.clone().unwrap_or(Label { name: "y".into(), values: vec![0.0; table.rows()] })),
            ..table.clone()
        };
        for name in ["t.csv", "t.tsv.gz", "t.csv.bz2", "t.csv.zst", "t.parquet"] {
            let back = there_and_back(&table, name);
            prop_assert_eq!(columns(&back), columns(&table), "{}", name);
            prop_assert_eq!(back.name(0), "column 0");
        }
        for name in ["t.npy", "t.npy.gz", "t.mtx", "t.mtx.bz2"] {
            let back = there_and_back(&without, name);
            prop_assert_eq!(columns(&back), columns(&without), "{}", name);
            prop_assert_eq!(back.names == without.names, name.contains(".npy"), "{}", name);
        }
        let back = there_and_back(&table, "t.npz");
        prop_assert_eq!((columns(&back), back.names), (columns(&table), table.names.clone()));
        let back = there_and_back(&labelled, "t.libsvm");
        prop_assert_eq!(columns(&back), columns(&labelled));
    }

    #[test]
    fn sparse_matrices_come_back(rows in 1..9usize, wide in 1..9usize, seed in prop::collection::vec(numbers(), 81)) {
        let kept = |k: &usize| seed[*k] > 100.0;
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..wide {
            for i in (0..rows).filter(|i| kept(&(9 * j + i))) {
                indices.push(i as u32);
                values.push(seed[9 * j + i]);
            }
            starts.push(values.len());
        }
        let label = Some(Label { name: "y".into(), values: seed[..rows].to_vec() });
        let numbers = Matrix::Sparse { rows, starts, indices, values };
        let table = Table::of_numbers("made".into(), numbers, Names::Numbered { first: 1 }, label);
        let back = there_and_back(&table, "t.npz");
        prop_assert_eq!((&back.numbers, &back.label), (&table.numbers, &table.label));
        let back = there_and_back(&table, "t.libsvm.bz2");
        prop_assert_eq!((&back.numbers, &back.label), (&table.numbers, &table.label));
        let without = Table { label: None, ..table.clone() };
        prop_assert_eq!(&there_and_back(&without, "t.mtx").numbers, &table.numbers);
        prop_assert_eq!(columns(&there_and_back(&table, "t.csv")), columns(&table));
    }
}

#[test]
fn texts_and_missing_values_come_back_where_they_can() {
    let mut table = Table::of_numbers(
        "made".into(),
        Matrix::Dense { rows: 3, columns: 1, data: vec![1.5, f64::NAN, 3.0] },
        Names::Listed(vec!["a".into()]),
        None,
    );
    table.texts = vec![TextColumn {
        name: "kind, of".into(),
        position: 0,
        levels: vec!["x \"y\"".into(), "z,\nw".into()],
        codes: vec![1, 0, TextColumn::MISSING],
    }];
    table.gaps.insert(1, bestset_data::Gap { row: 2, line: None, count: 1 });
    for name in ["t.csv", "t.csv.zst", "t.parquet"] {
        let back = there_and_back(&table, name);
        assert_eq!((back.name(0), back.name(1)), ("kind, of".to_owned(), "a".to_owned()), "{name}");
        assert_eq!((0..3).map(|i| back.texts[0].get(i)).collect::<Vec<_>>(), [Some("z,\nw"), Some("x \"y\""), None]);
        assert_eq!((back.gaps[&0].row, back.gaps[&1].row), (3, 2), "{name}");
        assert!(back.numbers.column(0)[1].is_nan());
    }
    for name in ["t.npy", "t.npz", "t.libsvm", "t.mtx"] {
        let directory = tempfile::tempdir().unwrap();
        let refused = write(&table, directory.path().join(name), None).unwrap_err().to_string();
        assert!(refused.contains("column \"kind, of\": holds texts"), "{refused}");
    }
}
