//! Everything about a machine, and two or three machines side by side.

use std::sync::Arc;

use futures_util::future::try_join_all;
use pdm_graph::{Direction, Node, Relationship, Value};
use pdm_shared::risk::RiskLevel;
use pdm_tools::exec::Failure;
use serde_json::{Value as Json, json};

use super::{AssetTools, away, bearing_key, bearings_of, shown};

/// Parts that full information lists, and those of a comparison, as the ETF document lists
/// holdings.
pub(super) const PARTS: usize = 10;
const PARTS_OF_COMPARISON: usize = 5;

/// Relationships that full information tells of, in the directions in which it tells of them: each
/// is one statement, `HAS_PART` two.
const TOLD: [(&str, Direction); 6] = [
    ("HAS_PART", Direction::Either),
    ("INSTALLED_IN", Direction::In),
    ("FED_BY", Direction::Out),
    ("MAINTAINED_BY", Direction::Out),
    ("DOCUMENTED_IN", Direction::Out),
    ("TAGGED", Direction::Out),
];

type Beside = [(Arc<Relationship>, Arc<Node>)];

/// The far ends of relationships of one type, those that leave the machine or those that come to
/// it.
fn far<'b>(
    machine: &Node,
    beside: &'b Beside,
    kind: &'static str,
    outgoing: bool,
) -> impl Iterator<Item = (&'b Relationship, &'b Node)> {
    let id = machine.id;
    let fits = move |edge: &Relationship| {
        &*edge.kind == kind && if outgoing { edge.start == id } else { edge.end == id }
    };
    let ends = beside.iter().filter(move |(edge, _)| fits(edge));
    ends.map(|(edge, node)| (edge.as_ref(), node.as_ref()))
}

/// The first of these properties that a node has.
fn own(node: &Node, keys: &[&str]) -> Json {
    let value = keys.iter().find_map(|key| node.properties.get(*key));
    value.map_or(Json::Null, Value::to_json)
}

/// Returns the graph's data of a machine, with at most `parts` of its parts, most of them first.
fn about(machine: &Node, beside: &Beside, parts: usize) -> Json {
    let leaving = |kind| far(machine, beside, kind, true);
    let mut about =
        shown(machine, "equipment_id", &["name", "model", "load", "power_kw", "speed_rpm"]);
    let part_of = far(machine, beside, "HAS_PART", false).map(|(_, whole)| {
        let kind = whole.labels.first().map(ToString::to_string);
        json!({ "type": kind, "id": own(whole, &["id"]), "name": own(whole, &["name"]) })
    });
    about["part_of"] = part_of.collect();
    let mut tags: Vec<Json> = leaving("TAGGED").map(|(_, tag)| own(tag, &["id"])).collect();
    tags.sort_by_key(Json::to_string);
    about["tags"] = tags.into();
    let staff = leaving("MAINTAINED_BY").map(|(_, person)| own(person, &["name", "id"]));
    about["maintained_by"] = staff.collect();
    let documents = leaving("DOCUMENTED_IN").map(|(_, document)| {
        json!({ "document_id": own(document, &["id"]), "title": own(document, &["title", "name"]) })
    });
    about["documents"] = documents.collect();
    let feeding = leaving("FED_BY").map(
        |(_, other)| json!({ "equipment_id": own(other, &["id"]), "name": own(other, &["name"]) }),
    );
    about["fed_by"] = feeding.collect();
    let own_parts = leaving("HAS_PART").filter(|(_, part)| part.has_label("Part"));
    let mut list: Vec<Json> = own_parts
        .map(|(edge, part)| {
            let mut row = shown(part, "part_id", &["name", "stock"]);
            let quantity = edge.properties.get("quantity");
            row["quantity"] = quantity.map_or(Json::Null, Value::to_json);
            row
        })
        .collect();
    list.sort_by_key(|part| std::cmp::Reverse(part["quantity"].as_i64().unwrap_or(0)));
    list.truncate(parts);
    about["parts"] = list.into();
    about
}

impl AssetTools {
    /// Full information of a machine with at most `parts` of its parts, most of them first.
    pub(super) async fn information(&self, id: &str, parts: usize) -> Result<Json, Failure> {
        let machine = self.equipment(id).await?;
        let beside = self.beside(&machine, &TOLD).await?;
        let mut about = about(&machine, &beside, parts);
        let bearings = bearings_of(&machine, &beside);
        let standing = try_join_all(bearings.iter().map(|bearing| self.standing(bearing)));
        let (standing, changes) = tokio::try_join!(standing, self.changes_of_level(&bearings))?;
        about["bearings"] = standing.into();
        about["changes"] = changes;
        Ok(about)
    }

    /// A bearing with its risk and fault.
    async fn standing(&self, bearing: &Json) -> Result<Json, Failure> {
        let mut bearing = bearing.clone();
        let key = bearing["bearing_id"].as_str().and_then(|id| bearing_key(id).ok());
        let known = match &key {
            Some(key) => self.store.pages().standing(key).await.map_err(away)?,
            None => None,
        };
        bearing["risk_level"] = known.as_ref().map(|known| known.risk_level.as_str()).into();
        let fault = known.and_then(|known| known.fault_type);
        bearing["fault_type"] = fault.map(pdm_shared::fault::Fault::as_str).into();
        Ok(bearing)
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
        let found = ids.iter().map(|id| self.information(id, PARTS_OF_COMPARISON));
        let mut compared = Vec::new();
        for mut about in try_join_all(found).await? {
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
