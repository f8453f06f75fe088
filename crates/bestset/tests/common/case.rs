//! A problem as tests hold it: plain numbers, the storage and views they are put into, and the library's problem on top.

use super::reference::Model;
use bestset::design::{ColumnSubset, Csc, Dense, Design, RowSubset, Standardized};
use bestset::{Coefficients, Loss, Penalty, Problem};

/// How the base matrix is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    Dense64,
    Dense32,
    Csc64,
    Csc32,
}

/// A base matrix, the views over it, the plain dense matrix they amount to, and what is asked of them.
#[derive(Debug, Clone)]
pub struct Case {
    pub store: Store,
    pub base: Vec<f64>,
    pub base_rows: usize,
    pub standard: Option<(Vec<f64>, Vec<f64>)>,
    pub rows: Option<Vec<usize>>,
    pub columns: Option<Vec<usize>>,
    pub n: usize,
    pub p: usize,
    /// What the views amount to, by columns.
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub loss: Loss,
    pub penalty: Penalty,
    pub weights: Option<Vec<f64>>,
    pub offset: Option<Vec<f64>>,
    pub intercept: bool,
    /// At most so many features.
    pub max_size: Option<usize>,
}

impl Case {
    /// A plain dense case of the squared loss.
    pub fn dense(n: usize, p: usize, x: Vec<f64>, y: Vec<f64>, penalty: Penalty) -> Self {
        let (loss, weights) = (Loss::Squared, None);
        Self {
            store: Store::Dense64,
            base: x.clone(),
            base_rows: n,
            standard: None,
            rows: None,
            columns: None,
            n,
            p,
            x,
            y,
            loss,
            penalty,
            weights,
            offset: None,
            intercept: false,
            max_size: None,
        }
    }

    /// The plain matrix as a design.
    pub fn matrix(&self) -> Dense<'static> {
        Dense::new(self.n, self.p, self.x.clone()).unwrap()
    }

    /// Column j of the plain matrix.
    pub fn col(&self, j: usize) -> &[f64] {
        &self.x[j * self.n..(j + 1) * self.n]
    }

    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// √(Σ w x_ij²).
    pub fn norm(&self, j: usize) -> f64 {
        self.col(j).iter().enumerate().map(|(i, x)| self.weight(i) * x * x).sum::<f64>().sqrt()
    }

    /// A coefficient of this size moves the margins by about one.
    pub fn typical_size(&self, j: usize) -> f64 {
        let norm = self.norm(j);
        if norm > 0.0 { (self.n as f64).sqrt() / norm } else { 1.0 }
    }

    /// The loss at β = 0 and b = 0: what rounding is relative to where an objective is the small rest of large terms.
    pub fn null_loss(&self) -> f64 {
        let model = self.model();
        model.loss_sum(&model.offset, 0.0)
    }

    /// P of MATH (1.1) in one loop; +∞ outside the bounds or beyond the size.
    pub fn objective(&self, coefficients: &Coefficients) -> f64 {
        let Coefficients { support, values, intercept } = coefficients;
        let inside = |(&j, &b): (&usize, &f64)| {
            let (lower, upper) = self.penalty.bounds.at(j);
            lower <= b && b <= upper
        };
        if self.max_size.is_some_and(|k| support.len() > k) || !support.iter().zip(values).all(inside) {
            return f64::INFINITY;
        }
        let (model, Penalty { lambda0, lambda1, lambda2, price, shrinkage, .. }) = (self.model(), &self.penalty);
        let term =
            |(&j, &b): (&usize, &f64)| price.at(j) * lambda0 + shrinkage.at(j) * (lambda1 * b.abs() + lambda2 * b * b);
        model.loss_sum(&model.margins(support, values), *intercept) + support.iter().zip(values).map(term).sum::<f64>()
    }

    /// Changes the plain matrix; the storage and views it was drawn with are gone.
    pub fn edit(&mut self, change: impl FnOnce(&mut [f64])) {
        let mut x = std::mem::take(&mut self.x);
        change(&mut x);
        self.replace(self.n, x);
    }

    /// The same on other rows or columns: plain and dense, without the views it was drawn with.
    pub fn replace(&mut self, n: usize, x: Vec<f64>) {
        (self.n, self.p, self.base_rows, self.base) = (n, x.len() / n, n, x.clone());
        (self.x, self.store, self.standard, self.rows, self.columns) = (x, Store::Dense64, None, None, None);
    }

    /// Every row as often as its weight, a whole number, says; also the row that each stands for.
    pub fn repeated(&self) -> (Self, Vec<usize>) {
        let count = |i: usize| self.weight(i) as usize;
        let source: Vec<usize> = (0..self.n).flat_map(|i| vec![i; count(i)]).collect();
        let by_rows = |of: &[f64]| -> Vec<f64> { source.iter().map(|&i| of[i]).collect() };
        let mut long = self.clone();
        long.replace(source.len(), (0..self.p).flat_map(|j| by_rows(self.col(j))).collect());
        (long.y, long.weights, long.offset) = (by_rows(&self.y), None, self.offset.as_deref().map(by_rows));
        (long, source)
    }

    /// The same, as the reference solver sees it.
    pub fn model(&self) -> Model<'_> {
        let weights: Vec<f64> = (0..self.n).map(|i| self.weight(i)).collect();
        let offset = self.offset.clone().unwrap_or_else(|| vec![0.0; self.n]);
        let (x, y, loss, intercept) = (&self.x, &self.y, self.loss, self.intercept);
        Model { n: self.n, p: self.p, x, y, weights, offset, loss, intercept }
    }

    /// Builds the design with its views and hands it over.
    pub fn with_design<T>(&self, run: impl FnOnce(&dyn Design) -> T) -> T {
        let (n, p) = (self.base_rows, self.base.len() / self.base_rows);
        let narrow = || self.base.iter().map(|&x| x as f32).collect::<Vec<f32>>();
        match self.store {
            Store::Dense64 => self.with_views(&Dense::new(n, p, self.base.as_slice()).unwrap(), run),
            Store::Dense32 => self.with_views(&Dense::new(n, p, narrow()).unwrap(), run),
            Store::Csc64 => {
                let (starts, rows, values) = compress(n, &self.base);
                self.with_views(&Csc::new(n, starts, rows, values).unwrap(), run)
            }
            Store::Csc32 => {
                let (starts, rows, values) = compress(n, &narrow());
                self.with_views(&Csc::new(n, starts, rows, values).unwrap(), run)
            }
        }
    }

    fn with_views<T>(&self, base: &dyn Design, run: impl FnOnce(&dyn Design) -> T) -> T {
        let standard = self.standard.clone().map(|(c, s)| Standardized::new(base, c, s).unwrap());
        let design = standard.as_ref().map_or(base, |s| s as &dyn Design);
        let rows = self.rows.clone().map(|rows| RowSubset::new(design, rows).unwrap());
        let design = rows.as_ref().map_or(design, |r| r as &dyn Design);
        let columns = self.columns.clone().map(|columns| ColumnSubset::new(design, columns).unwrap());
        run(columns.as_ref().map_or(design, |c| c as &dyn Design))
    }

    /// Builds the problem and hands it over.
    pub fn with_problem<T>(&self, run: impl FnOnce(&Problem<'_>) -> T) -> T {
        self.with_design(|design| run(&self.problem(design)))
    }

    /// The problem on a design that holds the plain matrix.
    pub fn problem<'a>(&'a self, design: &'a dyn Design) -> Problem<'a> {
        let problem = Problem::new(design, self.y.as_slice(), self.penalty.clone()).unwrap();
        let problem = problem.with_loss(self.loss).unwrap().with_intercept(self.intercept);
        let problem = match &self.weights {
            Some(w) => problem.with_weights(w.as_slice()).unwrap(),
            None => problem,
        };
        let problem = match &self.offset {
            Some(o) => problem.with_offset(o.as_slice()).unwrap(),
            None => problem,
        };
        sized(problem, self.max_size)
    }
}

/// At most k features, if there is a limit.
pub fn sized(problem: Problem<'_>, k: Option<usize>) -> Problem<'_> {
    match k {
        Some(k) => problem.with_max_size(k).unwrap(),
        None => problem,
    }
}

/// Compressed columns of a dense matrix by columns: starts, rows, values.
pub fn compress<T: Copy + Into<f64>>(n: usize, data: &[T]) -> (Vec<usize>, Vec<u32>, Vec<T>) {
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in data.chunks_exact(n) {
        for (i, &x) in column.iter().enumerate().filter(|(_, x)| (**x).into() != 0.0) {
            rows.push(i as u32);
            values.push(x);
        }
        starts.push(values.len());
    }
    (starts, rows, values)
}

/// The views applied entry by entry.
pub fn plain(
    base: &[f64],
    n: usize,
    standard: &Option<(Vec<f64>, Vec<f64>)>,
    rows: &Option<Vec<usize>>,
    columns: &Option<Vec<usize>>,
) -> Vec<f64> {
    let entry = |i: usize, j: usize| {
        let x = base[j * n + i];
        standard.as_ref().map_or(x, |(centre, scale)| (x - centre[j]) / scale[j])
    };
    let rows = rows.clone().unwrap_or_else(|| (0..n).collect());
    let columns = columns.clone().unwrap_or_else(|| (0..base.len() / n).collect());
    columns.iter().flat_map(|&j| rows.iter().map(move |&i| (i, j))).map(|(i, j)| entry(i, j)).collect()
}
