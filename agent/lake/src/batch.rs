//! Rows into Arrow batches, and batches into rows.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder,
    RecordBatch, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow::datatypes::{
    DataType, Field, Float64Type, Int64Type, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType,
};
use arrow::error::ArrowError;

use crate::table::Column;
use crate::value::{ColumnKind, Value};

/// The zone of instants, as Delta's `timestamp` wants it.
const UTC: &str = "UTC";

/// The Arrow type of a column.
pub fn data_type(kind: ColumnKind) -> DataType {
    // Delta calls the items of a list "element"
    let list = |item| DataType::List(Arc::new(Field::new("element", item, true)));
    match kind {
        ColumnKind::Text => DataType::Utf8,
        ColumnKind::Int => DataType::Int64,
        ColumnKind::Float => DataType::Float64,
        ColumnKind::Bool => DataType::Boolean,
        ColumnKind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        ColumnKind::Floats => list(DataType::Float64),
        ColumnKind::Ints => list(DataType::Int64),
        ColumnKind::Texts => list(DataType::Utf8),
    }
}

/// The Arrow schema of a file.
pub fn schema(columns: &[Column]) -> SchemaRef {
    let field = |column: &Column| Field::new(column.name, data_type(column.kind), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Collects the cells of one column.
enum Builder {
    Text(StringBuilder),
    Int(Int64Builder),
    Float(Float64Builder),
    Bool(BooleanBuilder),
    Time(TimestampMicrosecondBuilder),
    Floats(ListBuilder<Float64Builder>),
    Ints(ListBuilder<Int64Builder>),
    Texts(ListBuilder<StringBuilder>),
}

impl Builder {
    fn of(kind: ColumnKind) -> Self {
        let element = |kind: DataType| Field::new("element", kind, true);
        match kind {
            ColumnKind::Text => Self::Text(StringBuilder::new()),
            ColumnKind::Int => Self::Int(Int64Builder::new()),
            ColumnKind::Float => Self::Float(Float64Builder::new()),
            ColumnKind::Bool => Self::Bool(BooleanBuilder::new()),
            ColumnKind::Time => Self::Time(TimestampMicrosecondBuilder::new().with_timezone(UTC)),
            ColumnKind::Floats => Self::Floats(
                ListBuilder::new(Float64Builder::new()).with_field(element(DataType::Float64)),
            ),
            ColumnKind::Ints => Self::Ints(
                ListBuilder::new(Int64Builder::new()).with_field(element(DataType::Int64)),
            ),
            ColumnKind::Texts => Self::Texts(
                ListBuilder::new(StringBuilder::new()).with_field(element(DataType::Utf8)),
            ),
        }
    }

    /// Appends a cell; one of another kind is empty, and [`rows_into_batch`] has refused it before.
    fn push(&mut self, cell: &Value) {
        match (self, cell) {
            (Self::Text(to), cell) => to.append_option(text(cell)),
            (Self::Int(to), Value::Int(number)) => to.append_value(*number),
            (Self::Float(to), Value::Float(number)) => to.append_value(*number),
            (Self::Bool(to), Value::Bool(is)) => to.append_value(*is),
            (Self::Time(to), Value::Time(micros)) => to.append_value(*micros),
            (Self::Floats(to), Value::Floats(numbers)) => {
                to.append_value(numbers.iter().copied().map(Some));
            }
            (Self::Ints(to), Value::Ints(numbers)) => {
                to.append_value(numbers.iter().copied().map(Some));
            }
            (Self::Texts(to), Value::Texts(texts)) => to.append_value(texts.iter().map(Some)),
            (Self::Int(to), _) => to.append_null(),
            (Self::Float(to), _) => to.append_null(),
            (Self::Bool(to), _) => to.append_null(),
            (Self::Time(to), _) => to.append_null(),
            (Self::Floats(to), _) => to.append_null(),
            (Self::Ints(to), _) => to.append_null(),
            (Self::Texts(to), _) => to.append_null(),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Text(mut from) => Arc::new(from.finish()),
            Self::Int(mut from) => Arc::new(from.finish()),
            Self::Float(mut from) => Arc::new(from.finish()),
            Self::Bool(mut from) => Arc::new(from.finish()),
            Self::Time(mut from) => Arc::new(from.finish()),
            Self::Floats(mut from) => Arc::new(from.finish()),
            Self::Ints(mut from) => Arc::new(from.finish()),
            Self::Texts(mut from) => Arc::new(from.finish()),
        }
    }
}

fn text(cell: &Value) -> Option<&str> {
    if let Value::Text(text) = cell { Some(text) } else { None }
}

/// Whether the cell is empty or of the column's kind.
fn fits(kind: ColumnKind, cell: &Value) -> bool {
    matches!(
        (kind, cell),
        (_, Value::Null)
            | (ColumnKind::Text, Value::Text(_))
            | (ColumnKind::Int, Value::Int(_))
            | (ColumnKind::Float, Value::Float(_))
            | (ColumnKind::Bool, Value::Bool(_))
            | (ColumnKind::Time, Value::Time(_))
            | (ColumnKind::Floats, Value::Floats(_))
            | (ColumnKind::Ints, Value::Ints(_))
            | (ColumnKind::Texts, Value::Texts(_))
    )
}

/// A batch of rows; the cells of a row are in the order of `columns`.
///
/// # Errors
/// [`ArrowError`] if a cell is not of its column's kind or a row is too short: a bug.
pub fn rows_into_batch(columns: &[Column], rows: &[Vec<Value>]) -> Result<RecordBatch, ArrowError> {
    let mut arrays = Vec::with_capacity(columns.len());
    for (place, column) in columns.iter().enumerate() {
        let mut builder = Builder::of(column.kind);
        for row in rows {
            let cell = row.get(place).filter(|cell| fits(column.kind, cell)).ok_or_else(|| {
                let told = format!("column {}: the cell is no {}", column.name, column.kind.word());
                ArrowError::SchemaError(told)
            })?;
            builder.push(cell);
        }
        arrays.push(builder.finish());
    }
    RecordBatch::try_new(schema(columns), arrays)
}

/// The columns of a batch by name, for reading rows back.
#[derive(Debug)]
pub struct RowReader<'a> {
    columns: Vec<Option<(ColumnKind, &'a ArrayRef)>>,
    /// Number of rows.
    pub rows: usize,
}

impl<'a> RowReader<'a> {
    /// Reads `columns` of a batch; one that the file does not have is empty in every row.
    ///
    /// # Errors
    /// The name of a column of another type.
    pub fn new(columns: &[Column], batch: &'a RecordBatch) -> Result<Self, String> {
        let of_column = |column: &Column| match batch.column_by_name(column.name) {
            None => Ok(None),
            Some(array) if is_kind(column.kind, array.data_type()) => {
                Ok(Some((column.kind, array)))
            }
            Some(array) => Err(format!(
                "column {} is {}, expected {}",
                column.name,
                array.data_type(),
                column.kind.word()
            )),
        };
        let columns = columns.iter().map(of_column).collect::<Result<_, String>>()?;
        Ok(Self { columns, rows: batch.num_rows() })
    }

    /// One row.
    pub fn row(&self, row: usize) -> Vec<Value> {
        let cell = |column: &Option<(ColumnKind, &ArrayRef)>| match column {
            Some((kind, array)) if !array.is_null(row) => cell(*kind, array, row),
            Some(_) | None => Value::Null,
        };
        self.columns.iter().map(cell).collect()
    }
}

fn is_kind(kind: ColumnKind, found: &DataType) -> bool {
    match (data_type(kind), found) {
        (DataType::List(wanted), DataType::List(found)) => wanted.data_type() == found.data_type(),
        (wanted, found) => wanted == *found,
    }
}

fn cell(kind: ColumnKind, array: &ArrayRef, row: usize) -> Value {
    match kind {
        ColumnKind::Text => Value::Text(array.as_string::<i32>().value(row).to_owned()),
        ColumnKind::Int => Value::Int(array.as_primitive::<Int64Type>().value(row)),
        ColumnKind::Float => Value::Float(array.as_primitive::<Float64Type>().value(row)),
        ColumnKind::Bool => Value::Bool(array.as_boolean().value(row)),
        ColumnKind::Time => {
            Value::Time(array.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        ColumnKind::Floats => {
            let items = array.as_list::<i32>().value(row);
            Value::Floats(items.as_primitive::<Float64Type>().values().to_vec())
        }
        ColumnKind::Ints => {
            let items = array.as_list::<i32>().value(row);
            Value::Ints(items.as_primitive::<Int64Type>().values().to_vec())
        }
        ColumnKind::Texts => {
            let items = array.as_list::<i32>().value(row);
            let texts = items.as_string::<i32>().iter().flatten();
            Value::Texts(texts.map(str::to_owned).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::cells;
    use crate::table::EVENT_COLUMNS;

    #[test]
    fn rows_come_back_as_they_went_in() {
        let lines = include_str!("../tests/data/events.jsonl").lines();
        let rows: Vec<Vec<Value>> = lines
            .map(|line| cells(EVENT_COLUMNS, serde_json::from_str(line).expect("JSON")))
            .collect();
        let batch = rows_into_batch(EVENT_COLUMNS, &rows).expect("a batch");
        let reader = RowReader::new(EVENT_COLUMNS, &batch).expect("its own columns");
        let read: Vec<Vec<Value>> = (0..reader.rows).map(|row| reader.row(row)).collect();
        assert_eq!(read, rows);
    }
}
