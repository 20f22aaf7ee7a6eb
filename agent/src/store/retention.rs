//! For how long what is kept is kept.

use pdm_shared::clock::Timestamp;

/// What may go. `None` keeps for ever. Whatever the age: what waits for a judgement or has still to
/// leave stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forget {
    /// Events before this.
    pub events_before: Option<Timestamp>,
    /// Judgements before this, with the steps of their runs.
    pub judgements_before: Option<Timestamp>,
    /// Notifications and acknowledgements before this, and that they were delivered or given up.
    pub told_before: Option<Timestamp>,
    /// Refused messages last seen before this.
    pub refused_before: Option<Timestamp>,
    /// Most rows of one kind at a time, so that nobody waits for long. A partition goes whole.
    pub limit: u32,
}

/// What is gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Events; of a partition that was dropped as many as the server thinks it held.
    pub events: u64,
    /// Judgements.
    pub judgements: u64,
    /// Notifications.
    pub told: u64,
    /// Refused messages.
    pub refused: u64,
    /// There may be more.
    pub has_more: bool,
}
