//! Linearly dependent columns.
//!
//! When x̂_j = X̂_S b exactly, a subset that holds j and all of S fits no better than without any one of them: some best subset
//! of every size leaves one out. The subsets without the first of them, those with it but without the second, … are families with
//! one dependence less each; what is left when there is none is searched.

use crate::error::{Error, Result};
use crate::leaps::cell::Cell;
use crate::leaps::cover::{cover, determined};
use crate::leaps::equations::Equations;
use crate::problem::Problem;
use crate::problem::refit::{DEPENDENT, circuit};

/// More families than this are more than a few columns too many.
const MOST: usize = 256;

impl<'p, 'a> Equations<'p, 'a> {
    /// The equations for subsets of at most `most` features, with what rounding may do to their fits (MATH 11.34); an error when
    /// columns are nearly, but not exactly, combinations of others.
    pub fn new(problem: &'p Problem<'a>, most: usize) -> Result<Self> {
        let mut equations = Self::of_columns(problem)?;
        equations.separate(most)?;
        equations.measure()?;
        Ok(equations)
    }

    /// Finds the families of independent columns that hold a best subset of every size up to `most`, and what the others depend on.
    fn separate(&mut self, most: usize) -> Result<()> {
        // The columns that fit best first: families with them are small.
        let mut all: Vec<u32> = (0..self.len() as u32).collect();
        let pull = |k: &u32| self.moments[*k as usize].abs();
        let (mut done, mut open) = (Vec::new(), vec![Cell { inside: Vec::new(), free: all.clone() }]);
        if self.is_wide() {
            all.sort_by(|a, b| pull(b).total_cmp(&pull(a)).then(a.cmp(b)));
            open = cover(&all, determined(self.problem).saturating_sub(1), most);
        }
        let families = open.len();
        while let Some(cell) = open.pop() {
            let Some((j, others)) = self.dependent(&cell) else {
                done.push(cell);
                continue;
            };
            let circuit = self.circuit(j, &others)?;
            let mut features = self.features_of(&circuit);
            features.sort_unstable();
            if !self.dependent.contains(&features) {
                self.dependent.push(features.clone());
            }
            let choices: Vec<u32> = circuit.into_iter().filter(|k| cell.free.contains(k)).collect();
            if done.len() + open.len() + choices.len() > families + MOST {
                return Err(Error::Dependences { columns: features, most: MOST });
            }
            open.extend((0..choices.len()).rev().map(|i| cell.without(&choices, i)));
        }
        self.cells = done;
        Ok(())
    }

    /// A column that independent others determine as far as inner products can tell, and those others.
    pub fn dependent(&self, cell: &Cell) -> Option<(u32, Vec<u32>)> {
        let (mut members, mut others) = (cell.members(), Vec::new());
        let mut form = self.form(&members);
        while let Some(last) = form.len().checked_sub(1) {
            // The largest first: in any other order the rounding of a small one would be multiplied into all that follow.
            let largest = (0..last).fold(last, |a, k| if form.at(k, k) > form.at(a, a) { k } else { a });
            let share = form.at(largest, largest);
            if share.is_nan() || share <= DEPENDENT {
                return Some((members[largest], others));
            }
            members.swap(largest, last);
            others.extend(members.pop());
            form.swap_last(largest);
            form.eliminate_last();
        }
        None
    }

    fn features_of(&self, positions: &[u32]) -> Vec<usize> {
        positions.iter().map(|&k| self.features[k as usize]).collect()
    }

    /// Column j and the columns of which it is a combination, if it is one exactly: an error if not.
    pub fn circuit(&self, j: u32, others: &[u32]) -> Result<Vec<u32>> {
        let places = circuit(&self.term(j)?, &self.terms(others)?)?;
        Ok(std::iter::once(j).chain(places.into_iter().map(|a| others[a])).collect())
    }
}
