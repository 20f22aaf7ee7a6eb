//! `pdm-agent scenario run` and `pdm-agent trace` as they are typed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use pdm_harness::{ModelReply, ModelStandIn};
use pdm_report::Report;
use pdm_shared::risk::RiskLevel;
use serde_json::{Value, json};

fn typed(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .expect("runs")
}

/// R-AGENT-3, -6, -12: every sequence ends with the expected risk and stage; normal events use no
/// tool; acceleration is always researched in at least two rounds; report and work order are
/// written where they are due and nowhere else; no figure of a judgement or document is without a
/// source.
#[test]
fn every_scenario_ends_as_a_reliability_engineer_expects() {
    let output = typed(&["scenario", "run", "--json"]);
    let all: Value = serde_json::from_slice(&output.stdout).expect("json");
    for scenario in all["scenarios"].as_array().expect("a list") {
        let wrong = scenario["wrong"].as_array().expect("a list");
        assert!(wrong.is_empty(), "{}: {wrong:#?}", scenario["name"]);
    }
    assert!(output.status.success(), "{output:?}");
    let kpis = &all["kpis"];
    assert!(kpis["scenarios"].as_u64().is_some_and(|count| count >= 18), "{kpis:#}");
    for share in ["right_risk", "right_stage", "deep_research", "documents"] {
        assert_eq!(kpis[share]["of"], kpis[share]["all"], "{share}");
        assert!(kpis[share]["all"].as_u64() > Some(0), "{share}");
    }
    assert_eq!(kpis["normal_events_with_tools"], 0);
    assert_eq!(kpis["undue_documents"], 0);
    assert_eq!(kpis["ungrounded_figures"], 0);
    assert!(kpis["fewest_rounds"].as_u64() >= Some(2));
    let count = |key: &str| kpis[key].as_u64().expect("a count");
    assert!(count("distinct_questions") >= 3 * count("accelerating_sequences"), "{kpis:#}");
    let changed = &kpis["research_changed"];
    let of = |key: &str| changed[key].as_u64().expect("a count");
    assert!(2 * of("of") >= of("all") && of("all") > 0, "{kpis:#}");
}

/// The same over events that the edge made from simulated runs. Three runs whose element the edge
/// does not name are told as such; nothing sound is alarmed, no other element is named, and every
/// failure ends at Warning or worse and at stage 3 or 4.
#[test]
fn sequences_that_the_edge_made_are_judged_by_the_truth_of_their_run() {
    let output = typed(&["scenario", "run", "config/scenarios/edge", "--json"]);
    let all: Value = serde_json::from_slice(&output.stdout).expect("json");
    let kpis = &all["kpis"];
    for share in ["right_risk", "right_stage", "deep_research", "documents"] {
        assert_eq!(kpis[share]["of"], kpis[share]["all"], "{share}: {kpis:#}");
        assert!(kpis[share]["all"].as_u64() > Some(0), "{share}");
    }
    assert_eq!(kpis["ungrounded_figures"], 0);
    assert_eq!(kpis["undue_documents"], 0);
    let scenarios = all["scenarios"].as_array().expect("a list");
    let wrong: Vec<&str> = scenarios
        .iter()
        .flat_map(|scenario| scenario["wrong"].as_array().expect("a list"))
        .filter_map(Value::as_str)
        .collect();
    assert!(wrong.iter().all(|wrong| *wrong == "phase 2: fault is never named"), "{wrong:#?}");
    assert!(wrong.len() <= 3, "{wrong:#?}");
    assert_eq!(scenarios.len(), 10);
}

#[test]
fn a_sequence_that_ends_otherwise_is_told_with_its_phase() {
    let folder = tempfile::tempdir().expect("folder");
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/scenarios");
    for file in ["healthy.json", "rotor.toml"] {
        let text = std::fs::read_to_string(scenarios.join(file)).expect("read");
        let text = text.replace("risk = \"Watch\"", "risk = \"Critical\"");
        std::fs::write(folder.path().join(file), text).expect("written");
    }
    let output = typed(&["scenario", "run", &folder.path().display().to_string()]);
    assert_eq!(output.status.code(), Some(70));
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("phase 2: risk is Watch, expected Critical"), "{told}");
}

/// R-AGENT-8, -12: documents that are kept are whole, and one that is due and not written is told.
#[test]
fn documents_are_kept_where_asked_and_a_missing_one_is_told() {
    let folder = tempfile::tempdir().expect("folder");
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/scenarios");
    for file in ["healthy.json", "repair.toml"] {
        let text = std::fs::read_to_string(scenarios.join(file)).expect("read");
        // a Warning that stands gets no second set
        let text = text.replacen(
            "risk = \"Warning\"\nstage = 2\n\n",
            "risk = \"Warning\"\nstage = 2\ndocuments = true\n\n",
            1,
        );
        std::fs::write(folder.path().join(file), text).expect("written");
    }
    let kept = folder.path().join("papers");
    let place = folder.path().display().to_string();
    let output = typed(&["scenario", "run", &place, "--documents", &kept.display().to_string()]);
    assert_eq!(output.status.code(), Some(70));
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("phase 3: documents is [], expected"), "{told}");
    assert!(told.contains("documents where due              1/2, 0 where none"), "{told}");
    let files = std::fs::read_dir(kept.join("repair")).expect("kept").flatten();
    let names: Vec<String> =
        files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    for document in ["report", "work-order"] {
        for form in ["json", "ko.html", "ko.pdf", "en.html", "en.pdf"] {
            let end = format!("-{document}.{form}");
            assert_eq!(names.iter().filter(|name| name.ends_with(&end)).count(), 1, "{end}");
        }
    }
    assert_eq!(names.len(), 10, "{names:?}");
    research_has_its_english(&kept.join("repair"));
}

/// R-AGENT-11: the documents that come with the program have English, so whatever is quoted of them
/// does, and no original stands in the report but the questions.
fn research_has_its_english(folder: &Path) {
    let files = std::fs::read_dir(folder).expect("kept").flatten().map(|file| file.path());
    let written =
        files.map(|path| (path.display().to_string(), std::fs::read(path).expect("read")));
    let written: BTreeMap<String, Vec<u8>> = written.collect();
    let of = |end: &str| written.iter().find(|(name, _)| name.ends_with(end)).expect("there").1;
    let report: Report = serde_json::from_slice(of("-report.json")).expect("a report");
    let is_korean = |text: &str| text.chars().any(|letter| ('가'..='힣').contains(&letter));
    let hits = report.research.iter().flat_map(|round| &round.hits);
    let quotes: Vec<&str> = hits.map(|hit| hit.quote.as_str()).filter(|q| is_korean(q)).collect();
    assert!(!quotes.is_empty(), "documents were quoted");
    for quote in quotes {
        assert!(report.in_english(quote).is_some(), "{quote}");
    }
    let page = String::from_utf8_lossy(of("-report.en.html")).into_owned();
    let questions = report.research.iter().filter(|round| is_korean(&round.question)).count();
    assert_eq!(page.matches("(Korean original)").count(), questions);
}

#[test]
fn a_folder_without_scenarios_is_named() {
    let folder = tempfile::tempdir().expect("folder");
    let output = typed(&["scenario", "run", &folder.path().display().to_string()]);
    assert_eq!(output.status.code(), Some(66));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains(&folder.path().display().to_string()), "{told}");
}

/// R-AGENT-3: what was never judged has no trace, and what is no identity is refused.
#[test]
fn a_trace_of_an_unknown_event_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    let config = folder.path().join("agent.toml");
    std::fs::write(&config, "[store]\nsqlite = \"agent.db\"\n[broker]\n").expect("written");
    let config = config.display().to_string();
    assert!(typed(&["migrate", "--config", &config]).status.success());
    let unknown = "01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11";
    assert_eq!(typed(&["trace", unknown, "--config", &config]).status.code(), Some(66));
    assert_eq!(typed(&["trace", "P-101", "--config", &config]).status.code(), Some(64));
}

/// A language model of a script: looks up twice, then concludes this risk, whatever it is asked
/// about.
fn always(risk: &str, request: &Value) -> ModelReply {
    let messages = request["messages"].as_array().expect("messages");
    let looked_up = messages.iter().filter(|message| message["role"] == "tool").count();
    if looked_up < 2 {
        let about = if looked_up == 0 { "외륜 결함" } else { "베어링 교체 절차" };
        let query = json!({ "query": about });
        return ModelReply::Calls(vec![("search_equipment_manual".to_owned(), query)]);
    }
    let thought = |title: &str| json!({ "title": title, "evidence": ["trend.slope"] });
    let titles = ["initial_screening", "pf_stage", "degradation", "rul", "overall_risk"];
    let conclusion = json!({
        "thoughts": titles.map(thought),
        "fault_type": "outer_race", "fault_stage": 2, "degradation_speed": "moderate",
        "rul_basis": "unknown", "risk_level": risk, "uncertainty_level": "low",
        "reason": { "ko": "외륜 결함선이 뚜렷함", "en": "The outer race line is clear" },
        "recommendation": { "ko": "교체 계획 수립", "en": "Plan the replacement" },
    });
    ModelReply::Calls(vec![("conclude".to_owned(), conclusion)])
}

/// The scenario that the tests with a language model play: from sound to a failing outer race.
const ACCELERATING: &str = "config/scenarios/outer_race_accelerating.toml";

/// A configuration with this model, and with this beside it.
fn configured(folder: &Path, model: &ModelStandIn, more: &str) -> String {
    let config = folder.join("agent.toml");
    let address = model.base_url();
    let text = format!(
        "[store]\nsqlite = \"agent.db\"\n[broker]\n[reasoner]\nbase_url = {address:?}\n\
         dialect = \"native\"\n{more}"
    );
    std::fs::write(&config, text).expect("written");
    config.to_str().expect("a path").to_owned()
}

/// The scenario as it is played with these arguments, which ends with this code.
fn played(more: &[&str], code: i32) -> Value {
    let output = typed(&[&["scenario", "run", ACCELERATING, "--json"], more].concat());
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("json")
}

fn diagnoses(all: &Value) -> Vec<Value> {
    let events = all["scenarios"][0]["events"].as_array().expect("events");
    events.iter().map(|event| event["diagnosis"].clone()).collect()
}

/// R-AGENT-5: the same risks with a model as without one; where it agrees nothing is said, where it
/// does not the disagreement is shown.
#[test]
fn a_scenario_with_a_scripted_model_keeps_its_risks_and_shows_where_the_model_differs() {
    let model = ModelStandIn::answering(|request| always("Warning", request));
    let folder = tempfile::tempdir().expect("folder");
    let config = &configured(folder.path(), &model, "");
    let (alone, beside) = (played(&[], 0), played(&["--reasoner", config], 0));
    let mut stances = BTreeMap::<String, usize>::new();
    for (alone, beside) in diagnoses(&alone).iter().zip(diagnoses(&beside)) {
        for field in ["risk_level", "fault_stage", "fault_type", "recommendation"] {
            assert_eq!(alone[field], beside[field], "{field}");
        }
        let Some(stance) = beside["second_opinion"]["stance"].as_str() else {
            assert_eq!(beside["second_opinion"], Value::Null, "an opinion, or none was asked for");
            assert_eq!(beside["disagreement"], alone["disagreement"]);
            continue;
        };
        *stances.entry(stance.to_owned()).or_default() += 1;
        let agrees = beside["risk_level"] == "Warning";
        assert_eq!(stance == "agrees", agrees, "{stance} at {}", beside["risk_level"]);
        let told = beside["disagreement"]["en"].as_str().unwrap_or_default();
        assert_eq!(told.contains("The language model sees"), !agrees, "{told}");
    }
    assert!(stances.contains_key("agrees") && stances.len() >= 2, "{stances:?}");
    let agreement = &beside["kpis"]["agreement"];
    let given: usize = stances.values().sum();
    assert_eq!((&agreement["of"], &agreement["all"]), (&json!(stances["agrees"]), &json!(given)));
    let lower = stances.get("lowers").copied().unwrap_or_default();
    assert_eq!(beside["kpis"]["lowered"], json!({ "of": lower, "all": given }));
    assert_eq!(alone["kpis"]["agreement"], Value::Null);
    assert_eq!(model.violations(), Vec::<String>::new());
    let output = typed(&["scenario", "run", ACCELERATING, "--reasoner", config]);
    let told = String::from_utf8_lossy(&output.stdout);
    let line = format!("{}/{given}, 0 without an opinion", stances["agrees"]);
    assert!(told.contains(&line) && told.contains("The language model sees"), "{told}");
}

/// R-AGENT-5: in the loop the model's verdict becomes the judgement, with the rules as its floor.
/// Where it agrees the judgement is the same; a Critical by rules waits for nobody and is not
/// lowered; what it raises is raised, so that the scenario ends otherwise than expected and says
/// so.
#[test]
fn a_scenario_with_the_model_in_the_loop_is_raised_by_it_and_never_lowered() {
    let alone = diagnoses(&played(&[], 0));
    for (concluded, code, expected) in [
        (
            "Warning",
            0,
            BTreeMap::from([("llm agrees", 2), ("expert lowers", 1), ("expert none", 6)]),
        ),
        (
            "Critical",
            70,
            BTreeMap::from([("llm raises", 1), ("expert agrees", 2), ("expert none", 6)]),
        ),
    ] {
        let model = ModelStandIn::answering(move |request| always(concluded, request));
        let folder = tempfile::tempdir().expect("folder");
        let config = &configured(folder.path(), &model, "[judging]\nreasoner = \"llm\"\n");
        let in_loop = diagnoses(&played(&["--reasoner", config], code));
        let mut found = BTreeMap::<String, usize>::new();
        for (alone, in_loop) in alone.iter().zip(&in_loop) {
            let (rules, told) = (risk(alone), risk(in_loop));
            assert!(told >= rules, "{told} where the rules say {rules}");
            let stance = in_loop["second_opinion"]["stance"].as_str().unwrap_or("none");
            let by = in_loop["reasoner"].as_str().expect("a word");
            *found.entry(format!("{by} {stance}")).or_default() += 1;
            assert!(by != "llm" || in_loop["risk_level"] == concluded, "{stance} at {told}");
            let differs = matches!(stance, "raises" | "lowers");
            assert_eq!(in_loop["disagreement"].is_object(), differs, "{stance} at {told}");
        }
        let found: BTreeMap<&str, usize> =
            found.iter().map(|(word, n)| (word.as_str(), *n)).collect();
        assert_eq!(found, expected, "{concluded}");
        assert_eq!(model.violations(), Vec::<String>::new());
    }
}

fn risk(diagnosis: &Value) -> RiskLevel {
    serde_json::from_value(diagnosis["risk_level"].clone()).expect("a risk")
}
