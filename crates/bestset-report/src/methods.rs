//! One sentence for the methods section of a paper.

use crate::Data;
use crate::number::{count, number, plural};
use crate::types::limit;
use bestset::cv::Rule;
use bestset::select::{By, Chosen, Posed, Scale, Selected};

/// What was minimised over which subsets, how the number of features was chosen, and what is proved.
pub(crate) fn sentence(posed: &Posed<'_>, selected: &Selected, data: &Data, version: &str) -> String {
    let what = if posed.setup.groups.is_some() { "Groups of features" } else { "Features" };
    let subsets = match selected.k {
        Some(k) => format!("all subsets of at most {} of", features(k)),
        None => "all subsets of".to_owned(),
    };
    let software = format!("bestset {version}");
    format!(
        "{what} were selected by best subset selection ({}), which minimises {} of {}{}{} over {subsets} {} candidate \
         {} ({}); {}, and {}.",
        software.trim_end(),
        loss(&data.loss),
        plural(data.samples, "sample"),
        Some(beside(posed).join(", ")).filter(|b| !b.is_empty()).map_or(String::new(), |b| format!(" ({b})")),
        penalties(selected),
        count(data.features),
        if data.features == 1 { "feature" } else { "features" },
        scale(posed),
        choice(posed, selected),
        proof(selected)
    )
}

/// What samples have beside their features and targets.
pub(crate) fn beside(posed: &Posed<'_>) -> Vec<String> {
    let (problem, survival) = (&posed.problem, posed.setup.survival.as_ref());
    let strata = survival.and_then(|s| s.strata.as_ref()).map(|strata| {
        let known: std::collections::BTreeSet<&usize> = strata.iter().collect();
        format!("in {} {}", count(known.len()), if known.len() == 1 { "stratum" } else { "strata" })
    });
    let entry = survival.and_then(|s| s.entry.as_ref()).map(|_| "with delayed entry".to_owned());
    let weights = problem.weights().map(|_| "weighted".to_owned());
    let offset = problem.offset().map(|_| match problem.loss().has_log_link() {
        true => "with an offset, the logarithm of an exposure or another".to_owned(),
        false => "with an offset".to_owned(),
    });
    [weights, offset, entry, strata].into_iter().flatten().collect()
}

fn features(k: usize) -> String {
    plural(k, "feature")
}

fn loss(name: &str) -> String {
    if name == "cox" {
        return "the negative log partial likelihood of Cox's model".to_owned();
    }
    format!("the {} loss", name.trim_end_matches(" loss").replace('_', " "))
}

fn penalties(selected: &Selected) -> String {
    let mut terms = Vec::new();
    if selected.k.is_none() {
        terms.push(format!("a penalty per feature (λ0 = {})", number(selected.lambda0, 4)));
    }
    if selected.lambda1 > 0.0 {
        terms.push(format!("a lasso penalty (λ1 = {})", number(selected.lambda1, 4)));
    }
    if selected.lambda2 > 0.0 {
        terms.push(format!("a ridge penalty (λ2 = {})", number(selected.lambda2, 4)));
    }
    match terms.pop() {
        None => String::new(),
        Some(last) if terms.is_empty() => format!(" plus {last}"),
        Some(last) => format!(" plus {} and {last}", terms.join(", ")),
    }
}

/// The columns as the penalties see them.
pub(crate) fn scale(posed: &Posed<'_>) -> &'static str {
    match (posed.setup.scale, posed.setup.intercept) {
        (Scale::Norm, true) => "centred and scaled to norm one",
        (Scale::Norm, false) => "scaled to norm one, no intercept",
        (Scale::Variance, true) => "centred and scaled to variance one",
        (Scale::Variance, false) => "scaled to variance one, no intercept",
        (Scale::None, true) => "on their own scale, with an intercept",
        (Scale::None, false) => "on their own scale, no intercept",
    }
}

/// What decided the number of features, and λ2.
fn choice(posed: &Posed<'_>, selected: &Selected) -> String {
    let size = posed.outward(&selected.solution.coefficients).support.len();
    let ridge = if posed.setup.lambda2.is_some() || selected.lambda2 != posed.lambda2() {
        "set in advance"
    } else {
        "left at its default"
    };
    let Some(chosen) = &selected.chosen else {
        let what = if selected.k.is_some() { "the largest size" } else { "λ0" };
        return format!("{what} was set in advance and λ2 was {ridge}, which gave {}", features(size));
    };
    let subject = match ridges(chosen) {
        (1, ..) => format!("the number of features ({size}) was chosen"),
        (all, least, largest) => format!(
            "the number of features ({size}) and λ2 (among {all} values from {} to {}) were chosen",
            number(least, 3),
            number(largest, 3)
        ),
    };
    let fixed = if ridges(chosen).0 == 1 { format!(", λ2 was {ridge}") } else { String::new() };
    format!("{subject} by {}{fixed}", judge(chosen))
}

/// How many λ2 were compared, the least and the largest.
fn ridges(chosen: &Chosen) -> (usize, f64, f64) {
    let mut all: Vec<f64> = chosen.path.points.iter().map(|p| p.lambda2).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    (all.len(), all.first().copied().unwrap_or(f64::NAN), all.last().copied().unwrap_or(f64::NAN))
}

fn judge(chosen: &Chosen) -> String {
    match &chosen.by {
        By::Criterion(criterion, _) => {
            format!("the {} {}", if criterion.is_maximised() { "largest" } else { "least" }, criterion.title())
        }
        By::CrossValidation(found, rule) => {
            let (title, best) = (found.score.title(), if found.score.is_maximised() { "largest" } else { "least" });
            let score = &found.scores[found.chosen(*rule)];
            let reached = format!("{} ± {} (standard error)", number(score.mean, 3), number(score.standard_error, 2));
            match rule {
                Rule::Min => format!("{} with the {best} {title}, {reached}", parts(found)),
                Rule::OneSe => format!(
                    "{} as the fewest features within one standard error of the {best} {title}, which gave {reached}",
                    parts(found)
                ),
            }
        }
    }
}

/// What was left out, in the words of the field.
fn parts(found: &bestset::cv::CrossValidation) -> String {
    let done = found.folds();
    let Some(first) = found.parts.first() else {
        return format!("cross-validation over {done} given splits");
    };
    let (folds, repeats) = (first.iter().max().map_or(0, |m| m + 1), found.parts.len());
    let cut =
        if done < folds * repeats { format!(" ({done} of {} folds done)", folds * repeats) } else { String::new() };
    let again = if repeats > 1 { format!(" repeated {repeats} times") } else { String::new() };
    match folds == first.len() {
        true => format!("leave-one-out cross-validation{cut}"),
        false => format!("{folds}-fold cross-validation{again}{cut}"),
    }
}

fn proof(selected: &Selected) -> String {
    let standing = &selected.standing;
    let measure = if standing.is_squared { "R²" } else { "share of deviance explained" };
    let r2 = number(standing.r2, 3);
    if standing.is_best {
        return format!(
            "the subset, with an in-sample {measure} of {r2}, is proved to be the best possible for this objective"
        );
    }
    match standing.r2_limit < 1.0 {
        true => format!(
            "its in-sample {measure} is {r2}, where it is proved that no subset of this penalty exceeds {}",
            limit(standing)
        ),
        false => format!("its in-sample {measure} is {r2}; that no subset is better was not proved"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bestset::design::Dense;
    use bestset::select::{Folded, How, Prove, Samples, Selection, Setup};
    use bestset::{Loss, Survival};

    /// The sentence of a selection from 30 samples of 4 features.
    fn said(setup: &Setup, how: How) -> String {
        let x: Vec<f64> = (0..120).map(|k| ((k * k) as f64 * 0.7).sin()).collect();
        let y: Vec<f64> = (0..30).map(|i| 3.0 * x[i] - x[30 + i] + 0.2 * (2.5 * i as f64).cos()).collect();
        let x = Dense::new(30, 4, x).unwrap();
        let samples = Samples { x: &x, y: &y, weights: None, offset: None };
        let data = Data { samples: 30, features: 4, loss: "squared".into(), ..Data::default() };
        let options = Selection { how, prove: Prove::Usual, ..Selection::default() };
        setup
            .pose(&samples, |posed| {
                let found = posed.select(&options, &mut ())?;
                Ok::<_, bestset::Error>(sentence(posed, &found, &data, "1.2.3"))
            })
            .unwrap()
    }

    #[test]
    fn a_price_a_size_and_a_criterion() {
        let text = said(&Setup { lambda2: Some(0.1), ..Setup::default() }, How::Price(0.5));
        assert!(text.starts_with(
            "Features were selected by best subset selection (bestset 1.2.3), which minimises the squared"
        ));
        assert!(
            text.contains(
                "of 30 samples plus a penalty per feature (λ0 = 0.5) and a ridge penalty (λ2 = 0.1) over all"
            )
        );
        assert!(
            text.contains("subsets of 4 candidate features (centred and scaled to norm one); λ0 was set in advance")
        );
        assert!(text.ends_with("is proved to be the best possible for this objective."), "{text}");
        let text = said(&Setup { intercept: false, ..Setup::default() }, How::Size(1));
        assert!(text.contains("plus a ridge penalty (λ2 = 0.01) over all subsets of at most 1 feature of 4"), "{text}");
        assert!(text.contains("the largest size was set in advance and λ2 was left at its default"), "{text}");
        let text = said(&Setup::default(), Selection::default().how);
        assert!(
            text.contains("(4) was chosen by the least EBIC, λ2 was left at its default, and the subset"),
            "{text}"
        );
    }

    #[test]
    fn what_samples_have_beside_is_said() {
        let x: Vec<f64> = (0..90).map(|k| ((k * k) as f64 * 0.7).sin()).collect();
        let x = Dense::new(30, 3, x).unwrap();
        let said = |loss: Loss, survival: Option<Survival>, offset: Option<&[f64]>, weights: Option<&[f64]>| {
            let counts: Vec<f64> = (0..30).map(|i| (1 + i % 4) as f64).collect();
            let y = survival.as_ref().map_or(counts, |s| s.time.clone());
            let setup = Setup { loss, intercept: survival.is_none(), survival, lambda2: Some(0.1), ..Setup::default() };
            let samples = Samples { x: &x, y: &y, weights, offset };
            setup.pose(&samples, |posed| Ok::<_, bestset::Error>(beside(posed).join(", "))).unwrap()
        };
        let (ones, event) = (vec![1.0; 30], vec![true; 30]);
        let (entry, strata) = (Some(vec![0.5; 30]), Some((0..30).map(|i| i % 3).collect()));
        let time = (0..30).map(|i| 1.0 + i as f64).collect();
        let survival = Survival { time, event, entry, strata };
        let cox = Loss::Cox { ties: bestset::Ties::Efron };
        assert_eq!(said(cox, Some(survival), None, Some(&ones[..])), "weighted, with delayed entry, in 3 strata");
        let counts = said(Loss::Poisson, None, Some(&ones[..]), None);
        assert_eq!(counts, "with an offset, the logarithm of an exposure or another");
        assert_eq!(said(Loss::Squared, None, None, None), "");
    }

    #[test]
    fn cross_validation_says_what_was_left_out() {
        let by = |folds: usize, repeats: usize, rule: Rule| {
            let folded = Folded { folds: Some(folds), repeats, rule, ..Folded::default() };
            said(&Setup::default(), How::CrossValidation(folded))
        };
        let text = by(5, 2, Rule::Min);
        assert!(
            text.contains("and λ2 (among 5 values from 0.001 to 1) were chosen by 5-fold cross-validation"),
            "{text}"
        );
        assert!(text.contains("repeated 2 times with the least mean squared error, "), "{text}");
        let text = by(30, 1, Rule::OneSe);
        assert!(
            text.contains("leave-one-out cross-validation as the fewest features within one standard error"),
            "{text}"
        );
        assert_eq!(text.matches(". ").count(), 0, "one sentence: {text}");
    }
}
