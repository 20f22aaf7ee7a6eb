//! The rows of the page of a work order: the order as in its document (`pdm.work_order/1`), and
//! photos.

use std::str::FromStr;

use pdm_shared::id::EventId;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A work order as a page shows it. The fields are those of the document `pdm.work_order/1`, of
/// which this is a part, so that page and document never differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkSheet {
    /// The number of the order.
    pub number: String,
    /// The bearing and its place.
    pub subject: SheetSubject,
    /// The work to do, in one line.
    pub title: Text,
    /// The reason for the order.
    pub reason: Text,
    /// The schedule.
    pub schedule: SheetSchedule,
    /// Parts to bring.
    pub parts: Vec<SheetPart>,
    /// Tools to bring.
    pub tools: Vec<Text>,
    /// How many people.
    pub people: SheetResource,
    /// How long it takes.
    pub hours: SheetResource,
    /// The safety steps before anything else.
    pub safety: Vec<SheetPassage>,
    /// The preparation.
    pub preparation: Vec<SheetPassage>,
    /// The work.
    pub procedure: Vec<SheetPassage>,
    /// The checks after the work.
    pub acceptance: Vec<SheetPassage>,
}

/// The bearing of an order and its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SheetSubject {
    /// The plant's name.
    pub site_name: Option<Text>,
    /// The machine's name.
    pub equipment_name: Option<Text>,
    /// Where on the machine the bearing is.
    pub location: Option<Text>,
    /// The bearing's designation; `None` if it has to be checked.
    pub designation: Option<String>,
}

/// The dates of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SheetSchedule {
    /// Whether the work is done as soon as the machine can be stopped.
    pub at_once: bool,
    /// The time by which the work is done.
    pub finish_by: Option<Timestamp>,
    /// The basis of the dates.
    pub basis: Text,
}

/// A part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SheetPart {
    /// Its name.
    pub name: Text,
    /// Its designation; `None` if it has to be checked.
    pub designation: Option<String>,
    /// The note for the fitter.
    pub note: Text,
}

/// People or hours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SheetResource {
    /// How many, in words.
    pub text: Text,
    /// The document or configuration that says so.
    pub source: Option<String>,
}

/// A passage of a document of the plant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SheetPassage {
    /// Its heading.
    pub title: Text,
    /// Its steps.
    pub items: Vec<Text>,
    /// The document and its section.
    pub source: String,
}

/// The kind of a picture, as its content says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PhotoKind {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
}

impl PhotoKind {
    /// The kind's word, which ends the name of its file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jpeg => "jpeg",
            Self::Png => "png",
            Self::Webp => "webp",
        }
    }

    /// The kind's media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Webp => "image/webp",
        }
    }
}

impl FromStr for PhotoKind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = [Self::Jpeg, Self::Png, Self::Webp].into_iter();
        let mut known = known.filter(|kind| kind.as_str() == word);
        known.next().ok_or_else(|| format!("{word:?} is no kind of photo: jpeg, png, webp"))
    }
}

/// A photo of the work that a judgement asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PhotoRow {
    /// The photo.
    pub photo_id: Uuid,
    /// The judgement whose work it shows.
    pub event_id: EventId,
    /// Its kind.
    pub kind: PhotoKind,
    /// Its size, bytes.
    pub bytes: u64,
    /// Who added it.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// A photo with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhotoFile {
    /// The photo.
    pub row: PhotoRow,
    /// Its content.
    pub content: Vec<u8>,
}

/// The outcome of keeping a photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhotoKept {
    /// It is kept.
    Yes(Uuid),
    /// The order has as many photos as it may have.
    OrderFull,
    /// All photos together take the room that they may take.
    AllFull,
    /// This agent writes no documents, beside which photos are kept.
    NoPlace,
}
