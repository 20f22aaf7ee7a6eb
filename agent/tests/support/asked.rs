//! A language model that is asked about one stored event: a stand-in that answers as scripted.

use std::path::{Path, PathBuf};

use pdm_agent::service::open_store;
use pdm_harness::{ModelReply, ModelStandIn, free_port};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_store::Incoming;
use serde_json::{Value, json};

use super::support::{event, settings};

fn conclusion() -> ModelReply {
    let thought =
        |title: &str| json!({ "title": title, "evidence": ["frequency_domain.bpfo.snr_db"] });
    let titles = ["initial_screening", "pf_stage", "degradation", "rul", "overall_risk"];
    let conclusion = json!({
        "thoughts": titles.map(thought),
        "fault_type": "outer_race", "fault_stage": 2, "degradation_speed": "moderate",
        "rul_basis": "hours", "risk_level": "Warning", "uncertainty_level": "low",
        "reason": { "ko": "외륜 결함선이 뚜렷함", "en": "The outer race line is clear" },
        "recommendation": { "ko": "교체 계획 수립", "en": "Plan the replacement" },
    });
    ModelReply::Calls(vec![("conclude".to_owned(), conclusion)])
}

/// Two searches and a conclusion, by what the request holds.
pub(crate) fn scripted(request: &Value) -> ModelReply {
    let search = |query: &str| {
        ModelReply::Calls(vec![("search_equipment_manual".to_owned(), json!({ "query": query }))])
    };
    match request["messages"].as_array().map_or(0, Vec::len) {
        0..=2 => search("외륜 결함"),
        3..=4 => search("베어링 교체 절차"),
        _ => conclusion(),
    }
}

/// A store in the folder with one event that waits to be judged.
pub(crate) async fn waiting_event(folder: &Path) -> Event {
    let mut fault = event(1);
    fault.measured_at = SystemClock.now().plus_seconds(-60.0);
    fault.event_id = EventId::at(fault.measured_at.unix_ms());
    let store = open_store(&settings(free_port(), folder).store).await.expect("opens");
    let payload = serde_json::to_string(&fault).expect("json");
    let incoming = Incoming::Event { event: Box::new(fault.clone()), payload, proven: false };
    store.intake().store(&[incoming], SystemClock.now(), "dead").await.expect("stored");
    store.close().await;
    fault
}

/// A configuration in the folder that asks the model; `more` stands before its section.
pub(crate) fn configured(folder: &Path, model: &ModelStandIn, more: &str) -> PathBuf {
    let config = folder.join("agent.toml");
    let text = format!(
        "[broker]\naddresses = [\"127.0.0.1:{}\"]\n[store]\nsqlite = \"agent.db\"\n{more}\
         [reasoner]\nbase_url = {:?}\nmodel = \"stand-in\"\ndialect = \"native\"\n",
        free_port(),
        model.base_url()
    );
    std::fs::write(&config, text).expect("written");
    config
}
