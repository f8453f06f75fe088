//! Paths and sizes.

use super::{short, shorts, useful};
use crate::thin::thin;
use crate::{Path, Subset};
use serde::Serialize;

/// The most points of a path drawn.
pub(super) const MOST_POINTS: usize = 300;
/// The most features drawn as lines.
const MOST_LINES: usize = 40;

/// What lines are where units do not matter.
const PER_DEVIATION: &str = "coefficient per standard deviation";

/// The points of one λ2, and of them what is drawn.
#[derive(Debug, Clone, Serialize)]
pub struct PathSeries {
    /// λ2 of these points, where the path has others as well.
    pub lambda2: Option<f64>,
    /// λ0, descending.
    pub lambda0: Vec<Option<f64>>,
    /// Features in each answer.
    pub size: Vec<usize>,
    /// Objectives.
    pub objective: Vec<Option<f64>>,
    /// Bounds.
    pub bound: Vec<Option<f64>>,
    /// The reported model.
    pub chosen: Option<usize>,
    /// Features in the order in which they enter.
    pub lines: Vec<Line>,
    /// Features that are in some answer and have no line.
    pub left_out: usize,
    /// Criteria.
    pub criteria: Vec<Measure>,
    /// What the numbers of the lines are.
    pub unit: &'static str,
}

/// A feature along the path.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its coefficient at each point.
    pub values: Vec<Option<f64>>,
}

/// A criterion along the path.
#[derive(Debug, Clone, Serialize)]
pub struct Measure {
    /// Its name.
    pub name: String,
    /// Values.
    pub values: Vec<Option<f64>>,
    /// Position of the best.
    pub best: Option<usize>,
}

/// Positions of the points that are drawn, λ0 descending: those with λ2 of the chosen point, or of the first one.
fn drawn(path: &Path) -> Vec<usize> {
    let wanted = path.chosen.filter(|&k| k < path.points.len()).unwrap_or(0);
    let price = |k: usize| path.points[k].lambda0;
    let mut strand: Vec<usize> = (0..path.points.len())
        .filter(|&k| path.points[k].lambda2.to_bits() == path.points[wanted].lambda2.to_bits())
        .collect();
    strand.sort_by(|&a, &b| price(b).total_cmp(&price(a)));
    let at = strand.iter().position(|&k| k == wanted);
    let mut places = thin(strand.len(), MOST_POINTS);
    places.extend(at);
    places.sort_unstable();
    places.dedup();
    places.into_iter().map(|k| strand[k]).collect()
}

impl PathSeries {
    /// Whether coefficients are per standard deviation of their features.
    pub(crate) fn is_per_deviation(&self) -> bool {
        self.unit == PER_DEVIATION
    }

    /// `None` without at least two points.
    pub fn new(path: &Path) -> Option<Self> {
        let kept = drawn(path);
        if kept.len() < 2 {
            return None;
        }
        let points: Vec<_> = kept.iter().map(|&k| &path.points[k]).collect();
        let mut dense = vec![vec![0.0; points.len()]; path.features.len()];
        for (k, point) in points.iter().enumerate() {
            for &(j, value) in point.coefficients.iter().filter(|c| c.0 < path.features.len()) {
                dense[j][k] = value;
            }
        }
        let entry = |j: usize| dense[j].iter().position(|v| *v != 0.0);
        let stays = |j: usize| dense[j].iter().filter(|v| **v != 0.0).count();
        let mut order: Vec<usize> = (0..dense.len()).filter(|&j| entry(j).is_some()).collect();
        // Those that come first and stay longest are what the picture is about.
        order.sort_by_key(|&j| (entry(j), usize::MAX - stays(j), j));
        let left_out = order.len().saturating_sub(MOST_LINES);
        order.truncate(MOST_LINES);
        let line = |&j: &usize| Line { name: path.features[j].clone(), values: shorts(dense[j].iter().copied()) };
        let lambda2 = points[0].lambda2;
        Some(Self {
            lambda2: short(lambda2).filter(|_| path.points.iter().any(|p| p.lambda2 != lambda2)),
            lambda0: shorts(points.iter().map(|p| p.lambda0)),
            size: points.iter().map(|p| p.size).collect(),
            objective: shorts(points.iter().map(|p| p.objective)),
            bound: points.iter().map(|p| useful(p.objective, p.lower_bound)).collect(),
            chosen: path.chosen.and_then(|wanted| kept.iter().position(|&k| k == wanted)),
            lines: order.iter().map(line).collect(),
            left_out,
            criteria: path.criteria.iter().map(|c| Measure::new(c, &kept)).collect(),
            unit: if path.per_deviation { PER_DEVIATION } else { "coefficient" },
        })
    }
}

impl Measure {
    fn new(criterion: &crate::Criterion, kept: &[usize]) -> Self {
        let values = shorts(kept.iter().map(|&k| criterion.values.get(k).copied().unwrap_or(f64::NAN)));
        let sign = if criterion.higher_is_better { -1.0 } else { 1.0 };
        let known = values.iter().enumerate().filter_map(|(k, v)| v.map(|v| (k, sign * v)));
        let best = known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|b| b.0);
        Self { name: criterion.name.clone(), values, best }
    }
}

/// The best subset of each size.
#[derive(Debug, Clone, Serialize)]
pub struct SubsetSeries {
    /// Sizes.
    pub size: Vec<usize>,
    /// Objectives.
    pub objective: Vec<Option<f64>>,
    /// Bounds.
    pub bound: Vec<Option<f64>>,
    /// Whether proved best.
    pub optimal: Vec<bool>,
}

impl SubsetSeries {
    /// `None` without at least two sizes that have an objective.
    pub fn new(subsets: &[Subset]) -> Option<Self> {
        if subsets.iter().filter(|s| s.objective.is_finite()).count() < 2 {
            return None;
        }
        let kept = thin(subsets.len(), MOST_POINTS);
        let chosen = || kept.iter().map(|&k| &subsets[k]);
        Some(Self {
            size: chosen().map(|s| s.size).collect(),
            objective: chosen().map(|s| short(s.objective)).collect(),
            bound: chosen().map(|s| useful(s.objective, s.lower_bound)).collect(),
            optimal: chosen().map(|s| s.optimal).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathPoint;

    fn path(points: usize, features: usize) -> Path {
        let point = |k: usize| PathPoint {
            lambda0: 0.9f64.powi(k as i32),
            size: k.min(features),
            coefficients: (0..k.min(features)).map(|j| (features - 1 - j, 1.0 + j as f64)).collect(),
            ..PathPoint::default()
        };
        let features = (0..features).map(|j| format!("x{j}")).collect();
        Path { features, points: (0..points).map(point).collect(), ..Path::default() }
    }

    #[test]
    fn lines_come_in_the_order_of_entry_and_are_capped() {
        let made = PathSeries::new(&path(200, 100)).unwrap();
        assert_eq!((made.lines.len(), made.left_out), (MOST_LINES, 60));
        assert_eq!(made.lines[0].name, "x99");
        assert_eq!(made.lines[0].values[..3], [Some(0.0), Some(1.0), Some(1.0)]);
        assert!(PathSeries::new(&path(1, 1)).is_none());
    }

    #[test]
    fn a_long_path_is_thinned_and_keeps_the_chosen_point() {
        let mut long = path(2000, 3);
        long.chosen = Some(777);
        let made = PathSeries::new(&long).unwrap();
        assert!(made.lambda0.len() <= MOST_POINTS + 1);
        assert_eq!(made.lambda0[made.chosen.unwrap()], short(long.points[777].lambda0));
    }

    #[test]
    fn only_the_lambda2_of_the_chosen_point_is_drawn() {
        let mut both = path(5, 2);
        both.points.extend(path(4, 2).points.into_iter().map(|p| PathPoint { lambda2: 1.0, ..p }));
        both.chosen = Some(6);
        let made = PathSeries::new(&both).unwrap();
        assert_eq!((made.lambda0.len(), made.chosen, made.lambda2), (4, Some(1), Some(1.0)));
        // A point that came in later may stand anywhere: prices fall all the same.
        let late = PathPoint { lambda0: 0.95, lambda2: 1.0, size: 1, ..PathPoint::default() };
        both.points.insert(0, late);
        both.chosen = Some(0);
        let made = PathSeries::new(&both).unwrap();
        assert_eq!((made.lambda0.len(), made.chosen, made.lambda0[1]), (5, Some(1), Some(0.95)));
    }
}
