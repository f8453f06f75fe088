//! What the core returns, turned into a report.

use bestset::cv::{CvOptions, Folds, cross_validate};
use bestset::{Loss, Method, Options, Penalty, Problem, solve};
use bestset_data::{Simulator, SupportSize};
use bestset_report::convert::{deviations, importance};
use bestset_report::*;

fn names(j: usize) -> String {
    format!("x{j}")
}

#[test]
fn importance_is_what_the_objective_loses() {
    let data = Simulator::paper().n(60).p(12).support(SupportSize::Count(4)).seed(5).generate().unwrap();
    let design = data.design();
    let problem = Problem::new(&design, data.y(), Penalty::new(0.01, 0.005, 0.05)).unwrap().with_intercept(true);
    let options = Options { method: Method::Exact, ..Options::default() };
    let solution = solve(&problem, &options).unwrap();
    let support = solution.support();
    assert!(support.len() > 1);
    let rises = importance(&problem, &solution.coefficients, &Options::default()).unwrap();
    for (&j, rise) in support.iter().zip(&rises) {
        // The definition: everything else of the support stays, j is never in; λ0 cannot drop what earns its price.
        let never: Vec<usize> = (0..12).filter(|k| *k == j || !support.contains(k)).collect();
        let penalty = Penalty { lambda0: 0.0, ..problem.penalty().clone() }.never(&never, 12).unwrap();
        let without = solve(&problem.with_penalty(penalty).unwrap(), &options).unwrap();
        let expected = problem.objective(&without.coefficients).unwrap() - solution.objective();
        assert!((rise - expected).abs() < 1e-5 && *rise > 0.0, "x{j}: {rise} against {expected}");
    }
    let model = Model::of(&solution.coefficients, true, &names, &deviations(&problem, support).unwrap(), &rises);
    let column = &data.x[support[0] * 60..(support[0] + 1) * 60];
    let mean = column.iter().sum::<f64>() / 60.0;
    let deviation = (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 60.0).sqrt();
    let expected = deviation * solution.coefficients.values[0];
    assert!((model.terms[0].standardized.unwrap() - expected).abs() < 1e-12);
    assert_eq!(model.intercept, Some(solution.coefficients.intercept));
}

#[test]
fn paths_and_scores_keep_their_places() {
    let data = Simulator::paper().n(50).p(20).support(SupportSize::Count(3)).seed(2).generate().unwrap();
    let design = data.design();
    let problem = Problem::new(&design, data.y(), Penalty::new(0.0, 0.0, 0.05)).unwrap();
    let folds = Folds::Random { folds: 5, repeats: 1 };
    let found = cross_validate(&problem, &CvOptions { folds, ..CvOptions::default() }).unwrap();
    let path = Path::of(&found.path, &names, Some(found.best)).with_criteria(&problem, &found.path);
    for (shown, point) in path.points.iter().zip(&found.path.points) {
        let named: Vec<(String, f64)> = shown.coefficients.iter().map(|c| (path.features[c.0].clone(), c.1)).collect();
        let real: Vec<(String, f64)> = point.solution.coefficients.iter().map(|(j, b)| (names(j), b)).collect();
        assert_eq!(named, real);
        assert_eq!((shown.size, shown.lambda0), (point.solution.support().len(), point.lambda0));
    }
    assert!(
        path.criteria.iter().any(|c| c.name == "Cp")
            && path.criteria.iter().all(|c| c.values.len() == path.points.len())
    );
    let cv = CrossValidation::of(&found, "5 folds");
    assert_eq!((cv.best, cv.one_se, cv.points.len()), (found.best, found.one_se, path.points.len()));
    assert_eq!(cv.points[cv.best].mean, found.scores[found.best].mean);
    let html = Report { path: Some(path), cv: Some(cv), ..Report::default() }.html();
    assert!(html.contains("chart-cv") && html.contains("chart-path"));
}

#[test]
fn certificates_say_what_is_proved_and_no_more() {
    let data = Simulator::paper().n(50).p(20).support(SupportSize::Count(3)).seed(2).generate().unwrap();
    let design = data.design();
    let solved = |penalty: Penalty, method: Method| {
        let problem = Problem::new(&design, data.y(), penalty).unwrap();
        solve(&problem, &Options { method, trace: true, ..Options::default() }).unwrap()
    };
    let best = solved(Penalty::new(0.02, 0.0, 0.1), Method::Exact);
    let proved = Certificate::of(&best, None, None);
    assert!(proved.optimal && proved.sentence.starts_with("Proved: no other choice of features has"), "{proved:?}");
    assert_eq!(TraceRow::of(&best.trace).len(), best.trace.len());
    let open = Certificate::of(&solved(Penalty::new(0.02, 0.0, 0.0), Method::Incremental), None, None);
    assert!(!open.optimal && !open.is_useful() && open.sentence.starts_with("Nothing is proved"), "{open:?}");
    let limited = Problem::new(&design, data.y(), Penalty::new(0.0, 0.0, 0.1)).unwrap().with_max_size(2).unwrap();
    let limited = solve(&limited, &Options { method: Method::Exact, ..Options::default() }).unwrap();
    assert!(Certificate::of(&limited, None, Some(2)).sentence.contains("choice of at most 2 features"));
    let screening = Screening::of(&best.screened, 20, best.support().len());
    assert!(screening.rules.iter().all(|r| r.count > 0 && r.removes == (r.name == "ruled out for good")));
}

#[test]
fn diagnostics_follow_the_loss() {
    let (y, u) = ([1.0, -1.0, 1.0, -1.0], [2.0, -1.0, -0.5, 0.0]);
    let Diagnostics::Classification(logistic) = Diagnostics::of(Loss::Logistic, &y, &u) else { panic!("classes") };
    assert!(logistic.probabilities && (logistic.scores[0] - 1.0 / (1.0 + (-2.0f64).exp())).abs() < 1e-15);
    let Diagnostics::Classification(hinge) = Diagnostics::of(Loss::SquaredHinge, &y, &u) else { panic!("classes") };
    assert!(!hinge.probabilities && hinge.scores == u && hinge.confusion == logistic.confusion);
    assert!(matches!(Diagnostics::of(Loss::Squared, &y, &u), Diagnostics::Regression(_)));
}
