//! A property graph in memory, for graphs that come from files: those of tool packs, and those of
//! tests.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pdm_tools::pack::{Cell, PackGraph, PackProperties, PackRelationship};

use crate::source::{Direction, Fans, GraphSource, Scan, SourceError};
use crate::value::{Node, Properties, Relationship, Value, equal};

/// A property graph in memory. Identities count from 0 in the order of insertion.
#[derive(Debug, Clone, Default)]
pub struct MemoryGraph {
    nodes: BTreeMap<i64, Arc<Node>>,
    relationships: BTreeMap<i64, Arc<Relationship>>,
    by_label: HashMap<Arc<str>, Vec<i64>>,
    out: HashMap<i64, Vec<i64>>,
    incoming: HashMap<i64, Vec<i64>>,
    next: i64,
}

impl MemoryGraph {
    /// Adds a node and tells its identity.
    pub fn add_node(&mut self, labels: Vec<Arc<str>>, properties: Properties) -> i64 {
        let id = self.next;
        self.next += 1;
        let mut labels = labels;
        labels.sort();
        labels.dedup();
        for label in &labels {
            self.by_label.entry(Arc::clone(label)).or_default().push(id);
        }
        self.nodes.insert(id, Arc::new(Node { id, labels, properties: Arc::new(properties) }));
        id
    }

    /// Adds a relationship and tells its identity; `None` if one of its ends does not exist.
    pub fn add_relationship(
        &mut self,
        start: i64,
        kind: impl Into<Arc<str>>,
        end: i64,
        properties: Properties,
    ) -> Option<i64> {
        if !self.nodes.contains_key(&start) || !self.nodes.contains_key(&end) {
            return None;
        }
        let id = self.next;
        self.next += 1;
        let properties = Arc::new(properties);
        let relationship = Relationship { id, kind: kind.into(), start, end, properties };
        self.relationships.insert(id, Arc::new(relationship));
        self.out.entry(start).or_default().push(id);
        self.incoming.entry(end).or_default().push(id);
        Some(id)
    }

    /// Removes a relationship.
    pub fn remove_relationship(&mut self, id: i64) {
        if let Some(gone) = self.relationships.remove(&id) {
            for (ends, node) in [(&mut self.out, gone.start), (&mut self.incoming, gone.end)] {
                if let Some(ids) = ends.get_mut(&node) {
                    ids.retain(|other| *other != id);
                }
            }
        }
    }

    /// Number of nodes and of relationships.
    pub fn size(&self) -> (usize, usize) {
        (self.nodes.len(), self.relationships.len())
    }

    /// Every label with the number of its nodes.
    pub fn labels(&self) -> impl Iterator<Item = (&str, usize)> {
        self.by_label.iter().map(|(label, nodes)| (label.as_ref(), nodes.len()))
    }

    fn fits(&self, id: i64, scan: &Scan) -> Option<Arc<Node>> {
        let node = self.nodes.get(&id)?;
        let labelled = scan.labels.iter().all(|label| node.has_label(label));
        let fits = labelled
            && scan.equal.iter().all(|(key, value)| {
                node.properties.get(key).is_some_and(|own| equal(own, value) == Some(true))
            });
        fits.then(|| Arc::clone(node))
    }

    fn fan(&self, node: i64, direction: Direction) -> impl Iterator<Item = &Arc<Relationship>> {
        let ids = |ends: &'_ HashMap<i64, Vec<i64>>, wanted: bool| {
            if wanted { ends.get(&node).cloned().unwrap_or_default() } else { Vec::new() }
        };
        let out = ids(&self.out, direction != Direction::In);
        let incoming = ids(&self.incoming, direction != Direction::Out);
        // a loop stands in both lists, and is one relationship
        let skip_loops = direction == Direction::Either;
        let out = out.into_iter().filter_map(|id| self.relationships.get(&id));
        let incoming = incoming.into_iter().filter_map(|id| self.relationships.get(&id));
        out.chain(incoming.filter(move |r| !(skip_loops && r.start == r.end)))
    }
}

impl From<&PackGraph> for MemoryGraph {
    fn from(pack: &PackGraph) -> Self {
        let own = |cells: &PackProperties| {
            let values = cells.iter().map(|(name, cell)| (name.as_str().into(), value_of(cell)));
            values.filter(|(_, value): &(Arc<str>, Value)| !value.is_null()).collect::<Properties>()
        };
        let mut graph = Self::default();
        let ids: Vec<i64> = pack
            .nodes
            .iter()
            .map(|node| graph.add_node(vec![node.label.as_str().into()], own(&node.properties)))
            .collect();
        for PackRelationship { kind, from, to, properties } in &pack.relationships {
            if let (Some(from), Some(to)) = (ids.get(*from), ids.get(*to)) {
                graph.add_relationship(*from, kind.as_str(), *to, own(properties));
            }
        }
        graph
    }
}

fn value_of(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Text(text) => Value::from(text.as_str()),
        Cell::Integer(whole) => Value::Int(*whole),
        Cell::Real(number) => Value::Float(*number),
        Cell::Boolean(is) => Value::Bool(*is),
    }
}

impl GraphSource for MemoryGraph {
    fn scan(
        &self,
        scan: &Scan,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Arc<Node>>, SourceError> {
        let from = after.map_or(0, |id| id + 1);
        let rarest = scan.labels.iter().map(|label| self.by_label.get(label));
        let rarest = rarest.min_by_key(|ids| ids.map_or(0, Vec::len));
        Ok(match rarest {
            Some(None) => Vec::new(),
            Some(Some(ids)) => {
                let begin = ids.partition_point(|id| *id < from);
                let ids = ids[begin..].iter();
                ids.filter_map(|id| self.fits(*id, scan)).take(limit).collect()
            }
            None => {
                let ids = self.nodes.range(from..).map(|(id, _)| *id);
                ids.filter_map(|id| self.fits(id, scan)).take(limit).collect()
            }
        })
    }

    fn nodes(&self, ids: &[i64]) -> Result<Vec<Arc<Node>>, SourceError> {
        Ok(ids.iter().filter_map(|id| self.nodes.get(id)).cloned().collect())
    }

    fn relationships(
        &self,
        of: &[i64],
        direction: Direction,
        kinds: &[Arc<str>],
        limit: usize,
    ) -> Result<Fans, SourceError> {
        let mut fans = Fans::new();
        let mut count = 0;
        for node in of {
            let fan = self.fan(*node, direction);
            let fan = fan.filter(|r| kinds.is_empty() || kinds.contains(&r.kind));
            let fan: Vec<_> = fan.take(limit - count).cloned().collect();
            count += fan.len();
            fans.insert(*node, fan);
            if count >= limit {
                break;
            }
        }
        Ok(fans)
    }
}
