//! What events and judgements bring into the asset graph: the machines and bearings that sent
//! something, the last judged event and judgement of each, and the work that it asked for.
//!
//! What a file has said of a node stays: only what is not there is added, and digests are renewed.

use std::collections::HashSet;
use std::sync::Arc;

use pdm_graph::assets::{AssetChange, Assets, DIGEST_TYPES, EdgeName, NodeName, difference};
use pdm_graph::{Properties, Value};
use pdm_shared::event::Event;
use pdm_store::{FollowUpState, Store, StoreError};
use pdm_web::plant::BearingRow;

/// Whether the agent brought a node itself.
pub(crate) fn is_own(name: &NodeName, properties: &Properties) -> bool {
    DIGEST_TYPES.contains(&&*name.kind) || properties.get("from_events") == Some(&Value::Bool(true))
}

/// Whether the agent brings relationships of this name.
pub(crate) fn is_own_edge(name: &EdgeName) -> bool {
    DIGEST_TYPES.contains(&&*name.from.kind)
}

/// What the store says of a bearing.
struct Brought {
    bearing: BearingRow,
    /// The last event that was judged.
    event: Option<Event>,
    /// The work order of the last judgement, with its open actions.
    work: Option<(String, usize)>,
}

/// Brings the graph up to date with the store's events and judgements; tells what has changed.
///
/// # Errors
/// [`StoreError`] if the store does not answer; nothing has changed then.
pub(crate) async fn refresh(store: &Store) -> Result<AssetChange, StoreError> {
    let mut all = Vec::new();
    for bearing in store.pages().fleet().await? {
        let (mut event, mut work) = (None, None);
        if let Some(event_id) = bearing.event_id {
            event = store.history().event(event_id).await?;
            let actions = store.follow_ups().follow_up(event_id).await?;
            let open = actions.iter().filter(|action| action.state == FollowUpState::Open).count();
            let order = actions.iter().find_map(|action| action.work_order.clone());
            work = order.map(|order| (order, open));
        }
        all.push(Brought { bearing, event, work });
    }
    let mut change = AssetChange::default();
    let revise = &mut |before: &Assets| {
        change = difference(before, &with(before, &all));
        (!change.is_empty()).then(|| change.clone())
    };
    store.graph().change_assets(revise).await?;
    Ok(change)
}

fn with(before: &Assets, all: &[Brought]) -> Assets {
    let (mut after, mut known) = (before.clone(), Known::of(before));
    for Brought { bearing, event, work } in all {
        add_bearing(&mut after, &mut known, bearing);
        if let Some(event) = event {
            add_event(&mut after, bearing, event);
        }
        if bearing.event_id.is_some() {
            add_judgement(&mut after, bearing, work.clone());
        }
    }
    after
}

/// What the graph says of where machines and bearings are.
struct Known {
    /// Nodes that are part of something.
    parts: HashSet<NodeName>,
    /// Bearings that are or were in a machine.
    installed: HashSet<NodeName>,
    /// Machines with the positions that a bearing holds now.
    places: HashSet<(NodeName, String)>,
}

impl Known {
    fn of(assets: &Assets) -> Self {
        let of =
            |kind: &'static str| assets.edges.iter().filter(move |(edge, _)| &*edge.kind == kind);
        let stays = of("INSTALLED_IN").filter(|(_, own)| !own.contains_key("until"));
        let places = stays.map(|(edge, own)| {
            let position = match own.get("position") {
                Some(Value::Text(position)) => position.to_string(),
                _ => edge.from.id.rsplit('/').next().unwrap_or_default().to_owned(),
            };
            (edge.to.clone(), position)
        });
        Self {
            parts: of("HAS_PART").map(|(edge, _)| edge.to.clone()).collect(),
            installed: of("INSTALLED_IN").map(|(edge, _)| edge.from.clone()).collect(),
            places: places.collect(),
        }
    }
}

fn own(entries: &[(&str, Value)]) -> Properties {
    let known = entries.iter().filter(|(_, value)| !value.is_null());
    known.map(|(key, value)| (Arc::from(*key), value.clone())).collect()
}

/// Adds what is not there: site, machine, bearing, and where the bearing sits.
fn add_bearing(assets: &mut Assets, known: &mut Known, row: &BearingRow) {
    let (site, equipment, bearing) =
        (row.key.site.to_string(), row.key.equipment.to_string(), row.key.bearing.to_string());
    let mut node = |kind: &str, id: &str, name: &str| {
        let name_of = NodeName::new(kind, id);
        let made =
            || own(&[("id", id.into()), ("name", name.into()), ("from_events", true.into())]);
        assets.nodes.entry(name_of.clone()).or_insert_with(made);
        name_of
    };
    let place = node("Site", &site, &site);
    let machine = node("Equipment", &equipment, &equipment);
    let part = node("Bearing", &row.key.to_string(), &bearing);
    let nothing = Properties::new();
    if known.parts.insert(machine.clone()) {
        let edge = EdgeName::new("HAS_PART", place, machine.clone(), &nothing);
        assets.edges.insert(edge, nothing.clone());
    }
    // a file may have another bearing at this place: then the file is right
    let free = known.places.insert((machine.clone(), bearing.clone()));
    if known.installed.insert(part.clone()) && free {
        let at = own(&[("position", bearing.as_str().into())]);
        assets.edges.insert(EdgeName::new("INSTALLED_IN", part, machine, &at), at);
    }
}

/// The last judged event of a bearing takes the place of the one before.
fn add_event(assets: &mut Assets, row: &BearingRow, event: &Event) {
    let bearing = NodeName::new("Bearing", row.key.to_string());
    let digest = NodeName::new("Event", row.key.to_string());
    let number = |value: Option<f64>| value.map_or(Value::Null, Value::Float);
    let properties = own(&[
        ("id", (*digest.id).into()),
        ("name", format!("{} {}", row.key, event.measured_at).as_str().into()),
        ("event_id", event.event_id.to_string().as_str().into()),
        ("measured_at", event.measured_at.to_string().as_str().into()),
        ("state", event.operating.state.as_str().into()),
        ("shaft_speed_rpm", number(event.operating.shaft_speed_rpm)),
        ("anomaly_detected", event.anomaly_detected.into()),
        ("anomaly_score", number(event.anomaly.score)),
        ("velocity_rms_mm_s", number(event.time_domain.velocity_rms_mm_s)),
        ("rms_g", number(event.time_domain.rms_g)),
        ("kurtosis", number(event.time_domain.kurtosis)),
    ]);
    let nothing = Properties::new();
    assets.nodes.insert(digest.clone(), properties);
    assets.edges.insert(EdgeName::new("OBSERVED_ON", digest, bearing, &nothing), nothing);
}

/// The last judgement of a bearing takes the place of the one before.
fn add_judgement(assets: &mut Assets, row: &BearingRow, work: Option<(String, usize)>) {
    let bearing = NodeName::new("Bearing", row.key.to_string());
    let judgement = NodeName::new("Judgement", row.key.to_string());
    let text = |text: Option<String>| text.map_or(Value::Null, |text| Value::from(text.as_str()));
    let properties = own(&[
        ("id", (*judgement.id).into()),
        ("name", format!("{} {}", row.key, row.risk_level).as_str().into()),
        ("event_id", text(row.event_id.map(|id| id.to_string()))),
        ("measured_at", text(row.measured_at.map(|at| at.to_string()))),
        ("judged_at", text(Some(row.judged_at.to_string()))),
        ("risk_level", row.risk_level.as_str().into()),
        ("fault_stage", i64::from(row.fault_stage).into()),
        ("fault_type", row.fault_type.map_or(Value::Null, |fault| fault.as_str().into())),
        ("rul_hours", row.rul_hours.map_or(Value::Null, Value::Float)),
    ]);
    let nothing = Properties::new();
    assets.nodes.insert(judgement.clone(), properties);
    let about = EdgeName::new("ABOUT", judgement.clone(), bearing, &nothing);
    assets.edges.insert(about, nothing.clone());
    if let Some((order, open)) = work {
        let name = NodeName::new("WorkOrder", order.as_str());
        let open = i64::try_from(open).unwrap_or(i64::MAX);
        let properties = own(&[
            ("id", order.as_str().into()),
            ("name", order.as_str().into()),
            ("open_actions", open.into()),
        ]);
        assets.nodes.insert(name.clone(), properties);
        assets.edges.insert(EdgeName::new("ASKED_BY", name, judgement, &nothing), nothing);
    }
}

#[cfg(test)]
mod tests;
