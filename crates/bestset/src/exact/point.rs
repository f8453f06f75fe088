//! Answers out of a node: its minimiser, or what it is rounded to.

use crate::control::Limits;
use crate::exact::node::Choice;
use crate::exact::relax::{Ground, Relaxed};

impl Ground<'_, '_, '_> {
    /// Keeps the features in the model and the free ones charged at least half (or the k most charged), and fits them: a
    /// feasible point by position, with its P.
    pub fn round(&self, now: &Relaxed, limits: &Limits) -> (f64, Vec<(u32, f64)>) {
        let share = |a: usize| match now.choices[a] {
            Choice::In => 2.0,
            _ => self.coordinate(now, a).fraction(now.beta[a]),
        };
        let mut kept: Vec<usize> = (0..now.beta.len()).filter(|&a| now.beta[a] != 0.0 && share(a) > 0.0).collect();
        match self.size {
            Some(k) => {
                let key = |a: usize| (share(a), now.beta[a].abs());
                let larger = |a: &usize, b: &usize| {
                    let (x, y) = (key(*a), key(*b));
                    y.0.total_cmp(&x.0).then(y.1.total_cmp(&x.1)).then(a.cmp(b))
                };
                kept.sort_by(larger);
                kept.truncate(k);
                kept.sort_unstable();
            }
            None => kept.retain(|&a| share(a) >= 0.5),
        }
        let mut point = Relaxed { beta: vec![0.0; now.beta.len()], ..now.clone() };
        kept.iter().for_each(|&a| {
            point.beta[a] = now.beta[a];
            point.choices[a] = Choice::In;
        });
        self.refresh(&mut point);
        if !kept.is_empty() {
            let slopes = kept.iter().map(|&a| self.correlation(&point, a)).collect();
            self.minimise_on(&mut point, &kept, slopes, 1e-13 * now.value.abs(), limits);
            self.refresh(&mut point);
        }
        let own = point.members.iter().zip(&point.beta).map(|(&k, &b)| self.near.coordinates[k].value(b));
        (point.loss + own.sum::<f64>(), self.sparse(&point))
    }

    /// The non-zero coefficients by position.
    pub fn sparse(&self, now: &Relaxed) -> Vec<(u32, f64)> {
        let pairs = now.members.iter().zip(&now.beta).filter(|p| *p.1 != 0.0);
        pairs.map(|(&k, &b)| (k as u32, b)).collect()
    }

    /// The point of a node with nothing free, on all features in the model: those that the minimiser leaves at zero within its
    /// tolerance take a step of their own. Without them the point would be on another subset, and this one unseen.
    pub fn only_subset(&self, now: &Relaxed) -> Vec<(u32, f64)> {
        let problem = self.problem();
        let step = |a: usize| {
            let curvature = problem.squares(self.near.active.features()[now.members[a]]) / problem.loss().mu();
            self.near.coordinates[now.members[a]].prox_selected(curvature, -now.tau[a])
        };
        let value = |a: usize| if now.beta[a] != 0.0 { now.beta[a] } else { step(a) };
        (0..now.beta.len()).map(|a| (now.members[a] as u32, value(a))).filter(|p| p.1 != 0.0).collect()
    }
}
