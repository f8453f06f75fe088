//! Scores on samples left out: a curve over the number of features for each λ2.

use super::path::MOST_POINTS;
use super::short;
use crate::thin::thin;
use crate::{CrossValidation, CvPoint, Path};
use serde::Serialize;

/// The most λ2 drawn: more curves cannot be told apart.
const MOST_STRANDS: usize = 8;

/// Curves over the number of features.
#[derive(Debug, Clone, Serialize)]
pub struct CvSeries {
    /// Name of the score.
    pub metric: String,
    /// Whether the largest is best.
    pub higher_is_better: bool,
    /// Numbers of features, ascending: the same for all curves.
    pub size: Vec<usize>,
    /// The curves, λ2 ascending.
    pub strands: Vec<Strand>,
    /// (curve, place) of the best.
    pub best: Option<(usize, usize)>,
    /// (curve, place) of the sparsest within a standard error.
    pub one_se: Option<(usize, usize)>,
    /// (curve, place) of the reported model.
    pub chosen: Option<(usize, usize)>,
    /// λ2 that have no curve.
    pub left_out: usize,
    /// What the picture shows of the scores, from the lowest to the highest: curves that run away leave it.
    pub heights: Option<(f64, f64)>,
}

/// The scores with one λ2; nothing at sizes that no answer has.
#[derive(Debug, Clone, Serialize)]
pub struct Strand {
    /// λ2.
    pub lambda2: Option<f64>,
    /// Means.
    pub mean: Vec<Option<f64>>,
    /// Standard errors.
    pub error: Vec<Option<f64>>,
}

impl CvSeries {
    /// `None` without at least two sizes.
    pub fn new(cv: &CrossValidation, path: Option<&Path>) -> Option<Self> {
        let matching = path.filter(|path| path.points.len() == cv.points.len());
        let point = |k: Option<usize>| k.and_then(|k| cv.points.get(k)).filter(|p| p.mean.is_finite());
        let (best, one_se) = (point(Some(cv.best)), point(Some(cv.one_se)));
        let chosen = point(matching.and_then(|path| path.chosen));
        let wanted: Vec<&CvPoint> = [best, one_se, chosen].into_iter().flatten().collect();
        let (ridges, left_out) = ridges(cv, &wanted);
        let size = sizes(cv, &wanted);
        if size.len() < 2 {
            return None;
        }
        let strands: Vec<Strand> = ridges.iter().map(|&lambda2| Strand::new(cv, lambda2, &size)).collect();
        let place = |p: Option<&CvPoint>| {
            let p = p?;
            let strand = ridges.iter().position(|r| r.total_cmp(&p.lambda2).is_eq())?;
            Some((strand, size.binary_search(&p.size).ok()?)).filter(|at| strands[at.0].mean[at.1].is_some())
        };
        let (best, one_se, chosen) = (place(best), place(one_se), place(chosen));
        let (metric, higher_is_better) = (cv.metric.clone(), cv.higher_is_better);
        let mut made = Self { metric, higher_is_better, best, one_se, chosen, size, strands, left_out, heights: None };
        made.heights = made.heights();
        Some(made)
    }

    /// All of the curve of the model with its errors, and of the others what is no further off than it spans.
    fn heights(&self) -> Option<(f64, f64)> {
        let main = &self.strands[self.main()];
        let spans = main.mean.iter().zip(&main.error).filter_map(|(m, e)| Some(((*m)?, e.unwrap_or(0.0))));
        let ends = |r: (f64, f64), low: f64, high: f64| (r.0.min(low), r.1.max(high));
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let own = spans.fold(none, |r, (m, e)| ends(r, m - e, m + e));
        let room = own.1 - own.0;
        let near = |m: &&f64| (own.0 - room..=own.1 + room).contains(*m);
        let means = self.strands.iter().flat_map(|s| s.mean.iter().flatten()).filter(near);
        let shown = means.fold(own, |r, m| ends(r, *m, *m));
        (shown.0.is_finite() && shown.1.is_finite()).then_some(shown)
    }

    /// The curve that stands out: that of the reported model, or of the best.
    pub fn main(&self) -> usize {
        self.chosen.or(self.best).map_or(0, |at| at.0)
    }

    /// The curves that the picture shows nothing of.
    pub fn outside(&self) -> Vec<usize> {
        let seen = |m: &f64| self.heights.is_none_or(|h| (h.0..=h.1).contains(m));
        (0..self.strands.len()).filter(|&s| !self.strands[s].mean.iter().flatten().any(seen)).collect()
    }

    /// Marks of the points that matter, in words, each place once.
    #[cfg(feature = "plots")]
    pub fn marks(&self) -> Vec<((usize, usize), String)> {
        let known = [(self.best, "best"), (self.one_se, "1 SE"), (self.chosen, "this model")];
        let mut made: Vec<((usize, usize), String)> = Vec::new();
        for (at, word) in known.into_iter().filter_map(|(at, word)| Some((at?, word))) {
            match made.iter_mut().find(|mark| mark.0 == at) {
                Some(mark) => mark.1.push_str(&format!(", {word}")),
                None => made.push((at, word.to_owned())),
            }
        }
        made
    }
}

impl Strand {
    /// Answers of one size have one score, wherever on the path they are.
    fn new(cv: &CrossValidation, lambda2: f64, sizes: &[usize]) -> Self {
        let mut made = Self { lambda2: short(lambda2), mean: vec![None; sizes.len()], error: vec![None; sizes.len()] };
        for p in cv.points.iter().filter(|p| p.lambda2.total_cmp(&lambda2).is_eq()) {
            if let Ok(k) = sizes.binary_search(&p.size) {
                made.mean[k] = made.mean[k].or(short(p.mean));
                made.error[k] = made.error[k].or(short(p.standard_error));
            }
        }
        made
    }
}

/// The λ2 drawn, ascending, and how many are not: those of the points that matter, then those with the best scores.
fn ridges(cv: &CrossValidation, wanted: &[&CvPoint]) -> (Vec<f64>, usize) {
    let sign = if cv.higher_is_better { -1.0 } else { 1.0 };
    let mut all: Vec<f64> = cv.points.iter().map(|p| p.lambda2).collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|a, b| a.total_cmp(b).is_eq());
    let of = |p: &CvPoint, lambda2: f64| p.lambda2.total_cmp(&lambda2).is_eq();
    let least = |lambda2: f64| {
        let scores = cv.points.iter().filter(|p| of(p, lambda2) && p.mean.is_finite()).map(|p| sign * p.mean);
        scores.fold(f64::INFINITY, f64::min)
    };
    let total = all.len();
    let mut ranked: Vec<(bool, f64, f64)> =
        all.into_iter().map(|l| (!wanted.iter().any(|p| of(p, l)), least(l), l)).collect();
    ranked.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    ranked.truncate(MOST_STRANDS);
    let mut kept: Vec<f64> = ranked.into_iter().map(|r| r.2).collect();
    kept.sort_by(f64::total_cmp);
    let left_out = total - kept.len();
    (kept, left_out)
}

/// The sizes drawn, ascending, those of the points that matter among them.
fn sizes(cv: &CrossValidation, wanted: &[&CvPoint]) -> Vec<usize> {
    let mut all: Vec<usize> = cv.points.iter().map(|p| p.size).collect();
    all.sort_unstable();
    all.dedup();
    let mut kept: Vec<usize> = thin(all.len(), MOST_POINTS).into_iter().map(|k| all[k]).collect();
    kept.extend(wanted.iter().map(|p| p.size));
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(lambda2: f64, sizes: &[usize]) -> Vec<CvPoint> {
        let one = |&size: &usize| CvPoint {
            lambda0: 1.0,
            lambda2,
            size,
            mean: lambda2 + (size as f64 - 2.0).powi(2),
            standard_error: 0.1,
        };
        sizes.iter().map(one).collect()
    }

    #[test]
    fn curves_share_their_sizes_and_keep_their_places() {
        let points = [points(1.0, &[0, 1, 2, 2]), points(0.5, &[0, 2, 3])].concat();
        let cv = CrossValidation { points, best: 5, one_se: 1, ..CrossValidation::default() };
        let made = CvSeries::new(&cv, None).unwrap();
        assert_eq!(made.size, [0, 1, 2, 3]);
        assert_eq!(made.strands.iter().map(|s| s.lambda2).collect::<Vec<_>>(), [Some(0.5), Some(1.0)]);
        assert_eq!(made.strands[0].mean, [Some(4.5), None, Some(0.5), Some(1.5)]);
        assert_eq!(made.strands[1].mean, [Some(5.0), Some(2.0), Some(1.0), None]);
        assert_eq!((made.best, made.one_se, made.chosen, made.main()), (Some((0, 2)), Some((1, 1)), None, 0));
        let path = Path { points: vec![Default::default(); 7], chosen: Some(1), ..Path::default() };
        let made = CvSeries::new(&cv, Some(&path)).unwrap();
        assert_eq!((made.chosen, made.main()), (Some((1, 1)), 1));
        assert_eq!((made.heights, made.outside()), (Some((0.5, 5.1)), vec![]));
        let marks: Vec<String> = made.marks().into_iter().map(|m| m.1).collect();
        assert_eq!(marks, ["best", "1 SE, this model"]);
    }

    #[test]
    fn many_curves_and_sizes_are_cut_to_those_that_matter() {
        let mut all: Vec<CvPoint> = (0..20).flat_map(|k| points(f64::from(k), &[0, 1, 2])).collect();
        all.extend(points(19.0, &(3..900).collect::<Vec<_>>()));
        let cv = CrossValidation { best: 2, one_se: 58, points: all, ..CrossValidation::default() };
        let made = CvSeries::new(&cv, None).unwrap();
        let drawn: Vec<f64> = made.strands.iter().filter_map(|s| s.lambda2).collect();
        assert_eq!(drawn, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 19.0]);
        // The curve of the best spans 0 to 4, with its errors a little more: 19 is not among what is shown, 6 is.
        assert_eq!((made.outside(), made.heights), (vec![7], Some((-0.1, 8.0))));
        assert_eq!((made.left_out, made.size.len() <= MOST_POINTS + 2), (12, true));
        assert_eq!((made.best, made.one_se), (Some((0, made.size.binary_search(&2).unwrap())), Some((7, 1))));
        assert!(CvSeries::new(&CrossValidation::default(), None).is_none());
    }
}
