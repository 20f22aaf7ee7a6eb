//! The terms for which rows are kept, the room that they take, and the counts of deleted rows.

use pdm_shared::id::{EventId, GatewayKey};

/// The number of days for which each kind of row is kept, 0 for ever. Only days on which the store
/// was looked through count. A row that waits for a judgement or has still to leave stays whatever
/// its age.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forget {
    /// Events.
    pub events_days: u32,
    /// Judgements, with the steps of their runs.
    pub judgements_days: u32,
    /// Notifications and acknowledgements, and that they were delivered or given up.
    pub told_days: u32,
    /// Refused messages, since they were last seen.
    pub refused_days: u32,
    /// Most rows of one kind at a time, so that other writers do not wait for long. A partition is
    /// dropped whole.
    pub limit: u32,
}

/// How much room the store takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreSize {
    /// Bytes of what is stored: what `[store] max_bytes` bounds. Of a file its pages in use; of a
    /// server an estimate out of its statistics, because deleted rows leave their room to new ones.
    pub used_bytes: u64,
    /// Bytes of file or tables, with the room that new rows take first.
    pub held_bytes: u64,
    /// Bytes of a window with its judgement, where `used_bytes` follows a deletion late; else 0.
    pub window_bytes: u64,
}

/// The rows that are deleted to make room, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoomStage {
    /// The spectra of judged windows, the oldest first.
    Spectra,
    /// Windows that were judged Normal, with their judgements, the oldest first.
    NormalWindows,
    /// Other judged windows, the oldest first. What staff was told of them, and their episodes,
    /// stay.
    OtherWindows,
}

impl RoomStage {
    /// The stages in their order.
    pub const ALL: [Self; 3] = [Self::Spectra, Self::NormalWindows, Self::OtherWindows];

    /// The word in metric and log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spectra => "spectra",
            Self::NormalWindows => "normal_windows",
            Self::OtherWindows => "other_windows",
        }
    }
}

/// How much of the store the windows of a gateway take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayPart {
    /// The gateway.
    pub gateway: GatewayKey,
    /// Its windows.
    pub windows: u64,
    /// Bytes of their text.
    pub bytes: u64,
}

/// One amount that was deleted to make room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoomMade {
    /// Windows that were deleted or lost their spectra.
    pub windows: u64,
    /// Windows that were looked at; 0 if this stage has nothing more to delete.
    pub looked_at: u64,
    /// The last event that was looked at for spectra.
    pub through: Option<EventId>,
}

/// How many rows were deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Events; for a partition that was dropped, the number that the server estimates.
    pub events: u64,
    /// Judgements.
    pub judgements: u64,
    /// Notifications.
    pub told: u64,
    /// Refused messages.
    pub refused: u64,
    /// The limit was reached, so there may be more to delete.
    pub has_more: bool,
}
