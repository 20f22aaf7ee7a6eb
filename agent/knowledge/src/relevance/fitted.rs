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
pub const ONE: Model<'static> = Model { bias: -6.0, weights: &[0.5; 11] };
/// That any chunk answers, by words.
pub const ANY: Model<'static> = Model { bias: 0.0, weights: &[0.5; 8] };
/// That one chunk answers, by words and an endpoint's cosine.
pub const ONE_WITH_COSINE: Model<'static> = ONE;
/// That any chunk answers, by words and an endpoint's cosine.
pub const ANY_WITH_COSINE: Model<'static> = ANY;
