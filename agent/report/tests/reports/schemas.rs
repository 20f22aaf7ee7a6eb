//! The JSON Schemas of report and work order on disk match the types, and the written files match
//! the schemas. `PDM_UPDATE=1` writes the schemas again.

use std::path::PathBuf;

use pdm_report::work_order::{WORK_ORDER_SCHEMA, WorkOrder};
use pdm_report::{REPORT_SCHEMA, Report};
use schemars::{Schema, schema_for};
use serde_json::{Value, json};

fn schema(schema: Schema, version: &str) -> Value {
    let mut schema = serde_json::to_value(schema).expect("json");
    // the version is fixed: the only allowed value of the field
    schema["properties"]["schema"]["const"] = version.into();
    schema
}

fn both() -> [(&'static str, Value); 2] {
    [
        ("report.json", schema(schema_for!(Report), REPORT_SCHEMA)),
        ("work_order.json", schema(schema_for!(WorkOrder), WORK_ORDER_SCHEMA)),
    ]
}

#[test]
fn the_schemas_on_disk_are_those_of_the_types() {
    for (name, schema) in both() {
        let path =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../config/schemas").join(name);
        let text = serde_json::to_string_pretty(&schema).expect("json") + "\n";
        if std::env::var_os("PDM_UPDATE").is_some() {
            std::fs::write(&path, &text).expect("written");
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            there == text,
            "config/schemas/{name} is not what the type says; if the change is meant, run \
             PDM_UPDATE=1 cargo test -p pdm-report --test reports and look at the difference"
        );
    }
}

#[test]
fn what_is_written_keeps_to_its_schema() {
    let case = crate::case::case();
    let report = json!(pdm_report::report(&case));
    let order = json!(pdm_report::work_order::work_order(&case).expect("an order"));
    for ((name, schema), written) in both().into_iter().zip([report, order]) {
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let problems: Vec<String> =
            validator.iter_errors(&written).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{name}: {problems:?}");
    }
}
