//! The root: one bound that puts most features out, whatever their number; the columns of the others come into memory.

use super::coherent::Opening;
use super::ground::{OpenNode, ProofTree};
use super::rules::{BoundTerm, PointSize, ProofRules};
use super::stream::Record;
use super::{all_free, check_curvature, lemma};
use crate::control::Monitor;
use crate::error::{Error, Result};
use crate::exact::node::{Choice, Members, NodeRelaxation};
use crate::exact::seed::Seed;
use crate::solution::Coefficients;

/// The root's bound: where it is taken, and what it says of every feature.
struct RootBound {
    beta: Coefficients,
    price: f64,
    dual: f64,
    margin: f64,
    size: PointSize,
    tau: Vec<f64>,
}

impl ProofTree<'_, '_, '_> {
    /// What the root's bound leaves open, or coherence where that leaves less.
    pub fn root(&mut self, monitor: &mut Monitor<'_>) -> Result<Opening> {
        let problem = self.ground.setting.problem;
        if self.claim.bound <= 0.0 && problem.loss().is_quadratic() {
            // No P is negative: fits that are to reach nothing do.
            self.out.record(Record::Fit)?;
            self.out.flag(true)?;
            return Ok(Opening::Closed);
        }
        let choices = all_free(problem);
        let all: Vec<usize> = (0..choices.len()).filter(|&j| choices[j] == Choice::Free).collect();
        if !self.has_ridge() {
            self.check_quadratic()?;
            self.bring_near(&all)?;
            let mut node = self.node(&all, &Coefficients::default(), 0.0)?;
            if let Some(opening) = self.open_by_coherence(monitor)? {
                return Ok(opening);
            }
            if self.close_by_fits(&node, monitor.limits())? {
                return Ok(Opening::Closed);
            }
            check_curvature(self.ground.setting.problem)?;
            return match lemma::make_ridge(&self.ground.context(), &mut node, self.faults.curvature, monitor.limits()) {
                true => Ok(Opening::Node(Box::new(OpenNode { node, lemma: None }))),
                false => Err(Error::Unused {
                    setting: "lambda2 = 0".to_owned(),
                    place: "with a proof file here",
                    advice: "columns are combinations of each other, or more than samples; set lambda2 > 0, or leave the proof file out",
                }),
            };
        }
        let seed = Seed::new(&self.ground.setting, monitor)?;
        let found = self.root_bound(seed.root.minimiser, seed.multiplier, &all)?;
        let rules = self.rules();
        let close = found.dual - found.margin + self.faults.close >= rules.bound;
        if !close && let Some(opening) = self.open_by_coherence(monitor)? {
            return Ok(opening);
        }
        self.write_point(&found)?;
        self.out.flag(close)?;
        if close {
            return Ok(Opening::Closed);
        }
        let kept: Vec<usize> =
            all.into_iter().enumerate().filter(|(k, j)| !self.is_out(&rules, &found, *k, *j)).map(|p| p.1).collect();
        self.out.features(&[])?;
        self.out.flag(true)?;
        self.out.features(&kept)?;
        self.bring_near(&kept)?;
        let node = self.node(&kept, &found.beta, found.price)?;
        Ok(Opening::Node(Box::new(OpenNode { node, lemma: None })))
    }

    /// Without a ridge there is curvature to take it from only in the squared loss.
    fn check_quadratic(&self) -> Result<()> {
        match self.ground.setting.problem.loss().is_quadratic() {
            true => Ok(()),
            false => Err(Error::Unused {
                setting: "lambda2 = 0".to_owned(),
                place: "with a proof file and this loss",
                advice: "set lambda2 > 0, or leave the proof file out",
            }),
        }
    }

    /// D of (11.1) with all features open at the dual point of β, with λ0 + ν for each and νk paid back.
    fn root_bound(&self, beta: Coefficients, price: f64, all: &[usize]) -> Result<RootBound> {
        let (problem, size) = (self.ground.setting.problem, self.ground.setting.size);
        let price = if size.is_some() && price > 1e-60 { price } else { 0.0 };
        let margins = problem.margins(&beta)?;
        let intercept = problem.best_intercept(&margins, beta.intercept);
        let (mut alpha, mut tau) = (vec![0.0; margins.len()], vec![0.0; all.len()]);
        problem.dual_point(&margins, intercept, &mut alpha);
        problem.design().correlate(all, &alpha, &mut tau)?;
        let back = size.map_or(0.0, |k| (1.0 - self.faults.price) * price * k as f64);
        let coordinate = |k: usize| problem.coordinate(all[k]).priced(price);
        let dual = self.ground.bounds.dual_value_with(&alpha, all, &tau, coordinate) - back;
        let size = PointSize::new(problem, &alpha, problem.loss_sum(&margins, intercept));
        let dense = beta.to_dense(problem.ncols());
        let term = |k: usize| BoundTerm {
            length: self.ground.bounds.square(all[k]).sqrt(),
            penalty: coordinate(k),
            beta: dense[all[k]],
            tau: tau[k],
        };
        let margin = self.rules().margin_of((0..all.len()).map(term), problem.nrows(), size, dual);
        Ok(RootBound { beta, price, dual, margin, size, tau })
    }

    fn write_point(&mut self, found: &RootBound) -> Result<()> {
        self.out.record(Record::Bound)?;
        self.out.sparse(found.beta.iter().collect())?;
        self.out.flag(false)?;
        self.out.real(found.price)
    }

    /// Whether V − Ψ_j + φ_j ≥ B for the feature j at place k.
    fn is_out(&self, rules: &ProofRules<'_>, found: &RootBound, k: usize, j: usize) -> bool {
        let problem = self.ground.setting.problem;
        let tau = found.tau[k];
        let off = rules.slope_error(problem.nrows(), self.ground.bounds.square(j).sqrt(), found.size, tau);
        let phi = problem.coordinate(j).priced(found.price).phi(tau + off.copysign(tau));
        found.dual - found.margin + phi.max(0.0) + self.faults.out >= rules.bound
    }

    /// The columns of these features come into memory.
    pub(super) fn bring_near(&mut self, features: &[usize]) -> Result<()> {
        let most = self.ground.near.most_columns(2);
        if features.len() > most {
            let reason = format!("{} features stay open, memory has room for {most}: allow it more", features.len());
            return Err(Error::File { what: "proof", reason });
        }
        self.ground.near.include_all(features)
    }

    /// A node with these features open, from β; their columns are in memory.
    pub(super) fn node(&mut self, features: &[usize], beta: &Coefficients, price: f64) -> Result<NodeRelaxation> {
        let ground = &mut self.ground;
        ground.near.intercept = beta.intercept;
        ground.core.include_all(&beta.support)?;
        ground.core.gram();
        let positions: Vec<usize> = features.iter().filter_map(|&j| ground.near.position(j)).collect();
        let mut members = Members::new(positions, vec![Choice::Free; features.len()]);
        let dense = beta.to_dense(ground.setting.problem.ncols());
        features.iter().zip(&mut members.beta).for_each(|(&j, b)| *b = dense[j]);
        Ok(NodeRelaxation {
            members,
            intercept: beta.intercept,
            alpha: vec![0.0; ground.setting.problem.nrows()],
            multiplier: price,
            inherited: None,
            loss: f64::NAN,
            value: f64::NAN,
            owed: 0.0,
            dual: f64::NEG_INFINITY,
            bound: f64::NEG_INFINITY,
            stale: false,
        })
    }
}
