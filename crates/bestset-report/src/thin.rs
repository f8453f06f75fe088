//! Fewer points than there are, where a page or a plot would show no difference.

/// At most `most` of `count` positions, evenly spread, the first and the last among them.
pub(crate) fn thin(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|k| (k as u128 * (count - 1) as u128 / (most - 1) as u128) as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_positions_are_spread_and_keep_the_ends() {
        assert_eq!(thin(3, 5), [0, 1, 2]);
        assert_eq!(thin(9, 3), [0, 4, 8]);
        assert_eq!(thin(usize::MAX, 2), [0, usize::MAX - 1]);
        assert!(thin(0, 2).is_empty());
    }
}
