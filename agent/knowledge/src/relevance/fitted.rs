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
    bias: -7.6315,
    weights: &[
        0.9022, 1.6619, 1.3730, 1.6068, 2.9595, 1.1365, -1.4956, 0.5669, 0.3278, -1.0439, 4.2366,
    ],
};
/// That any chunk answers, by words.
pub const ANY: Model<'static> = Model {
    bias: -7.0102,
    weights: &[1.4318, 2.1294, 2.5926, -0.1427, 1.4280, -0.3225, -0.5943, 1.8613, 2.0485, 9.1436],
};
/// That one chunk answers, by words and an endpoint's cosine.
pub const ONE_WITH_COSINE: Model<'static> = Model {
    bias: -7.5647,
    weights: &[
        1.5906, 1.5333, 1.2715, 1.1093, 2.9900, 1.4921, -1.4133, 0.8395, 0.7025, -1.4666, 3.1390,
        0.2756,
    ],
};
/// That any chunk answers, by words and an endpoint's cosine.
pub const ANY_WITH_COSINE: Model<'static> = Model {
    bias: -9.6416,
    weights: &[
        1.3025, 2.4540, 2.2979, -0.3186, 1.3434, -0.1923, -0.0677, 1.7888, 2.3077, 8.9957, 1.6361,
    ],
};
