//! What is wrong with a model, in one word: for the banner of the chat's page. `pdm-agent check` tells it with
//! what has to be changed ([`ProbeError`]).

use crate::client::ModelError;
use crate::probe::ProbeError;

/// What is wrong with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The server wants a key, and none is configured.
    NoKey,
    /// The server does not take the key.
    WrongKey,
    /// The server does not have the model.
    UnknownModel,
    /// The address is no chat API.
    NoApi,
    /// The server does not answer.
    Away,
    /// The answer did not come in time.
    Late,
    /// The answer is longer than is read.
    TooLong,
    /// The model answers in another language.
    OtherLanguage,
    /// The model does not answer as it is asked to.
    Unfit,
    /// The budget is used up.
    Budget,
}

impl Trouble {
    /// The word of the pages' texts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoKey => "no_key",
            Self::WrongKey => "wrong_key",
            Self::UnknownModel => "unknown_model",
            Self::NoApi => "no_api",
            Self::Away => "away",
            Self::Late => "late",
            Self::TooLong => "too_long",
            Self::OtherLanguage => "other_language",
            Self::Unfit => "unfit",
            Self::Budget => "budget",
        }
    }

    /// What a failed request says of the model.
    pub fn of_error(error: &ModelError, has_key: bool) -> Self {
        match error {
            ModelError::Unavailable(_) => Self::Away,
            ModelError::Refused { status: 401 | 403, .. } if has_key => Self::WrongKey,
            ModelError::Refused { status: 401 | 403, .. } => Self::NoKey,
            ModelError::Refused { reason, .. } if reason.to_lowercase().contains("model") => {
                Self::UnknownModel
            }
            ModelError::Refused { status: 300..=399 | 404 | 405, .. } | ModelError::Answer(_) => {
                Self::NoApi
            }
            ModelError::Late(_) => Self::Late,
            ModelError::TooLong => Self::TooLong,
            ModelError::OtherLanguage => Self::OtherLanguage,
            ModelError::Refused { .. } | ModelError::Cut | ModelError::Withheld => Self::Unfit,
            ModelError::Exhausted(_) | ModelError::Ledger(_) => Self::Budget,
        }
    }

    /// What a failed probe says of the model.
    pub const fn of_probe(error: &ProbeError) -> Self {
        match error {
            ProbeError::NoKey => Self::NoKey,
            ProbeError::WrongKey(_) => Self::WrongKey,
            ProbeError::UnknownModel { .. } => Self::UnknownModel,
            ProbeError::NoApi(_) => Self::NoApi,
            ProbeError::TooLong => Self::TooLong,
            ProbeError::OtherLanguage { .. } => Self::OtherLanguage,
            ProbeError::Unavailable(_) => Self::Away,
            ProbeError::Unfit(_) | ProbeError::NoPrograms(_) => Self::Unfit,
        }
    }
}
