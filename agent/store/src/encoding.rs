//! Values as both databases keep them: times as milliseconds, words and JSON as text.

use std::str::FromStr;

use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::fault::Fault;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Judged, StoreError};

pub(super) fn time_of(ms: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_unix_ms(ms)
        .ok_or_else(|| StoreError::Content { what: "a time", reason: format!("{ms} ms") })
}

pub(super) fn word_of<T: FromStr>(what: &'static str, word: &str) -> Result<T, StoreError>
where
    T::Err: std::fmt::Display,
{
    word.parse().map_err(|error: T::Err| StoreError::Content { what, reason: error.to_string() })
}

/// Reads a row of a listing; a row that this version cannot read is left out, logged and counted,
/// so that one name that an earlier version took does not hide all the others.
pub(super) fn readable<T>(row: Result<T, StoreError>) -> Option<T> {
    row.inspect_err(super::log::row_left_out).ok()
}

pub(super) fn json_of<T: DeserializeOwned>(
    what: &'static str,
    text: &str,
) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Content { what, reason: error.to_string() })
}

pub(super) fn to_json<T: Serialize>(what: &'static str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|error| StoreError::Content { what, reason: error.to_string() })
}

pub(super) fn fault_of(word: &str) -> Result<Fault, StoreError> {
    json_of("a fault", &format!("\"{word}\""))
}

/// The word of a value that serialises to a string.
pub(super) fn to_word<T: Serialize>(what: &'static str, value: &T) -> Result<String, StoreError> {
    Ok(to_json(what, value)?.trim_matches('"').to_owned())
}

/// A count as databases hold it, in the type the program uses.
pub(super) fn count_of(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns a P–F stage; 0 for a number that is no stage.
pub(super) fn stage_of(number: i64) -> u8 {
    u8::try_from(number).unwrap_or(0)
}

/// A sequence number in the signed type of databases.
pub(super) fn sequence_of(sequence: u64) -> Result<i64, StoreError> {
    i64::try_from(sequence)
        .map_err(|error| StoreError::Content { what: "a sequence", reason: error.to_string() })
}

/// A row of `pdm_agent_memory`.
#[derive(Debug)]
pub(super) struct MemoryRow<'a> {
    pub(super) event_id: EventId,
    pub(super) key: &'a BearingKey,
    pub(super) measured_at_ms: i64,
    pub(super) judged_at_ms: i64,
    pub(super) late: bool,
    pub(super) fault_type: Option<&'static str>,
    pub(super) fault_stage: i64,
    pub(super) risk_level: &'static str,
    pub(super) degradation_speed: String,
    pub(super) rul_hours: Option<f64>,
    pub(super) rul_assessment: String,
    pub(super) recommendation_ko: &'a str,
    pub(super) recommendation_en: &'a str,
    pub(super) uncertainty: String,
    pub(super) tool_use: String,
    pub(super) follow_up_actions: String,
    pub(super) diagnosis: String,
}

impl<'a> MemoryRow<'a> {
    pub(super) fn of(key: &'a BearingKey, judged: &'a Judged) -> Result<Self, StoreError> {
        let diagnosis: &Diagnosis = &judged.diagnosis;
        Ok(Self {
            event_id: diagnosis.event_id,
            key,
            measured_at_ms: judged.measured_at.unix_ms(),
            judged_at_ms: diagnosis.judged_at.unix_ms(),
            late: judged.late,
            fault_type: diagnosis.fault_type.map(Fault::as_str),
            fault_stage: i64::from(diagnosis.fault_stage),
            risk_level: diagnosis.risk_level.as_str(),
            degradation_speed: to_word("a speed", &diagnosis.degradation.speed)?,
            rul_hours: diagnosis.rul_assessment.hours,
            rul_assessment: to_json("a remaining life", &diagnosis.rul_assessment)?,
            recommendation_ko: &diagnosis.recommendation.ko,
            recommendation_en: &diagnosis.recommendation.en,
            uncertainty: to_json("an uncertainty", &diagnosis.uncertainty)?,
            tool_use: to_json("the tools", &diagnosis.tools)?,
            follow_up_actions: to_json("follow-up actions", &judged.follow_up)?,
            diagnosis: to_json("a diagnosis", diagnosis)?,
        })
    }
}
