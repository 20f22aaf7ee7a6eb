//! What a person sees and does in a browser, on the real agent of `pdm demo`.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use pdm_harness::{Child, binary, not_run};
use serde_json::{Value, json};

use crate::browser::Browser;

/// `pdm demo` that has run a bearing to its failure and goes on serving its pages.
struct Demo {
    _process: Child,
    url: String,
}

impl Demo {
    async fn start() -> Self {
        let mut command = Command::new(binary("pdm"));
        command.args(["demo", "--lang", "en", "--speed", "max", "--pages", "127.0.0.1:0"]);
        let mut process = Child::start(command.stdout(Stdio::piped()).stderr(Stdio::null()));
        let mut lines = BufReader::new(process.output().expect("its output")).lines();
        let url = lines.find_map(|line| {
            let line = line.expect("text");
            line.split("pages: ").nth(1).map(|url| url.trim_end_matches('/').to_owned())
        });
        let url = url.expect("the demo tells where its pages are");
        // the demo must not wait for a reader of its output
        std::thread::spawn(move || lines.for_each(drop));
        pdm_agent::service::install_cryptography();
        let client = reqwest::Client::new();
        for _ in 0..1200 {
            let fleet = client.get(format!("{url}/api/v1/bearings")).send().await;
            let fleet: Value = fleet.expect("answers").json().await.expect("json");
            if fleet["items"][0]["fault_stage"] == json!(4) {
                return Self { _process: process, url };
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("the demo's bearing does not fail");
    }
}

/// axe-core, which the test command fetches.
fn axe(test: &str) -> Option<String> {
    let path = std::env::var_os("PDM_AXE").map(PathBuf::from);
    let text = path.and_then(|path| std::fs::read_to_string(path).ok());
    let text = text.filter(|text| !text.is_empty());
    if text.is_none() {
        not_run(test, "axe-core is not there (tests/run fetches it)");
    }
    text
}

/// Types a name into the form of the alarm and sends it, by Tab, letters and Enter alone.
async fn acknowledge_by_keyboard(browser: &Browser) {
    const TAB: &str = "\u{e004}";
    const ENTER: &str = "\u{e007}";
    for _ in 0..40 {
        browser.press(TAB).await;
        if browser.run("return document.activeElement.name === 'by'").await == json!(true) {
            browser.press("Kim").await;
            browser.press(ENTER).await;
            return;
        }
    }
    panic!("the form of the alarm is not reached by Tab");
}

/// R-UI-1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_technician_sees_the_failing_bearing_and_acknowledges_by_keyboard() {
    let name = "a_technician_sees_the_failing_bearing_and_acknowledges_by_keyboard";
    let Some(browser) = Browser::start(name).await else { return };
    let demo = Demo::start().await;
    browser.open(&demo.url).await;
    browser.click("button[name=language][value=en]").await;
    browser.until("English", "return document.documentElement.lang === 'en'").await;
    let row =
        browser.until("the fleet", "return document.querySelector('tbody tr')?.innerText").await;
    let row = row.as_str().expect("text");
    assert!(row.contains("P-101") && row.contains("Outer race"), "{row}");
    browser
        .until("the live stream", "return document.querySelector('#live').textContent === 'Live'")
        .await;
    browser.click("tbody a").await;
    browser.until("the trend", "return document.querySelector('#trend canvas')?.width > 100").await;
    // the spectrum is drawn: its canvas holds the colour of the line, and the cursors stand on BPFO
    let drawn = "const c = document.querySelector('#spectrum canvas'); if (!c) return false;
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200 && d[i + 2] > d[i] + 60) n += 1;
        return n > 300 ? n : false";
    browser.until("the spectrum", drawn).await;
    let pressed = "return document.querySelector('[data-line=bpfo]').getAttribute('aria-pressed')";
    assert_eq!(browser.run(pressed).await, json!("true"));
    browser.click("[data-line=bpfi]").await;
    let spacing = "return document.querySelector('[name=spacing]').value";
    let spacing = browser.run(spacing).await;
    assert!(spacing.as_str().is_some_and(|hz| hz.parse::<f64>().is_ok()), "{spacing}");
    browser.look(1000, false).await;
    browser.picture("page-bearing.png").await;
    acknowledge_by_keyboard(&browser).await;
    let told =
        "return document.querySelector('#alarm p:nth-of-type(2)')?.innerText.includes('Kim')";
    browser.until("the acknowledgement", told).await;
    browser.click(".advice a").await;
    let thoughts = browser.run("return document.querySelectorAll('main section h2').length").await;
    assert!(thoughts.as_u64().is_some_and(|sections| sections >= 8), "{thoughts}");
    let complaints = browser.complaints().await;
    assert!(complaints.is_empty(), "{complaints:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_page_keeps_anybody_out_in_both_languages_and_themes_on_a_phone_and_a_screen() {
    let name = "no_page_keeps_anybody_out_in_both_languages_and_themes_on_a_phone_and_a_screen";
    let Some(browser) = Browser::start(name).await else { return };
    let Some(axe) = axe(name) else { return };
    let demo = Demo::start().await;
    browser.open(&demo.url).await;
    let event =
        "return fetch('/api/v1/bearings').then(a => a.json()).then(a => a.items[0].event_id)";
    let event = browser.run(event).await;
    let analysis = format!("/analyses/{}", event.as_str().expect("an event"));
    let pages = [
        "/",
        "/bearings/demo/P-101/DE",
        &analysis,
        "/notifications",
        "/gateways",
        "/bearings/x/y/z",
    ];
    let rules = "return axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
        .then(found => found.violations.map(one => `${one.id}: ${one.nodes[0].html}`))";
    let mut wrong = Vec::new();
    for language in ["ko", "en"] {
        browser.run(&format!("document.cookie = 'pdm_language={language}; path=/'")).await;
        for (width, dark) in [(320, false), (320, true), (1280, false), (1280, true)] {
            browser.look(width, dark).await;
            for page in pages {
                browser.open(&format!("{}{page}", demo.url)).await;
                browser.run(&axe).await;
                let found = browser.run(rules).await;
                let found = found.as_array().cloned().unwrap_or_default();
                wrong.extend(
                    found.iter().map(|one| format!("{language} {width} {dark} {page} {one}")),
                );
                let wide = "return document.documentElement.scrollWidth > document.documentElement.clientWidth";
                if browser.run(wide).await == json!(true) {
                    wrong.push(format!("{language} {width} {page} scrolls to the side"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // the rules are at work: a picture without words is found
    browser.run("document.querySelector('main').append(document.createElement('img'))").await;
    let found = browser.run(rules).await;
    assert!(found.to_string().contains("image-alt"), "{found}");
}
