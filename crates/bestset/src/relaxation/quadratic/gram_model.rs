//! The model through its matrix Q of inner products: a step costs one column of Q, whatever the number of samples.

use crate::kernel;
use crate::relaxation::quadratic::{Gram, Quadratic, Trail};
use faer::MatMut;

/// L̃ held as its matrix and its gradient.
#[derive(Debug)]
pub struct GramModel<'a> {
    gram: &'a Gram,
    gradient: Vec<f64>,
    image: Vec<f64>,
    /// How far the dual point is from the point of departure, in coefficients, and the move prepared from it.
    away: Vec<f64>,
    direction: Vec<f64>,
    trail: Trail,
}

impl<'a> GramModel<'a> {
    /// The model whose gradient at the current point is `gradient`.
    pub fn new(gram: &'a Gram, gradient: Vec<f64>) -> Self {
        debug_assert_eq!(gram.len(), gradient.len());
        let (image, away, direction) = (vec![0.0; gradient.len()], Vec::new(), Vec::new());
        Self { gram, gradient, image, away, direction, trail: Trail::default() }
    }

    /// The gradient at the current point.
    pub fn gradients(&self) -> &[f64] {
        &self.gradient
    }

    /// image = Q · direction.
    fn project(&mut self) {
        self.image.fill(0.0);
        for (k, &x) in self.direction.iter().enumerate().filter(|p| *p.1 != 0.0) {
            kernel::axpy(x, self.gram.column(k), &mut self.image);
        }
    }
}

impl Quadratic for GramModel<'_> {
    fn len(&self) -> usize {
        self.gradient.len()
    }

    #[inline]
    fn curvature(&self, k: usize) -> f64 {
        self.gram.at(k, k)
    }

    #[inline]
    fn gradient(&self, k: usize) -> f64 {
        self.gradient[k]
    }

    #[inline]
    fn step(&mut self, k: usize, delta: f64) {
        kernel::axpy(delta, self.gram.column(k), &mut self.gradient);
    }

    fn solve(&mut self, members: &[usize], diagonal: &[f64], rhs: &[f64]) -> Option<Vec<f64>> {
        // Duplicated columns make Q_MM singular: a ridge at the level of rounding, on the scale of each column, picks one
        // solution.
        let ridge = |a: usize| 1e-13 * members.len() as f64 * self.gram.at(members[a], members[a]);
        let mut d = rhs.to_vec();
        let column = MatMut::from_column_major_slice_mut(&mut d, rhs.len(), 1);
        self.gram.solve(members, |a| diagonal[a] + ridge(a), column)?;
        d.iter().all(|x| x.is_finite()).then_some(d)
    }

    fn aim(&mut self, members: &[usize], d: &[f64]) -> f64 {
        self.direction.clear();
        self.image.fill(0.0);
        for (&k, &x) in members.iter().zip(d) {
            kernel::axpy(x, self.gram.column(k), &mut self.image);
        }
        members.iter().zip(d).map(|(&k, x)| x * self.image[k]).sum()
    }

    #[inline]
    fn image(&self, k: usize) -> f64 {
        self.image[k]
    }

    fn advance(&mut self, t: f64) {
        kernel::axpy(t, &self.image, &mut self.gradient);
        kernel::axpy(t, &self.direction, &mut self.away);
    }

    fn depart(&mut self) {
        self.away = vec![0.0; self.len()];
    }

    fn head(&mut self, members: &[usize], d: &[f64]) -> f64 {
        self.direction.clear();
        self.direction.extend(self.away.iter().map(|a| -a));
        members.iter().zip(d).for_each(|(&k, d)| self.direction[k] += d);
        self.project();
        kernel::dot(&self.direction, &self.image)
    }

    /// δ = (Id + Θ_MQ)⁻¹e (MATH 7.3) as e − (Θ⁻¹ + Q_MM)⁻¹(Qe)_M.
    fn damp(&mut self, members: &[usize], inverses: &[f64]) -> Option<(f64, f64)> {
        let rhs: Vec<f64> = members.iter().map(|&k| self.image[k]).collect();
        let w = self.solve(members, inverses, &rhs)?;
        let whole = std::mem::take(&mut self.image);
        self.image = vec![0.0; whole.len()];
        members.iter().zip(&w).for_each(|(&k, w)| self.direction[k] -= w);
        self.project();
        Some((kernel::dot(&self.direction, &whole), kernel::dot(&self.direction, &self.image)))
    }

    fn settle(&mut self, members: &[usize], d: &[f64]) {
        self.head(members, d);
        self.advance(1.0);
        self.direction.clear();
    }

    fn trail(&mut self) -> &mut Trail {
        &mut self.trail
    }
}
