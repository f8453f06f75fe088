//! Reports with every kind of content, the same every time.

#![allow(dead_code)]

use bestset::select::Standing;
use bestset_report::*;

/// A cheap sequence of numbers between 0 and 1.
pub fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    (0..count).map(|_| next()).collect()
}

fn path(points: usize, features: Vec<String>) -> Path {
    let most = features.len();
    let point = |k: usize| PathPoint {
        lambda0: if points < 100 { 4.0 * 0.8f64.powi(k as i32) } else { 4.0 / (1.0 + k as f64) },
        lambda2: 0.1,
        size: k.min(most),
        objective: 20.0 / (1.0 + 0.3 * k as f64),
        lower_bound: 18.5 / (1.0 + 0.3 * k as f64),
        coefficients: (0..k.min(most))
            .map(|j| (j, (1.05 - 0.1 * j as f64) * if j.is_multiple_of(2) { 1.0 } else { -1.0 }))
            .collect(),
    };
    let points: Vec<PathPoint> = (0..points).map(point).collect();
    let values = |least: f64| (0..points.len()).map(|k| (k as f64 - least).powi(2)).collect();
    let criteria = vec![
        Criterion { name: "BIC".into(), higher_is_better: false, values: values(4.0) },
        Criterion { name: "AIC".into(), higher_is_better: false, values: values(6.0) },
    ];
    // Other λ2, one with fewer sizes and one far off.
    let others = |lambda2| points.iter().map(move |p: &PathPoint| PathPoint { lambda2, ..p.clone() });
    let more: Vec<PathPoint> = others(0.3).step_by(2).chain(others(3.0)).collect();
    Path { features, points: [points, more].concat(), criteria, chosen: Some(5), ..Path::default() }
}

fn cv(path: &Path) -> CrossValidation {
    let point = |p: &PathPoint| CvPoint {
        lambda0: p.lambda0,
        lambda2: p.lambda2,
        size: p.size,
        mean: 0.9 + p.lambda2 + 0.02 * (p.size as f64 - 7.0).powi(2),
        standard_error: 0.1,
    };
    CrossValidation {
        metric: "mean squared error".into(),
        higher_is_better: false,
        folds: "10 folds".into(),
        fits: 10,
        others: (14..30).map(|j| (format!("gene_{j}"), 0.4 - 0.01 * j as f64)).collect(),
        points: path.points.iter().map(point).collect(),
        best: 7,
        one_se: 5,
    }
}

/// The share explained, what no subset exceeds, and the gain.
pub fn standing(r2: f64, r2_limit: f64, gain: f64) -> Standing {
    Standing { r2, r2_limit, gain, is_best: false, is_squared: true, most: None }
}

/// The best subset of each size and no answer.
pub fn sizes() -> Report {
    let Report { subsets, data, title, .. } = regression();
    Report { subsets, data, title, ..Report::default() }
}

fn screening() -> Screening {
    let rule = |name: &str, count, removes| Rule {
        name: name.into(),
        explanation: "Proved without trying every subset.".into(),
        count,
        removes,
    };
    Screening {
        features: 7129,
        rules: vec![rule("ruled out for good", 7000, true), rule("certain to be in", 3, false)],
        selected: 5,
    }
}

/// Everything there is about numbers.
pub fn regression() -> Report {
    let names: Vec<String> = (0..14).map(|j| format!("gene_{j:02}")).collect();
    let noise = numbers(120, 7);
    let fitted: Vec<f64> = numbers(120, 3).iter().map(|v| 10.0 * v).collect();
    let observed: Vec<f64> = fitted.iter().zip(&noise).map(|(f, e)| f + 2.0 * e - 1.0).collect();
    let term = |j: usize| Term {
        name: names[j].clone(),
        by_class: Vec::new(),
        coefficient: (1.05 - 0.1 * j as f64) * if j.is_multiple_of(2) { 1.0 } else { -1.0 },
        standardized: Some(0.5 - 0.05 * j as f64),
        rise: Some(9.0 / (1.0 + j as f64)),
        frequency: Some(1.0 - 0.07 * j as f64),
    };
    let moment = |k: i32| TraceRow {
        seconds: 0.002 * 1.6f64.powi(k),
        objective: 8.0 + 4.0 / f64::from(k + 1),
        lower_bound: 7.96 - 6.0 / f64::from(k * k + 1),
    };
    let path = path(20, names.clone());
    let subset = |size: usize| Subset {
        size,
        features: names[..size].to_vec(),
        coefficients: vec![1.0; size],
        objective: 20.0 / size as f64,
        lower_bound: if size < 4 { 20.0 / size as f64 } else { 18.0 / size as f64 },
        optimal: size < 4,
        r2: Some(1.0 - 0.5 / size as f64),
        bic: Some(100.0 - size as f64),
        ..Subset::default()
    };
    let ranked = |k: usize| Ranked {
        features: names[k..k + 5].to_vec(),
        objective: 8.0 + 0.2 * k as f64,
        proved: k < 2,
        r2: Some(0.9 - 0.01 * k as f64),
    };
    Report {
        explained: Some(0.62),
        title: "Leukaemia study".into(),
        command: "bestset cv golub.csv.gz --target y --report golub.html".into(),
        version: "0.1.0".into(),
        created: Some("2026-01-02 10:00 UTC".into()),
        seconds: Some(12.3),
        data: Data {
            source: "golub.csv.gz".into(),
            samples: 120,
            features: 7129,
            target: "pressure".into(),
            task: Task::Regression,
            loss: "squared loss".into(),
            labels: Vec::new(),
            classes: None,
        },
        asked: vec![Row::new("Method", "branch and bound"), Row::new("Ridge term λ2", "0.1")],
        notes: vec!["Two missing values were replaced by the mean of their column.".into()],
        certificate: Certificate::new(8.0, 7.96, "time limit", false).with_standing(standing(0.6512, 0.66341, 0.87654)),
        model: Model { intercept: Some(0.25), intercepts: Vec::new(), terms: (0..14).map(term).collect() },
        trace: (0..16).map(moment).collect(),
        screening: Some(screening()),
        cv: Some(cv(&path)),
        path: Some(path),
        subsets: (1..=6).map(subset).collect(),
        ranked: (0..4).map(ranked).collect(),
        diagnostics: Some(Diagnostics::Regression(Regression::new(&observed, &fitted))),
        deviance: None,
        genome: None,
        methods: "Features were selected by best subset selection.".into(),
    }
}

/// Everything there is about classes, proved best.
pub fn classification() -> Report {
    let chances = numbers(300, 5);
    let labels: Vec<bool> = chances.iter().zip(numbers(300, 9)).map(|(p, u)| u < *p).collect();
    let base = regression();
    Report {
        data: Data {
            task: Task::Classification,
            loss: "logistic loss".into(),
            classes: Some(("ALL".into(), "AML".into())),
            ..base.data.clone()
        },
        certificate: Certificate::new(8.0, 8.0, "optimal", true).with_standing(Standing {
            is_best: true,
            is_squared: false,
            ..standing(0.8, 0.8, 1.0)
        }),
        subsets: Vec::new(),
        ranked: Vec::new(),
        diagnostics: Some(Diagnostics::Classification(Classification::from_probabilities(&labels, &chances))),
        ..base
    }
}

/// Three classes, one of them with a long name and few samples, judged on samples left out.
pub fn classes() -> Report {
    let names = ["setosa", "versicolor", "a third one with a name of several words"].map(String::from);
    let (noise, draws) = (numbers(600, 6), numbers(200, 8));
    let labels: Vec<usize> = draws.iter().map(|u| if *u < 0.5 { 0 } else { 1 + usize::from(*u > 0.92) }).collect();
    let margin = |k: usize, i: usize| 3.0 * noise[k * 200 + i] + if labels[i] == k { 1.2 } else { 0.0 };
    let margins: Vec<f64> = (0..3).flat_map(|k| (0..200).map(move |i| (k, i))).map(|(k, i)| margin(k, i)).collect();
    let fit = ClassesFit {
        samples: "samples left out, each predicted by a fit of the same size that has not seen it".into(),
        ..ClassesFit::new(&labels, &margins, &names)
    };
    let base = classification();
    let with_classes = |t: &Term| {
        let by_class = vec![t.coefficient, -0.4 * t.coefficient, -0.6 * t.coefficient];
        Term { coefficient: by_class.iter().map(|b| b * b).sum::<f64>().sqrt(), by_class, ..t.clone() }
    };
    let terms = base.model.terms.iter().map(with_classes).collect();
    Report {
        data: Data {
            loss: "multinomial".into(),
            target: "species".into(),
            classes: None,
            labels: names.to_vec(),
            ..base.data.clone()
        },
        model: Model { intercept: None, intercepts: vec![0.5, 0.25, -0.75], terms },
        diagnostics: Some(Diagnostics::Classes(fit)),
        explained: Some(0.31),
        deviance: Some(241.7),
        ..base
    }
}

/// Three groups by risk.
pub fn survival() -> Report {
    let group = |name: &str, k: usize| SurvivalGroup {
        name: name.into(),
        count: 40,
        events: 10 * k,
        observed: (0..20).map(|t| (f64::from(t) * 50.0, 0.99f64.powi(t * k as i32))).collect(),
        predicted: (0..20).map(|t| (f64::from(t) * 50.0, 0.985f64.powi(t * k as i32))).collect(),
        median: (k == 3).then_some(700.0),
        at_risk: (0..6).map(|t| 40 - 5 * t).collect(),
    };
    let fit = SurvivalFit {
        samples: "the samples it was fitted on".into(),
        count: 120,
        events: 60,
        concordance: 0.71,
        marks: (0..6).map(|t| 200.0 * f64::from(t)).collect(),
        groups: vec![group("low risk", 1), group("middle risk", 2), group("high risk", 3)],
    };
    let base = regression();
    let data =
        Data { task: Task::Survival, loss: "cox".into(), target: "days until relapse".into(), ..base.data.clone() };
    Report { data, diagnostics: Some(Diagnostics::Survival(fit)), ..base }
}

/// Few samples, told apart without a mistake: curves of two corners, groups without anything between.
pub fn separated() -> Report {
    let labels: Vec<bool> = (0..72).map(|i| i < 25).collect();
    let chance = |(l, u): (&bool, f64)| if *l { 1.0 - 0.03 * u } else { 0.03 * u };
    let chances: Vec<f64> = labels.iter().zip(numbers(72, 4)).map(chance).collect();
    let fit = Classification::from_probabilities(&labels, &chances);
    Report { diagnostics: Some(Diagnostics::Classification(fit)), cv: None, ..classification() }
}

/// A fit alone: no path, no cross-validation, nothing proved.
pub fn bare() -> Report {
    Report {
        title: "A fit alone".into(),
        data: Data { samples: 10, features: 3, ..Data::default() },
        certificate: Certificate::new(3.0, f64::NEG_INFINITY, "converged", false),
        model: Model { intercept: None, intercepts: Vec::new(), terms: vec![Term::new("x0", 1.5)] },
        ..Report::default()
    }
}

/// Names that try to get out, and names that are too long.
pub fn hostile() -> Report {
    let evil = [
        "<script>window.hacked=1</script>".to_owned(),
        "\"><img src=x onerror=\"window.hacked=1\">".to_owned(),
        "</script><script>window.hacked=1</script>".to_owned(),
        "'; window.hacked=1; '".to_owned(),
        "基因-é-🧬-ملف".to_owned(),
        "a".repeat(200),
        "long words ".repeat(18),
        "{{7*7}} ${window.hacked=1} `x`\u{2028}\u{0}\u{1b}".to_owned(),
    ];
    let mut report = classification();
    let path = report.path.as_mut().unwrap();
    for (name, bad) in path.features.iter_mut().zip(&evil) {
        name.clone_from(bad);
    }
    for (term, bad) in report.model.terms.iter_mut().zip(&evil) {
        term.name.clone_from(bad);
    }
    report.title.clone_from(&evil[0]);
    report.command = format!("bestset fit {}", evil[1]);
    report.data.source.clone_from(&evil[2]);
    report.data.target.clone_from(&evil[5]);
    report.data.classes = Some((evil[1].clone(), evil[6].clone()));
    report.methods.clone_from(&evil[0]);
    report.cv.as_mut().unwrap().others = evil.iter().map(|e| (e.clone(), 0.3)).collect();
    report.ranked = evil.iter().map(|e| Ranked { features: vec![e.clone()], ..Ranked::default() }).collect();
    report.asked = evil.iter().map(|e| Row::new(e.as_str(), e.as_str())).collect();
    report.notes = evil.to_vec();
    report.certificate.sentence = evil[0].clone();
    report.cv.as_mut().unwrap().metric = evil[2].clone();
    report.path.as_mut().unwrap().criteria[0].name = evil[1].clone();
    report.screening.as_mut().unwrap().rules[0].name = evil[0].clone();
    report
}

/// More of everything than a page can hold.
pub fn huge() -> Report {
    let mut report = regression();
    let names: Vec<String> = (0..4000).map(|j| format!("feature {j}")).collect();
    report.model.terms = names.iter().map(|n| Term::new(n.as_str(), 0.001)).collect();
    report.path = Some(path(3000, names));
    report.cv = report.path.as_ref().map(cv);
    report.trace = (0..50_000).map(|k| TraceRow { seconds: f64::from(k), objective: 9.0, lower_bound: 1.0 }).collect();
    let many = numbers(200_000, 1);
    report.diagnostics = Some(Diagnostics::Regression(Regression::new(&many, &numbers(200_000, 2))));
    report
}

/// Numbers that are none, and the largest there are.
pub fn extreme() -> Report {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -f64::MAX, f64::MIN_POSITIVE, -0.0, 0.0];
    let mut report = regression();
    for (term, value) in report.model.terms.iter_mut().zip(odd) {
        (term.coefficient, term.standardized, term.rise) = (value, Some(value), Some(value));
    }
    for (row, value) in report.trace.iter_mut().zip(odd) {
        (row.objective, row.lower_bound) = (value, value);
    }
    let path = report.path.as_mut().unwrap();
    for (point, value) in path.points.iter_mut().zip(odd) {
        (point.objective, point.lower_bound) = (value, value);
        point.coefficients.iter_mut().for_each(|c| c.1 = value);
    }
    path.criteria[0].values = odd.to_vec();
    for (point, value) in report.cv.as_mut().unwrap().points.iter_mut().zip(odd) {
        (point.mean, point.standard_error) = (value, value);
    }
    for (subset, value) in report.subsets.iter_mut().zip(odd) {
        (subset.objective, subset.lower_bound, subset.r2) = (value, value, Some(value));
    }
    report.certificate = Certificate::new(f64::NAN, f64::INFINITY, "stalled", false);
    report.diagnostics = Some(Diagnostics::Regression(Regression::new(&odd, &[1.0; 8])));
    report
}

/// Every report by name.
pub fn all() -> Vec<(&'static str, Report)> {
    vec![
        ("regression", regression()),
        ("classification", classification()),
        ("separated", separated()),
        ("classes", classes()),
        ("survival", survival()),
        ("bare", bare()),
        ("sizes", sizes()),
        ("empty", Report::default()),
        ("hostile", hostile()),
        ("huge", huge()),
        ("extreme", extreme()),
    ]
}
