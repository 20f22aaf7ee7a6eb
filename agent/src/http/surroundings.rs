//! A machine of the asset graph with its neighbours, for the pages.

use std::collections::{BTreeMap, HashMap};

use pdm_graph::{Direction, Fans, Node, Scan, Value};
use pdm_store::{Store, StoreError};
use pdm_web::plant::{MachinePlace, Neighbour, Surroundings};

/// Most neighbours of a page: what a person scrolls through.
const MOST: usize = 200;

/// Most machines whose names are read: ten times the plant of the trials.
const MOST_MACHINES: usize = 10_000;

/// What stands beside a machine; `None` if the graph does not know it.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(super) async fn surroundings_of(
    store: &Store,
    equipment: &str,
) -> Result<Option<Surroundings>, StoreError> {
    let scan =
        Scan { labels: vec!["Equipment".into()], equal: vec![("id".into(), equipment.into())] };
    let Some(machine) = store.graph().graph_scan(&scan, None, 1).await?.into_iter().next() else {
        return Ok(None);
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
    neighbours.sort_by(|a, b| (&a.kind, &a.relation, &a.id).cmp(&(&b.kind, &b.relation, &b.id)));
    let has_more = neighbours.len() > MOST;
    neighbours.truncate(MOST);
    let (id, name) = (text(&machine, &["id"]), text(&machine, &["name", "id"]));
    Ok(Some(Surroundings { id, name, neighbours, has_more }))
}

/// The names and lines of all machines by their ids, for lists; a machine that has neither is left out.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(super) async fn places(store: &Store) -> Result<BTreeMap<String, MachinePlace>, StoreError> {
    let of = |label: &str| Scan { labels: vec![label.into()], equal: Vec::new() };
    let machines = store.graph().graph_scan(&of("Equipment"), None, MOST_MACHINES).await?;
    let lines = store.graph().graph_scan(&of("Line"), None, MOST_MACHINES).await?;
    let ids: Vec<i64> = lines.iter().map(|line| line.id).collect();
    let parts = if ids.is_empty() {
        Fans::new()
    } else {
        let kinds = ["HAS_PART".into()];
        store.graph().graph_relationships(&ids, Direction::Out, &kinds, MOST_MACHINES).await?
    };
    let mut line_of: HashMap<i64, String> = HashMap::new();
    for line in &lines {
        for edge in parts.get(&line.id).into_iter().flatten() {
            if !edge.properties.contains_key("until") {
                line_of.insert(edge.end, text(line, &["name", "id"]));
            }
        }
    }
    let placed = machines.iter().map(|node| {
        let (id, name) = (text(node, &["id"]), text(node, &["name"]));
        let name = Some(name).filter(|name| !name.is_empty() && *name != id);
        (id, MachinePlace { name, line: line_of.get(&node.id).cloned() })
    });
    Ok(placed.filter(|(_, place)| *place != MachinePlace::default()).collect())
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
