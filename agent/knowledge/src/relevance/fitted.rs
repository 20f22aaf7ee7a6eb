//! Coefficients of the two models, as `cargo run -p pdm-tests --bin retrieval -- --fit` prints
//! them.

/// The models of a search among documents of which none names the questions that it answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordModels {
    /// The model for the claim that a chunk answers.
    pub unnamed: Model<'static>,
    /// The model for the claim that any chunk answers.
    pub any: Model<'static>,
}

/// The models of a search among documents of which some name the questions that they answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuestionModels {
    /// The model for the claim that a chunk answers which names the questions that it answers.
    pub named: Model<'static>,
    /// The model for the claim that a chunk answers which names no question.
    pub unnamed: Model<'static>,
    /// The model for the claim that any chunk answers.
    pub any: Model<'static>,
}

/// A logistic model: weights in the order of the evidence, and a bias.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model<'a> {
    /// The bias.
    pub bias: f32,
    /// One weight for each number of evidence.
    pub weights: &'a [f32],
}

/// Documents that name no questions, by words.
pub const WORDS: WordModels = WordModels {
    unnamed: Model {
        bias: -7.0565,
        weights: &[
            -0.1046, 2.5724, 1.2675, 2.7894, 1.7723, -0.3451, -0.8590, 0.5135, 0.0060, -1.1058,
            1.1007, 6.8648, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        ],
    },
    any: Model {
        bias: -5.5206,
        weights: &[
            0.1089, 0.6109, 5.0622, -0.3598, 5.8810, 1.2176, -0.2833, -1.6397, -2.2609, -1.5292,
            0.0, 0.0, 0.0,
        ],
    },
};
/// Documents that name no questions, by words and an endpoint's model.
pub const WORDS_AND_MODEL: WordModels = WordModels {
    unnamed: Model {
        bias: -6.8403,
        weights: &[
            -0.0579, 2.3978, 1.0049, 2.6362, 1.9948, -0.5152, -0.6402, 0.3836, 0.0801, -1.2691,
            0.8186, 7.0481, 0.0, 0.0, 0.0, 0.0, 0.3630, 0.0,
        ],
    },
    any: Model {
        bias: -6.2403,
        weights: &[
            0.0265, 0.6108, 5.6320, -0.2581, 6.3925, 1.2486, -0.2611, -1.6510, -2.2442, -1.4329,
            0.0, 0.0, 0.0,
        ],
    },
};
/// Documents that name the questions that they answer, by words.
pub const QUESTIONS: QuestionModels = QuestionModels {
    named: Model {
        bias: -8.6769,
        weights: &[
            0.2257, 1.5098, 1.0487, 2.9139, 0.8237, 1.8092, -0.8626, 0.3104, 0.0999, -2.6810,
            1.0909, 3.9271, 1.1666, -0.4094, 4.1613, 2.7868, 0.0, 0.0,
        ],
    },
    unnamed: Model {
        bias: -5.6585,
        weights: &[
            0.0668, 1.7207, 1.3097, 3.3505, 4.0067, -2.6507, -0.5189, -0.1128, 0.3738, -1.5146,
            1.0820, 6.8362, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        ],
    },
    any: Model {
        bias: -5.7744,
        weights: &[
            0.0829, 0.6856, 5.2025, -0.9426, 6.0010, 0.6982, -1.2478, -0.8962, -3.2943, -2.2652,
            -1.5478, 1.9291, 0.5435,
        ],
    },
};
/// Documents that name the questions that they answer, by words and an endpoint's model.
pub const QUESTIONS_AND_MODEL: QuestionModels = QuestionModels {
    named: Model {
        bias: -8.0281,
        weights: &[
            0.3773, 1.5307, 1.0631, 2.4197, 0.7822, 1.6510, -0.8693, -0.0663, -0.2905, -2.5119,
            0.8765, 3.8192, 0.9596, 0.2930, 2.8744, 1.8976, 0.1284, 0.5414,
        ],
    },
    unnamed: Model {
        bias: -5.3945,
        weights: &[
            0.2646, 1.7844, 1.0451, 2.5817, 4.2150, -2.6972, -0.4604, -0.2620, 0.5492, -1.5646,
            1.3188, 6.2233, 0.0, 0.0, 0.0, 0.0, 0.2553, 0.0,
        ],
    },
    any: Model {
        bias: -5.6257,
        weights: &[
            0.0881, 0.6847, 5.0215, -0.9449, 5.8723, 0.6637, -1.2286, -0.9048, -3.2786, -2.3078,
            -1.6174, 2.0404, 0.6351,
        ],
    },
};
