//! A document in one language, as blocks. HTML and PDF are both written from it, so their content
//! is the same.

use pdm_routes::Zone;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

use super::data::Subject;
use super::drawing::{Colour, Drawing};
use super::words::is_korean;

/// A document in one language.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Language of the document.
    pub language: Language,
    /// Kind of document: report, status, work order.
    pub kind: String,
    /// The bearing.
    pub title: String,
    /// The finding.
    pub subtitle: String,
    /// Number of the work order, or the event's identity.
    pub number: String,
    /// Time at which the document was written.
    pub written_at: Timestamp,
    /// The risk level, shown as colour, sign and word; none of a document that judges nothing.
    pub risk: Option<RiskLevel>,
    /// The facts in the head.
    pub head: Vec<Pair>,
    /// The content.
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
    /// A heading of the second level.
    Sub(String),
    /// A paragraph.
    Text(String),
    /// An important notice.
    Callout {
        /// Heading of the notice.
        label: String,
        /// Text of the notice.
        text: String,
        /// Colour of the notice.
        tone: Colour,
    },
    /// Names and values.
    Pairs(Vec<Pair>),
    /// Measured values in large print.
    Tiles(Vec<Pair>),
    /// A table.
    Table(DocumentTable),
    /// A list.
    Items {
        /// The mark before each item.
        mark: Mark,
        /// The items.
        items: Vec<String>,
    },
    /// Source of a passage.
    Source(String),
    /// A plot.
    Plot {
        /// Title of the plot.
        title: String,
        /// Explanation of the plot.
        caption: String,
        /// The plot.
        drawing: Drawing,
    },
    /// Lines for signatures.
    Signs(Vec<String>),
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentTable {
    /// Names of the columns.
    pub head: Vec<String>,
    /// Share of the width of each column; they add up to 1.
    pub shares: Vec<f32>,
    /// The rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
}

/// The mark before an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A bullet.
    Bullet,
    /// A number, and a box to tick.
    Step,
}

/// Sign of a risk level, so that colour is never the only information.
pub const fn sign(risk: RiskLevel) -> &'static str {
    match risk {
        RiskLevel::Normal => "●",
        RiskLevel::Watch => "◆",
        RiskLevel::Warning => "▲",
        RiskLevel::Critical => "■",
    }
}

/// Colour of a risk level.
pub const fn colour(risk: RiskLevel) -> Colour {
    match risk {
        RiskLevel::Normal => Colour::Normal,
        RiskLevel::Watch => Colour::Watch,
        RiskLevel::Warning => Colour::Warning,
        RiskLevel::Critical => Colour::Critical,
    }
}

/// Selects texts in one language, and tells times on the plant's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Speaker(pub(crate) Language, pub(crate) Zone);

impl Speaker {
    /// The speaker to a reader of this language at the plant of a bearing.
    pub(crate) fn to_reader(language: Language, subject: &Subject) -> Self {
        let zone = subject.zone.as_deref().and_then(|name| name.parse().ok());
        Self(language, zone.unwrap_or_default())
    }

    /// A time to the minute, with the zone's abbreviation: `2026-11-20 09:30 KST`.
    pub(crate) fn moment(self, at: Timestamp) -> String {
        self.1.in_words(at)
    }

    /// The text in the speaker's language.
    pub(crate) fn say(self, text: &Text) -> String {
        text.in_language(self.0).to_owned()
    }

    /// A quote in the language of its source, which may differ from the reader's.
    pub(crate) fn quote(self, text: &str) -> String {
        match self.0 {
            Language::En if is_korean(text) => format!("{text} (Korean original)"),
            Language::En | Language::Ko => text.to_owned(),
        }
    }

    /// The Korean or the English word.
    pub(crate) fn word(self, ko: &str, en: &str) -> String {
        match self.0 {
            Language::Ko => ko.to_owned(),
            Language::En => en.to_owned(),
        }
    }

    /// A name and its value.
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
