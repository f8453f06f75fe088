//! Figure 1 of the paper: simulated data, 15 panels (MATH §8).

use super::{Data, Figure, Setting, simulated};
use crate::Result;
use bestset_data::Simulator;

/// Rows of panels.
pub const SNR: [f64; 3] = [20.0, 5.0, 2.0];
/// The horizontal axis.
pub const SAMPLES: [usize; 5] = [200, 300, 400, 500, 600];
const P: usize = 3000;

/// Running time, duality gap, non-zeros, PSSR and estimation error over n for three SNR.
pub struct Simulation;

impl Figure for Simulation {
    fn name(&self) -> &'static str {
        "simulation"
    }

    fn settings(&self) -> Vec<Setting> {
        SNR.iter().flat_map(|&snr| SAMPLES.iter().map(move |&n| setting(snr, n))).collect()
    }

    fn replicates(&self, _setting: &Setting) -> u64 {
        50
    }

    fn draw(&self, setting: &Setting, replicate: u64) -> Result<Data> {
        simulated(Simulator::paper().n(setting.n).p(setting.p).rho(setting.rho).snr(setting.snr), replicate)
    }
}

/// The paper does not say which k D-IHT had; here it is told the true number of features.
fn setting(snr: f64, n: usize) -> Setting {
    let lambda = if snr == 20.0 { [0.03, 0.02, 1.0] } else { [0.1, 0.2, 1.0] };
    let k = Simulator::paper().p(P).support_size();
    Setting { name: format!("snr{snr}-n{n}"), snr, rho: 0.4, n, p: P, lambda, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_data_are_those_of_the_paper() {
        let settings = Simulation.settings();
        assert_eq!(settings.len(), 15);
        assert_eq!(
            (settings[0].name.as_str(), settings[0].k, settings[0].lambda),
            ("snr20-n200", 90, [0.03, 0.02, 1.0])
        );
        assert_eq!((settings[14].name.as_str(), settings[14].lambda), ("snr2-n600", [0.1, 0.2, 1.0]));
        let small = Setting { n: 20, p: 100, ..settings[14].clone() };
        let (a, b) = (Simulation.draw(&small, 1).unwrap(), Simulation.draw(&small, 2).unwrap());
        assert_eq!((a.x.rows(), a.x.columns(), a.truth.as_ref().unwrap().nonzeros()), (20, 100, 3));
        assert!(a.y != b.y && a.y == Simulation.draw(&small, 1).unwrap().y);
        assert!((a.x.column(7).iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
