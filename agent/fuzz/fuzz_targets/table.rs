//! Any bytes as a table of a plant, in UTF-8 or CP949: rows that fit the header, or problems with
//! their lines, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pdm_graph::files::table::FileTable;

fuzz_target!(|bytes: &[u8]| {
    match FileTable::parse(Path::new("bearings.csv"), bytes) {
        Ok(table) => {
            for record in &table.records {
                for column in &table.header {
                    let _ = record.cell(&table, column);
                }
            }
        }
        Err(problems) => assert!(!problems.is_empty() && problems.iter().all(|one| one.line > 0)),
    }
});
