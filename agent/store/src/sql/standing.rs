//! The state of a bearing as its row holds it, read so that no damage of it makes an alarm fall.
//!
//! Invariant: a state that this version cannot read is taken from the columns beside it (risk,
//! stage and element), so the bearing stands as badly as staff was told. The loss is logged with
//! the bearing's name and counted.

use std::collections::BTreeMap;

use pdm_expert::case::{BearingState, PointState};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use serde_json::Value;

use crate::database::Row;
use crate::encoding::{fault_of, json_of, readable, stage_of, time_of, word_of};
use crate::{StoreError, log};

/// The key of a bearing's only measuring point, under which a state without readable points stands.
const UNNAMED_POINT: &str = "-";

/// The state of a bearing, from a row with the columns `state`, `risk_level`, `fault_stage`,
/// `fault_type` and `last_measured_at_ms`.
pub(super) fn state_of(key: &BearingKey, row: &Row) -> Result<BearingState, StoreError> {
    let text = row.get::<&str>("state")?;
    let error = match json_of::<BearingState>("a bearing's state", text) {
        Ok(state) => return Ok(state),
        Err(error) => error,
    };
    log::state_rebuilt(key, &error);
    rebuilt(text, row)
}

/// The state as the columns tell it, with the measuring points that can still be read.
fn rebuilt(text: &str, row: &Row) -> Result<BearingState, StoreError> {
    let risk: RiskLevel = word_of("a risk", row.get("risk_level")?)?;
    let at = row.get::<Option<i64>>("last_measured_at_ms")?.map(time_of).transpose()?;
    let told = PointState {
        risk,
        stage: stage_of(row.get("fault_stage")?),
        fault: row.get::<Option<&str>>("fault_type")?.and_then(|word| readable(fault_of(word))),
        ..PointState::default()
    };
    let told = PointState { measured_at: at.unwrap_or(told.measured_at), ..told };
    let stored: Option<Value> = serde_json::from_str(text).ok();
    let stored = stored.as_ref().and_then(|state| state.get("points")).and_then(Value::as_object);
    let mut points: BTreeMap<String, PointState> = BTreeMap::new();
    for (name, point) in stored.into_iter().flatten() {
        let point = serde_json::from_value(point.clone()).unwrap_or_else(|_| told.clone());
        points.insert(name.clone(), point);
    }
    let state = BearingState { points, ..BearingState::default() };
    if state.risk() >= risk {
        return Ok(BearingState { since: at.filter(|_| risk > RiskLevel::Normal), ..state });
    }
    let mut points = state.points;
    points.insert(UNNAMED_POINT.to_owned(), told);
    Ok(BearingState { points, since: at, ..BearingState::default() })
}
