//! What has changed at a machine: bearings that came or went, risks that rose or fell.

use std::cmp::Ordering;

use pdm_graph::Value;
use pdm_shared::risk::RiskLevel;
use pdm_tools::exec::Failure;
use serde_json::{Value as Json, json};

use super::trend::DAY_MS;
use super::{AssetTools, away, bearing_key};

const STAYS: &str = "MATCH (e:Equipment {id: $id})<-[i:INSTALLED_IN]-(b:Bearing)
     RETURN b.id, b.name, i.position, i.since, i.until ORDER BY b.id";

impl AssetTools {
    /// The changes of the last `days`; what is as it was is left out.
    pub(super) async fn changes(&self, id: &str, days: i64) -> Result<Json, Failure> {
        self.equipment(id).await?;
        let now = self.clock.now();
        let (begin_ms, now_ms) = (now.unix_ms() - days * DAY_MS, now.unix_ms());
        let begin = now.plus_seconds(-(days as f64) * 86_400.0).to_string();
        let now = now.to_string();
        let mut changes = Vec::new();
        for row in self.ask(STAYS, id).await? {
            let [Value::Text(bearing), name, position, since, until] = row.as_slice() else {
                continue;
            };
            let here = |at: &str| has_begun(since, at) && !has_ended(until, at);
            let (was, is) = (here(&begin), here(&now));
            let (mut old, mut new) = (None, None);
            if let Ok(key) = bearing_key(bearing) {
                old = self.store.risk_at(&key, begin_ms).await.map_err(away)?;
                new = self.store.risk_at(&key, now_ms).await.map_err(away)?;
            }
            let change = match (was, is) {
                (false, true) => Some("added"),
                (true, false) => Some("removed"),
                (true, true) => compared(old, new),
                (false, false) => None,
            };
            let Some(change) = change else { continue };
            changes.push(json!({
                "bearing_id": bearing,
                "bearing_name": name.to_json(),
                "position": position.to_json(),
                "change_type": change,
                "old_risk": old.filter(|_| was).map(RiskLevel::as_str),
                "new_risk": new.filter(|_| is).map(RiskLevel::as_str),
            }));
        }
        Ok(changes.into())
    }
}

/// Whether the risk rose or fell; a bearing without a judgement is Normal.
fn compared(old: Option<RiskLevel>, new: Option<RiskLevel>) -> Option<&'static str> {
    let (old, new) = (old.unwrap_or(RiskLevel::Normal), new.unwrap_or(RiskLevel::Normal));
    match new.cmp(&old) {
        Ordering::Greater => Some("increased"),
        Ordering::Less => Some("decreased"),
        Ordering::Equal => None,
    }
}

/// Whether a stay has begun at a moment. Times are days or instants in UTC, which sort as texts.
fn has_begun(since: &Value, at: &str) -> bool {
    !matches!(since, Value::Text(since) if &**since > at)
}

fn has_ended(until: &Value, at: &str) -> bool {
    matches!(until, Value::Text(until) if &**until <= at)
}
