//! What each format gives, and what is said of files that are wrong.

use bestset_data::{Dataset, Format, Header, Impute, Matrix, ReadOptions, Roles, Table, Usual, read};
use std::path::PathBuf;

fn file(directory: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn table_of(name: &str, bytes: &[u8], options: &ReadOptions) -> bestset_data::Result<Table> {
    let directory = tempfile::tempdir().unwrap();
    read(file(&directory, name, bytes), options)
}

fn table(name: &str, text: &str) -> Table {
    table_of(name, text.as_bytes(), &ReadOptions::default()).unwrap()
}

fn dataset(text: &str, roles: Roles) -> bestset_data::Result<Dataset> {
    table("data.csv", text).into_dataset(&roles)
}

/// The error, without the directory.
fn error(name: &str, text: &str) -> String {
    let error = table_of(name, text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
    error[error.find(name).unwrap()..].to_owned()
}

fn roles(target: &str) -> Roles {
    Roles { target: Some(target.to_owned()), ..Roles::default() }
}

#[test]
fn csv_with_quotes_blanks_and_every_line_end() {
    for text in [
        "a,\"b, c\",y\n1, 2 ,3\n-4,5e1,.5\n",
        "a,\"b, c\",y\r\n1,2,3\r\n-4,50,0.5\r\n\r\n",
        "\u{feff}a;b, c;y\n1;2;3\n-4;50;.5",
    ] {
        let found = table("data.csv", text);
        assert_eq!(found.names.list(3), ["a", "b, c", "y"], "{text:?}");
        assert_eq!(found.numbers, Matrix::Dense { rows: 2, columns: 3, data: vec![1., -4., 2., 50., 3., 0.5] });
    }
}

#[test]
fn csv_delimiters_and_headers_are_guessed_or_told() {
    assert_eq!(table("data.tsv", "a b\ty,1\n1\t2\n").names.list(2), ["a b", "y,1"]);
    assert_eq!(table("data.csv", "Na,Cl,y\n1,2,3\n").names.list(3), ["Na", "Cl", "y"], "sodium is not missing");
    let found = table("data.csv", "1,2\n3,4\n");
    assert_eq!((found.names.list(2), found.rows()), (vec!["x1".to_owned(), "x2".to_owned()], 2));
    let told = ReadOptions { header: Header::Yes, delimiter: Some(b' '), ..ReadOptions::default() };
    let found = table_of("data.txt", b"1 2\n3 4\n", &told).unwrap();
    assert_eq!((found.names.list(2), found.rows()), (vec!["1".to_owned(), "2".to_owned()], 1));
    // Texts without a header: the first line has a number, so that it is a row.
    assert_eq!(table("data.csv", "5.1,setosa\n4.9,other\n").texts[0].levels, ["setosa", "other"]);
}

#[test]
fn many_rows_are_put_where_they_belong() {
    let mut text = "a,b,c\n".to_owned();
    (0..5000).for_each(|i| text.push_str(&format!("{i},{},{}\n", 2 * i, -i)));
    let found = table("data.csv", &text);
    assert_eq!(found.rows(), 5000);
    assert!(found.numbers.column(1).iter().enumerate().all(|(i, x)| *x == 2.0 * i as f64));
    assert!(found.numbers.column(2).iter().enumerate().all(|(i, x)| *x == -(i as f64)));
}

#[test]
fn none_is_a_text_among_texts_and_missing_among_numbers() {
    let found = table("d.csv", "therapy,dose\nnone,1\nchemo,none\n,3\nnone,NA\n");
    assert_eq!(found.texts[0].levels, ["none", "chemo"]);
    assert_eq!(found.texts[0].codes, [0, 1, bestset_data::TextColumn::MISSING, 0]);
    assert_eq!(found.numbers.column(0).iter().map(|x| x.is_nan()).collect::<Vec<_>>(), [false, true, false, true]);
    // A few numbers among texts are texts.
    assert_eq!(table("d.csv", "code,y\nA1,1\n2,2\nB,1\n").texts[0].levels, ["A1", "2", "B"]);
}

#[test]
fn errors_name_file_line_column_and_value() {
    assert_eq!(
        error("d.csv", "age,y\n31,1\nold,2\n"),
        "d.csv, line 3, column \"age\": \"old\" is not a number, as the values above it are; if the column is of texts, say --categorical age"
    );
    // In whichever row it stands.
    assert_eq!(
        error("d.csv", "age,y\nold,2\n31,1\n40,1\n,3\n"),
        "d.csv, line 2, row 1, column \"age\": \"old\" is not a number; 2 of the 3 values of the column are: leave the field empty where the \
         number is missing, or say --categorical age"
    );
    assert_eq!(
        error("d.csv", "a,y\n1,2\n1\n"),
        "d.csv, line 3: the row has 1 fields, expected 2; divided by ',' (--delimiter)"
    );
    assert_eq!(
        error("d.csv", "a,y\n1,inf\n"),
        "d.csv, line 2, column \"y\": \"inf\" is not finite, as numbers must be; correct it, or make it a missing value (an empty field, NaN in an array) for --drop-missing or, in a feature, --impute mean"
    );
    assert_eq!(error("d.csv", "a,y\n"), "d.csv: there are no rows");
    for nothing in ["", "\n\n", " \n"] {
        assert!(error("d", nothing).contains("d: the file is empty"), "{nothing:?}");
    }
    assert!(error("d.csv", "").contains("d.csv: the file is empty"));
    assert_eq!(error("d.libsvm", "1 1:2\n2 0x:3\n"), "d.libsvm, line 2: the index of \"0x:3\" is not a whole number");
    assert_eq!(error("d.libsvm", "1 1:2\nmany 1:3\n"), "d.libsvm, line 2: the label \"many\" is not a finite number");
    assert_eq!(error("d.libsvm", "1 2:1 2:3\n"), "d.libsvm, line 1: the index 2 comes twice");
    assert_eq!(error("d.libsvm", "1 1:nan\n"), "d.libsvm, line 1: the value of \"1:nan\" is not a finite number");
    let market = "%%MatrixMarket matrix coordinate real general\n% note\n2 2 1\n3 1 5\n";
    assert_eq!(error("d.mtx", market), "d.mtx, line 4: the row in \"3 1 5\" is not between 1 and 2");
    assert!(read("/no/such/file.csv", &ReadOptions::default()).unwrap_err().to_string().contains("/no/such/file.csv"));
}

#[test]
fn missing_values_are_refused_with_their_place_or_become_means() {
    let text = "a,sex,y\n1,m,1\nNA,f,2\n3,,3\n,f,4\n";
    let refused = dataset(text, roles("y")).unwrap_err().to_string();
    assert!(refused.contains("line 4, row 3, column \"sex\": the value is missing; drop"), "{refused}");
    let refused = dataset(text, Roles { drop: vec!["sex".into()], ..roles("y") }).unwrap_err().to_string();
    assert!(
        refused.contains("line 3, row 2, column \"a\": the value is missing, the first of 2 in this column"),
        "{refused}"
    );
    let found = dataset(text, Roles { impute: Impute::Mean, ..roles("y") }).unwrap();
    assert_eq!(found.matrix.column(0).into_owned(), [1.0, 2.0, 3.0, 2.0]);
    assert_eq!(found.matrix.column(1).into_owned(), [1.0, 0.0, 0.0, 0.0], "f is the usual one");
    assert_eq!((found.imputed[0].column.as_str(), found.imputed[0].count), ("a", 2));
    let refused = dataset("a,y\n1,\n2,3\n", Roles { impute: Impute::Mean, ..roles("y") }).unwrap_err().to_string();
    assert!(refused.contains("row 1, column \"y\"") && refused.contains("target must be known"), "{refused}");
}

#[test]
fn columns_have_their_roles_by_name_or_number() {
    let text = "id,w,a,b,o,y\nu,1,2,3,4,5\nv,6,7,8,9,10\n";
    let all = Roles {
        target: Some("-1".into()),
        weights: Some("w".into()),
        offset: Some("5".into()),
        drop: vec!["1".into()],
        ..Roles::default()
    };
    let found = dataset(text, all.clone()).unwrap();
    assert_eq!((found.names.list(2), found.weights.unwrap()), (vec!["a".to_owned(), "b".to_owned()], vec![1.0, 6.0]));
    assert_eq!((found.offset.unwrap(), found.target.unwrap().values), (vec![4.0, 9.0], vec![5.0, 10.0]));
    assert_eq!(found.matrix.column(1).into_owned(), [3.0, 8.0]);
    for (bad, named) in [
        (Roles { target: Some("z".into()), ..all.clone() }, "no column \"z\"; it has 6 columns: "),
        (Roles { weights: Some("y".into()), ..all.clone() }, "cannot be weights and target"),
        (Roles { drop: vec!["y".into()], ..all.clone() }, "cannot be target and dropped"),
        (
            Roles { offset: Some("id".into()), drop: vec![], ..all.clone() },
            "\"u\" is not a number, as the offset must be",
        ),
        (Roles { target: Some("7".into()), ..all }, "no column \"7\""),
    ] {
        let refused = dataset(text, bad).unwrap_err().to_string();
        assert!(refused.contains(named), "{refused}");
    }
    let refused = dataset("a,b\n1,2\n", Roles::default()).unwrap_err().to_string();
    assert!(refused.contains("name its column with --target"), "{refused}");
    assert_eq!(dataset("a,y\n1,2\n", Roles::default()).unwrap().target.unwrap().name, "y");
}

#[test]
fn categories_are_groups_of_indicators_and_two_classes_come_back() {
    let text = "a,region,sex,y\n1,north,m,AML\n2,south,f,ALL\n3,east,m,ALL\n";
    let found = dataset(text, roles("y")).unwrap();
    assert_eq!(found.names.list(4), ["a", "region=north", "region=south", "sex=m"]);
    assert_eq!(found.matrix.column(2).into_owned(), [0.0, 1.0, 0.0]);
    assert_eq!(found.groups(), Some(vec![0, 1, 1, 3]));
    let target = found.target.unwrap();
    assert_eq!(target.values, [1.0, -1.0, -1.0]);
    let classes = target.classes.unwrap();
    assert_eq!((classes.negative.as_str(), classes.positive.as_str()), ("ALL", "AML"));
    let turned = dataset(text, Roles { positive: Some("ALL".into()), ..roles("y") }).unwrap();
    assert_eq!(turned.target.unwrap().values, [-1.0, 1.0, 1.0]);
    assert_eq!(dataset("a,sex,y\n1,m,2\n1,f,3\n", roles("y")).unwrap().groups(), None, "one indicator is no group");
    let many = dataset("a,y\n1,w\n2,u\n3,v\n4,u\n", roles("y")).unwrap().target.unwrap();
    assert_eq!((many.values.as_slice(), many.labels.join(" ").as_str()), (&[2.0, 0.0, 1.0, 0.0][..], "u v w"));
    assert!(many.clone().into_classes(None).unwrap_err().contains("has 3 classes: --family multinomial"));
    assert_eq!(many.clone().into_many_classes(), Ok(many));
    let refused = dataset("a,y\n1,w\n2,u\n3,v\n", Roles { most_levels: 2, ..roles("y") }).unwrap_err().to_string();
    assert!(refused.contains("it has 3, more than 2"), "{refused}");
    // A model brings its classes: others have no number.
    let known = Roles { labels: vec!["v".into(), "w".into()], needs_target: false, ..roles("y") };
    let applied = dataset("a,y\n1,w\n2,u\n3,v\n", known).unwrap().target.unwrap().values;
    assert!(applied[0] == 1.0 && applied[1].is_nan() && applied[2] == 0.0);
    let refused = dataset(text, Roles { most_levels: 2, ..roles("y") }).unwrap_err().to_string();
    assert!(refused.contains("column \"region\": 3 different texts") && refused.contains("--drop region"), "{refused}");
}

#[test]
fn numbers_can_be_categories_and_a_model_brings_its_levels() {
    let told = ReadOptions { categorical: vec!["code".into()], ..ReadOptions::default() };
    let text = b"code,y\n10,1\n20,2\n10,3\n";
    let found = table_of("data.csv", text, &told).unwrap().into_dataset(&roles("y")).unwrap();
    assert_eq!(found.names.list(1), ["code=20"]);
    let levels = [("code".to_owned(), vec!["10".to_owned(), "15".to_owned(), "20".to_owned()])].into();
    let known = Roles { levels, ..roles("y") };
    let found = table_of("data.csv", text, &told).unwrap().into_dataset(&known).unwrap();
    assert_eq!(found.names.list(2), ["code=15", "code=20"]);
    assert_eq!(found.matrix.column(1).into_owned(), [0.0, 1.0, 0.0]);
    let refused = table_of("data.csv", b"code,y\n10,1\n99,2\n", &told).unwrap().into_dataset(&known).unwrap_err();
    assert!(
        refused.to_string().contains("line 3, row 2, column \"code\": the model does not know the level \"99\""),
        "{refused}"
    );
}

#[test]
fn libsvm_counts_from_one_or_zero_and_takes_comments() {
    let found = table("data.libsvm", "+1 qid:3 2:0.5 4:-1 # note\n\n-1 1:3\n");
    assert_eq!(found.label.as_ref().unwrap().values, [1.0, -1.0]);
    let expected =
        Matrix::Sparse { rows: 2, starts: vec![0, 1, 2, 2, 3], indices: vec![1, 0, 0], values: vec![3.0, 0.5, -1.0] };
    assert_eq!(found.numbers, expected);
    assert_eq!(found.names.get(0), "x1");
    assert_eq!(table("data.libsvm", "1 0:1 1:2\n").names.get(0), "x0");
    assert_eq!(table("data.libsvm", "1 3:1 1:2\n").numbers.column(0).into_owned(), [2.0], "order does not matter");
    // Known by its first line, whatever the name.
    assert!(table("data", "1 1:2\n").label.is_some());
}

#[test]
fn libsvm_blocks_keep_the_order_of_rows() {
    let mut text = String::new();
    (0..60_000).for_each(|i| text.push_str(&format!("{i} {}:{} 900:1.5\n", i % 700 + 1, i + 1)));
    assert!(text.len() > 1 << 20, "more than one block");
    let found = table("data.libsvm", &text);
    assert_eq!(found.rows(), 60_000);
    assert!(found.label.as_ref().unwrap().values.iter().enumerate().all(|(i, y)| *y == i as f64));
    assert_eq!(found.numbers.column(13)[713], 714.0);
    assert!(bestset_data::Table::into_dataset(found, &Roles::default()).unwrap().design().is_ok());
    let bad = text.replace("\n59000 ", "\noops ");
    assert!(error("data.libsvm", &bad).contains("line 59001: the label \"oops\""));
}

#[test]
fn market_has_coordinates_arrays_patterns_and_symmetry() {
    let found = table("d.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n");
    assert_eq!(
        (found.numbers.column(0).into_owned(), found.numbers.column(1).into_owned()),
        (vec![1., 1.], vec![1., 0.])
    );
    let found = table("d.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
    assert_eq!(found.numbers, Matrix::Dense { rows: 2, columns: 2, data: vec![1., 2., 3., 4.] });
    for (text, named) in [
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n", "ends after 2 of 4 entries"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 0\n", "\"complex\""),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", "cannot be 2 x 3"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 2\n", "row 1 and column 1 comes twice"),
        ("%%MatrixMarket vector\n", "does not begin with"),
    ] {
        assert!(error("d.mtx", text).contains(named), "{}", error("d.mtx", text));
    }
}

#[test]
fn formats_are_told_by_name_and_bytes() {
    for (name, format) in [
        ("a.csv.gz", Some(Format::Csv)),
        ("a.TSV", Some(Format::Csv)),
        ("a.parquet", Some(Format::Parquet)),
        ("a.svm.bz2", Some(Format::Libsvm)),
        ("a.npy.zst", Some(Format::Npy)),
        ("a.mtx", Some(Format::Market)),
        ("a.doc", None),
    ] {
        assert_eq!(Format::of_name(name.as_ref()), format, "{name}");
    }
    assert!(error("a.doc", "some words\n").contains("give it with --format"));
}

#[test]
fn arrays_that_are_shorter_or_longer_than_their_file_are_errors() {
    let head = "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }";
    let whole = [&b"\x93NUMPY\x01\x00"[..], &[head.len() as u8, 0], head.as_bytes(), &[0; 48]].concat();
    let read = |bytes: &[u8]| table_of("x.npy", bytes, &ReadOptions::default()).map_err(|e| e.to_string());
    assert!(read(&whole).is_ok());
    assert!(read(&whole[..whole.len() - 1]).unwrap_err().contains("x.npy"));
    let error = read(&[&whole[..], &[0; 5]].concat()).unwrap_err();
    assert!(error.contains("x.npy: its header promises an array of [3, 2], 5 bytes less than the file has"), "{error}");
}

#[test]
fn a_limit_of_memory_is_kept() {
    let small = ReadOptions { max_memory: Some(1 << 10), ..ReadOptions::default() };
    let mut text = "a,b\n".to_owned();
    (0..100).for_each(|i| text.push_str(&format!("{i},1\n")));
    let refused = table_of("data.csv", text.as_bytes(), &small).unwrap_err().to_string();
    assert!(refused.contains("--max-memory"), "{refused}");
}

#[test]
fn a_model_brings_what_was_usual_and_never_the_new_file() {
    let text = "a,sex,y\n,f,1\n";
    let levels = [("sex".to_owned(), vec!["f".to_owned(), "m".to_owned()])].into();
    let usual = [("a".to_owned(), Usual::Mean(7.5)), ("sex".to_owned(), Usual::Text("m".to_owned()))].into();
    let known = Roles { impute: Impute::Known, levels, usual, ..roles("y") };
    let found = dataset(text, known.clone()).unwrap();
    assert_eq!(found.matrix.column(0).into_owned(), [7.5]);
    // Nothing at all in a column of texts, and numbers in one.
    let found = dataset("a,sex,y\n2,,1\n", known.clone()).unwrap();
    assert_eq!((found.matrix.column(0).into_owned(), found.matrix.column(1).into_owned()), (vec![2.0], vec![1.0]));
    assert_eq!((found.imputed[0].column.as_str(), &found.imputed[0].value), ("sex", &Usual::Text("m".to_owned())));
    for bare in [Roles { usual: [].into(), ..known.clone() }, Roles { usual: [].into(), levels: [].into(), ..known }] {
        let refused = dataset("a,b,y\n,1,1\n3,2,1\n", bare).unwrap_err().to_string();
        assert!(refused.contains("column \"a\": the value is missing; the model file does not say"), "{refused}");
    }
}

#[test]
fn spellings_of_a_number_are_one_level() {
    let told = ReadOptions { categorical: vec!["code".into()], ..ReadOptions::default() };
    let text = b"code,y\n24.0,1\n7,2\n24.00,3\n+24,4\n024,5\n";
    let found = table_of("data.csv", text, &told).unwrap();
    assert_eq!(found.texts[0].levels, ["24.0", "7"]);
    assert_eq!(found.texts[0].codes, [0, 1, 0, 0, 0]);
    // A model that knows 24 finds it in a column of numbers, and in one of texts.
    let known = Roles { levels: [("code".to_owned(), vec!["24".to_owned(), "7.0".to_owned()])].into(), ..roles("y") };
    for options in [told, ReadOptions::default()] {
        let found = table_of("data.csv", text, &options).unwrap().into_dataset(&known).unwrap();
        assert_eq!(found.names.list(1), ["code=7.0"]);
        assert_eq!(found.matrix.column(0).into_owned(), [0.0, 1.0, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn decimal_commas_are_numbers_or_an_error_and_never_categories() {
    for (name, text) in [
        ("d.csv", "a;b;y\n1,5;3;2\n-2,25;NA;1,0\n1e2;1;,5\n"),
        ("d.tsv", "a\tb\ty\n1,5\t3\t2\n-2,25\tNA\t1,0\n1e2\t1\t,5\n"),
        ("d.txt", "a b y\n1,5 3 2\n-2,25 NA 1,0\n1e2 1 ,5\n"),
    ] {
        let found = table(name, text);
        assert_eq!(found.numbers.column(0).into_owned(), [1.5, -2.25, 100.0], "{name}");
        assert_eq!(found.numbers.column(2).into_owned(), [2.0, 1.0, 0.5], "{name}");
        assert!(found.notes[0].contains("the comma is the decimal sign, as in \"1,5\""), "{:?}", found.notes);
    }
    let told = ReadOptions { decimal: Some(b','), ..ReadOptions::default() };
    let found = table_of("d.csv", b"a,y\n\"1,5\",2\n\"2,5\",3\n", &told).unwrap();
    assert_eq!((found.numbers.column(0).into_owned(), found.notes.len()), (vec![1.5, 2.5], 0));
    // Between commas, beside points, for thousands, and after the beginning of a long file: said, with what to do.
    let late = format!("a;y\n{}1,5;2\n", "1;2\n".repeat(1200));
    for (text, place) in [
        ("a,y\n3,2\n\"1,5\",2\n", "line 3, column \"a\": \"1,5\""),
        ("a,y\n\"1,5\",2\n\"2,5\",3\n", "line 2, row 1, column \"a\": \"1,5\""),
        ("a,y\n\"1,234,567\",2\n\"12\",3\n", "line 2, row 1, column \"a\": \"1,234,567\""),
        ("a;y\n1,5;2.5\n2,5;3.5\n", "line 2, row 1, column \"a\": \"1,5\""),
        ("a;y\n1.234,5;2,5\n2;3,5\n", "line 2, row 1, column \"a\": \"1.234,5\""),
        (&late, "line 1202, column \"a\": \"1,5\""),
    ] {
        let refused = error("d.csv", text);
        assert!(
            refused.contains(place) && refused.contains("--decimal") && refused.contains("--categorical a"),
            "{refused}"
        );
    }
    let told = ReadOptions { categorical: vec!["a".into()], ..ReadOptions::default() };
    assert_eq!(table_of("d.csv", b"a,y\n\"1,5\",2\n\"2,5\",3\n", &told).unwrap().texts[0].levels, ["1,5", "2,5"]);
    // Texts with commas, dates and versions are categories as before.
    for text in ["a,y\n\"u, v\",2\n\"1,5\",3\n", "a,y\n1.2.3,2\n1.2.4,3\n", "a,y\n2020-01-05,2\n2021-02-06,3\n"] {
        assert_eq!(table("d.csv", text).texts[0].levels.len(), 2, "{text}");
    }
}

#[test]
fn numbers_can_be_names() {
    // A word over numbers: the first line has names.
    let found = table("d.csv", "1377,1748,y\n3.5,3.25,5\n4.5,1.5,6\n");
    assert_eq!((found.names.list(3), found.rows()), (vec!["1377".to_owned(), "1748".to_owned(), "y".to_owned()], 2));
    assert!(found.notes.is_empty());
    // Whole numbers below make it less certain, which is said.
    let found = table("d.csv", ",1,2,y\n7,3,3,5\n8,4,1,6\n");
    assert_eq!((found.names.list(4)[3].as_str(), found.rows()), ("y", 2));
    assert!(found.notes[0].contains("\"y\" stands over numbers (--header no"), "{:?}", found.notes);
    for text in ["5.1,setosa\n4.9,other\n", "1,2,u\n3,4,v\n", "1,1,y\n3,4,2\n", "0.5,1,y\n3,4,2\n", "1,2,NA\n3,4,5\n"] {
        assert_eq!((table("d.csv", text).rows(), table("d.csv", text).first_line), (2, Some(1)), "{text}");
    }
    let refused = table("d.csv", "1,2,u\n3,4,v\n").into_dataset(&roles("y")).unwrap_err().to_string();
    assert!(refused.contains("its first line was read as data, --header yes takes it as names"), "{refused}");
}

#[test]
fn blanks_divide_fields_where_nothing_else_does() {
    let text = "\"body mass\"  y z\n 1.5   2\t 3\n  4 5 6 \n";
    for (name, text) in [("d.txt", text), ("d.csv", text), ("d.raw", text), ("d", text)] {
        let found = table(name, text);
        assert_eq!(found.names.list(3), ["body mass", "y", "z"], "{name}");
        assert_eq!(found.numbers, Matrix::Dense { rows: 2, columns: 3, data: vec![1.5, 4., 2., 5., 3., 6.] });
    }
    // R writes names of rows, and none over them.
    let found = table("d.txt", "\"x\" \"y\"\n\"1\" 0.5 2\n\"2\" 0.7 3\n");
    assert_eq!(
        (found.names.list(2), found.numbers.column(0).into_owned()),
        (vec!["x".into(), "y".into()], vec![0.5, 0.7])
    );
    assert!(found.notes[0].contains("left out as the name of the row"), "{:?}", found.notes);
    for rows in ["0,2.5,3\n1,4,5\n", "\"1\",2.5,3\n\"2\",4,5\n"] {
        let found = table("d.csv", &format!(",a,y\n{rows}"));
        assert_eq!(
            (found.names.list(2), found.numbers.column(0).into_owned()),
            (vec!["a".into(), "y".into()], vec![2.5, 4.0])
        );
        assert!(found.notes[0].contains("left out as the name of the row"), "{:?}", found.notes);
    }
    assert_eq!(table("d.csv", ",a,y\n7,2,3\n9,4,5\n").names.list(3)[0], "x1");
    assert!(error("d.csv", "a,b\n1,2,\n3,4,\n").contains("line 2: the row has 3 fields, expected 2"));
    // One column of names with blanks is one column.
    assert_eq!(table("d.csv", "body mass\n1\n2\n").names.list(1), ["body mass"]);
}

#[test]
fn messages_are_short_whatever_the_file() {
    let long = "7 ".repeat(50_000);
    for (name, text) in [
        ("d.csv", format!("{}\nx\n", long.replace(' ', "\u{a0}"))),
        ("d.csv", format!("a,y\n1,2\n{},3\n", long.replace(' ', "x"))),
        ("d.csv", format!("{},y\n1,2\nq,3\n", long.replace(' ', "x"))),
        ("d.libsvm", format!("1 1:2\n{}\n", long.replace(' ', "x"))),
        ("d.mtx", format!("%%MatrixMarket matrix array real general\n{long}\n")),
    ] {
        let options = ReadOptions::default();
        let refused = table_of(name, text.as_bytes(), &options).and_then(|t| t.into_dataset(&roles("y"))).unwrap_err();
        assert!(refused.to_string().len() < 2000, "{name}: {} bytes", refused.to_string().len());
    }
}

#[test]
fn a_wrong_column_lists_those_with_a_name_like_it() {
    let names: Vec<String> = (0..500).map(|k| format!("gene{k}")).chain(["Outcome".into(), "age".into()]).collect();
    let text = format!("{}\n{}\n", names.join(","), vec!["1"; 502].join(","));
    let refused = dataset(&text, roles("outcome_")).unwrap_err().to_string();
    assert!(refused.contains("no column \"outcome_\"; it has 502 columns: \"Outcome\", "), "{refused}");
    let refused = dataset(&text, roles("GENE17")).unwrap_err().to_string();
    assert!(refused.contains(": \"gene17\", \"gene1\""), "{refused}");
    assert!(refused.len() < 400, "{refused}");
}

#[test]
fn one_class_is_set_against_all_others() {
    let text = "a,y\n1,u\n2,v\n3,w\n4,v\n";
    let found = dataset(text, Roles { positive: Some("v".into()), ..roles("y") }).unwrap().target.unwrap();
    assert_eq!(found.values, [-1.0, 1.0, -1.0, 1.0]);
    assert_eq!(found.classes.unwrap().negative, "not v");
    let refused = dataset(text, Roles { positive: Some("x".into()), ..roles("y") }).unwrap_err().to_string();
    assert!(refused.contains("the positive class \"x\" is none of \"u\", \"v\", \"w\""), "{refused}");
    let numbers =
        |positive| dataset("a,y\n1,0\n2,1\n3,2\n", roles("y")).unwrap().target.unwrap().into_classes(positive);
    assert!(
        numbers(None).unwrap_err().contains("(0, 1, 2): not two classes; --family multinomial"),
        "{:?}",
        numbers(None)
    );
    assert_eq!(numbers(Some("1.0")).unwrap().values, [-1.0, 1.0, -1.0]);
    assert!(numbers(Some("7")).unwrap_err().contains("none of 0, 1, 2"));
    let many = |text: &str| dataset(text, roles("y")).unwrap().target.unwrap().into_many_classes();
    let found = many("a,y\n1,10\n2,2\n3,-1\n4,2\n").unwrap();
    assert_eq!((found.values, found.labels), (vec![2.0, 1.0, 0.0, 1.0], ["-1", "2", "10"].map(String::from).to_vec()));
    assert_eq!(many("a,y\n1,u\n2,v\n").unwrap().labels, ["u", "v"]);
    assert!(many("a,y\n1,3\n2,3\n").unwrap_err().contains("one value only"));
    // A model applied to a file with one class alone: it is one or the other.
    let known = Roles { needs_target: false, positive: Some("v".into()), ..roles("y") };
    assert_eq!(dataset("a,y\n1,v\n", known.clone()).unwrap().target.unwrap().values, [1.0]);
    assert_eq!(dataset("a,y\n1,z\n", known).unwrap().target.unwrap().values, [-1.0]);
}

#[test]
fn rows_without_a_target_are_named_or_left_out() {
    let text = "a,s,y\n1,u,\n2,v,5\n,u,7\n4,,NA\n5,v,8\n";
    let refused = dataset(text, roles("y")).unwrap_err().to_string();
    assert!(
        refused.contains("line 2, row 1, column \"y\": the value is missing, the first of 2 in this column")
            && refused.contains("--drop-missing-target"),
        "{refused}"
    );
    let fewer = Roles { drop_missing_target: true, ..roles("y") };
    let refused = dataset(text, fewer.clone()).unwrap_err().to_string();
    assert!(refused.contains("line 4, row 3, column \"a\": the value is missing; drop"), "{refused}");
    let found = dataset(text, Roles { impute: Impute::Mean, ..fewer.clone() }).unwrap();
    assert_eq!((found.rows(), found.without_target), (3, 2));
    assert_eq!(found.target.unwrap().values, [5.0, 7.0, 8.0]);
    assert_eq!(found.matrix.column(0).into_owned(), [2.0, 3.5, 5.0]);
    assert_eq!(found.matrix.column(1).into_owned(), [1.0, 0.0, 1.0]);
    assert!(dataset("a,y\n1,\n", fewer).unwrap_err().to_string().contains("no row has a target"));
    // Complete rows alone: what is dropped as a column may be missing, and texts that no row has any longer are no levels.
    let complete = Roles { drop_missing: true, ..roles("y") };
    let found = dataset(text, complete.clone()).unwrap();
    assert_eq!((found.rows(), found.without_target, found.incomplete), (2, 2, 1));
    assert_eq!((found.target.unwrap().values, found.categories[0].levels.len()), (vec![5.0, 8.0], 0));
    let found = dataset(text, Roles { drop: vec!["a".into()], ..complete.clone() }).unwrap();
    assert_eq!((found.rows(), found.without_target, found.incomplete), (3, 2, 0));
    let refused = dataset("a,b,y\n1,,1\n,2,2\n", complete.clone()).unwrap_err().to_string();
    assert!(refused.contains("no row has a value in every column"), "{refused}");
    let weighted = Roles { weights: Some("w".into()), ..complete };
    let found = dataset("a,w,y\n1,1,1\n2,,2\n3,3,3\n", weighted).unwrap();
    assert_eq!((found.weights.unwrap(), found.incomplete), (vec![1.0, 3.0], 1));
    // Weights and offsets are never filled.
    for (role, bad) in [
        ("weights", Roles { weights: Some("a".into()), impute: Impute::Mean, ..roles("s") }),
        ("the offset", Roles { offset: Some("a".into()), impute: Impute::Mean, ..roles("s") }),
    ] {
        let refused = dataset("a,s,b\n1,2,3\n,4,5\n", bad).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("line 3, row 2, column \"a\": the value is missing; {role} must be")),
            "{refused}"
        );
    }
}

#[test]
fn files_of_other_programs_get_advice() {
    assert!(error("d.bed", "\u{6c}\u{1b}\u{1}x").contains("--recode A"));
    assert!(error("d.xlsx", "PK\u{3}\u{4}").contains("save the sheet as CSV"));
    assert!(error("d.rds", "x").contains("write.csv"));
}
