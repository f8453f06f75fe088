//! What has been proved, in words: nothing that decides what the claim means is left to the file's word.

use crate::header::{Header, Penalty};
use crate::{Loss, Proved, sha256};
use std::fmt::Write;

/// So many names are listed in the sentence.
const LISTED: usize = 12;

impl Proved {
    /// What has been proved, in one sentence.
    pub fn sentence(&self) -> String {
        let Header { n, target, size, bound, excepted, answers, .. } = &self.header;
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
            let answer: Vec<usize> = answer.iter().map(|c| c.0).collect();
            let _ = write!(text, "; {} has P at most {objective}", self.set(&answer));
        }
        text + "."
    }

    /// The subsets that hold an answer's, and what is shown of them (P19): little where an answer is far above B, nothing where that is
    /// not above zero.
    fn covered(&self) -> Option<String> {
        let others = match self.counts.covered {
            0 => return None,
            1 => "one other that holds one of them, of which it is shown only".to_owned(),
            count => format!("{count} others that hold one of them, of which it is shown only"),
        };
        let (room, least) = (self.room(), self.objectives.iter().copied().fold(f64::INFINITY, f64::min));
        let share = 100.0 * room / self.objectives.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let nothing = if room < least { "" } else { " (nothing where that one's is no larger: no P is below zero)" };
        Some(format!(
            "{others} that P is at least that one's less {room:e}, {share:.2e} % of the largest listed{nothing},"
        ))
    }

    /// The subsets of which nothing is claimed, as columns depend on each other. A feature of which nothing at all is claimed is always
    /// named.
    fn apart(&self) -> Option<String> {
        let (single, more): (Vec<_>, Vec<_>) = self.header.dependent.iter().partition(|set| set.len() == 1);
        let mut sets: Vec<String> = single.iter().map(|set| self.set(set)).collect();
        match more.len() > LISTED {
            true => sets.push(format!("one of the {} sets that --features lists", more.len())),
            false => sets.extend(more.iter().map(|set| self.set(set))),
        }
        (!sets.is_empty()).then(|| format!("those that hold all of {}", sets.join(" or all of ")))
    }

    /// A set of features by their names, which are quoted where they could be read as several.
    fn set(&self, features: &[usize]) -> String {
        let divides = |c: char| c.is_whitespace() || c.is_control() || ",;{}\"".contains(c);
        // What is shown otherwise than it is written, as marks that turn the direction of reading, is quoted too.
        let is_shown = |name: &str| format!("{name:?}") == format!("\"{name}\"");
        let is_plain = |name: &str| !name.is_empty() && !name.contains(divides) && is_shown(name);
        let word = |name: &String| if is_plain(name) { name.clone() } else { format!("{name:?}") };
        let words: Vec<String> = features.iter().map(|&j| word(&self.header.names[j])).collect();
        format!("{{{}}}", words.join(", "))
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
