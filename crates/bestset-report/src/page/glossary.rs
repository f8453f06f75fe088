//! The words a reader may not know, behind the word and in a list.

use maud::{Markup, html};

/// (name in the page, word, explanation).
const TERMS: [(&str, &str, &str); 28] = [
    (
        "objective",
        "Objective",
        "What is minimised: the loss of the predictions plus the penalties for features and for large coefficients. Lower is \
        better.",
    ),
    (
        "bound",
        "Lower bound",
        "A number that no choice of features that the problem allows, tried or untried, can bring the objective below. It follows \
        from the data alone and can be checked by anyone.",
    ),
    (
        "gap",
        "Gap",
        "The distance from the objective of this answer to the lower bound: the most that any other choice of \
        features could improve on it.",
    ),
    (
        "optimal",
        "Optimal",
        "The gap is closed within the tolerance: the answer is proved best. Other endings, such as a time \
        limit, leave a gap; the bound holds all the same.",
    ),
    (
        "gain",
        "Gain over no features",
        "How much lower the objective is than without any feature, as a share of what the best subset could gain at the most. \
        Unlike a share of the whole objective it does not count what is there without any feature.",
    ),
    (
        "penalty",
        "Of this penalty",
        "Subsets whose penalty, for their number of features and the size of their coefficients, is not above that of this \
        model. With more features or less shrinkage R² can always be raised.",
    ),
    ("ranked", "Proved rank", "No subset that is not in the list has a lower objective than the one of this rank."),
    (
        "frequency",
        "Chosen in folds",
        "In how many of the fits on parts of the samples, with as many features, the feature is chosen. Features that are in \
        nearly all of them do not hang on a few samples; others may stand for features much like them.",
    ),
    (
        "lambda0",
        "Penalty per feature (λ0)",
        "Each feature in the model adds λ0 to the objective. A larger λ0 gives a smaller model.",
    ),
    ("lambda1", "λ1", "Shrinks all coefficients by about the same amount, as the lasso does."),
    (
        "lambda2",
        "Ridge penalty (λ2)",
        "Shrinks large coefficients, as ridge regression does. It steadies predictions where features are alike, and makes \
        bounds tight.",
    ),
    ("path", "Path", "The answers for a falling penalty per feature: from no feature to many."),
    (
        "cv",
        "Cross-validation",
        "Parts of the data are left out in turn; the model is fitted without them and judged on them.",
    ),
    (
        "one-se",
        "One-standard-error rule",
        "The sparsest model whose score is within one standard error of the best: as good \
        as the data can tell, and simpler.",
    ),
    (
        "criteria",
        "AIC, BIC, EBIC and others",
        "Measures that add a penalty for size to the lack of fit. BIC and EBIC choose \
        small models, AIC larger ones.",
    ),
    ("rise", "Importance", "How much the objective rises when the feature is dropped and the others are fitted again."),
    (
        "effect",
        "Per standard deviation",
        "What the prediction changes by when the feature rises by one standard deviation, so that features in different units \
        can be compared.",
    ),
    (
        "screening",
        "Screening rule",
        "A proof that a feature is in no best model, or in every one, without trying them all.",
    ),
    (
        "r2",
        "R²",
        "Share of the variation of the target that the model explains: 1 is everything, 0 nothing. For classes it is the share \
        of the deviance.",
    ),
    ("residual", "Residual", "Observed value minus prediction."),
    (
        "roc",
        "ROC curve",
        "For every threshold: the share of positives found against the share of negatives mistaken for them.",
    ),
    (
        "auc",
        "AUC",
        "The area under the ROC curve: the chance that a positive sample scores higher than a negative one. ½ is \
        guessing, 1 is perfect.",
    ),
    ("calibration", "Calibration", "Whether predicted probabilities come true as often as they say."),
    ("log-loss", "Log loss", "Mean surprise at what happened, given the predicted probabilities; lower is better."),
    (
        "d2",
        "Deviance explained (D²)",
        "One minus the deviance of the model over that of the model without features: what R² is to least squares, for any family. \
        Of survival times it is made of the partial likelihood, and 10 % is a lot.",
    ),
    (
        "concordance",
        "Concordance (C)",
        "Of all pairs of samples of which it is known who had the event first: the share in which the model gives that one the higher \
        risk. ½ is guessing, 1 is perfect.",
    ),
    (
        "kaplan-meier",
        "Kaplan–Meier",
        "The share of samples that are still without the event at each time, those who left the study early counted as long as they \
        were in it. It uses no model.",
    ),
    (
        "hazard-ratio",
        "Hazard ratio",
        "By which factor the risk at any time is multiplied when the feature rises by one unit: e to the power of the coefficient. Above \
        one the event comes sooner.",
    ),
];

/// The explanation of a word.
pub(super) fn explanation(id: &str) -> &'static str {
    TERMS.iter().find(|term| term.0 == id).map_or("", |term| term.2)
}

/// The explanations that open at the words.
pub(super) fn popovers() -> Markup {
    html! {
        @for (id, word, text) in TERMS {
            div.popover id=(format!("term-{id}")) popover="auto" { b { (word) } p { (text) } }
        }
    }
}

/// All of them as a list.
pub(super) fn section() -> Markup {
    html! {
        section id="glossary" aria-labelledby="glossary-heading" {
            h2 id="glossary-heading" { "Glossary" }
            details.card.glossary {
                summary { "The words of this page, explained" }
                dl { @for (_, word, text) in TERMS { div { dt { (word) } dd { (text) } } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_page_is_explained() {
        let sources = [
            include_str!("alternatives.rs"),
            include_str!("answer.rs"),
            include_str!("choice.rs"),
            include_str!("fit.rs"),
            include_str!("model.rs"),
            include_str!("proof.rs"),
        ];
        for id in sources.iter().flat_map(|s| s.split("term(\"").skip(1)).filter_map(|rest| rest.split('"').next()) {
            assert!(!explanation(id).is_empty(), "{id} is not in the glossary");
        }
    }
}
