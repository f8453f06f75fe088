//! The members of a node: the features that are not out of it, with all that is known of each.

/// What is decided about a feature in a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Open: it pays ρ.
    Free,
    /// In the model: its price λ0 is paid, its coefficient pays λ1 and λ2 only.
    In,
    /// Not in the model.
    Out,
}

/// Room for rounding in the budget Σθ_j ≤ 1 of MATH 11.20.
pub const BUDGET_ROUNDING: f64 = 1e-9;

/// One entry for each member in every vector: they grow and shrink through the methods only, all at once.
#[derive(Debug, Clone)]
pub struct Members {
    /// Position among the columns in memory.
    pub positions: Vec<usize>,
    /// In or free; after the optimality rules also out, until [`Members::drop_out`].
    pub choices: Vec<Choice>,
    /// Coefficients of the minimiser.
    pub beta: Vec<f64>,
    /// τ_j = x_jᵀα − d_jβ_j, the slope of the smooth part (MATH 11.8).
    pub tau: Vec<f64>,
    /// d_j: curvature that moved from the loss to the penalty (MATH 11.6).
    pub moved: Vec<f64>,
    /// σ_j: curvature left in the loss along the member alone (MATH 11.12).
    pub spare: Vec<f64>,
    /// θ_j: share of the budget that it uses (MATH 11.21). Free members with a share stay at zero.
    pub share: Vec<f64>,
}

impl Members {
    /// All at zero, with no curvature moved.
    pub fn new(positions: Vec<usize>, choices: Vec<Choice>) -> Self {
        let zeros = || vec![0.0; positions.len()];
        let (beta, tau, moved, spare, share) = (zeros(), zeros(), zeros(), zeros(), zeros());
        Self { positions, choices, beta, tau, moved, spare, share }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// One more, free and at zero.
    pub fn push_free(&mut self, position: usize) {
        self.positions.push(position);
        self.choices.push(Choice::Free);
        for values in [&mut self.beta, &mut self.tau, &mut self.moved, &mut self.spare, &mut self.share] {
            values.push(0.0);
        }
    }

    /// Leaves only those that are in or free.
    pub fn drop_out(&mut self) {
        let kept: Vec<bool> = self.choices.iter().map(|c| *c != Choice::Out).collect();
        fn retain<T>(values: &mut Vec<T>, kept: &[bool]) {
            let mut marks = kept.iter();
            values.retain(|_| *marks.next().unwrap_or(&false));
        }
        retain(&mut self.positions, &kept);
        retain(&mut self.choices, &kept);
        for values in [&mut self.beta, &mut self.tau, &mut self.moved, &mut self.spare, &mut self.share] {
            retain(values, &kept);
        }
    }

    /// |I|: how many are in the model.
    pub fn inside(&self) -> usize {
        self.choices.iter().filter(|c| **c == Choice::In).count()
    }

    /// Σ_I θ_j (MATH 11.20): what those in the model use of the budget.
    pub fn spent(&self) -> f64 {
        self.share.iter().zip(&self.choices).filter(|p| *p.1 == Choice::In).map(|p| p.0).sum()
    }

    /// Those that a minimisation may not leave out: their coefficients are not zero, or they are in the model.
    pub fn is_active(&self, a: usize) -> bool {
        self.beta[a] != 0.0 || self.choices[a] == Choice::In
    }

    /// The coefficients that are not zero, by position.
    pub fn nonzeros(&self) -> Vec<(u32, f64)> {
        let pairs = self.positions.iter().zip(&self.beta).filter(|p| *p.1 != 0.0);
        pairs.map(|(&k, &b)| (k as u32, b)).collect()
    }
}
