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
    bias: -7.1774,
    weights: &[
        -0.5704, 2.1185, 1.2635, 3.8096, 2.4474, -0.8221, -0.6037, 0.6810, 0.5633, -2.2481, 1.1458,
        10.3675,
    ],
};
/// That any chunk answers, by words.
pub const ANY: Model<'static> = Model {
    bias: -6.6506,
    weights: &[0.3988, 0.4471, 5.8414, 0.2994, 7.1086, 2.2518, -0.6736, -1.0283, -3.3076],
};
/// That one chunk answers, by words and an endpoint's cosine.
pub const ONE_WITH_COSINE: Model<'static> = Model {
    bias: -6.8905,
    weights: &[
        -0.1920, 1.7856, 0.7568, 2.6797, 2.7181, -0.8785, -0.1518, 0.4812, 0.6413, -2.3091, 0.5443,
        10.3179, 0.6229,
    ],
};
/// That any chunk answers, by words and an endpoint's cosine.
pub const ANY_WITH_COSINE: Model<'static> = Model {
    bias: -7.0037,
    weights: &[0.2919, 0.4296, 5.8654, 0.4818, 7.3647, 2.2436, -0.6405, -1.0511, -3.3185],
};
