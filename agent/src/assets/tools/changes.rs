//! Finds the changes at a machine: bearings that came or went, risks that rose or fell.

use std::cmp::Ordering;

use futures_util::future::try_join_all;
use pdm_graph::{Direction, Properties, Value};
use pdm_shared::risk::RiskLevel;
use pdm_tools::exec::Failure;
use serde_json::{Value as Json, json};

use super::trend::DAY_MS;
use super::{AssetTools, away, bearing_key};

impl AssetTools {
    /// The changes of the last `days`; what is as it was is left out.
    pub(super) async fn changes(&self, id: &str, days: i64) -> Result<Json, Failure> {
        let machine = self.equipment(id).await?;
        let now = self.clock.now();
        let (begin_ms, now_ms) = (now.unix_ms() - days * DAY_MS, now.unix_ms());
        let begin = now.plus_seconds(-(days as f64) * 86_400.0).to_string();
        let now = now.to_string();
        let mut stays = self.beside(&machine, &[("INSTALLED_IN", Direction::In)]).await?;
        stays.retain(|(_, bearing)| bearing.has_label("Bearing"));
        stays.sort_by(|(_, a), (_, b)| text(&a.properties, "id").cmp(&text(&b.properties, "id")));
        let risks = stays.iter().map(|(_, bearing)| async move {
            let Some(Ok(key)) = text(&bearing.properties, "id").map(bearing_key) else {
                return Ok((None, None));
            };
            let graph = self.store.graph();
            let at = |moment| graph.risk_at(&key, moment);
            tokio::try_join!(at(begin_ms), at(now_ms)).map_err(away)
        });
        let risks = try_join_all(risks).await?;
        let mut changes = Vec::new();
        for ((stay, bearing), (old, new)) in stays.iter().zip(risks) {
            let here = |at: &str| {
                text(&stay.properties, "since").is_none_or(|since| since <= at)
                    && text(&stay.properties, "until").is_none_or(|until| until > at)
            };
            let (was, is) = (here(&begin), here(&now));
            let change = match (was, is) {
                (false, true) => Some("added"),
                (true, false) => Some("removed"),
                (true, true) => compared(old, new),
                (false, false) => None,
            };
            let Some(change) = change else { continue };
            changes.push(json!({
                "bearing_id": text(&bearing.properties, "id"),
                "bearing_name": text(&bearing.properties, "name"),
                "position": text(&stay.properties, "position"),
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

/// A property that is a text. Times are days or instants in UTC, which sort as texts.
fn text<'p>(own: &'p Properties, key: &str) -> Option<&'p str> {
    match own.get(key) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}
