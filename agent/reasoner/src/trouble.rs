//! Names the fault of a model in one word, for the banner of the chat's page. `pdm-agent check`
//! tells it with what has to be changed ([`ProbeError`]).

use crate::client::ModelError;
use crate::probe::{ProbeError, is_about_name};

/// A fault of a model.
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

    /// Returns the fault of the model that a failed request shows.
    pub fn of_error(error: &ModelError, has_key: bool) -> Self {
        match error {
            ModelError::Unavailable(_) => Self::Away,
            ModelError::Refused { status: 401 | 403, .. } if has_key => Self::WrongKey,
            ModelError::Refused { status: 401 | 403, .. } => Self::NoKey,
            ModelError::Refused { reason, .. } if is_about_name(reason) => Self::UnknownModel,
            ModelError::Refused { status: 300..=399 | 404 | 405, .. } | ModelError::Answer(_) => {
                Self::NoApi
            }
            ModelError::Late(_) => Self::Late,
            ModelError::TooLong => Self::TooLong,
            ModelError::OtherLanguage => Self::OtherLanguage,
            ModelError::Refused { .. }
            | ModelError::Cut
            | ModelError::Withheld
            | ModelError::BareNumber => Self::Unfit,
            ModelError::Exhausted(_) | ModelError::Ledger(_) => Self::Budget,
        }
    }

    /// Returns the fault of the model that a failed probe shows.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_the_model_cannot_take_is_no_unknown_model() {
        let of = |status: u16, reason: &str| {
            Trouble::of_error(&ModelError::Refused { status, reason: reason.to_owned() }, true)
        };
        assert_eq!(
            of(404, "model \"qwen\" not found, try pulling it first"),
            Trouble::UnknownModel
        );
        assert_eq!(of(400, "qwen is not a valid model ID"), Trouble::UnknownModel);
        let long = "This model's maximum context length is 8192 tokens";
        assert_eq!(of(400, long), Trouble::Unfit);
        assert_eq!(of(400, "this model does not support response_format"), Trouble::Unfit);
        assert_eq!(of(401, "the model says no"), Trouble::WrongKey);
    }
}
