//! Machines that are alike: by their bearings, their load and speed, their tags, and how they
//! behave.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use pdm_graph::{Direction, Fans, Node, Value};
use pdm_store::{Store, StoreError};
use pdm_tools::exec::Failure;
use serde_json::{Value as Json, json};

use super::{AssetTools, away};

/// Most machines that are listed, and most that are looked at. No data chose the second: it bounds
/// the statements of one call, and those that share most come first.
const LISTED: usize = 10;
const CANDIDATES: usize = 60;
/// Most relationships that one look follows.
const FOLLOWED: usize = 2_000;

type Features = BTreeMap<i64, BTreeSet<String>>;
type Nodes = HashMap<i64, Arc<Node>>;

impl AssetTools {
    /// The machines most like this one: `overlap` is the number of features that both have,
    /// `similarity` their share of all features of the two, in percent (Jaccard 1901).
    pub(super) async fn similar(&self, id: &str) -> Result<Json, Failure> {
        let own = self.equipment(id).await?;
        let store = &self.store;
        let mut votes: HashMap<i64, usize> = HashMap::new();
        for machine in Box::pin(neighbours(store, own.id)).await.map_err(away)? {
            *votes.entry(machine).or_default() += 1;
        }
        votes.remove(&own.id);
        let mut ranked: Vec<(i64, usize)> = votes.into_iter().collect();
        ranked.sort_by_key(|(machine, votes)| (Reverse(*votes), *machine));
        let mut ids: Vec<i64> = ranked.into_iter().take(CANDIDATES).map(|(id, _)| id).collect();
        ids.push(own.id);
        let (features, nodes) = Box::pin(features(store, &ids)).await.map_err(away)?;
        Ok(alike(own.id, &ids, &features, &nodes).into())
    }
}

fn alike(own: i64, ids: &[i64], features: &Features, nodes: &Nodes) -> Vec<Json> {
    let nothing = BTreeSet::new();
    let mine = features.get(&own).unwrap_or(&nothing);
    let mut rows = Vec::new();
    for node in ids.iter().filter_map(|id| nodes.get(id)) {
        if node.id == own || !node.has_label("Equipment") {
            continue;
        }
        let theirs = features.get(&node.id).unwrap_or(&nothing);
        let shared: Vec<_> = mine.intersection(theirs).cloned().collect();
        if shared.is_empty() {
            continue;
        }
        let similarity = 100.0 * shared.len() as f64 / mine.union(theirs).count() as f64;
        let text = |key: &str| node.properties.get(key).map_or(Json::Null, Value::to_json);
        let row = json!({
            "equipment_id": text("id"),
            "name": text("name"),
            "overlap": shared.len(),
            "similarity": (similarity * 10.0).round() / 10.0,
            "shared": shared,
        });
        rows.push((similarity, text("id").to_string(), row));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    rows.into_iter().take(LISTED).map(|(.., row)| row).collect()
}

/// The other ends of relationships of one type that have not ended, each with the node it is of.
async fn others(
    store: &Store,
    of: &[i64],
    way: Direction,
    kind: &str,
) -> Result<Vec<(i64, i64)>, StoreError> {
    if of.is_empty() {
        return Ok(Vec::new());
    }
    store.graph().graph_relationships(of, way, &[kind.into()], FOLLOWED).await.map(open)
}

/// Returns the same with the nodes at the other ends, in one read.
async fn others_told(
    store: &Store,
    of: &[i64],
    way: Direction,
    kind: &str,
) -> Result<(Vec<(i64, i64)>, Vec<Arc<Node>>), StoreError> {
    if of.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let hops = store.graph().graph_hops(of, way, &[kind.into()], FOLLOWED).await?;
    Ok((open(hops.fans), hops.nodes))
}

/// Each node with the other end of each of its relationships that have not ended.
fn open(fans: Fans) -> Vec<(i64, i64)> {
    let mut pairs = Vec::new();
    for (node, fan) in fans {
        let open = fan.iter().filter(|edge| !edge.properties.contains_key("until"));
        pairs.extend(open.map(|edge| (node, edge.other(node))));
    }
    pairs
}

fn ends(pairs: Vec<(i64, i64)>) -> Vec<i64> {
    pairs.into_iter().map(|(_, end)| end).collect()
}

/// Machines that share a model of bearing, are of the same model, or have a tag in common.
async fn neighbours(store: &Store, own: i64) -> Result<Vec<i64>, StoreError> {
    let own = [own];
    let by_bearings = async {
        let bearings = ends(others(store, &own, Direction::In, "INSTALLED_IN").await?);
        let same = ends(others(store, &bearings, Direction::Either, "SAME_MODEL").await?);
        others(store, &same, Direction::Out, "INSTALLED_IN").await
    };
    let by_tags = async {
        let tags = ends(others(store, &own, Direction::Out, "TAGGED").await?);
        others(store, &tags, Direction::In, "TAGGED").await
    };
    let by_model = others(store, &own, Direction::Either, "SAME_MODEL");
    let (bearings, tags, models) = tokio::try_join!(by_bearings, by_tags, by_model)?;
    Ok([bearings, tags, models].into_iter().flat_map(ends).collect())
}

/// Returns the features by which machines are compared, and the nodes that were read for them, the
/// machines among them. A node comes with the relationship that leads to it, so two reads one after
/// the other are enough.
async fn features(store: &Store, machines: &[i64]) -> Result<(Features, Nodes), StoreError> {
    let by_bearings = async {
        let installed = others_told(store, machines, Direction::In, "INSTALLED_IN").await?;
        let bearings: Vec<i64> = installed.0.iter().map(|(_, bearing)| *bearing).collect();
        let judged = others_told(store, &bearings, Direction::In, "ABOUT").await?;
        Ok((installed, judged))
    };
    let by_tags = others_told(store, machines, Direction::Out, "TAGGED");
    let graph = store.graph();
    let own = graph.graph_nodes(machines);
    let (((installed, bearings), (judged, judgements)), (tagged, tags), own) =
        tokio::try_join!(by_bearings, by_tags, own)?;
    let nodes = [own, bearings, judgements, tags].into_iter().flatten();
    let nodes: Nodes = nodes.map(|node| (node.id, node)).collect();
    let property = |of: &i64, key: &str| nodes.get(of).and_then(|node| node.properties.get(key));
    let mut features = Features::new();
    let mut note = |machine: i64, what: &str, value: Option<&Value>| {
        if let Some(Value::Text(text)) = value {
            features.entry(machine).or_default().insert(format!("{what} {text}"));
        }
    };
    for machine in machines {
        note(*machine, "load", property(machine, "load"));
        let band = property(machine, "speed_rpm").and_then(speed_band).map(Value::from);
        note(*machine, "speed", band.as_ref());
    }
    for (machine, bearing) in &installed {
        note(*machine, "bearing", property(bearing, "model"));
        for (_, judgement) in judged.iter().filter(|(of, _)| of == bearing) {
            note(*machine, "behaviour", property(judgement, "fault_type"));
        }
    }
    for (machine, tag) in &tagged {
        note(*machine, "tag", property(tag, "id"));
    }
    Ok((features, nodes))
}

/// The band of a shaft speed, rpm. The limits are those at which ISO 20816-3 and the common pole
/// numbers of motors change; no data chose them.
fn speed_band(speed: &Value) -> Option<&'static str> {
    let rpm = if let Value::Int(rpm) = speed {
        *rpm as f64
    } else if let Value::Float(rpm) = speed {
        *rpm
    } else {
        return None;
    };
    Some(match rpm {
        rpm if rpm < 120.0 => "below 120 rpm",
        rpm if rpm < 600.0 => "120 to 600 rpm",
        rpm if rpm < 1_200.0 => "600 to 1200 rpm",
        rpm if rpm < 2_000.0 => "1200 to 2000 rpm",
        rpm if rpm < 4_000.0 => "2000 to 4000 rpm",
        _ => "from 4000 rpm",
    })
}
