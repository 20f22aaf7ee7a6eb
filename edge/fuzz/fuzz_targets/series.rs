//! Any bytes as a historian's table: read and judged row by row, or refused.
#![no_main]

use std::collections::BTreeMap;
use std::convert::Infallible;

use libfuzzer_sys::fuzz_target;
use pdm_edge::series::{Request, judge, read_table};

fuzz_target!(|data: &[u8]| {
    let request = Request {
        time: "time".to_owned(),
        values: vec!["rms_g".to_owned()],
        period_s: 600.0,
        ..Request::default()
    };
    if let Ok(table) = read_table(data, &request) {
        let Ok(()) = judge(&table, &BTreeMap::new(), |line| {
            serde_json::to_string(&line).expect("a line is JSON");
            Ok::<_, Infallible>(())
        });
    }
});
