//! Checks the walks of ARCHITECTURE.md: every function stands in its file and is named in the file
//! that calls it, and a walk visits no more files, and returns to no more earlier ones, than it
//! may.

use std::collections::BTreeSet;

use crate::root;

/// One row of a walk.
struct Visit {
    function: String,
    file: String,
    /// The file that calls the function; `None` for the first row.
    caller: Option<String>,
}

/// The target of a link `[…](target)`.
fn target(cell: &str) -> Option<String> {
    let (_, rest) = cell.split_once("](")?;
    Some(rest.split_once(')')?.0.to_owned())
}

/// The rows of the table under a heading.
fn walk(heading: &str) -> Vec<Visit> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let (_, below) = text.split_once(heading).expect("the heading");
    let table = below.lines().skip_while(|line| !line.starts_with('|'));
    let rows = table.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [function, file, caller] = cells.as_slice() else { panic!("three cells: {row}") };
        let function = function.trim_matches('`').to_owned();
        Visit { function, file: target(file).expect("a link"), caller: target(caller) }
    })
    .collect()
}

fn source(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).expect("a source of the walk")
}

/// Holds a walk to the code; returns its files, and how often it goes back to an earlier one.
fn check(heading: &str) -> (usize, usize) {
    let visits = walk(heading);
    let (mut before, mut returns) = (None::<&str>, 0);
    for visit in &visits {
        let Visit { function, file, caller } = visit;
        let is_there = source(file).contains(&format!("fn {function}"));
        assert!(is_there, "{file} has no function {function}");
        if let Some(caller) = caller {
            let is_called = source(caller).contains(&format!("{function}("));
            assert!(is_called, "{caller} does not call {function}");
            returns += usize::from(before != Some(caller.as_str()));
        }
        before = Some(file);
    }
    let files: BTreeSet<&str> = visits.iter().map(|visit| visit.file.as_str()).collect();
    (files.len(), returns)
}

#[test]
fn a_judgement_visits_at_most_14_files_and_returns_at_most_6_times() {
    let (files, returns) = check("### The judgement of one event");
    assert!((10..=14).contains(&files) && returns <= 6, "{files} files, {returns} returns");
}

#[test]
fn a_page_visits_at_most_9_files() {
    let (files, _) = check("### The page of one bearing");
    assert!((5..=9).contains(&files), "{files} files");
}
