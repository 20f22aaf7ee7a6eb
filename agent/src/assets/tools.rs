//! The functions behind the tools of the asset graph: search, tags, full information, similar machines,
//! changes, trends, comparison. Values are those that the edge measured and the agent stored.

use std::sync::Arc;

use async_trait::async_trait;
use pdm_graph::{GraphSource as _, Limits, Node, Properties, Query, Scan, Value};
use pdm_service::clock::SharedClock;
use pdm_shared::id::BearingKey;
use pdm_tools::exec::builtin::{Builtin, Builtins};
use pdm_tools::exec::{Failure, Invocation};
use serde_json::{Value as Json, json};

use super::StoredGraph;
use crate::store::{Store, StoreError};

mod changes;
mod information;
mod similar;
mod trend;

/// Most hits of a search, as in the ETF document.
const HITS: u32 = 10;

/// What every function works on.
#[derive(Debug, Clone)]
pub(crate) struct AssetTools {
    store: Arc<dyn Store>,
    graph: StoredGraph,
    clock: SharedClock,
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
    pub(crate) fn new(store: Arc<dyn Store>, clock: SharedClock) -> Self {
        let graph = StoredGraph::new(Arc::clone(&store));
        Self { store, graph, clock }
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
        let found = self.store.search_assets(kind, text, HITS).await.map_err(away)?;
        let key = if kind == "Part" { "part_id" } else { "equipment_id" };
        let fields: &[&str] =
            if kind == "Part" { &["name", "part_no", "stock"] } else { &["name", "model"] };
        Ok(found.iter().map(|node| shown(node, key, fields)).collect())
    }

    async fn tags(&self) -> Result<Json, Failure> {
        let tags = self.store.asset_tags().await.map_err(away)?;
        Ok(tags.into_iter().map(|(name, count)| json!({ "name": name, "count": count })).collect())
    }

    /// Runs a query over the graph with one parameter `id`.
    async fn ask(&self, text: &'static str, id: &str) -> Result<Vec<Vec<Value>>, Failure> {
        let (graph, id) = (self.graph.clone(), Value::from(id));
        self.blocking(move || {
            let query = Query::read(text).map_err(|error| permanent(&error))?;
            let parameters = Properties::from([("id".into(), id)]);
            let table = query.run(&graph, &parameters, &Limits::default());
            table.map(|table| table.rows).map_err(|error| Failure::Transient(error.to_string()))
        })
        .await
    }

    /// Runs something that blocks on the graph.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| Failure::Transient(error.to_string()))?
    }

    /// The node of a machine.
    async fn equipment(&self, id: &str) -> Result<Arc<Node>, Failure> {
        let (graph, wanted) = (self.graph.clone(), Value::from(id));
        let found = self.blocking(move || {
            let scan =
                Scan { labels: vec!["Equipment".into()], equal: vec![("id".into(), wanted)] };
            graph.scan(&scan, None, 1).map_err(|error| Failure::Transient(error.to_string()))
        });
        found.await?.into_iter().next().ok_or_else(|| {
            let message = format!("equipment_id: {id} is no machine of the asset graph; search_equipment finds the ids");
            Failure::Permanent(message)
        })
    }

    /// The bearings that are in a machine now, with the places where they sit.
    async fn bearings(&self, equipment: &str) -> Result<Vec<Json>, Failure> {
        const BEARINGS: &str = "MATCH (e:Equipment {id: $id})<-[i:INSTALLED_IN]-(b:Bearing)
             WHERE i.until IS NULL
             RETURN {bearing_id: b.id, name: b.name, model: b.model, position: i.position}
             ORDER BY b.id";
        let rows = self.ask(BEARINGS, equipment).await?;
        Ok(rows.iter().filter_map(|row| row.first()).map(Value::to_json).collect())
    }
}

#[async_trait]
impl Builtin for Function {
    async fn call(&self, invocation: Invocation<'_>) -> Result<Json, Failure> {
        let Self(tools, tool) = self;
        match tool {
            AssetTool::SearchEquipment => tools.search("Equipment", invocation).await,
            AssetTool::SearchPart => tools.search("Part", invocation).await,
            AssetTool::ListTags => tools.tags().await,
            AssetTool::Information => {
                tools.information(asked(&invocation, "equipment_id")?, information::PARTS).await
            }
            AssetTool::Similar => tools.similar(asked(&invocation, "equipment_id")?).await,
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

fn permanent(error: &dyn std::fmt::Display) -> Failure {
    Failure::Permanent(error.to_string())
}
