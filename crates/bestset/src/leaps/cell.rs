//! A part of all subsets: those with all of some columns and any of some others.

/// The subsets with all of `inside` and any of `free`.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Positions that are in.
    pub inside: Vec<u32>,
    /// Positions that may be in.
    pub free: Vec<u32>,
}

impl Cell {
    /// Number of columns.
    pub fn len(&self) -> usize {
        self.inside.len() + self.free.len()
    }

    /// All columns, those that are in last.
    pub fn members(&self) -> Vec<u32> {
        [&self.free[..], &self.inside].concat()
    }

    /// The subsets that have the first i of the choices but not the next.
    pub fn without(&self, choices: &[u32], i: usize) -> Self {
        let inside = [&self.inside[..], &choices[..i]].concat();
        let free = self.free.iter().copied().filter(|k| !choices[..=i].contains(k)).collect();
        Self { inside, free }
    }
}
