//! The commands that others script against: what they print, and their exit codes.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use pdm_harness::free_port;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;

const EVENT: &str = include_str!("../../config/examples/event.json");

fn run(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    // a command that does not read its input closes it: no matter
    let _unread = child.stdin.take().expect("stdin").write_all(input.as_bytes());
    child.wait_with_output().expect("ends")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_wrong_command_line_ends_with_64_and_help_does_not() {
    for wrong in [&["judge"][..], &["judge", "-", "--lang", "fr"], &["juge"]] {
        let output = run(wrong, "");
        assert_eq!(code(&output), 64, "{wrong:?}: {}", said(&output));
    }
    assert_eq!(code(&run(&["--help"], "")), 0);
}

#[test]
fn judge_prints_the_diagnosis_of_the_contract() {
    let output = run(&["judge", "-", "--json"], EVENT);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let diagnosis: Diagnosis = serde_json::from_slice(&output.stdout).expect("a diagnosis");
    assert_eq!(diagnosis.risk_level, RiskLevel::Warning);
}

#[test]
fn judge_shows_a_person_the_five_thoughts_in_the_language_asked_for() {
    let ko = String::from_utf8(run(&["judge", "-"], EVENT).stdout).expect("UTF-8");
    let en = String::from_utf8(run(&["judge", "-", "--lang", "en"], EVENT).stdout).expect("UTF-8");
    for title in ["초기 판별", "진행 단계", "열화 속도", "잔여수명", "종합 위험도", "권고"]
    {
        assert!(ko.contains(title), "{title}: {ko}");
    }
    assert!(en.starts_with("P-101 DE  [Warning]  outer race fault, P-F stage 2"), "{en}");
}

/// The example event as the n-th of its gateway's count, ten minutes after the one before.
fn numbered(number: u64) -> String {
    let mut event: Event = serde_json::from_str(EVENT).expect("the example");
    event.event_id = EventId::at(1_700_000_000_000 + i64::try_from(number).expect("small"));
    event.sequence = number;
    event.measured_at = event.measured_at.plus_seconds(600.0 * number as f64);
    serde_json::to_string(&event).expect("json")
}

#[test]
fn judge_remembers_from_line_to_line() {
    let lines = format!("{}\n{}\n", numbered(1), numbered(2));
    let output = run(&["judge", "-", "--jsonl", "--json"], &lines);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let used: Vec<u32> = text
        .lines()
        .map(|line| serde_json::from_str::<Diagnosis>(line).expect("a diagnosis").memory.used)
        .collect();
    assert_eq!(used, [0, 1]);
}

#[test]
fn events_out_of_order_are_65_with_line_and_event_and_a_sort_mends_them() {
    let back = format!("{}\n{}\n", numbered(2), numbered(1));
    for refused in [back.clone(), format!("{0}\n{0}\n", numbered(1))] {
        for command in [&["judge", "-", "--jsonl"][..], &["notify", "preview", "-"]] {
            let output = run(command, &refused);
            assert_eq!(code(&output), 65, "{command:?}: {}", said(&output));
            let told = said(&output);
            assert!(told.contains("standard input, line 2: event "), "{told}");
            assert_eq!(told.contains("--sort"), command[0] == "judge" && refused == back, "{told}");
        }
    }
    let sorted = run(&["judge", "-", "--jsonl", "--json", "--sort", "--slice"], &back);
    assert_eq!(code(&sorted), 65, "a slice without its last record: {}", said(&sorted));
    let end = "{\"schema\":\"pdm.slice-end/1\",\"events\":2,\"bearings\":1}\n";
    let sorted = run(&["judge", "-", "--jsonl", "--json", "--sort", "--slice"], &(back + end));
    assert_eq!(code(&sorted), 0, "{}", said(&sorted));
    let text = String::from_utf8(sorted.stdout).expect("UTF-8");
    assert_eq!(text.lines().count(), 3, "two diagnoses and a last record");
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn bad_input_has_its_exit_code_and_says_what_is_wrong() {
    let missing = run(&["judge", "/nowhere/event.json"], "");
    assert_eq!(code(&missing), 66);
    assert!(said(&missing).contains("/nowhere/event.json"), "{}", said(&missing));
    let broken = run(&["judge", "-"], "{\"schema\": 1}");
    assert_eq!(code(&broken), 65, "{}", said(&broken));
    let wrong = run(&["judge", "-"], &EVENT.replace("\"confidence\": 0.95", "\"confidence\": 7"));
    assert_eq!(code(&wrong), 65);
    assert!(said(&wrong).contains("frequency_domain.confidence is 7"), "{}", said(&wrong));
}

fn config(folder: &Path, text: &str) -> String {
    let path = folder.join("agent.toml");
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

#[test]
fn a_bad_configuration_is_78_with_file_and_line() {
    let folder = tempfile::tempdir().expect("folder");
    let path = config(folder.path(), "[store]\nsqlite = \"a.db\"\n[broker]\nhots = \"x\"\n");
    for command in ["run", "check", "migrate"] {
        let output = run(&[command, "--config", &path], "");
        assert_eq!(code(&output), 78, "{command}: {}", said(&output));
        assert!(said(&output).contains("agent.toml:4:1"), "{}", said(&output));
    }
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, "schema = \"pdm.rules/1\"\n").expect("written");
    let output = run(&["judge", "-", "--rules", &rules.display().to_string()], EVENT);
    assert_eq!(code(&output), 78, "{}", said(&output));
}

#[test]
fn an_unreachable_broker_is_69_and_named() {
    let folder = tempfile::tempdir().expect("folder");
    let port = free_port();
    let text =
        format!("[store]\nsqlite = \"a.db\"\n[broker]\naddresses = [\"127.0.0.1:{port}\"]\n");
    let path = config(folder.path(), &text);
    let output = run(&["check", "--config", &path], "");
    assert_eq!(code(&output), 69, "{}", said(&output));
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(lines.contains(&format!("FAIL  broker 127.0.0.1:{port}")), "{lines}");
    assert!(lines.contains("ok    store"), "{lines}");
}

#[test]
fn migrate_makes_the_store() {
    let folder = tempfile::tempdir().expect("folder");
    let path = config(folder.path(), "[store]\nsqlite = \"deep/agent.db\"\n");
    for _ in 0..2 {
        let output = run(&["migrate", "--config", &path], "");
        assert_eq!(code(&output), 0, "{}", said(&output));
    }
    assert!(folder.path().join("deep/agent.db").is_file());
}

#[test]
fn every_help_text_has_an_example_and_its_exit_codes() {
    for command in ["run", "check", "migrate", "judge"] {
        let help = String::from_utf8(run(&[command, "--help"], "").stdout).expect("UTF-8");
        assert!(help.contains("Example") && help.contains("Exit codes"), "{command}: {help}");
    }
    let shell = run(&["completions", "bash"], "");
    assert!(String::from_utf8_lossy(&shell.stdout).contains("pdm-agent"));
}

/// The check names a fault of the language model together with the remedy.
#[test]
fn the_check_names_what_is_wrong_with_the_language_model() {
    use pdm_harness::{ModelReply, ModelStandIn};
    let refusal = |status: u16, message: &str| {
        let body = format!("{{\"error\":{{\"message\":\"{message}\"}}}}");
        ModelReply::Raw(status, vec![("content-type", "application/json".to_owned())], body)
    };
    let folder = tempfile::tempdir().expect("folder");
    let key = folder.path().join("key");
    std::fs::write(&key, "sk-hunter2-hunter2\n").expect("written");
    let with_key = format!("key = {{ file = {:?} }}\n", key.display().to_string());
    for (reply, more, told) in [
        (refusal(401, "who are you"), "", "wants a key and none is configured"),
        (refusal(401, "wrong key"), with_key.as_str(), "does not take the key"),
        (refusal(404, "The model gpt-9 does not exist"), with_key.as_str(), "has no model"),
        (
            ModelReply::Raw(
                200,
                vec![("content-type", "text/html".to_owned())],
                "<html>".to_owned(),
            ),
            "",
            "is no OpenAI-compatible API",
        ),
    ] {
        let server = ModelStandIn::scripted(vec![reply]);
        let config = folder.path().join("agent.toml");
        let text = format!(
            "[broker]\naddresses = [\"127.0.0.1:{}\"]\n[store]\nsqlite = \"agent.db\"\n\
             [reasoner]\nbase_url = {:?}\n{more}",
            free_port(),
            server.base_url()
        );
        std::fs::write(&config, text).expect("written");
        let output = run(&["check", "--config", &config.display().to_string()], "");
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = out.lines().find(|line| line.contains("language model")).unwrap_or_default();
        assert!(line.starts_with("FAIL") && line.contains(told), "{told}: {out} {}", said(&output));
        assert!(!out.contains("hunter2") && code(&output) == 69, "{out}");
    }
}

/// The check tells which judgements wait for a language model in the loop, before they wait.
#[test]
fn the_check_tells_what_waits_for_a_model_in_the_loop() {
    let folder = tempfile::tempdir().expect("folder");
    let config = folder.path().join("agent.toml");
    for (more, code_of, told) in [
        (
            "[reasoner]\n",
            0,
            "news from Watch wait at most 30 s for it, Critical by rules is told at once",
        ),
        ("at_once_from = \"Watch\"\n[reasoner]\n", 0, "nothing waits for it"),
        ("", 78, "with a model in [reasoner]"),
    ] {
        let text = format!(
            "[store]\nsqlite = \"agent.db\"\n[judging]\nreasoner = \"llm\"\nwait_s = 30.0\n{more}"
        );
        std::fs::write(&config, text).expect("written");
        let path = config.display().to_string();
        let output = run(&["check", "--offline", "--config", &path], "");
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(code(&output), code_of, "{out} {}", said(&output));
        assert!(out.contains(told) || said(&output).contains(told), "{out} {}", said(&output));
    }
}

/// R-AGENT-10: what staff would be told of recorded events, without a store and without telling
/// anybody.
#[test]
fn notify_preview_tells_what_staff_would_be_told() {
    let events = format!("{}\n\n{}\n", numbered(1), numbered(2));
    let output = run(&["notify", "preview", "-"], &events);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(text.contains("[Warning] P-101 DE: outer race fault"), "{text}");
    assert!(text.ends_with("2 events, at worst Warning: 1 episodes, 1 messages\n"), "{text}");
    let output = run(&["notify", "preview", "-"], "{\"schema\":1}\n");
    assert_eq!(code(&output), 65);
    assert!(said(&output).contains("line 1: not an event"), "{}", said(&output));
}

/// A receiver that answers every request with this status, in place of a messenger.
fn receiver(status: &'static str) -> String {
    use std::io::Read as _;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    let url = format!("http://{}/", listener.local_addr().expect("address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 4096];
            let _part = stream.read(&mut head);
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-length: 11\r\nconnection: \
                 close\r\n\r\n{{\"ok\":true}}"
            );
            let _sent = stream.write_all(answer.as_bytes());
        }
    });
    url
}

/// A hook of one's own with this text, and two people behind it on two routes.
fn routed(folder: &Path, text: &str, url: &str) -> String {
    let hook = "source = \"https://example.com/\"\nurl = \"https://example.com/\"\nto = true\n\
                idempotency_header = \"\"\n";
    std::fs::write(folder.join("hook.toml"), format!("{hook}text = \"{text}\"\n"))
        .expect("written");
    let toml = format!(
        "[store]\nsqlite = \"a.db\"\n[notify]\nzone = \"Asia/Seoul\"\n\
         [[notify.webhook]]\nname = \"chat\"\ntemplate = \"hook.toml\"\nurl = \"{url}\"\n\
         [[notify.recipient]]\nname = \"kim\"\nhooks = [{{ hook = \"chat\", to = \"1\" }}]\n\
         [[notify.recipient]]\nname = \"lee\"\nhooks = [{{ hook = \"chat\", to = \"2\" }}]\n\
         [[notify.rota]]\nname = \"duty\"\nshift = [{{ from = \"01:00\", to = \"00:00\", who = \
         [\"kim\"] }}]\n\
         [[notify.route]]\nname = \"pumps\"\nstep = [{{ to = [\"kim\"] }}]\n"
    );
    config(folder, &toml)
}

/// R-AGENT-10: whether a message arrives is tried through the real channel.
#[test]
fn notify_test_sends_a_message_of_trial_and_says_what_came_back() {
    let folder = tempfile::tempdir().expect("folder");
    let path = routed(folder.path(), "{{ title }}", &receiver("200 OK"));
    let test =
        |more: &[&str]| run(&[["notify", "test", "--config", &path].as_slice(), more].concat(), "");
    let out = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let all = test(&[]);
    assert_eq!(code(&all), 0, "{}", said(&all));
    assert_eq!(
        out(&all),
        "ok    to:kim:chat: 200: {\"ok\":true}\nok    to:lee:chat: 200: {\"ok\":true}\n"
    );
    let route = test(&["--route", "pumps"]);
    assert_eq!(out(&route), "ok    to:kim:chat: 200: {\"ok\":true}\n");
    let person = test(&["--recipient", "lee"]);
    assert_eq!(out(&person), "ok    to:lee:chat: 200: {\"ok\":true}\n");
    let unknown = test(&["--route", "fans"]);
    assert_eq!(code(&unknown), 64);
    assert!(
        said(&unknown).contains("there is no route fans; there are: pumps"),
        "{}",
        said(&unknown)
    );
    let broken = routed(folder.path(), "{{ title }}", &receiver("500 Broken"));
    let output = run(&["notify", "test", "--recipient", "kim", "--config", &broken], "");
    assert_eq!(code(&output), 69);
    assert!(
        out(&output).contains("FAIL  to:kim:chat: the receiver answers 500"),
        "{}",
        out(&output)
    );
}

/// A broken template, a receiver that answers 500 and hours without anybody on duty are told by the
/// check.
#[test]
fn the_check_names_a_broken_hook_and_the_gaps_of_a_rota() {
    let folder = tempfile::tempdir().expect("folder");
    let path = routed(folder.path(), "{{ titel }}", "http://127.0.0.1:1/");
    let output = run(&["check", "--config", &path], "");
    assert_eq!(code(&output), 78, "{}", said(&output));
    assert!(said(&output).contains("hook.toml:5: text: undefined value"), "{}", said(&output));
    let path = routed(folder.path(), "{{ title }}", &receiver("500 Broken"));
    let output = run(&["check", "--config", &path], "");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(out.contains("FAIL  web hook chat: answers 500"), "{out}");
    let gap = out.lines().find(|line| line.starts_with("warn  rota duty: nobody on duty from"));
    let gap = gap.unwrap_or_else(|| panic!("{out}"));
    assert!(gap.contains(" 00:00 to ") && gap.contains(" 01:00"), "{gap}");
}

/// R-AGENT-10: what the routes would send to whom.
#[test]
fn notify_preview_names_whoever_would_be_told() {
    let folder = tempfile::tempdir().expect("folder");
    let path = routed(folder.path(), "{{ title }}", "http://127.0.0.1:1/");
    let event: serde_json::Value = serde_json::from_str(EVENT).expect("json");
    let output = run(&["notify", "preview", "-", "--config", &path], &event.to_string());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(text.contains("outer race fault (P-F stage 2)  -> to:kim:chat"), "{text}");
    let migrated = run(&["migrate", "--config", &path], "");
    assert_eq!(code(&migrated), 0, "{}", said(&migrated));
    let stored = run(&["notify", "preview", "--stored", "10", "--config", &path], "");
    let text = String::from_utf8_lossy(&stored.stdout).into_owned();
    assert!(text.starts_with("0 events, at worst Normal"), "{text} {}", said(&stored));
}

/// The check made both databases, which then stood in the way of the service's user.
/// R-KB-7: the program that reads PDFs is installed apart.
#[test]
fn the_check_names_a_program_for_pdfs_that_is_configured_and_missing() {
    let folder = tempfile::tempdir().expect("folder");
    let text = "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:1\"]\n\
                [knowledge]\npdf_reader = \"nowhere/pdm-pdf\"\n";
    let path = config(folder.path(), text);
    let output = run(&["check", "--offline", "--config", &path], "");
    assert_eq!(output.status.code(), Some(69), "{}", said(&output));
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = out.lines().find(|line| line.starts_with("FAIL  knowledge.pdf_reader: "));
    let line = line.unwrap_or_else(|| panic!("{out}"));
    for part in ["nowhere/pdm-pdf is not there", "every PDF is refused", "install pdm-pdf"] {
        assert!(line.contains(part), "{part}: {line}");
    }
}

#[test]
fn the_check_makes_no_database_and_says_where_it_would_be() {
    let folder = tempfile::tempdir().expect("folder");
    let text = format!(
        "[store]\nsqlite = \"deep/agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n",
        free_port()
    );
    let path = config(folder.path(), &text);
    let output = run(&["check", "--config", &path], "");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    for what in ["ok    store ", "ok    knowledge base"] {
        let line = out.lines().find(|line| line.starts_with(what));
        assert!(line.is_some_and(|line| line.contains("will be made in")), "{what}: {out}");
    }
    assert!(said(&output).contains(" checks failed: broker"), "{}", said(&output));
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("there").collect();
    assert_eq!(left.len(), 1, "the configuration alone: {left:?}");
    // nor does a command that reads
    for command in ["stats", "gateways"] {
        let more: &[&str] = if command == "gateways" { &["list"] } else { &[] };
        let output = run(&[&[command][..], more, &["--config", &path]].concat(), "");
        assert_eq!(code(&output), 66, "{command}: {}", said(&output));
        assert!(said(&output).contains("there is no store"), "{}", said(&output));
        assert!(!folder.path().join("deep").exists(), "{command}");
    }
    let path = config(folder.path(), "[store]\nsqlite = \"/proc/a.db\"\n[broker]\n");
    for command in ["check", "migrate"] {
        let output = run(&[command, "--config", &path], "");
        assert_eq!(code(&output), 74, "{command}: {}", said(&output));
        assert!(!said(&output).contains("server"), "{command}: {}", said(&output));
    }
}

/// The same input had another exit code in each command; each cause stood up to three times.
#[test]
fn exit_codes_follow_what_is_wrong_and_a_cause_is_told_once() {
    let folder = tempfile::tempdir().expect("folder");
    let path = config(folder.path(), "[store]\nsqlite = \"a.db\"\n[broker]\n");
    assert_eq!(code(&run(&["migrate", "--config", &path], "")), 0);
    let place = folder.path().display().to_string();
    for (arguments, expected) in [
        (&["judge", &place][..], 65),
        (&["judge", &place, "--jsonl"], 65),
        (&["backtest", "--from", &place], 65),
        (&["notify", "preview", &place, "--config", &path], 65),
        (&["judge", "/nowhere/e.json"], 66),
        (&["backtest", "--from", "/nowhere/e.jsonl"], 66),
        (&["assets", "import", "/nowhere/plant.yaml", "--config", &path], 66),
        (&["series", "import", "/nowhere/values.csv", "--config", &path], 66),
        (&["knowledge", "ingest", "/nowhere/a.pdf", "--config", &path], 66),
        (&["judge", "-", "--rules", "/nowhere/rules.toml"], 78),
        (&["stats", "--config", "/nowhere/agent.toml"], 78),
    ] {
        let output = run(arguments, EVENT);
        let told = said(&output);
        assert_eq!(code(&output), expected, "{arguments:?}: {told}");
        assert!(told.matches("os error").count() <= 1, "{arguments:?}: {told}");
        assert!(!told.contains("cannot read configuration"), "{arguments:?}: {told}");
    }
}

/// A full disk below standard output was reported as a bug of the program (70).
#[test]
fn output_to_a_full_disk_is_74() {
    let folder = tempfile::tempdir().expect("folder");
    let event = folder.path().join("event.json");
    std::fs::write(&event, EVENT).expect("written");
    let event = event.display().to_string();
    for arguments in [&["judge", &event][..], &["judge", &event, "--json"], &["tools", "list"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full disk");
        let output = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
            .args(arguments)
            .stdout(full)
            .output()
            .expect("runs");
        assert_eq!(code(&output), 74, "{arguments:?}: {}", said(&output));
    }
}

/// With the last administrator gone, users, record of acts and removal were closed for everybody.
#[test]
fn the_last_administrator_stays_unless_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("folder");
    let path = config(folder.path(), "[store]\nsqlite = \"a.db\"\n[broker]\n");
    let password = folder.path().join("password");
    std::fs::write(&password, "correct horse battery\n").expect("written");
    let password = password.display().to_string();
    let user = |more: &[&str]| run(&[&["user"][..], more, &["--config", &path]].concat(), "");
    let add =
        |name: &str, role: &str| user(&["add", name, "--role", role, "--password-file", &password]);
    assert_eq!(code(&add("boss", "admin")), 0);
    assert_eq!(code(&add("kim", "technician")), 0);
    // a program with tokens alone enters no page
    assert_eq!(code(&user(&["add", "scada", "--role", "admin", "--no-password"])), 0);
    for last in [&["disable", "boss"][..], &["role", "boss", "viewer"]] {
        let output = user(last);
        assert_eq!(code(&output), 64, "{last:?}: {}", said(&output));
        assert!(said(&output).contains("the last administrator"), "{}", said(&output));
    }
    assert_eq!(code(&user(&["disable", "scada"])), 0, "no person");
    assert_eq!(code(&user(&["role", "kim", "admin"])), 0);
    assert_eq!(code(&user(&["disable", "boss"])), 0, "kim is there");
    assert_eq!(code(&user(&["role", "kim", "technician"])), 64, "a disabled one counts for nobody");
    assert_eq!(code(&user(&["role", "kim", "technician", "--even-last"])), 0);
}
