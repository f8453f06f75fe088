//! Branch and bound (MATH §11): closes the gap of the default solver, or says what remains of it.
//!
//! A node is a family of subsets: some features are in, some are out, the others are open. Its relaxation bounds P on all of them
//! (11.1); a node whose bound exceeds the best P known is closed, any other is split on a feature.
//!
//! | where | what | MATH |
//! |---|---|---|
//! | [`solve`] | from a problem to an outcome | |
//! | `setting`, `tuning` | what is asked for; the numbers that steer the search, each with its reason | |
//! | `seed` | the root's answer, minimiser and price ν; `size`: answers of at most k features | 11.5 |
//! | `multiplier` | the search for the price ν that makes the relaxation take k features | 11.5 |
//! | `tree/` | `Tree`: grows from its root until nothing is open or a limit strikes | 11.3, 11.26 |
//! | — `plant`, `process`, `frontier` | the root; what happens to a node; the open nodes and what the closed ones prove | |
//! | — `far`, `dive` | nodes with open features whose columns are not in memory | 11.23–11.25 |
//! | — `answers`, `answer_pool`, `harvest` | answers on the way; the best of them; what is handed over | 11.26, 11.27 |
//! | — `looks`, `remainder`, `region` | a floor for all subsets around the best answer; what it leaves; subsets that add some | 13.3, 13.5, 13.9, 13.11 |
//! | — `slices` | parts of the tree for others to grow | |
//! | — `snapshot` | the tree in a file, to go on from | |
//! | `node/` | `Node`: its decisions; `NodeContext`: what all nodes look at; `Members`, `NodeRelaxation` | |
//! | — `start`, `relax`, `minimise`, `bound` | the relaxation solved; its minimiser; R_node and D_node of a point | 11.1, 11.2, 11.8 |
//! | — `decide`, `branch`, `round` | what the rules decide; the feature to split on; answers out of a node | 5.4, 5.5, 11.4 |
//! | `curvature/` | curvature moved from the loss to the penalty: `diagonal`, `split`, `barrier`, `budget`, `pool` | 11.6–11.14, 11.20–11.22 |
//! | `probe/` | a member put in and out while the others answer: `reduced`, `members` | 11.15–11.19 |
//! | `strengthen` | moves of curvature, rules and probes by turns | |
//! | `recheck` | the certificate once more, from the design | 11.27 |
//! | `proof/` | a proof as a file that others can check | PROOF |
//!
//! Arrows: `tree` → `seed`, `strengthen` → `probe`, `curvature` → `node` → `multiplier`, `tuning`.

mod curvature;
pub(crate) mod multiplier;
mod node;
mod probe;
pub mod proof;
mod recheck;
mod seed;
mod setting;
mod size;
mod strengthen;
#[cfg(test)]
mod tests;
mod tree;
mod tuning;

pub(crate) use tree::slices;
pub(crate) use tree::snapshot::SavedTree;
pub(crate) use tuning::Tuning;

/// Lowers P by moves of one feature that keep the size within k.
pub(crate) fn improve_within_size(work: &mut Workspace<'_, '_>, k: usize, limits: &Limits) -> Result<()> {
    size::improve(work, k, Tuning::default().moves_within_size, limits)
}

use crate::control::{Limits, Monitor, Options};
use crate::error::Result;
use crate::problem::Problem;
use crate::relaxation::workspace::Workspace;
use crate::snapshot::Journal;
use crate::solver::Outcome;
use crate::solver::incremental::Root;
use seed::Seed;
use setting::Setting;
use tree::Tree;

/// Solves to proven optimality within the tolerances of the options, or to a limit; goes on from what the journal holds and keeps
/// it up to date. The root of a price may be known.
pub(crate) fn solve(
    problem: &Problem<'_>,
    options: &Options,
    monitor: &mut Monitor<'_>,
    mut journal: Option<&mut Journal<'_, SavedTree>>,
    root: Option<Root>,
) -> Result<Outcome> {
    let unlimited = problem.without_max_size();
    // The answer is checked once more, by one pass over X.
    monitor.keep_back(problem.design().stored() as f64);
    let setting = Setting::new(&unlimited, problem.max_size(), options, Tuning::default());
    let tree = match journal.as_mut().and_then(|j| j.start.take()) {
        Some(saved) => Tree::restore(setting, saved, monitor)?,
        None => {
            let seed = match root.filter(|_| setting.size.is_none()) {
                Some(root) => Seed::grown(root, &setting, monitor)?,
                None => Seed::new(&setting, monitor)?,
            };
            Tree::plant(setting, seed, monitor)?
        }
    };
    let root = tree.root_bound();
    let outcome = tree.grow(monitor, journal)?;
    recheck::recheck(problem, &outcome, root)?;
    monitor.keep_back(0.0);
    monitor.passes += 1.0;
    Ok(outcome)
}
