//! Random numbers of the generators.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A normally distributed number of variance 1 (Box & Muller 1958).
pub(super) fn gaussian(random: &mut ChaCha8Rng) -> f64 {
    let (a, b): (f64, f64) = (random.random_range(f64::EPSILON..1.0), random.random());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}
