//! Settings and duty overrides by a page: shown first, checked as at a start, written byte for
//! byte, taken over by the running agent.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use pdm_harness::{Child, binary, free_port};
use reqwest::StatusCode;
use serde_json::json;

use crate::browser::Browser;
use crate::phone::TOO_SMALL;
use crate::plant::client;
use crate::seen::{RULES, axe};

/// A running `pdm-agent` with a file that people wrote by hand.
struct Agent {
    process: Child,
    folder: tempfile::TempDir,
    url: String,
}

const TEXT: &str = r#"# The agent of ulsan-1.  Kim wrote it.
[store]
sqlite = "agent.db"   # beside this file

[broker]
addresses = ["127.0.0.1:1"]
[http]
listen = "127.0.0.1:PORT"

[notify]  # who is told
zone = "Asia/Seoul"
repeat_after_h = 8   # a shift
# the hook of the control room
[[notify.webhook]]
name = "제어실"
url = "http://127.0.0.1:9/x"
[[notify.rota]]
name = "정비반"
[[notify.rota.shift]] # by day
from = "07:00"
to = "19:00"
who = [ "제어실" ]

[silence]
risk = "Warning"
# the end
"#;

impl Agent {
    async fn start() -> Self {
        pdm_agent::service::install_cryptography();
        let folder = tempfile::tempdir().expect("folder");
        let port = free_port();
        let text = TEXT.replace("PORT", &port.to_string());
        std::fs::write(folder.path().join("agent.toml"), text).expect("written");
        let log = std::fs::File::create(folder.path().join("log")).expect("log");
        let mut command = Command::new(binary("pdm-agent"));
        command.args(["run", "--config"]).arg(folder.path().join("agent.toml"));
        command.env("PDM_LOG", "info");
        let process = Child::start(command.stdout(Stdio::null()).stderr(log));
        let agent = Self { process, folder, url: format!("http://127.0.0.1:{port}") };
        agent.until("the pages", "/settings", |text| text.contains("repeat_after_h")).await;
        agent
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("agent.toml")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).expect("read")
    }

    /// Returns a page; `None` while the agent restarts.
    async fn page(&self, path: &str) -> Option<String> {
        let asked = client().get(format!("{}{path}", self.url)).header("cookie", "pdm_language=ko");
        let answer = asked.send().await.ok()?;
        let text = answer.text().await.ok()?;
        Some(text.replace("&#x2f;", "/").replace("&quot;", "\"").replace("&#x27;", "'"))
    }

    async fn until(&self, what: &str, path: &str, is_there: impl Fn(&str) -> bool) -> String {
        for _ in 0..600 {
            if let Some(text) = self.page(path).await.filter(|text| is_there(text)) {
                return text;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        panic!("{what} does not come: {log}");
    }

    /// Sends a form of the page; its status and what it answers.
    async fn send(&self, fields: &[(&str, &str)]) -> (StatusCode, String) {
        let page = self.until("the page", "/settings", |text| text.contains("form_key")).await;
        let key = page.split("name=\"form_key\" value=\"").nth(1).expect("a form");
        let key = key.split('"').next().expect("its end");
        let form = [&[("form_key", key)][..], fields].concat();
        let sent = client().post(format!("{}/settings", self.url)).form(&form);
        let answer = sent.header("cookie", "pdm_language=ko").send().await.expect("answers");
        let status = answer.status();
        let text = answer.text().await.expect("text");
        (status, text.replace("&#x2f;", "/").replace("&quot;", "\"").replace("&#x27;", "'"))
    }

    /// Sends a form, presses the button of what it shows, and waits until the agent has taken it
    /// over.
    async fn change(&self, fields: &[(&str, &str)]) -> String {
        let before = self.text();
        let (status, shown) = self.send(fields).await;
        assert_eq!(status, StatusCode::OK, "{shown}");
        assert_eq!(self.text(), before, "shown, not written");
        let digest = shown.split("name=\"digest\" value=\"").nth(1).expect("what is pressed");
        let digest = digest.split('"').next().expect("its end");
        let reloads = self.reloads();
        let fields = [fields, &[("step", "write"), ("digest", digest)]].concat();
        let (status, written) = self.send(&fields).await;
        assert_eq!(status, StatusCode::OK, "{written}");
        assert!(written.contains("저장했습니다"), "{written}");
        let is_added = fields.contains(&("act", "add"));
        assert!(!is_added || written.contains("이 변경 되돌리기"), "{written}");
        for _ in 0..300 {
            if self.reloads() > reloads {
                return shown;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the agent does not read its file again");
    }

    fn reloads(&self) -> usize {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.matches("the agent runs").count()
    }
}

/// R-UI-1: a threshold, a stand-in, a route and a hook are changed by pages; what is wrong, stale
/// or not offered changes nothing, and every other byte of the file stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_are_shown_checked_written_and_taken_over() {
    let mut agent = Agent::start().await;
    let first = agent.text();
    let page = agent.page("/settings").await.expect("a page");
    assert!(page.contains("설정 파일:") && page.contains("agent.toml"), "{page}");

    let shown = agent
        .change(&[
            ("entry", "notify"),
            ("act", "set"),
            ("v.repeat_after_h", "4.5"),
            ("v.zone", "Asia/Seoul"),
        ])
        .await;
    assert!(shown.contains("- repeat_after_h = 8   # a shift"), "{shown}");
    assert!(shown.contains("+ repeat_after_h = 4.5   # a shift"), "{shown}");
    let words = shown.contains("<del>8</del>") && shown.contains("<strong>4.5</strong>");
    assert!(words, "before and after stand in words: {shown}");
    let second = first.replace("repeat_after_h = 8 ", "repeat_after_h = 4.5 ");
    assert_eq!(agent.text(), second);
    let acts =
        agent.until("the act", "/audit", |text| text.contains("notify.repeat_after_h")).await;
    assert!(acts.contains("설정 변경") && !acts.contains("4.5"), "{acts}");

    refused(&agent, &second).await;
    stands_in(&agent, &second).await;
    routes_and_hooks(&agent, &second).await;
    assert!(agent.process.terminate().success());
}

/// A change that is wrong, stale or not offered changes nothing.
async fn refused(agent: &Agent, second: &str) {
    for (fields, status, told) in [
        (
            &[("entry", "notify"), ("act", "set"), ("v.repeat_after_h", "-1")][..],
            422,
            "간격 -1: 쓸 수 없는 값",
        ),
        (&[("entry", "notify"), ("act", "set"), ("v.zone", "Seoul")], 422, "같은 시간대 이름"),
        (&[("entry", "notify"), ("act", "set"), ("v.hold_h", "x")], 400, "hold_h"),
        (
            &[("entry", "notify"), ("act", "set"), ("v.zone", "Asia/Seoul")],
            422,
            "바뀌는 내용이 없습니다",
        ),
        (&[("entry", "notify.rota.0.shift.0"), ("act", "set"), ("v.who", "nobody")], 422, "nobody"),
        (&[("entry", "notify.webhook.0"), ("act", "remove")], 422, "제어실"),
        (&[("entry", "http"), ("act", "set"), ("v.listen", "0.0.0.0:1")], 400, "entry"),
        (
            &[
                ("entry", "notify"),
                ("act", "set"),
                ("v.from", "Critical"),
                ("step", "write"),
                ("digest", "0"),
            ],
            409,
            "그사이",
        ),
        (&[("entry", "notify.rota.7"), ("act", "remove")], 422, "notify.rota.7"),
    ] {
        let (answered, text) = agent.send(fields).await;
        assert_eq!((answered.as_u16(), text.contains(told)), (status, true), "{fields:?}: {text}");
        assert_eq!(agent.text(), second, "{fields:?}");
    }
}

/// Checks that a person who stands in is entered and taken out again.
async fn stands_in(agent: &Agent, second: &str) {
    let duty = agent.page("/duty").await.expect("a page");
    assert!(duty.contains("대행 추가") && duty.contains("notify.rota.0.override"), "{duty}");
    let stands_in = [
        ("entry", "notify.rota.0.override"),
        ("act", "add"),
        ("back", "/duty"),
        ("v.who", "제어실"),
        ("v.from", "2096-11-30T07:00"),
        ("v.to", "2096-12-01T07:00"),
    ];
    agent.change(&stands_in).await;
    let third = second.replace(
        "who = [ \"제어실\" ]\n",
        "who = [ \"제어실\" ]\n\n[[notify.rota.override]]\nfrom = \"2096-11-30T07:00\"\n\
         to = \"2096-12-01T07:00\"\nwho = [\"제어실\"]\n",
    );
    assert_eq!(agent.text(), third);
    agent.until("who stands in", "/duty", |text| text.contains("2096-11-30 07:00")).await;
    agent.until("the act", "/audit", |text| text.contains("당직 대행")).await;
    agent.change(&[("entry", "notify.rota.0.override.0"), ("act", "remove")]).await;
    assert_eq!(agent.text(), second, "taken out again, byte for byte");
}

/// A route with its steps, and the form of a hook.
async fn routes_and_hooks(agent: &Agent, second: &str) {
    let route = [
        ("entry", "notify.route"),
        ("act", "add"),
        ("v.name", "야간"),
        ("v.sites", "u*, 여수"),
        ("v.first", "정비반"),
    ];
    agent.change(&route).await;
    let step = [
        ("entry", "notify.route.0.step"),
        ("act", "add"),
        ("v.after_minutes", "15"),
        ("v.to", "제어실"),
    ];
    agent.change(&step).await;
    let end = "\n[[notify.route]]\nname = \"야간\"\nsites = [\"u*\", \"여수\"]\n[[notify.route.step]]\n\
               to = [\"정비반\"]\n\n[[notify.route.step]]\nafter_minutes = 15\nto = [\"제어실\"]\n";
    assert_eq!(agent.text(), format!("{second}{end}"));
    agent.change(&[("entry", "notify.route.0"), ("act", "remove")]).await;
    assert_eq!(agent.text(), second);

    agent
        .change(&[
            ("entry", "notify.webhook.0"),
            ("act", "set"),
            ("v.from", "Warning"),
            ("v.format", "slack"),
        ])
        .await;
    let hook = "url = \"http://127.0.0.1:9/x\"\n";
    let fourth = second.replace(hook, &format!("{hook}format = \"slack\"\nfrom = \"Warning\"\n"));
    assert_eq!(agent.text(), fourth);
}

/// A script that opens what a page folds.
fn open_details(selector: &str) -> String {
    format!(
        "document.querySelectorAll('{selector}').forEach((one) => {{ one.open = true; }}); \
         return true"
    )
}

/// R-UI-1: settings and duty keep nobody out, on a phone and a screen, in both languages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_keep_nobody_out() {
    let name = "settings_keep_nobody_out";
    let Some(browser) = Browser::start(name).await else { return };
    let Some(axe) = axe(name) else { return };
    let mut agent = Agent::start().await;
    let mut wrong = Vec::new();
    browser.open(&format!("{}/settings", agent.url)).await;
    for language in ["ko", "en"] {
        browser.run(&format!("document.cookie = 'pdm_language={language}; path=/'")).await;
        for (width, dark) in [(320, false), (390, true), (1280, false)] {
            browser.look(width, dark).await;
            for page in [
                "/settings",
                "/settings?section=settings_rota",
                "/settings?section=settings_routes",
                "/settings?section=settings_hooks",
                "/duty",
                "change",
            ] {
                if page == "change" {
                    // the lines of a change, and what is wrong
                    browser.open(&format!("{}/settings?section=settings_rota", agent.url)).await;
                    browser.run(&open_details("details")).await;
                    browser
                        .run(
                            "document.querySelector('[name=\"v.weeks\"]').value = '2'; return true",
                        )
                        .await;
                    browser
                        .run("document.querySelector('main form button.main').click(); return true")
                        .await;
                    let shown = "return document.querySelector('.difference') !== null";
                    browser.until("the change", shown).await;
                } else {
                    browser.open(&format!("{}{page}", agent.url)).await;
                    browser.run(&open_details("main details")).await;
                }
                browser.run(&axe).await;
                let found = browser.run(RULES).await;
                let found = found.as_array().cloned().unwrap_or_default();
                wrong.extend(found.iter().map(|one| format!("{language} {width} {page} {one}")));
                let small = browser.run(TOO_SMALL).await.as_array().cloned().unwrap_or_default();
                let small = small.iter().filter(|_| width < 1000);
                wrong.extend(small.map(|one| format!("{language} {width} {page} {one}")));
                let file = page.trim_start_matches('/').replace(['?', '='], "-");
                browser.picture(&format!("{file}-{language}-{width}.png")).await;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // the menu of a phone opens by one touch and has every page
    browser.look(360, false).await;
    browser.open(&format!("{}/", agent.url)).await;
    let open = "return [...document.querySelectorAll('.menu nav a')].filter((one) => \
        one.checkVisibility({ contentVisibilityAuto: true })).length";
    assert_eq!(browser.run(open).await, json!(0), "closed");
    browser.click(".menu summary").await;
    let seen = browser.run(open).await.as_u64().expect("a number");
    assert!(seen >= 8, "{seen} pages");
    let wide = "return document.documentElement.scrollWidth > document.documentElement.clientWidth";
    assert_eq!(browser.run(wide).await, json!(false));
    browser.picture("menu.png").await;
    assert!(agent.process.terminate().success());
}
