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
        labels: Vec::new(),
        names: &name,
        notes: Vec::new(),
        seconds: None,
        cancel: bestset::CancelFlag::default(),
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
            assert!(
                report.certificate.sentence.contains("the best subset at this penalty"),
                "{}",
                report.certificate.sentence
            );
            assert!(report.html().contains("Runners-up") && posed.problem.ncols() == 12);
        });
    }
}

#[test]
fn many_classes_have_their_coefficients_and_curves() {
    let simulated = Simulator::paper().n(90).p(8).support(SupportSize::Count(3)).seed(7).generate().unwrap();
    let x = Dense::new(90, 8, simulated.x.clone()).unwrap();
    let mut sorted = simulated.y().to_vec();
    sorted.sort_by(f64::total_cmp);
    let y: Vec<f64> =
        simulated.y().iter().map(|y| f64::from(u8::from(*y >= sorted[30]) + u8::from(*y >= sorted[60]))).collect();
    let samples = Samples { x: &x, y: &y, weights: None, offset: None };
    let labels: Vec<String> = ["low", "middle", "high"].map(String::from).to_vec();
    let subject = Subject {
        source: "simulated".into(),
        target: "y".into(),
        classes: None,
        labels: labels.clone(),
        names: &name,
        notes: Vec::new(),
        seconds: None,
        cancel: bestset::CancelFlag::default(),
    };
    let setup = Setup { loss: Loss::Multinomial { classes: 3 }, lambda2: Some(0.05), ..Setup::default() };
    for how in [five_folds(Rule::Min), Selection::default().how, How::Size(2)] {
        let folds = matches!(how, How::CrossValidation(_));
        let done = setup.pose(&samples, |posed| {
            let found = posed.select(&Selection { how, ..Selection::default() }, &mut ())?;
            let report = build(posed, &found, &subject)?;
            let outside = posed.outward_classes(&found.solution.coefficients)?.unwrap();
            assert_eq!((report.data.samples, report.data.features, &report.data.labels), (90, 8, &labels));
            assert_eq!(
                (&report.model.intercepts, report.model.terms.len()),
                (&outside.intercepts, outside.support.len())
            );
            for (k, term) in report.model.terms.iter().enumerate() {
                let own: Vec<f64> = outside.values.iter().map(|row| row[k]).collect();
                assert_eq!((&term.name, &term.by_class), (&name(outside.support[k]), &own));
                assert!((term.coefficient - own.iter().map(|b| b * b).sum::<f64>().sqrt()).abs() < 1e-12);
                assert!(term.rise.unwrap() >= 0.0 && term.frequency.is_some() == folds, "{term:?}");
                // Columns of norm one inside: a deviation of 1/√n there.
                let x = &simulated.x[90 * outside.support[k]..][..90];
                let mean = x.iter().sum::<f64>() / 90.0;
                let deviation = (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 90.0).sqrt();
                assert!((term.standardized.unwrap() / (term.coefficient * deviation) - 1.0).abs() < 1e-9);
            }
            // What a feature is worth is what P loses without it: the least of the best answer's is no gain.
            let Some(Diagnostics::Classes(fit)) = &report.diagnostics else { panic!("classes") };
            assert_eq!((fit.count, fit.samples.starts_with("samples left out")), (90, folds));
            assert_eq!(fit.confusion.iter().flatten().sum::<usize>(), 90);
            let own = bestset::criteria::Fit::new(&posed.problem, &found.solution.coefficients)?;
            assert_eq!(report.deviance, Some(own.deviance));
            // The null model has the shares of the classes, a third each.
            let expected = 1.0 - own.deviance / (2.0 * 90.0 * 3f64.ln());
            assert!((report.explained.unwrap() - expected).abs() < 1e-9, "{:?} {expected}", report.explained);
            let sizes = |p: &bestset::path::Path| {
                p.points.iter().map(|p| p.solution.coefficients.features(3).len()).collect::<Vec<_>>()
            };
            if let Some(chosen) = &found.chosen {
                let shown = report.path.as_ref().unwrap();
                assert_eq!(shown.points.iter().map(|p| p.size).collect::<Vec<_>>(), sizes(&chosen.path));
            }
            if let Some(By::CrossValidation(cv, _)) = found.chosen.as_ref().map(|c| &c.by) {
                let shown = report.cv.as_ref().unwrap();
                assert_eq!(shown.points.iter().map(|p| p.size).collect::<Vec<_>>(), sizes(&cv.path));
                assert!(report.methods.contains(&format!("({}) ", outside.support.len())), "{}", report.methods);
            }
            assert!(report.methods.starts_with("Features were selected"), "{}", report.methods);
            let html = report.html();
            assert!(html.contains("for middle") && html.contains("class-roc") && html.contains("says "));
            Ok::<_, bestset::Error>(())
        });
        done.unwrap();
    }
}
