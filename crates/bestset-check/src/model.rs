//! The columns as the problem has them, with bounds on what rounding has done to them (PROOF, "The problem").

use crate::Failed;
use crate::header::Header;
use crate::loss::Loss;
use crate::round::{dot, down, gamma, is_usable, up};
use crate::sha256::{Sha256, hex};
use crate::table::Table;
use std::cell::Cell;

/// x̃_j = (x_j − c_j)/s_j and ỹ = y − o − c, rounded (classes, counts and their offsets as they are); every norm is the weighted one, every bound is at least what it bounds.
pub struct Model {
    n: usize,
    columns: Vec<f64>,
    /// The loss.
    pub loss: Loss,
    /// ỹ.
    pub y: Vec<f64>,
    /// Offsets of classes and counts; in ỹ otherwise.
    offset: Option<Vec<f64>>,
    /// At least ‖o‖ of these.
    pub offset_norm: f64,
    /// Where the last search for an intercept ended: a start for the next, nothing else.
    pub last_intercept: Cell<f64>,
    weights: Option<Vec<f64>>,
    /// Whether columns and targets are centred (H of PROOF).
    pub intercept: bool,
    /// At least ‖x̃_j‖, and that of its rounded entries.
    pub norms: Vec<f64>,
    /// At least √W|mean of x̃_j|.
    pub means: Vec<f64>,
    /// At least ‖ỹ‖.
    pub y_norm: f64,
    /// At least the norm of what rounding did to ỹ.
    pub y_error: f64,
    /// At most √W, W = Σw.
    root: f64,
    /// γ of n products of up to three numbers, with what rounding did to the entries.
    pub gamma: f64,
}

impl Model {
    /// Reads the columns that the proof speaks of, compares their hash, centres and scales them. A target in a file of its own is
    /// that file's only column.
    pub fn new(header: &Header, data: &Table, target: Option<&Table>) -> Result<Self, Failed> {
        let n = header.n;
        if data.rows() != n {
            return Err(format!("the proof is of {n} rows, the data has {}", data.rows()).into());
        }
        if n == 0 || n >= 1 << 40 {
            return Err(format!("{n} rows cannot be checked").into());
        }
        let own = |name: &String| -> Result<Option<Vec<f64>>, Failed> {
            if name.is_empty() {
                return Ok(None);
            }
            data.numbers(data.find(std::slice::from_ref(name))?[0]).map(Some).map_err(Failed::Unread)
        };
        let y = match target {
            Some(table) if table.rows() == n && table.columns() == 1 => table.numbers(0).map_err(Failed::Unread)?,
            Some(table) => {
                let (rows, columns) = (table.rows(), table.columns());
                return Err(Failed::Unread(format!(
                    "the target has {rows} rows and {columns} columns, not {n} and one"
                )));
            }
            None => own(&header.target)?
                .ok_or_else(|| Failed::Unread("the proof names no target: give it as --target FILE".to_owned()))?,
        };
        // A target that is its own feature would be explained by it.
        if target.is_none() && data.find(&header.names)?.contains(&data.find(std::slice::from_ref(&header.target))?[0])
        {
            return Err(format!("{:?} is the target and a feature", header.target).into());
        }
        let (weights, offset) = (own(&header.weights)?, own(&header.offset)?);
        let total = weights.as_ref().map_or(n as f64, |w| w.iter().sum());
        let are_usable = |v: &[f64]| v.iter().all(|x| is_usable(*x));
        if let Some(w) = &weights
            && !(are_usable(w) && w.iter().all(|w| *w >= 0.0) && total > 0.0)
        {
            return Err("weights must be zero or between 1e-60 and 1e60, and one above zero".into());
        }
        let gamma = gamma(n + 16);
        let root = down(down(total * (1.0 - 2.0 * gamma)).sqrt());
        let mut model = Self {
            n,
            columns: Vec::new(),
            loss: header.loss,
            y: Vec::new(),
            offset: None,
            offset_norm: 0.0,
            last_intercept: Cell::new(0.0),
            weights,
            intercept: header.intercept,
            norms: Vec::new(),
            means: Vec::new(),
            y_norm: 0.0,
            y_error: 0.0,
            root,
            gamma,
        };
        model.load(header, data, &y, offset.as_deref())?;
        Ok(model)
    }

    /// Columns as they are, without weights, intercept and targets.
    #[cfg(test)]
    pub fn of_columns(columns: &[Vec<f64>]) -> Self {
        let n = columns[0].len();
        let mut model = Self {
            n,
            columns: columns.concat(),
            loss: Loss::Squared,
            y: vec![0.0; n],
            offset: None,
            offset_norm: 0.0,
            last_intercept: Cell::new(0.0),
            weights: None,
            intercept: false,
            norms: Vec::new(),
            means: vec![0.0; columns.len()],
            y_norm: 0.0,
            y_error: 0.0,
            root: down((n as f64).sqrt()),
            gamma: gamma(n + 16),
        };
        model.norms = columns.iter().map(|c| model.norm(c)).collect();
        model
    }

    fn load(&mut self, header: &Header, data: &Table, y: &[f64], offset: Option<&[f64]>) -> Result<(), Failed> {
        let (n, p) = (self.n, header.p());
        let mut hash = Sha256::default();
        hash.update(b"bestset data 1");
        [n, p].iter().for_each(|count| hash.update(&(*count as u64).to_le_bytes()));
        for (j, place) in data.find(&header.names)?.into_iter().enumerate() {
            let mut column = data.numbers(place).map_err(Failed::Unread)?;
            hash.update(&digest(&column));
            self.centre(&mut column);
            let scale = header.scales.as_ref().map_or(1.0, |s| s[j]);
            column.iter_mut().for_each(|x| *x /= scale);
            usable(&column, &header.names[j])?;
            self.norms.push(self.norm(&column));
            self.means.push(self.mean_bound(&column));
            self.columns.extend(column);
        }
        let parts = [Some(y), self.weights.as_deref(), offset];
        for part in parts {
            hash.update(&[u8::from(part.is_some())]);
            part.iter().for_each(|part| hash.update(&digest(part)));
        }
        let found = hash.finish();
        if found != header.hash {
            return Err(format!(
                "the proof is of other data: SHA-256 {} there, {} here",
                hex(&header.hash),
                hex(&found)
            )
            .into());
        }
        match self.loss.is_of_difference() {
            true => Ok(self.targets(y, offset)?),
            false => Ok(self.counts(y, offset)?),
        }
    }

    /// ỹ. Two roundings: of y − o, and of what is left less its mean.
    fn targets(&mut self, y: &[f64], offset: Option<&[f64]>) -> Result<(), String> {
        let mut target: Vec<f64> = y.to_vec();
        offset.iter().for_each(|o| target.iter_mut().zip(*o).for_each(|(y, o)| *y -= o));
        let before = if offset.is_some() { self.norm(&target) } else { 0.0 };
        self.centre(&mut target);
        usable(&target, "the target")?;
        self.y_norm = self.norm(&target);
        self.y_error = up(crate::round::U * up(before + self.y_norm) * 2.0);
        self.y = target;
        Ok(())
    }

    /// y as it is, classes, counts or amounts, and offsets.
    fn counts(&mut self, y: &[f64], offset: Option<&[f64]>) -> Result<(), String> {
        usable(y, "the target")?;
        if let Some(i) = y.iter().position(|y| !self.loss.has_target(*y)) {
            let wanted = if self.loss.is_classification() { "-1 and 1" } else { "counts or amounts" };
            return Err(format!("row {}: the target is {}, and the loss wants {wanted}", i + 1, y[i]));
        }
        self.y = y.to_vec();
        if let Some(offset) = offset {
            usable(offset, "the offsets")?;
            (self.offset, self.offset_norm) = (Some(offset.to_vec()), self.norm(offset));
        }
        Ok(())
    }

    /// Takes about its mean from a column, where there is an intercept: any number would leave the problem as it is.
    pub fn centre(&self, column: &mut [f64]) {
        if self.intercept {
            let total = self.weights.as_ref().map_or(self.n as f64, |w| w.iter().sum());
            // The intercept takes up any constant: of a constant column nothing is left, where a rounded mean would leave its rounding.
            let first = column.first().copied().unwrap_or(0.0);
            let is_constant = column.iter().all(|x| *x == first);
            let mean = if is_constant { first } else { self.sum(column) / total };
            column.iter_mut().for_each(|x| *x -= mean);
        }
    }

    /// o of a sample, where it is not in ỹ.
    pub fn offset_of(&self, i: usize) -> f64 {
        self.offset.as_ref().map_or(0.0, |o| o[i])
    }

    /// w of a sample.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// v of [`Loss::slope`] at β = 0, without an intercept: −ỹ, or offsets where y is as it is.
    pub fn start(&self) -> Vec<f64> {
        match self.loss.is_of_difference() {
            true => self.y.iter().map(|y| -y).collect(),
            false => (0..self.n).map(|i| self.offset_of(i)).collect(),
        }
    }

    /// Σ w_ia_i.
    pub fn sum(&self, a: &[f64]) -> f64 {
        self.weights.as_ref().map_or_else(|| a.iter().sum(), |w| dot(w, a))
    }

    /// w ∘ a.
    pub fn weighted(&self, a: &[f64]) -> Vec<f64> {
        self.weights.as_ref().map_or_else(|| a.to_vec(), |w| a.iter().zip(w).map(|(a, w)| a * w).collect())
    }

    /// At least ‖a‖, and 8u more of it.
    pub fn norm(&self, a: &[f64]) -> f64 {
        let square = dot(a, &self.weighted(a));
        up(up(square * (1.0 + 4.0 * self.gamma)).sqrt() * (1.0 + 8.0 * crate::round::U))
    }

    /// At least √W|mean of a|, and of a with entries off by 4u of themselves.
    pub fn mean_bound(&self, a: &[f64]) -> f64 {
        match self.intercept {
            true => up(up(self.sum(a).abs() / self.root) + up(self.gamma * self.norm(a))),
            false => 0.0,
        }
    }

    /// The length of all columns that are not constant, where it is one: for the sentence, not for the proof.
    pub fn length(&self) -> Option<f64> {
        let longest = self.norms.iter().copied().fold(0.0, f64::max);
        let is_it = |length: &f64| (*length - longest).abs() <= 1e-9 * longest || *length <= 1e-9 * longest;
        self.norms.iter().all(is_it).then_some(longest)
    }

    /// x̃_j.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.columns[j * self.n..(j + 1) * self.n]
    }
}

/// SHA-256 of the numbers, each as eight bytes, the lowest first.
fn digest(numbers: &[f64]) -> [u8; 32] {
    let mut hash = Sha256::default();
    numbers.iter().for_each(|x| hash.update(&x.to_le_bytes()));
    hash.finish()
}

fn usable(column: &[f64], name: &str) -> Result<(), String> {
    match column.iter().position(|x| !is_usable(*x)) {
        None => Ok(()),
        Some(i) => {
            let x = column[i];
            Err(format!(
                "row {}, {name:?}: {x:e} once centred and scaled is neither 0 nor between 1e-60 and 1e60",
                i + 1
            ))
        }
    }
}
