//! How long rows are kept, and how many were deleted.

/// For how many days each kind of row is kept, 0 for ever. Only days on which the store was looked through
/// count. A row that waits for a judgement or has still to leave stays whatever its age.
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
    /// Most rows of one kind at a time, so that other writers do not wait for long. A partition is dropped
    /// whole.
    pub limit: u32,
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
