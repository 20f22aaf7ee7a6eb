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
    bias: -9.6147,
    weights: &[1.9528, 1.5126, 1.5047, 0.2169, 2.3807, 3.2642, -1.4807, 0.0066, 0.6107, -2.3524, 5.7623],
};
/// That any chunk answers, by words.
pub const ANY: Model<'static> = Model {
    bias: -8.7052,
    weights: &[2.5795, 1.8284, 2.5744, 1.5687, 2.1334, -0.7487, -1.4764, 1.4601, 0.4086, 9.7806],
};
/// That one chunk answers, by words and an endpoint's cosine.
pub const ONE_WITH_COSINE: Model<'static> = Model {
    bias: -9.3536,
    weights: &[2.2853, 1.5259, 1.1038, 0.8400, 3.0591, 3.1713, -0.9657, 0.4803, 0.6623, -2.7676, 3.6197, 0.6222],
};
/// That any chunk answers, by words and an endpoint's cosine.
pub const ANY_WITH_COSINE: Model<'static> = Model {
    bias: -12.1506,
    weights: &[2.6547, 1.7786, 2.5653, 1.4888, 2.1080, -0.8346, -1.4196, 1.3287, 0.5841, 10.2294, 2.2188],
};
