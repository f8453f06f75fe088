//! A selection as a report: what stands beside the model belongs to it.

use bestset::Loss;
use bestset::cv::Rule;
use bestset::design::Dense;
use bestset::select::{By, Folded, How, Posed, Samples, Selected, Selection, Setup};
use bestset_data::{Simulator, SupportSize, Task};
use bestset_report::{Diagnostics, Report, Subject, build};

fn name(j: usize) -> String {
    format!("x{j}")
}

/// A selection from simulated samples, handed on with its report.
fn reported(setup: &Setup, how: How, check: impl FnOnce(&Posed<'_>, &Selected, &Report)) {
    let task = if setup.loss.is_classification() { Task::Classification } else { Task::Regression };
    let simulated =
        Simulator::paper().n(60).p(12).support(SupportSize::Count(3)).seed(5).task(task).generate().unwrap();
    let x = Dense::new(60, 12, simulated.x.clone()).unwrap();
    let samples = Samples { x: &x, y: simulated.y(), weights: None, offset: None };
    let subject = Subject {
        source: "simulated".into(),
        target: "y".into(),
        classes: None,
        names: &name,
        notes: Vec::new(),
        seconds: None,
    };
    let done = setup.pose(&samples, |posed| {
        let found = posed.select(&Selection { how, ..Selection::default() }, &mut ())?;
        let report = build(posed, &found, &subject)?;
        check(posed, &found, &report);
        Ok::<_, bestset::Error>(())
    });
    done.unwrap();
}

fn five_folds(rule: Rule) -> How {
    How::CrossValidation(Folded { folds: Some(5), rule, ..Folded::default() })
}

#[test]
fn folds_stand_beside_the_features_they_choose() {
    reported(&Setup::default(), five_folds(Rule::OneSe), |posed, found, report| {
        let By::CrossValidation(cv, _) = &found.chosen.as_ref().unwrap().by else { panic!("folds choose") };
        let shares = cv.frequencies(found.lambda2, found.solution.support().len());
        let shown = report.cv.as_ref().unwrap();
        assert_eq!((shown.fits, report.model.terms.len()), (5, found.solution.support().len()));
        // Every feature of a fold is either beside its term or among the others, once.
        for (j, share) in &shares {
            let term = report.model.terms.iter().find(|t| t.name == name(*j)).and_then(|t| t.frequency);
            let other = shown.others.iter().find(|o| o.0 == name(*j)).map(|o| o.1);
            assert_eq!((term.or(other), term.is_some()), (Some(*share), found.solution.support().contains(j)), "x{j}");
        }
        assert!(shown.others.windows(2).all(|w| w[0].1 >= w[1].1));
        for (point, score) in shown.points.iter().zip(&cv.path.points) {
            assert_eq!((point.lambda0, point.lambda2), (score.lambda0, score.lambda2));
        }
        let Some(Diagnostics::Regression(fit)) = &report.diagnostics else { panic!("numbers") };
        assert!(fit.samples.starts_with("samples left out") && fit.count == posed.problem.nrows());
        let html = report.html();
        assert!(html.contains("R² 0.") && html.contains("on samples left out"), "the headline says what it is of");
        assert!(report.methods.contains("5-fold cross-validation"), "{}", report.methods);
    });
}

#[test]
fn classes_are_judged_on_samples_left_out() {
    let setup = Setup { loss: Loss::Logistic, ..Setup::default() };
    reported(&setup, five_folds(Rule::Min), |_, found, report| {
        let Some(Diagnostics::Classification(fit)) = &report.diagnostics else { panic!("classes") };
        assert!(fit.samples.starts_with("samples left out") && fit.probabilities);
        let html = report.html();
        assert!(html.contains("ROC curve</button> of <b>samples left out</b>"), "the curve says what it is of");
        assert!(html.contains("Deviance explained") && !found.standing.is_squared);
    });
}

#[test]
fn runners_up_follow_a_proved_answer_in_their_order() {
    for how in [How::Price(0.02), How::Size(2), Selection::default().how] {
        reported(&Setup::default(), how, |posed, found, report| {
            assert!(found.standing.is_best && report.ranked.len() > 2, "{:?}", report.ranked);
            let terms: Vec<&str> = report.model.terms.iter().map(|t| t.name.as_str()).collect();
            assert_eq!(report.ranked[0].features, terms, "the answer comes first");
            assert!(report.ranked.windows(2).all(|w| w[0].objective <= w[1].objective + 1e-12));
            assert!((report.ranked[0].r2.unwrap() - found.standing.r2).abs() < 1e-9);
            assert!(found.k.is_none_or(|k| report.ranked.iter().all(|r| r.features.len() <= k)));
            assert_eq!(report.certificate.standing, Some(found.standing));
            assert!(report.certificate.sentence.contains("the best possible"), "{}", report.certificate.sentence);
            assert!(report.html().contains("Runners-up") && posed.problem.ncols() == 12);
        });
    }
}
