//! What a selection proves of its answer, and what it says where it cannot.

use super::{data, select};
use crate::common::{assert_close, share};
use bestset::criteria::{Criterion, Fit};
use bestset::design::Dense;
use bestset::groups::Groups;
use bestset::select::{How, ProofFile, Prove, Remark, Samples, Selection, Setup};
use bestset::{CancelFlag, Error, Factors, Loss, Method, Options, Status};

/// Where branch and bound cannot start, a fit has the bound it has; only who demands a proof hears of it, as an error.
#[test]
fn what_cannot_be_proved_is_fitted_all_the_same() {
    let (x, y) = data(3, 15, 20, 0.3);
    let x = Dense::new(15, 20, x).unwrap();
    let setup = Setup { lambda1: 0.1, lambda2: Some(0.0), ..Setup::default() };
    for how in [How::Price(2.0), How::Criterion(Criterion::Ebic { gamma: 1.0 })] {
        let usual = Selection { how: how.clone(), ..Selection::default() };
        let (found, ..) = select(&x, &y, &setup, &usual);
        assert!(found.remarks.iter().all(|r| !matches!(r, Remark::Unproved(_))));
        let timed = Selection { prove: Prove::For(std::time::Duration::from_secs(60)), ..usual.clone() };
        let (found, ..) = select(&x, &y, &setup, &timed);
        assert!(found.remarks.iter().any(|r| matches!(r, Remark::Unproved(Error::Unsupported { .. }))), "{how:?}");
        let samples = Samples { x: &x, y: &y, weights: None, offset: None };
        let fully = Selection { solve: Options::with_method(Method::Exact), ..usual };
        let failed = setup.pose(&samples, |posed| posed.select(&fully, &mut ()));
        // What would be proved is said, and is.
        let Err(Error::Unprovable { cause, advice }) = failed else { panic!("{:?}", failed.map(|f| f.remarks)) };
        assert!(matches!(*cause, Error::Unsupported { .. }));
        let lambda2 = advice.split("lambda2 = ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
        let larger = Setup { lambda2, ..setup.clone() };
        assert!(lambda2.is_some_and(|l| l > 0.0), "{advice}");
        assert_eq!(select(&x, &y, &larger, &fully).0.solution.status, Status::Optimal, "{advice}");
    }
    // Without λ1 a subset at a price is bounded by what features cost.
    let fully = Selection { how: How::Price(2.0), solve: Options::with_method(Method::Exact), ..Selection::default() };
    let (found, ..) = select(&x, &y, &Setup { lambda2: Some(0.0), ..Setup::default() }, &fully);
    let certificate = &found.solution.certificate;
    assert!(certificate.lower_bound > 0.0 && certificate.lower_bound <= certificate.objective);
}

/// Where nothing is in there is no scale to name a ridge on: nothing is named, and nothing waited for.
#[test]
fn an_answer_without_features_names_no_ridge() {
    let (x, y) = data(5, 30, 6, 0.0);
    let (x, y) = (Dense::new(30, 6, x).unwrap(), y.iter().map(|y| y.signum()).collect::<Vec<f64>>());
    let setup = Setup { loss: Loss::Logistic, lambda2: Some(0.0), ..Setup::default() };
    let usual = Selection { how: How::Price(1e6), ..Selection::default() };
    let (found, ..) = select(&x, &y, &setup, &usual);
    assert!(found.solution.support().is_empty());
    assert!(found.remarks.iter().all(|r| !r.to_string().contains("lambda2 = ")), "{:?}", found.remarks);
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let fully = Selection { solve: Options::with_method(Method::Exact), ..usual };
    let failed = setup.pose(&samples, |posed| posed.select(&fully, &mut ()));
    assert!(!failed.is_err_and(|e| e.to_string().contains("lambda2 = ")));
}

/// A fit of few features is proved without being asked; the standing says what its numbers say.
#[test]
fn fits_are_proved_where_that_is_cheap() {
    let (x, y) = data(3, 97, 8, 0.4);
    let x = Dense::new(97, 8, x).unwrap();
    let (found, ..) = select(&x, &y, &Setup::default(), &Selection::default());
    assert_eq!(found.solution.status, Status::Optimal);
    assert!(found.standing.is_best && found.standing.to_string().contains("best possible"));
    let none = Selection { prove: Prove::No, ..Selection::default() };
    let (open, ..) = select(&x, &y, &Setup::default(), &none);
    assert_eq!(open.solution.support(), found.solution.support());
    let gap = open.solution.certificate.gap();
    assert!(gap >= 0.0 && open.solution.certificate.lower_bound <= found.solution.objective());
    let mean = y.iter().sum::<f64>() / 97.0;
    let null: f64 = 0.5 * y.iter().map(|y| (y - mean).powi(2)).sum::<f64>();
    assert_close(open.standing.r2_limit, (open.standing.r2 + gap / null).min(1.0), 1e-12, &());
}

/// So is one of categories as a whole, at a price, of a size, by a criterion; who wants no proof has the bound of the relaxation.
#[test]
fn fits_of_groups_are_proved_where_that_is_cheap() {
    let (x, y) = data(5, 60, 9, 0.6);
    let x = Dense::new(60, 9, x).unwrap();
    let groups = Groups::new(&[0, 0, 0, 1, 2, 2, 3, 4, 4]);
    let setup = Setup { groups: Some(groups), ..Setup::default() };
    let mut open = 0;
    for how in [How::Price(0.5), How::Size(5), How::Criterion(Criterion::Bic)] {
        let usual = Selection { how, ..Selection::default() };
        let (found, ..) = select(&x, &y, &setup, &usual);
        assert!(found.solution.status == Status::Optimal && found.standing.is_best, "{:?}", usual.how);
        let none = Selection { prove: Prove::No, ..usual.clone() };
        let (bare, ..) = select(&x, &y, &setup, &none);
        assert!(bare.solution.certificate.lower_bound <= found.solution.objective() * (1.0 + 1e-12));
        open += usize::from(bare.solution.status != Status::Optimal);
        let solve = Options { top: 3, ..Options::with_method(Method::Exact) };
        let (exact, ..) = select(&x, &y, &setup, &Selection { solve, ..usual.clone() });
        assert_eq!((exact.solution.status, exact.solution.ranked.len()), (Status::Optimal, 3), "{:?}", usual.how);
        assert_eq!(exact.solution.support(), found.solution.support(), "{:?}", usual.how);
    }
    assert!(open > 0, "the relaxation alone proved everything");
}

/// Groups of one feature each are features, at the prices of the groups.
#[test]
fn groups_of_one_are_selected_as_features() {
    let (x, y) = data(4, 40, 6, 0.4);
    let x = Dense::new(40, 6, x).unwrap();
    let prices: Vec<f64> = (0..6).map(|j| 1.0 + 0.5 * f64::from(j)).collect();
    let single = Groups::new(&(0..6).collect::<Vec<_>>()).with_prices(prices.clone()).unwrap();
    let grouped = Setup { groups: Some(single), ..Setup::default() };
    let priced = Setup { price: Factors::Each(prices), ..Setup::default() };
    let (a, ..) = select(&x, &y, &grouped, &Selection::default());
    let (b, ..) = select(&x, &y, &priced, &Selection::default());
    assert_eq!((a.solution.coefficients, a.solution.certificate), (b.solution.coefficients, b.solution.certificate));
}

/// No subset of at most the penalty of the answer has an R² above the limit: against enumeration.
#[test]
fn the_limit_of_r2_holds_for_every_subset() {
    for seed in 0..20 {
        let (n, p) = (25, 7);
        let (values, y) = data(seed, n, p, 0.8);
        let x = Dense::new(n, p, values).unwrap();
        let options = Selection { how: How::Price(1.0), prove: Prove::No, ..Selection::default() };
        let (found, ..) = select(&x, &y, &Setup::default(), &options);
        let samples = Samples { x: &x, y: &y, weights: None, offset: None };
        let limit = found.standing.r2_limit + 1e-9;
        let checked = Setup::default().pose(&samples, |posed| {
            let penalty = |c: &bestset::Coefficients| {
                c.support.len() as f64 + posed.lambda2() * c.values.iter().map(|b| b * b).sum::<f64>()
            };
            let own = penalty(&found.solution.coefficients);
            let mut counted = 0;
            for mask in 0..1usize << p {
                let support: Vec<usize> = (0..p).filter(|j| mask >> j & 1 == 1).collect();
                let fit = bestset::criteria::refit(&posed.problem, &support, &Options::default())?;
                // Shrunk until it pays no more than the answer.
                let fixed = support.len() as f64;
                let size = penalty(&fit) - fixed;
                if fixed > own {
                    continue;
                }
                let shrink = if size > 0.0 { ((own - fixed) / size).sqrt().min(1.0) } else { 1.0 };
                let fit = bestset::Coefficients { values: fit.values.iter().map(|b| shrink * b).collect(), ..fit };
                let r2 = Fit::new(&posed.problem, &fit).unwrap().value(Criterion::R2, f64::NAN);
                assert!(r2 <= limit, "{seed} {support:?}: {r2} above {limit}");
                counted += 1;
            }
            Ok::<_, bestset::Error>(counted)
        });
        assert!(checked.unwrap() > 1);
    }
}

/// Runners-up that a limit leaves unproved are not called optimal; a second search has a file of its own, or none.
#[test]
fn ranks_and_checkpoints_of_a_choice() {
    let (values, y) = data(11, 40, 14, 0.9);
    let x = Dense::new(40, 14, values).unwrap();
    let mut options = Selection { solve: Options::with_method(Method::Exact), ..Selection::default() };
    (options.solve.top, options.solve.max_nodes) = (200, Some(1));
    let (found, ..) = select(&x, &y, &Setup::default(), &options);
    let complete = found.solution.ranked.len() == 200 && found.solution.ranked.iter().all(|r| r.proved);
    assert!(complete || found.solution.status != Status::Optimal, "{:?}", found.solution.status);
    for seed in 0..6 {
        let (values, y) = data(20 + seed, 30, 14, 0.95);
        let x = Dense::new(30, 14, values).unwrap();
        let file = std::env::temp_dir().join(format!("bestset-select-{}-{seed}.json", std::process::id()));
        let options = Selection { solve: Options::with_method(Method::Exact), ..Selection::default() };
        let plain = select(&x, &y, &Setup::default(), &options).0;
        let kept = Selection { checkpoint: Some(file.clone()), ..options };
        for _ in 0..2 {
            let found = select(&x, &y, &Setup::default(), &kept).0;
            assert_eq!((found.solution.support(), found.lambda0), (plain.solution.support(), plain.lambda0));
        }
        // It is there unless the relaxation proved the answer already.
        let _ = std::fs::remove_file(&file);
    }
}

/// How many of the subsets asked for are known is said where a limit struck, and only there.
#[test]
fn missing_ranks_are_told() {
    let (values, y) = data(11, 40, 14, 0.9);
    let x = Dense::new(40, 14, values).unwrap();
    let mut options =
        Selection { solve: Options::with_method(Method::Exact), how: How::Price(1.0), ..Selection::default() };
    (options.solve.top, options.solve.max_nodes) = (200, Some(1));
    let (found, ..) = select(&x, &y, &Setup::default(), &options);
    let known = found.solution.ranked.iter().filter(|r| r.proved).count();
    assert_eq!(found.remarks, [Remark::Ranks { known, asked: 200, status: Status::NodeLimit }]);
    assert_eq!(found.remarks[0].to_string(), format!("{known} of 200 ranks known: node limit."));
    (options.solve.top, options.solve.max_nodes) = (3, None);
    let (found, ..) = select(&x, &y, &Setup::default(), &options);
    assert!(found.remarks.is_empty() && found.solution.ranked.len() == 3, "{:?}", found.remarks);
    // A copy of a column without a ridge: the best is proved, the others are not, and why is said.
    let (mut values, y) = data(11, 40, 6, 0.0);
    values.extend_from_within(..40);
    let x = Dense::new(40, 7, values).unwrap();
    options.how = How::Size(2);
    let run = |lambda2| select(&x, &y, &Setup { lambda2: Some(lambda2), ..Setup::default() }, &options).0;
    let (plain, shrunk) = (run(0.0), run(0.01));
    assert_eq!((plain.solution.status, plain.solution.ranked.len()), (Status::Optimal, 3));
    assert_eq!(plain.remarks, [Remark::DependentRanks { known: 1, listed: 3 }]);
    assert!(shrunk.remarks.is_empty() && shrunk.solution.ranked.iter().all(|r| r.proved), "{:?}", shrunk.remarks);
}

/// Calls `cancel` at its last row.
struct Last {
    rows: usize,
    cancel: bestset::CancelFlag,
}

impl bestset::Observer for Last {
    fn record(&mut self, _: &bestset::TraceRow) {
        self.rows = self.rows.saturating_sub(1);
        if self.rows == 0 {
            self.cancel.cancel();
        }
    }
}

/// Cancelled between the fit and the proof that was demanded, an answer is an interrupted one.
#[test]
fn a_proof_that_could_not_begin_was_cut_short() {
    let (values, y) = data(11, 40, 14, 0.9);
    let x = Dense::new(40, 14, values).unwrap();
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let run = |method: Method, rows: usize| {
        let mut options = Selection { how: How::Price(1.0), prove: Prove::No, ..Selection::default() };
        options.solve = Options { trace: true, ..Options::with_method(method) };
        let mut observer = Last { rows, cancel: options.solve.cancel.clone() };
        Setup::default().pose(&samples, |posed| posed.select(&options, &mut observer)).unwrap().solution
    };
    let fit = run(Method::Incremental, usize::MAX);
    assert_ne!(fit.status, Status::Optimal, "the fit alone proves it: the test shows nothing");
    let cut = run(Method::Exact, fit.trace.len());
    assert_eq!(cut.status, Status::Interrupted, "{} rows", fit.trace.len());
    assert!(cut.certificate.lower_bound <= cut.objective());
}

/// The best is proved once; runners-up are searched for only where they were asked for. What is thrown away would be seen.
#[test]
fn nothing_is_proved_twice() {
    let (x, y) = data(12, 40, 14, 0.9);
    let x = Dense::new(40, 14, x).unwrap();
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    for (top, more) in [(1, false), (3, true)] {
        let mut options = Selection { how: How::Price(2.0), ..Selection::default() };
        (options.solve.top, options.solve.trace) = (top, true);
        let mut seen = 0;
        let mut count = |_: &bestset::TraceRow| seen += 1;
        let found = Setup::default().pose(&samples, |posed| posed.select(&options, &mut count)).unwrap();
        assert_eq!(found.solution.status, Status::Optimal);
        assert_eq!(seen > found.solution.trace.len(), more, "{seen} rows seen, {} kept", found.solution.trace.len());
    }
}

/// A fit that its short proof leaves open says which λ2 lets a proof be expected: most of these are made, by the same short proof.
#[test]
fn what_may_be_expected_is_proved_as_a_rule() {
    let (mut said, mut proved, total) = (0, 0, share(24));
    for seed in 0..total as u64 {
        let (x, y) = data(300 + seed, 40, 80, [0.0, 0.5, 0.9][seed as usize % 3]);
        let x = Dense::new(40, 80, x).unwrap();
        let setup = Setup { lambda2: Some(1e-3), ..Setup::default() };
        let how = if seed % 2 == 0 { How::Price(3.0) } else { How::Size(4) };
        let mut usual = Selection { how, ..Selection::default() };
        usual.solve.max_nodes = Some(2);
        let (found, ..) = select(&x, &y, &setup, &usual);
        let provable = found.remarks.iter().find_map(|r| if let Remark::Provable(p) = r { Some(*p) } else { None });
        assert!(found.solution.status != Status::Optimal || provable.is_none());
        let Some(lambda2) = provable.and_then(|p| p.lambda2) else { continue };
        said += 1;
        let larger = Selection { lambda2: vec![lambda2], solve: Options::default(), ..usual };
        proved += usize::from(select(&x, &y, &setup, &larger).0.solution.status == Status::Optimal);
    }
    println!("{proved} of {said} proved");
    assert!(2 * said >= total && 4 * proved >= 3 * said, "{proved} of {said} proved");
}

/// A limit that strikes while a proof is written leaves what there is, says where, and the next call goes on from it; an answer that is not
/// proved has none.
#[test]
fn a_proof_cut_by_a_limit_waits_for_the_next_call() {
    let (x, y) = data(7, 40, 6, 0.4);
    let x = Dense::new(40, 6, x).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = ProofFile {
        path: folder.path().join("x.bsp"),
        data: None,
        names: (0..6).map(|j| format!("x{j}")).collect(),
        target: "y".to_owned(),
        weights: String::new(),
        offset: String::new(),
    };
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let asked = Selection { how: How::Size(2), solve: Options::with_method(Method::Exact), ..Selection::default() };
    let ended = Setup::default().pose(&samples, |posed| {
        let mut selected = posed.select(&asked, &mut ())?;
        let cancel = CancelFlag::default();
        cancel.cancel();
        let stopped = Options { cancel, ..asked.solve.clone() };
        let error = posed.write_proof(&selected, &stopped, &file).unwrap_err();
        assert!(matches!(error, Error::Unfinished { is_interrupted: true, .. }), "{error}");
        assert!(error.to_string().contains("x.bsp.part") && folder.path().join("x.bsp.part").exists(), "{error}");
        posed.write_proof(&selected, &asked.solve, &file)?;
        assert!(file.path.exists() && !folder.path().join("x.bsp.part").exists());
        selected.solution.status = Status::TimeLimit;
        let error = posed.write_proof(&selected, &asked.solve, &file).unwrap_err();
        assert!(matches!(error, Error::Unfinished { is_interrupted: false, .. }), "{error}");
        Ok::<(), Error>(())
    });
    ended.unwrap();
}

fn file_in(folder: &std::path::Path, features: usize) -> ProofFile {
    ProofFile {
        path: folder.join("x.bsp"),
        data: None,
        names: (0..features).map(|j| format!("x{j}")).collect(),
        target: "y".to_owned(),
        weights: String::new(),
        offset: String::new(),
    }
}

/// What there is of a proof of another problem is not written over, and files that cannot be written are refused before a search.
#[test]
fn unfinished_proofs_of_others_are_kept() {
    let (x, y) = data(7, 40, 6, 0.4);
    let x = Dense::new(40, 6, x).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = file_in(folder.path(), 6);
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let write = |k: usize, is_cut: bool| {
        let asked = Selection { how: How::Size(k), solve: Options::with_method(Method::Exact), ..Selection::default() };
        Setup::default().pose(&samples, |posed| {
            let selected = posed.select(&asked, &mut ())?;
            let cancel = CancelFlag::default();
            if is_cut {
                cancel.cancel();
            }
            posed.write_proof(&selected, &Options { cancel, ..asked.solve.clone() }, &file)
        })
    };
    let part = folder.path().join("x.bsp.part");
    write(2, true).unwrap_err();
    let of_two = std::fs::read(&part).unwrap();
    write(3, true).unwrap_err();
    write(1, false).unwrap();
    assert_eq!(std::fs::read(folder.path().join("x.bsp.part-1")).unwrap(), of_two);
    assert!(folder.path().join("x.bsp.part-2").exists() && !part.exists() && file.path.exists());
    file.check().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "a check leaves nothing");
    let nowhere = file_in(&folder.path().join("none"), 6);
    assert!(nowhere.check().unwrap_err().to_string().contains("x.bsp"));
    let at_folder = ProofFile { path: folder.path().to_owned(), ..file.clone() };
    assert!(at_folder.check().is_err());
    let bad_data = ProofFile { data: Some(folder.path().join("none").join("used.csv")), ..file };
    assert!(bad_data.check().unwrap_err().to_string().contains("used.csv"));
}

/// A search that a limit cuts before its proof is kept beside it; the next call goes on from there, and nothing is left once it is written.
#[test]
fn a_search_before_its_proof_is_kept() {
    let (mut cut, mut others, mut aside) = (0, 0, 0);
    for seed in 0..30 {
        let (x, y) = data(100 + seed, 60, 12, 0.9);
        let x = Dense::new(60, 12, x).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (file, search) = (file_in(folder.path(), 12), folder.path().join("x.bsp.search"));
        let samples = Samples { x: &x, y: &y, weights: None, offset: None };
        let setup = Setup { lambda2: Some(1e-3), ..Setup::default() };
        let run = |most: Option<usize>| {
            let solve = Options { max_nodes: most, ..Options::with_method(Method::Exact) };
            let mut asked = Selection { how: How::Price(0.05), solve, ..Selection::default() };
            file.keep_search(&mut asked);
            setup.pose(&samples, |posed| {
                let selected = posed.select(&asked, &mut ())?;
                posed.write_proof(&selected, &asked.solve, &file)
            })
        };
        if let Err(error) = run(Some(1)) {
            assert!(matches!(error, Error::Unfinished { .. }), "{error}");
            assert!(search.exists(), "{seed}");
            cut += 1;
        }
        // That of other data is kept aside.
        if cut % 2 == 1 && search.exists() {
            others += 1;
            let text = std::fs::read_to_string(&search).unwrap();
            let place = text.find("\"fingerprint\":\"").unwrap() + 15;
            let other = if text.as_bytes()[place] == b'0' { "1" } else { "0" };
            std::fs::write(&search, [&text[..place], other, &text[place + 1..]].concat()).unwrap();
        }
        run(None).unwrap();
        assert!(file.path.exists() && !search.exists(), "{seed}");
        aside += usize::from(folder.path().join("x.bsp.search-1").exists());
    }
    assert!(cut > others && others > 0 && aside == others, "{cut} {others} {aside}");
}

/// There is no record for a group: that is said before a search.
#[test]
fn groups_have_no_proof_file() {
    let (x, y) = data(7, 40, 6, 0.4);
    let x = Dense::new(40, 6, x).unwrap();
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let setup = Setup { groups: Some(Groups::new(&[0, 0, 1, 2, 3, 4])), ..Setup::default() };
    let refused = setup.pose(&samples, |posed| posed.check_proof());
    assert!(refused.unwrap_err().to_string().contains("groups of features"));
    Setup::default().pose(&samples, |posed| posed.check_proof()).unwrap();
}

mod long {
    use super::*;

    /// n < p and hardly a ridge: one node proves nothing; with the λ2 and the bound that are said a proof is made, and no subset of the size
    /// that is said is better.
    #[test]
    fn what_would_be_proved_is_said_and_true() {
        let (mut ridges, mut bounds, mut sizes) = (0, 0, 0);
        for seed in 0..40 {
            let (n, p) = if seed % 2 == 0 { (40, 60) } else { (60, 12) };
            let (x, y) = data(100 + seed, n, p, 0.3);
            let x = Dense::new(n, p, x).unwrap();
            let setup = Setup { lambda2: Some(1e-4), ..Setup::default() };
            let limited = |most: usize| Options { max_nodes: Some(most), ..Options::with_method(Method::Exact) };
            let price = if seed % 2 == 0 { 0.5 } else { 0.05 };
            let cut = Selection { how: How::Price(price), solve: limited(1), ..Selection::default() };
            let (found, ..) = select(&x, &y, &setup, &cut);
            let Some(remark @ Remark::Provable(provable)) = found.remarks.first() else { continue };
            assert_ne!(found.solution.status, Status::Optimal);
            assert!(remark.to_string().contains(&provable.to_string()) && remark.kind() == "provable");
            if let Some(lambda2) = provable.lambda2 {
                assert!(lambda2 > 1e-4 && provable.is_tried);
                let larger = Selection { lambda2: vec![lambda2], solve: limited(50), ..cut.clone() };
                let (proved, ..) = select(&x, &y, &setup, &larger);
                assert_eq!((proved.solution.status, proved.remarks.len()), (Status::Optimal, 0));
                ridges += 1;
            }
            if let Some(bound) = provable.bound {
                let bounded = Setup { bounds: bestset::Bounds::All(-bound, bound), ..setup.clone() };
                let (proved, coefficients, _) =
                    select(&x, &y, &bounded, &Selection { solve: limited(50), ..cut.clone() });
                assert_eq!(proved.solution.status, Status::Optimal);
                assert!(coefficients.values.iter().all(|b| b.abs() <= bound));
                bounds += 1;
            }
            if let Some(k) = provable.within {
                let samples = Samples { x: &x, y: &y, weights: None, offset: None };
                let least = setup.pose(&samples, |posed| {
                    let problem = posed.priced(price, 1e-4)?.with_max_size(k)?;
                    Ok::<_, Error>(bestset::solve(&problem, &limited(200))?.objective())
                });
                assert!(least.unwrap() >= found.solution.objective() * (1.0 - 1e-5), "{seed}: {k}");
                sizes += 1;
            }
        }
        assert!(ridges >= 3 && bounds >= 2 && sizes >= 1, "{ridges} ridges, {bounds} bounds, {sizes} sizes");
    }
}
