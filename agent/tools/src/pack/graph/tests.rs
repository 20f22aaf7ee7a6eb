//! Graphs of packs: what a declaration makes of tables, and what is wrong with one.

use super::super::table;
use super::*;

const GRAPH: &str = "\
nodes:
  - label: ETF
    table: etf
    key: code
    properties: [code, ratio]
  - label: Company
    table: etf
    key: company
    properties: { name: company }
relationships:
  - type: MANAGED_BY
    table: etf
    from: { ETF: code }
    to: { Company: company }
";
const ETF: &str = "code,ratio:real,company\n069500,0.15,A\n102110,,B\n229200,0.2,A\n9,,\n";

fn graph(text: &str) -> Result<PackGraph, String> {
    let etf = table::read_pack_table("etf", ETF).expect("a table");
    let tables = Tables::from([("etf".to_owned(), etf)]);
    read_pack_graph(Path::new("graph.yaml"), text, &tables)
        .map_err(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

#[test]
fn rows_become_nodes_once_and_an_empty_key_or_cell_is_left_out() {
    let graph = graph(GRAPH).expect("right");
    let labels: Vec<&str> = graph.nodes.iter().map(|node| node.label.as_str()).collect();
    assert_eq!(labels, ["ETF", "ETF", "ETF", "ETF", "Company", "Company"]);
    assert_eq!(graph.nodes[1].properties, [("code".into(), Cell::Text("102110".into()))].into());
    assert_eq!(graph.nodes[4].properties, [("name".into(), Cell::Text("A".into()))].into());
    let ends: Vec<(usize, usize)> =
        graph.relationships.iter().map(|one| (one.from, one.to)).collect();
    assert_eq!(ends, [(0, 4), (1, 5), (2, 4)]);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (from, to, told) in [
        (
            "table: etf\n    key: code",
            "table: fund\n    key: code",
            "graph.yaml:3:5: nodes.0.table: is \"fund\", the pack has the tables etf",
        ),
        (
            "key: code",
            "key: id",
            "graph.yaml:4:5: nodes.0.key: \"id\" is no column of etf, which has code, ratio, \
             company",
        ),
        ("[code, ratio]", "[code, price]", "\"price\" is no column of etf"),
        ("key: company", "key: company\n    colour: red", "nodes.1.colour: unknown field"),
        (
            "{ name: company }",
            "[company, ratio]",
            "row 3 of etf: A is a Company with other properties already",
        ),
        (
            "to: { Company: company }",
            "to: { Firm: company }",
            "graph.yaml:14:5: relationships.0.to: \"Firm\" is no label of nodes, which are \
             Company, ETF",
        ),
        ("to: { Company: company }", "to: { ETF: company }", "row 1 of etf: A is no ETF"),
        (
            "to: { Company: company }",
            "to: Company",
            "is required: a label with the column of its key",
        ),
        ("type: MANAGED_BY", "type: [A]", "relationships.0.type: is [\"A\"], expected a text"),
        ("nodes:", "nodes: 3\nmore:", "is 3, expected a list"),
    ] {
        let problems = graph(&GRAPH.replace(from, to)).expect_err(told);
        assert!(problems.contains(told), "{told}: {problems}");
    }
    assert!(graph("- x\n").is_err() && graph("a: b: c").is_err());
}
