//! Sweeps that tell of the features that matter, instead of p numbers: x_jᵀv where it reaches a limit.

use crate::design::{Check, Design, long_part};
use crate::error::Result;
use crate::kernel::each::chosen;

/// A feature whose correlation reaches the limit of its vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reaching {
    /// Which one.
    pub feature: u32,
    /// x_jᵀv as [`Design::correlate_roughly`] has it.
    pub value: f32,
}

/// The features, listed in ascending order, with |x_jᵀv| ≥ limit as [`Design::correlate_roughly`] has it, or with no number at all, for each
/// vector and its limit, ascending; with a question between the parts of a long pass.
pub fn reaching(
    design: &dyn Design,
    features: &[usize],
    vectors: &[&[f64]],
    limits: &[f64],
    check: Check<'_>,
) -> Result<Vec<Vec<Reaching>>> {
    let mut found = vec![Vec::new(); vectors.len()];
    let part = long_part(design, vectors.len());
    if design.reads_ahead() && features.len() > part {
        design.each_block(features, &mut |places, local, block| {
            if places.start > 0 {
                check()?;
            }
            let mut rough = vec![0.0; local.len() * vectors.len()];
            block.correlate_roughly(local, vectors, &mut rough)?;
            pick(&features[places], &rough, limits, &mut found);
            Ok(())
        })?;
        return Ok(found);
    }
    for (k, features) in features.chunks(part).enumerate() {
        if k > 0 {
            check()?;
        }
        match design.reaching(features, vectors, limits, None)? {
            Some(own) => found.iter_mut().zip(own).for_each(|(all, own)| all.extend(own)),
            None => {
                let mut rough = vec![0.0; features.len() * vectors.len()];
                design.correlate_roughly(features, vectors, &mut rough)?;
                pick(features, &rough, limits, &mut found);
            }
        }
    }
    Ok(found)
}

/// Adds the features whose rough correlations, the vectors of a feature side by side, reach the limits.
fn pick(features: &[usize], rough: &[f32], limits: &[f64], found: &mut [Vec<Reaching>]) {
    let count = limits.len();
    for (v, (limit, found)) in limits.iter().zip(found).enumerate() {
        found.extend(chosen(features.len(), |k| {
            let value = rough[k * count + v];
            // What is no number reaches every limit.
            let is_below = f64::from(value.abs()) < *limit;
            (!is_below).then_some(Reaching { feature: features[k] as u32, value })
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{normal, rng};
    use crate::design::{Dense, Standardized};

    #[test]
    fn what_reaches_the_limit_is_listed_and_nothing_else() {
        let (n, p, mut rng) = (30, 20_000, rng(3));
        let x: Vec<f32> = (0..n * p).map(|_| normal(&mut rng) as f32).collect();
        let vectors: Vec<Vec<f64>> = (0..3).map(|_| (0..n).map(|_| normal(&mut rng)).collect()).collect();
        let vectors: Vec<&[f64]> = vectors.iter().map(|v| v.as_slice()).collect();
        let dense = Dense::new(n, p, x).unwrap();
        let view = Standardized::new(&dense, vec![0.1; p], vec![2.0; p]).unwrap();
        let features: Vec<usize> = (0..p).filter(|j| j % 3 != 1).collect();
        for design in [&dense as &dyn Design, &view] {
            let mut rough = vec![0.0; features.len() * 3];
            design.correlate_roughly(&features, &vectors, &mut rough).unwrap();
            let limits = [f64::NEG_INFINITY, 6.0, f64::INFINITY];
            let found = reaching(design, &features, &vectors, &limits, &|| Ok(())).unwrap();
            for (v, limit) in limits.into_iter().enumerate() {
                let all = features.iter().enumerate().map(|(k, &j)| (j as u32, rough[3 * k + v]));
                let expected: Vec<(u32, u32)> = all
                    .filter(|(_, x)| x.is_nan() || f64::from(x.abs()) >= limit)
                    .map(|(j, x)| (j, x.to_bits()))
                    .collect();
                let found: Vec<(u32, u32)> = found[v].iter().map(|r| (r.feature, r.value.to_bits())).collect();
                assert_eq!(found, expected);
                assert!(v != 1 || found.len() > 100 && found.len() < p / 2);
            }
        }
    }
}
