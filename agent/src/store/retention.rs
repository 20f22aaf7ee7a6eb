//! For how long what is kept is kept.

/// What may go: for how many days each is kept, 0 for ever. A day counts if the store was looked
/// through on it. Whatever the age: what waits for a judgement or has still to leave stays.
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
