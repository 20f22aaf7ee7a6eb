//! Machines that are alike: by their bearings, their load and speed, their tags, and how they behave.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use pdm_graph::{Direction, GraphSource, Node, SourceError, Value};
use pdm_tools::exec::Failure;
use serde_json::{Value as Json, json};

use super::{AssetTools, StoredGraph};

/// Most machines that are listed, and most that are looked at. No data chose the second: it bounds the
/// statements of one call, and those that share most come first.
const LISTED: usize = 10;
const CANDIDATES: usize = 60;
/// Most relationships that one look follows.
const FOLLOWED: usize = 2_000;

type Result<T> = std::result::Result<T, SourceError>;
type Features = BTreeMap<i64, BTreeSet<String>>;

impl AssetTools {
    /// The machines most like this one: `overlap` is the number of features that both have,
    /// `similarity` their share of all features of the two, in percent (Jaccard 1901).
    pub(super) async fn similar(&self, id: &str) -> std::result::Result<Json, Failure> {
        let own = self.equipment(id).await?;
        let graph = self.graph.clone();
        let found = self.blocking(move || {
            alike(&graph, &own).map_err(|error| Failure::Transient(error.to_string()))
        });
        Ok(found.await?.into())
    }
}

fn alike(graph: &StoredGraph, own: &Arc<Node>) -> Result<Vec<Json>> {
    let mut votes: HashMap<i64, usize> = HashMap::new();
    for machine in neighbours(graph, own)? {
        *votes.entry(machine).or_default() += 1;
    }
    votes.remove(&own.id);
    let mut ranked: Vec<(i64, usize)> = votes.into_iter().collect();
    ranked.sort_by_key(|(machine, votes)| (Reverse(*votes), *machine));
    let mut ids: Vec<i64> = ranked.into_iter().take(CANDIDATES).map(|(id, _)| id).collect();
    ids.push(own.id);
    let features = features(graph, &ids)?;
    let nothing = BTreeSet::new();
    let mine = features.get(&own.id).unwrap_or(&nothing);
    let mut rows = Vec::new();
    for node in graph.nodes(&ids)? {
        if node.id == own.id || !node.has_label("Equipment") {
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
    Ok(rows.into_iter().take(LISTED).map(|(.., row)| row).collect())
}

/// The other ends of relationships of one type that have not ended, each with the node it is of.
fn others(graph: &StoredGraph, of: &[i64], way: Direction, kind: &str) -> Result<Vec<(i64, i64)>> {
    if of.is_empty() {
        return Ok(Vec::new());
    }
    let fans = graph.relationships(of, way, &[kind.into()], FOLLOWED)?;
    let mut pairs = Vec::new();
    for (node, fan) in fans {
        let open = fan.iter().filter(|edge| !edge.properties.contains_key("until"));
        pairs.extend(open.map(|edge| (node, edge.other(node))));
    }
    Ok(pairs)
}

fn ends(pairs: Vec<(i64, i64)>) -> Vec<i64> {
    pairs.into_iter().map(|(_, end)| end).collect()
}

/// Machines that share a model of bearing, are of the same model, or have a tag in common.
fn neighbours(graph: &StoredGraph, own: &Arc<Node>) -> Result<Vec<i64>> {
    let bearings = ends(others(graph, &[own.id], Direction::In, "INSTALLED_IN")?);
    let same = ends(others(graph, &bearings, Direction::Either, "SAME_MODEL")?);
    let mut machines = ends(others(graph, &same, Direction::Out, "INSTALLED_IN")?);
    machines.extend(ends(others(graph, &[own.id], Direction::Either, "SAME_MODEL")?));
    let tags = ends(others(graph, &[own.id], Direction::Out, "TAGGED")?);
    machines.extend(ends(others(graph, &tags, Direction::In, "TAGGED")?));
    Ok(machines)
}

/// What machines are known by.
fn features(graph: &StoredGraph, machines: &[i64]) -> Result<Features> {
    let installed = others(graph, machines, Direction::In, "INSTALLED_IN")?;
    let bearings: Vec<i64> = installed.iter().map(|(_, bearing)| *bearing).collect();
    let judged = others(graph, &bearings, Direction::In, "ABOUT")?;
    let tagged = others(graph, machines, Direction::Out, "TAGGED")?;
    let far = judged.iter().chain(&tagged).map(|(_, end)| end);
    let ids: BTreeSet<i64> = machines.iter().chain(&bearings).chain(far).copied().collect();
    let nodes: HashMap<i64, Arc<Node>> = graph
        .nodes(&ids.into_iter().collect::<Vec<_>>())?
        .into_iter()
        .map(|node| (node.id, node))
        .collect();
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
    Ok(features)
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
