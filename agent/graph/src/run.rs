//! Runs a plan over a graph: clause after clause, rows in memory within the limits.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{QueryError, Result};
use crate::limits::{Budget, Limits};
use crate::plan::{Clause, Expr, MatchPlan, Projection, QueryPlan};
use crate::source::GraphSource;
use crate::value::{Node, Properties, Value};

mod aggregation;
mod eval;
mod function;
mod group;
mod matching;
mod operator;
mod projection;

/// Values of a query's variables, in the order of its scope.
pub(crate) type Row = Vec<Value>;

/// One run of a query.
pub(crate) struct Run<'g> {
    graph: &'g dyn GraphSource,
    parameters: &'g Properties,
    budget: Budget,
    /// Nodes that were read; a query reads a node once.
    nodes: RefCell<HashMap<i64, Arc<Node>>>,
    random: std::cell::Cell<u64>,
}

impl<'g> Run<'g> {
    pub(crate) fn new(
        graph: &'g dyn GraphSource,
        parameters: &'g Properties,
        limits: Limits,
        seed: u64,
    ) -> Self {
        Self {
            graph,
            parameters,
            budget: Budget::new(limits),
            nodes: RefCell::default(),
            random: std::cell::Cell::new(seed),
        }
    }

    /// The rows of a query, and whether there are more than `most`.
    pub(crate) fn query(&self, plan: &QueryPlan, most: usize) -> Result<(Vec<Row>, bool)> {
        // one row more tells whether the result is cut
        let want = (!plan.distinct).then_some(most.saturating_add(1));
        let mut rows = self.branches(plan, &Vec::new(), want)?;
        let cut = rows.len() > most;
        rows.truncate(most);
        Ok((rows, cut))
    }

    /// Runs every branch from one row of outer variables; stops after `want` rows.
    fn branches(&self, plan: &QueryPlan, outer: &Row, want: Option<usize>) -> Result<Vec<Row>> {
        let mut all = Vec::new();
        for branch in &plan.branches {
            let left = want.map(|want| want.saturating_sub(all.len()));
            all.extend(self.branch(branch, outer.clone(), left)?);
            self.budget.rows(all.len())?;
        }
        if plan.distinct {
            all = group::distinct(all, |row| row.as_slice());
        }
        Ok(all)
    }

    fn branch(&self, clauses: &[Clause], row: Row, want: Option<usize>) -> Result<Vec<Row>> {
        let mut rows = vec![row];
        for (index, clause) in clauses.iter().enumerate() {
            self.budget.check_time()?;
            let wanted = match clauses.get(index + 1) {
                None => want,
                Some(Clause::Project(next)) => {
                    let last = index + 2 == clauses.len();
                    self.needed(next, if last { want } else { None })?
                }
                Some(_) => None,
            };
            rows = match clause {
                Clause::Match(plan) => self.match_rows(plan, rows, wanted)?,
                Clause::Unwind { list, slot } => self.unwind(list, *slot, rows, wanted)?,
                Clause::Project(projection) => self.project(projection, rows)?,
            };
            self.budget.rows(rows.len())?;
        }
        Ok(rows)
    }

    /// Returns how many rows a projection reads at most, if that is known before they are found.
    fn needed(&self, projection: &Projection, want: Option<usize>) -> Result<Option<usize>> {
        let all = projection.grouped || projection.distinct || !projection.order.is_empty();
        if all {
            return Ok(None);
        }
        let skip = self.page(projection.skip.as_ref(), "SKIP")?.unwrap_or(0);
        let want = if projection.filter.is_some() { None } else { want };
        let limit = match (self.page(projection.limit.as_ref(), "LIMIT")?, want) {
            (Some(limit), Some(want)) => Some(limit.min(want)),
            (limit, want) => limit.or(want),
        };
        Ok(limit.map(|limit| limit.saturating_add(skip)))
    }

    fn match_rows(
        &self,
        plan: &MatchPlan,
        rows: Vec<Row>,
        want: Option<usize>,
    ) -> Result<Vec<Row>> {
        match plan.optional {
            None => self.matched(&plan.pattern, rows, want),
            Some(number) => self.optional(plan, number, rows),
        }
    }

    fn optional(&self, plan: &MatchPlan, number: usize, rows: Vec<Row>) -> Result<Vec<Row>> {
        let mut numbered = Vec::with_capacity(rows.len());
        for (index, row) in rows.iter().enumerate() {
            let mut row = row.clone();
            row.resize(number, Value::Null);
            row.push(i64::try_from(index).map_or(Value::Null, Value::Int));
            numbered.push(row);
        }
        let found = self.matched(&plan.pattern, numbered, None)?;
        let mut by_row: Vec<Vec<Row>> = vec![Vec::new(); rows.len()];
        for row in found {
            if let Some(Value::Int(index)) = row.get(number)
                && let Some(of) = usize::try_from(*index).ok().and_then(|i| by_row.get_mut(i))
            {
                of.push(row);
            }
        }
        let mut all = Vec::new();
        for (mut row, found) in rows.into_iter().zip(by_row) {
            if found.is_empty() {
                row.resize(plan.pattern.width, Value::Null);
                all.push(row);
            } else {
                all.extend(found);
            }
        }
        Ok(all)
    }

    fn unwind(
        &self,
        list: &Expr,
        slot: usize,
        rows: Vec<Row>,
        want: Option<usize>,
    ) -> Result<Vec<Row>> {
        let mut all = Vec::new();
        for mut row in rows {
            let items = match self.eval(list, &mut row)? {
                Value::Null => continue,
                Value::List(items) => items,
                single => Arc::new(vec![single]),
            };
            row.resize(slot, Value::Null);
            let left = want.map_or(usize::MAX, |want| want.saturating_sub(all.len()));
            for item in items.iter().take(left) {
                let mut next = Vec::with_capacity(slot + 1);
                next.extend(row.iter().cloned());
                next.push(item.clone());
                self.budget.hold(next.len() * size_of::<Value>())?;
                all.push(next);
                self.budget.rows(all.len())?;
            }
        }
        Ok(all)
    }

    /// The nodes with these identities, from the cache or the graph.
    fn nodes(&self, ids: &[i64]) -> Result<()> {
        let mut missing: Vec<i64> = {
            let known = self.nodes.borrow();
            ids.iter().copied().filter(|id| !known.contains_key(id)).collect()
        };
        missing.sort_unstable();
        missing.dedup();
        for chunk in missing.chunks(500) {
            self.budget.check_time()?;
            let found = self.graph.nodes(chunk)?;
            self.keep(found.iter())?;
        }
        Ok(())
    }

    /// Puts nodes into the cache.
    fn keep<'n>(&self, found: impl Iterator<Item = &'n Arc<Node>>) -> Result<()> {
        let mut known = self.nodes.borrow_mut();
        for node in found {
            if known.insert(node.id, Arc::clone(node)).is_none() {
                let properties = node.properties.values().map(Value::weight).sum::<usize>();
                self.budget.hold(properties + 128)?;
            }
        }
        Ok(())
    }

    /// A node that was read before.
    fn node(&self, id: i64) -> Result<Arc<Node>> {
        let found = self.nodes.borrow().get(&id).cloned();
        if let Some(node) = found {
            return Ok(node);
        }
        self.nodes(&[id])?;
        let gone = || QueryError::Limit(format!("node {id} was removed while the query ran"));
        self.nodes.borrow().get(&id).cloned().ok_or_else(gone)
    }

    /// A number from 0 to below 1 (splitmix64; Steele, Lea and Flood 2014).
    fn random(&self) -> f64 {
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }
}
