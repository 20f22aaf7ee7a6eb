//! Machines of the asset graph by site and id, as the store holds them. Every look-up of a machine
//! goes through here: two sites may each have a machine of one id.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use pdm_graph::assets::{
    Assets, EdgeName, MachineNode, MachineSites, MeasuredMachine, NodeName, machine_id_of,
    machine_id_parts,
};
use pdm_graph::{Direction, Node, Relationship, Scan, Value};
use pdm_shared::id::BearingKey;
use pdm_store::{Store, StoreError};

/// Most machines, lines or bearings that one look reads: ten times the plant of the trials.
const MOST: usize = 50_000;
/// Most relationships of one look.
const MOST_EDGES: usize = 200_000;
/// Most wholes above one another, such as site, line, machine, assembly.
const MOST_DEPTH: usize = 12;

/// A machine that was looked up.
#[derive(Debug, Clone)]
pub(crate) enum FoundMachine {
    /// Its node.
    Known(Arc<Node>),
    /// A node without a site, which may be of any of these.
    Unclear(BTreeSet<Arc<str>>),
    /// The graph does not know it.
    Unknown,
}

/// The machines that these bearings are in, as events name them.
pub(crate) fn measured_machines<'k>(
    keys: impl Iterator<Item = &'k BearingKey>,
) -> BTreeSet<MeasuredMachine> {
    keys.map(|key| (Arc::from(key.site.as_str()), Arc::from(key.equipment.as_str()))).collect()
}

/// A machine of a site.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(crate) async fn machine_of_site(
    store: &Store,
    site: &str,
    equipment: &str,
) -> Result<FoundMachine, StoreError> {
    let mut nodes = Vec::new();
    for id in [machine_id_of(site, equipment), equipment.to_owned()] {
        nodes.extend(node_of_id(store, "Equipment", &id).await?);
    }
    let rows = store.pages().machine(equipment).await?;
    let measured = measured_machines(rows.iter().map(|row| &row.key));
    let sites = sites_of_nodes(store, &nodes, &measured).await?;
    Ok(match sites.machine_node(site, equipment) {
        MachineNode::Known(id) => {
            let node = nodes.into_iter().find(|node| text_of(node, "id") == Some(&id));
            node.map_or(FoundMachine::Unknown, FoundMachine::Known)
        }
        MachineNode::Unclear(sites) => FoundMachine::Unclear(sites),
        MachineNode::Unknown => FoundMachine::Unknown,
    })
}

/// The sites that have a machine of this id: those of its bearings, and those that the graph names.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(crate) async fn sites_of_machine(
    store: &Store,
    equipment: &str,
) -> Result<BTreeSet<Arc<str>>, StoreError> {
    let rows = store.pages().machine(equipment).await?;
    let mut sites: BTreeSet<Arc<str>> =
        rows.iter().map(|row| Arc::from(row.key.site.as_str())).collect();
    for node in nodes_of_kind(store, "Site").await? {
        let Some(site) = text_of(&node, "id").cloned() else { continue };
        if sites.contains(&site) {
            continue;
        }
        let found = machine_of_site(store, &site, equipment).await?;
        if let FoundMachine::Known(_) = found {
            sites.insert(site);
        }
    }
    Ok(sites)
}

/// A node by its type and id.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(crate) async fn node_of_id(
    store: &Store,
    kind: &str,
    id: &str,
) -> Result<Option<Arc<Node>>, StoreError> {
    let scan = Scan { labels: vec![kind.into()], equal: vec![("id".into(), id.into())] };
    Ok(store.graph().graph_scan(&scan, None, 1).await?.into_iter().next())
}

/// Every node of a type.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(crate) async fn nodes_of_kind(store: &Store, kind: &str) -> Result<Vec<Arc<Node>>, StoreError> {
    let scan = Scan { labels: vec![kind.into()], equal: Vec::new() };
    store.graph().graph_scan(&scan, None, MOST).await
}

/// Reads the sites of machines from the nodes beside and above them.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(crate) async fn sites_of_nodes(
    store: &Store,
    machines: &[Arc<Node>],
    measured: &BTreeSet<MeasuredMachine>,
) -> Result<MachineSites, StoreError> {
    let mut part = GraphPart::default();
    let mut lowest = Vec::new();
    for machine in machines {
        part.add(machine);
        let id = text_of(machine, "id").map(|id| &**id).unwrap_or_default();
        // an id with its site says all
        if machine_id_parts(id).0.is_none() {
            lowest.push(machine.id);
        }
    }
    let stays = hops_into(store, &lowest, "INSTALLED_IN").await?;
    part.join(&stays);
    for _ in 0..MOST_DEPTH {
        if lowest.is_empty() {
            break;
        }
        let wholes = hops_into(store, &lowest, "HAS_PART").await?;
        lowest = part.join(&wholes);
    }
    Ok(MachineSites::of_assets(&part.assets, measured))
}

/// The line of each machine node that is on one.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(crate) async fn lines_of_machines(
    store: &Store,
    machines: &[Arc<Node>],
) -> Result<BTreeMap<i64, String>, StoreError> {
    let ids: Vec<i64> = machines.iter().map(|machine| machine.id).collect();
    let (edges, nodes) = hops_into(store, &ids, "HAS_PART").await?;
    let nodes: HashMap<i64, Arc<Node>> = nodes.into_iter().map(|node| (node.id, node)).collect();
    let open = edges.iter().filter(|edge| !edge.properties.contains_key("until"));
    let lines = open.filter_map(|edge| {
        let line = nodes.get(&edge.start).filter(|whole| whole.has_label("Line"))?;
        let name = text_of(line, "name").or_else(|| text_of(line, "id"))?;
        Some((edge.end, name.to_string()))
    });
    Ok(lines.collect())
}

type EdgesWithEnds = (Vec<Arc<Relationship>>, Vec<Arc<Node>>);

/// The relationships of one type that come to these nodes, and where they come from.
async fn hops_into(store: &Store, of: &[i64], kind: &str) -> Result<EdgesWithEnds, StoreError> {
    if of.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let kinds = [Arc::from(kind)];
    let hops = store.graph().graph_hops(of, Direction::In, &kinds, MOST_EDGES).await?;
    Ok((hops.fans.into_values().flatten().collect(), hops.nodes))
}

/// A part of the stored graph.
#[derive(Default)]
struct GraphPart {
    assets: Assets,
    names: HashMap<i64, NodeName>,
}

impl GraphPart {
    fn add(&mut self, node: &Node) -> bool {
        let kind = node.labels.first().cloned().unwrap_or_else(|| "".into());
        let id = text_of(node, "id").cloned().unwrap_or_else(|| "".into());
        let name = NodeName::new(kind, id);
        self.assets.nodes.insert(name.clone(), (*node.properties).clone());
        self.names.insert(node.id, name).is_none()
    }

    /// Adds relationships with the nodes that they come from. Returns the nodes that were not
    /// there.
    fn join(&mut self, (edges, nodes): &EdgesWithEnds) -> Vec<i64> {
        let mut new = Vec::new();
        for node in nodes {
            if self.add(node) {
                new.push(node.id);
            }
        }
        for edge in edges {
            if let (Some(from), Some(to)) = (self.names.get(&edge.start), self.names.get(&edge.end))
            {
                let own = &edge.properties;
                let name = EdgeName::new(&edge.kind, from.clone(), to.clone(), own);
                self.assets.edges.insert(name, (**own).clone());
            }
        }
        new
    }
}

/// A property of a node that is a text.
pub(crate) fn text_of<'n>(node: &'n Node, key: &str) -> Option<&'n Arc<str>> {
    match node.properties.get(key) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

/// The designation that the graph has of a bearing's node (`model`, as a text or a number).
pub(crate) fn designation_of_node(node: &Node) -> Option<String> {
    let model = node.properties.get("model")?;
    let model = if let Value::Text(model) = model {
        model.trim().to_owned()
    } else if let Value::Int(model) = model {
        model.to_string()
    } else {
        return None;
    };
    Some(model).filter(|model| !model.is_empty())
}

/// The designation that the graph has of a bearing.
///
/// # Errors
/// [`StoreError`] if the store does not answer.
pub(crate) async fn designation_in_graph(
    store: &Store,
    key: &BearingKey,
) -> Result<Option<String>, StoreError> {
    let node = node_of_id(store, "Bearing", &key.to_string()).await?;
    Ok(node.and_then(|node| designation_of_node(&node)))
}
