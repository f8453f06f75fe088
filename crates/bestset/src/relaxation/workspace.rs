//! The state both phases of the default solver work on: the active set with its model, the primal and dual point.

mod curvature;
mod newton;
mod room;

use crate::control::{Limits, Memory};
use crate::error::Result;
use crate::penalty::Coordinate;
use crate::problem::Problem;
use crate::relaxation::active_set::ActiveSet;
use crate::relaxation::augmented;
use crate::relaxation::descend;
use crate::relaxation::quadratic::{Gram, GramModel, Metric, Quadratic, ResidualModel, Trail};
use crate::relaxation::workspace::curvature::{StepCurvature, StepModel};
use crate::solution::Coefficients;
use std::collections::HashSet;
use std::sync::OnceLock;

/// The position of a feature that is not in the active set.
const OUTSIDE: u32 = u32::MAX;

/// The floor of curvatures at first.
const FLOOR: f64 = 1e-3;

/// Active set, coefficients on it, and the dual point they give.
#[derive(Clone)]
pub struct Workspace<'p, 'a> {
    /// The problem.
    pub problem: &'p Problem<'a>,
    /// The columns in play.
    pub active: ActiveSet,
    /// Position of each feature in the active set.
    position: Vec<u32>,
    /// Penalty of each active coefficient.
    pub coordinates: Vec<Coordinate>,
    /// The active coefficients.
    pub beta: Vec<f64>,
    /// The intercept, optimal for `beta` after [`Workspace::refresh`].
    pub intercept: f64,
    /// u = o + Xβ.
    pub margins: Vec<f64>,
    /// α = w ℓ′(u + b).
    pub alpha: Vec<f64>,
    /// Σ loss, once asked for.
    loss: OnceLock<f64>,
    metric: Metric,
    gram: Gram,
    trail: Trail,
    /// Smallest curvature assumed of a sample, relative to the largest possible: grown when Newton steps fail.
    floor: f64,
    memory: Memory,
}

/// What a workspace knows of its columns, whatever the penalty: the active set and its inner products.
pub struct Columns {
    active: ActiveSet,
    position: Vec<u32>,
    metric: Metric,
    gram: Gram,
    floor: f64,
    memory: Memory,
}

impl Columns {
    /// Whether feature j is among them.
    pub fn holds(&self, j: usize) -> bool {
        self.position[j] != OUTSIDE
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.active.len()
    }
}

impl<'p, 'a> Workspace<'p, 'a> {
    /// An empty active set at β = 0.
    pub fn new(problem: &'p Problem<'a>) -> Self {
        let active = ActiveSet::new(problem.design());
        let metric = Metric::new(&active, problem.weights(), problem.has_intercept());
        let (position, gram) = (vec![OUTSIDE; problem.ncols()], Gram::default());
        Self::with_columns(problem, Columns { active, position, metric, gram, floor: FLOOR, memory: Memory::default() })
    }

    /// The same with a limit on memory.
    pub fn within(self, memory: Memory) -> Self {
        Self { memory, ..self }
    }

    /// The same with the second derivative of the loss as it is, nothing of it floored: for steps next to a minimum.
    pub fn undamped(self) -> Self {
        Self { floor: 0.0, ..self }
    }

    /// The columns of another workspace at β = 0; its problem may differ in the penalty only.
    pub fn with_columns(problem: &'p Problem<'a>, columns: Columns) -> Self {
        let Columns { active, position, metric, gram, floor, memory } = columns;
        let coordinates: Vec<Coordinate> = active.features().iter().map(|&j| problem.coordinate(j)).collect();
        let mut workspace = Self {
            problem,
            position,
            beta: vec![0.0; coordinates.len()],
            coordinates,
            intercept: 0.0,
            margins: problem.null_margins(),
            alpha: vec![0.0; problem.nrows()],
            loss: OnceLock::new(),
            active,
            metric,
            gram,
            trail: Trail::default(),
            floor,
            memory,
        };
        workspace.refresh();
        workspace
    }

    /// The given positions alone, in their order, at coefficients of their own; no feature can be added to it.
    pub fn part(&self, positions: &[usize], beta: Vec<f64>, intercept: f64) -> Self {
        let active = self.active.select(positions);
        let metric = Metric::new(&active, self.problem.weights(), self.problem.has_intercept());
        let (gram, memory) = (Gram::default(), self.memory.clone());
        let columns = Columns { active, position: Vec::new(), metric, gram, floor: FLOOR, memory };
        let mut part = Self::with_columns(self.problem, columns);
        (part.beta, part.intercept) = (beta, intercept);
        part.refresh();
        part
    }

    /// Hands the columns on.
    pub fn into_columns(self) -> Columns {
        let Self { active, position, metric, gram, floor, memory, .. } = self;
        Columns { active, position, metric, gram, floor, memory }
    }

    /// Forgets what earlier minimisations left for later ones to start with, so that these do not depend on them.
    pub fn forget(&mut self) {
        (self.trail, self.floor) = (Trail::default(), FLOOR);
    }

    /// A workspace at the same point whose active set is the support alone.
    pub fn on_support(&self) -> Result<Self> {
        let mut support = Self { floor: self.floor, memory: self.memory.clone(), ..Self::new(self.problem) };
        support.load(&self.coefficients())?;
        Ok(support)
    }

    /// Position of feature j, if active.
    #[inline]
    pub fn position(&self, j: usize) -> Option<usize> {
        let k = self.position[j];
        (k != OUTSIDE).then_some(k as usize)
    }

    /// Adds a feature with coefficient zero; no change if it is there.
    pub fn include(&mut self, j: usize) -> Result<usize> {
        if let Some(k) = self.position(j) {
            return Ok(k);
        }
        self.include_all(&[j])?;
        Ok(self.active.len() - 1)
    }

    /// Adds features with coefficient zero, in one trip; those that are there stay as they are.
    pub fn include_all(&mut self, features: &[usize]) -> Result<()> {
        let before = self.active.len();
        let mut joining = Vec::with_capacity(features.len());
        for &j in features {
            if self.position[j] == OUTSIDE {
                self.position[j] = (before + joining.len()) as u32;
                joining.push(j);
            }
        }
        let read = self.active.extend(self.problem.design(), &joining);
        let (here, missing) = joining.split_at(self.active.len() - before);
        self.coordinates.extend(here.iter().map(|&j| self.problem.coordinate(j)));
        self.beta.resize(self.active.len(), 0.0);
        missing.iter().for_each(|&j| self.position[j] = OUTSIDE);
        read
    }

    /// Adds features in the order given, in one trip, until so many are there.
    pub fn include_until(&mut self, features: impl IntoIterator<Item = usize>, most: usize) -> Result<()> {
        let (room, mut seen) = (most.saturating_sub(self.active.len()), HashSet::new());
        let is_new = |j: &usize| self.position(*j).is_none() && seen.insert(*j);
        let joining: Vec<usize> = features.into_iter().filter(is_new).take(room).collect();
        self.include_all(&joining)
    }

    /// Drops the positions for which `keep` is false; their coefficients must be zero.
    pub fn retain(&mut self, keep: &[bool]) {
        let covered = self.gram.len();
        self.gram.retain(&keep[..covered]);
        self.metric.retain(keep);
        self.active.features().iter().for_each(|&j| self.position[j] = OUTSIDE);
        self.active.retain(keep);
        for (k, &j) in self.active.features().iter().enumerate() {
            self.position[j] = k as u32;
        }
        let mut marks = keep.iter();
        self.beta.retain(|_| *marks.next().unwrap_or(&false));
        let mut marks = keep.iter();
        self.coordinates.retain(|_| *marks.next().unwrap_or(&false));
    }

    /// Recomputes u, the optimal intercept and α from the coefficients.
    pub fn refresh(&mut self) {
        match self.problem.offset() {
            Some(offset) => self.margins.copy_from_slice(offset),
            None => self.margins.fill(0.0),
        }
        for k in 0..self.beta.len() {
            if self.beta[k] != 0.0 {
                self.active.axpy(k, self.beta[k], &mut self.margins);
            }
        }
        self.refresh_dual();
    }

    /// Recomputes the optimal intercept and α from u.
    fn refresh_dual(&mut self) {
        self.intercept = self.problem.best_intercept(&self.margins, self.intercept);
        self.problem.dual_point(&self.margins, self.intercept, &mut self.alpha);
        self.loss = OnceLock::new();
    }

    /// Σ loss at the current point.
    pub fn loss(&self) -> f64 {
        *self.loss.get_or_init(|| self.problem.loss_sum(&self.margins, self.intercept))
    }

    /// R at the current point.
    pub fn relaxation(&self) -> f64 {
        self.loss() + self.envelope()
    }

    fn envelope(&self) -> f64 {
        self.coordinates.iter().zip(&self.beta).map(|(c, &b)| c.envelope(b)).sum()
    }

    /// P at the current point.
    pub fn objective(&self) -> f64 {
        self.loss() + self.coordinates.iter().zip(&self.beta).map(|(c, &b)| c.value(b)).sum::<f64>()
    }

    /// Positions of the non-zero coefficients.
    pub fn support(&self) -> Vec<usize> {
        (0..self.beta.len()).filter(|&k| self.beta[k] != 0.0).collect()
    }

    /// The coefficients with feature indices.
    pub fn coefficients(&self) -> Coefficients {
        let pairs = self.active.features().iter().copied().zip(self.beta.iter().copied()).collect();
        Coefficients::from_pairs(pairs, self.intercept)
    }

    /// Moves to other coefficients, adding their features.
    pub fn load(&mut self, coefficients: &Coefficients) -> Result<()> {
        self.include_all(&coefficients.support)?;
        self.beta.fill(0.0);
        for (j, b) in coefficients.iter() {
            let k = self.position[j] as usize;
            self.beta[k] = b.clamp(self.coordinates[k].lower, self.coordinates[k].upper);
        }
        self.intercept = coefficients.intercept;
        self.refresh();
        Ok(())
    }

    /// X_Aᵀα.
    pub fn gradients(&self) -> Vec<f64> {
        (0..self.active.len()).map(|k| self.active.dot(k, &self.alpha)).collect()
    }

    /// X_Aᵀα as far as [`Workspace::minimise`] over the members asks for it: models of least squares carry all of them along, Newton
    /// steps have those of the members only.
    pub fn gradients_for(&self, members: &[usize]) -> Vec<f64> {
        if self.problem.loss().is_quadratic() {
            return self.gradients();
        }
        let mut gradients = vec![0.0; self.active.len()];
        members.iter().for_each(|&k| gradients[k] = self.active.dot(k, &self.alpha));
        gradients
    }

    /// The second derivative of the loss at the current point, its diagonal w ℓ″ kept away from zero (MATH 2.15).
    fn curvature(&self) -> StepCurvature {
        if let Some(coupled) = self.problem.coupled() {
            return StepCurvature::damped(coupled.curvature(&self.margins), self.floor);
        }
        let (loss, w, y) = (self.problem.loss(), self.problem.weights(), self.problem.y());
        let mut h = vec![0.0; self.margins.len()];
        loss.floored_curvatures(&self.margins, self.intercept, y, w, self.floor, &mut h);
        StepCurvature { diagonal: h, less: None, centred: self.problem.has_intercept() }
    }

    /// Q over the active set at the current point: kept for the squared loss, made anew for the others.
    pub fn gram(&mut self) -> std::borrow::Cow<'_, Gram> {
        let intercept = self.problem.has_intercept();
        if self.problem.loss().is_quadratic() {
            let h = self.problem.weights();
            self.metric.extend(&self.active, h, intercept);
            self.gram.extend(&self.active, h, &self.metric);
            return std::borrow::Cow::Borrowed(&self.gram);
        }
        std::borrow::Cow::Owned(self.curvature().gram(&self.active))
    }

    /// Q of the squared loss as the last [`Workspace::gram`] left it.
    pub fn kept_gram(&self) -> &Gram {
        &self.gram
    }

    /// Multiplications that the inner products which are not there yet take.
    pub(crate) fn gram_cost(&self) -> f64 {
        let (new, all) = ((self.active.len() - self.gram.len()) as f64, self.active.len() as f64);
        new * all * (self.active.stored() / self.active.len().max(1)) as f64
    }

    /// Runs `body` on the quadratic model of the loss over the whole active set; `gradients` are X_Aᵀα.
    fn on_loss<T>(
        &mut self,
        gradients: Vec<f64>,
        limits: &Limits,
        body: impl FnOnce(&mut dyn Quadratic, &mut [f64]) -> T,
    ) -> T {
        let mut beta = std::mem::take(&mut self.beta);
        let result = if self.prefers_gram(self.active.len()) && limits.has_time_for(self.gram_cost()) {
            body(&mut GramModel::new(&self.gram(), gradients), &mut beta)
        } else {
            let h = self.problem.weights();
            self.metric.extend(&self.active, h, self.problem.has_intercept());
            let trail = std::mem::take(&mut self.trail);
            let mut model = ResidualModel::new(&self.active, &self.metric, h, &self.alpha).on_trail(trail);
            let result = body(&mut model, &mut beta);
            self.trail = std::mem::take(model.trail());
            result
        };
        self.beta = beta;
        self.refresh();
        result
    }

    /// The quadratic model of the loss at the current point over the chosen positions only.
    fn model(&self, chosen: Vec<usize>) -> StepModel {
        let (columns, curvature) = (self.active.select(&chosen), self.curvature());
        let gram = self.prefers_gram(chosen.len()).then(|| curvature.gram(&columns));
        StepModel { chosen, columns, curvature, gram }
    }

    /// Runs `body` on a model, with the gradients at the current point; returns the change of its coefficients.
    fn on_model<T>(
        &self,
        model: &StepModel,
        gradients: &[f64],
        body: impl FnOnce(&mut dyn Quadratic, &mut [f64]) -> T,
    ) -> (Vec<f64>, T) {
        let start: Vec<f64> = model.chosen.iter().map(|&k| self.beta[k]).collect();
        let mut beta = start.clone();
        let result = if let Some(gram) = &model.gram {
            let slopes = model.chosen.iter().map(|&k| gradients[k]).collect();
            body(&mut GramModel::new(gram, slopes), &mut beta)
        } else {
            let h = Some(model.curvature.diagonal.as_slice());
            let metric = Metric::new(&model.columns, h, model.curvature.centred);
            body(&mut ResidualModel::new(&model.columns, &metric, h, &self.alpha), &mut beta)
        };
        beta.iter_mut().zip(&start).for_each(|(b, s)| *b -= s);
        (beta, result)
    }

    /// min over the `members` of Σ loss + Σ ρ with the penalties `coordinates`, until the gap shares of the members sum to
    /// `tolerance`. `gradients` are X_Aᵀα at the current point. Returns the work done in sweeps.
    pub fn minimise(
        &mut self,
        coordinates: &[Coordinate],
        members: &[usize],
        gradients: Vec<f64>,
        tolerance: f64,
        monitor: &Limits,
    ) -> usize {
        if !self.problem.loss().is_quadratic() {
            return self.newton(coordinates, members, gradients, tolerance, monitor);
        }
        self.trail = Trail::default();
        self.on_loss(gradients, monitor, |model, beta| {
            descend::minimise(model, coordinates, beta, members, tolerance, monitor).sweeps
        })
    }

    /// min R over the active set to `tolerance`, as [`Workspace::minimise`] does; but where the dual method was called for
    /// before, it goes on from there.
    pub fn relax(&mut self, gradients: Vec<f64>, tolerance: f64, monitor: &Limits) {
        let (coordinates, members) = (self.coordinates.clone(), (0..self.active.len()).collect::<Vec<_>>());
        if self.trail.dual.is_empty() || self.prefers_gram(members.len()) {
            self.minimise(&coordinates, &members, gradients, tolerance, monitor);
            return;
        }
        self.on_loss(gradients, monitor, |model, beta| {
            augmented::minimise(model, &coordinates, beta, &members, tolerance, monitor);
        });
    }

    /// The dual point at which the dual method of the last [`Workspace::relax`] ended, if there is one: its bound is better
    /// than that of α as long as R is not yet minimised.
    pub fn proof(&self) -> Option<Vec<f64>> {
        let mut dual = self.trail.dual.clone();
        self.problem.project(&mut dual);
        (!dual.is_empty()).then_some(dual)
    }

    /// Coordinate descent on P with the threshold operator T over the active set. For losses that are not quadratic, on
    /// their quadratic model, taken over only if P falls.
    pub fn threshold_descent(&mut self, monitor: &Limits) {
        let coordinates = self.coordinates.clone();
        let gradients = self.gradients();
        if self.problem.loss().is_quadratic() {
            let members: Vec<usize> = (0..self.active.len()).collect();
            return self.on_loss(gradients, monitor, |model, beta| {
                descend::threshold_descent(model, &coordinates, beta, &members, monitor);
            });
        }
        let before = (self.objective(), self.beta.clone(), self.intercept);
        let inside = |k: &usize| self.beta[*k] != 0.0 || gradients[*k].abs() > coordinates[*k].threshold(gradients[*k]);
        let chosen: Vec<usize> = (0..self.active.len()).filter(inside).collect();
        let penalties: Vec<Coordinate> = chosen.iter().map(|&k| coordinates[k]).collect();
        let all: Vec<usize> = (0..chosen.len()).collect();
        let step = self.model(chosen);
        let (d, ()) = self.on_model(&step, &gradients, |model, beta| {
            descend::threshold_descent(model, &penalties, beta, &all, monitor);
        });
        step.chosen.iter().zip(&d).for_each(|(&k, d)| self.beta[k] += d);
        self.refresh();
        if self.objective() > before.0 {
            (self.beta, self.intercept) = (before.1, before.2);
            self.refresh();
        }
    }
}
