//! Figure 3, not in the paper: answers against the certified optimum over SNR, correlation and n.

use super::{Data, Figure, Setting, simulated};
use crate::Result;
use bestset_data::Simulator;

/// Along each axis the other two stay at (SNR, ρ, n).
pub const BASE: (f64, f64, usize) = (5.0, 0.4, 150);
/// Signal-to-noise ratios.
pub const SNR: [f64; 6] = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0];
/// Correlations of neighbouring features.
pub const RHO: [f64; 7] = [0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95];
/// Samples.
pub const SAMPLES: [usize; 5] = [75, 100, 150, 300, 600];
const P: usize = 500;

/// How often each algorithm is exactly right, and how far off otherwise.
pub struct Quality;

impl Figure for Quality {
    fn name(&self) -> &'static str {
        "quality"
    }

    fn settings(&self) -> Vec<Setting> {
        let mut all = vec![setting(BASE.0, BASE.1, BASE.2)];
        all.extend(SNR.map(|snr| setting(snr, BASE.1, BASE.2)));
        all.extend(RHO.map(|rho| setting(BASE.0, rho, BASE.2)));
        all.extend(SAMPLES.map(|n| setting(BASE.0, BASE.1, n)));
        let mut names = std::collections::HashSet::new();
        all.retain(|s| names.insert(s.name.clone()));
        all
    }

    fn replicates(&self, _setting: &Setting) -> u64 {
        20
    }

    fn draw(&self, setting: &Setting, replicate: u64) -> Result<Data> {
        let simulator = Simulator::paper().n(setting.n).p(setting.p).rho(setting.rho).snr(setting.snr);
        simulated(simulator, replicate)
    }
}

/// The name of a setting, as panels look it up.
pub fn name(snr: f64, rho: f64, n: usize) -> String {
    format!("snr{snr}-rho{rho}-n{n}")
}

/// The paper's simulation with fewer features and a weak ridge term: with its λ2 = 1 the relaxation is nearly tight and
/// there is little to be wrong about.
fn setting(snr: f64, rho: f64, n: usize) -> Setting {
    let k = Simulator::paper().p(P).support_size();
    Setting { name: name(snr, rho, n), snr, rho, n, p: P, lambda: [0.05, 0.0, 0.2], k }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_one_setting_on_three_axes() {
        let settings = Quality.settings();
        assert_eq!(settings.len(), 16);
        assert_eq!(settings.iter().filter(|s| s.name == name(BASE.0, BASE.1, BASE.2)).count(), 1);
        let data = Quality.draw(&Setting { n: 30, ..settings[0].clone() }, 1).unwrap();
        assert_eq!((data.truth.unwrap().nonzeros(), settings[0].k), (15, 15));
    }
}
