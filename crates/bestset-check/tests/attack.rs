//! Files made to deceive: what is not so is not accepted, and what is accepted is said as it is.

use bestset_check::{Proved, Table, check};

const SPLIT: u8 = 1;
const BOUND: u8 = 2;
const PSD: u8 = 3;
const SIZE: u8 = 4;
const LISTED: u8 = 5;
const END: u8 = 6;
const FIT: u8 = 7;
const PAIRS: u8 = 8;
const COHERENCE: u8 = 9;
const DEPENDENT: u8 = 10;
const COVERED: u8 = 11;

/// A fifth of so many problems, and all with CHECK=yes, as in the core's tests.
fn share(all: usize) -> usize {
    if std::env::var_os("CHECK").is_some_and(|text| !text.is_empty()) { all } else { all.div_ceil(5) }
}

/// A file in the making; the data are columns by name, the last of them the target.
#[derive(Clone)]
struct Forged {
    columns: Vec<(&'static str, Vec<f64>)>,
    /// Features, by name.
    features: Vec<&'static str>,
    target: &'static str,
    weights: &'static str,
    offset: &'static str,
    /// The number of the loss, and δ where it has one.
    loss: (u8, Option<f64>),
    intercept: bool,
    scales: Option<Vec<f64>>,
    /// λ0, λ1, λ2, low, high.
    penalty: [f64; 5],
    size: Option<usize>,
    bound: f64,
    excepted: bool,
    answers: Vec<Vec<(usize, f64)>>,
    dependent: Vec<Vec<usize>>,
    records: Vec<u8>,
}

fn whole(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn text(out: &mut Vec<u8>, text: &str) {
    whole(out, text.len());
    out.extend(text.as_bytes());
}

fn features(out: &mut Vec<u8>, list: &[usize]) {
    whole(out, list.len());
    let mut last = 0;
    for j in list {
        whole(out, j - last);
        last = *j;
    }
}

fn sparse(out: &mut Vec<u8>, pairs: &[(usize, f64)]) {
    features(out, &pairs.iter().map(|p| p.0).collect::<Vec<_>>());
    pairs.iter().for_each(|p| out.extend(p.1.to_le_bytes()));
}

/// A COHERENCE around a point with its curvature: so many features more, and by how much they are cheaper from then on.
fn coherence(beta: &[(usize, f64)], rho: &[f64], added: usize, cheaper: f64) -> Vec<u8> {
    let mut out = vec![COHERENCE];
    sparse(&mut out, beta);
    rho.iter().for_each(|r| out.extend(r.to_le_bytes()));
    whole(&mut out, added);
    out.extend(cheaper.to_le_bytes());
    out
}

/// A BOUND that closes its family.
fn closing(beta: &[(usize, f64)], lemma: bool, price: f64) -> Vec<u8> {
    let mut out = vec![BOUND];
    sparse(&mut out, beta);
    out.push(u8::from(lemma));
    out.extend(price.to_le_bytes());
    out.push(1);
    out
}

fn psd(d: &[(usize, f64)]) -> Vec<u8> {
    let mut out = vec![PSD];
    sparse(&mut out, d);
    out
}

impl Forged {
    fn bytes(&self, hash: [u8; 32]) -> Vec<u8> {
        let mut out = b"BSPROOF4".to_vec();
        out.extend(hash);
        whole(&mut out, self.columns[0].1.len());
        whole(&mut out, self.features.len());
        [self.target, self.weights, self.offset].iter().for_each(|name| text(&mut out, name));
        self.features.iter().for_each(|name| text(&mut out, name));
        out.push(self.loss.0);
        self.loss.1.iter().for_each(|delta| out.extend(delta.to_le_bytes()));
        out.push(u8::from(self.intercept));
        out.push(u8::from(self.scales.is_some()));
        self.scales.iter().flatten().for_each(|s| out.extend(s.to_le_bytes()));
        out.push(0);
        self.penalty.iter().for_each(|x| out.extend(x.to_le_bytes()));
        whole(&mut out, self.size.map_or(0, |k| k + 1));
        out.extend(self.bound.to_le_bytes());
        out.push(u8::from(self.excepted));
        whole(&mut out, self.answers.len());
        self.answers.iter().for_each(|answer| sparse(&mut out, answer));
        whole(&mut out, self.dependent.len());
        self.dependent.iter().for_each(|set| features(&mut out, set));
        out.extend(&self.records);
        out
    }

    /// What the checker says of it, with the hash that the data have.
    fn judged(&self) -> Result<Proved, String> {
        let (names, columns) = self.columns.iter().map(|(name, c)| ((*name).to_owned(), c.clone())).unzip();
        let table = Table::of_columns(names, columns);
        let error = check(&table, None, &self.bytes([0; 32])[..]).unwrap_err();
        let Some(found) = error.split(" there, ").nth(1).and_then(|rest| rest.strip_suffix(" here")) else {
            return Err(error);
        };
        let digit = |k: usize| u8::from_str_radix(&found[2 * k..2 * k + 2], 16).unwrap();
        check(&table, None, &self.bytes(std::array::from_fn(digit))[..])
    }

    fn with(&self, records: &[Vec<u8>]) -> Self {
        Self { records: records.concat(), ..self.clone() }
    }
}

/// ½‖y − Xb‖² + ½‖b‖₀ + b², two columns: P of nothing is 15, of the first alone 0.5 + 15 − 30²/64.
fn honest() -> Forged {
    let columns = vec![
        ("a", vec![1.0, 2.0, 3.0, 4.0]),
        ("b", vec![1.0, -1.0, 1.0, -1.0]),
        ("c", vec![0.5; 4]),
        ("y", vec![1.0, 2.0, 3.0, 4.0]),
    ];
    Forged {
        columns,
        features: vec!["a", "b"],
        target: "y",
        weights: "",
        offset: "",
        loss: (0, None),
        intercept: false,
        scales: None,
        penalty: [0.5, 0.0, 1.0, f64::NEG_INFINITY, f64::INFINITY],
        size: None,
        bound: 1.43,
        excepted: false,
        answers: vec![vec![(0, 0.9375)]],
        dependent: Vec::new(),
        records: [
            psd(&[(0, 20.0), (1, 2.0)]),
            vec![SPLIT, 0, 1],
            closing(&[(0, 0.9375)], true, 0.0),
            closing(&[], true, 0.0),
            vec![END],
        ]
        .concat(),
    }
}

#[test]
fn an_honest_file_is_accepted_and_says_what_is_left_out() {
    let proved = honest().judged().unwrap();
    assert!((proved.objectives[0] - 1.4375).abs() < 1e-12);
    let said = proved.sentence();
    assert!(said.contains("the 2 features \"a\", \"b\" (1 columns of the data are left out)"), "{said}");
    let all = Forged { columns: honest().columns.into_iter().filter(|c| c.0 != "c").collect(), ..honest() };
    let said = all.judged().unwrap().sentence();
    assert!(said.contains("the 2 features, all other columns of the data,"), "{said}");
    // Scales that favour a column are said; those that make columns equally long too.
    let lemma = [psd(&[(0, 1e-6), (1, 1e-6)]), closing(&[], true, 0.0), vec![END]];
    let scaled = |scales: Vec<f64>| {
        let forged = Forged { scales: Some(scales), bound: 0.1, ..honest().with(&lemma) };
        forged.judged().unwrap()
    };
    let said = scaled(vec![1e3, 1.0]);
    assert!(said.sentence().contains("divided by the scales that --features lists"), "{}", said.sentence());
    assert!(said.listing().contains("\"a\", 1000, 0.5, 0, 1, -inf, inf"), "{}", said.listing());
    let equal = scaled(vec![30f64.sqrt() * 50.0, 100.0]).sentence();
    assert!(equal.contains("columns scaled to the length 0.020000"), "{equal}");
}

/// A change, and what the checker has to say to it.
fn refused(forged: &Forged, what: &str) {
    let error = forged.judged().map(|proved| proved.sentence()).unwrap_err();
    assert!(error.contains(what), "{error}, not {what}");
}

/// Of subsets that hold two columns together nothing is claimed: the sentence says so, and no others are closed by it.
#[test]
fn sets_of_which_nothing_is_claimed() {
    let lemma = psd(&[(0, 20.0), (1, 2.0)]);
    let close = closing(&[(0, 0.9375)], true, 0.0);
    let walk =
        [lemma.clone(), vec![SPLIT, 0, 1, SPLIT, 1, 1, DEPENDENT], close.clone(), closing(&[], true, 0.0), vec![END]];
    let apart = Forged { dependent: vec![vec![0, 1]], ..honest() }.with(&walk);
    let sentence = apart.judged().unwrap().sentence();
    assert!(sentence.contains("but those that hold all of {a, b} has P"), "{sentence}");
    // A feature of which nothing is claimed is named however many sets there are, and every name is one word.
    let mut many = Forged { features: vec!["a", "b"], dependent: vec![vec![0, 1]; 13], ..apart.clone() };
    let sentence = many.judged().unwrap().sentence();
    assert!(
        sentence.contains("but those that hold all of one of the 13 sets that --features lists has P"),
        "{sentence}"
    );
    many.dependent.push(vec![1]);
    many.columns[1].0 = "b, c";
    many.features[1] = "b, c";
    let proved = many.judged().unwrap();
    let sentence = proved.sentence();
    assert!(sentence.contains("but those that hold all of {\"b, c\"} or all of one of the 13 sets"), "{sentence}");
    assert!(proved.listing().contains("not together: \"a\", \"b, c\""), "{}", proved.listing());
    refused(&honest().with(&walk), "no set of features");
    for early in [vec![DEPENDENT, END], vec![SPLIT, 0, 1, DEPENDENT, DEPENDENT, END]] {
        refused(&apart.with(&[early]), "no set of features");
    }
    // One of the two is not both.
    let half = [lemma.clone(), vec![SPLIT, 0, 1, DEPENDENT], closing(&[], true, 0.0), vec![END]];
    refused(&apart.with(&half), "no set of features");
    refused(&Forged { dependent: vec![vec![]], ..honest() }, "a set of no features");
    // Pairs without a ridge: a, and its copy b.
    let pairs = |dependent: Vec<Vec<usize>>| {
        let columns = ["a", "b", "y"].into_iter().zip([vec![1.0, 2.0, 3.0], vec![2.0, 4.0, 6.0], vec![1.0, 2.0, 2.0]]);
        let penalty = [0.0, 0.0, 0.0, f64::NEG_INFINITY, f64::INFINITY];
        let records = vec![PAIRS, END];
        Forged {
            columns: columns.collect(),
            penalty,
            bound: 0.1,
            size: Some(2),
            answers: Vec::new(),
            records,
            dependent,
            ..honest()
        }
    };
    pairs(vec![vec![0, 1]]).judged().unwrap();
    refused(&pairs(Vec::new()), "may be below");
}

fn covering(place: usize, beta: &[(usize, f64)]) -> Vec<u8> {
    let mut out = vec![COVERED];
    whole(&mut out, place);
    sparse(&mut out, beta);
    out.push(1);
    out.extend(0f64.to_le_bytes());
    out
}

/// {a, b} holds the answer {a} and is no better: nothing else is said to be.
#[test]
fn subsets_that_hold_an_answer() {
    let beta = [(0, 0.9375)];
    let walk = |cover: Vec<u8>| {
        let lemma = psd(&[(0, 20.0), (1, 2.0)]);
        let rest = [vec![LISTED, SPLIT, 1, 1], closing(&[], true, 0.0), vec![LISTED, END]].concat();
        [lemma, vec![SPLIT, 0, 1, SPLIT, 1, 1], cover, rest]
    };
    let base = Forged { bound: 14.9, excepted: true, answers: vec![vec![(0, 0.9375)], vec![]], ..honest() };
    let sentence = base.with(&walk(covering(0, &beta))).judged().unwrap().sentence();
    assert!(sentence.contains("but those listed and one other that holds one of them, of which"), "{sentence}");
    assert!(sentence.contains("less 1.000"), "{sentence}");
    assert!(sentence.contains("e-1, 6.67e-1 % of the largest listed, has P"), "{sentence}");
    // An answer far above B, among those excepted: of what is covered nothing is shown, and that is said.
    let absurd = Forged { answers: vec![vec![(0, 0.9375)], vec![], vec![(1, 1e3)]], ..base.clone() };
    let sentence = absurd.with(&walk(covering(0, &beta))).judged().unwrap().sentence();
    assert!(
        sentence.contains("largest listed (nothing where that one's is no larger: no P is below zero), has P"),
        "{sentence}"
    );
    refused(&base.with(&walk(covering(1, &beta))), "of an answer that the subset holds");
    refused(&base.with(&walk(covering(2, &beta))), "no such answer");
    refused(&base.with(&walk(closing(&beta, true, 0.0))), "below the");
    let dear = Forged { answers: vec![vec![(0, 0.5)], vec![]], ..base.clone() };
    refused(&dear.with(&walk(covering(0, &beta))), "of an answer that the subset holds");
    refused(&Forged { excepted: false, ..base.clone() }.with(&walk(covering(0, &beta))), "no such answer");
    let family = [psd(&[(0, 20.0), (1, 2.0)]), vec![SPLIT, 0, 1], covering(0, &beta), vec![END]];
    refused(&base.with(&family), "no single subset");
    let itself = [psd(&[(0, 20.0), (1, 2.0)]), vec![SPLIT, 0, 1, SPLIT, 1, 0], covering(0, &beta), vec![END]];
    refused(&base.with(&itself), "no single subset");
}

#[test]
fn claims_beyond_the_truth() {
    let base = honest();
    refused(&Forged { bound: 1.4376, ..base.clone() }, "below the");
    refused(&Forged { bound: 1.4375 + 1e-9, ..base.clone() }, "below the");
    for bound in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-300, 1e300] {
        assert!(Forged { bound, ..base.clone() }.judged().is_err(), "{bound}");
    }
    // The target explained by itself, a column that is there once and listed twice.
    refused(&Forged { features: vec!["a", "y"], ..base.clone() }, "is the target and a feature");
    refused(&Forged { features: vec!["a", "a"], ..base.clone() }, "no column \"a\"");
    refused(&Forged { weights: "b", ..base.clone() }, "weights must be");
    for scales in [vec![0.0, 1.0], vec![-1.0, 1.0], vec![f64::NAN, 1.0], vec![f64::INFINITY, 1.0]] {
        assert!(Forged { scales: Some(scales), ..base.clone() }.judged().is_err());
    }
    for (place, value) in [(0, -1.0), (1, -1.0), (2, -1.0), (2, f64::NAN), (2, f64::INFINITY), (3, 1.0), (4, -1.0)] {
        let mut penalty = base.penalty;
        penalty[place] = value;
        assert!(Forged { penalty, ..base.clone() }.judged().is_err(), "{place} {value}");
    }
}

#[test]
fn lemmas_that_do_not_hold_here() {
    let base = honest();
    let end = || vec![END];
    let near = || closing(&[(0, 0.9375)], true, 0.0);
    // More curvature than there is, on a column alone and on both (Q has −2 beside 30 and 4).
    refused(&base.with(&[psd(&[(0, 30.1), (1, 0.0)]), near(), end()]), "more than the loss");
    refused(&base.with(&[psd(&[(0, 30.0), (1, 4.0)]), near(), end()]), "more than the loss");
    refused(&base.with(&[psd(&[(0, f64::INFINITY), (1, 0.0)]), near(), end()]), "neither 0 nor");
    refused(&base.with(&[psd(&[(0, 20.0)]), near(), end()]), "does not speak of feature 1");
    refused(&base.with(&[near(), end()]), "by a lemma where there is none");
    // The lemma of one side is not that of the other, which has more features.
    let lent = [vec![SPLIT, 1, 0], psd(&[(0, 29.0)]), near(), closing(&[(0, 0.9375)], true, 0.0), end()];
    refused(&base.with(&lent), "by a lemma where there is none");
    // A point with a feature of which the lemma does not speak.
    let beside = [vec![SPLIT, 1, 0], psd(&[(0, 29.0)]), closing(&[(0, 0.9), (1, 0.1)], true, 0.0), end()];
    refused(&base.with(&beside), "of which its lemma does not speak");
}

#[test]
fn walks_that_leave_something_out() {
    let base = honest();
    let (psd, end) = (psd(&[(0, 20.0), (1, 2.0)]), vec![END]);
    let (near, none) = (closing(&[(0, 0.9375)], true, 0.0), closing(&[], true, 0.0));
    refused(&base.with(&[psd.clone(), vec![SPLIT, 0, 1], near.clone(), end.clone()]), "1 families open");
    refused(&base.with(&[psd.clone(), vec![SPLIT, 0, 1, SPLIT, 0, 1]]), "decided already");
    refused(&base.with(&[psd.clone(), vec![SIZE]]), "the size is not reached");
    refused(&base.with(&[psd.clone(), vec![LISTED]]), "excepts no answer");
    let excepted = Forged { excepted: true, ..base.clone() };
    refused(&excepted.with(&[psd.clone(), vec![LISTED]]), "more than one subset");
    let other = [vec![SPLIT, 0, 1, SPLIT, 1, 1, LISTED]];
    refused(&excepted.with(&other), "not among the answers");
    for price in [1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(base.with(&[psd.clone(), closing(&[], true, price), end.clone()]).judged().is_err());
    }
    // A negative price would be paid back the other way round.
    let sized = Forged { size: Some(1), ..base.clone() };
    refused(&sized.with(&[psd.clone(), closing(&[], true, -1.0), end.clone()]), "a price of -1");
    let whole = base.with(&[psd.clone(), vec![SPLIT, 0, 1], near.clone(), none.clone(), end.clone()]);
    assert!(whole.judged().is_ok());
    refused(&base.with(&[whole.records.clone(), end]), "after the end");
    let more = [psd, vec![SPLIT, 0, 1], near, none.clone(), none];
    refused(&base.with(&more), "where no family is open");
}

/// The largest B that is accepted, by halving between two of which the first is.
fn largest(forged: &Forged, above: f64) -> Option<f64> {
    let accepts = |bound: f64| Forged { bound, ..forged.clone() }.judged().is_ok();
    let (mut low, mut high) = (0.0, above);
    if accepts(high) {
        return Some(high);
    }
    for _ in 0..70 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if accepts(middle) { low = middle } else { high = middle }
    }
    (low > 0.0).then_some(low)
}

/// Columns, targets, points and curvature from 1e-60 to 1e60: whatever overflows, underflows or cancels, no B above the least P is
/// accepted.
#[test]
fn numbers_of_any_size_prove_nothing_false() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let (mut proved, total) = (0, share(600));
    for trial in 0..total {
        let reach = if trial % 3 == 0 { 2.0 } else { 59.0 };
        let mut size = || 10f64.powf((2.0 * random() - 1.0) * reach);
        let (of_x, of_y, l0, l2) = (size(), size(), size(), size());
        let n = 1 + trial % 11;
        let mut column = |size: f64| -> Vec<f64> { (0..n).map(|_| size * (random() - 0.4)).collect() };
        let (x, y, w) = (column(of_x), column(of_y), column(1.0).iter().map(|w| w.abs() + 0.1).collect::<Vec<_>>());
        let (intercept, is_weighted) = (trial % 2 == 1, trial % 5 == 1);
        let weight = |i: usize| if is_weighted { w[i] } else { 1.0 };
        let total: f64 = (0..n).map(weight).sum();
        let centred = |v: &[f64]| -> Vec<f64> {
            let mean = if intercept { (0..n).map(|i| weight(i) * v[i]).sum::<f64>() / total } else { 0.0 };
            v.iter().map(|v| v - mean).collect()
        };
        let inner = |a: &[f64], b: &[f64]| (0..n).map(|i| weight(i) * a[i] * b[i]).sum::<f64>();
        let (cx, cy) = (centred(&x), centred(&y));
        let (q, c, null) = (inner(&cx, &cx), inner(&cx, &cy), 0.5 * inner(&cy, &cy));
        let best = c / (q + 2.0 * l2);
        let least = null.min(null - 0.5 * c * best + l0);
        let beta = best * if trial % 7 == 0 { 1.0 + random() } else { 1.0 };
        let d = q * (1.0 - if trial % 4 == 0 { 1e-9 } else { 1e-3 });
        let point: &[(usize, f64)] = if beta == 0.0 { &[] } else { &[(0, beta)] };
        let forged = Forged {
            columns: vec![("a", x), ("w", w.clone()), ("y", y)],
            features: vec!["a"],
            weights: if is_weighted { "w" } else { "" },
            intercept,
            penalty: [l0, 0.0, l2, f64::NEG_INFINITY, f64::INFINITY],
            answers: Vec::new(),
            records: [
                psd(&[(0, d)]),
                vec![SPLIT, 0, 1],
                closing(point, true, 0.0),
                closing(&[], false, 0.0),
                vec![END],
            ]
            .concat(),
            ..honest()
        };
        // Rounding in `least` itself is relative to the terms that cancel in it.
        let slack = 1e-13 * (null + l0);
        if let Some(bound) = largest(&forged, 2.0 * least.abs() + slack) {
            assert!(bound <= least + slack, "{trial}: {bound:e} accepted, {least:e}");
            proved += usize::from(bound > least * (1.0 - 1e-4));
        }
    }
    assert!(10 * proved > total, "{proved}");
}

/// Least squares of the targets on some columns by Gram–Schmidt, twice over: what is left of ‖y‖²/2.
fn left(columns: &[Vec<f64>], ridge: f64, y: &[f64]) -> f64 {
    let (n, m) = (y.len(), columns.len());
    // The ridge as rows of its own.
    let extended = |k: usize| -> Vec<f64> {
        let unit = |e: usize| if e == k { (2.0 * ridge).sqrt() } else { 0.0 };
        columns[k].iter().copied().chain((0..m).map(unit)).collect()
    };
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut rest: Vec<f64> = y.iter().copied().chain(vec![0.0; m]).collect();
    assert_eq!(rest.len(), n + m);
    for k in 0..m {
        let mut column = extended(k);
        for _ in 0..2 {
            for b in &basis {
                let along = inner(&column, b);
                column.iter_mut().zip(b).for_each(|(c, b)| *c -= along * b);
            }
        }
        let length = inner(&column, &column).sqrt();
        if length > 0.0 {
            column.iter_mut().for_each(|c| *c /= length);
            basis.push(column);
        }
    }
    for _ in 0..2 {
        for b in &basis {
            let along = inner(&rest, b);
            rest.iter_mut().zip(b).for_each(|(r, b)| *r -= along * b);
        }
    }
    0.5 * inner(&rest, &rest)
}

/// Fits prove nothing false: columns of all sizes, nearly alike, more or fewer than samples, with a ridge, a price, a size or without; the
/// largest B accepted is at most the least P and, of columns that are not nearly alike, about it.
#[test]
fn fits_prove_nothing_false() {
    let mut state = 0x5eed_5678_9abc_def1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let (mut tight, mut plain, total) = (0, 0, share(400));
    let names = ["a", "b", "c"];
    for trial in 0..total {
        let n = 2 + trial % 9;
        let (of_x, of_y) = (10f64.powf(40.0 * random()), 10f64.powf(40.0 * random()));
        let alike = [0.0, 0.0, 1e-3, 1e-7, 1e-12, 1.0][trial % 6];
        let mut columns: Vec<Vec<f64>> = (0..3).map(|_| (0..n).map(|_| of_x * random()).collect()).collect();
        if alike > 0.0 {
            columns[1] = (0..n).map(|i| columns[0][i] + alike * columns[1][i]).collect();
        }
        let y: Vec<f64> = (0..n).map(|i| of_y * (columns[0][i] / of_x - columns[2][i] / of_x + random())).collect();
        let ridge = if trial % 3 == 0 { of_x * of_x * 10f64.powf(-8.0 + 8.0 * random()) } else { 0.0 };
        let null = 0.5 * y.iter().map(|y| y * y).sum::<f64>();
        let price = if trial % 4 == 1 { null * (random() + 0.5) } else { 0.0 };
        let size = [None, Some(0), Some(1), Some(2), Some(3)][trial % 5];
        let subsets = (0..8usize).map(|mask| (0..3).filter(|j| mask >> j & 1 == 1).collect::<Vec<usize>>());
        let cost = |subset: Vec<usize>| {
            let chosen: Vec<Vec<f64>> = subset.iter().map(|&j| columns[j].clone()).collect();
            left(&chosen, ridge, &y) + price * subset.len() as f64
        };
        let least = subsets.filter(|s| size.is_none_or(|k| s.len() <= k)).map(cost).fold(f64::INFINITY, f64::min);
        // Two features at the most: pairs; else the first is split off, or all are fitted.
        let records = match (size, trial % 2) {
            (None | Some(3), 0) => vec![FIT, 1, END],
            (None | Some(3), _) => vec![SPLIT, 0, 1, PAIRS, PAIRS, END],
            (_, 0) => vec![PAIRS, END],
            _ => vec![SPLIT, 2, 0, FIT, 0, 0, PAIRS, PAIRS, END],
        };
        let mut all: Vec<(&'static str, Vec<f64>)> = names.iter().copied().zip(columns.clone()).collect();
        all.push(("y", y.clone()));
        let forged = Forged {
            columns: all,
            features: names.to_vec(),
            penalty: [price, 0.0, ridge, f64::NEG_INFINITY, f64::INFINITY],
            size,
            answers: Vec::new(),
            records,
            ..honest()
        };
        let slack = 1e-12 * null;
        let bound = largest(&forged, 2.0 * least + slack).unwrap_or(0.0);
        assert!(bound <= least + slack, "{trial}: {bound:e} accepted, {least:e} of {null:e}");
        let is_plain = alike == 0.0 && n > 4 && least > 1e-6 * null && trial % 2 == 1;
        plain += usize::from(is_plain);
        tight += usize::from(is_plain && bound >= least * (1.0 - 1e-9));
    }
    assert!(10 * plain > total && tight * 100 >= plain * 95, "{tight} of {plain}");
    let small = Forged { penalty: [0.5, 0.0, 0.0, f64::NEG_INFINITY, f64::INFINITY], bound: 0.4, ..honest() };
    refused(&small.with(&[vec![FIT, 0, 1, 1, END]]), "nothing shows that feature 1 is in");
    // The first column is the target: it costs 0.5, and nothing is below that.
    assert!(small.with(&[vec![FIT, 1, END]]).judged().is_ok());
    refused(&Forged { bound: 0.6, ..small.with(&[vec![FIT, 1, END]]) }, "fits do not close the subsets of 1 features");
    refused(&Forged { loss: (3, Some(1.0)), ..small }.with(&[vec![FIT, 1, END]]), "fit is one of the squared loss");
}

/// ℓ, ℓ′, ℓ″ by their definitions.
fn loss_at(loss: u8, delta: f64, u: f64, y: f64) -> (f64, f64, f64) {
    let (m, r) = (y * u, u - y);
    match loss {
        1 => {
            let t = 1.0 / (1.0 + m.exp());
            ((-m.abs()).exp().ln_1p() + (-m).max(0.0), -y * t, t * (1.0 - t))
        }
        2 => ((1.0 - m).max(0.0).powi(2), -2.0 * y * (1.0 - m).max(0.0), if m < 1.0 { 2.0 } else { 0.0 }),
        4 => (u.exp() - m + if y > 0.0 { y * y.ln() - y } else { 0.0 }, u.exp() - y, u.exp()),
        5 => (y * (-u).exp() + u - y.ln() - 1.0, 1.0 - y * (-u).exp(), y * (-u).exp()),
        6 => {
            let t = u.exp() / (delta + u.exp());
            let own = if y > 0.0 { y * y.ln() } else { 0.0 };
            let value = (y + delta) * ((delta + u.exp()) / (delta + y)).ln() - m + own;
            (value, (y + delta) * t - y, (y + delta) * t * (1.0 - t))
        }
        _ if r.abs() <= delta => (0.5 * r * r, r, 1.0),
        _ => (delta * (r.abs() - 0.5 * delta), delta * r.signum(), 0.0),
    }
}

/// A problem with one column.
struct One<'a> {
    loss: (u8, f64),
    x: &'a [f64],
    y: &'a [f64],
    w: Vec<f64>,
    o: Vec<f64>,
    intercept: bool,
    l2: f64,
}

impl One<'_> {
    /// Σ w ℓ + λ2b² with the best intercept, and its slope in b: by bisection, as obvious as can be.
    fn at(&self, b: f64) -> (f64, f64) {
        let sum = |b0: f64, part: fn((f64, f64, f64), f64) -> f64| -> f64 {
            let one = |i: usize| {
                self.w[i]
                    * part(loss_at(self.loss.0, self.loss.1, self.o[i] + self.x[i] * b + b0, self.y[i]), self.x[i])
            };
            (0..self.x.len()).map(one).sum()
        };
        let (mut low, mut high) = if self.loss.0 > 3 { (-60.0, 60.0) } else { (-1e3, 1e3) };
        for _ in 0..if self.intercept { 100 } else { 0 } {
            let middle = 0.5 * (low + high);
            if sum(middle, |l, _| l.1) > 0.0 { high = middle } else { low = middle }
        }
        let b0 = if self.intercept { low } else { 0.0 };
        (sum(b0, |l, _| l.0) + self.l2 * b * b, sum(b0, |l, x| l.1 * x) + 2.0 * self.l2 * b)
    }

    /// The best b.
    fn best(&self) -> f64 {
        let (mut low, mut high) = if self.loss.0 > 3 { (-60.0, 60.0) } else { (-1e3, 1e3) };
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.at(middle).1 > 0.0 { high = middle } else { low = middle }
        }
        low
    }
}

/// No B above the least P is accepted for other losses either, with weights, offsets and an intercept or without; at the best point
/// nearly all of it is.
#[test]
fn other_losses_prove_nothing_false() {
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let (mut tight, mut near, total) = (0, 0, share(600));
    for trial in 0..total {
        let (loss, n) = ((1 + trial % 6) as u8, 4 + trial % 13);
        let delta = 0.5 + random();
        let x: Vec<f64> = (0..n).map(|_| 3.0 * (random() - 0.4)).collect();
        let noise: Vec<f64> = (0..n).map(|_| 2.0 * random() - 1.0).collect();
        let signal = |i: usize| x[i] + 1.5 * noise[i];
        let target = |i: usize| match loss {
            3 => signal(i),
            4 | 6 => signal(i).exp().min(50.0).floor(),
            5 => signal(i).exp().min(50.0),
            _ => signal(i).signum(),
        };
        let mut y: Vec<f64> = (0..n).map(target).collect();
        if loss == 4 || loss == 6 {
            y[0] += 1.0;
        }
        let (w, o): (Vec<f64>, Vec<f64>) = (0..n).map(|_| ((4.0 * random()).floor(), random() - 0.5)).unzip();
        let (intercept, is_weighted, is_offset) = (trial % 2 == 0, trial % 5 == 1, trial % 7 < 3);
        let (l0, l2) = (0.3 * random(), 0.01 + 0.5 * random());
        let one = One {
            loss: (loss, delta),
            x: &x,
            y: &y,
            w: if is_weighted { w.clone() } else { vec![1.0; n] },
            o: if is_offset { o.clone() } else { vec![0.0; n] },
            intercept,
            l2,
        };
        let (best, null) = (one.best(), one.at(0.0).0);
        let least = null.min(one.at(best).0 + l0);
        let beta = best + if trial % 4 == 0 { 0.1 * (random() - 0.5) } else { 0.0 };
        let forged = Forged {
            columns: vec![("a", x.clone()), ("w", w), ("o", o), ("y", y.clone())],
            features: vec!["a"],
            weights: if is_weighted { "w" } else { "" },
            offset: if is_offset { "o" } else { "" },
            loss: (loss, (loss == 3 || loss == 6).then_some(delta)),
            intercept,
            penalty: [l0, 0.0, l2, f64::NEG_INFINITY, f64::INFINITY],
            answers: vec![vec![(0, best)]],
            records: [vec![SPLIT, 0, 1], closing(&[(0, beta)], false, 0.0), closing(&[], false, 0.0), vec![END]]
                .concat(),
            bound: 1e-50,
            ..honest()
        };
        let Ok(proved) = forged.judged() else { continue };
        let truth = one.at(best).0 + l0;
        assert!(
            (truth - 1e-12..truth + 1e-10).contains(&proved.objectives[0]),
            "{trial}: {} {truth}",
            proved.objectives[0]
        );
        let bound = largest(&forged, 2.0 * least + 1.0).unwrap();
        assert!(bound <= least + 1e-12 * (1.0 + least), "{trial}: {bound} accepted, {least}");
        tight += usize::from(trial % 4 != 0 && bound >= least * (1.0 - 1e-9) - 1e-10);
        near += usize::from(trial % 4 != 0);
    }
    assert!(2 * near > total && tight * 100 >= near * 95, "{tight} of {near}");
    let wrong = Forged { loss: (1, None), ..honest() };
    refused(&wrong, "the loss wants -1 and 1");
    refused(&Forged { loss: (3, Some(-1.0)), ..honest() }, "of -1");
    refused(&Forged { loss: (3, Some(1.0)), ..honest() }, "about the squared loss");
    refused(&Forged { loss: (7, None), ..honest() }, "no loss has the number 7");
    let minus = vec![("a", vec![1.0, 2.0]), ("b", vec![1.0, 0.0]), ("y", vec![1.0, -1.0])];
    refused(&Forged { loss: (4, None), columns: minus, ..honest() }, "wants counts or amounts");
}

/// Points whose parts cancel: c(b − a) with b = a + z/c is z, but for rounding of the size of c, which the bound pays for.
#[test]
fn points_that_cancel_prove_nothing_false() {
    let mut state = 0xfeed_5678_9abc_def1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut proved = 0;
    for trial in 0..200 {
        let (n, c) = (6 + trial % 5, 10f64.powi(3 + trial % 8));
        let (a, y): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (random(), random())).unzip();
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // Nothing is worth its price: the least P is that of nothing, ½‖y‖², where r = y.
        let z: Vec<f64> = y.iter().map(|y| 1e-3 * y).collect();
        let b: Vec<f64> = a.iter().zip(&z).map(|(a, z)| a + z / c).collect();
        let least = 0.5 * inner(&y, &y);
        let forged = Forged {
            columns: vec![("a", a), ("b", b), ("y", y)],
            penalty: [100.0, 0.0, 1.0, f64::NEG_INFINITY, f64::INFINITY],
            answers: Vec::new(),
            records: [closing(&[(0, -c), (1, c)], false, 0.0), vec![END]].concat(),
            ..honest()
        };
        if let Some(bound) = largest(&forged, 2.0 * least) {
            // At r = y(1 − 10⁻³) the bound is 10⁻⁶ of it below the truth: what rounding adds beyond that is caught.
            assert!(bound <= least * (1.0 - 0.99e-6) + 1e-15, "{trial}: {bound:e}, {least:e}, {c:e}");
            proved += usize::from(bound > 0.9 * least);
        }
    }
    assert!(proved > 100, "{proved}");
}

/// An array of no rows may announce any number of columns.
#[test]
fn arrays_that_announce_more_than_they_have() {
    for shape in ["(0, 1000000000000)", "(1000000000000, 0)", "(4294967296, 4294967296)", "(-1, 2)", "(2,)"] {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        assert!(Table::npy(&bytes).is_err(), "{shape}");
    }
}

/// The best coefficients of a feature or two alone, about: a point for COHERENCE.
fn fitted(columns: &[Vec<f64>], subset: &[usize], ridge: f64, y: &[f64]) -> Vec<(usize, f64)> {
    let mut beta = vec![0.0; subset.len()];
    for step in 0..400 {
        let k = step % subset.len();
        let rest = |i: usize| {
            y[i] - (0..subset.len()).filter(|l| *l != k).map(|l| beta[l] * columns[subset[l]][i]).sum::<f64>()
        };
        let x = &columns[subset[k]];
        let (along, square) = (0..y.len()).fold((0.0, 2.0 * ridge), |(a, s), i| (a + x[i] * rest(i), s + x[i] * x[i]));
        beta[k] = along / square;
    }
    subset.iter().copied().zip(beta).filter(|c| c.1 != 0.0).collect()
}

/// V_m of (P18) around nothing, of three columns with products q: E is taken off each product of each row, and no product is left out.
#[test]
fn coherence_takes_its_error_off_every_product() {
    let (q, of_noise) = (0.1f64, 10f64.sqrt());
    let unit = |j: usize| -> Vec<f64> {
        (0..5)
            .map(|i| {
                if i == 0 {
                    q.sqrt()
                } else if i == j {
                    (1.0 - q).sqrt()
                } else {
                    0.0
                }
            })
            .collect()
    };
    let columns: Vec<Vec<f64>> = (1..4).map(unit).collect();
    let y: Vec<f64> =
        (0..5).map(|i| columns.iter().map(|c| c[i]).sum::<f64>() + if i == 4 { of_noise } else { 0.0 }).collect();
    let (null, slope) = (0.5 * y.iter().map(|y| y * y).sum::<f64>(), 1.0 + 2.0 * q);
    let mut all: Vec<(&'static str, Vec<f64>)> = ["a", "b", "c"].into_iter().zip(columns).collect();
    all.push(("y", y));
    for k in 1..4usize {
        let records = [coherence(&[], &[], 4, 0.0), vec![END]].concat();
        let (names, penalty) = (vec!["a", "b", "c"], [0.0, 0.0, 0.0, f64::NEG_INFINITY, f64::INFINITY]);
        let base = Forged {
            columns: all.clone(),
            features: names,
            penalty,
            size: Some(k),
            answers: Vec::new(),
            records,
            ..honest()
        };
        let found = largest(&base, 2.0 * null).unwrap();
        let (count, left) = (k as f64, 1.0 - (k as f64 - 1.0) * q);
        let exact = null - 0.5 * count * slope * slope / left;
        // E = 2·72·2⁻²⁴ and little more, k times in each of k rows.
        let lost = 0.5 * count * slope * slope / (left * left) * count * 144.0 / f64::from(1 << 24);
        assert!((1.0..1.1).contains(&((exact - found) / lost)), "{k}: {found} of {exact}, {lost:e}");
    }
}

/// Coherence proves nothing false: around fits and around points that are none, columns of all sizes, some alike, with a ridge, a price, a
/// size; closing, or before a walk at lower prices.
#[test]
fn coherence_proves_nothing_false() {
    let mut state = 0xc0fe_5678_9abc_def1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let (names, mut proved, mut near, mut cheaper) = (["a", "b", "c", "d"], 0, 0, 0);
    let total = share(600);
    for trial in 0..total {
        let n = 3 + trial % 17;
        let (of_x, of_y) = (10f64.powf(20.0 * random()), 10f64.powf(20.0 * random()));
        let mut columns: Vec<Vec<f64>> = (0..4).map(|_| (0..n).map(|_| of_x * random()).collect()).collect();
        if trial % 9 == 0 {
            columns[1] = (0..n).map(|i| columns[0][i] + [1e-3, 1e-9, 0.0][trial / 9 % 3] * columns[1][i]).collect();
        }
        let noise = [0.03, 0.3, 3.0][trial % 3];
        let y: Vec<f64> = (0..n).map(|i| of_y * ((columns[0][i] - columns[2][i]) / of_x + noise * random())).collect();
        let ridge = if trial % 2 == 0 { of_x * of_x * 10f64.powf(-3.0 + 6.0 * random()) } else { 0.0 };
        let null = 0.5 * y.iter().map(|y| y * y).sum::<f64>();
        let price = if trial % 5 < 3 { null * 0.3 * (random() + 0.5) } else { 0.0 };
        let size = [None, Some(1), Some(2), None][trial % 4];
        let subsets = (0..16usize).map(|mask| (0..4).filter(|j| mask >> j & 1 == 1).collect::<Vec<usize>>());
        let cost = |subset: Vec<usize>| {
            let chosen: Vec<Vec<f64>> = subset.iter().map(|&j| columns[j].clone()).collect();
            left(&chosen, ridge, &y) + price * subset.len() as f64
        };
        let least = subsets.filter(|s| size.is_none_or(|k| s.len() <= k)).map(cost).fold(f64::INFINITY, f64::min);
        let around = [&[0, 2][..], &[0], &[1, 2], &[0, 1, 2, 3]][trial % 11 % 4];
        let mut beta = fitted(&columns, around, ridge, &y);
        if trial % 6 == 5 {
            beta.iter_mut().for_each(|c| c.1 *= 1.0 + 0.2 * random());
        }
        let square = |j: usize| columns[j].iter().map(|x| x * x).sum::<f64>();
        let part = [0.5, 0.9, 0.25, 0.0, 0.99][trial % 5];
        let rho: Vec<f64> = beta.iter().map(|c| part * square(c.0) * (0.7 + 0.3 * random())).collect();
        let is_walk = trial % 7 == 3 && price > 0.0;
        let records = match is_walk {
            false => [coherence(&beta, &rho, 5, 0.0), vec![END]].concat(),
            true => {
                let walk = vec![SPLIT, 0, 1, SPLIT, 1, 1, PAIRS, PAIRS, SPLIT, 1, 1, PAIRS, PAIRS, END];
                [coherence(&beta, &rho, 1 + trial % 2, price * (random() + 0.5)), walk].concat()
            }
        };
        let mut all: Vec<(&'static str, Vec<f64>)> = names.iter().copied().zip(columns.clone()).collect();
        all.push(("y", y.clone()));
        let penalty = [price, 0.0, ridge, f64::NEG_INFINITY, f64::INFINITY];
        let forged =
            Forged { columns: all, features: names.to_vec(), penalty, size, answers: Vec::new(), records, ..honest() };
        let slack = 1e-12 * null;
        let bound = largest(&forged, 2.0 * least + slack).unwrap_or(0.0);
        assert!(bound <= least + slack, "{trial}: {bound:e} accepted, {least:e} of {null:e}");
        (proved, near) = (proved + usize::from(bound > 0.1 * least), near + usize::from(bound > 0.999 * least));
        cheaper += usize::from(is_walk && bound > 0.5 * least);
    }
    println!("{proved} proved, {near} nearly the least P, {cheaper} at lower prices");
    assert!(6 * proved > total && 30 * near > total && 120 * cheaper >= total, "{proved} {near} {cheaper}");
}
