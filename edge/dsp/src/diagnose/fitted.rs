//! The constants of the naming rule, printed by
//! `cargo run --release -p pdm-tests --bin fit -- --data DIR --data DIR`.

use super::rule::Rule;

/// Fitted on 326 channels of recordings and 589 generated records (304 adversaries, 285 simulated).
/// The figure of each weight: [`super::figures::NAMES`].
pub const FITTED: Rule = Rule {
    weights: [0.3079, 0.3088, 0.1194, 0.1740],
    offset: -3.3054,
    threshold: 1.0860,
    slope: 1.05,
};
