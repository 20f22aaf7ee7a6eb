//! Brings digests of events and judgements into the asset graph: the machines and bearings that
//! sent something, the last judged event and judgement of each, and the work that it asked for.
//!
//! Entries of a file about a node are kept: the digests are renewed, and otherwise only missing
//! entries are added.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use pdm_graph::assets::{
    AssetChange, Assets, DIGEST_TYPES, EdgeName, FROM_EVENTS, MachineNode, MachineSite,
    MachineSites, MeasuredMachine, NodeName, difference, is_from_events, machine_id_of,
};
use pdm_graph::{Properties, Value};
use pdm_shared::event::Event;
use pdm_store::{FollowUpState, Store, StoreError};
use pdm_web::plant::BearingRow;

use super::machines::measured_machines;

/// Whether the agent brought a node itself.
pub(crate) fn is_own(name: &NodeName, properties: &Properties) -> bool {
    DIGEST_TYPES.contains(&&*name.kind) || is_from_events(properties)
}

/// Whether the agent put a bearing into a machine itself. Versions that did not mark it gave it a
/// position and nothing else.
fn is_own_stay(assets: &Assets, name: &EdgeName, properties: &Properties) -> bool {
    let is_unmarked = || {
        let is_brought = assets.nodes.get(&name.from).is_some_and(is_from_events);
        is_brought && properties.keys().all(|key| &**key == "position")
    };
    &*name.kind == "INSTALLED_IN" && (is_from_events(properties) || is_unmarked())
}

/// Takes the stays that the agent brought out of `after` where a file says something else: its
/// bearing sits elsewhere, or its place holds another bearing.
pub(crate) fn give_way(before: &Assets, new: &Assets, after: &mut Assets) {
    let stays = |edge: &EdgeName, own: &Properties| {
        (&*edge.kind == "INSTALLED_IN").then(|| (edge.to.clone(), position_of(edge, own)))
    };
    let places: HashSet<_> = new.edges.iter().filter_map(|(edge, own)| stays(edge, own)).collect();
    let bearings = new.edges.keys().filter(|edge| &*edge.kind == "INSTALLED_IN");
    let bearings: HashSet<&NodeName> = bearings.map(|edge| &edge.from).collect();
    for (edge, own) in &before.edges {
        let is_named = bearings.contains(&edge.from)
            || stays(edge, own).is_some_and(|place| places.contains(&place));
        if is_named && !new.edges.contains_key(edge) && is_own_stay(before, edge, own) {
            after.edges.remove(edge);
        }
    }
}

/// Whether the agent brings relationships of this name.
pub(crate) fn is_own_edge(name: &EdgeName) -> bool {
    DIGEST_TYPES.contains(&&*name.from.kind)
}

/// The store's data of a bearing for its digest.
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
    let measured = measured_machines(all.iter().map(|one| &one.bearing.key));
    let mut after = before.clone();
    let mut known = Known::of(before, measured);
    for Brought { bearing, event, work } in all {
        add_bearing(&mut after, &mut known, bearing);
        if let Some(event) = event {
            add_event(&mut after, bearing, event);
        }
        if bearing.event_id.is_some() {
            add_judgement(&mut after, bearing, work.clone());
        }
    }
    remove_empty(&mut after, &known.sites);
    after
}

/// Takes out machines without a site that events brought, that may be of several, and that no
/// bearing is in any more.
fn remove_empty(assets: &mut Assets, sites: &MachineSites) {
    let nodes = assets.nodes.iter();
    let unclear = nodes.filter(|(name, own)| {
        &*name.kind == "Equipment"
            && is_from_events(own)
            && matches!(sites.site_of(&name.id), Some(MachineSite::OneOf(_)))
    });
    for name in unclear.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
        let touches = |edge: &EdgeName| edge.from == name || edge.to == name;
        let of_site = |edge: &EdgeName| &*edge.kind == "HAS_PART" && &*edge.from.kind == "Site";
        if assets.edges.keys().filter(|edge| touches(edge)).all(of_site) {
            assets.edges.retain(|edge, _| !touches(edge));
            assets.nodes.remove(&name);
        }
    }
}

/// The places of machines and bearings that the graph already holds.
struct Known {
    /// The sites of machines.
    sites: MachineSites,
    /// The machines that events name.
    measured: BTreeSet<MeasuredMachine>,
    /// The ids of machines that stand in the graph.
    machines: HashSet<Arc<str>>,
    /// Nodes that are part of something.
    parts: HashSet<NodeName>,
    /// Bearings that are or were in a machine.
    installed: HashSet<NodeName>,
    /// Where the agent itself has put bearings.
    own_stays: HashMap<NodeName, EdgeName>,
    /// Machines with the positions that a bearing holds now.
    places: HashSet<(NodeName, String)>,
}

/// The position of a bearing in a machine; the last part of its id where nothing says another.
fn position_of(edge: &EdgeName, own: &Properties) -> String {
    match own.get("position") {
        Some(Value::Text(position)) => position.to_string(),
        _ => edge.from.id.rsplit('/').next().unwrap_or_default().to_owned(),
    }
}

impl Known {
    fn of(assets: &Assets, measured: BTreeSet<MeasuredMachine>) -> Self {
        let of =
            |kind: &'static str| assets.edges.iter().filter(move |(edge, _)| &*edge.kind == kind);
        let stays = of("INSTALLED_IN").filter(|(_, own)| !own.contains_key("until"));
        let places = stays.map(|(edge, own)| (edge.to.clone(), position_of(edge, own)));
        let own_stays = of("INSTALLED_IN").filter(|(edge, own)| is_own_stay(assets, edge, own));
        let machines = assets.nodes.keys().filter(|name| &*name.kind == "Equipment");
        Self {
            sites: MachineSites::of_assets(assets, &measured),
            measured,
            machines: machines.map(|name| Arc::clone(&name.id)).collect(),
            parts: of("HAS_PART").map(|(edge, _)| edge.to.clone()).collect(),
            installed: of("INSTALLED_IN").map(|(edge, _)| edge.from.clone()).collect(),
            own_stays: own_stays.map(|(edge, _)| (edge.from.clone(), edge.clone())).collect(),
            places: places.collect(),
        }
    }

    /// The id of the machine's node: the one that stands there, or a new one, which has its site
    /// where another site has a machine of this id.
    fn machine_id(&self, site: &str, equipment: &str) -> String {
        let is_of_another =
            self.measured.iter().any(|(other, id)| **other != *site && **id == *equipment);
        match self.sites.machine_node(site, equipment) {
            MachineNode::Known(id) => id.to_string(),
            MachineNode::Unknown if !is_of_another && !self.machines.contains(equipment) => {
                equipment.to_owned()
            }
            MachineNode::Unclear(_) | MachineNode::Unknown => machine_id_of(site, equipment),
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
        let made = || own(&[("id", id.into()), ("name", name.into()), (FROM_EVENTS, true.into())]);
        assets.nodes.entry(name_of.clone()).or_insert_with(made);
        name_of
    };
    let place = node("Site", &site, &site);
    let machine = node("Equipment", &known.machine_id(&site, &equipment), &equipment);
    let part = node("Bearing", &row.key.to_string(), &bearing);
    if known.parts.insert(machine.clone()) {
        let brought = own(&[(FROM_EVENTS, true.into())]);
        let edge = EdgeName::new("HAS_PART", place, machine.clone(), &brought);
        assets.edges.insert(edge, brought);
    }
    // the agent has put it into a machine that is, or may be, another site's
    if known.own_stays.get(&part).is_some_and(|stay| stay.to != machine)
        && let Some(stay) = known.own_stays.remove(&part)
    {
        assets.edges.remove(&stay);
        known.installed.remove(&part);
    }
    // a file may have another bearing at this place: then the file is right
    let is_held = known.installed.contains(&part);
    if !is_held && known.places.insert((machine.clone(), bearing.clone())) {
        known.installed.insert(part.clone());
        let at = own(&[("position", bearing.as_str().into()), (FROM_EVENTS, true.into())]);
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
