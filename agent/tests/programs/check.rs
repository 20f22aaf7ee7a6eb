//! `pdm-agent check` over a model that answers, and not as it has to; and the banner of the chat's
//! page.

use std::process::Command;

use pdm_harness::{ModelReply, ModelStandIn, free_port};
use serde_json::json;
use tempfile::TempDir;

use super::{Agent, writes};

/// Returns the output of the check on a model.
fn checked(model: &ModelStandIn, more: &str) -> String {
    let folder = TempDir::new().expect("a folder");
    let config = folder.path().join("agent.toml");
    let text = format!(
        "[broker]\naddresses = [\"127.0.0.1:{}\"]\n[store]\nsqlite = \"agent.db\"\n\
         [reasoner]\nbase_url = {:?}\nmodel = \"stand-in\"\n{more}",
        free_port(),
        model.base_url()
    );
    std::fs::write(&config, text).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
        .args(["check", "--config"])
        .arg(&config)
        .output()
        .expect("runs");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    out.lines().find(|line| line.contains("language model")).unwrap_or_default().to_owned()
}

fn ready() -> ModelReply {
    ModelReply::Calls(vec![("report_ready".to_owned(), json!({ "ready": true }))])
}

#[test]
fn the_check_names_a_model_of_another_language_one_that_never_ends_and_one_that_cannot_program() {
    let korean = || ModelReply::Says("외륜 결함은 바깥 궤도면이 손상된 상태이다.".to_owned());
    let chinese = ModelReply::Says("外圈缺陷是指轴承外圈滚道的损伤。".to_owned());
    let programs = "[reasoner.chat]\nactions = \"programs\"\n";
    for (replies, more, told) in [
        (vec![ModelReply::Endless(5_000_000)], "", "longer than"),
        (vec![ready(), chinese], "", "another language than Korean"),
        (vec![ready(), korean()], "", "ok    language model"),
        (vec![ready(), korean(), korean()], programs, "writes no program"),
        (vec![ready(), korean(), writes("print(open('x'))")], programs, "open is not defined"),
        (
            vec![ready(), korean(), writes("report_ready(ready=True)")],
            programs,
            "programs in the chat",
        ),
    ] {
        let model = ModelStandIn::scripted(replies);
        let line = checked(&model, more);
        assert!(line.contains(told), "{told}: {line}");
        assert_eq!(model.violations(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn the_page_of_the_chat_says_what_is_wrong_with_the_model_while_it_lasts() {
    let refused = ModelReply::Raw(401, Vec::new(), r#"{"error":{"message":"who"}}"#.to_owned());
    let foreign = writes("final_answer('外圈存在明显缺陷，请尽快安排更换轴承。')");
    let model = ModelStandIn::scripted(vec![
        refused,
        foreign,
        ModelReply::Endless(5_000_000),
        writes("final_answer('네, 정상입니다.')"),
    ]);
    let agent = Agent::start(&model).await;
    assert!(!agent.page("/chat").await.contains("id=\"banner\""), "nothing is known yet");
    for told in ["키를 요구하지만", "다른 언어로", "너무 길어"] {
        let (_steps, answer) = agent.ask("전체 상태는?").await;
        assert_ne!(answer["by"], "model", "{told}: {answer}");
        let page = agent.page("/chat").await;
        assert!(page.contains("id=\"banner\"") && page.contains(told), "{told}: {page}");
    }
    let (_steps, answer) = agent.ask("전체 상태는?").await;
    assert_eq!(answer["by"], "model", "{answer}");
    assert!(!agent.page("/chat").await.contains("id=\"banner\""), "the model is well again");
}
