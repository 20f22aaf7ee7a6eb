//! Measurements in the form of SenML (RFC 8428): records with a name, a unit, a time and a value,
//! of which base fields (`bn`, `bu`, `bt`, `bv`) hold for the records behind them.
//!
//! Each name becomes a struct with the vectors `value` and `time` and its unit. Invariant: a unit
//! or a time is what RFC 8428, section 4, resolves; records of one name with two units are refused.

use serde_json::{Map, Value};

/// Fewest records of such a document.
const LEAST_RECORDS: usize = 8;

/// The measurements of one name.
struct Measured {
    name: String,
    unit: Option<String>,
    /// The base time of the first record, and seconds since it.
    first: f64,
    times: Vec<f64>,
    values: Vec<f64>,
}

/// The document as structs of vectors; `None` if it is of another form.
///
/// # Errors
/// A name has two units; in words.
pub(super) fn resolved(items: &[Value]) -> Result<Option<Value>, String> {
    let records: Option<Vec<&Map<String, Value>>> = items.iter().map(Value::as_object).collect();
    let Some(records) = records.filter(|records| records.len() >= LEAST_RECORDS) else {
        return Ok(None);
    };
    let has = |key: &str| records.iter().any(|record| record.contains_key(key));
    let is_form = (has("n") || has("bn"))
        && (has("v") || has("bv"))
        && (has("t") || has("bt") || has("bu") || has("u"))
        && records.iter().all(|record| record.keys().all(|key| is_field(key)));
    if !is_form {
        return Ok(None);
    }
    let mut all: Vec<Measured> = Vec::new();
    let (mut name, mut unit, mut time, mut value) = (String::new(), None, 0.0, 0.0);
    for record in records {
        let text = |key: &str| record.get(key).and_then(Value::as_str).map(str::to_owned);
        let number = |key: &str| record.get(key).and_then(Value::as_f64);
        name = text("bn").unwrap_or(name);
        unit = text("bu").or(unit);
        time = number("bt").unwrap_or(time);
        value = number("bv").unwrap_or(value);
        let Some(own) = number("v") else { continue };
        let full = format!("{name}{}", text("n").unwrap_or_default());
        let own_unit = text("u").or_else(|| unit.clone());
        let known = all.iter().position(|measured| measured.name == full);
        let place = known.unwrap_or_else(|| {
            let (times, values, unit) = (Vec::new(), Vec::new(), own_unit.clone());
            all.push(Measured { name: full, unit, first: time, times, values });
            all.len() - 1
        });
        let measured = &mut all[place];
        if measured.unit != own_unit {
            return Err(format!(
                "{:?} is in {} and in {}: a channel has one unit; bring all values into one",
                measured.name,
                measured.unit.as_deref().unwrap_or("no unit"),
                own_unit.as_deref().unwrap_or("no unit")
            ));
        }
        // seconds since 1970 leave few digits for a part of one
        measured.times.push(time - measured.first + number("t").unwrap_or(0.0));
        measured.values.push(value + own);
    }
    Ok(Some(Value::Object(all.into_iter().map(described).collect())))
}

/// A field of a record by RFC 8428.
fn is_field(key: &str) -> bool {
    const FIELDS: [&str; 15] =
        ["bn", "bt", "bu", "bv", "bs", "bver", "n", "u", "v", "vs", "vb", "vd", "s", "t", "ut"];
    FIELDS.contains(&key)
}

/// A struct of vectors under a key without the signs of a path.
fn described(measured: Measured) -> (String, Value) {
    let key = measured.name.replace(['.', '/', '{', '[', ']', '}'], "_");
    let mut fields = Map::new();
    fields.insert("name".to_owned(), Value::from(measured.name));
    if let Some(unit) = measured.unit {
        fields.insert("unit".to_owned(), Value::from(unit));
    }
    let is_at_one_time = measured.times.windows(2).all(|two| two[1] <= two[0]);
    if !is_at_one_time {
        let offset = measured.times.first().copied().unwrap_or(0.0);
        fields.insert("start".to_owned(), Value::from(measured.first + offset));
        fields.insert("time".to_owned(), Value::from(measured.times));
        fields.insert("time_unit".to_owned(), Value::from("s"));
    }
    fields.insert("value".to_owned(), Value::from(measured.values));
    (key, Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-EDGE-4: units and times of base fields are those of the records behind them.
    #[test]
    fn base_fields_hold_for_the_records_behind_them() {
        let mut records =
            vec![r#"{"bn":"pump/","bt":1780000000,"bu":"m/s2","n":"de","v":0.5}"#.to_owned()];
        records.extend(
            (1..40).map(|n| format!(r#"{{"n":"de","t":{},"v":{n}}}"#, f64::from(n) / 500.0)),
        );
        let items: Vec<Value> =
            serde_json::from_str(&format!("[{}]", records.join(","))).expect("JSON");
        let resolved = resolved(&items).expect("one unit").expect("SenML");
        let own = &resolved["pump_de"];
        assert_eq!((own["unit"].as_str(), own["name"].as_str()), (Some("m/s2"), Some("pump/de")));
        assert_eq!(own["start"].as_f64(), Some(1_780_000_000.0));
        assert!(own["time"][39].as_f64().is_some_and(|at| (at - 0.078).abs() < 1e-6));
        let other: Vec<Value> = serde_json::from_str(r#"[{"x":1},{"x":2}]"#).expect("JSON");
        assert!(super::resolved(&other).expect("another form").is_none());
        let two = format!("[{},{}]", records.join(","), r#"{"n":"de","u":"g","v":1}"#);
        let items: Vec<Value> = serde_json::from_str(&two).expect("JSON");
        assert!(super::resolved(&items).expect_err("two units").contains("in m/s2 and in g"));
    }
}
