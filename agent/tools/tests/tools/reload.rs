//! R-TOOL-4: a saved file takes effect without a restart; a broken one is refused and the old
//! version stays.

use std::time::Duration;

use pdm_tools::{Catalogue, Registry};

use super::{folder, names, said, tool};

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_tool_is_live_in_under_a_second_and_a_broken_one_changes_nothing() {
    let folder = folder(&[("a.yaml", &tool("a", "ops", ""))]);
    let (catalogue, problems) = Catalogue::open(folder.path());
    assert!(problems.is_empty());
    let mut changes = catalogue.subscribe();
    let watching = tokio::spawn(catalogue.watch().expect("watching"));
    let one_second = Duration::from_secs(1);

    std::fs::write(folder.path().join("b.yaml"), tool("b", "ops", "")).expect("written");
    tokio::time::timeout(one_second, changes.changed())
        .await
        .expect("under a second")
        .expect("open");
    assert_eq!(names(&catalogue), ["a", "b"]);

    // a broken file changes nothing; the valid one that follows takes effect
    std::fs::write(folder.path().join("a.yaml"), "name: [\n").expect("written");
    let changed = tokio::time::timeout(Duration::from_millis(400), changes.changed()).await;
    assert!(changed.is_err(), "a broken file changes nothing");
    assert_eq!(names(&catalogue), ["a", "b"]);

    // some editors write another file and rename it
    let beside = folder.path().join(".a.yaml.tmp");
    std::fs::write(&beside, tool("a", "ops", "tags: [new]\n")).expect("written");
    std::fs::rename(&beside, folder.path().join("a.yaml")).expect("renamed");
    tokio::time::timeout(one_second, changes.changed())
        .await
        .expect("under a second")
        .expect("open");
    assert_eq!(catalogue.current().get("a").expect("a").tags, ["new"]);

    std::fs::remove_file(folder.path().join("b.yaml")).expect("removed");
    tokio::time::timeout(one_second, changes.changed())
        .await
        .expect("under a second")
        .expect("open");
    assert_eq!(names(&catalogue), ["a"]);
    watching.abort();
}

#[test]
fn a_broken_file_leaves_its_last_right_version() {
    let folder = folder(&[("a.yaml", &tool("a", "ops", "tags: [old]\n"))]);
    let first = Registry::read(folder.path()).registry;
    for broken in ["", "name: a\n", "name: [", &tool("a", "ops", "dependencies: [nothing]\n")] {
        std::fs::write(folder.path().join("a.yaml"), broken).expect("written");
        let loaded = first.reread(folder.path());
        assert_eq!(loaded.registry.get("a").expect("a").tags, ["old"], "{broken}");
        assert!(!loaded.problems.is_empty(), "{broken}");
    }
}

#[test]
fn a_circle_is_broken_by_refusing_what_is_new() {
    let folder = folder(&[
        ("a.yaml", &tool("a", "ops", "dependencies: [b]\n")),
        ("b.yaml", &tool("b", "ops", "tags: [old]\n")),
    ]);
    let first = Registry::read(folder.path()).registry;
    std::fs::write(folder.path().join("b.yaml"), tool("b", "ops", "dependencies: [a]\n"))
        .expect("written");
    let loaded = first.reread(folder.path());
    assert_eq!(loaded.registry.names(), ["b", "a"]);
    assert_eq!(loaded.registry.get("b").expect("b").tags, ["old"]);
    assert!(said(&loaded.problems).iter().any(|line| line.contains("a circle")));
}

#[test]
fn a_newcomer_cannot_take_the_name_of_a_tool_that_is_there() {
    let folder = folder(&[("b.yaml", &tool("x", "ops", "tags: [first]\n"))]);
    let first = Registry::read(folder.path()).registry;
    std::fs::write(folder.path().join("a.yaml"), tool("x", "ops", "")).expect("written");
    let loaded = first.reread(folder.path());
    assert_eq!(loaded.registry.get("x").expect("x").tags, ["first"]);
    assert!(said(&loaded.problems)[0].contains("a.yaml:1:1: name: x is already the tool of"));
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let loaded = Registry::read(std::path::Path::new("/no/such/folder"));
    assert!(said(&loaded.problems)[0].starts_with("/no/such/folder:1:1: cannot be read"));
}
