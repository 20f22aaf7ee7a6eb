//! Reading, checking, comparing and writing a plant.

use std::path::PathBuf;

use super::*;
use crate::files::FileProblem;

const PLANT: &str = "\
nodes:
  - { type: Site, id: ulsan-1, name: 울산 1공장 }
  - { type: Line, id: L1 }
  - { type: Equipment, id: P-101, name: 급수 펌프, power_kw: 55, tags: [pump] }
  - { type: Bearing, id: ulsan-1/P-101/DE, model: '6205' }
relationships:
  - { type: HAS_PART, from: Site/ulsan-1, to: Line/L1 }
  - { type: HAS_PART, from: Line/L1, to: Equipment/P-101 }
  - { type: INSTALLED_IN, from: Bearing/ulsan-1/P-101/DE, to: Equipment/P-101, position: DE, \
    since: '2026-01-01' }
";

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &[u8])]) -> (Self, Vec<PathBuf>) {
        let folder = tempfile::tempdir().expect("folder");
        let paths = files.iter().map(|(name, bytes)| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("file");
            path
        });
        let paths = paths.collect();
        (Self(folder), paths)
    }
}

fn refused(files: &[(&str, &[u8])]) -> Vec<String> {
    let (folder, paths) = Folder::with(files);
    let problems = match read_assets(&paths) {
        Err(problems) => problems,
        Ok((assets, origins)) => check(&assets, &origins),
    };
    let shown = |problem: &FileProblem| {
        let name = problem.file.strip_prefix(folder.0.path()).unwrap_or(&problem.file);
        format!("{}:{}: {}", name.display(), problem.line, problem.message)
    };
    problems.iter().map(shown).collect()
}

fn plant() -> Assets {
    let (_folder, paths) = Folder::with(&[("plant.yaml", PLANT.as_bytes())]);
    let (assets, origins) = read_assets(&paths).expect("a plant");
    assert_eq!(check(&assets, &origins), Vec::new());
    assets
}

fn also(extra: &str) -> Vec<String> {
    refused(&[("plant.yaml", PLANT.as_bytes()), ("more.yaml", extra.as_bytes())])
}

#[test]
fn a_plant_is_read_with_its_tags() {
    let assets = plant();
    assert_eq!(assets.nodes.len(), 5, "four and a tag");
    let tagged =
        assets.edges.keys().any(|name| name.to_string() == "Equipment/P-101 -TAGGED-> Tag/pump");
    assert!(tagged, "{:?}", assets.edges);
}

#[test]
fn what_is_written_is_read_as_the_same() {
    let before = plant();
    let (_folder, paths) = Folder::with(&[("again.yaml", to_yaml(&before).as_bytes())]);
    let (after, _) = read_assets(&paths).expect("a plant");
    assert_eq!(before, after);
    assert!(difference(&before, &before.clone().with(&after)).is_empty());
}

#[test]
fn a_difference_names_what_is_new_and_what_differs() {
    let before = plant();
    let (_folder, paths) = Folder::with(&[(
        "more.csv",
        "type,id,name,power_kw\nEquipment,P-101,급수 펌프,75\nPart,S-1,씰,\n".as_bytes(),
    )]);
    let (more, _) = read_assets(&paths).expect("nodes");
    let change = difference(&before, &before.clone().with(&more));
    assert_eq!(change.to_string(), "~ Equipment/P-101: power_kw 55 -> 75\n+ Part/S-1\n");
}

#[test]
fn a_cycle_of_parts_is_refused_with_its_way() {
    let told = also("relationships:\n  - { type: HAS_PART, from: Equipment/P-101, to: Line/L1 }\n");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("HAS_PART goes round: Equipment/P-101 -> Line/L1 -> Equipment/P-101"),
        "{told:?}"
    );
}

#[test]
fn an_unknown_type_is_refused_with_those_that_are_allowed() {
    let told = also("nodes:\n  - { type: Machine, id: X }\n");
    assert_eq!(
        told,
        ["more.yaml:2: type: is \"Machine\", allowed are Site, Line, Equipment, Bearing, Part, \
             Document, Technician, Tag"]
    );
    let told = also("relationships:\n  - { type: OWNS, from: Site/ulsan-1, to: Line/L1 }\n");
    assert!(
        told[0].starts_with("more.yaml:2: type: is \"OWNS\", allowed are HAS_PART, INSTALLED_IN"),
        "{told:?}"
    );
}

#[test]
fn two_bearings_in_one_place_are_refused() {
    let second = "nodes:\n  - { type: Bearing, id: ulsan-1/P-101/DE2 }\nrelationships:\n  - { \
        type: INSTALLED_IN, from: Bearing/ulsan-1/P-101/DE2, to: Equipment/P-101, position: DE, \
        since: '2026-02-01' }\n";
    let told = also(second);
    assert_eq!(
        told,
        ["more.yaml:4: Bearing/ulsan-1/P-101/DE and Bearing/ulsan-1/P-101/DE2 are in one place, \
             Equipment/P-101 DE, from 2026-02-01"]
    );
    let before = PLANT.replace("since: '2026-01-01'", "since: '2026-01-01', until: '2026-02-01'");
    let told = refused(&[("plant.yaml", before.as_bytes()), ("more.yaml", second.as_bytes())]);
    assert_eq!(told, Vec::<String>::new(), "one after the other is right");
}

#[test]
fn one_bearing_in_two_places_is_refused() {
    let told = also(
        "nodes:\n  - { type: Equipment, id: P-102 }\nrelationships:\n  - { type: INSTALLED_IN, \
         from: Bearing/ulsan-1/P-101/DE, to: Equipment/P-102, since: '2026-03-01' }\n",
    );
    assert!(told[0].contains("is in two places, Equipment/P-101 and Equipment/P-102"), "{told:?}");
}

#[test]
fn ends_that_do_not_exist_or_do_not_fit_are_refused() {
    let told =
        also("relationships:\n  - { type: FED_BY, from: Equipment/P-101, to: Equipment/P-999 }\n");
    assert_eq!(
        told,
        ["more.yaml:2: Equipment/P-101 -FED_BY-> Equipment/P-999: Equipment/P-999 does not exist"]
    );
    let told = also("relationships:\n  - { type: FED_BY, from: Equipment/P-101, to: Line/L1 }\n");
    assert!(told[0].contains("FED_BY joins Equipment with Equipment"), "{told:?}");
    let told = also("relationships:\n  - { type: HAS_PART, from: P-101, to: Line/L1 }\n");
    assert!(told[0].contains("expected TYPE/ID"), "{told:?}");
}

#[test]
fn times_and_ids_are_checked() {
    let told = also(
        "relationships:\n  - { type: FED_BY, from: Equipment/P-101, to: Equipment/P-101, since: \
         yesterday }\n",
    );
    assert!(told[0].contains("since is \"yesterday\", expected a day"), "{told:?}");
    let told = also("nodes:\n  - { type: Bearing, id: DE }\n");
    assert!(told[0].contains("a bearing's id is site/equipment/bearing"), "{told:?}");
    let told = also("nodes:\n  - { type: Line, id: L1 }\n");
    assert!(told[0].contains("Line/L1 stands already in"), "{told:?}");
}

#[test]
fn a_csv_of_korean_windows_keeps_its_names_and_leading_zeros() {
    let text = "type;id;name;part_no;stock\nPart;S-1;기계 씰;00451;3\n";
    let (korean, _, _) = encoding_rs::EUC_KR.encode(text);
    let (_folder, paths) = Folder::with(&[("parts.csv", &korean)]);
    let (assets, _) = read_assets(&paths).expect("parts");
    let part = &assets.nodes[&NodeName::new("Part", "S-1")];
    assert_eq!(part["name"], Value::from("기계 씰"));
    assert_eq!(part["part_no"], Value::from("00451"));
    assert_eq!(part["stock"], Value::Int(3));
}
