//! A text in the two languages of the product, and the choice between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A language of the product's texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Korean, the users' first language.
    #[default]
    Ko,
    /// English.
    En,
}

impl Language {
    /// The code in names of files.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Ko => "ko",
            Self::En => "en",
        }
    }
}

/// One statement in Korean and English; both are always present.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// The Korean form.
    pub ko: String,
    /// The English form.
    pub en: String,
}

impl Text {
    /// Makes a text from its two forms.
    pub fn new(ko: impl Into<String>, en: impl Into<String>) -> Self {
        Self { ko: ko.into(), en: en.into() }
    }

    /// The form in one language.
    pub fn in_language(&self, language: Language) -> &str {
        match language {
            Language::Ko => &self.ko,
            Language::En => &self.en,
        }
    }
}
