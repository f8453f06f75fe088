//! Runs what is missing: all settings of replicate 1 first, then 2, and so on.

use crate::Result;
use crate::algorithm::{self, Algorithm, CDSS};
use crate::args::Plan;
use crate::figures::{Figure, Setting, prediction};
use crate::measure::Posed;
use crate::progress::Progress;
use crate::row::{Row, key};
use crate::store::{Keyed, Store};
use std::time::Instant;

/// Data sets and the algorithms to run on each.
type Work = Vec<(Setting, u64, Vec<Algorithm>)>;

/// Runs the missing runs of a figure, one at a time.
pub fn run(figure: &dyn Figure, plan: &Plan, store: &mut Store<Row>) -> Result<()> {
    let work = missing(figure, plan, store);
    let kind = |setting: &str, algorithm: &str| format!("{setting}/{algorithm}");
    let kinds = work.iter().flat_map(|(s, _, todo)| todo.iter().map(move |a| kind(&s.name, a.label)));
    let mut progress = Progress::new(figure.name(), kinds, 0.5 * plan.cap);
    store.rows().iter().for_each(|row| progress.learn(&kind(&row.setting, &row.algorithm), row.seconds));
    for (setting, replicate, todo) in &work {
        let data = figure.draw(setting, *replicate)?;
        let design = data.x.design()?;
        let posed = Posed::new(setting, &data, design.as_ref())?;
        for algorithm in todo {
            let start = Instant::now();
            let cdss = store.get(&key(&setting.name, *replicate, CDSS.label));
            let row = posed.run(*algorithm, plan.cap, cdss)?;
            store.append(row)?;
            let what = format!("{}, replicate {replicate}, {}", setting.name, algorithm.label);
            progress.done(&kind(&setting.name, algorithm.label), start.elapsed().as_secs_f64(), &what);
        }
    }
    progress.finish();
    Ok(())
}

/// What the plan asks for and the store does not have.
fn missing(figure: &dyn Figure, plan: &Plan, store: &Store<Row>) -> Work {
    let settings: Vec<Setting> = figure.settings().into_iter().filter(|s| plan.wants_setting(&s.name)).collect();
    let replicates = |s: &Setting| plan.replicates.unwrap_or_else(|| figure.replicates(s));
    let last = settings.iter().map(replicates).max().unwrap_or(0);
    let mut work = Vec::new();
    for replicate in 1..=last {
        for setting in settings.iter().filter(|s| replicate <= replicates(s)) {
            let lacks = |a: &Algorithm| {
                plan.wants_algorithm(*a) && !store.has(&key(&setting.name, replicate, a.label), plan.cap)
            };
            // CDSS first: the others' times are told as ratios to its.
            let order = std::iter::once(CDSS).chain(algorithm::ALL.into_iter().filter(|a| *a != CDSS));
            let todo: Vec<Algorithm> = order.filter(lacks).collect();
            if !todo.is_empty() {
                work.push((setting.clone(), replicate, todo));
            }
        }
    }
    work
}

/// The same for the figure that compares predictions.
pub fn run_prediction(plan: &Plan, store: &mut Store<prediction::Row>) -> Result<()> {
    let settings: Vec<_> = prediction::settings().into_iter().filter(|s| plan.wants_setting(&s.name)).collect();
    let replicates = 1..=plan.replicates.unwrap_or(prediction::REPLICATES);
    let all = replicates.flat_map(|replicate| settings.iter().map(move |setting| (setting, replicate)));
    let lacks = |setting: &prediction::Setting, replicate| {
        prediction::METHODS.iter().any(|m| store.get(&format!("{}/{replicate}/{m}", setting.name)).is_none())
    };
    let work: Vec<_> = all.filter(|(setting, replicate)| lacks(setting, *replicate)).collect();
    let mut progress = Progress::new("prediction", work.iter().map(|(s, _)| s.name.clone()), 1.0);
    for (setting, replicate) in work {
        let start = Instant::now();
        for row in prediction::run(setting, replicate)? {
            if store.get(&row.key()).is_none() {
                store.append(row)?;
            }
        }
        let what = format!("{}, replicate {replicate}", setting.name);
        progress.done(&setting.name, start.elapsed().as_secs_f64(), &what);
    }
    progress.finish();
    Ok(())
}
