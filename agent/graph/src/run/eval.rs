//! Evaluates expressions over a row.

use std::sync::Arc;

use super::{Row, Run, operator};
use crate::error::{QueryError, Result};
use crate::plan::{Expr, LabelTest, Logic, PatternPlan, Quantifier, QueryPlan, SubqueryKind};
use crate::value::{Properties, Truth, Value, equal};

impl Run<'_> {
    /// The value of an expression. Local variables are pushed onto `row` and taken off again.
    pub(super) fn eval(&self, expression: &Expr, row: &mut Row) -> Result<Value> {
        self.budget.step()?;
        Ok(match expression {
            Expr::Constant(value) => value.clone(),
            Expr::Slot(slot) => row.get(*slot).cloned().unwrap_or(Value::Null),
            Expr::Parameter(name) => self.parameters.get(name).cloned().ok_or_else(|| {
                QueryError::invalid("MissingParameter", format!("parameter ${name} is not given"))
            })?,
            Expr::List(items) => Value::list(self.all(items, row)?),
            Expr::Map(entries) => Value::Map(Arc::new(self.entries(entries, row)?)),
            Expr::MapOver(base, entries) => self.map_over(base, entries, row)?,
            Expr::Property(of, key) => operator::property(&self.eval(of, row)?, key)?,
            Expr::Index(of, index) => {
                operator::index(&self.eval(of, row)?, &self.eval(index, row)?)?
            }
            Expr::Slice(of, from, to) => self.slice(of, from.as_deref(), to.as_deref(), row)?,
            Expr::Not(of) => truth(self.truth(of, row)?.map(|truth| !truth)),
            Expr::Negate(of) => operator::negate(&self.eval(of, row)?)?,
            Expr::Logic(logic, a, b) => truth(self.logic(*logic, a, b, row)?),
            Expr::Compare(by, a, b) => {
                truth(operator::compared(*by, &self.eval(a, row)?, &self.eval(b, row)?))
            }
            Expr::Arithmetic(by, a, b) => {
                let (a, b) = (self.eval(a, row)?, self.eval(b, row)?);
                let value = operator::arithmetic(*by, &a, &b)?;
                self.hold(value)?
            }
            Expr::TextTest(test, a, b) => {
                truth(operator::text_test(*test, &self.eval(a, row)?, &self.eval(b, row)?))
            }
            Expr::In(a, b) => truth(operator::is_in(&self.eval(a, row)?, &self.eval(b, row)?)?),
            Expr::IsNull(of) => Value::Bool(self.eval(of, row)?.is_null()),
            Expr::HasLabels(of, test) => has_labels(&self.eval(of, row)?, test)?,
            Expr::Call(function, arguments) => {
                let arguments = self.all(arguments, row)?;
                let value = self.call(*function, &arguments)?;
                self.hold(value)?
            }
            Expr::Case { arms, otherwise } => self.case(None, arms, otherwise.as_deref(), row)?,
            Expr::CaseOf { operand, arms, otherwise } => {
                let operand = self.eval(operand, row)?;
                self.case(Some(&operand), arms, otherwise.as_deref(), row)?
            }
            Expr::Comprehension { list, predicate, projection } => {
                self.comprehension(list, predicate.as_deref(), projection.as_deref(), row)?
            }
            Expr::Quantified { kind, list, predicate } => {
                truth(self.quantified(*kind, list, predicate, row)?)
            }
            Expr::Reduce { initial, list, step } => self.reduce(initial, list, step, row)?,
            Expr::PatternExists(pattern) => {
                Value::Bool(!self.matched(pattern, vec![row.clone()], Some(1))?.is_empty())
            }
            Expr::PatternList { pattern, projection } => self.matches(pattern, projection, row)?,
            Expr::Subquery(kind, plan) => self.subquery(*kind, plan, row)?,
        })
    }

    /// The projection of every match of a pattern.
    fn matches(&self, pattern: &PatternPlan, projection: &Expr, row: &Row) -> Result<Value> {
        let found = self.matched(pattern, vec![row.clone()], None)?;
        let values = found.into_iter().map(|mut row| self.eval(projection, &mut row));
        Ok(Value::list(values.collect::<Result<_>>()?))
    }

    fn all(&self, expressions: &[Expr], row: &mut Row) -> Result<Vec<Value>> {
        expressions.iter().map(|expression| self.eval(expression, row)).collect()
    }

    /// Counts the memory of a value that a function or an operator has made.
    fn hold(&self, value: Value) -> Result<Value> {
        match &value {
            Value::List(items) => {
                self.budget.rows(items.len())?;
                self.budget.hold(value.weight())?;
            }
            Value::Text(_) => self.budget.hold(value.weight())?,
            _ => {}
        }
        Ok(value)
    }

    fn entries(&self, entries: &[(Arc<str>, Expr)], row: &mut Row) -> Result<Properties> {
        let entries = entries.iter();
        entries.map(|(key, value)| Ok((Arc::clone(key), self.eval(value, row)?))).collect()
    }

    fn map_over(&self, base: &Expr, entries: &[(Arc<str>, Expr)], row: &mut Row) -> Result<Value> {
        let base = self.eval(base, row)?;
        let Some(properties) = operator::properties(&base)? else { return Ok(Value::Null) };
        let mut all = (*properties).clone();
        all.extend(self.entries(entries, row)?);
        Ok(Value::Map(Arc::new(all)))
    }

    fn slice(
        &self,
        of: &Expr,
        from: Option<&Expr>,
        to: Option<&Expr>,
        row: &mut Row,
    ) -> Result<Value> {
        let list = self.eval(of, row)?;
        let from = from.map(|from| self.eval(from, row)).transpose()?;
        let to = to.map(|to| self.eval(to, row)).transpose()?;
        operator::slice(&list, from.as_ref(), to.as_ref())
    }

    /// The truth of a condition; a value that is neither boolean nor null is an error.
    pub(super) fn truth(&self, condition: &Expr, row: &mut Row) -> Result<Truth> {
        match self.eval(condition, row)? {
            Value::Null => Ok(None),
            Value::Bool(truth) => Ok(Some(truth)),
            other => {
                let message = format!("a condition is {}, expected a boolean", other.type_name());
                Err(QueryError::type_error(message))
            }
        }
    }

    /// Whether a condition is true: neither false nor unknown.
    pub(super) fn holds(&self, condition: &Expr, row: &mut Row) -> Result<bool> {
        Ok(self.truth(condition, row)? == Some(true))
    }

    fn logic(&self, logic: Logic, a: &Expr, b: &Expr, row: &mut Row) -> Result<Truth> {
        let a = self.truth(a, row)?;
        Ok(match (logic, a) {
            (Logic::And, Some(false)) => Some(false),
            (Logic::Or, Some(true)) => Some(true),
            _ => {
                let b = self.truth(b, row)?;
                match logic {
                    Logic::And if b == Some(false) => Some(false),
                    Logic::Or if b == Some(true) => Some(true),
                    Logic::And => a.zip(b).map(|(a, b)| a && b),
                    Logic::Or => a.zip(b).map(|(a, b)| a || b),
                    Logic::Xor => a.zip(b).map(|(a, b)| a != b),
                }
            }
        })
    }

    fn case(
        &self,
        operand: Option<&Value>,
        arms: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        row: &mut Row,
    ) -> Result<Value> {
        for (when, then) in arms {
            let is_met = match operand {
                Some(operand) => equal(operand, &self.eval(when, row)?) == Some(true),
                None => self.holds(when, row)?,
            };
            if is_met {
                return self.eval(then, row);
            }
        }
        otherwise.map_or(Ok(Value::Null), |otherwise| self.eval(otherwise, row))
    }

    /// Evaluates with one more local variable.
    fn with<T>(
        &self,
        row: &mut Row,
        local: Value,
        body: impl FnOnce(&Self, &mut Row) -> Result<T>,
    ) -> Result<T> {
        row.push(local);
        let done = body(self, row);
        row.pop();
        done
    }

    fn list(&self, list: &Expr, row: &mut Row) -> Result<Option<Arc<Vec<Value>>>> {
        match self.eval(list, row)? {
            Value::Null => Ok(None),
            Value::List(items) => Ok(Some(items)),
            other => {
                let message = format!("a list is expected, not {}", other.type_name());
                Err(QueryError::type_error(message))
            }
        }
    }

    fn comprehension(
        &self,
        list: &Expr,
        predicate: Option<&Expr>,
        projection: Option<&Expr>,
        row: &mut Row,
    ) -> Result<Value> {
        let Some(items) = self.list(list, row)? else { return Ok(Value::Null) };
        let mut out = Vec::new();
        for item in items.iter() {
            let value = self.with(row, item.clone(), |own, row| {
                if let Some(predicate) = predicate
                    && !own.holds(predicate, row)?
                {
                    return Ok(None);
                }
                match projection {
                    Some(projection) => own.eval(projection, row).map(Some),
                    None => Ok(Some(item.clone())),
                }
            })?;
            out.extend(value);
        }
        self.hold(Value::list(out))
    }

    fn quantified(
        &self,
        kind: Quantifier,
        list: &Expr,
        predicate: &Expr,
        row: &mut Row,
    ) -> Result<Truth> {
        let Some(items) = self.list(list, row)? else { return Ok(None) };
        let (mut yes, mut no, mut unknown) = (0_usize, 0_usize, 0_usize);
        for item in items.iter() {
            match self.with(row, item.clone(), |own, row| own.truth(predicate, row))? {
                Some(true) => yes += 1,
                Some(false) => no += 1,
                None => unknown += 1,
            }
        }
        let open = |known: bool| if unknown > 0 { None } else { Some(known) };
        Ok(match kind {
            Quantifier::All if no > 0 => Some(false),
            Quantifier::None if yes > 0 => Some(false),
            Quantifier::All | Quantifier::None => open(true),
            Quantifier::Any if yes > 0 => Some(true),
            Quantifier::Any => open(false),
            Quantifier::Single if yes > 1 => Some(false),
            Quantifier::Single => open(yes == 1),
        })
    }

    fn reduce(&self, initial: &Expr, list: &Expr, step: &Expr, row: &mut Row) -> Result<Value> {
        let mut total = self.eval(initial, row)?;
        let Some(items) = self.list(list, row)? else { return Ok(Value::Null) };
        for item in items.iter() {
            total = self.with(row, total, |own, row| {
                own.with(row, item.clone(), |own, row| own.eval(step, row))
            })?;
        }
        Ok(total)
    }

    fn subquery(&self, kind: SubqueryKind, plan: &QueryPlan, row: &mut Row) -> Result<Value> {
        let want = (kind == SubqueryKind::Exists && !plan.distinct).then_some(1);
        let rows = self.branches(plan, row, want)?;
        Ok(match kind {
            SubqueryKind::Exists => Value::Bool(!rows.is_empty()),
            SubqueryKind::Count => Value::Int(i64::try_from(rows.len()).unwrap_or(i64::MAX)),
            SubqueryKind::Collect => {
                Value::list(rows.into_iter().filter_map(|row| row.into_iter().next()).collect())
            }
        })
    }
}

fn truth(truth: Truth) -> Value {
    truth.map_or(Value::Null, Value::Bool)
}

fn has_labels(value: &Value, test: &LabelTest) -> Result<Value> {
    Ok(match value {
        Value::Null => Value::Null,
        Value::Node(node) => Value::Bool(fits(test, &node.labels)),
        Value::Relationship(relationship) => {
            Value::Bool(fits(test, std::slice::from_ref(&relationship.kind)))
        }
        other => {
            let message = format!("{} has no labels", other.type_name());
            return Err(QueryError::type_error(message));
        }
    })
}

fn fits(test: &LabelTest, labels: &[Arc<str>]) -> bool {
    match test {
        LabelTest::Name(name) => labels.contains(name),
        LabelTest::Any => !labels.is_empty(),
        LabelTest::Not(inner) => !fits(inner, labels),
        LabelTest::And(parts) => parts.iter().all(|part| fits(part, labels)),
        LabelTest::Or(parts) => parts.iter().any(|part| fits(part, labels)),
    }
}
