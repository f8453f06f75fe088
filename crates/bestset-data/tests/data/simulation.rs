//! What the simulation promises: scale, correlation, truth, noise, reproducibility, named errors.

use bestset::design::Design;
use bestset_data::{Error, Scaling, Simulation, Simulator, SupportSize, Task, Values};

fn column(data: &Simulation, j: usize) -> &[f64] {
    &data.x[j * data.n..(j + 1) * data.n]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn variance(v: &[f64]) -> f64 {
    let mean = v.iter().sum::<f64>() / v.len() as f64;
    v.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / v.len() as f64
}

#[test]
fn columns_have_unit_norm_and_the_raw_ones_norm_near_root_n() {
    let unit = Simulator::paper().n(150).p(60).generate().unwrap();
    let raw = Simulator::paper().n(150).p(60).scaling(Scaling::Raw).generate().unwrap();
    for j in 0..60 {
        let norm = dot(column(&raw, j), column(&raw, j)).sqrt();
        assert!((dot(column(&unit, j), column(&unit, j)) - 1.0).abs() < 1e-12);
        assert!((norm / 150f64.sqrt() - 1.0).abs() < 0.3, "norm {norm} of column {j}");
        for i in 0..150 {
            assert!((column(&raw, j)[i] / norm - column(&unit, j)[i]).abs() < 1e-14, "same draw, other scale");
        }
    }
}

#[test]
fn features_correlate_as_rho_to_the_distance() {
    for rho in [0.4, 0.0, -0.6] {
        let data = Simulator::paper().n(4000).p(40).rho(rho).generate().unwrap();
        for distance in 1..4usize {
            let pairs = 40 - distance;
            let mean = (0..pairs).map(|j| dot(column(&data, j), column(&data, j + distance))).sum::<f64>();
            let (found, expected) = (mean / pairs as f64, f64::powi(rho, distance as i32));
            assert!((found - expected).abs() < 0.02, "rho {rho}, distance {distance}: {found}");
        }
    }
}

#[test]
fn noise_has_the_asked_ratio() {
    for snr in [2.0, 5.0, 20.0] {
        for scaling in [Scaling::UnitNorm, Scaling::Raw] {
            let data = Simulator::paper().n(5000).p(100).snr(snr).scaling(scaling).generate().unwrap();
            let response = &data.response;
            let noise: Vec<f64> = response.y.iter().zip(&response.signal).map(|(y, u)| y - u).collect();
            let realised = variance(&response.signal) / variance(&noise);
            assert!((realised / snr - 1.0).abs() < 0.1, "asked {snr}, realised {realised}");
            assert!((variance(&noise).sqrt() / response.noise - 1.0).abs() < 0.05);
        }
    }
    let clean = Simulator::paper().n(50).p(100).snr(f64::INFINITY).generate().unwrap();
    assert_eq!(clean.y(), clean.response.signal);
}

#[test]
fn the_signal_is_x_times_the_truth() {
    let data = Simulator::wide(0.5).n(30).p(200).generate().unwrap();
    let mut signal = vec![0.0; 30];
    for (j, b) in data.truth().iter() {
        assert_eq!(b.abs(), 1.0);
        column(&data, j).iter().zip(&mut signal).for_each(|(x, s)| *s += b * x);
    }
    assert_eq!(signal, data.response.signal);
    assert!(data.truth().values.contains(&1.0) && data.truth().values.contains(&-1.0));
}

#[test]
fn the_truth_has_the_asked_size_and_values() {
    let paper = Simulator::paper();
    assert_eq!(paper.support_size(), 90);
    let truth = paper.n(2).generate().unwrap().truth().clone();
    assert_eq!((truth.nonzeros(), truth.support.len()), (90, 90));
    truth.validate(3000).unwrap();
    assert!(truth.values.iter().all(|b| b.abs() <= 1.0));
    assert!(truth.values.iter().any(|b| *b > 0.5) && truth.values.iter().any(|b| *b < -0.5));
    let size = |support, p| Simulator::paper().p(p).n(3).support(support).generate().unwrap().truth().nonzeros();
    assert_eq!(size(SupportSize::Fraction(0.03), 10), 1, "a share above zero selects at least one");
    assert_eq!(size(SupportSize::Fraction(0.0), 10), 0);
    assert_eq!(size(SupportSize::Fraction(1.0), 10), 10);
    assert_eq!(size(SupportSize::Count(4), 10), 4);
}

#[test]
fn one_seed_gives_one_data_set_and_settings_have_their_own_streams() {
    let base = Simulator::paper().n(20).p(50).support(SupportSize::Count(5)).seed(11);
    let data = base.clone().generate().unwrap();
    assert_eq!(data, base.clone().generate().unwrap());
    let other = base.clone().seed(12).generate().unwrap();
    assert!(data.x != other.x && data.y() != other.y() && data.truth() != other.truth());
    for same in [base.clone().snr(2.0), base.clone().task(Task::Classification)] {
        let same = same.generate().unwrap();
        assert_eq!((&same.x, same.truth()), (&data.x, data.truth()));
        assert_ne!(same.y(), data.y());
    }
    let signs = base.values(Values::Signs).generate().unwrap();
    assert_eq!((&signs.x, &signs.truth().support), (&data.x, &data.truth().support));
}

/// A change of these numbers changes every published figure: it must be deliberate.
#[test]
fn streams_are_stable() {
    let data = Simulator::paper().n(3).p(4).support(SupportSize::Count(2)).seed(2024).generate().unwrap();
    let found: Vec<f64> = data.x[..4].iter().chain(data.y()).chain(&data.truth().values).copied().collect();
    let expected = [
        -0.4314114334864384,
        0.8598673873573052,
        0.272969322848738,
        0.7733042193196803,
        0.05329996074046395,
        0.7306857135989315,
        0.3461844421468351,
        0.5313865573203516,
        0.5138472218664853,
    ];
    assert_eq!(found.len(), expected.len());
    assert_eq!(data.truth().support, [0, 3]);
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn labels_follow_the_logistic_model() {
    let data = Simulator::paper().n(20_000).p(20).support(SupportSize::Count(5)).snr(3.0);
    let data = data.task(Task::Classification).generate().unwrap();
    let response = &data.response;
    assert!(response.y.iter().all(|y| y.abs() == 1.0));
    // Calibration: among samples with model probability near q, about a share q is positive.
    let margins: Vec<f64> = {
        let factor = response.logistic_truth().values[0] / response.truth.values[0];
        // A logistic variable of scale 1 has standard deviation π/√3.
        assert!((factor * response.noise - std::f64::consts::PI / 3f64.sqrt()).abs() < 1e-12);
        response.signal.iter().map(|u| u * factor).collect()
    };
    for (low, high) in [(-3.0, -1.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 3.0)] {
        let inside: Vec<usize> = (0..data.n).filter(|&i| margins[i] >= low && margins[i] < high).collect();
        let model = inside.iter().map(|&i| 1.0 / (1.0 + (-margins[i]).exp())).sum::<f64>() / inside.len() as f64;
        let share = inside.iter().filter(|&&i| response.y[i] > 0.0).count() as f64 / inside.len() as f64;
        assert!((model - share).abs() < 0.03, "margins in [{low}, {high}): model {model}, found {share}");
    }
}

#[test]
fn streamed_columns_are_the_generated_ones() {
    let simulator = Simulator::wide(0.1).n(13).p(70).seed(5);
    let data = simulator.generate().unwrap();
    let mut x = Vec::new();
    let response = simulator.stream(|j, column| {
        assert_eq!(j * 13, x.len());
        x.extend_from_slice(column);
    });
    assert_eq!((x, response.unwrap()), (data.x, data.response));
}

#[test]
fn degenerate_sizes_work() {
    for (n, p) in [(1, 1), (1, 30), (30, 1), (2, 2)] {
        for task in [Task::Regression, Task::Classification] {
            let data = Simulator::paper().n(n).p(p).task(task).generate().unwrap();
            assert!(data.x.iter().chain(data.y()).all(|v| v.is_finite()));
            assert_eq!((data.design().nrows(), data.design().ncols(), data.y().len()), (n, p, n));
            assert_eq!(data.truth().nonzeros(), 1);
        }
    }
}

#[test]
fn without_a_signal_there_is_noise_of_variance_one() {
    let data = Simulator::paper().n(4000).p(5).support(SupportSize::Count(0)).generate().unwrap();
    assert!((variance(data.y()) - 1.0).abs() < 0.1);
    assert_eq!((data.response.noise, data.truth().nonzeros()), (1.0, 0));
}

#[test]
fn bad_settings_are_named() {
    let base = || Simulator::paper().n(5).p(8);
    assert_eq!(base().n(0).generate(), Err(Error::Empty { n: 0, p: 8 }));
    assert_eq!(base().p(0).generate(), Err(Error::Empty { n: 5, p: 0 }));
    assert_eq!(base().support(SupportSize::Count(9)).generate(), Err(Error::Support { count: 9, p: 8 }));
    let huge = Simulator::paper().n(usize::MAX / 4).p(8).generate();
    assert_eq!(huge, Err(Error::Memory { n: usize::MAX / 4, p: 8 }));
    let named = |simulator: Simulator, field: &str| match simulator.generate() {
        Err(Error::Range { name, .. }) => assert_eq!(name, field),
        other => panic!("{field}: {other:?}"),
    };
    for rho in [1.0, -1.0, 1.5, f64::NAN] {
        named(base().rho(rho), "rho");
    }
    for snr in [0.0, -1.0, f64::NAN] {
        named(base().snr(snr), "snr");
    }
    for share in [-0.1, 1.1, f64::NAN] {
        named(base().support(SupportSize::Fraction(share)), "support fraction");
    }
    let message = base().snr(-2.0).generate().unwrap_err().to_string();
    assert_eq!(message, "snr is -2; it must be above 0");
}
