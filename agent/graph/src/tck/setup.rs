//! Runs the set-up of a scenario: reading clauses by the engine, `CREATE` and `DELETE` of
//! relationships by an interpreter. It exists in tests only.

use std::collections::BTreeMap;

use open_cypher::ast::visit::{self, Visitor};
use open_cypher::ast::{
    Clause, ClauseKind, Expr, ExprKind, LabelExpression, LabelExpressionKind, PathFactorKind,
    QueryKind, RelationshipDirection, StatementKind,
};

use crate::{Limits, MemoryGraph, Properties, Query, QueryError, Value};

type Variables = BTreeMap<String, Value>;

/// Whether a text parses and holds a clause that writes or calls.
pub(super) fn writes_or_calls(text: &str) -> bool {
    struct Writes(bool);
    impl<'a> Visitor<'a> for Writes {
        fn visit_clause(&mut self, node: &'a Clause) {
            let reads = matches!(
                node.kind,
                ClauseKind::Match(_)
                    | ClauseKind::Unwind(_)
                    | ClauseKind::With(_)
                    | ClauseKind::Return(_)
            );
            self.0 |= !reads;
            visit::walk_clause(self, node);
        }
    }
    let Ok(parsed) = open_cypher::parse(text) else { return false };
    let mut writes = Writes(false);
    writes.visit_program(&parsed.program);
    writes.0
}

pub(super) fn execute(graph: &mut MemoryGraph, text: &str) -> Result<(), QueryError> {
    let parsed = open_cypher::parse(text).unwrap_or_else(|e| panic!("{}", e.render(text)));
    let Some(StatementKind::Query(statement)) = parsed.program.statements.first().map(|s| &s.kind)
    else {
        panic!("no statement: {text}");
    };
    let QueryKind::Regular(query) = &statement.query.kind else { panic!("no query: {text}") };
    let mut rows = vec![Variables::new()];
    for clause in &query.head.kind.clauses {
        match &clause.kind {
            ClauseKind::Create(create) => rows = self::create(graph, text, &create.pattern, rows)?,
            ClauseKind::Delete(delete) => {
                for row in &rows {
                    for expression in &delete.expressions {
                        if let ExprKind::Variable(name) = &expression.kind
                            && let Some(Value::Relationship(gone)) = row.get(&name.kind.text)
                        {
                            graph.remove_relationship(gone.id);
                        }
                    }
                }
            }
            _ => rows = read(graph, rows, &text[clause.span.start..clause.span.end], "*")?,
        }
    }
    Ok(())
}

/// Runs reading clauses over rows of variables.
fn read(
    graph: &MemoryGraph,
    rows: Vec<Variables>,
    clauses: &str,
    returned: &str,
) -> Result<Vec<Variables>, QueryError> {
    let names: Vec<_> = rows.first().map(|row| row.keys().cloned().collect()).unwrap_or_default();
    let bind = names.iter().map(|name| format!(", row_of_setup.`{name}` AS `{name}`"));
    let bind: String = bind.collect();
    let text =
        format!("UNWIND $rows AS row_of_setup WITH row_of_setup{bind} {clauses} RETURN {returned}");
    let rows = rows
        .into_iter()
        .map(|row| Value::map(row.into_iter().map(|(name, value)| (name.as_str().into(), value))));
    let parameters = Properties::from([("rows".into(), Value::list(rows.collect()))]);
    let limits = Limits { rows: 100_000, ..Limits::default() };
    let query = Query::read(&text)?;
    let table = query.run(graph, &parameters, &limits)?;
    let rows = table.rows.into_iter().map(|row| {
        let cells = table.columns.iter().map(ToString::to_string).zip(row);
        cells.filter(|(name, _)| name != "row_of_setup").collect()
    });
    Ok(rows.collect())
}

fn create(
    graph: &mut MemoryGraph,
    text: &str,
    pattern: &open_cypher::ast::Pattern,
    mut rows: Vec<Variables>,
) -> Result<Vec<Variables>, QueryError> {
    for part in &pattern.parts {
        let mut properties = Vec::new();
        for factor in &part.kind.path.kind.factors {
            let stated = match &factor.kind {
                PathFactorKind::Node(node) => node.properties.as_deref(),
                PathFactorKind::Relationship(relationship) => relationship.properties.as_deref(),
                _ => None,
            };
            properties.push(stated.map_or("{}", |e: &Expr| &text[e.span.start..e.span.end]));
        }
        let columns: Vec<_> =
            properties.iter().enumerate().map(|(i, p)| format!("{p} AS stated_{i}")).collect();
        let stated = read(graph, rows.clone(), "", &columns.join(", "))?;
        for (row, stated) in rows.iter_mut().zip(stated) {
            let stated = |index: usize| match stated.get(&format!("stated_{index}")) {
                Some(Value::Map(map)) => map
                    .iter()
                    .filter(|(_, v)| !v.is_null())
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect(),
                _ => Properties::new(),
            };
            chain(graph, &part.kind.path.kind.factors, &stated, row);
        }
    }
    Ok(rows)
}

fn chain(
    graph: &mut MemoryGraph,
    factors: &[open_cypher::ast::PathFactor],
    stated: &dyn Fn(usize) -> Properties,
    row: &mut Variables,
) {
    let mut pending: Option<(usize, i64)> = None;
    let mut last = None;
    for (index, factor) in factors.iter().enumerate() {
        match &factor.kind {
            PathFactorKind::Node(node) => {
                let name = node.variable.as_ref().map(|name| name.kind.text.clone());
                let known = name.as_ref().and_then(|name| row.get(name));
                let id = match known {
                    Some(Value::Node(known)) => known.id,
                    _ => graph.add_node(labels(node.labels.as_ref()), stated(index)),
                };
                if let Some(name) = name {
                    let node = crate::GraphSource::nodes(graph, &[id]).expect("memory").remove(0);
                    row.insert(name, Value::Node(node));
                }
                if let Some((at, from)) = pending.take()
                    && let PathFactorKind::Relationship(pattern) = &factors[at].kind
                {
                    let left = pattern.direction.kind == RelationshipDirection::Left;
                    let (start, end) = if left { (id, from) } else { (from, id) };
                    let kind = labels(pattern.labels.as_ref()).remove(0);
                    let made = graph.add_relationship(start, kind.clone(), end, stated(at));
                    if let (Some(name), Some(made)) = (&pattern.variable, made) {
                        let properties = std::sync::Arc::new(stated(at));
                        let made = crate::Relationship { id: made, kind, start, end, properties };
                        row.insert(name.kind.text.clone(), Value::Relationship(made.into()));
                    }
                }
                last = Some(id);
            }
            PathFactorKind::Relationship(_) => pending = last.map(|from| (index, from)),
            other => panic!("a set-up with {other:?}"),
        }
    }
}

fn labels(labels: Option<&LabelExpression>) -> Vec<std::sync::Arc<str>> {
    match labels.map(|labels| &labels.kind) {
        None => Vec::new(),
        Some(LabelExpressionKind::Name(name)) => vec![name.kind.text.as_str().into()],
        Some(LabelExpressionKind::And(parts)) => {
            parts.iter().flat_map(|part| self::labels(Some(part))).collect()
        }
        Some(other) => panic!("a set-up with labels {other:?}"),
    }
}
