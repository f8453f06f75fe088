//! What has been proved, in words: nothing that decides what the claim means is left to the file's word.

use crate::header::{Header, Penalty};
use crate::{Loss, Proved, sha256};
use std::fmt::Write;

/// So many names are listed in the sentence.
const LISTED: usize = 12;

impl Proved {
    /// What has been proved, in one sentence.
    pub fn sentence(&self) -> String {
        let Header { n, names, target, size, bound, excepted, answers, .. } = &self.header;
        let target = if self.has_own_target { "the target in its own file".to_owned() } else { format!("{target:?}") };
        let mut text = format!("Proved: for {n} rows of {target} with SHA-256 {}, ", sha256::hex(&self.header.hash));
        let limit = size.map_or_else(String::new, |k| format!(" of at most {k}"));
        let _ = write!(text, "no subset{limit} of {}", self.features());
        let but = [excepted.then(|| "those listed".to_owned()), self.covered(), self.apart()];
        let but = but.into_iter().flatten().collect::<Vec<_>>();
        if !but.is_empty() {
            let _ = write!(text, " but {}", but.join(" and "));
        }
        let _ = write!(text, " has P = {} below {bound}", self.problem());
        for (answer, objective) in answers.iter().zip(&self.objectives) {
            let features: Vec<&str> = answer.iter().map(|c| names[c.0].as_str()).collect();
            let _ = write!(text, "; {{{}}} has P at most {objective}", features.join(", "));
        }
        text + "."
    }

    /// The subsets that hold an answer and are hardly better than it.
    fn covered(&self) -> Option<String> {
        let room = self.room();
        match self.counts.covered {
            0 => None,
            1 => Some(format!("one other that holds one of them, whose P is at most {room:e} above its own")),
            count => Some(format!("{count} others that hold one of them, whose P is at most {room:e} above their own")),
        }
    }

    /// The subsets of which nothing is claimed, as columns depend on each other.
    fn apart(&self) -> Option<String> {
        let Header { names, dependent, .. } = &self.header;
        let set =
            |set: &Vec<usize>| format!("{{{}}}", set.iter().map(|&j| names[j].as_str()).collect::<Vec<_>>().join(", "));
        match dependent.len() {
            0 => None,
            count if count > LISTED => {
                Some(format!("those that hold all of one of the {count} sets that --features lists"))
            }
            _ => Some(format!(
                "those that hold all of {}",
                dependent.iter().map(set).collect::<Vec<_>>().join(" or all of ")
            )),
        }
    }

    /// Which features: a proof of fewer than the data has must not read like one of all.
    fn features(&self) -> String {
        let (names, barred) = (&self.header.names, self.header.barred());
        let list = |places: &[usize]| match places.len() > LISTED {
            true => "that --features lists".to_owned(),
            false => places.iter().map(|&j| format!("{:?}", names[j])).collect::<Vec<_>>().join(", "),
        };
        let barred = match barred.len() {
            0 => String::new(),
            count => format!(" ({count} of them may not enter: {})", list(&barred)),
        };
        if self.left_out.is_empty() {
            return format!("the {} features, all other columns of the data,{barred}", names.len());
        }
        let all = list(&(0..names.len()).collect::<Vec<_>>());
        format!("the {} features {all} ({} columns of the data are left out){barred}", names.len(), self.left_out.len())
    }

    /// P in a formula.
    fn problem(&self) -> String {
        let Header { loss, intercept, scales, weights, offset, .. } = &self.header;
        let weight = if weights.is_empty() { "" } else { "w" };
        let fixed = if offset.is_empty() { "" } else { "o + " };
        let free = if *intercept { " + b0" } else { "" };
        let u = format!("{fixed}Xb{free}");
        let mut text = match loss {
            Loss::Squared => format!("½Σ{weight}(y − u)², u = {u},"),
            Loss::Logistic => format!("Σ{weight} log(1 + exp(−yu)), u = {u},"),
            Loss::SquaredHinge => format!("Σ{weight} max(0, 1 − yu)², u = {u},"),
            Loss::Huber(delta) => format!("Σ{weight} of Huber's loss of y − u with δ = {delta}, u = {u},"),
            Loss::Poisson => format!("half the deviance Σ{weight} (exp(u) − yu + y log y − y) of counts, u = {u},"),
            Loss::Gamma => format!("half the deviance Σ{weight} (y exp(−u) + u − log y − 1) of amounts, u = {u},"),
            Loss::NegativeBinomial(theta) => {
                format!(
                    "half the deviance Σ{weight} of counts of the negative binomial kind, θ = {theta}, mean exp(u), u = {u},"
                )
            }
        };
        match self.header.shared_penalty() {
            None => text.push_str(" + the penalty of each feature that --features lists"),
            Some(Penalty { l0, l1, l2, low, high }) => {
                for (value, what) in [(l0, "‖b‖₀"), (l1, "‖b‖₁"), (l2, "‖b‖₂²")] {
                    if value > 0.0 {
                        let _ = write!(text, " + {value}{what}");
                    }
                }
                if low.is_finite() || high.is_finite() {
                    let _ = write!(text, ", b in [{low}, {high}],");
                }
            }
        }
        match (scales, self.length) {
            (None, _) => {}
            (Some(_), Some(length)) => {
                let _ = write!(text, " (columns scaled to the length {length:.6})");
            }
            (Some(_), None) => text.push_str(" (columns divided by the scales that --features lists)"),
        }
        text
    }

    /// The name, the scale and the penalty of every feature, a line each.
    pub fn listing(&self) -> String {
        let mut text = "feature, divided by, λ0, λ1, λ2, least and most coefficient\n".to_owned();
        for (j, name) in self.header.names.iter().enumerate() {
            let Penalty { l0, l1, l2, low, high } = self.header.penalty(j);
            let scale = self.header.scales.as_ref().map_or(1.0, |s| s[j]);
            let _ = writeln!(text, "{name:?}, {scale}, {l0}, {l1}, {l2}, {low}, {high}");
        }
        for set in &self.header.dependent {
            let names: Vec<String> = set.iter().map(|&j| format!("{:?}", self.header.names[j])).collect();
            let _ = writeln!(text, "not together: {}", names.join(", "));
        }
        text
    }
}
