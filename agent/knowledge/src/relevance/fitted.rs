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
    bias: -9.3536,
    weights: &[
        2.2853, 1.5259, 1.1038, 0.8400, 3.0591, 3.1713, -0.9657, 0.4803, 0.6623, -2.7676, 3.6197,
        0.6222,
    ],
};
/// That any chunk answers, by words and an endpoint's cosine.
pub const ANY_WITH_COSINE: Model<'static> = Model {
    bias: -12.1506,
    weights: &[
        2.6547, 1.7786, 2.5653, 1.4888, 2.1080, -0.8346, -1.4196, 1.3287, 0.5841, 10.2294, 2.2188,
    ],
};
