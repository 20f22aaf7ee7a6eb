//! `WITH` and `RETURN`: groups, order, page, condition.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::aggregation::tallies;
use super::group::{Key, distinct};
use super::{Row, Run};
use crate::compile::whole;
use crate::error::Result;
use crate::plan::{Expr, Projection, Sort};
use crate::value::{Value, order};

/// A row before and after its projection.
struct Projected {
    before: Row,
    after: Row,
}

impl Run<'_> {
    pub(super) fn project(&self, projection: &Projection, rows: Vec<Row>) -> Result<Vec<Row>> {
        let mut rows = self.items(projection, rows)?;
        if projection.distinct {
            rows = distinct(rows, |row| row.after.as_slice());
        }
        if !projection.order.is_empty() {
            rows = self.sorted(&projection.order, rows)?;
        }
        let skip = self.page(projection.skip.as_ref(), "SKIP")?.unwrap_or(0);
        let limit = self.page(projection.limit.as_ref(), "LIMIT")?.unwrap_or(usize::MAX);
        let mut out = Vec::new();
        for row in rows.into_iter().skip(skip).take(limit) {
            if let Some(condition) = &projection.filter {
                let mut both = joined(&row);
                if !self.holds(condition, &mut both)? {
                    continue;
                }
            }
            self.budget.hold(row.after.len() * size_of::<Value>())?;
            out.push(row.after);
        }
        Ok(out)
    }

    fn items(&self, projection: &Projection, rows: Vec<Row>) -> Result<Vec<Projected>> {
        let rows = rows.into_iter().map(|mut row| {
            row.resize(projection.width, Value::Null);
            row
        });
        let rows =
            if projection.grouped { self.grouped(projection, rows)? } else { rows.collect() };
        let mut out = Vec::with_capacity(rows.len());
        for mut before in rows {
            let items = projection.items.iter();
            let after = items.map(|item| self.eval(&item.expression, &mut before));
            let after = after.collect::<Result<Row>>()?;
            out.push(Projected { before, after });
        }
        Ok(out)
    }

    /// One row a group: the first row of the group, with the values of the aggregates.
    fn grouped(
        &self,
        projection: &Projection,
        rows: impl Iterator<Item = Row>,
    ) -> Result<Vec<Row>> {
        let keys: Vec<&Expr> =
            projection.items.iter().filter(|i| i.is_key).map(|i| &i.expression).collect();
        let mut places: BTreeMap<Key, usize> = BTreeMap::new();
        let mut groups = Vec::new();
        for mut row in rows {
            let key =
                keys.iter().map(|key| self.eval(key, &mut row)).collect::<Result<Vec<_>>>()?;
            let next = groups.len();
            let place = *places.entry(Key(key)).or_insert(next);
            if place == next {
                groups.push((row.clone(), tallies(projection)));
            }
            if let Some((_, tallies)) = groups.get_mut(place) {
                self.count(projection, tallies, &mut row)?;
            }
        }
        if groups.is_empty() && keys.is_empty() {
            groups.push((vec![Value::Null; projection.width], tallies(projection)));
        }
        let mut out = Vec::with_capacity(groups.len());
        for (mut row, tallies) in groups {
            for ((place, _), tally) in projection.aggregates.iter().zip(tallies) {
                row[*place] = tally.value()?;
            }
            out.push(row);
        }
        Ok(out)
    }

    fn sorted(&self, sorts: &[Sort], rows: Vec<Projected>) -> Result<Vec<Projected>> {
        let mut keyed = Vec::with_capacity(rows.len());
        for row in rows {
            let mut both = joined(&row);
            let keys = sorts.iter().map(|sort| self.eval(&sort.expression, &mut both));
            keyed.push((keys.collect::<Result<Vec<_>>>()?, row));
        }
        keyed.sort_by(|(a, _), (b, _)| {
            let orders = sorts.iter().zip(a.iter().zip(b)).map(|(sort, (a, b))| by(sort, a, b));
            orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
        Ok(keyed.into_iter().map(|(_, row)| row).collect())
    }

    /// The number of a `SKIP` or `LIMIT`.
    pub(super) fn page(&self, expression: Option<&Expr>, name: &str) -> Result<Option<usize>> {
        let Some(expression) = expression else { return Ok(None) };
        whole(&self.eval(expression, &mut Vec::new())?, name).map(Some)
    }
}

/// Returns the row that `ORDER BY` and `WHERE` see: the row before the projection, then its
/// columns.
fn joined(row: &Projected) -> Row {
    row.before.iter().chain(&row.after).cloned().collect()
}

fn by(sort: &Sort, a: &Value, b: &Value) -> Ordering {
    if let Some(first) = sort.nulls_first
        && a.is_null() != b.is_null()
    {
        return if a.is_null() == first { Ordering::Less } else { Ordering::Greater };
    }
    if sort.descending { order(b, a) } else { order(a, b) }
}
