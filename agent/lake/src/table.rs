//! The tables of the archive: their columns, and what of the agent's store each row is.
//!
//! Every table is partitioned by `day`, the UTC day that the row belongs to, and sorted by bearing
//! within a file. A column that is added here arrives in tables of before by a commit of its own
//! ([`crate::lake::Table::fit_schema`]).

use crate::value::ColumnKind::{self, Bool, Float, Floats, Int, Ints, Text, Texts, Time};

mod event_columns;

pub use event_columns::{EVENT_COLUMNS, SPECTRA_COLUMNS};

/// The partition column of every table.
pub const DAY: &str = "day";
/// The column for what has no column of its own, JSON.
pub const REST: &str = "rest";

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: ColumnKind,
    /// Where its value stands: a path in the event's JSON, or an expression of SQL.
    pub from: &'static str,
}

const fn column(name: &'static str, kind: ColumnKind, from: &'static str) -> Column {
    Column { name, kind, from }
}

/// How rows of the store become rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowSource {
    /// The payload of an event, taken apart.
    Events,
    /// The spectra of an event.
    Spectra,
    /// The columns of the statement as they are.
    Columns,
}

/// A table of the archive.
#[derive(Debug, Clone, Copy)]
pub struct TableSpec {
    /// Its name and folder.
    pub name: &'static str,
    /// What its rows are, for the README.
    pub about: &'static str,
    /// Its columns without `day`.
    pub columns: &'static [Column],
    /// The columns that a row is known by.
    pub key: &'static [&'static str],
    /// How rows are made.
    pub source: RowSource,
    /// FROM and WHERE of the rows that are final.
    pub sql_from: &'static str,
    /// The instant that says the day of a row, ms.
    pub sql_at_ms: &'static str,
    /// The parts of the key; `ID` before an identity.
    pub sql_key: &'static [&'static str],
    /// What goes up with each row that comes or changes.
    pub sql_last: &'static str,
    /// Order within a file behind the bearing.
    pub sql_order: &'static str,
}

impl TableSpec {
    /// The place of a column.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

const JUDGEMENTS: &[Column] = &[
    column("site", Text, "site"),
    column("equipment_id", Text, "equipment_id"),
    column("bearing_id", Text, "bearing_id"),
    column("measured_at", Time, "measured_at_ms"),
    column("event_id", Text, "ID event_id"),
    column("judged_at", Time, "judged_at_ms"),
    column("late", Bool, "late"),
    column("risk_level", Text, "risk_level"),
    column("fault_type", Text, "fault_type"),
    column("fault_stage", Int, "fault_stage"),
    column("degradation_speed", Text, "degradation_speed"),
    column("rul_hours", Float, "rul_hours"),
    column("recommendation_ko", Text, "recommendation_ko"),
    column("recommendation_en", Text, "recommendation_en"),
    column("diagnosis", Text, "diagnosis"),
];

const EPISODES: &[Column] = &[
    column("site", Text, "site"),
    column("equipment_id", Text, "equipment_id"),
    column("bearing_id", Text, "bearing_id"),
    column("closed_at", Time, "closed_at_ms"),
    column("episode_id", Text, "ID episode_id"),
    column("sequence", Int, "sequence"),
    column("opened_at", Time, "opened_at_ms"),
    column("told_since", Time, "NULLIF(since_ms, 0)"),
    column("transition", Text, "transition"),
    column("state", Text, "state"),
    column("risk_level", Text, "risk_level"),
    column("repeats", Int, "repeats"),
    column("course", Text, "course"),
    column("acknowledgement", Text, "acknowledgement"),
    column("suppression", Text, "suppression"),
    column("notification", Text, "notification"),
];

const FOLLOW_UPS: &[Column] = &[
    column("site", Text, "site"),
    column("equipment_id", Text, "equipment_id"),
    column("bearing_id", Text, "bearing_id"),
    column("at", Time, "at_ms"),
    column("event_id", Text, "ID event_id"),
    column("number", Int, "number"),
    column("asked_at", Time, "asked_at_ms"),
    column("due_at", Time, "due_at_ms"),
    column("action_ko", Text, "action_ko"),
    column("action_en", Text, "action_en"),
    column("work_order", Text, "work_order"),
    column("state", Text, "state"),
    column("by_whom", Text, "by_whom"),
    column("note", Text, "note"),
    column("repaired", Bool, "repaired"),
    column("verdict", Text, "verdict"),
    column("element", Text, "element"),
    column("cause", Text, "cause"),
];

/// All tables, in the order in which a day is archived.
pub const TABLES: &[TableSpec] = &[
    TableSpec {
        name: "events",
        about: "one row a window; typed columns of pdm.event/1, the rest as JSON in `rest`",
        columns: EVENT_COLUMNS,
        key: &["event_id"],
        source: RowSource::Events,
        sql_from: "FROM events",
        sql_at_ms: "measured_at_ms",
        sql_key: &["ID event_id"],
        sql_last: "arrival",
        sql_order: "measured_at_ms, arrival",
    },
    TableSpec {
        name: "spectra",
        about: "the spectra of the events that carry them, by event_id",
        columns: SPECTRA_COLUMNS,
        key: &["event_id"],
        source: RowSource::Spectra,
        // most events say that they have none; what is left is looked at
        sql_from: "FROM events WHERE payload NOT LIKE '%\"spectra\":null%'",
        sql_at_ms: "measured_at_ms",
        sql_key: &["ID event_id"],
        sql_last: "arrival",
        sql_order: "measured_at_ms, arrival",
    },
    TableSpec {
        name: "judgements",
        about: "one row a judgement; `diagnosis` is pdm.diagnosis/1 as JSON",
        columns: JUDGEMENTS,
        key: &["event_id"],
        source: RowSource::Columns,
        sql_from: "FROM pdm_agent_memory",
        sql_at_ms: "measured_at_ms",
        sql_key: &["ID event_id"],
        sql_last: "id",
        sql_order: "measured_at_ms, id",
    },
    TableSpec {
        name: "episodes",
        about: "one row an episode that is closed, on the day on which it closed",
        columns: EPISODES,
        key: &["episode_id"],
        source: RowSource::Columns,
        sql_from: "FROM episodes WHERE closed_at_ms IS NOT NULL",
        sql_at_ms: "closed_at_ms",
        sql_key: &["ID episode_id"],
        sql_last: "closed_at_ms",
        sql_order: "closed_at_ms, episode_id",
    },
    TableSpec {
        name: "follow_ups",
        about: "one row a work item whenever it was settled (done, dropped, superseded) or settled \
                anew: of several with one (event_id, number) the last `at` counts",
        columns: FOLLOW_UPS,
        key: &["event_id", "number", "at"],
        source: RowSource::Columns,
        sql_from: "FROM follow_ups WHERE state <> 'open' AND at_ms IS NOT NULL",
        sql_at_ms: "at_ms",
        sql_key: &["ID event_id", "number", "at_ms"],
        sql_last: "at_ms",
        sql_order: "at_ms, event_id, number",
    },
];

/// The table of this name.
pub fn table(name: &str) -> Option<&'static TableSpec> {
    TABLES.iter().find(|table| table.name == name)
}
