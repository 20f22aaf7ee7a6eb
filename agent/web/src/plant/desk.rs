//! The rows of the pages of duty, knowledge and search.

use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// A rota: who is on duty now and next, and when nobody is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DutyRow {
    /// The rota.
    pub rota: String,
    /// The zone of its clock.
    pub zone: String,
    /// Who is on duty; nobody where it is empty.
    pub now: Vec<String>,
    /// Until when; none where it does not change within the time that was looked at.
    pub until: Option<Timestamp>,
    /// Who is on duty then.
    pub next: Vec<String>,
    /// The times of the next two weeks in which nobody is on duty.
    pub gaps: Vec<DutyGap>,
    /// Who stands in, now or later.
    pub overrides: Vec<DutyOverride>,
}

/// A time in which nobody is on duty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DutyGap {
    /// From when.
    pub from: Timestamp,
    /// Until when.
    pub to: Timestamp,
}

/// Somebody who stands in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DutyOverride {
    /// From when.
    pub from: Timestamp,
    /// Until when.
    pub to: Timestamp,
    /// Who.
    pub who: Vec<String>,
}

/// A document of the knowledge base in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArticleRow {
    /// Its identity, such as `EM-06`.
    pub id: String,
    /// Its title.
    pub title: Text,
    /// Its kind, such as `procedure`.
    pub kind: String,
    /// Whether the case is invented for teaching.
    pub synthetic: bool,
}

/// A document of the knowledge base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Article {
    /// Identity, title and kind.
    #[serde(flatten)]
    pub row: ArticleRow,
    /// Its sections in their order.
    pub sections: Vec<ArticleSection>,
}

/// A section of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArticleSection {
    /// Its number; empty before the first heading.
    pub number: String,
    /// Its heading.
    pub title: String,
    /// Its text.
    pub body: String,
    /// The English text; empty if there is none.
    pub english: String,
}
