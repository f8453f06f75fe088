//! The certificate in words and numbers: what has been proved about an answer.

use super::{above, below_objective, number, percent_above, seconds};
use crate::args::Terms;
use crate::work::{Answer, Posed};
use bestset::{Certificate, Local, Solution, Status};

/// The three numbers, the gaps, and how the solve went.
pub fn table(solution: &Solution, verbose: bool) -> String {
    let certificate = &solution.certificate;
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let with_share = |value: f64, share: f64| format!("{} ({})", above(value), percent_above(share));
    let relaxation = certificate.relaxation.map(|r| row("relaxation R", number(r)));
    // Branch and bound raises D above the relaxation: R − D then has no meaning.
    let raised = certificate.relaxation.is_some_and(|r| certificate.lower_bound > r);
    let relaxation_gap = certificate.relaxation_gap().zip(certificate.relative_relaxation_gap()).filter(|_| !raised);
    let relaxation_gap = relaxation_gap.map(|(gap, share)| row("relaxation gap R − D", with_share(gap, share)));
    let numbers = [
        Some(row("objective P", number(certificate.objective))),
        relaxation,
        Some(row("lower bound D", lower(certificate))),
        Some(row("gap P − D", with_share(certificate.gap(), certificate.relative_gap()))),
        relaxation_gap,
    ];
    let cause = solution.cause.iter().map(|cause| row("cause", cause.clone()));
    let course = [row("status", solution.status.to_string()), row("seconds", seconds(solution.seconds))];
    let effort =
        [row("iterations", solution.iterations.to_string()), row("passes over X", format!("{:.1}", solution.passes))];
    let effort = effort.into_iter().filter(|_| verbose);
    let screened = &solution.screened;
    let rules = [
        ("screened by the published rule", screened.published),
        ("proved zero in the relaxation", screened.relaxation),
        ("proved outside every best subset", screened.excluded),
        ("proved inside every best subset", screened.included),
    ];
    let rules = rules.into_iter().filter(|rule| rule.1 > 0).map(|(name, count)| row(name, count.to_string()));
    super::table(&[], numbers.into_iter().flatten().chain(course).chain(cause).chain(effort).chain(rules))
}

/// The lower bound beside P.
pub fn lower(certificate: &Certificate) -> String {
    below_objective(certificate.objective, certificate.lower_bound, certificate.gap())
}

/// What a certificate proves, in a sentence.
pub fn statement(certificate: &Certificate, status: Status, terms: &Terms) -> String {
    let subset = match terms.k {
        None => "no subset".to_owned(),
        Some(1) => "no subset of at most 1 feature".to_owned(),
        Some(k) => format!("no subset of at most {k} features"),
    };
    let (gap, share) = (certificate.gap(), certificate.relative_gap());
    if certificate.objective.is_infinite() {
        return "Not allowed: the coefficients are more than k, or outside of the bounds.".to_owned();
    }
    if status == Status::Optimal {
        return format!("Proved: {subset} has a lower objective, within the tolerance.");
    }
    // Zero is a lower bound of everything here: a gap of the whole objective says nothing.
    if share < 1.0 {
        return format!(
            "Proved: {subset} lowers the objective by more than {} ({}).",
            above(gap),
            percent_above(share)
        );
    }
    // A limit that struck says that a search was under way.
    let wanted = match (terms.lambda2 > 0.0, status) {
        (true, _) => "a useful lower bound takes more time (exact, --prove), or a larger lambda2",
        (false, Status::TimeLimit | Status::NodeLimit | Status::MemoryLimit | Status::Interrupted) => {
            "a useful lower bound takes more of what the limit cut short, fewer features, lambda2 > 0 or bounds on the coefficients"
        }
        (false, _) => {
            "a useful lower bound takes branch and bound (exact, --prove), lambda2 > 0 or bounds on the coefficients"
        }
    };
    format!("Nothing is proved: {wanted}.")
}

/// What the numbers prove; where they prove little, what was at least checked.
pub fn verdict(solution: &Solution, terms: &Terms) -> String {
    let is_optimal = solution.status == Status::Optimal;
    let mut text = statement(&solution.certificate, solution.status, terms);
    // Without a bound it is not for rounding that there is none.
    if solution.status == Status::Stalled && solution.certificate.lower_bound.is_finite() {
        text.push_str(
            "\nRounding allows no more: columns and offsets far from zero cost digits; centre or standardise them.",
        );
    }
    text.push_str(match solution.local {
        _ if is_optimal => "",
        Local::None => "",
        Local::Coordinate => "\nChecked: no change of one coefficient lowers it.",
        Local::Swap => "\nChecked: no addition, removal or exchange of one feature lowers it.",
    });
    text
}

/// What is to be said of the proof besides: why there is none, and what it rests on.
pub fn remarks(posed: &Posed<'_>, answer: &Answer) -> Vec<String> {
    let dependences = posed.data.dependences(&answer.selected.solution.dependent);
    let constant = posed.data.left_out(&posed.constant());
    answer.remarks.iter().cloned().chain(dependences).chain(constant).collect()
}

/// The outcome in one line.
pub fn line(solution: &Solution) -> String {
    let certificate = &solution.certificate;
    let rule = solution.rule.map_or(String::new(), |rule| format!(", {rule}"));
    format!(
        "P = {}, D = {}, gap {} ({}), {} non-zeros, {} iterations, {:.1} passes over X, {} s: {}{rule}",
        number(certificate.objective),
        lower(certificate),
        above(certificate.gap()),
        percent_above(certificate.relative_gap()),
        solution.coefficients.nonzeros(),
        solution.iterations,
        solution.passes,
        seconds(solution.seconds),
        solution.status,
    )
}
