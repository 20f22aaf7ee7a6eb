//! A document in one language, as blocks: what HTML and PDF are both written from, so that both say
//! the same.

use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

use super::drawing::{Colour, Drawing};
use super::words::is_korean;

/// A document in one language.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its language.
    pub language: Language,
    /// What it is: report, status, work order.
    pub kind: String,
    /// Which bearing.
    pub title: String,
    /// What is wrong.
    pub subtitle: String,
    /// Its number, or the event's identity.
    pub number: String,
    /// When it was written.
    pub written_at: Timestamp,
    /// Shown as colour, sign and word.
    pub risk: RiskLevel,
    /// The facts of its head.
    pub head: Vec<Pair>,
    /// What it says.
    pub blocks: Vec<Block>,
}

/// A name and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The name.
    pub label: String,
    /// The value.
    pub value: String,
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A heading.
    Section(String),
    /// A heading below it.
    Sub(String),
    /// A paragraph.
    Text(String),
    /// What must not be missed.
    Callout {
        /// Its heading.
        label: String,
        /// What it says.
        text: String,
        /// Its colour.
        tone: Colour,
    },
    /// Names and values.
    Pairs(Vec<Pair>),
    /// Measured values, to be seen at a glance.
    Tiles(Vec<Pair>),
    /// A table.
    Table(Table),
    /// Things in a row.
    Items {
        /// What stands before each.
        mark: Mark,
        /// The things.
        items: Vec<String>,
    },
    /// Where something stands.
    Source(String),
    /// A plot.
    Plot {
        /// What it shows.
        title: String,
        /// How it is read.
        caption: String,
        /// The plot.
        drawing: Drawing,
    },
    /// Lines to sign on.
    Signs(Vec<String>),
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub head: Vec<String>,
    /// Share of the width of each column; they add up to 1.
    pub shares: Vec<f32>,
    /// The rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
}

/// What stands before an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A bullet.
    Bullet,
    /// A number, and a box to tick.
    Step,
}

/// Sign of a risk: it is never told by colour alone.
pub const fn sign(risk: RiskLevel) -> &'static str {
    match risk {
        RiskLevel::Normal => "●",
        RiskLevel::Watch => "◆",
        RiskLevel::Warning => "▲",
        RiskLevel::Critical => "■",
    }
}

/// Colour of a risk.
pub const fn colour(risk: RiskLevel) -> Colour {
    match risk {
        RiskLevel::Normal => Colour::Normal,
        RiskLevel::Watch => Colour::Watch,
        RiskLevel::Warning => Colour::Warning,
        RiskLevel::Critical => Colour::Critical,
    }
}

/// Says texts in one language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Speaker(pub(crate) Language);

impl Speaker {
    /// A text.
    pub(crate) fn say(self, text: &Text) -> String {
        text.in_language(self.0).to_owned()
    }

    /// A quote as it stands in its source, which may not be in the reader's language.
    pub(crate) fn quote(self, text: &str) -> String {
        match self.0 {
            Language::En if is_korean(text) => format!("{text} (Korean original)"),
            Language::En | Language::Ko => text.to_owned(),
        }
    }

    /// One of two words.
    pub(crate) fn word(self, ko: &str, en: &str) -> String {
        match self.0 {
            Language::Ko => ko.to_owned(),
            Language::En => en.to_owned(),
        }
    }

    /// A name and a value.
    pub(crate) fn pair(self, ko: &str, en: &str, value: impl Into<String>) -> Pair {
        Pair { label: self.word(ko, en), value: value.into() }
    }

    /// A heading.
    pub(crate) fn section(self, ko: &str, en: &str) -> Block {
        Block::Section(self.word(ko, en))
    }

    /// Texts as bullets.
    pub(crate) fn bullets(self, texts: &[Text]) -> Block {
        Block::Items {
            mark: Mark::Bullet,
            items: texts.iter().map(|text| self.say(text)).collect(),
        }
    }
}
