//! R-TOOL-1, 2, 3, 5: the shape of a file, every rule of validation, layers, order, discovery.

use std::path::Path;

use pdm_tools::layer::Layer;
use pdm_tools::spec::executor::Executor;
use pdm_tools::{Registry, ToolSpec};
use proptest::prelude::*;

use super::{folder, said, shipped, tool};

/// The problems of a file `t.yaml` with this text.
fn problems(text: &str) -> Vec<String> {
    let problems = ToolSpec::parse(Path::new("t.yaml"), text).err().unwrap_or_default();
    said(&problems)
}

/// The valid file with one line replaced.
fn with(line: &str, instead: &str) -> String {
    let right = tool("a_tool", "analysis", "");
    assert!(right.contains(line), "{line}");
    right.replacen(line, instead, 1)
}

#[test]
fn the_example_of_the_tool_specification_is_right() {
    let text = "name: my_new_tool\nversion: \"1.0.0\"\nlayer: analysis        # a layer\n\
                domain: analysis\ndescription: \"도구 설명\"\n\ninput_schema:\n  type: object\n  \
                properties:\n    input_data:\n      type: string\n      description: \"입력 \
                데이터\"\n  required: [\"input_data\"]\n\noutput_schema:\n  type: object\n  \
                properties:\n    result:\n      type: object\n      description: \"분석 \
                결과\"\n\ndependencies:\n  - preprocessor\n\nproduces:\n  - my_new_result\n";
    let spec = ToolSpec::parse(Path::new("t.yaml"), text).expect("right");
    assert_eq!(spec.layer, Layer::Analysis);
    assert_eq!(spec.layer.executor(), "analysis_executor");
    assert_eq!(spec.dependencies, ["preprocessor"]);
    assert!(matches!(spec.executor, Executor::Builtin { function } if function == "my_new_tool"));
}

#[test]
fn every_required_field_that_is_missing_is_told() {
    let told = problems("tags: [x]\n");
    for field in
        ["name", "version", "layer", "domain", "description", "input_schema", "output_schema"]
    {
        let expected = format!("{field}: is required and missing");
        assert!(told.iter().any(|line| line.ends_with(&expected)), "{field}: {told:?}");
    }
}

#[test]
fn a_wrong_field_is_told_with_file_line_and_what_is_allowed() {
    let cases = [
        ("name: a_tool", "name: aTool", "t.yaml:1:1: name: is \"aTool\", allowed is snake_case"),
        ("name: a_tool", "name: ''", "t.yaml:1:1: name: is \"\", expected a text"),
        ("\"1.0.0\"", "\"1.0\"", "t.yaml:2:1: version: is \"1.0\", expected a semantic version"),
        (
            "layer: analysis",
            "layer: execution",
            "t.yaml:3:1: layer: is \"execution\", allowed are collection, analysis, insight, \
             content, report, ops",
        ),
        ("domain: data", "domain: ''", "t.yaml:4:1: domain: is \"\""),
        (
            "domain: data",
            "domain: data\ntag: x",
            "t.yaml:5:1: tag: unknown field, allowed are name",
        ),
        ("description: a tool", "description: [x]", "t.yaml:5:1: description: is [\"x\"]"),
    ];
    for (line, instead, expected) in cases {
        let told = problems(&with(line, instead));
        assert!(told.len() == 1 && told[0].starts_with(expected), "{expected}: {told:?}");
    }
}

#[test]
fn a_wrong_schema_is_told_with_the_line_of_its_field() {
    let cases = [
        (
            "  type: object\n  properties:\n    q",
            "  properties:\n    q",
            "t.yaml:6:1: input_schema.type: is required",
        ),
        ("    query: {type: string}", "    query: {type: text}", "not a valid JSON Schema"),
        (
            "    query: {type: string}",
            "    query: {description: x}",
            "t.yaml:9:5: input_schema.properties.query.type: is required",
        ),
        (
            "    query: {type: string}",
            "    query: {type: string}\n  required: [q]",
            "t.yaml:10:14: input_schema.required.0: \"q\" is none of the properties",
        ),
        (
            "  properties:\n    query: {type: string}\n",
            "",
            "input_schema.properties: is required for an object",
        ),
        (
            "input_schema:\n  type: object",
            "input_schema:\n  type: string",
            "input_schema.type: is \"string\", expected object",
        ),
        (
            "    query: {type: string}",
            "    query: {$ref: 'https://example.com/x.json'}",
            "input_schema: cannot be compiled",
        ),
        ("    query: {type: string}", "    query: {type: string, pattern: '('}", "input_schema"),
    ];
    for (line, instead, expected) in cases {
        let told = problems(&with(line, instead));
        assert!(told.iter().any(|line| line.contains(expected)), "{expected}: {told:?}");
    }
}

#[test]
fn a_wrong_executor_is_told() {
    let told = |extra: &str| problems(&tool("t", "analysis", extra));
    let one = |extra: &str, expected: &str| {
        let told = told(extra);
        assert!(told.iter().any(|line| line.contains(expected)), "{expected}: {told:?}");
    };
    one(
        "executor: shell\n",
        "executor: is \"shell\", allowed are builtin, search, table, sql, graph, http, mcp, \
         prompt, pipeline",
    );
    // R-TOOL-6
    one(
        "executor: prompt\nconfig: {template: x}\n",
        "t.yaml:14:10: config.template: unknown field, allowed are instructions, timeout_s",
    );
    one("executor: graph\n", "config.query: needs either query or query_argument");
    one("executor: graph\nconfig: {query: x, result: one}\n", "allowed are rows, table, first");
    one("executor: search\n", "config.collection: is required");
    one(
        "executor: search\nconfig: {document: deed, by: title}\n",
        "config.document: is for the tools of a pack",
    );
    one(
        "executor: sql\nconfig: {database: pack, query: SELECT 1, result: tree}\n",
        "config.result: is \"tree\", allowed are table, rows, json",
    );
    one(
        "executor: sql\nconfig: {database: d, query: SELECT 1, refuse_if: DROP TABLE t}\n",
        "config.refuse_if: starts with \"DROP\"",
    );
    one("executor: search\nconfig: {collection: c, topk: 1}\n", "config.topk: unknown field");
    one(
        "executor: search\nconfig: {collection: c, filters: {a: nope}}\n",
        "nope is none of the properties",
    );
    one(
        "executor: sql\nconfig: {database: d, query: DELETE FROM t}\n",
        "config.query: starts with \"DELETE\"",
    );
    one(
        "executor: sql\nconfig: {database: d, query: 'SELECT :other'}\n",
        "other is none of the properties",
    );
    one("executor: http\nconfig: {url: 'http://{query}/x'}\n", "config.url: has the host");
    one("executor: http\nconfig: {url: 'http://h/x', method: PUT}\n", "config.method: is \"PUT\"");
    one("executor: mcp\n", "config.server: is required");
    one("config: {timeout_s: 0}\n", "config.timeout_s: is 0, allowed is 0.01 to 600");
    one("config: {retries: 9}\n", "config.retries: is 9, allowed is 0 to 3");
    one(
        "executor: pipeline\nconfig: {steps: [{tool: x}]}\n",
        "config.steps.0.tool: x does not stand under dependencies",
    );
}

#[test]
fn all_that_is_wrong_with_a_file_is_told_at_once() {
    let text = with("version: \"1.0.0\"", "version: x").replace("layer: analysis", "layer: y");
    assert_eq!(problems(&text).len(), 2);
}

#[test]
fn dependencies_must_exist_and_not_be_oneself_or_run_later() {
    let folder = folder(&[
        ("a.yaml", &tool("a", "collection", "dependencies: [nothing]\n")),
        ("b.yaml", &tool("b", "collection", "dependencies: [b]\n")),
        ("c.yaml", &tool("c", "collection", "dependencies: [d]\n")),
        ("d.yaml", &tool("d", "ops", "")),
    ]);
    let loaded = Registry::read(folder.path());
    let told = said(&loaded.problems).join("\n");
    assert!(told.contains("a.yaml:13:16: dependencies.0: there is no tool nothing"), "{told}");
    assert!(
        told.contains("b.yaml:13:16: dependencies.0: a tool cannot depend on itself"),
        "{told}"
    );
    assert!(
        told.contains("c.yaml:13:16: dependencies.0: d runs later, in the layer ops"),
        "{told}"
    );
    assert_eq!(loaded.registry.names(), ["d"], "the right one is there");
}

#[test]
fn a_circle_is_told_with_its_path() {
    let folder = folder(&[
        ("a.yaml", &tool("a", "analysis", "dependencies: [c]\n")),
        ("b.yaml", &tool("b", "analysis", "dependencies: [a]\n")),
        ("c.yaml", &tool("c", "analysis", "dependencies: [b]\n")),
        ("e.yaml", &tool("e", "analysis", "")),
    ]);
    let loaded = Registry::read(folder.path());
    let told = said(&loaded.problems).join("\n");
    assert!(told.contains("a.yaml:13:1: dependencies: a circle: a → c → b → a"), "{told}");
    assert_eq!(loaded.registry.names(), ["e"]);
}

#[test]
fn a_name_belongs_to_one_file() {
    let folder = folder(&[("a.yaml", &tool("x", "ops", "")), ("b.yaml", &tool("x", "ops", ""))]);
    let loaded = Registry::read(folder.path());
    assert_eq!(loaded.registry.names(), ["x"]);
    assert!(said(&loaded.problems)[0].contains("b.yaml:1:1: name: x is already the tool of"));
}

#[test]
fn the_tools_that_are_shipped_are_right_and_are_those_of_the_specification() {
    let loaded = Registry::read(&shipped());
    assert_eq!(said(&loaded.problems), Vec::<String>::new());
    let parameters = |name: &str| -> Vec<String> {
        let spec = loaded.registry.get(name).expect(name);
        let properties = spec.input.value()["properties"].as_object().expect("properties");
        properties.keys().cloned().collect()
    };
    let sorted = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let both = sorted(vec!["query", "equipment_id", "bearing_id", "top_k"]);
    assert_eq!(
        sorted(parameters("search_maintenance_history").iter().map(AsRef::as_ref).collect()),
        both
    );
    assert_eq!(
        sorted(parameters("search_analysis_history").iter().map(AsRef::as_ref).collect()),
        both
    );
    // `whose` is ours: the plant's own documents alone
    let manual = sorted(vec!["query", "doc_type", "top_k", "whose"]);
    assert_eq!(
        sorted(parameters("search_equipment_manual").iter().map(AsRef::as_ref).collect()),
        manual
    );
    let notify = sorted(vec!["message", "risk_level", "equipment_id"]);
    assert_eq!(
        sorted(parameters("notify_maintenance_staff").iter().map(AsRef::as_ref).collect()),
        notify
    );
}

#[test]
fn tools_are_found_by_tag_and_drawn_with_their_dependencies() {
    let folder = folder(&[
        ("a.yaml", &tool("collector", "collection", "tags: [x]\nproduces: [raw_data]\n")),
        ("b.yaml", &tool("report_writer", "report", "dependencies: [collector]\ntags: [x, y]\n")),
    ]);
    let registry = Registry::read(folder.path()).registry;
    assert_eq!(registry.tagged("x").count(), 2);
    assert_eq!(
        registry.tagged("y").map(|spec| spec.name.as_str()).collect::<Vec<_>>(),
        ["report_writer"]
    );
    assert_eq!(
        registry.graph(),
        "collection\n  collector 1.0.0  ► raw_data\nreport\n  report_writer 1.0.0  ◄ collector\n"
    );
    let dot = registry.dot();
    assert!(
        dot.starts_with("digraph tools {") && dot.contains("  collector -> report_writer;\n"),
        "{dot}"
    );
}

/// A random graph without circles: a tool depends on earlier ones of its own or an earlier layer.
fn layered() -> impl Strategy<Value = Vec<(usize, Vec<prop::sample::Index>)>> {
    let tool = (0..6usize, prop::collection::vec(any::<prop::sample::Index>(), 0..3));
    prop::collection::vec(tool, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn arbitrary_yaml_never_panics(
        text in "(name|version|layer|input_schema|config|executor|type|properties|: |\\n|  |- \
                 |\\[|\\{|\\}|\\]|x|1|'|\"|object|pipeline|sql){0,60}") {
        let _parsed = ToolSpec::parse(Path::new("t.yaml"), &text);
    }

    #[test]
    fn a_mutilated_tool_never_panics(cut in 0usize..400, insert in "\\PC{0,8}") {
        let right = tool("t", "analysis", "executor: pipeline\ndependencies: [a]\nconfig: {steps: \
            [{tool: a, input: {q: $input.query}}]}\n");
        let cut =
            right.char_indices().map(|(at, _)| at).take_while(|at| *at <= cut).last().unwrap_or(0);
        let text = format!("{}{insert}{}", &right[..cut], &right[cut..]);
        let _parsed = ToolSpec::parse(Path::new("t.yaml"), &text);
    }

    #[test]
    fn tools_stand_after_what_they_need_and_layer_by_layer(graph in layered()) {
        let folder = tempfile::TempDir::new().expect("folder");
        let mut layers: Vec<(usize, usize)> =
            graph.iter().enumerate().map(|(i, (l, _))| (*l, i)).collect();
        layers.sort_unstable();
        for (place, (layer, index)) in layers.iter().enumerate() {
            let mut needs: Vec<String> = graph[*index].1.iter().filter(|_| place > 0)
                .map(|pick| format!("tool_{}", layers[pick.index(place)].1)).collect();
            needs.sort_unstable();
            needs.dedup();
            let text = tool(&format!("tool_{index}"), Layer::ALL[*layer].name(),
                &format!("dependencies: [{}]\n", needs.join(", ")));
            std::fs::write(folder.path().join(format!("{index}.yaml")), text).expect("written");
        }
        let loaded = Registry::read(folder.path());
        prop_assert!(loaded.problems.is_empty(), "{:?}", said(&loaded.problems));
        let specs: Vec<_> = loaded.registry.list().collect();
        prop_assert_eq!(specs.len(), graph.len());
        prop_assert!(specs.is_sorted_by_key(|spec| spec.layer));
        for (place, spec) in specs.iter().enumerate() {
            for needed in &spec.dependencies {
                prop_assert!(specs[..place].iter().any(|before| before.name == *needed));
            }
        }
    }
}
