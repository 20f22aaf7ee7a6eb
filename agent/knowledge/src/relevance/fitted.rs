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
    bias: -7.7985,
    weights: &[1.1300, 1.4677, 1.0556, 1.3842, 2.9832, 2.4447, -1.1987, 1.1708, 0.2736, -1.6704, 4.0163],
};
/// That any chunk answers, by words.
pub const ANY: Model<'static> = Model {
    bias: -6.2325,
    weights: &[0.9856, 2.4449, 2.3903, -0.0205, 1.7064, -0.6374, -2.6885, 2.0752, 1.7752, 8.3623],
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
