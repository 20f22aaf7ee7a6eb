//! The functions behind the tools of the asset graph: search, tags, full information, similar
//! machines, changes, trends, comparison. Values are those that the edge measured and the agent
//! stored.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use pdm_graph::assets::{machine_id_of, machine_id_parts};
use pdm_graph::{Direction, Limits, Node, Relationship, Value};
use pdm_routes::Zone;
use pdm_service::clock::SharedClock;
use pdm_shared::id::BearingKey;
use pdm_store::{Store, StoreError};
use pdm_tools::exec::builtin::{Builtin, Builtins};
use pdm_tools::exec::{Failure, Invocation};
use serde_json::{Value as Json, json};

use super::StoredGraph;
use super::machines::{FoundMachine, machine_of_site, sites_of_machine};

mod changes;
mod information;
mod similar;
mod trend;

/// Most hits of a search, as in the ETF document.
const HITS: u32 = 10;

/// The store, graph and clock that every function uses.
#[derive(Debug, Clone)]
pub(crate) struct AssetTools {
    store: Store,
    graph: StoredGraph,
    clock: SharedClock,
    /// The zone of the plant's clock, by whose days trends are told.
    zone: Zone,
}

/// The functions, by the names of their tools.
#[derive(Debug, Clone, Copy)]
enum AssetTool {
    SearchEquipment,
    SearchPart,
    ListTags,
    Information,
    Similar,
    Changes,
    EquipmentTrend,
    BearingTrend,
    Compare,
}

struct Function(AssetTools, AssetTool);

impl AssetTools {
    /// The functions on the graph of `store`.
    pub(crate) fn new(store: Store, clock: SharedClock) -> Self {
        let graph = StoredGraph::new(store.clone());
        Self { store, graph, clock, zone: Zone::default() }
    }

    /// Returns the same functions, which tell days of this zone.
    pub(crate) fn in_zone(self, zone: Zone) -> Self {
        Self { zone, ..self }
    }

    /// The graph that queries are asked of.
    pub(crate) const fn graph(&self) -> &StoredGraph {
        &self.graph
    }

    /// Adds every function to those of the program.
    pub(crate) fn add_to(&self, builtins: Builtins) -> Builtins {
        let function = |tool| Function(self.clone(), tool);
        builtins
            .with("search_equipment", function(AssetTool::SearchEquipment))
            .with("search_part", function(AssetTool::SearchPart))
            .with("list_tags", function(AssetTool::ListTags))
            .with("get_equipment_info", function(AssetTool::Information))
            .with("find_similar_equipment", function(AssetTool::Similar))
            .with("get_equipment_changes", function(AssetTool::Changes))
            .with("get_equipment_trend", function(AssetTool::EquipmentTrend))
            .with("get_bearing_trend", function(AssetTool::BearingTrend))
            .with("compare_equipment", function(AssetTool::Compare))
    }

    async fn search(&self, kind: &str, invocation: Invocation<'_>) -> Result<Json, Failure> {
        let text = asked(&invocation, "query")?;
        let found = self.store.graph().search_assets(kind, text, HITS).await.map_err(away)?;
        let key = if kind == "Part" { "part_id" } else { "equipment_id" };
        let fields: &[&str] =
            if kind == "Part" { &["name", "part_no", "stock"] } else { &["name", "model"] };
        Ok(found.iter().map(|node| shown(node, key, fields)).collect())
    }

    async fn tags(&self) -> Result<Json, Failure> {
        let tags = self.store.graph().asset_tags().await.map_err(away)?;
        Ok(tags.into_iter().map(|(name, count)| json!({ "name": name, "count": count })).collect())
    }

    /// The node of a machine: of `SITE/MACHINE`, or of `MACHINE` where one site alone has it.
    async fn equipment(&self, id: &str) -> Result<Arc<Node>, Failure> {
        let store = &self.store;
        let (site, machine) = machine_id_parts(id);
        let sites = sites_of_machine(store, machine).await.map_err(away)?;
        let site = match (site, sites.len()) {
            (Some(site), _) => site,
            (None, 0) => "",
            (None, 1) => sites.first().map(|site| &**site).unwrap_or_default(),
            (None, _) => {
                let ids: Vec<_> = sites.iter().map(|site| machine_id_of(site, machine)).collect();
                let message = format!(
                    "equipment_id: several sites have a {machine}; name one of them: {}",
                    ids.join(", ")
                );
                return Err(Failure::Permanent(message));
            }
        };
        let message = match machine_of_site(store, site, machine).await.map_err(away)? {
            FoundMachine::Known(node) => return Ok(node),
            FoundMachine::Unclear(sites) => format!(
                "equipment_id: the asset graph does not say of which site its {machine} is ({}); \
                 its file should name it SITE/{machine}",
                sites.iter().map(|site| &**site).collect::<Vec<&str>>().join(", ")
            ),
            FoundMachine::Unknown => format!(
                "equipment_id: {id} is no machine of the asset graph; search_equipment finds the \
                 ids"
            ),
        };
        Err(Failure::Permanent(message))
    }

    /// Returns the relationships of a node of these types and directions, each with its other end.
    /// The types are read one by one, side by side: the index over node and type serves each.
    async fn beside(
        &self,
        node: &Node,
        looks: &[(&str, Direction)],
    ) -> Result<Vec<(Arc<Relationship>, Arc<Node>)>, Failure> {
        let most = Limits::default().working_rows;
        let looks = looks.iter().map(|(kind, direction)| async move {
            self.store.graph().graph_hops(&[node.id], *direction, &[Arc::from(*kind)], most).await
        });
        let mut found = Vec::new();
        for hops in try_join_all(looks).await.map_err(away)? {
            let nodes: HashMap<i64, Arc<Node>> =
                hops.nodes.into_iter().map(|node| (node.id, node)).collect();
            let edges = hops.fans.into_values().flatten();
            found.extend(edges.filter_map(|edge| {
                let far = nodes.get(&edge.other(node.id)).cloned()?;
                Some((edge, far))
            }));
        }
        found.sort_by_key(|(edge, _)| edge.id);
        Ok(found)
    }

    /// The bearings that are in a machine now, with the places where they sit.
    async fn bearings(&self, machine: &Node) -> Result<Vec<Json>, Failure> {
        let beside = self.beside(machine, &[("INSTALLED_IN", Direction::In)]).await?;
        Ok(bearings_of(machine, &beside))
    }
}

/// Returns the bearings of a machine among the nodes beside it.
fn bearings_of(machine: &Node, beside: &[(Arc<Relationship>, Arc<Node>)]) -> Vec<Json> {
    let stays = beside.iter().filter(|(edge, bearing)| {
        &*edge.kind == "INSTALLED_IN"
            && edge.end == machine.id
            && !edge.properties.contains_key("until")
            && bearing.has_label("Bearing")
    });
    let mut bearings: Vec<Json> = stays
        .map(|(edge, bearing)| {
            let mut shown = shown(bearing, "bearing_id", &["name", "model"]);
            let position = edge.properties.get("position");
            shown["position"] = position.map_or(Json::Null, Value::to_json);
            shown
        })
        .collect();
    bearings.sort_by_key(|bearing| bearing["bearing_id"].to_string());
    bearings
}

#[async_trait]
impl Builtin for Function {
    fn only_reads(&self) -> bool {
        true
    }

    async fn call(&self, invocation: Invocation<'_>) -> Result<Json, Failure> {
        let Self(tools, tool) = self;
        match tool {
            AssetTool::SearchEquipment => tools.search("Equipment", invocation).await,
            AssetTool::SearchPart => tools.search("Part", invocation).await,
            AssetTool::ListTags => tools.tags().await,
            AssetTool::Information => {
                tools.information(asked(&invocation, "equipment_id")?, information::PARTS).await
            }
            AssetTool::Similar => {
                Box::pin(tools.similar(asked(&invocation, "equipment_id")?)).await
            }
            AssetTool::Changes => {
                let period =
                    trend::days_of(invocation.text("period").unwrap_or("1d"), &["1d", "1w", "1m"])?;
                tools.changes(asked(&invocation, "equipment_id")?, period).await
            }
            AssetTool::EquipmentTrend => {
                let period = invocation.text("period").unwrap_or("1m");
                tools.equipment_trend(asked(&invocation, "equipment_id")?, period).await
            }
            AssetTool::BearingTrend => {
                let period = invocation.text("period").unwrap_or("1m");
                tools.bearing_trend(asked(&invocation, "bearing_id")?, period).await
            }
            AssetTool::Compare => tools.compare(asked(&invocation, "equipment_ids")?).await,
        }
    }
}

/// A text argument that is not empty.
fn asked<'i>(invocation: &'i Invocation<'_>, name: &str) -> Result<&'i str, Failure> {
    let text = invocation.text(name).map(str::trim).unwrap_or_default();
    if text.is_empty() {
        return Err(Failure::Permanent(format!("{name}: is empty, expected a text")));
    }
    Ok(text)
}

/// The full name of a bearing, `site/equipment/bearing`.
fn bearing_key(id: &str) -> Result<BearingKey, Failure> {
    let wrong = || {
        Failure::Permanent(format!(
            "bearing_id: {id} is no bearing; its form is site/equipment/bearing"
        ))
    };
    let parts: Vec<&str> = id.split('/').collect();
    let [site, equipment, bearing] = parts.as_slice() else { return Err(wrong()) };
    BearingKey::parse(site, equipment, bearing).map_err(|_| wrong())
}

fn shown(node: &Node, key: &str, fields: &[&str]) -> Json {
    let own = |field: &str| node.properties.get(field).map_or(Json::Null, Value::to_json);
    let mut shown = json!({ key: own("id") });
    for field in fields {
        shown[*field] = own(field);
    }
    shown
}

fn away(error: StoreError) -> Failure {
    Failure::Transient(pdm_service::error_chain::error_chain(&error))
}
