//! Matches a pattern: every step takes many rows, asks the graph once, and hands its rows on in
//! pieces, so that a `LIMIT` stops the search and memory holds one piece a step.

use std::sync::Arc;

use super::{Row, Run};
use crate::error::{QueryError, Result};
use crate::plan::{End, Expansion, Expr, PatternPlan, PlanStep};
use crate::source::{Direction, Fans, Scan};
use crate::value::{Path, Relationship, Value, equal};

/// Rows of one piece. No data chose it: large enough that a statement's cost is shared by many
/// rows, small enough that a `LIMIT` wastes little.
const PIECE: usize = 512;

/// Collects the rows of a pattern.
struct MatchedRows {
    rows: Vec<Row>,
    want: Option<usize>,
}

impl MatchedRows {
    fn is_full(&self) -> bool {
        self.want.is_some_and(|want| self.rows.len() >= want)
    }
}

/// Something that a path of variable length has walked so far.
struct Walk {
    row: usize,
    end: i64,
    relationships: Vec<Arc<Relationship>>,
}

impl Run<'_> {
    /// The rows that extend `rows` by the pattern; at most `want`.
    pub(super) fn matched(
        &self,
        plan: &PatternPlan,
        rows: Vec<Row>,
        want: Option<usize>,
    ) -> Result<Vec<Row>> {
        let mut found = MatchedRows { rows: Vec::new(), want };
        let wide = rows.into_iter().map(|mut row| {
            row.resize(plan.width, Value::Null);
            row
        });
        self.steps(&plan.steps, wide.collect(), &mut found)?;
        Ok(found.rows)
    }

    fn steps(&self, steps: &[PlanStep], rows: Vec<Row>, found: &mut MatchedRows) -> Result<()> {
        let Some((step, rest)) = steps.split_first() else {
            for row in rows {
                self.budget.hold(row.len() * size_of::<Value>())?;
                found.rows.push(row);
            }
            return self.budget.rows(found.rows.len());
        };
        for piece in rows.chunks(PIECE) {
            if found.is_full() {
                return Ok(());
            }
            self.budget.check_time()?;
            if let PlanStep::Scan { slot, labels, lookup } = step {
                self.scan(*slot, labels, lookup, piece, rest, found)?;
            } else {
                let next = self.step(step, piece)?;
                self.budget.rows(next.len())?;
                self.steps(rest, next, found)?;
            }
        }
        Ok(())
    }

    fn step(&self, step: &PlanStep, rows: &[Row]) -> Result<Vec<Row>> {
        match step {
            PlanStep::Scan { .. } => Ok(rows.to_vec()),
            PlanStep::IsNode { slot } => is_node(*slot, rows),
            PlanStep::Ends { relationship, left, right, direction, kinds } => {
                self.ends(*relationship, *left, *right, *direction, kinds, rows)
            }
            PlanStep::Expand(hop) => self.expand(hop, rows),
            PlanStep::ExpandMany { hop, min, max, test } => {
                self.expand_many(hop, *min, *max, test, rows)
            }
            PlanStep::Path { slot, parts } => {
                rows.iter().map(|row| self.path(*slot, parts, row.clone())).collect()
            }
            PlanStep::Filter(condition) => {
                let mut kept = Vec::new();
                for row in rows {
                    let mut row = row.clone();
                    if self.holds(condition, &mut row)? {
                        kept.push(row);
                    }
                }
                Ok(kept)
            }
        }
    }

    fn scan(
        &self,
        slot: usize,
        labels: &[Arc<str>],
        lookup: &[(Arc<str>, Expr)],
        rows: &[Row],
        rest: &[PlanStep],
        found: &mut MatchedRows,
    ) -> Result<()> {
        for row in rows {
            let mut row = row.clone();
            let mut scan = Scan { labels: labels.to_vec(), equal: Vec::new() };
            for (key, value) in lookup {
                scan.equal.push((Arc::clone(key), self.eval(value, &mut row)?));
            }
            // nothing equals null
            if scan.equal.iter().any(|(_, value)| value.is_null()) {
                continue;
            }
            let mut after = None;
            loop {
                if found.is_full() {
                    return Ok(());
                }
                self.budget.check_time()?;
                let nodes = self.graph.scan(&scan, after, PIECE)?;
                self.keep(nodes.iter())?;
                let Some(last) = nodes.last() else { break };
                after = Some(last.id);
                let whole = nodes.len() < PIECE;
                let bound = nodes.into_iter().map(|node| {
                    let mut row = row.clone();
                    row[slot] = Value::Node(node);
                    row
                });
                self.steps(rest, bound.collect(), found)?;
                if whole {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Reads the relationships of many nodes, in looks of at most 500 nodes, and keeps the nodes at
    /// their other ends.
    fn fans(&self, of: &mut Vec<i64>, hop: &Expansion) -> Result<Fans> {
        of.sort_unstable();
        of.dedup();
        let most = self.budget.limits().working_rows;
        let (mut fans, mut count) = (Fans::new(), 0);
        for piece in of.chunks(500) {
            self.budget.check_time()?;
            let found = self.graph.hops(piece, hop.direction, &hop.kinds, most + 1)?;
            count += found.fans.values().map(Vec::len).sum::<usize>();
            self.budget.rows(count)?;
            self.keep(found.nodes.iter())?;
            fans.extend(found.fans);
        }
        self.budget.hold(count * 64)?;
        Ok(fans)
    }

    fn expand(&self, hop: &Expansion, rows: &[Row]) -> Result<Vec<Row>> {
        let mut of: Vec<i64> = rows.iter().filter_map(|row| node_id(row, hop.from)).collect();
        let fans = self.fans(&mut of, hop)?;
        let mut out = Vec::new();
        let mut ends = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let Some(from) = node_id(row, hop.from) else { continue };
            for relationship in fans.get(&from).into_iter().flatten() {
                self.budget.step()?;
                let to = relationship.other(from);
                if differs(row, hop, relationship) && reaches(row, hop, relationship, to)? {
                    out.push((index, Arc::clone(relationship), to));
                    ends.push(to);
                }
            }
            self.budget.rows(out.len())?;
        }
        self.nodes(&ends)?;
        out.into_iter()
            .map(|(index, relationship, to)| {
                let mut row = rows[index].clone();
                row[hop.relationship] = Value::Relationship(relationship);
                if !hop.to.bound {
                    row[hop.to.slot] = Value::Node(self.node(to)?);
                }
                Ok(row)
            })
            .collect()
    }

    fn expand_many(
        &self,
        hop: &Expansion,
        min: usize,
        max: Option<usize>,
        test: &[(Arc<str>, Expr)],
        rows: &[Row],
    ) -> Result<Vec<Row>> {
        let deepest = self.budget.limits().depth;
        let starts = rows.iter().enumerate();
        let mut walks: Vec<Walk> = starts
            .filter_map(|(row, values)| Some((row, node_id(values, hop.from)?)))
            .map(|(row, end)| Walk { row, end, relationships: Vec::new() })
            .collect();
        let mut out = Vec::new();
        for length in 0.. {
            if length >= min {
                self.arrive(hop, rows, &walks, &mut out)?;
            }
            if walks.is_empty() || max.is_some_and(|max| length >= max) {
                break;
            }
            let next = self.further(hop, test, rows, &walks)?;
            if length >= deepest && !next.is_empty() {
                return Err(self.budget.depth());
            }
            walks = next;
        }
        Ok(out)
    }

    /// Every walk by one relationship longer.
    fn further(
        &self,
        hop: &Expansion,
        test: &[(Arc<str>, Expr)],
        rows: &[Row],
        walks: &[Walk],
    ) -> Result<Vec<Walk>> {
        let mut of: Vec<i64> = walks.iter().map(|walk| walk.end).collect();
        let fans = self.fans(&mut of, hop)?;
        let mut next = Vec::new();
        for walk in walks {
            for relationship in fans.get(&walk.end).into_iter().flatten() {
                self.budget.step()?;
                let again = walk.relationships.iter().any(|own| own.id == relationship.id);
                if again
                    || !differs(&rows[walk.row], hop, relationship)
                    || !self.passes(test, &rows[walk.row], relationship)?
                {
                    continue;
                }
                let mut relationships = walk.relationships.clone();
                relationships.push(Arc::clone(relationship));
                self.budget.hold(relationships.len() * size_of::<usize>())?;
                let end = relationship.other(walk.end);
                next.push(Walk { row: walk.row, end, relationships });
            }
            self.budget.rows(next.len())?;
        }
        Ok(next)
    }

    fn passes(
        &self,
        test: &[(Arc<str>, Expr)],
        row: &Row,
        relationship: &Relationship,
    ) -> Result<bool> {
        for (key, value) in test {
            let wanted = self.eval(value, &mut row.clone())?;
            let own = relationship.properties.get(key).unwrap_or(&Value::Null);
            if equal(own, &wanted) != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn arrive(
        &self,
        hop: &Expansion,
        rows: &[Row],
        walks: &[Walk],
        out: &mut Vec<Row>,
    ) -> Result<()> {
        let ends: Vec<i64> = walks.iter().map(|walk| walk.end).collect();
        self.nodes(&ends)?;
        for walk in walks {
            let row = &rows[walk.row];
            if hop.to.bound && node_at(row, hop.to.slot)? != Some(walk.end) {
                continue;
            }
            let walked = walk.relationships.iter().cloned().map(Value::Relationship);
            let mut list: Vec<Value> = walked.collect();
            if hop.backward {
                list.reverse();
            }
            let list = Value::list(list);
            if hop.relationship_bound && equal(&row[hop.relationship], &list) != Some(true) {
                continue;
            }
            let mut row = row.clone();
            row[hop.relationship] = list;
            if !hop.to.bound {
                row[hop.to.slot] = Value::Node(self.node(walk.end)?);
            }
            out.push(row);
            self.budget.rows(out.len())?;
        }
        Ok(())
    }

    fn ends(
        &self,
        slot: usize,
        left: End,
        right: End,
        direction: Direction,
        kinds: &[Arc<str>],
        rows: &[Row],
    ) -> Result<Vec<Row>> {
        let mut out = Vec::new();
        for row in rows {
            let relationship = match &row[slot] {
                Value::Relationship(relationship) => Arc::clone(relationship),
                Value::Null => continue,
                other => return Err(no("a relationship", other)),
            };
            if !kinds.is_empty() && !kinds.contains(&relationship.kind) {
                continue;
            }
            let (start, end) = (relationship.start, relationship.end);
            let ways: &[(i64, i64)] = match direction {
                Direction::Out => &[(start, end)],
                Direction::In => &[(end, start)],
                Direction::Either if start == end => &[(start, end)],
                Direction::Either => &[(start, end), (end, start)],
            };
            self.nodes(&[start, end])?;
            for (first, second) in ways {
                let mut row = row.clone();
                if self.tie(&mut row, left, *first)? && self.tie(&mut row, right, *second)? {
                    out.push(row);
                }
            }
        }
        Ok(out)
    }

    /// Binds an end to a node, or compares it with that node.
    fn tie(&self, row: &mut Row, end: End, id: i64) -> Result<bool> {
        if end.bound {
            return Ok(node_at(row, end.slot)? == Some(id));
        }
        row[end.slot] = Value::Node(self.node(id)?);
        Ok(true)
    }

    fn path(&self, slot: usize, parts: &[usize], mut row: Row) -> Result<Row> {
        let mut path = Path { nodes: Vec::new(), relationships: Vec::new() };
        for part in parts {
            match &row[*part] {
                // the nodes after the first come with the relationships
                Value::Node(node) if path.nodes.is_empty() => path.nodes.push(Arc::clone(node)),
                Value::Relationship(relationship) => self.walk(&mut path, relationship)?,
                Value::List(list) => {
                    for item in list.iter() {
                        if let Value::Relationship(relationship) = item {
                            self.walk(&mut path, relationship)?;
                        }
                    }
                }
                _ => {}
            }
        }
        row[slot] = Value::Path(Arc::new(path));
        Ok(row)
    }

    /// Adds a relationship and the node at its other end.
    fn walk(&self, path: &mut Path, relationship: &Arc<Relationship>) -> Result<()> {
        let from = path.nodes.last().map_or(relationship.start, |node| node.id);
        path.relationships.push(Arc::clone(relationship));
        path.nodes.push(self.node(relationship.other(from))?);
        Ok(())
    }
}

/// Whether what is bound already at the relationship and its far end is what was found.
fn reaches(row: &Row, hop: &Expansion, relationship: &Relationship, to: i64) -> Result<bool> {
    if hop.relationship_bound {
        match &row[hop.relationship] {
            Value::Relationship(own) if own.id == relationship.id => {}
            Value::Relationship(_) | Value::Null => return Ok(false),
            other => return Err(no("a relationship", other)),
        }
    }
    Ok(!hop.to.bound || node_at(row, hop.to.slot)? == Some(to))
}

fn is_node(slot: usize, rows: &[Row]) -> Result<Vec<Row>> {
    let mut kept = Vec::new();
    for row in rows {
        if node_at(row, slot)?.is_some() {
            kept.push(row.clone());
        }
    }
    Ok(kept)
}

fn node_id(row: &Row, slot: usize) -> Option<i64> {
    match &row[slot] {
        Value::Node(node) => Some(node.id),
        _ => None,
    }
}

/// The node at a place that an earlier clause has bound; `None` for null.
fn node_at(row: &Row, slot: usize) -> Result<Option<i64>> {
    match &row[slot] {
        Value::Node(node) => Ok(Some(node.id)),
        Value::Null => Ok(None),
        other => Err(no("a node", other)),
    }
}

fn no(wanted: &str, value: &Value) -> QueryError {
    QueryError::type_error(format!("a pattern needs {wanted} here, not {}", value.type_name()))
}

/// Whether the pattern has not matched this relationship already.
fn differs(row: &Row, hop: &Expansion, relationship: &Relationship) -> bool {
    hop.unlike.iter().all(|slot| match &row[*slot] {
        Value::Relationship(own) => own.id != relationship.id,
        Value::List(list) => !list
            .iter()
            .any(|item| matches!(item, Value::Relationship(own) if own.id == relationship.id)),
        _ => true,
    })
}
