//! `pdm-agent assets`: import with its difference, bad input, export, show, query.

use std::path::Path;
use std::process::Command;

const PLANT: &str = "\
nodes:
  - { type: Line, id: L1, name: 1 라인 }
  - { type: Equipment, id: P-101, name: 급수 펌프, tags: [pump] }
relationships:
  - { type: HAS_PART, from: Line/L1, to: Equipment/P-101 }
";

struct Plant(tempfile::TempDir);

impl Plant {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let plant = Self(folder);
        plant.write("agent.toml", b"[store]\nsqlite = \"agent.db\"\n[broker]\n");
        plant.write("plant.yaml", PLANT.as_bytes());
        let done = plant.program(&["migrate"]);
        assert_eq!(done.0, 0, "{done:?}");
        plant
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.path().join(name), bytes).expect("file");
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Exit code, standard output, standard error.
    fn program(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
            .args(arguments)
            .args(["--config", "agent.toml"])
            .current_dir(self.path())
            .env_remove("PDM_AGENT_CONFIG")
            .output()
            .expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    }

    fn assets(&self, arguments: &[&str]) -> (i32, String, String) {
        self.program(&[&["assets"], arguments].concat())
    }

    fn counted(&self) -> String {
        self.assets(&["show"]).1
    }
}

/// R-GRAPH-1: the difference comes first, the same again changes nothing.
#[test]
fn an_import_tells_its_difference_and_is_idempotent() {
    let plant = Plant::new();
    let difference = "+ Equipment/P-101\n+ Line/L1\n+ Tag/pump\n\
                      + Line/L1 -HAS_PART-> Equipment/P-101\n+ Equipment/P-101 -TAGGED-> \
                      Tag/pump\n";
    let (code, said, error) = plant.assets(&["import", "plant.yaml", "--dry-run"]);
    assert_eq!(
        (code, said),
        (0, format!("{difference}3 nodes and 2 relationships would change\n")),
        "{error}"
    );
    assert_eq!(plant.counted(), "", "a dry run writes nothing");
    let (code, said, _) = plant.assets(&["import", "plant.yaml"]);
    assert_eq!((code, said), (0, format!("{difference}3 nodes and 2 relationships changed\n")));
    let (code, said, _) = plant.assets(&["import", "plant.yaml"]);
    assert_eq!((code, said.as_str()), (0, "0 nodes and 0 relationships changed\n"));

    let exported = plant.assets(&["export"]).1;
    plant.write("again.yaml", exported.as_bytes());
    let (code, said, _) = plant.assets(&["import", "again.yaml", "--prune"]);
    assert_eq!((code, said.as_str()), (0, "0 nodes and 0 relationships changed\n"));
    let (_, shown, _) = plant.assets(&["show", "Equipment/P-101"]);
    assert!(shown.contains("Line/L1 -HAS_PART-> Equipment/P-101"), "{shown}");
    assert_eq!(plant.assets(&["check"]).1, "3 nodes, 2 relationships, all right\n");

    plant.write("less.yaml", PLANT.replace(", tags: [pump]", "").as_bytes());
    let (_, said, _) = plant.assets(&["import", "less.yaml", "--prune"]);
    assert_eq!(
        said,
        "- Equipment/P-101 -TAGGED-> Tag/pump\n- Tag/pump\n1 nodes and 1 relationships changed\n"
    );
}

/// R-GRAPH-1: a machine of one id at two sites is taken, and said where its site is not clear.
#[test]
fn two_sites_may_each_have_a_machine_of_one_id() {
    let plant = Plant::new();
    let two = |machines: &str, ends: [&str; 2]| {
        let sites = ["s-1", "s-2"];
        let bearings =
            sites.map(|site| format!("  - {{ type: Bearing, id: {site}/P-105/NDE }}\n")).concat();
        let placed = |(site, end): (&str, &str)| {
            format!(
                "  - {{ type: INSTALLED_IN, from: Bearing/{site}/P-105/NDE, to: Equipment/{end}, \
                 position: NDE }}\n"
            )
        };
        let ends = sites.into_iter().zip(ends).map(placed).collect::<Vec<_>>().concat();
        format!("nodes:\n{machines}{bearings}relationships:\n{ends}")
    };
    let machine = |id: &str| format!("  - {{ type: Equipment, id: {id}, name: pump }}\n");
    let clear = two(&(machine("s-1/P-105") + &machine("s-2/P-105")), ["s-1/P-105", "s-2/P-105"]);
    plant.write("clear.yaml", clear.as_bytes());
    let (code, said, error) = plant.assets(&["check", "clear.yaml"]);
    assert_eq!((code, said.as_str()), (0, "4 nodes, 2 relationships, all right\n"), "{error}");
    plant.write("unclear.yaml", two(&machine("P-105"), ["P-105", "P-105"]).as_bytes());
    for arguments in [["check", "unclear.yaml"], ["import", "unclear.yaml"]] {
        let (code, said, error) = plant.assets(&arguments);
        assert_eq!(code, 0, "{error}");
        let remark = "! Equipment/P-105: the graph does not say of which site it is (s-1, s-2)";
        assert!(said.contains(remark), "{said}");
    }
}

/// R-GRAPH-1: refused with line and reason, nothing half imported.
#[test]
fn bad_input_is_refused_with_its_line_and_nothing_is_imported() {
    let plant = Plant::new();
    assert_eq!(plant.assets(&["import", "plant.yaml"]).0, 0);
    let before = plant.counted();
    let bearing = |name: &str| format!("  - {{ type: Bearing, id: s/P-101/{name} }}\n");
    let installed = |name: &str| {
        format!(
            "  - {{ type: INSTALLED_IN, from: Bearing/s/P-101/{name}, to: Equipment/P-101, \
             position: DE }}\n"
        )
    };
    let two = format!(
        "nodes:\n{}{}relationships:\n{}{}",
        bearing("A"),
        bearing("B"),
        installed("A"),
        installed("B")
    );
    let wrong: [(&str, &[u8], &str); 5] = [
        (
            "cycle.yaml",
            b"relationships:\n  - { type: HAS_PART, from: Equipment/P-101, to: Line/L1 }\n",
            "HAS_PART goes round",
        ),
        (
            "type.csv",
            b"type,id\nLine,L2\nMachine,X\n",
            "type.csv:3: type: is \"Machine\", allowed are Site, Line",
        ),
        (
            "two.yaml",
            two.as_bytes(),
            "two.yaml:6: Bearing/s/P-101/A and Bearing/s/P-101/B are in one place",
        ),
        (
            "coded.csv",
            b"type,id,name\nLine,L3,\xff\xfe\xfd\n",
            "coded.csv:2: is neither UTF-8 nor CP949",
        ),
        (
            "end.csv",
            b"type,from,to\nFED_BY,Equipment/P-101,Equipment/X\n",
            "end.csv:2: Equipment/P-101 -FED_BY-> Equipment/X: Equipment/X does not exist",
        ),
    ];
    for (name, bytes, reason) in wrong {
        plant.write(name, bytes);
        let (code, said, error) = plant.assets(&["import", "plant.yaml", name]);
        assert_eq!((code, said.as_str()), (65, ""), "{name}: {error}");
        assert!(error.contains(reason) && error.contains("nothing is imported"), "{name}: {error}");
        assert_eq!(plant.counted(), before, "{name}");
    }
    let (korean, _, _) = encoding_rs::EUC_KR.encode("type,id,name\nLine,L9,도장 라인\n");
    plant.write("korean.csv", &korean);
    assert_eq!(plant.assets(&["import", "korean.csv"]).0, 0);
    let (_, rows, _) = plant.assets(&["query", "MATCH (l:Line {id: 'L9'}) RETURN l.name AS name"]);
    assert_eq!(rows, "{\"name\":\"도장 라인\"}\n");
}

#[test]
fn a_query_is_answered_or_refused_by_name() {
    let plant = Plant::new();
    assert_eq!(plant.assets(&["import", "plant.yaml"]).0, 0);
    let (code, rows, _) = plant
        .assets(&["query", "MATCH (l:Line)-[:HAS_PART]->(e) RETURN l.id AS line, e.name AS name"]);
    assert_eq!((code, rows.as_str()), (0, "{\"line\":\"L1\",\"name\":\"급수 펌프\"}\n"));
    for (query, reason) in [
        ("MATCH (n) SET n.x = 1", "SET is not allowed: the graph is read-only"),
        ("MATCH (n) RETURN m", "variable `m` is not defined"),
        ("MATCH (n", "the query cannot be read: line 1, column 7"),
        ("RETURN range(1, 1000000000)", "the query was stopped"),
    ] {
        let (code, _, error) = plant.assets(&["query", query]);
        assert!(code == 65 && error.contains(reason), "{query}: {code} {error}");
    }
}

/// Each import is right alone, and both together would put two bearings into one place: whatever
/// their order, one is stored whole and the other is refused whole.
#[test]
fn of_two_imports_at_once_one_waits_and_is_checked_against_the_other() {
    let plant = Plant::new();
    assert_eq!(plant.assets(&["import", "plant.yaml"]).0, 0);
    for name in ["A", "B"] {
        let file = format!(
            "nodes:\n  - {{ type: Bearing, id: s/P-101/{name} }}\nrelationships:\n  - {{ type: \
             INSTALLED_IN, from: Bearing/s/P-101/{name}, to: Equipment/P-101, position: DE }}\n"
        );
        plant.write(&format!("{name}.yaml"), file.as_bytes());
    }
    let import = |file: &'static str| plant.assets(&["import", file]);
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| import("B.yaml"));
        (import("A.yaml"), other.join().expect("no panic"))
    });
    let codes = [first.0, second.0];
    assert!(codes == [0, 65] || codes == [65, 0], "{first:?} {second:?}");
    let refused = if first.0 == 65 { &first.2 } else { &second.2 };
    assert!(
        refused.contains("are in one place") && refused.contains("nothing is imported"),
        "{refused}"
    );
    assert_eq!(plant.assets(&["check"]).1, "4 nodes, 3 relationships, all right\n");
}

/// A series as a Korean Windows saves it.
#[test]
fn a_series_in_cp949_is_imported_and_a_broken_one_is_refused_with_its_line() {
    let plant = Plant::new();
    let series = "station_id,element,at,value\n101,미세먼지,2026-11-01 00:00:00,12.5\n";
    let (korean, _, _) = encoding_rs::EUC_KR.encode(series);
    assert!(std::str::from_utf8(&korean).is_err(), "is CP949");
    plant.write("values.csv", &korean);
    let (code, said, error) = plant.program(&["series", "import", "values.csv"]);
    assert_eq!((code, said.as_str()), (0, "1 values read, 1 new or changed\n"), "{error}");
    assert_eq!(plant.program(&["series", "list"]).1, "101  미세먼지\n");
    plant.write(
        "broken.csv",
        b"station_id,element,at,value\n101,\xff\xff\xff,2026-11-01 00:00:00,1\n",
    );
    let (code, _, error) = plant.program(&["series", "import", "broken.csv"]);
    assert_eq!(code, 65, "{error}");
    assert!(error.contains("broken.csv:2: is neither UTF-8 nor CP949"), "{error}");
}
