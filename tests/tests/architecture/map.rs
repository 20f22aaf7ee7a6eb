//! Checks that the links of ARCHITECTURE.md exist and that it leaves no folder of sources out.

use std::collections::BTreeSet;

use crate::{CRATES, root};

fn text() -> String {
    std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md")
}

/// The targets of the links `[…](target)` that lead into the repository.
fn links(text: &str) -> BTreeSet<String> {
    let inside = |target: &&str| !target.contains("://") && !target.starts_with('#');
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(inside)
        .map(|target| target.trim_end_matches('/').to_owned())
        .collect()
}

/// Folders of a crate's `src`, and its top-level files, which a newcomer looks for.
fn rooms(krate: &str) -> BTreeSet<String> {
    let src = root().join(krate).join("src");
    let entries = std::fs::read_dir(&src).expect("sources");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir() || path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .filter(|name| !["lib", "main", "tests", "bin"].contains(&name.as_str()))
        .collect()
}

#[test]
fn every_link_of_the_map_leads_somewhere() {
    let broken: Vec<String> =
        links(&text()).into_iter().filter(|target| !root().join(target).exists()).collect();
    assert!(broken.is_empty(), "ARCHITECTURE.md links to what is not there: {broken:?}");
}

#[test]
fn the_map_leaves_no_room_out() {
    let text = text();
    let links = links(&text);
    let mut missing = Vec::new();
    for krate in CRATES {
        for room in rooms(krate) {
            let at = format!("{krate}/src/{room}");
            if !links.contains(&at) && !links.contains(&format!("{at}.rs")) {
                missing.push(at);
            }
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md does not name {missing:?}");
}

/// Ways into the edge and what they share: a source that the map forgets is one that nobody finds.
#[test]
fn the_map_names_every_source_of_the_edge() {
    let text = text();
    let links = links(&text);
    let files = std::fs::read_dir(root().join("edge/src/source")).expect("sources");
    let names: Vec<String> = files
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| std::path::Path::new(name).extension().is_some_and(|end| end == "rs"))
        .collect();
    assert!(names.len() > 20, "{names:?}");
    let missing: Vec<&String> =
        names.iter().filter(|name| !links.contains(&format!("edge/src/source/{name}"))).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md does not name {missing:?}");
}
