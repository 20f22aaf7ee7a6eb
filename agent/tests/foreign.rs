//! What comes from outside is taken or refused, never a panic and never the end of the flow: the entry
//! points of `agent/fuzz` with generated input, and hostile payloads through a real broker.

mod support;

use std::path::Path;
use std::sync::Arc;

use pdm_agent::knowledge::Collection;
use pdm_agent::knowledge::chunk::cut;
use pdm_agent::knowledge::document::Document;
use pdm_agent::service::Agent;
use pdm_agent::settings::AgentSettings;
use pdm_agent::tools::ToolSpec;
use pdm_harness::{Mosquitto, Persistence};
use pdm_shared::clock::SystemClock;
use pdm_shared::delivery::{DEAD_LETTER_HEAD_BYTES, DeadLetter};
use proptest::prelude::*;
use support::{Client, event, healthy, settings, subscribed, topic, until};

const CONFIG: &str = include_str!("../../config/agent.toml");
const TOOL: &str = include_str!("../../config/tools/notify_maintenance_staff.yaml");
const GUIDE: &str = include_str!("../../config/knowledge/equipment_manual/em-02.md");

/// `text` with one piece in the place of another.
fn damaged(text: &str, at: usize, length: usize, with: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let at = at % (letters.len() + 1);
    let end = (at + length).min(letters.len());
    letters[..at].iter().chain(&with.chars().collect::<Vec<_>>()).chain(&letters[end..]).collect()
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "-1",
        "1e999",
        "\"\"",
        "[",
        "{",
        "=",
        "\n[",
        "가",
        "0.0.0.0:1",
        "&a",
    ])
}

proptest! {
    #[test]
    fn any_text_is_a_configuration_or_an_error(text in "\\PC{0,300}") {
        let _read = AgentSettings::parse(Path::new("agent.toml"), &text);
    }

    #[test]
    fn a_damaged_configuration_is_read_or_refused(at in 0usize..9000, length in 0usize..12, with in piece()) {
        let shown = CONFIG.replace("\n# ", "\n");
        for text in [CONFIG, &shown] {
            let _read = AgentSettings::parse(Path::new("agent.toml"), &damaged(text, at, length, with));
        }
    }

    #[test]
    fn a_damaged_tool_is_read_or_refused(at in 0usize..2000, length in 0usize..12, with in piece()) {
        let _read = ToolSpec::parse(Path::new("tool.yaml"), &damaged(TOOL, at, length, with));
    }

    #[test]
    fn a_damaged_document_is_cut_or_refused(at in 0usize..4000, length in 0usize..40, with in piece()) {
        let text = damaged(GUIDE, at, length, with);
        if let Ok(read) = Document::parse(Path::new("a.md"), &text, Collection::EquipmentManual) {
            let _chunks = cut(&read);
        }
    }
}

/// R-AGENT-1: each is in the dead letters with topic, reason and its first 4 KiB, and the events after
/// it are judged. What is larger than the agent takes is left out by the broker.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_payloads_end_in_the_dead_letters_and_the_flow_goes_on() {
    let name = "hostile_payloads_end_in_the_dead_letters_and_the_flow_goes_on";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut client = Client::connect(broker.port(), "test", &["pdm/v1/dead-letter"]).await;
    let agent = Agent::start(settings(broker.port(), folder.path()), Arc::new(SystemClock))
        .await
        .expect("starts");
    let progress = subscribed(&agent).await;
    let right = serde_json::to_string(&event(7)).expect("JSON");
    let hostile: Vec<(&str, Vec<u8>)> = vec![
        ("not an event", b"[".repeat(300_000)),
        ("not an event", format!("{{\"zz\":{}", "{\"a\":".repeat(50_000)).into_bytes()),
        ("not UTF-8", [right.as_bytes(), &[0xff, 0xc0, 0x80]].concat()),
        (
            "not an event",
            right.replacen("\"samples\":", "\"samples\":1e999,\"s\":", 1).into_bytes(),
        ),
        ("not an event", right.replacen("\"sequence\":7", "\"sequence\":1e40", 1).into_bytes()),
        ("not an event", b"x".repeat(900_000)),
        ("not an event", Vec::new()),
    ];
    let count = hostile.len();
    let at = topic(&event(7));
    client.publish(hostile.iter().map(|(_, payload)| (at.clone(), payload.clone()))).await;
    client.publish([(at.clone(), vec![b'y'; 2 << 20])]).await;
    client.send(&[healthy(1)]).await;
    until("the event behind them", 30, || progress.borrow().judged == 1).await;
    until("the letters", 30, || client.heard_on("dead-letter").len() >= count).await;
    let letters: Vec<DeadLetter> = client
        .heard_on("dead-letter")
        .iter()
        .map(|text| serde_json::from_str(text).expect("a letter"))
        .collect();
    assert_eq!(letters.len(), count);
    for (letter, (reason, payload)) in letters.iter().zip(&hostile) {
        assert!(letter.reason.contains(reason), "{reason}: {}", letter.reason);
        assert_eq!(letter.payload_bytes, payload.len() as u64);
        assert_eq!(letter.topic, at);
        // an invalid byte becomes one letter of three bytes
        assert!(
            letter.payload_head.len() <= DEAD_LETTER_HEAD_BYTES + 2,
            "{}",
            letter.payload_head.len()
        );
        if payload.len() > DEAD_LETTER_HEAD_BYTES {
            assert_eq!(letter.payload_head.len(), DEAD_LETTER_HEAD_BYTES);
        }
    }
    let end = agent.stop().await.expect("no part failed");
    assert_eq!((end.stored, end.dead_letters), (1, count as u64));
}
