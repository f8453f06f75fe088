//! How well the model tells many classes apart.

use super::diagnostics::roc;
use crate::number::finite;
use crate::types::FITTED_ON;
use bestset::{class_probabilities, likeliest_classes};
use serde::{Deserialize, Serialize};

/// Predictions of one of many classes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassesFit {
    /// Which samples these are; "the samples it was fitted on" unless said otherwise.
    pub samples: String,
    /// How many samples the figures are of.
    pub count: usize,
    /// Share of right classes.
    #[serde(with = "finite")]
    pub accuracy: f64,
    /// Mean of −log of the probability given to what happened.
    #[serde(with = "finite")]
    pub log_loss: f64,
    /// The classes in their order, each against all others.
    pub classes: Vec<ClassFit>,
    /// How many samples of class k are taken for class l, at \[k\]\[l\].
    pub confusion: Vec<Vec<usize>>,
}

/// One class against all others.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassFit {
    /// Its name.
    pub name: String,
    /// (share of the others taken for it, share of it found), from (0, 0) to (1, 1), by its probability.
    pub roc: Vec<(f64, f64)>,
    /// Area under that curve; NaN where there are only samples of it, or none.
    #[serde(with = "finite")]
    pub auc: f64,
}

impl ClassesFit {
    /// From the class of every sample and the margins u_ki, one block of samples after the other for every name.
    pub fn new(labels: &[usize], margins: &[f64], names: &[String]) -> Self {
        let (n, count) = (labels.len(), names.len());
        let p = class_probabilities(margins, count);
        let mut confusion = vec![vec![0; count]; count];
        labels.iter().zip(likeliest_classes(margins, count)).for_each(|(&is, says)| confusion[is][says] += 1);
        let right: usize = (0..count).map(|k| confusion[k][k]).sum();
        let surprise = |i: usize| -p[labels[i] * n + i].max(1e-15).ln();
        let one = |(k, name): (usize, &String)| {
            let own: Vec<bool> = labels.iter().map(|y| *y == k).collect();
            let (roc, auc) = roc(&own, &p[k * n..(k + 1) * n]);
            ClassFit { name: name.clone(), roc, auc }
        };
        Self {
            samples: FITTED_ON.to_owned(),
            count: n,
            accuracy: right as f64 / n as f64,
            log_loss: (0..n).map(surprise).sum::<f64>() / n as f64,
            classes: names.iter().enumerate().map(one).collect(),
            confusion,
        }
    }

    /// The mean of the areas of the classes that have one, each counted once.
    pub fn mean_area(&self) -> f64 {
        let known: Vec<f64> = self.classes.iter().map(|c| c.auc).filter(|a| a.is_finite()).collect();
        known.iter().sum::<f64>() / known.len() as f64
    }

    /// Samples of a class.
    pub fn of_class(&self, k: usize) -> usize {
        self.confusion[k].iter().sum()
    }

    /// Samples taken for a class.
    pub fn taken_for(&self, k: usize) -> usize {
        self.confusion.iter().map(|row| row[k]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_classes_by_hand() {
        let names = ["a", "b", "c"].map(String::from);
        let chances = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.1, 0.1, 0.8f64]];
        let margins: Vec<f64> = (0..3).flat_map(|k| chances.map(|row| row[k].ln())).collect();
        let fit = ClassesFit::new(&[0, 1, 1, 2, 2], &margins, &names);
        assert_eq!(fit.confusion, [vec![1, 0, 0], vec![1, 1, 0], vec![0, 0, 2]]);
        assert_eq!((fit.accuracy, fit.of_class(1), fit.taken_for(0)), (0.8, 2, 2));
        let surprise = -(0.7f64.ln() + 0.5f64.ln() + 0.3f64.ln() + 0.7f64.ln() + 0.8f64.ln()) / 5.0;
        assert!((fit.log_loss - surprise).abs() < 1e-12);
        // Of the second class: 0.5 and 0.3 against 0.2, 0.2 and 0.1 of the others.
        assert_eq!(fit.classes.iter().map(|c| c.auc).collect::<Vec<_>>(), [1.0, 1.0, 1.0]);
        // A class that nobody has.
        let fit = ClassesFit::new(&[0, 0, 1, 0, 1], &margins, &names);
        assert!(fit.classes[2].auc.is_nan() && fit.classes[2].roc.is_empty());
        assert!((fit.mean_area() - (fit.classes[0].auc + fit.classes[1].auc) / 2.0).abs() < 1e-15);
    }
}
