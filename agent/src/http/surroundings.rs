//! A machine of the asset graph with its neighbours, for the pages.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use pdm_graph::assets::{MachineNode, MachineSite, MachineSites, machine_id_of, machine_id_parts};
use pdm_graph::{Direction, Node, Value};
use pdm_store::{Store, StoreError};
use pdm_web::plant::{MachineAround, MachinePlace, MachinePlaces, Neighbour, Surroundings};

use crate::assets::machines::{
    FoundMachine, designation_of_node, lines_of_machines, machine_of_site, measured_machines,
    nodes_of_kind, sites_of_machine, sites_of_nodes, text_of,
};

/// Most neighbours of a page: as many as a person scrolls through.
const MOST: usize = 200;

/// Returns the surroundings of a machine of a site; an empty site asks for a machine that no site
/// has.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(super) async fn surroundings_of(
    store: &Store,
    site: &str,
    equipment: &str,
) -> Result<MachineAround, StoreError> {
    let machine = match machine_of_site(store, site, equipment).await? {
        FoundMachine::Known(machine) => machine,
        FoundMachine::Unclear(sites) => {
            return Ok(MachineAround::Unclear(sites.iter().map(ToString::to_string).collect()));
        }
        FoundMachine::Unknown => return Ok(MachineAround::Unknown),
    };
    let fans =
        store.graph().graph_relationships(&[machine.id], Direction::Either, &[], MOST).await?;
    let edges = fans.into_values().flatten().collect::<Vec<_>>();
    let ids: Vec<i64> = edges.iter().map(|edge| edge.other(machine.id)).collect();
    let nodes = store.graph().graph_nodes(&ids).await?;
    let nodes: HashMap<i64, _> = nodes.into_iter().map(|node| (node.id, node)).collect();
    let mut neighbours: Vec<Neighbour> = edges
        .iter()
        .filter_map(|edge| {
            let node = nodes.get(&edge.other(machine.id))?;
            Some(Neighbour {
                relation: edge.kind.to_string(),
                outgoing: edge.start == machine.id,
                kind: node.labels.first().map(ToString::to_string).unwrap_or_default(),
                id: text(node, &["id"]),
                name: text(node, &["name", "title", "id"]),
                stock: number(node.properties.get("stock")),
                quantity: number(edge.properties.get("quantity")),
                ended: edge.properties.contains_key("until"),
            })
        })
        .collect();
    // events of older versions may have put another site's bearings into it
    neighbours.retain(|one| one.kind != "Bearing" || is_of_site(&one.id, site));
    neighbours.sort_by(|a, b| (&a.kind, &a.relation, &a.id).cmp(&(&b.kind, &b.relation, &b.id)));
    let has_more = neighbours.len() > MOST;
    neighbours.truncate(MOST);
    let (id, name) = (equipment.to_owned(), text(&machine, &["name", "id"]));
    Ok(MachineAround::Known(Surroundings { id, site: site.to_owned(), name, neighbours, has_more }))
}

fn is_of_site(bearing: &str, site: &str) -> bool {
    site.is_empty() || bearing.split('/').next() == Some(site)
}

/// The sites that have a machine of this id.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(super) async fn sites_of_id(store: &Store, equipment: &str) -> Result<Vec<String>, StoreError> {
    let sites = sites_of_machine(store, equipment).await?;
    Ok(sites.iter().map(ToString::to_string).collect())
}

/// The names and lines of all machines by `site/machine`, and the designations of bearings by their
/// names, for lists. A machine whose site is not clear is left out.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(super) async fn places(store: &Store) -> Result<MachinePlaces, StoreError> {
    let machines = nodes_of_kind(store, "Equipment").await?;
    let fleet = store.pages().fleet().await?;
    let measured = measured_machines(fleet.iter().map(|row| &row.key));
    let sites = sites_of_nodes(store, &machines, &measured).await?;
    let lines = lines_of_machines(store, &machines).await?;
    let mut found = BTreeMap::new();
    let asked: BTreeSet<String> =
        machines.iter().filter_map(|node| of_machine(node, &sites)).collect();
    let by_id: HashMap<&str, &Arc<Node>> =
        machines.iter().filter_map(|node| Some((&**text_of(node, "id")?, node))).collect();
    for full in asked {
        let (Some(site), equipment) = machine_id_parts(&full) else { continue };
        let MachineNode::Known(id) = sites.machine_node(site, equipment) else {
            continue;
        };
        let Some(node) = by_id.get(&*id) else { continue };
        let name = text(node, &["name"]);
        let is_own = !name.is_empty() && *name != *equipment && *name != *id;
        let line = lines.get(&node.id).cloned();
        let place = MachinePlace { name: Some(name).filter(|_| is_own), line };
        if place != MachinePlace::default() {
            found.insert(full, place);
        }
    }
    Ok(MachinePlaces { machines: found, designations: designations(store).await? })
}

/// Returns the site and id of a machine's node; `None` where its site is not clear.
fn of_machine(node: &Node, sites: &MachineSites) -> Option<String> {
    let id = text_of(node, "id")?;
    match sites.site_of(id)? {
        MachineSite::Of(site) => Some(machine_id_of(site, machine_id_parts(id).1)),
        MachineSite::OneOf(_) | MachineSite::Unsaid => None,
    }
}

/// The designations that the graph has of bearings (`model`), by their names.
async fn designations(store: &Store) -> Result<BTreeMap<String, String>, StoreError> {
    let bearings = nodes_of_kind(store, "Bearing").await?;
    let named = bearings
        .iter()
        .filter_map(|node| Some((text_of(node, "id")?.to_string(), designation_of_node(node)?)));
    Ok(named.collect())
}

/// The first of these properties that is a text.
fn text(node: &Node, keys: &[&str]) -> String {
    let mut texts = keys.iter().filter_map(|key| match node.properties.get(*key) {
        Some(Value::Text(text)) => Some(text.to_string()),
        _ => None,
    });
    texts.next().unwrap_or_default()
}

fn number(value: Option<&Value>) -> Option<f64> {
    match value {
        Some(Value::Int(whole)) => Some(*whole as f64),
        Some(Value::Float(number)) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
