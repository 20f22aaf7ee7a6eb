//! The acts of staff on alarms and bearings: acknowledging and shelving.

use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

/// The outcome of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acknowledged {
    /// The alarm is acknowledged.
    Yes,
    /// Another alarm stands by now, or none.
    Stale,
}

/// An acknowledgement by a person at a page.
#[derive(Debug, Clone)]
pub struct Acknowledgement {
    /// The bearing.
    pub key: BearingKey,
    /// The notification that the person saw.
    pub notification_id: Uuid,
    /// The person.
    pub by: String,
    /// A note, if there is one.
    pub note: Option<String>,
    /// The way that it took: `page`, `api`, `link`.
    pub via: &'static str,
}

/// The end of a shelf as people name it, on the plant's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShelfEnd {
    /// The next day, 07:00.
    Tomorrow,
    /// The next Monday, 07:00.
    Monday,
    /// A day and an hour as a browser's field writes them.
    Written(String),
}

/// A request of a person at a page to be told nothing of a bearing for a time, or to be told again.
#[derive(Debug, Clone)]
pub struct ShelfRequest {
    /// The bearing.
    pub key: BearingKey,
    /// The end of the shelf; `None` to be told again.
    pub until: Option<Timestamp>,
    /// The person.
    pub by: String,
    /// The reason.
    pub reason: String,
}

/// The outcome of such a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shelved {
    /// It holds.
    Yes,
    /// It does not fit: why.
    Refused(String),
}
