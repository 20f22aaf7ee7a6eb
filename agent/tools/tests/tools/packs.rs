//! R-PACK-1: the packs that come with the program, and packs of an operator's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use pdm_tools::exec::Failure;
use pdm_tools::exec::prompt::{LanguageModel, Prompt};
use pdm_tools::pack::{PackPlace, shipped_names};
use pdm_tools::{Call, Catalogue, ExecutorResources, Registry, Runtime, Sources, ToolError};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::said;

fn with_packs(names: &[&str]) -> Sources {
    let place = |name: &&str| PackPlace::find(name, None).expect("shipped");
    Sources { packs: names.iter().map(place).collect(), ..Sources::default() }
}

fn runtime(sources: Sources, means: ExecutorResources) -> Runtime {
    let (catalogue, problems) = Catalogue::of(sources);
    assert!(problems.is_empty(), "{:?}", said(&problems));
    Runtime::new(catalogue, means)
}

async fn called(runtime: &Runtime, tool: &str, arguments: Value) -> Result<Value, ToolError> {
    let call = Call { id: "c".into(), tool: tool.into(), arguments };
    runtime.call(&call).await.map(|observation| observation.value)
}

/// A folder with a pack `own`: its manifest, one table and one tool.
fn own_pack() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let pack = folder.path().join("own");
    for inside in ["tools", "data"] {
        std::fs::create_dir_all(pack.join(inside)).expect("made");
    }
    let write = |name: &str, text: &str| std::fs::write(pack.join(name), text).expect("written");
    write(
        "pack.toml",
        "name = \"own\"\nversion = \"1.0.0\"\ndescription = \"d\"\nsource = \"s\"\ndata = \"made \
         up\"\n",
    );
    write("data/part.csv", "code,price:real\n007,1.5\n008,2.5\n");
    write(
        "tools/find_part.yaml",
        "name: find_part\nversion: \"1.0.0\"\nlayer: collection\ndomain: data\ndescription: a \
         part\n\
         executor: sql\ninput_schema:\n  type: object\n  properties:\n    code: {type: string}\n  \
         required: [code]\noutput_schema:\n  type: array\n  items: {type: object}\nconfig:\n  \
         database: pack\n  result: rows\n  refuse_if: SELECT 'there is no part ' || :code WHERE \
         NOT EXISTS (SELECT 1 FROM part WHERE code = :code)\n  query: SELECT code, price FROM part \
         WHERE code = :code\n",
    );
    (folder, pack)
}

fn place(pack: &Path) -> Sources {
    Sources { packs: vec![PackPlace::Folder(pack.to_owned())], ..Sources::default() }
}

#[test]
fn every_shipped_pack_is_right_alone_and_all_together() {
    let names: Vec<&str> = shipped_names().collect();
    assert_eq!(names, ["air-quality", "contracts", "dream-agent", "etf-atlas"]);
    for name in &names {
        let loaded = Registry::load(&with_packs(&[name]));
        assert!(loaded.problems.is_empty(), "{name}: {:?}", said(&loaded.problems));
        assert!(loaded.registry.list().any(|spec| spec.pack.as_deref() == Some(*name)), "{name}");
    }
    let all = Registry::load(&with_packs(&names));
    assert!(all.problems.is_empty(), "{:?}", said(&all.problems));
    assert_eq!(all.registry.packs().len(), names.len());
}

/// Every statement of a pack runs on the pack's own tables: a wrong one is told at the call.
#[tokio::test]
async fn a_tool_reads_the_tables_of_its_pack_and_refuses_by_its_own_statement() {
    let (_folder, pack) = own_pack();
    let runtime = runtime(place(&pack), ExecutorResources::default());
    let found = called(&runtime, "find_part", json!({"code": "007"})).await;
    assert_eq!(found, Ok(json!([{"code": "007", "price": 1.5}])));
    let refused = called(&runtime, "find_part", json!({"code": "009"})).await.expect_err("refused");
    assert_eq!(refused.to_string(), "find_part: there is no part 009");
}

#[tokio::test]
async fn a_pack_whose_data_is_saved_anew_is_read_anew_and_a_broken_one_stays_as_it_was() {
    let (_folder, pack) = own_pack();
    let (catalogue, _) = Catalogue::of(place(&pack));
    let runtime = Runtime::new(Arc::clone(&catalogue), ExecutorResources::default());
    let table = pack.join("data/part.csv");
    std::fs::write(&table, "code,price:real\n009,9\n").expect("saved");
    assert!(catalogue.reload().is_empty());
    let found = called(&runtime, "find_part", json!({"code": "009"})).await;
    assert_eq!(found, Ok(json!([{"code": "009", "price": 9.0}])));
    std::fs::write(&table, "code,price:real\n009,cheap\n").expect("saved");
    let told = said(&catalogue.reload());
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("part.csv:2:1: column \"price\" is \"cheap\""), "{told:?}");
    let found = called(&runtime, "find_part", json!({"code": "009"})).await;
    assert_eq!(found, Ok(json!([{"code": "009", "price": 9.0}])));
}

#[test]
fn what_is_wrong_with_a_pack_is_told_with_file_and_line() {
    let wrong = |name: &str, text: &str| {
        let (_folder, pack) = own_pack();
        std::fs::write(pack.join(name), text).expect("written");
        said(&Registry::load(&place(&pack)).problems).join("\n")
    };
    let manifest = |line: &str| {
        format!(
            "name = \"own\"\nversion = \"1.0.0\"\ndescription = \"d\"\nsource = \"s\"\ndata = \
             \"x\"\n{line}\n"
        )
    };
    for (name, text, told) in [
        ("pack.toml", manifest("colour = 1"), "pack.toml:6:1: unknown field `colour`"),
        ("pack.toml", manifest("").replace("own", "other"), "expected that of the folder"),
        ("pack.toml", manifest("[executors]\nops = \"sql\""), "allowed are builtin, prompt"),
        ("pack.toml", manifest("[executors]\nwork = \"prompt\""), "is no layer, allowed are"),
        ("data/part.csv", "code,price:money\n".into(), "has the type \"money\""),
        (
            "graph.yaml",
            "nodes:\n  - { label: Part, table: parts, key: code }\n".into(),
            "graph.yaml:2:20: nodes.0.table: is \"parts\", the pack has the tables part",
        ),
        ("data/notes.txt", "x".into(), "is neither .csv (a table) nor .md (articles)"),
        ("data/deed.md", "# d\n## One\nx\n".into(), "deed.md:2:1: is \"One\", expected 제N조"),
    ] {
        let problems = wrong(name, &text);
        assert!(problems.contains(told), "{name}: {problems:?}");
    }
}

#[test]
fn a_name_in_two_packs_is_refused() {
    let (_folder, pack) = own_pack();
    let (_other_folder, other) = own_pack();
    let packs = vec![PackPlace::Folder(pack), PackPlace::Folder(other.clone())];
    let loaded = Registry::load(&Sources { packs, ..Sources::default() });
    let told = said(&loaded.problems).join("\n");
    assert!(told.contains("find_part is already the tool of"), "{told}");
    assert!(told.contains(&other.display().to_string()), "the later one is refused: {told}");
}

/// A name that a tool outside packs has too is refused, unless the pack says that it takes its
/// place.
#[test]
fn a_pack_takes_the_place_of_a_shipped_tool_only_if_it_says_so() {
    let (_folder, pack) = own_pack();
    let file = pack.join("tools/find_part.yaml");
    let text = std::fs::read_to_string(&file).expect("read");
    std::fs::write(&file, text.replace("name: find_part", "name: look_up_life_factor"))
        .expect("saved");
    let told = said(&Registry::load(&place(&pack)).problems).join("\n");
    assert!(told.contains("look_up_life_factor is already the tool of"), "{told}");
    let manifest = pack.join("pack.toml");
    let text = std::fs::read_to_string(&manifest).expect("read");
    let text = format!("{text}replaces = [\"look_up_life_factor\"]\n");
    std::fs::write(&manifest, text).expect("saved");
    let loaded = Registry::load(&place(&pack));
    assert!(loaded.problems.is_empty(), "{:?}", said(&loaded.problems));
    let spec = loaded.registry.get("look_up_life_factor").expect("there");
    assert_eq!(spec.pack.as_deref(), Some("own"));
}

/// The tool that makes room stays under the name that the pack gives it, and tools that need it
/// find it.
#[test]
fn a_replaced_tool_may_have_another_name_meanwhile() {
    let (folder, pack) = own_pack();
    let rename = |file: PathBuf, from: &str, to: &str| {
        let text = std::fs::read_to_string(&file).expect("read");
        std::fs::write(&file, text.replace(from, to)).expect("saved");
    };
    let tools = folder.path().join("tools");
    std::fs::create_dir(&tools).expect("made");
    let tool = |name: &str, more: &str| {
        format!(
            "name: {name}\nversion: \"1.0.0\"\nlayer: collection\ndomain: data\ndescription: d\n\
             input_schema: {{type: object, properties: {{}}}}\noutput_schema: {{type: object, \
             properties: {{}}}}\n{more}"
        )
    };
    let step =
        "executor: pipeline\ndependencies: [find_part]\nconfig:\n  steps:\n    - tool: find_part\n";
    std::fs::write(tools.join("find.yaml"), tool("find_part", "")).expect("saved");
    std::fs::write(tools.join("uses.yaml"), tool("uses_it", step)).expect("saved");
    let sources = Sources { folder: Some(tools), ..place(&pack) };
    let told = said(&Registry::load(&sources).problems).join("\n");
    assert!(told.contains("find_part is already the tool of"), "{told}");
    let replaces = "data = \"made up\"\nreplaces = { find_part = \"find_own_part\" }";
    rename(pack.join("pack.toml"), "data = \"made up\"", replaces);
    let loaded = Registry::load(&sources);
    let (registry, problems) = (loaded.registry, loaded.problems);
    assert!(problems.is_empty(), "{:?}", said(&problems));
    assert_eq!(registry.get("find_part").expect("there").pack.as_deref(), Some("own"));
    assert_eq!(registry.get("find_own_part").expect("there").pack, None);
    assert_eq!(registry.get("uses_it").expect("there").dependencies, ["find_own_part"]);
    // a file that is broken meanwhile keeps its version under the new name
    std::fs::write(sources.folder.as_ref().expect("set").join("find.yaml"), "name: [")
        .expect("saved");
    let again = registry.renewed(&sources);
    assert_eq!(again.problems.len(), 1, "{:?}", said(&again.problems));
    assert!(again.registry.get("find_own_part").is_some());
    rename(pack.join("pack.toml"), "find_own_part", "FindPart");
    let told = said(&Registry::load(&sources).problems).join("\n");
    assert!(told.contains("pack.toml:6:1: replaces: gives find_part the name"), "{told}");
}

/// The names that the source of a pack gives are kept, and only those.
#[test]
fn only_names_that_a_pack_lists_may_differ_from_snake_case() {
    let (_folder, pack) = own_pack();
    let file = pack.join("tools/find_part.yaml");
    let text = std::fs::read_to_string(&file).expect("read");
    std::fs::write(&file, text.replace("name: find_part", "name: FindPartTool")).expect("saved");
    let told = said(&Registry::load(&place(&pack)).problems).join("\n");
    assert!(told.contains("allowed is snake_case"), "{told}");
    let manifest = pack.join("pack.toml");
    let text = std::fs::read_to_string(&manifest).expect("read");
    std::fs::write(&manifest, format!("{text}names = [\"FindPartTool\"]\n")).expect("saved");
    let loaded = Registry::load(&place(&pack));
    assert!(loaded.problems.is_empty(), "{:?}", said(&loaded.problems));
    assert!(loaded.registry.get("FindPartTool").is_some());
}

/// Tool specification, section 4: the domains are a closed list, which the settings extend.
#[test]
fn an_unknown_domain_is_refused_unless_the_settings_add_it() {
    let (_folder, pack) = own_pack();
    let file = pack.join("tools/find_part.yaml");
    let text = std::fs::read_to_string(&file).expect("read");
    std::fs::write(&file, text.replace("domain: data", "domain: stores")).expect("saved");
    let told = said(&Registry::load(&place(&pack)).problems).join("\n");
    assert!(told.contains("domain: is \"stores\", allowed are data, analysis, insight"), "{told}");
    let sources = Sources { domains: vec!["stores".to_owned()], ..place(&pack) };
    assert!(Registry::load(&sources).problems.is_empty());
}

#[test]
fn a_tool_outside_a_pack_has_no_pack_to_read() {
    let (folder, pack) = own_pack();
    let tools = folder.path().join("tools");
    std::fs::create_dir(&tools).expect("made");
    std::fs::copy(pack.join("tools/find_part.yaml"), tools.join("f.yaml")).expect("copied");
    let told = said(&Registry::read(&tools).problems).join("\n");
    assert!(told.contains("which only the tools of a pack may read"), "{told}");
}

/// Answers with what it was asked for, in the form of the schema.
struct Scripted(Value);

#[async_trait]
impl LanguageModel for Scripted {
    async fn answer(&self, prompt: &Prompt) -> Result<String, Failure> {
        assert!(prompt.data.is_object() && prompt.schema["type"] == "object", "{prompt:?}");
        Ok(format!("```json\n{}\n```", self.0))
    }
}

/// The template of the tool specification, section 8, as it stands there.
const TEMPLATE: &str = r#"name: my_new_tool
version: "1.0.0"
layer: analysis        # 적절한 레이어 선택
domain: analysis       # 적절한 도메인 선택
description: "새 도구 설명"

input_schema:
  type: object
  properties:
    input_data:
      type: string
      description: "입력 데이터"
  required: ["input_data"]

output_schema:
  type: object
  properties:
    result:
      type: object
      description: "분석 결과"

dependencies:
  - preprocessor       # 필요한 의존 도구

produces:
  - my_new_result      # 생성하는 데이터 유형
"#;

/// A copy of a shipped pack's folder, to which files can be added.
fn copied(name: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/packs").join(name);
    let to = folder.path().join(name);
    for inside in ["tools", "data"] {
        std::fs::create_dir_all(to.join(inside)).expect("made");
        for entry in std::fs::read_dir(from.join(inside)).expect("read") {
            let entry = entry.expect("an entry");
            let copy = to.join(inside).join(entry.file_name());
            std::fs::copy(entry.path(), copy).expect("copied");
        }
    }
    std::fs::copy(from.join("pack.toml"), to.join("pack.toml")).expect("copied");
    (folder, to)
}

#[tokio::test]
async fn the_template_of_the_specification_validates_and_runs() {
    let (_folder, pack) = copied("dream-agent");
    std::fs::write(pack.join("tools/my_new_tool.yaml"), TEMPLATE).expect("saved");
    let asked = json!({"input_data": "x"});
    let without = runtime(place(&pack), ExecutorResources::default());
    let refused = called(&without, "my_new_tool", asked.clone()).await.expect_err("refused");
    assert!(refused.to_string().contains("needs a language model, and none"), "{refused}");
    let model: Arc<dyn LanguageModel> = Arc::new(Scripted(json!({"result": {"ok": true}})));
    let means = ExecutorResources { model: Some(model), ..ExecutorResources::default() };
    let with = runtime(place(&pack), means);
    let answer = called(&with, "my_new_tool", asked).await;
    assert_eq!(answer, Ok(json!({"result": {"ok": true}})));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_keep_to_the_schema_is_asked_again_and_then_told() {
    let model: Arc<dyn LanguageModel> = Arc::new(Scripted(json!({"scenes": "none"})));
    let means = ExecutorResources { model: Some(model), ..ExecutorResources::default() };
    let runtime = runtime(with_packs(&["dream-agent"]), means);
    let started = tokio::time::Instant::now();
    let asked = json!({"creative": {"headline": "h", "body": "b"}});
    let error = called(&runtime, "storyboard_agent", asked).await.expect_err("malformed");
    assert!(matches!(&error, ToolError::Malformed { .. }), "{error}");
    assert!(error.to_string().contains("scenes: "), "{error}");
    // 1, 2 and 4 s between the four attempts
    assert_eq!(started.elapsed().as_secs(), 7);
}

/// Tool specification, sections 5 and 6.
#[test]
fn the_dream_agent_has_the_tools_dependencies_and_products_of_its_document() {
    let registry = Registry::load(&with_packs(&["dream-agent"])).registry;
    let document: [(&str, &str, &str, &[&str], &str); 16] = [
        ("preprocessor", "collection", "data", &["collector"], "preprocessed_data"),
        ("google_trends", "collection", "data", &[], "trend_data"),
        ("sentiment_analyzer", "analysis", "analysis", &["preprocessor"], "sentiment_result"),
        ("keyword_analyzer", "analysis", "analysis", &["preprocessor"], "keyword_result"),
        ("absa_analyzer", "analysis", "analysis", &["preprocessor"], "absa_result"),
        ("problem_classifier", "analysis", "analysis", &["preprocessor"], "problem_classification"),
        ("hashtag_analyzer", "analysis", "analysis", &["keyword_analyzer"], "hashtag_result"),
        ("competitor_analyzer", "analysis", "analysis", &["preprocessor"], "competitor_result"),
        (
            "insight_generator",
            "insight",
            "insight",
            &["sentiment_analyzer", "keyword_analyzer"],
            "insights",
        ),
        (
            "insight_with_trends",
            "insight",
            "insight",
            &["insight_generator", "google_trends"],
            "insights_with_trends",
        ),
        ("ad_creative_agent", "content", "content", &["insight_generator"], "ad_creative"),
        ("storyboard_agent", "content", "content", &["ad_creative_agent"], "storyboard"),
        ("video_agent", "content", "content", &["storyboard_agent"], "video_plan"),
        ("dashboard_agent", "ops", "business", &[], "dashboard"),
        ("sales_agent", "ops", "business", &[], "sales_analysis"),
        ("inventory_agent", "ops", "business", &[], "inventory_status"),
    ];
    for (name, layer, domain, dependencies, produces) in document {
        let spec = registry.get(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!((spec.layer.name(), spec.domain.as_str()), (layer, domain), "{name}");
        assert_eq!(spec.dependencies, dependencies, "{name}");
        assert_eq!(spec.produces, [produces], "{name}");
        assert_eq!(spec.version.to_string(), "1.0.0", "{name}");
    }
    // beside them: what the document needs and does not define, and the pipeline over all
    let own: Vec<&str> = registry
        .list()
        .filter(|spec| spec.pack.is_some())
        .map(|spec| spec.name.as_str())
        .filter(|name| !document.iter().any(|row| row.0 == *name))
        .collect();
    assert_eq!(own, ["collector", "insight_report"]);
}

#[tokio::test]
async fn the_pipeline_over_the_dream_agent_gives_what_its_tools_give_one_by_one() {
    let runtime = runtime(with_packs(&["dream-agent"]), ExecutorResources::default());
    let one = |tool: &'static str, arguments: Value| called(&runtime, tool, arguments);
    let raw = one("collector", json!({"channel": "mall"})).await.expect("collected");
    let clean = one("preprocessor", json!({"texts": raw["texts"]})).await.expect("cleaned");
    let texts = json!({"texts": clean["texts"]});
    let sentiment = one("sentiment_analyzer", texts.clone()).await.expect("judged");
    let whole = one("insight_report", json!({"channel": "mall"})).await.expect("run");
    assert_eq!(whole["sentiment"], sentiment);
    let count = |key: &str| sentiment[key].as_u64().expect("a count");
    let all = count("positive") + count("negative") + count("neutral");
    assert_eq!(all, clean["texts"].as_array().expect("texts").len() as u64);
    assert!(whole["insights"].as_array().expect("insights").len() >= 3, "{whole}");
    let text = |share: &Value| share["ko"].as_str().unwrap_or_default().to_owned();
    assert!(text(&whole["insights"][0]).starts_with(&format!("글 {all}건 가운데")), "{whole}");
}
