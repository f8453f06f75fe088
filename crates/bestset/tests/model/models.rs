//! Models: scale, names, predictions, and files that bring every bit back or say why not.

use crate::common::{ChaCha8Rng, RngExt, assert_close, normal, rng};
use bestset::design::{Csc, Dense, Standardized};
use bestset::model::Model;
use bestset::{Certificate, Coefficients, Error, Loss, Options, Penalty, Problem, solve};

fn fitted(seed: u64, loss: Loss) -> (Vec<f64>, Model) {
    let mut rng = rng(seed);
    let (n, p) = (30, 5);
    let x: Vec<f64> = (0..n * p).map(|k| (3.0 + k as f64 % 7.0) * normal(&mut rng) + 2.0).collect();
    let mut y: Vec<f64> = (0..n).map(|i| 2.0 * x[i] - x[2 * n + i] + normal(&mut rng)).collect();
    if loss.is_classification() {
        y.iter_mut().for_each(|y| *y = if *y > 2.0 { 1.0 } else { -1.0 });
    }
    let design = Dense::new(n, p, x.clone()).unwrap();
    let view = Standardized::fit(&design, None, true, 1.0).unwrap();
    let problem = Problem::new(&view, y, Penalty::new(0.05, 0.0, 0.01)).unwrap();
    let problem = problem.with_loss(loss).unwrap().with_intercept(true);
    let solution = solve(&problem, &Options::default()).unwrap();
    let scaled = Model::new(&problem, &solution).unwrap();
    let model = scaled.clone().unstandardised(&view).unwrap();
    // The same predictions from either scale.
    let (a, b) = (scaled.predict(&view).unwrap(), model.predict(&design).unwrap());
    a.iter().zip(&b).for_each(|(a, b)| assert_close(*a, *b, 1e-10, &loss));
    (x, model)
}

#[test]
fn predictions_probabilities_and_classes() {
    let (x, model) = fitted(1, Loss::Logistic);
    let design = Dense::new(30, 5, x.clone()).unwrap();
    let (u, p, c) = (model.predict(&design), model.probabilities(&design), model.classes(&design));
    for ((u, p), c) in u.unwrap().iter().zip(p.unwrap()).zip(c.unwrap()) {
        assert_close(p, 1.0 / (1.0 + (-u).exp()), 1e-15, &());
        assert_eq!(c, if *u > 0.0 { 1.0 } else { -1.0 });
    }
    let rows: Vec<u32> = (0..5).flat_map(|_| 0..30).collect();
    let sparse = Csc::new(30, (0..=5).map(|j| 30 * j).collect::<Vec<usize>>(), rows, x).unwrap();
    assert_eq!(model.classes(&sparse).unwrap(), model.classes(&design).unwrap());
    let (_, regression) = fitted(2, Loss::Squared);
    assert!(matches!(regression.classes(&design), Err(Error::Unsupported { .. })));
    assert!(matches!(regression.probabilities(&design), Err(Error::Unsupported { .. })));
    let narrow = Dense::new(30, 4, vec![1.0; 120]).unwrap();
    assert_eq!(model.predict(&narrow), Err(Error::Shape { what: "columns of X", found: 4, expected: 5 }));
}

#[test]
fn files_bring_every_bit_back() {
    let mut rng = rng(3);
    let (_, base) = fitted(4, Loss::Huber { delta: 0.1 });
    for trial in 0..300 {
        let bits = |rng: &mut ChaCha8Rng| loop {
            let x = f64::from_bits(rng.random::<u64>());
            if x.is_finite() && x != 0.0 {
                return x;
            }
        };
        let pairs: Vec<(usize, f64)> = (0..5).map(|j| (j, bits(&mut rng))).collect();
        let mut model = base.clone().with_coefficients(Coefficients::from_pairs(pairs, bits(&mut rng))).unwrap();
        (model.lambda0, model.lambda2) = (bits(&mut rng), f64::MIN_POSITIVE / 3.0);
        model.certificate =
            Certificate { objective: bits(&mut rng), relaxation: Some(0.1), lower_bound: bits(&mut rng) };
        if trial % 3 == 0 {
            model.certificate.lower_bound = f64::NEG_INFINITY;
        }
        let again = Model::from_json(&model.to_json()).unwrap();
        assert_eq!(model, again, "{trial}");
        let pairs = model.coefficients.values.iter().zip(&again.coefficients.values);
        pairs.for_each(|(a, b)| assert_eq!(a.to_bits(), b.to_bits()));
        assert_eq!(model.to_json(), again.to_json());
    }
}

#[test]
fn truncated_and_foreign_files_are_refused() {
    let (_, model) = fitted(5, Loss::Logistic);
    let model = model.with_names(["a", "b", "c", "größe", "e \"f\""].map(String::from).to_vec()).unwrap();
    let text = model.to_json();
    assert_eq!(Model::from_json(&text).unwrap(), model);
    for end in (0..text.trim_end().len()).filter(|&end| text.is_char_boundary(end)) {
        assert!(Model::from_json(&text[..end]).is_err(), "cut at {end}");
    }
    let reason = |text: &str| Model::from_json(text).unwrap_err().to_string();
    assert!(reason(&text[..text.len() / 2]).contains("ends too early"), "{}", reason(&text[..text.len() / 2]));
    assert!(reason("hello").contains("not JSON"));
    assert!(reason("{\"a\": 1}").contains("not a bestset model"));
    assert!(reason(&text.replace("bestset model", "other model")).contains("its format is \"other model\""));
    assert!(reason(&text.replace("\"version\": 1", "\"version\": 9")).contains("its version is 9"));
    assert!(reason(&text.replace("\"features\": 5", "\"features\": 2")).contains("beyond the last feature"));
    assert!(Model::from_json(&text.replace("\"lambda1\"", "\"lambda9\"")).is_err());
    let directory = std::env::temp_dir().join(format!("model_test_{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("m.json");
    model.save(&file).unwrap();
    assert_eq!(Model::load(&file).unwrap(), model);
    let missing = Model::load(directory.join("none.json")).unwrap_err().to_string();
    assert!(missing.starts_with("cannot use the model file: ") && missing.contains("none.json"), "{missing}");
    std::fs::remove_dir_all(&directory).unwrap();
    let twice = model.with_names(vec!["a".into(), "b".into(), "a".into(), "d".into(), "e".into()]);
    assert_eq!(twice, Err(Error::Name { index: 2, name: "a".into() }));
}

#[test]
fn the_summary_names_what_was_selected() {
    let (_, model) = fitted(6, Loss::Squared);
    let model = model.with_names(["age", "dose", "weight", "d", "e"].map(String::from).to_vec()).unwrap();
    let text = model.to_string();
    let first = format!("squared loss, {} of 5 features, ", model.selected().len());
    assert!(text.starts_with(&first) && text.contains("\nage ") && text.contains("\nintercept "), "{text}");
    assert_eq!(text.lines().count(), 4 + model.selected().len());
}
