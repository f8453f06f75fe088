//! Figure 2 of the paper: News20, 8 panels (MATH §8).

use super::{Data, Figure, Setting, simulation::SAMPLES};
use crate::Result;
use bestset_data::{Format, Matrix, ReadOptions, Table, read};
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// Rows of panels.
pub const FEATURES: [usize; 2] = [2000, 4000];
const CLASSES: f64 = 20.0;

/// Running time, P, duality gap and non-zeros over n for two p.
pub struct News20 {
    x: Matrix,
    labels: Vec<f64>,
}

impl News20 {
    /// Reads `news20.bz2`; `None` where it is not.
    pub fn open(directory: &Path) -> Result<Option<Self>> {
        let path = directory.join("news20.bz2");
        if !path.is_file() {
            return Ok(None);
        }
        let table = read(&path, &ReadOptions { format: Some(Format::Libsvm), ..ReadOptions::default() })?;
        let Table { numbers, label, .. } = table;
        let labels = label.ok_or_else(|| format!("{}: no labels", path.display()))?.values;
        Ok(Some(Self { x: numbers, labels }))
    }
}

impl Figure for News20 {
    fn name(&self) -> &'static str {
        "news20"
    }

    fn settings(&self) -> Vec<Setting> {
        settings()
    }

    fn replicates(&self, setting: &Setting) -> u64 {
        if setting.p == FEATURES[0] { 20 } else { 10 }
    }

    /// Rows and columns at random without replacement; the classes 1 to 20 mapped linearly to [−10, 10]. Most columns drawn
    /// are empty. The others are scaled to norm one: the paper does not say so, but its operator T is printed for such
    /// columns, and with counts as they are PrimDual ends far above all others.
    fn draw(&self, setting: &Setting, replicate: u64) -> Result<Data> {
        let mut rng = ChaCha8Rng::seed_from_u64(replicate);
        let mut rows = index::sample(&mut rng, self.x.rows(), setting.n).into_vec();
        let mut columns = index::sample(&mut rng, self.x.columns(), setting.p).into_vec();
        rows.sort_unstable();
        columns.sort_unstable();
        let x = subset(&self.x, &rows, &columns).ok_or("News20 must be stored sparse")?;
        let y = rows.iter().map(|&i| target(self.labels[i])).collect();
        Ok(Data { x, y, truth: None, replicate, seed: replicate })
    }
}

/// The settings, known also without the data.
pub fn settings() -> Vec<Setting> {
    let one = |p: usize, n: usize| Setting {
        name: format!("p{p}-n{n}"),
        snr: f64::NAN,
        rho: f64::NAN,
        n,
        p,
        lambda: [0.1, 0.15, 1.0],
        k: 300,
    };
    FEATURES.iter().flat_map(|&p| SAMPLES.iter().map(move |&n| one(p, n))).collect()
}

fn target(class: f64) -> f64 {
    -10.0 + 20.0 * (class - 1.0) / (CLASSES - 1.0)
}

/// Scales a column to norm one; an empty one stays empty.
fn normalise(entries: &mut [f64]) {
    let norm = entries.iter().map(|x| x * x).sum::<f64>().sqrt();
    entries.iter_mut().for_each(|x| *x /= norm);
}

/// These rows and columns, both ascending.
fn subset(x: &Matrix, rows: &[usize], columns: &[usize]) -> Option<Matrix> {
    let Matrix::Sparse { starts, indices, values, .. } = x else { return None };
    let (mut kept, mut places, mut entries) = (vec![0], Vec::new(), Vec::new());
    for &j in columns {
        for k in starts[j]..starts[j + 1] {
            if let Ok(row) = rows.binary_search(&(indices[k] as usize)) {
                places.push(row as u32);
                entries.push(values[k]);
            }
        }
        normalise(&mut entries[kept.last().copied().unwrap_or(0)..]);
        kept.push(entries.len());
    }
    Some(Matrix::Sparse { rows: rows.len(), starts: kept, indices: places, values: entries })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_columns_and_labels_are_picked_together() {
        let (starts, indices) = (vec![0, 2, 3, 3, 5], vec![0, 2, 1, 1, 2]);
        let x = Matrix::Sparse { rows: 3, starts, indices, values: vec![1.0, 2.0, 3.0, 4.0, 5.0] };
        let r = 5f64.sqrt();
        let picked = subset(&x, &[0, 2], &[0, 1, 3]).unwrap();
        assert_eq!((picked.rows(), picked.columns(), picked.stored()), (2, 3, 3));
        assert_eq!(
            [0, 1, 2].map(|j| picked.column(j).to_vec()),
            [vec![1.0 / r, 2.0 / r], vec![0.0, 0.0], vec![0.0, 1.0]]
        );
        assert_eq!((target(1.0), target(20.0)), (-10.0, 10.0));
        let news = News20 { x, labels: vec![1.0, 20.0, 1.0] };
        let setting = Setting { n: 2, p: 4, ..settings()[0].clone() };
        let data = news.draw(&setting, 3).unwrap();
        assert_eq!((data.x.rows(), data.x.columns(), data.y.len()), (2, 4, 2));
        assert_eq!(settings().len(), 10);
    }
}
