//! Series of stations and past cases, wherever they are kept.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime};
use pdm_shared::text::Text;
use pdm_tools::exec::Failure;

/// How instants are written: the station's own clock, taken as UTC.
pub const TIME_FORMAT: &str = "%Y-%m-%d %H:%M:%S";
/// Most past cases of one decision; the edge compares no more.
pub const MOST_CASES: usize = 300;
/// Most values of one series; the edge takes no more.
pub const MOST_VALUES: u16 = 20_000;

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub at_s: i64,
    /// The value; `None` is a value that the station could not give.
    pub value: Option<f64>,
}

/// A stretch of a station's series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The station.
    pub station_id: i64,
    /// The element.
    pub element: String,
    /// The first instant, s.
    pub from_s: i64,
    /// The last instant, s.
    pub to_s: i64,
}

impl Window {
    /// Whether two stretches share time on one station and element.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.station_id == other.station_id
            && self.element == other.element
            && self.from_s <= other.to_s
            && other.from_s <= self.to_s
    }
}

/// A past case: a stretch of a series, its finding, and its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name.
    pub id: String,
    /// The station and the time.
    pub window: Window,
    /// The finding.
    pub what: Text,
    /// The outcome.
    pub outcome: Text,
    /// The values.
    pub samples: Vec<Sample>,
}

/// Where series and cases are kept.
#[async_trait]
pub trait SeriesSource: Send + Sync {
    /// The values of a window, in order of time; the first [`MOST_VALUES`] and one more.
    ///
    /// # Errors
    /// [`Failure::Transient`] if the store is away.
    async fn values(&self, window: &Window) -> Result<Vec<Sample>, Failure>;

    /// Cases that ended at `before_s` or earlier, the newest first.
    ///
    /// # Errors
    /// As [`SeriesSource::values`].
    async fn cases(&self, before_s: i64, most: usize) -> Result<Vec<Case>, Failure>;

    /// Stations with their elements, at most `most`.
    ///
    /// # Errors
    /// As [`SeriesSource::values`].
    async fn known(&self, most: usize) -> Result<Vec<(i64, String)>, Failure>;

    /// The full name of the bearing that a station number stands for, if it does.
    ///
    /// # Errors
    /// As [`SeriesSource::values`].
    async fn bearing(&self, _station_id: i64) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// The unit of an element, where it is known.
    ///
    /// # Errors
    /// As [`SeriesSource::values`].
    async fn unit(&self, _element: &str) -> Result<Option<String>, Failure> {
        Ok(None)
    }
}

/// Reads an instant, `YYYY-MM-DD HH:MM:SS`, as seconds since 1970.
///
/// # Errors
/// The fault of the text, and the form that is allowed.
pub fn read_time(text: &str) -> Result<i64, String> {
    NaiveDateTime::parse_from_str(text, TIME_FORMAT)
        .map(|at| at.and_utc().timestamp())
        .map_err(|error| format!("is {text:?}, expected YYYY-MM-DD HH:MM:SS ({error})"))
}

/// An instant as it is read.
pub fn write_time(at_s: i64) -> String {
    DateTime::from_timestamp(at_s, 0)
        .map_or_else(|| at_s.to_string(), |at| at.format(TIME_FORMAT).to_string())
}
