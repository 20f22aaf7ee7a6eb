//! For whom an answer is made: the language, the plant's clock, and the present instant.

use chrono::NaiveDate;
use pdm_routes::Zone;
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;

use super::desk::Desk;

/// The person for whom an answer is made: language, clock and zone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    pub(super) language: Language,
    /// The zone of the plant's clock, by which times and days are told and understood.
    pub(super) zone: Zone,
    /// The present instant, from which ages are computed; `None` if there is no clock.
    pub(super) now: Option<Timestamp>,
}

impl Reader {
    /// A reader of this language at the plant of the desk.
    pub(super) fn at(desk: &dyn Desk, language: Language) -> Self {
        Self { language, zone: desk.zone(), now: desk.now() }
    }

    /// A time on the plant's clock: `2026-11-20 09:30 KST`.
    pub(super) fn clock_time(self, at: Timestamp) -> String {
        self.zone.in_words(at)
    }

    /// The day of the plant's clock on which an instant lies.
    pub(super) fn day(self, at: Timestamp) -> NaiveDate {
        self.zone.local(at).date()
    }

    /// The present day of the plant's clock.
    pub(super) fn today(self) -> Option<NaiveDate> {
        self.now.map(|now| self.day(now))
    }
}
