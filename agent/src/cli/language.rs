//! The languages of the command line, in this program and in `pdm`.

use pdm_shared::text::Language;

/// A language as an argument.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Lang {
    /// Korean
    Ko,
    /// English
    En,
}

impl From<Lang> for Language {
    fn from(lang: Lang) -> Self {
        match lang {
            Lang::Ko => Self::Ko,
            Lang::En => Self::En,
        }
    }
}
