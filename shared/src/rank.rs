//! Reciprocal rank fusion: several orders of the same things become one.
//!
//! Source: Cormack, Clarke & Büttcher 2009, doi:10.1145/1571941.1572114, with their k = 60.

/// The constant where ranks are counted from 0: their k with ranks from 1.
pub const RRF_K: u32 = 61;

/// Returns what a thing at `rank`, from 0, of one order adds to its sum over all orders.
pub fn rank_weight(rank: usize) -> f64 {
    1.0 / (f64::from(RRF_K) + rank as f64)
}

/// Returns the places of scores above `floor` from the best to the worst, equal scores by place.
pub fn ranked_above(scores: &[f32], floor: f32) -> Vec<usize> {
    let above = |(place, score): (usize, &f32)| (*score > floor).then_some((place, *score));
    let mut order: Vec<(usize, f32)> = scores.iter().enumerate().filter_map(above).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.into_iter().map(|(place, _)| place).collect()
}

/// Returns the sum for each thing over orders, each of which lists places from the best to the
/// worst.
pub fn fused(count: usize, orders: &[Vec<usize>]) -> Vec<f32> {
    let mut sums = vec![0.0; count];
    for order in orders {
        for (rank, place) in order.iter().enumerate() {
            if let Some(sum) = sums.get_mut(*place) {
                *sum += rank_weight(rank) as f32;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_orders_know_comes_before_what_leads_one() {
        let words = ranked_above(&[0.9, 0.8, 0.0], 0.0);
        assert_eq!(words, [0, 1], "a score at the floor has no place");
        let meaning = ranked_above(&[0.0, 6.0, 7.0], 0.0);
        let sums = fused(3, &[words, meaning]);
        assert_eq!(ranked_above(&sums, 0.0), [1, 0, 2], "equal sums come by place");
        assert!((rank_weight(0) - 1.0 / 61.0).abs() < 1e-12);
    }
}
