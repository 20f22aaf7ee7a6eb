//! Data frames as pandas writes them by default: objects whose keys are the index (`{"ax": {"0":
//! 0.1, "1": 0.2}}`).
//!
//! Such an object is an array in the order of its index. Invariant: an object with any other key,
//! or with fewer rows than a recording has, stays an object.

use serde_json::{Map, Value};

use crate::tabular::{DateOrder, Stamp};

/// Fewest rows of a frame.
const LEAST_ROWS: usize = 8;

/// The index, where it is more than a count, and the items in its order.
type IndexedItems = (Option<Vec<f64>>, Vec<Value>);

/// The index and the items of an object whose keys are an index, in its order; the object again if
/// they are none. An index that only counts the rows from 0 is left out.
pub(super) fn indexed(fields: Map<String, Value>) -> Result<IndexedItems, Map<String, Value>> {
    let is_item = |value: &Value| value.is_number() || value.is_null() || value.is_object();
    let places = places(&fields);
    let Some(places) = places.filter(|_| fields.values().all(is_item)) else { return Err(fields) };
    let mut rows: Vec<(f64, Value)> =
        places.into_iter().zip(fields.into_iter().map(|(_, value)| value)).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (index, items): (Vec<f64>, Vec<Value>) = rows.into_iter().unzip();
    let counts = index.iter().enumerate().all(|(row, own)| (own - row as f64).abs() < 1e-9);
    Ok(((!counts).then_some(index), items))
}

/// The keys as numbers or as milliseconds since 1970; `None` if one is neither, or if they are too
/// few.
fn places(fields: &Map<String, Value>) -> Option<Vec<f64>> {
    if fields.len() < LEAST_ROWS {
        return None;
    }
    let number = |key: &String| key.parse::<f64>().ok().filter(|number| number.is_finite());
    let stamp = |key: &String| {
        let stamp = Stamp::parse(key).filter(Stamp::has_date)?;
        Some(stamp.unix_ns(DateOrder::YearFirst)? as f64 / 1e6)
    };
    let numbers: Option<Vec<f64>> = fields.keys().map(number).collect();
    numbers.or_else(|| fields.keys().map(stamp).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).expect("an object")
    }

    #[test]
    fn keys_that_are_an_index_give_the_order_of_the_rows() {
        let all: Vec<String> = (0..12).rev().map(|n| format!("\"{n}\":{n}.5")).collect();
        let (index, items) = indexed(object(&format!("{{{}}}", all.join(",")))).expect("a frame");
        assert_eq!(index, None);
        assert_eq!(
            items.iter().filter_map(Value::as_f64).collect::<Vec<f64>>()[9..],
            [9.5, 10.5, 11.5]
        );
        let all: Vec<String> =
            (0..9).map(|n| format!("\"{}\":0.1", 1_772_359_200_000u64 + n)).collect();
        let (index, _) = indexed(object(&format!("{{{}}}", all.join(",")))).expect("a frame");
        assert_eq!(index.map(|index| index[8] - index[0]), Some(8.0));
    }

    #[test]
    fn other_objects_stay_objects() {
        for text in [
            "{}",
            r#"{"0":1,"1":2}"#,
            r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}"#,
            r#"{"0":"a","1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1}"#,
        ] {
            assert!(indexed(object(text)).is_err(), "{text}");
        }
    }
}
