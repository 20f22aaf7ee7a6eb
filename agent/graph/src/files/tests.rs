//! Graphs from folders, and the encodings and shapes of CSV.

use super::*;
use crate::{Limits, Query};

const GRAPH: &str = "\
nodes:
  - label: ETF
    key: code
    file: etfs.csv
    types: { expense_ratio: number }
  - label: Stock
    key: code
    rows:
      - { code: '005930', name: 삼성전자 }
relationships:
  - type: HOLDS
    from: ETF
    to: Stock
    file: holds.csv
    types: { weight: number, shares: integer }
";

fn folder(etfs: &[u8], holds: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    let write =
        |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("file");
    write(GRAPH_FILE, GRAPH.as_bytes());
    write("etfs.csv", etfs);
    write("holds.csv", holds.as_bytes());
    folder
}

fn held(folder: &Path) -> String {
    let graph = read_folder(folder).expect("a graph");
    let query = Query::read(
        "MATCH (e:ETF)-[h:HOLDS]->(s) RETURN e.name, e.expense_ratio, h.weight, h.shares, s.name",
    );
    let table = query.expect("a query").run(&graph, &Properties::new(), &Limits::default());
    table.expect("rows").to_json().to_string()
}

const ETFS: &str = "code,name,expense_ratio\n069500,코덱스 200,0.15\n";
const HOLDS: &str = "from,to,weight,shares\n069500,005930,30.5,12\n";
const HELD: &str = r#"[{"e.expense_ratio":0.15,"e.name":"코덱스 200","h.shares":12,"h.weight":30.5,"s.name":"삼성전자"}]"#;

#[test]
fn a_folder_of_yaml_and_csv_becomes_a_graph() {
    assert_eq!(held(folder(ETFS.as_bytes(), HOLDS).path()), HELD);
}

#[test]
fn a_csv_of_korean_windows_is_read() {
    let (korean, _, lossy) = encoding_rs::EUC_KR.encode(ETFS);
    assert!(!lossy && std::str::from_utf8(&korean).is_err());
    assert_eq!(held(folder(&korean, HOLDS).path()), HELD);
}

#[test]
fn a_byte_order_mark_and_semicolons_are_read() {
    let etfs = format!("\u{feff}{}", ETFS.replace(',', ";"));
    assert_eq!(held(folder(etfs.as_bytes(), HOLDS).path()), HELD);
}

#[test]
fn what_is_wrong_is_told_with_file_and_line() {
    let refused = |etfs: &[u8], holds: &str| {
        let folder = folder(etfs, holds);
        let problems = read_folder(folder.path()).expect_err("refused");
        let problem = problems.first().expect("a problem");
        let name = problem.file.file_name().expect("a name").to_string_lossy().into_owned();
        format!("{name}:{}: {}", problem.line, problem.message)
    };
    let etfs = ETFS.as_bytes();
    let told = refused(etfs, "from,to\n069500,000000\n");
    assert_eq!(told, "holds.csv:2: to: 000000 is no Stock");
    let told = refused(etfs, "from,to,weight,shares\n069500,005930,x,1\n");
    assert_eq!(told, "holds.csv:2: weight: is \"x\", expected number");
    let told = refused(b"code,name\n1,2,3\n", HOLDS);
    assert_eq!(told, "etfs.csv:2: has 3 cells, the header has 2");
    let told = refused(b"code,code\n1,2\n", HOLDS);
    assert!(told.starts_with("etfs.csv:1: column 2 is \"code\""), "{told}");
    let told = refused(b"code,name\n1,a\n2,\xff\xff\xff\n", HOLDS);
    assert_eq!(told, "etfs.csv:3: is neither UTF-8 nor CP949; save the file as UTF-8");
    let told = refused(b"code,name\n1,a\n1,b\n", HOLDS);
    assert_eq!(told, "etfs.csv:3: code: 1 is a ETF already");
}

proptest::proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        let _read = Table::parse(Path::new("x.csv"), &bytes);
    }
}
