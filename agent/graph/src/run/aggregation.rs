//! Aggregates: count, collect, sum, average, extremes, spread, percentiles.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::group::Key;
use super::{Row, Run, operator};
use crate::error::{QueryError, Result};
use crate::plan::{Aggregate, AggregateFunction, Arithmetic, Projection};
use crate::value::{Value, order};

/// An aggregate of one group while its rows are counted.
pub(super) struct Tally {
    function: AggregateFunction,
    distinct: Option<BTreeSet<Key>>,
    rows: i64,
    values: Vec<Value>,
    best: Value,
    percentile: Option<f64>,
}

impl Run<'_> {
    /// Counts one row in every aggregate of its group.
    pub(super) fn count(
        &self,
        projection: &Projection,
        tallies: &mut [Tally],
        row: &mut Row,
    ) -> Result<()> {
        for ((_, aggregate), tally) in projection.aggregates.iter().zip(tallies) {
            if let [_, fraction] = aggregate.arguments.as_slice() {
                tally.percentile = Some(fraction_of(&self.eval(fraction, row)?)?);
            }
            let value = match aggregate.arguments.first() {
                Some(argument) => self.eval(argument, row)?,
                None => Value::Bool(true),
            };
            if value.is_null() {
                continue;
            }
            if let Some(seen) = &mut tally.distinct
                && !seen.insert(Key(vec![value.clone()]))
            {
                continue;
            }
            if tally.keeps_values() {
                self.budget.hold(value.weight())?;
            }
            tally.add(value)?;
        }
        Ok(())
    }
}

/// The aggregates of a new group.
pub(super) fn tallies(projection: &Projection) -> Vec<Tally> {
    projection.aggregates.iter().map(|(_, aggregate)| Tally::new(aggregate)).collect()
}

impl Tally {
    fn new(aggregate: &Aggregate) -> Self {
        Self {
            function: aggregate.function,
            distinct: aggregate.distinct.then(BTreeSet::new),
            rows: 0,
            values: Vec::new(),
            best: Value::Null,
            percentile: None,
        }
    }

    const fn keeps_values(&self) -> bool {
        !matches!(
            self.function,
            AggregateFunction::Count
                | AggregateFunction::CountRows
                | AggregateFunction::Min
                | AggregateFunction::Max
        )
    }

    fn add(&mut self, value: Value) -> Result<()> {
        self.rows += 1;
        match self.function {
            AggregateFunction::Count | AggregateFunction::CountRows => {}
            AggregateFunction::Min => self.better(value, Ordering::Less),
            AggregateFunction::Max => self.better(value, Ordering::Greater),
            AggregateFunction::Collect => self.values.push(value),
            AggregateFunction::Sum
            | AggregateFunction::Avg
            | AggregateFunction::StDev
            | AggregateFunction::StDevP
            | AggregateFunction::PercentileDisc
            | AggregateFunction::PercentileCont => {
                if !matches!(value, Value::Int(_) | Value::Float(_)) {
                    let told = value.type_name();
                    return Err(QueryError::type_error(format!("a sum or mean of {told}")));
                }
                self.values.push(value);
            }
        }
        Ok(())
    }

    fn better(&mut self, value: Value, wanted: Ordering) {
        if self.best.is_null() || order(&value, &self.best) == wanted {
            self.best = value;
        }
    }

    pub(super) fn value(self) -> Result<Value> {
        Ok(match self.function {
            AggregateFunction::Count | AggregateFunction::CountRows => Value::Int(self.rows),
            AggregateFunction::Min | AggregateFunction::Max => self.best,
            AggregateFunction::Collect => Value::list(self.values),
            AggregateFunction::Sum => sum(&self.values)?,
            AggregateFunction::Avg if self.values.is_empty() => Value::Null,
            AggregateFunction::Avg => Value::Float(mean(&numbers(&self.values))),
            AggregateFunction::StDev => Value::Float(spread(&numbers(&self.values), 1)),
            AggregateFunction::StDevP => Value::Float(spread(&numbers(&self.values), 0)),
            AggregateFunction::PercentileDisc => self.discrete(),
            AggregateFunction::PercentileCont => self.continuous(),
        })
    }

    fn discrete(mut self) -> Value {
        self.values.sort_by(order);
        let Some(last) = self.values.len().checked_sub(1) else { return Value::Null };
        let fraction = self.percentile.unwrap_or(0.0);
        let rank = (fraction * self.values.len() as f64).ceil() as usize;
        self.values[rank.saturating_sub(1).min(last)].clone()
    }

    fn continuous(mut self) -> Value {
        self.values.sort_by(order);
        let numbers = numbers(&self.values);
        let Some(last) = numbers.len().checked_sub(1) else { return Value::Null };
        let place = self.percentile.unwrap_or(0.0) * last as f64;
        let (low, high) = (place.floor() as usize, (place.ceil() as usize).min(last));
        let part = place - low as f64;
        Value::Float(numbers[low] + (numbers[high] - numbers[low]) * part)
    }
}

fn fraction_of(value: &Value) -> Result<f64> {
    let fraction = operator::number(value);
    match fraction {
        Some(fraction) if (0.0..=1.0).contains(&fraction) => Ok(fraction),
        Some(fraction) => {
            let message = format!("a percentile is {fraction}, expected 0.0 to 1.0");
            Err(QueryError::invalid("NumberOutOfRange", message))
        }
        None => Err(QueryError::type_error("a percentile has to be a number")),
    }
}

fn numbers(values: &[Value]) -> Vec<f64> {
    values.iter().filter_map(operator::number).collect()
}

fn sum(values: &[Value]) -> Result<Value> {
    let mut total = Value::Int(0);
    for value in values {
        total = operator::arithmetic(Arithmetic::Add, &total, value)?;
    }
    Ok(total)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// The standard deviation with `less` fewer degrees of freedom than values; 0 for too few values.
fn spread(numbers: &[f64], less: usize) -> f64 {
    if numbers.len() <= less {
        return 0.0;
    }
    let mean = mean(numbers);
    let squares = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>();
    (squares / (numbers.len() - less) as f64).sqrt()
}
