//! Axes that stand one after the other in one array (x, y, z, x, y, z, …) that is read as one
//! channel.
//!
//! Used where nothing states how an array is laid out. Invariant: it only says what the numbers
//! look like; the caller refuses, and names what decides.

/// Axes of the sensors that people have: three of acceleration, or these and three of rotation.
const AXES: [usize; 2] = [3, 6];

/// Fewest samples of each axis in a part; below, chance makes axes of noise.
const LEAST: usize = 20;

/// Parts in which the same axes have to differ in the same way.
const PARTS: usize = 4;

/// How far the means of two axes lie apart, as a share of their usual deviation, and how many times
/// the deviation of one is that of another. Chosen: gravity on one axis is 1 g beside some 0.1 g of
/// vibration, axial and radial vibration differ by a half and more, and noise of 2,560 samples by
/// 0.1 and 1.1.
const APART: (f64, f64) = (0.5, 1.5);

/// Returns how many axes stand in the samples one after the other; `None` if there is only one.
pub(super) fn axes_in_one(samples: &[f64]) -> Option<usize> {
    AXES.into_iter().find(|axes| {
        let frames = samples.len() / axes / PARTS;
        samples.len().is_multiple_of(*axes) && frames >= LEAST && differ(samples, *axes, frames)
    })
}

fn differ(samples: &[f64], axes: usize, frames: usize) -> bool {
    let parts: Vec<Vec<(f64, f64)>> = samples
        .chunks_exact(frames * axes)
        .take(PARTS)
        .map(|part| (0..axes).map(|axis| levels(part, axis, axes)).collect())
        .collect();
    let mean_differs = same_in_all(&parts, |part| {
        let mut deviations: Vec<f64> = part.iter().map(|(_, deviation)| *deviation).collect();
        deviations.sort_by(f64::total_cmp);
        let usual = deviations[deviations.len() / 2];
        let (least, most) = ends(part, |(mean, _)| *mean);
        (part[most].0 - part[least].0 > APART.0 * usual).then_some((least, most))
    });
    let deviation_differs = same_in_all(&parts, |part| {
        let (least, most) = ends(part, |(_, deviation)| *deviation);
        (part[most].1 > APART.1 * part[least].1).then_some((least, most))
    });
    mean_differs || deviation_differs
}

/// Returns the mean of every `axes`-th sample, and the mean distance of these samples from it.
fn levels(part: &[f64], axis: usize, axes: usize) -> (f64, f64) {
    let own = || part.iter().skip(axis).step_by(axes).copied();
    let count = own().count().max(1) as f64;
    let mean = own().sum::<f64>() / count;
    (mean, own().map(|sample| (sample - mean).abs()).sum::<f64>() / count)
}

/// The places of the least and the greatest.
fn ends(part: &[(f64, f64)], of: impl Fn(&(f64, f64)) -> f64) -> (usize, usize) {
    let mut order: Vec<usize> = (0..part.len()).collect();
    order.sort_by(|a, b| of(&part[*a]).total_cmp(&of(&part[*b])));
    (order[0], order[order.len() - 1])
}

/// Whether two axes differ in every part, and the one at the same end is the same in all of them:
/// of three axes two may well be alike.
fn same_in_all(
    parts: &[Vec<(f64, f64)>],
    differ: impl Fn(&[(f64, f64)]) -> Option<(usize, usize)>,
) -> bool {
    let found: Option<Vec<(usize, usize)>> = parts.iter().map(|part| differ(part)).collect();
    let Some(found) = found.filter(|found| found.len() == PARTS) else { return false };
    let is_same = |of: fn(&(usize, usize)) -> usize| {
        found.windows(2).all(|pair| of(&pair[0]) == of(&pair[1]))
    };
    is_same(|ends| ends.0) || is_same(|ends| ends.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a vibration with noise, of `count` samples.
    fn signal(count: usize, amplitude: f64, seed: u32) -> Vec<f64> {
        let mut state = seed;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 23) - 1.0
        };
        (0..count).map(|n| amplitude * ((n as f64 * 0.49).sin() + 0.5 * noise())).collect()
    }

    #[test]
    fn three_axes_in_one_array_are_seen_by_gravity_or_by_their_levels() {
        let frames = |z_offset: f64, z_level: f64| -> Vec<f64> {
            let axes = [signal(800, 0.3, 1), signal(800, 0.3, 2), signal(800, z_level, 3)];
            (0..800).flat_map(|n| [axes[0][n], axes[1][n], axes[2][n] + z_offset]).collect()
        };
        assert_eq!(axes_in_one(&frames(1.0, 0.3)), Some(3), "gravity");
        assert_eq!(axes_in_one(&frames(0.0, 0.9)), Some(3), "levels");
        assert_eq!(axes_in_one(&frames(0.0, 0.3)), None, "nothing tells");
    }

    #[test]
    fn one_axis_is_one_whatever_it_holds() {
        for seed in 1..40 {
            assert_eq!(axes_in_one(&signal(2560 * 3, 0.4, seed)), None, "{seed}");
            // impacts with a ring, at a distance that is no whole number of samples
            let impacts = |n: usize| {
                let since = (n as f64) % (70.3 + f64::from(seed));
                5.0 * (-since / 6.0).exp() * (since * 1.9).sin()
            };
            let wave: Vec<f64> = signal(6144, 0.1, seed)
                .into_iter()
                .enumerate()
                .map(|(n, noise)| noise + impacts(n))
                .collect();
            assert_eq!(axes_in_one(&wave), None, "{seed}");
        }
        assert_eq!(axes_in_one(&[0.0; 600]), None);
        assert_eq!(axes_in_one(&[]), None);
    }
}
