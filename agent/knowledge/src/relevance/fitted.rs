//! Coefficients of the two models, as `cargo run -p pdm-tests --bin retrieval -- --fit` prints them.

/// A logistic model: weights in the order of the evidence, and a bias.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model<'a> {
    /// The bias.
    pub bias: f32,
    /// One weight for each number of evidence.
    pub weights: &'a [f32],
}

/// That one chunk answers, by words.
pub const ONE: Model<'static> = Model {
    bias: -6.9119,
    weights: &[
        0.8697, 1.3532, 1.3474, 2.1848, 3.8158, 0.5722, -1.0747, 1.4004, -0.0168, -1.4965, 3.1439,
    ],
};
/// That any chunk answers, by words.
pub const ANY: Model<'static> = Model {
    bias: -7.4132,
    weights: &[0.5800, 1.9693, 6.0748, -1.2851, 2.2728, 1.6995, -1.2095, 1.1321, 0.4159, 5.9000],
};
/// That one chunk answers, by words and an endpoint's cosine.
pub const ONE_WITH_COSINE: Model<'static> = Model {
    bias: -6.7135,
    weights: &[
        1.5433, 1.0764, 1.2150, 1.5265, 4.1900, 0.7382, -0.8662, 1.6010, 0.3039, -1.9824, 1.9635,
        0.3034,
    ],
};
/// That any chunk answers, by words and an endpoint's cosine.
pub const ANY_WITH_COSINE: Model<'static> = Model {
    bias: -8.1742,
    weights: &[
        0.5947, 1.9775, 5.9211, -1.2812, 2.2291, 1.6818, -1.0791, 1.1142, 0.5004, 5.8096, 0.4890,
    ],
};
