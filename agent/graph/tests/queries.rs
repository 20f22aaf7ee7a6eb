//! Queries over a small graph: the examples and tools of the ETF document, the rules for callers'
//! queries, limits, hostile texts.

use std::time::{Duration, Instant};

use pdm_graph::{Limits, MemoryGraph, Properties, Query, QueryError, Value};

fn node(graph: &mut MemoryGraph, label: &str, properties: &[(&str, Value)]) -> i64 {
    let own = properties.iter().map(|(key, value)| ((*key).into(), value.clone()));
    graph.add_node(vec![label.into()], own.collect())
}

fn edge(graph: &mut MemoryGraph, from: i64, kind: &str, to: i64, properties: &[(&str, Value)]) {
    let own = properties.iter().map(|(key, value)| ((*key).into(), value.clone()));
    graph.add_relationship(from, kind, to, own.collect()).expect("ends");
}

fn etfs() -> MemoryGraph {
    let mut graph = MemoryGraph::default();
    let g = &mut graph;
    let fund = |g: &mut MemoryGraph, code: &str, name: &str, ratio: f64| {
        node(
            g,
            "ETF",
            &[("code", code.into()), ("name", name.into()), ("expense_ratio", ratio.into())],
        )
    };
    let kodex = fund(g, "069500", "KODEX 200", 0.15);
    let tiger = fund(g, "102110", "TIGER 200", 0.05);
    let chips = fund(g, "091160", "KODEX 반도체", 0.45);
    let stock = |g: &mut MemoryGraph, code: &str, name: &str| {
        node(g, "Stock", &[("code", code.into()), ("name", name.into())])
    };
    let samsung = stock(g, "005930", "삼성전자");
    let tes = stock(g, "095610", "테스");
    let company = node(g, "Company", &[("name", "삼성자산운용".into())]);
    let tag = node(g, "Tag", &[("name", "반도체".into())]);
    for (fund, stock, date, weight) in [
        (kodex, samsung, "2026-02-11", 30.0),
        (kodex, samsung, "2026-02-12", 30.5),
        (tiger, samsung, "2026-02-12", 31.0),
        (chips, samsung, "2026-02-12", 20.0),
        (chips, tes, "2026-02-12", 4.0),
        (chips, tes, "2026-02-10", 9.0),
    ] {
        edge(g, fund, "HOLDS", stock, &[("date", date.into()), ("weight", weight.into())]);
    }
    edge(g, kodex, "MANAGED_BY", company, &[]);
    edge(g, chips, "MANAGED_BY", company, &[]);
    edge(g, chips, "TAGGED", tag, &[]);
    graph
}

fn ask(query: &Query, graph: &MemoryGraph, parameters: &[(&str, Value)]) -> String {
    let parameters: Properties =
        parameters.iter().map(|(key, value)| ((*key).into(), value.clone())).collect();
    query.run(graph, &parameters, &Limits::default()).expect("rows").to_json().to_string()
}

fn strict(text: &str) -> String {
    ask(&Query::read_strict(text).expect("a query"), &etfs(), &[])
}

/// R-GRAPH-1: the four examples of the ETF document, as they stand there.
#[test]
fn the_examples_of_the_document_run() {
    let told = strict(
        "MATCH (e:ETF)-[h:HOLDS]->(s:Stock {code: '005930'})
         WITH e, h ORDER BY h.date DESC
         WITH e, head(collect(h)) as latest
         RETURN {etf_code: e.code, etf_name: e.name, weight: latest.weight}
         ORDER BY latest.weight DESC",
    );
    assert_eq!(
        told,
        r#"[{"etf_code":"102110","etf_name":"TIGER 200","weight":31.0},{"etf_code":"069500","etf_name":"KODEX 200","weight":30.5},{"etf_code":"091160","etf_name":"KODEX 반도체","weight":20.0}]"#
    );
    let told = strict(
        "MATCH (e:ETF)-[:TAGGED]->(t:Tag {name: '반도체'})
         RETURN {code: e.code, name: e.name, expense_ratio: e.expense_ratio}",
    );
    assert_eq!(told, r#"[{"code":"091160","expense_ratio":0.45,"name":"KODEX 반도체"}]"#);
    let told = strict(
        "MATCH (e:ETF)-[:MANAGED_BY]->(c:Company)
         WHERE c.name CONTAINS '삼성'
         RETURN {code: e.code, name: e.name, company: c.name} ORDER BY e.code LIMIT 1",
    );
    assert_eq!(told, r#"[{"code":"069500","company":"삼성자산운용","name":"KODEX 200"}]"#);
    let told = strict(
        "MATCH (e:ETF)-[h1:HOLDS]->(s1:Stock {code: '005930'})
         WITH e, h1 ORDER BY h1.date DESC
         WITH e, head(collect(h1)) as lh1
         MATCH (e)-[h2:HOLDS]->(s2:Stock {code: '095610'})
         WITH e, lh1, h2 ORDER BY h2.date DESC
         WITH e, lh1, head(collect(h2)) as lh2
         WITH e, lh1, lh2, lh1.weight + lh2.weight AS total_weight
         ORDER BY total_weight DESC
         LIMIT 5
         RETURN {etf_code: e.code, etf_name: e.name, weight_samsung: lh1.weight, weight_tes: \
         lh2.weight, total_weight: total_weight}",
    );
    assert_eq!(
        told,
        r#"[{"etf_code":"091160","etf_name":"KODEX 반도체","total_weight":24.0,"weight_samsung":20.0,"weight_tes":4.0}]"#
    );
}

/// The document's search, and the queries that its other tools name in words.
#[test]
fn the_queries_of_the_documents_tools_run() {
    let graph = etfs();
    let run = |text: &str, parameters: &[(&str, Value)]| {
        ask(&Query::read(text).expect("a query"), &graph, parameters)
    };
    let told = run(
        "MATCH (e:ETF)
         WHERE toLower(e.name) CONTAINS toLower($query) OR e.code CONTAINS $query
         RETURN {code: e.code, name: e.name, expense_ratio: e.expense_ratio}
         ORDER BY e.name LIMIT 10",
        &[("query", "kodex 2".into())],
    );
    assert_eq!(told, r#"[{"code":"069500","expense_ratio":0.15,"name":"KODEX 200"}]"#);
    let told = run(
        "MATCH (s:Stock) WHERE s.name CONTAINS $query OR s.code CONTAINS $query
         RETURN {code: s.code, name: s.name} ORDER BY s.name LIMIT 10",
        &[("query", "0059".into())],
    );
    assert_eq!(told, r#"[{"code":"005930","name":"삼성전자"}]"#);
    let told = run(
        "MATCH (t:Tag) OPTIONAL MATCH (e:ETF)-[:TAGGED]->(t)
         WITH t, count(e) AS etfs RETURN {name: t.name, count: etfs} ORDER BY etfs DESC, t.name",
        &[],
    );
    assert_eq!(told, r#"[{"count":1,"name":"반도체"}]"#);
    let told = run(
        "MATCH (e:ETF {code: $code})-[h:HOLDS]->(s:Stock)
         WITH e, max(h.date) AS latest
         MATCH (e)-[h:HOLDS {date: latest}]->(s:Stock)
         OPTIONAL MATCH (e)-[:MANAGED_BY]->(c:Company)
         WITH e, c, collect({stock: s.name, weight: h.weight}) AS held
         RETURN {company: c.name, tags: [(e)-[:TAGGED]->(t) | t.name], top: held[..10]}",
        &[("code", "091160".into())],
    );
    assert_eq!(
        told,
        r#"[{"company":"삼성자산운용","tags":["반도체"],"top":[{"stock":"삼성전자","weight":20.0},{"stock":"테스","weight":4.0}]}]"#
    );
    let told = run(
        "MATCH (a:ETF {code: $code})-[x:HOLDS]->(s:Stock)<-[y:HOLDS]-(b:ETF)
         WHERE x.date = '2026-02-12' AND y.date = '2026-02-12'
         WITH b, count(s) AS overlap,
              sum(CASE WHEN x.weight < y.weight THEN x.weight ELSE y.weight END) AS similarity
         RETURN {etf_code: b.code, overlap: overlap, similarity: similarity}
         ORDER BY similarity DESC",
        &[("code", "069500".into())],
    );
    assert_eq!(
        told,
        r#"[{"etf_code":"102110","overlap":1,"similarity":30.5},{"etf_code":"091160","overlap":1,"similarity":20.0}]"#
    );
}

/// The grammar took `collect` beside `CASE` for the beginning of a subquery.
#[test]
fn collect_stands_beside_case() {
    let query = Query::read(
        "MATCH (e:ETF)-[h:HOLDS]->() WITH e, Collect (h.weight) AS held, count(*) AS n
         RETURN CASE WHEN n > 1 THEN held ELSE [] END AS more, COLLECT(e.code)",
    );
    let query = query.expect("a query");
    let table = query.run(&etfs(), &Properties::new(), &Limits::default()).expect("rows");
    assert_eq!(table.columns, ["more".into(), "COLLECT(e.code)".into()], "as it was written");
    assert_eq!(table.rows.len(), 3);
    let told = Query::read("MATCH (a) WHERE collect(a) = [] RETURN CASE WHEN true THEN 1 END");
    assert!(told.expect_err("refused").to_string().contains("collect() cannot be used here"));
}

#[test]
fn a_callers_query_begins_with_match_and_returns_one_map() {
    let refused = |text: &str| Query::read_strict(text).expect_err("refused").to_string();
    assert_eq!(
        refused("UNWIND [1] AS x RETURN {x: x}"),
        "a query that does not begin with MATCH is not allowed: begin it with MATCH"
    );
    assert_eq!(
        refused("MATCH (n) RETURN n.name, n.code"),
        "RETURN of anything but one map is not allowed: write RETURN {key1: value1, key2: value2}"
    );
    for (text, construct) in [
        ("MATCH (n) CREATE (m) RETURN {a: 1}", "CREATE"),
        ("MATCH (n) SET n.x = 1 RETURN {a: 1}", "SET"),
        ("MERGE (n) RETURN {a: 1}", "MERGE"),
        ("MATCH (n) DETACH DELETE n", "DELETE"),
        ("MATCH (n) REMOVE n.x RETURN {a: 1}", "REMOVE"),
        ("MATCH (n) CALL db.labels() YIELD label RETURN {a: label}", "CALL"),
        ("MATCH p = shortestPath((a)-[*]->(b)) RETURN {a: 1}", "shortestPath()"),
    ] {
        let told = refused(text);
        assert!(told.starts_with(&format!("{construct} is not allowed")), "{text}: {told}");
    }
    // openCypher has no LOAD CSV and no FOREACH: the grammar refuses them at their place
    let told = refused("MATCH (n) LOAD CSV FROM 'file:///etc/passwd' AS x RETURN {a: x}");
    assert!(told.starts_with("the query cannot be read: line 1, column 11"), "{told}");
    assert!(refused("MATCH (n) DROP INDEX x").starts_with("the query cannot be read"));
    assert!(refused("MATCH (n) RETURN {a: foo(n)}").contains("function foo() is not known"));
}

fn chain(length: i64) -> MemoryGraph {
    let mut graph = MemoryGraph::default();
    let ids: Vec<i64> = (0..length).map(|i| node(&mut graph, "N", &[("i", i.into())])).collect();
    for from in &ids {
        for to in &ids {
            edge(&mut graph, *from, "T", *to, &[]);
        }
    }
    graph
}

#[test]
fn a_query_that_would_run_for_minutes_is_stopped_by_name() {
    let graph = chain(30);
    let stopped = |text: &str, limits: &Limits| {
        let begun = Instant::now();
        let error = Query::read(text).expect("a query").run(&graph, &Properties::new(), limits);
        let error = error.expect_err("stopped");
        assert!(matches!(error, QueryError::Limit(_)), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{text} took {:?}", begun.elapsed());
        error.to_string()
    };
    let limits = Limits { time: Duration::from_millis(500), ..Limits::default() };
    let told = stopped("MATCH (a)-[*]->(b) RETURN count(*)", &limits);
    assert!(told.contains("rows") || told.contains("longer"), "{told}");
    let told = stopped("MATCH (a), (b), (c), (d), (e), (f) RETURN count(*)", &limits);
    assert!(told.contains("rows") || told.contains("longer"), "{told}");
    let told = stopped("RETURN range(1, 9000000000)", &limits);
    assert!(told.contains("rows"), "{told}");
    let told = stopped(
        "RETURN reduce(s = 'x', i IN range(1, 60) | s + s) AS s",
        &Limits { bytes: 1_000_000, ..Limits::default() },
    );
    assert!(told.contains("bytes"), "{told}");
    let told = stopped(
        "UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b RETURN count(*)",
        &Limits::default(),
    );
    assert!(told.contains("rows"), "{told}");
}

#[test]
fn a_path_that_goes_on_below_the_depth_is_refused_and_not_cut() {
    let mut graph = MemoryGraph::default();
    let ids: Vec<i64> =
        (0..40).map(|i| node(&mut graph, "N", &[("i", i64::from(i).into())])).collect();
    for pair in ids.windows(2) {
        edge(&mut graph, pair[0], "T", pair[1], &[]);
    }
    let query = Query::read("MATCH (a {i: 0})-[:T*]->(b) RETURN count(b) AS n").expect("a query");
    let run = |depth| query.run(&graph, &Properties::new(), &Limits { depth, ..Limits::default() });
    let told = run(20).expect_err("refused").to_string();
    assert!(told.contains("after 20 relationships"), "{told}");
    assert_eq!(run(39).expect("rows").to_json().to_string(), r#"[{"n":39}]"#);
}

#[test]
fn rows_beyond_the_limit_are_cut_and_the_cut_is_told() {
    let graph = chain(30);
    let query = Query::read("MATCH (a), (b) RETURN a.i, b.i").expect("a query");
    let limits = Limits { rows: 7, ..Limits::default() };
    let table = query.run(&graph, &Properties::new(), &limits).expect("rows");
    assert_eq!((table.rows.len(), table.truncated), (7, true));
}

/// Texts that nest or repeat without end are answered with an error on the stack of a worker
/// thread.
#[test]
fn hostile_texts_are_refused_without_a_panic() {
    let texts = [
        format!("RETURN {}1", "(".repeat(5_000)),
        format!("RETURN {}1{}", "(".repeat(4_900), ")".repeat(4_900)),
        format!("RETURN 1{}", "+1".repeat(4_900)),
        format!("RETURN {}true", "NOT ".repeat(2_400)),
        format!("RETURN {}1", "- ".repeat(4_900)),
        format!("RETURN 1{}", "[0]".repeat(3_000)),
        format!("RETURN {}1{}", "[".repeat(90), "]".repeat(90)),
        format!("MATCH {}() RETURN 1", "()--".repeat(2_000)),
        "RETURN CASE ".repeat(500),
        "MATCH (n) WHERE ".repeat(500),
        "x".repeat(20_000),
        "\u{0}\u{feff}😀'".into(),
    ];
    let worker = std::thread::Builder::new().stack_size(2 << 20);
    let checked = worker.spawn(move || {
        for text in texts {
            let begun = Instant::now();
            let shown: String = text.chars().take(40).collect();
            let _refused_or_not = Query::read(&text);
            assert!(
                begun.elapsed() < Duration::from_secs(10),
                "{shown} took {:?}",
                begun.elapsed()
            );
        }
    });
    checked.expect("a thread").join().expect("no panic");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]
    /// Words of the language in any order never panic, neither read nor run.
    #[test]
    fn words_in_any_order_never_panic(
        words in proptest::collection::vec(proptest::sample::select(vec![
        "MATCH", "OPTIONAL", "WITH", "RETURN", "WHERE", "UNWIND", "AS", "ORDER BY", "SKIP", "LIMIT",
        "UNION",
        "DISTINCT", "(n)", "(n:ETF)", "-[r:HOLDS]->", "-[*1..2]-", "()", "n", "r", "n.name", "1",
        "-1", "0.0",
        "'x'", "[1,null]", "{a: 1}", "null", "+", "/", "%", "=", "<", "IN", "AND", "NOT",
        "count(*)", "collect(n)",
        "head([1])", "size('a')", "range(0,3)", "substring('abc',1)", "x", ",", "*", "sum(n.x)",
        "[x IN [1] | x]",
    ]), 0..12)) {
        let text = words.join(" ");
        if let Ok(query) = Query::read(&text) {
            let limits = Limits { time: Duration::from_secs(2), ..Limits::default() };
            let _answer = query.run(&etfs(), &Properties::new(), &limits);
        }
    }
}
