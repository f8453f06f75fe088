//! No false acceptance: proofs of small problems with one thing changed are rejected, or what they claim is true all the same.

use super::{counts, exact, proof, squared, table, unridged, wide};
use crate::common::{ChaCha8Rng, RngExt, Shape, case, loss_at, pick, rng, seeds, share, sized};
use bestset::{Error, Loss, Options, Problem, Status, solve};
use bestset_check::{Header, Penalty, Proved, Table, check};
use std::collections::HashMap;

/// A proof with its data in plain numbers.
pub struct Written {
    pub bytes: Vec<u8>,
    pub table: Table,
    pub x: Vec<Vec<f64>>,
    pub y: Vec<f64>,
    pub weights: Vec<f64>,
    pub offset: Vec<f64>,
    /// The least P of all subsets that the claim is about.
    truth: f64,
    /// Where records and the numbers of the header begin.
    marks: Marks,
}

/// Proofs of small problems of all kinds.
pub fn written(seed: u64) -> Option<Written> {
    let mut rng = rng(10_000 + seed);
    let shape = Shape { wild: seed.is_multiple_of(5), attained: true, certified: true, ..Shape::new(4..=8, 2..=5) };
    // Every other problem has a loss of its own, every fourth no ridge, every eighth has counts or amounts.
    let (case, k) = match seed % 4 {
        2 if seed % 8 == 6 => wide(&mut rng, seed as usize / 8),
        1 if seed % 8 == 5 => (counts(&mut rng, seed as usize / 8, 4), rng.random_bool(0.3).then_some(1)),
        0 => (squared(&mut rng, &shape), rng.random_bool(0.4).then(|| rng.random_range(1..3))),
        2 => unridged(&mut rng, 6),
        _ => (case(&mut rng, &shape), rng.random_bool(0.4).then(|| rng.random_range(1..3))),
    };
    let options = Options { top: pick(&mut rng, &[1, 1, 2]), ..exact() };
    case.with_problem(|problem| {
        let problem = sized(problem.clone(), k);
        let is_unridged = seed % 4 == 2;
        let solution = match solve(&problem, &options) {
            Err(_) if is_unridged => return None,
            solution => solution.unwrap(),
        };
        if solution.status != Status::Optimal {
            return None;
        }
        let bytes = match proof(&problem, &solution, &options) {
            Ok((bytes, _)) => bytes,
            // Ranks that the search has not proved.
            Err(Error::Unused { .. }) if options.top > 1 => return None,
            // Columns that depend on others but for little.
            Err(Error::File { .. }) if is_unridged => return None,
            Err(error) => panic!("{seed}: {error}"),
        };
        let accepted = check(&table(&problem), None, &bytes[..]).unwrap_or_else(|e| panic!("{seed}: {e}; {case:?}"));
        Some(Written::new(&problem, bytes, &accepted))
    })
}

impl Written {
    fn new(problem: &Problem<'_>, bytes: Vec<u8>, accepted: &Proved) -> Self {
        let x = (0..problem.ncols()).map(|j| super::dense(problem.design(), j)).collect();
        let offset = problem.offset().map_or_else(|| vec![0.0; problem.nrows()], <[f64]>::to_vec);
        let y = problem.y().to_vec();
        let weights = problem.weights().map_or_else(|| vec![1.0; problem.nrows()], <[f64]>::to_vec);
        let marks = Marks::new(&bytes, &accepted.header);
        let mut one = Self { bytes, table: table(problem), x, y, weights, offset, truth: 0.0, marks };
        let costs = one.costs(&accepted.header);
        costs.judge(accepted, &"as it was written");
        one.truth = costs.least(accepted.header.bound);
        one
    }

    /// P of the best b on a subset by descent, of the problem that a header states: never below the truth but for rounding.
    fn cost(&self, header: &Header, subset: &[usize]) -> f64 {
        let n = self.y.len();
        let (loss, steepest) = match header.loss {
            bestset_check::Loss::Squared => (Loss::Squared, 1.0),
            bestset_check::Loss::Logistic => (Loss::Logistic, 0.25),
            bestset_check::Loss::SquaredHinge => (Loss::SquaredHinge, 2.0),
            bestset_check::Loss::Huber(delta) => (Loss::Huber { delta }, 1.0),
            // No parabola is steep enough everywhere: what descent comes to may be above the least, never below.
            bestset_check::Loss::Poisson => (Loss::Poisson, 30.0),
            bestset_check::Loss::Gamma => (Loss::Gamma, 30.0),
            bestset_check::Loss::NegativeBinomial(theta) => (Loss::NegativeBinomial { theta }, 30.0),
        };
        let total: f64 = self.weights.iter().sum();
        let centred = |column: &[f64], scale: f64| -> Vec<f64> {
            let mean = column.iter().zip(&self.weights).map(|(x, w)| x * w).sum::<f64>() / total;
            column.iter().map(|x| (x - if header.intercept { mean } else { 0.0 }) / scale).collect()
        };
        let scale = |j: usize| header.scales.as_ref().map_or(1.0, |s| s[j]);
        let x: Vec<Vec<f64>> = subset.iter().map(|&j| centred(&self.x[j], scale(j))).collect();
        // Numbers are centred first, as far as that goes: targets far from zero keep their digits.
        let (y, mut u) = match loss.is_classification() || loss.has_log_link() {
            true => (self.y.clone(), self.offset.clone()),
            false => {
                let left: Vec<f64> = self.y.iter().zip(&self.offset).map(|(y, o)| y - o).collect();
                (centred(&left, 1.0), vec![0.0; n])
            }
        };
        let at = |u: &[f64], i: usize| loss_at(loss, u[i], y[i]);
        let mut b = vec![0.0; subset.len()];
        for round in 0..3000 {
            let mut largest = 0.0f64;
            if header.intercept {
                // The best intercept, by Newton's steps that never exceed those of the steepest parabola by much.
                for _ in 0..if round == 0 { 200 } else { 5 } {
                    let slope: f64 = (0..n).map(|i| self.weights[i] * at(&u, i).1).sum();
                    let curvature: f64 = (0..n).map(|i| self.weights[i] * at(&u, i).2).sum();
                    let by = -slope / curvature.max(0.05 * steepest * total);
                    u.iter_mut().for_each(|u| *u += by);
                    largest = largest.max(by.abs() * total.sqrt());
                }
            }
            for (e, &j) in subset.iter().enumerate() {
                let Penalty { l1, l2, low, high, .. } = header.penalty(j);
                let c: f64 = steepest * (0..n).map(|i| self.weights[i] * x[e][i] * x[e][i]).sum::<f64>();
                let q = c * b[e] - (0..n).map(|i| self.weights[i] * x[e][i] * at(&u, i).1).sum::<f64>();
                let curvature = c + 2.0 * l2;
                if curvature <= 0.0 {
                    continue;
                }
                let next = (q.abs() - l1).max(0.0).copysign(q) / curvature;
                let by = next.clamp(low, high) - b[e];
                b[e] += by;
                (0..n).for_each(|i| u[i] += by * x[e][i]);
                largest = largest.max(by.abs() * c.sqrt());
            }
            if largest < 1e-15 * y.iter().map(|y| y.abs()).fold(0.0, f64::max) {
                break;
            }
        }
        let loss: f64 = (0..n).map(|i| self.weights[i] * at(&u, i).0).sum();
        let paid = |(e, &j): (usize, &usize)| {
            let Penalty { l0, l1, l2, .. } = header.penalty(j);
            l0 + l1 * b[e].abs() + l2 * b[e] * b[e]
        };
        loss + subset.iter().enumerate().map(paid).sum::<f64>()
    }

    /// P of every subset that (P2) speaks of: all that are allowed, but the answers where they are excepted, and those that hold a set D.
    fn costs(&self, header: &Header) -> Costs {
        let p = header.names.len();
        let subsets = (0..1usize << p).map(|mask| (0..p).filter(|j| mask >> j & 1 == 1).collect::<Vec<_>>());
        let is_meant = |subset: &Vec<usize>| {
            let is_answer = header.answers.iter().any(|a| a.iter().map(|c| c.0).eq(subset.iter().copied()));
            let may_enter = subset.iter().all(|&j| header.penalty(j).low < 0.0 || header.penalty(j).high > 0.0);
            let is_apart = header.dependent.iter().any(|set| set.iter().all(|j| subset.contains(j)));
            header.size.is_none_or(|k| subset.len() <= k) && !(header.excepted && is_answer) && may_enter && !is_apart
        };
        let costs = subsets.filter(is_meant).map(|subset| (self.cost(header, &subset), subset));
        Costs { of: costs.collect(), null: self.cost(header, &[]) }
    }
}

/// P of subsets, and of none.
struct Costs {
    of: Vec<(f64, Vec<usize>)>,
    null: f64,
}

impl Costs {
    /// P of these with what rounding of the reference may have taken from it.
    fn at_most(&self, cost: f64) -> f64 {
        cost + 1e-13 * (cost.abs() + self.null)
    }

    /// The subsets below B.
    fn below(&self, bound: f64) -> impl Iterator<Item = &(f64, Vec<usize>)> {
        self.of.iter().filter(move |c| self.at_most(c.0) < bound)
    }

    /// The least P that is not below B.
    fn least(&self, bound: f64) -> f64 {
        self.of.iter().map(|c| c.0).filter(|cost| self.at_most(*cost) >= bound).fold(f64::INFINITY, f64::min)
    }

    /// What is claimed is true: no subset is below B, but as many as COVERED has closed, each of which holds an answer and more features,
    /// and is at least (P19).
    fn judge(&self, proved: &Proved, context: &dyn std::fmt::Debug) {
        let Proved { header, objectives, counts, .. } = proved;
        let last = objectives.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(self.below(header.bound).count() <= counts.covered, "{context:?}: {} claimed", header.bound);
        for (cost, subset) in self.below(header.bound) {
            let holds =
                |answer: &[(usize, f64)]| answer.len() < subset.len() && answer.iter().all(|c| subset.contains(&c.0));
            let is_covered = header
                .answers
                .iter()
                .zip(objectives)
                .any(|(answer, own)| holds(answer) && self.at_most(*cost) >= own - (last - header.bound));
            assert!(is_covered, "{context:?}: {} claimed, {subset:?} has {cost}", header.bound);
        }
    }
}

/// Places in the bytes of a proof.
#[derive(Default)]
struct Marks {
    /// Where records begin, and the end.
    records: Vec<usize>,
    /// B.
    bound: usize,
    /// Numbers of eight bytes.
    numbers: Vec<usize>,
    /// Bytes that are flags.
    flags: Vec<usize>,
    /// Whole numbers: n, p, the size, counts and features.
    wholes: Vec<usize>,
    /// The byte of the loss, and the flag of scales.
    loss: usize,
    scales: usize,
}

impl Marks {
    fn new(bytes: &[u8], header: &Header) -> Self {
        let mut marks = Self::default();
        let mut at = Reader { bytes, place: 40, marks: &mut marks };
        let p = header.names.len();
        at.whole();
        at.whole();
        (0..3 + p).for_each(|_| at.place += at.whole());
        let loss = at.place;
        at.place += 1;
        if matches!(header.loss, bestset_check::Loss::Huber(_) | bestset_check::Loss::NegativeBinomial(_)) {
            at.number();
        }
        at.flag();
        let scales = at.place;
        let scaled = at.flag();
        (0..if scaled { p } else { 0 }).for_each(|_| at.number());
        let each = at.flag();
        (0..5 * if each { p } else { 1 }).for_each(|_| at.number());
        at.whole();
        let bound = at.place;
        at.number();
        at.flag();
        (0..at.whole()).for_each(|_| at.sparse());
        (0..at.whole()).for_each(|_| {
            at.features();
        });
        while at.place < bytes.len() {
            let place = at.place;
            at.record();
            at.marks.records.push(place);
        }
        marks.records.push(bytes.len());
        (marks.bound, marks.loss, marks.scales) = (bound, loss, scales);
        marks
    }
}

struct Reader<'m> {
    bytes: &'m [u8],
    place: usize,
    marks: &'m mut Marks,
}

impl Reader<'_> {
    fn whole(&mut self) -> usize {
        let (mut value, mut shift) = (0, 0);
        self.marks.wholes.push(self.place);
        loop {
            let byte = self.bytes[self.place];
            self.place += 1;
            value |= usize::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                return value;
            }
        }
    }

    fn flag(&mut self) -> bool {
        self.marks.flags.push(self.place);
        self.place += 1;
        self.bytes[self.place - 1] == 1
    }

    fn number(&mut self) {
        self.marks.numbers.push(self.place);
        self.place += 8;
    }

    fn features(&mut self) -> usize {
        let count = self.whole();
        (0..count).for_each(|_| {
            self.whole();
        });
        count
    }

    fn sparse(&mut self) {
        (0..self.features()).for_each(|_| self.number());
    }

    fn record(&mut self) {
        self.place += 1;
        match self.bytes[self.place - 1] {
            1 => {
                self.whole();
                self.flag();
            }
            2 => {
                self.sparse();
                self.flag();
                self.number();
                if !self.flag() {
                    self.features();
                    self.flag();
                    self.features();
                }
            }
            3 => self.sparse(),
            9 => {
                let count = self.features();
                (0..2 * count).for_each(|_| self.number());
                self.whole();
                self.number();
            }
            11 => {
                self.whole();
                self.sparse();
                self.flag();
                self.number();
            }
            7 => {
                let closes = self.flag();
                if !closes {
                    self.features();
                }
            }
            _ => {}
        }
    }
}

/// A proof with one thing changed.
pub fn mutated(one: &Written, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let Marks { records, bound, numbers, flags, .. } = &one.marks;
    let mut bytes = one.bytes.clone();
    let set = |bytes: &mut Vec<u8>, at: usize, x: f64| bytes[at..at + 8].copy_from_slice(&x.to_le_bytes());
    let get = |bytes: &[u8], at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let record = |k: usize| one.bytes[records[k]..records[k + 1]].to_vec();
    let count = records.len() - 1;
    match rng.random_range(0..14) {
        0 | 1 => {
            let at = pick(rng, numbers);
            let x = get(&bytes, at);
            let by = pick(rng, &[1.0 + 1e-15, 1.0 - 1e-15, 1.0 + 1e-9, 1.0 - 1e-6, 1.01, 0.9, 2.0, -1.0, 0.0, 1e3]);
            set(&mut bytes, at, x * by);
        }
        2 => {
            let at = pick(rng, numbers);
            set(&mut bytes, at, pick(rng, &[0.0, 1.0, -1.0, 1e-300, 1e300, f64::INFINITY, f64::NAN, -1e59, 0.1]));
        }
        3 => bytes[pick(rng, flags)] ^= 1,
        4 => {
            let x = get(&bytes, *bound);
            set(&mut bytes, *bound, x + x.abs() * pick(rng, &[1e-6, 1.001e-6, 1.1e-6, 1e-5, 1e-3, 1e-9]));
        }
        5 => {
            let k = rng.random_range(0..count);
            bytes.drain(records[k]..records[k + 1]);
        }
        6 => {
            let (k, l) = (rng.random_range(0..count), rng.random_range(0..count));
            let order = (0..count).map(|e| {
                if e == k {
                    l
                } else if e == l {
                    k
                } else {
                    e
                }
            });
            let body: Vec<u8> = order.flat_map(record).collect();
            bytes.truncate(records[0]);
            bytes.extend(body);
        }
        7 => {
            let (k, l) = (rng.random_range(0..count), rng.random_range(0..count));
            bytes.splice(records[l]..records[l], record(k));
        }
        8 => {
            let at = rng.random_range(40..bytes.len());
            bytes[at] ^= 1 << rng.random_range(0..8);
        }
        _ => return altered(one, rng),
    }
    bytes
}

/// Other changes: beyond the truth by little, records of other kinds or places, fields of the header, bytes that are lost or added.
fn altered(one: &Written, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let Marks { records, bound, numbers, flags, wholes, loss, scales } = &one.marks;
    let (mut bytes, count) = (one.bytes.clone(), records.len() - 1);
    let at = records[rng.random_range(0..count)];
    match rng.random_range(0..10) {
        0 => {
            let beyond = one.truth + one.truth.abs() * pick(rng, &[1e-9, 1e-8, 1e-12]);
            bytes[*bound..*bound + 8].copy_from_slice(&beyond.to_le_bytes());
        }
        1 => {
            // A record that asks for nothing: SIZE, LISTED, END, FIT that closes, PAIRS, SPLIT.
            let nothing = [&[9, 0, 2][..], &[0; 8]].concat();
            let new =
                pick(rng, &[&[4][..], &[5], &[6], &[7, 1], &[8], &[1, 0, 1], &[1, 1, 0], &[7, 0, 1, 0], &nothing]);
            bytes.splice(at..at, new.iter().copied());
        }
        2 => {
            let k = rng.random_range(0..count);
            let new = pick(rng, &[&[4][..], &[5], &[7, 1], &[8]]);
            bytes.splice(records[k]..records[k + 1], new.iter().copied());
        }
        3 => {
            let k = rng.random_range(0..count);
            let moved: Vec<u8> = bytes.drain(records[k]..records[k + 1]).collect();
            let to = records[rng.random_range(0..=k)];
            bytes.splice(to..to, moved);
        }
        4 => {
            let whole = pick(rng, wholes);
            bytes[whole] = bytes[whole].wrapping_add(pick(rng, &[1, 255, 2]));
        }
        5 => bytes[*loss] = rng.random_range(0..8),
        6 if bytes[*scales] == 0 => {
            bytes[*scales] = 1;
            let new: Vec<u8> =
                one.x.iter().flat_map(|_| pick(rng, &[1.0f64, 0.5, 2.0, 1.0, 3.0, -1.0, 0.0]).to_le_bytes()).collect();
            bytes.splice(scales + 1..scales + 1, new);
        }
        7 => {
            bytes.remove(rng.random_range(40..bytes.len()));
        }
        8 => bytes.insert(rng.random_range(40..bytes.len()), rng.random()),
        _ => {
            bytes[pick(rng, flags)] ^= 1;
            let (from, to) = (pick(rng, numbers), pick(rng, numbers));
            bytes.copy_within(from..from + 8, to);
        }
    }
    bytes
}

/// The same proof with one number of the data changed, and the hash that the checker finds there.
fn of_other_data(one: &Written, rng: &mut ChaCha8Rng) -> Option<Written> {
    let (mut x, mut y) = (one.x.clone(), one.y.clone());
    let (j, i) = (rng.random_range(0..=x.len()), rng.random_range(0..y.len()));
    let value = if j < x.len() { &mut x[j][i] } else { &mut y[i] };
    *value = if rng.random_bool(0.5) { *value * (1.0 + pick(rng, &[1e-15, 1e-6, 1e-3])) } else { *value + 0.1 };
    let mut columns = x.clone();
    columns.push(y.clone());
    let rest = one.table.columns() - columns.len();
    columns.extend((0..rest).map(|k| one.table.numbers(one.x.len() + 1 + k).unwrap()));
    let table = Table::of_columns(one.table.names().to_vec(), columns);
    let error = check(&table, None, &one.bytes[..]).err()?;
    let hash = error.strip_suffix(" here")?.rsplit(' ').next()?;
    let mut bytes = one.bytes.clone();
    for k in 0..32 {
        bytes[8 + k] = u8::from_str_radix(hash.get(2 * k..2 * k + 2)?, 16).ok()?;
    }
    let (weights, offset) = (one.weights.clone(), one.offset.clone());
    Some(Written { bytes, table, x, y, weights, offset, truth: one.truth, marks: Marks::default() })
}

/// What came of mutated proofs.
#[derive(Default)]
struct Outcome {
    proofs: u64,
    mutated: u64,
    accepted: u64,
    /// Of those with other data and their hash.
    of_others: u64,
}

/// Changes of the data for each proof: each needs all subsets anew.
const DATA_CHANGES: usize = 4;

fn attack(seeds: std::ops::Range<u64>, each: u64, change: fn(&Written, &mut ChaCha8Rng) -> Vec<u8>) -> Outcome {
    let (mut outcome, mut last): (Outcome, Vec<u8>) = Default::default();
    for seed in seeds {
        let Some(one) = written(seed) else { continue };
        outcome.proofs += 1;
        let (mut rng, mut known) = (rng(77_000 + seed), HashMap::new());
        for trial in 0..each {
            // Now and then the records of the proof before.
            let bytes = match trial % 100 == 99 && !last.is_empty() {
                true => [&one.bytes[..one.marks.records[0]], &last].concat(),
                false => change(&one, &mut rng),
            };
            outcome.mutated += 1;
            let Ok(proved) = check(&one.table, None, &bytes[..]) else { continue };
            outcome.accepted += 1;
            let key = format!("{:?}", proved.header);
            known.entry(key).or_insert_with(|| one.costs(&proved.header)).judge(&proved, &(seed, trial));
        }
        last = one.bytes[one.marks.records[0]..].to_vec();
        for other in (0..DATA_CHANGES).filter_map(|_| of_other_data(&one, &mut rng)) {
            outcome.mutated += 1;
            let Ok(proved) = check(&other.table, None, &other.bytes[..]) else { continue };
            (outcome.accepted, outcome.of_others) = (outcome.accepted + 1, outcome.of_others + 1);
            other.costs(&proved.header).judge(&proved, &(seed, "data"));
        }
    }
    outcome
}

#[test]
fn mutated_proofs_are_rejected_or_true() {
    let outcome = attack(seeds(share(60) as u64), 200, mutated);
    let Outcome { mutated, accepted, of_others, .. } = outcome;
    assert!(accepted * 2 < mutated && accepted > 0 && of_others > 0, "{accepted} accepted, {of_others} of other data");
}

/// A proof with anything done to its bytes: some of them others, lost or doubled, or all after a place.
fn damaged(one: &Written, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = one.bytes.clone();
    let from = rng.random_range(0..bytes.len());
    let to = (from + rng.random_range(1..=16)).min(bytes.len());
    match rng.random_range(0..6) {
        0 => bytes[from..to].iter_mut().for_each(|byte| *byte = rng.random()),
        1 => bytes[from] ^= 1 << rng.random_range(0..8),
        2 => bytes.truncate(from),
        3 => {
            bytes.drain(from..to);
        }
        4 => {
            let again = bytes[from..to].to_vec();
            bytes.splice(from..from, again);
        }
        _ => bytes[from..].iter_mut().for_each(|byte| *byte = rng.random()),
    }
    bytes
}

#[test]
fn random_damages_prove_nothing_false() {
    let Outcome { mutated, accepted, .. } = attack(seeds(16), 100, damaged);
    assert!(accepted * 4 < mutated, "{accepted} of {mutated} accepted");
}

/// The counts of bench/PROOFS.md: `BESTSET_MUTATIONS=1000 cargo test --test all a_million -- --ignored`.
#[test]
#[ignore = "minutes; a thousand mutations of each of a thousand proofs"]
fn a_million_mutated_proofs() {
    many(mutated);
}

/// The same of bytes changed at random; `ulimit -v` around it shows that memory is bounded.
#[test]
#[ignore = "minutes; a thousand damages of each of a thousand proofs"]
fn a_million_damaged_proofs() {
    many(damaged);
}

fn many(change: fn(&Written, &mut ChaCha8Rng) -> Vec<u8>) {
    let each = std::env::var("BESTSET_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let first = std::env::var("BESTSET_FIRST").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let count = std::env::var("BESTSET_COUNT").ok().and_then(|text| text.parse().ok()).unwrap_or(1100);
    let Outcome { proofs, mutated, accepted, of_others } = attack(first..first + count, each, change);
    let rejected = mutated - accepted;
    println!(
        "{proofs} proofs, {mutated} mutated, {rejected} rejected, {accepted} accepted and true, {of_others} of these of other data"
    );
    assert!(mutated >= count * each * 7 / 10);
}

/// A digit of the data changed: every proof is of other data then.
#[test]
fn proofs_of_other_data_are_rejected() {
    for seed in 0..40 {
        let Some(one) = written(seed) else { continue };
        let mut rng = rng(seed);
        let mut columns = one.x.clone();
        columns.push(one.y.clone());
        let (j, i) = (rng.random_range(0..columns.len()), rng.random_range(0..one.y.len()));
        columns[j][i] = if columns[j][i] == 0.0 { 1e-3 } else { columns[j][i].next_up() };
        let mut names: Vec<String> = (1..columns.len()).map(|j| format!("x{j}")).collect();
        names.push("y".to_owned());
        let error = check(&Table::of_columns(names, columns), None, &one.bytes[..]).unwrap_err();
        assert!(error.contains("other data") || error.contains("no column"), "{error}");
    }
}

/// Cut anywhere, or with any byte changed: an error or a proof, never a panic.
#[test]
fn damaged_files_are_errors() {
    let mut looked = 0;
    for one in (0..8).filter_map(written) {
        for cut in 0..one.bytes.len() {
            assert!(check(&one.table, None, &one.bytes[..cut]).is_err());
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = one.bytes.clone();
                bytes[cut] = value;
                looked += usize::from(check(&one.table, None, &bytes[..]).is_err());
            }
        }
        let more = [&one.bytes[..], &[6]].concat();
        assert!(check(&one.table, None, &more[..]).unwrap_err().contains("after the end"));
    }
    assert!(looked > 1000);
}

/// Counts beyond all bounds cost no memory: lists grow as they are read.
#[test]
fn announced_counts_are_not_believed() {
    let one = (0..9).find_map(written).unwrap();
    let start = one.marks.records[0];
    for record in [2u8, 3] {
        let mut bytes = one.bytes[..start].to_vec();
        bytes.extend([record, 0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert!(check(&one.table, None, &bytes[..]).is_err());
    }
    let mut bytes = one.bytes[..40].to_vec();
    bytes.extend([0xff; 5]);
    assert!(check(&one.table, None, &bytes[..]).is_err());
}
