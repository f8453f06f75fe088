//! λ0 from a path: by a criterion or by cross-validation.

use super::answer::{Answer, By, Chosen, at_price};
use super::{Posed, Session};
use crate::args::{ChoiceArgs, CvArgs, PathArgs, Rule, score_title};
use crate::exit::Failure;
use bestset::cv::{CvOptions, cross_validate_observed};
use bestset::groups::Groups;
use bestset::path::{Path, PathOptions, Point, path_observed};
use bestset::{Method, Options, checkpoint};

/// The options of a path on these data.
fn options(posed: &Posed<'_>, args: &PathArgs, session: &Session<'_>) -> PathOptions {
    let usual = PathOptions::default();
    let solve = Options { relaxation_gap: usual.solve.relaxation_gap, ..session.options(Method::Incremental) };
    PathOptions {
        grid: args.grid(),
        max_size: Some(args.max_size(posed.rows(), posed.features())),
        search: args.search(),
        groups: posed.data.groups().map(|labels| Groups::new(&labels)),
        solve,
        ..usual
    }
}

/// The path, shown as it grows.
pub fn run_path(posed: &Posed<'_>, args: &PathArgs, session: &Session<'_>) -> Result<Path, Failure> {
    let options = options(posed, args, session);
    let most = options.max_size.unwrap_or_default();
    session.progress.start_steps("path: features", most);
    let mut show = |point: &Point| session.progress.at(point.solution.support().len());
    let found = match &args.checkpoint {
        Some(file) => checkpoint::path(&posed.problem, &options, file)?,
        None => path_observed(&posed.problem, &options, &mut show)?,
    };
    if found.points.is_empty() {
        return Err(Failure::Usage("the time limit struck before the first point of the path"));
    }
    Ok(found)
}

/// The answer at the point that the criterion chooses.
pub fn by_criterion(
    posed: &Posed<'_>,
    path: &PathArgs,
    choice: &ChoiceArgs,
    session: &Session<'_>,
) -> Result<Answer, Failure> {
    let found = run_path(posed, path, session)?;
    let criterion = choice.criterion();
    let values = criterion.along(&posed.problem, &found)?;
    let point = criterion.best(&posed.problem, &found)?;
    let (title, higher_is_better) = (choice.criterion.title(), criterion.is_maximised());
    let by = By::Criterion { title, higher_is_better, values };
    conclude(posed, Chosen { path: found, point, by }, session)
}

/// The answer at the point that cross-validation chooses.
pub fn by_cross_validation(
    posed: &Posed<'_>,
    path: &PathArgs,
    cv: &CvArgs,
    session: &Session<'_>,
) -> Result<Answer, Failure> {
    let loss = posed.loss();
    let score = cv.score(loss);
    let options =
        CvOptions { path: options(posed, path, session), folds: cv.folds(loss), score: Some(score), seed: cv.seed };
    session.progress.start_steps("cross-validation: folds", cv.folds * cv.repeats);
    let show = |done: usize, _: usize| session.progress.at(done);
    let found = match &path.checkpoint {
        Some(file) => checkpoint::cross_validate(&posed.problem, &options, file)?,
        None => cross_validate_observed(&posed.problem, &options, &show)?,
    };
    if found.path.points.is_empty() {
        return Err(Failure::Usage("the time limit struck before the first point of the path"));
    }
    let (point, rule) = match cv.rule {
        Rule::Min => (found.best, "min"),
        Rule::OneSe => (found.one_se, "1se"),
    };
    let (metric, higher_is_better, folds) = (score_title(score), score.is_maximised(), cv.describe(loss));
    let path = found.path.clone();
    let by = By::CrossValidation { found: Box::new(found), metric, higher_is_better, folds, rule };
    conclude(posed, Chosen { path, point, by }, session)
}

/// Solves once more at the chosen λ0: to the full tolerance, with a trace.
fn conclude(posed: &Posed<'_>, chosen: Chosen, session: &Session<'_>) -> Result<Answer, Failure> {
    let point = &chosen.path.points[chosen.point];
    let start = Some(point.solution.coefficients.clone());
    let mut answer = at_price(posed, point.lambda0, start, session)?;
    let limited = match &chosen.by {
        By::CrossValidation { found, .. } => found.status,
        By::Criterion { .. } => chosen.path.status,
    };
    // A path that was cut short may have missed the best point: the answer must say so.
    if limited != bestset::Status::Converged && answer.solution.status != bestset::Status::Interrupted {
        answer.solution.status = limited;
    }
    answer.chosen = Some(chosen);
    Ok(answer)
}
