//! A language on the command line, of this program and of `pdm`.

use pdm_shared::text::Language;

/// A language as it is typed.
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
