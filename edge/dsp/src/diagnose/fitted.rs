//! The constants of the naming rule, printed by
//! `cargo run --release -p pdm-tests --bin fit -- --data DIR --data DIR`.

use super::rule::Rule;

/// Fitted on 326 channels of recordings and 589 generated records (304 adversaries, 285 simulated).
/// The figure of each weight: [`super::figures::NAMES`].
pub const FITTED: Rule = Rule {
    weights: [0.1809, 0.2214, 0.0648, 0.2663, 0.1805, 1.1069, 0.3793, 0.4084, 0.9070, 0.7979],
    offset: -6.8402,
    threshold: 1.0524,
    slope: 1.15,
};
