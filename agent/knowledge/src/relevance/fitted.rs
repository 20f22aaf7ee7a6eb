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
    bias: -7.5169,
    weights: &[
        0.2613, 2.0880, 1.8960, 6.2162, 3.8712, -0.8605, -0.6017, 1.9767, -1.5261, -0.9950, 2.3253,
    ],
};
/// That any chunk answers, by words.
pub const ANY: Model<'static> = Model {
    bias: -7.8250,
    weights: &[
        0.7346, 3.4118, 6.4764, -1.6083, 2.8315, 1.7539, -2.6013, 1.1851, 0.0217, 4.9148, -4.6194,
    ],
};
/// That one chunk answers, by words and an endpoint's cosine.
pub const ONE_WITH_COSINE: Model<'static> = Model {
    bias: -6.9400,
    weights: &[
        1.2883, 1.5141, 1.4984, 4.3144, 3.8453, -0.5090, -0.3700, 1.7381, -0.8612, -1.3614, 1.1253,
        0.4637,
    ],
};
/// That any chunk answers, by words and an endpoint's cosine.
pub const ANY_WITH_COSINE: Model<'static> = Model {
    bias: -8.3938,
    weights: &[
        0.7587, 3.3718, 6.3776, -1.5965, 2.7930, 1.7431, -2.5010, 1.1810, 0.0870, 4.8272, -4.5946,
        0.3625,
    ],
};
