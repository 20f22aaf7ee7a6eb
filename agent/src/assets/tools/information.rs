//! Everything about a machine, and two or three machines side by side.

use pdm_graph::Value;
use pdm_shared::risk::RiskLevel;
use pdm_tools::exec::Failure;
use serde_json::Value as Json;

use super::{AssetTools, away, bearing_key};

/// Parts that full information lists, and those of a comparison, as the ETF document lists holdings.
pub(super) const PARTS: usize = 10;
const PARTS_OF_COMPARISON: usize = 5;

const ABOUT: &str = "MATCH (e:Equipment {id: $id})
     RETURN {
       equipment_id: e.id, name: e.name, model: e.model, load: e.load,
       power_kw: e.power_kw, speed_rpm: e.speed_rpm,
       part_of: [(x)-[:HAS_PART]->(e) | {type: head(labels(x)), id: x.id, name: x.name}],
       tags: [(e)-[:TAGGED]->(t) | t.id],
       maintained_by: [(e)-[:MAINTAINED_BY]->(t) | coalesce(t.name, t.id)],
       documents: [(e)-[:DOCUMENTED_IN]->(d) | {document_id: d.id, title: coalesce(d.title, d.name)}],
       fed_by: [(e)-[:FED_BY]->(x) | {equipment_id: x.id, name: x.name}],
       parts: [(e)-[h:HAS_PART]->(p:Part) |
               {part_id: p.id, name: p.name, stock: p.stock, quantity: h.quantity}]
     }";

impl AssetTools {
    /// Full information of a machine with at most `parts` of its parts, most of them first.
    pub(super) async fn information(&self, id: &str, parts: usize) -> Result<Json, Failure> {
        self.equipment(id).await?;
        let rows = self.ask(ABOUT, id).await?;
        let mut about = rows.first().and_then(|row| row.first()).map_or(Json::Null, Value::to_json);
        if let Some(list) = about["parts"].as_array_mut() {
            list.sort_by_key(|part| std::cmp::Reverse(part["quantity"].as_i64().unwrap_or(0)));
            list.truncate(parts);
        }
        if let Some(tags) = about["tags"].as_array_mut() {
            tags.sort_by_key(Json::to_string);
        }
        about["bearings"] = self.standing(id).await?.into();
        let bearings = about["bearings"].as_array().cloned().unwrap_or_default();
        about["changes"] = self.changes_of_level(&bearings).await?;
        Ok(about)
    }

    /// The bearings of a machine with their risk and fault.
    async fn standing(&self, id: &str) -> Result<Vec<Json>, Failure> {
        let mut bearings = self.bearings(id).await?;
        for bearing in &mut bearings {
            let key = bearing["bearing_id"].as_str().and_then(|id| bearing_key(id).ok());
            let known = match &key {
                Some(key) => self.store.standing(key).await.map_err(away)?,
                None => None,
            };
            bearing["risk_level"] = known.as_ref().map(|known| known.risk_level.as_str()).into();
            let fault = known.and_then(|known| known.fault_type);
            bearing["fault_type"] = fault.map(pdm_shared::fault::Fault::as_str).into();
        }
        Ok(bearings)
    }

    /// Two or three machines, named with commas between.
    pub(super) async fn compare(&self, ids: &str) -> Result<Json, Failure> {
        let ids: Vec<&str> = ids.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
        if !(2..=3).contains(&ids.len()) {
            let count = ids.len();
            let message =
                format!("equipment_ids: has {count} ids, expected 2 or 3 with commas between");
            return Err(Failure::Permanent(message));
        }
        let mut compared = Vec::new();
        for id in ids {
            let mut about = self.information(id, PARTS_OF_COMPARISON).await?;
            let risks = about["bearings"].as_array().into_iter().flatten();
            let worst: Option<RiskLevel> =
                risks.filter_map(|bearing| bearing["risk_level"].as_str()?.parse().ok()).max();
            about["worst_risk"] = worst.map(RiskLevel::as_str).into();
            about["change_1m"] = about["changes"]["1m"].clone();
            if let Some(about) = about.as_object_mut() {
                about.remove("changes");
            }
            compared.push(about);
        }
        Ok(compared.into())
    }
}
