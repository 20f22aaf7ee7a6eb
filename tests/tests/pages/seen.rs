//! Tests the pages as a person sees and uses them in a browser, on the real agent of `pdm demo`.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use pdm_harness::{Child, binary, not_run};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_web::link::AckClaim;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::plant::{MARKUP, PASSWORD, Plant};
use crate::roles;

/// `pdm demo` that has run a bearing to its failure and goes on serving its pages.
pub(crate) struct Demo {
    _process: Child,
    pub(crate) url: String,
}

impl Demo {
    pub(crate) async fn start() -> Self {
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

/// Rules of axe-core, and what breaks them.
pub(crate) const RULES: &str = "return axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', \
    'wcag21a', 'wcag21aa', 'wcag22aa'] })
    .then(found => found.violations.map(one => `${one.id}: ${one.nodes[0].html}`))";

/// axe-core, which the test command fetches.
pub(crate) fn axe(test: &str) -> Option<String> {
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
        "return [...document.querySelectorAll('#alarm p')].some(p => p.innerText.includes('Kim'))";
    browser.until("the acknowledgement", told).await;
    browser.click(".advice a").await;
    let thoughts = browser.run("return document.querySelectorAll('main section h2').length").await;
    assert!(thoughts.as_u64().is_some_and(|sections| sections >= 8), "{thoughts}");
    let complaints = browser.complaints().await;
    assert!(complaints.is_empty(), "{complaints:?}");
}

/// R-GRAPH-1: the machine with its graph, as a picture and as a table; spare parts and documents on
/// the bearing's page, from which the machine is reached.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_planner_goes_from_a_bearing_to_its_machine_and_sees_what_stands_around_it() {
    let name = "a_planner_goes_from_a_bearing_to_its_machine_and_sees_what_stands_around_it";
    let Some(browser) = Browser::start(name).await else { return };
    let plant = Plant::open().await;
    browser.open(&format!("{}/bearings/ulsan-1/P-101/DE", plant.url)).await;
    browser.click("button[name=language][value=en]").await;
    browser.until("English", "return document.documentElement.lang === 'en'").await;
    let text = "return document.querySelector('main').innerText";
    let bearing = browser.run(text).await;
    for shown in ["기계 씰", "베어링 6205", "교체 절차"] {
        assert!(bearing.as_str().is_some_and(|text| text.contains(shown)), "{shown}: {bearing}");
    }
    browser.click("main a[href='/equipment/ulsan-1/P-101']").await;
    browser
        .until(
            "the machine",
            "return document.querySelector('h1')?.innerText.includes('급수 펌프 1')",
        )
        .await;
    let drawn = browser.run("return document.querySelectorAll('figure svg circle').length").await;
    let rows = browser.run("return document.querySelectorAll('main tbody')[0].rows.length").await;
    assert_eq!((&drawn, &rows), (&json!(9), &json!(9)), "each neighbour is a dot and a row");
    let machine = browser.run(text).await;
    let machine = machine.as_str().expect("text");
    assert!(machine.contains("← installed in") && machine.contains("→ fed by"), "{machine}");
    // a name that looks like markup is shown as it is, as far as a label goes
    assert!(machine.contains(&MARKUP[..28]), "{machine}");
    let is_reached = "const link = document.querySelector(\"main td ~ th \
        a[href='/bearings/ulsan-1/P-101/DE']\");
        return link !== null";
    assert_eq!(browser.run(is_reached).await, json!(true));
    let complaints = browser.complaints().await;
    assert!(complaints.is_empty(), "{complaints:?}");
    plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_page_keeps_anybody_out_in_both_languages_and_themes_on_a_phone_and_a_screen() {
    let name = "no_page_keeps_anybody_out_in_both_languages_and_themes_on_a_phone_and_a_screen";
    let Some(browser) = Browser::start(name).await else { return };
    let Some(axe) = axe(name) else { return };
    let demo = Demo::start().await;
    browser.open(&demo.url).await;
    let of = async |path: &str| {
        let script = "return fetch('/api/v1/bearings').then(a => a.json()).then(a => a.items[0]";
        let value = browser.run(&format!("{script}.{path})")).await;
        value.as_str().expect("text").to_owned()
    };
    let analysis = format!("/analyses/{}", of("event_id").await);
    let episode = format!("/episodes/{}", of("episode.episode_id").await);
    let shelf = format!("{episode}/shelve?hours=8&reason=x");
    let work =
        "return fetch('/api/v1/work?state=all').then(a => a.json()).then(a => a.items[0].event_id)";
    let order = format!("/work/{}", browser.run(work).await.as_str().expect("an event"));
    // the demo has no asset graph: a machine, and a bearing with parts and documents, are another
    // agent's
    let plant = Plant::open().await;
    let of_demo = [
        "/",
        "/bearings/demo/P-101/DE",
        &analysis,
        "/notifications",
        "/gateways",
        "/bearings/x/y/z",
    ]
    .map(|page| format!("{}{page}", demo.url));
    let of_plant = ["/equipment/P-101", "/bearings/ulsan-1/P-101/DE"]
        .map(|page| format!("{}{page}", plant.url));
    let pages: Vec<&String> = of_demo.iter().chain(&of_plant).collect();
    // lists and forms of the same parts: a dark phone and a light screen have all of their colours
    // and widths, in half of the time
    let alike =
        ["/episodes?state=all", &episode, &shelf, "/work?state=all", &order, "/users", "/audit"]
            .map(|page| format!("{}{page}", demo.url));
    let mut wrong = Vec::new();
    for language in ["ko", "en"] {
        browser.run(&format!("document.cookie = 'pdm_language={language}; path=/'")).await;
        for (width, dark) in [(320, false), (320, true), (1280, false), (1280, true)] {
            browser.look(width, dark).await;
            let is_half = (width == 320) == dark;
            for page in pages.iter().copied().chain(alike.iter().filter(|_| is_half)) {
                browser.open(page).await;
                browser.run(&axe).await;
                let found = browser.run(RULES).await;
                let found = found.as_array().cloned().unwrap_or_default();
                wrong.extend(
                    found.iter().map(|one| format!("{language} {width} {dark} {page} {one}")),
                );
                let wide = "return document.documentElement.scrollWidth > \
                    document.documentElement.clientWidth";
                if browser.run(wide).await == json!(true) {
                    wrong.push(format!("{language} {width} {page} scrolls to the side"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    plant.stop().await;
    // the rules are at work: a picture without words is found
    browser.run("document.querySelector('main').append(document.createElement('img'))").await;
    let found = browser.run(RULES).await;
    assert!(found.to_string().contains("image-alt"), "{found}");
}

/// R-AGENT-10: a person logs in, and acknowledges from a message without a login, on a dark phone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_and_a_link_work_in_a_browser_and_keep_nobody_out() {
    let name = "a_login_and_a_link_work_in_a_browser_and_keep_nobody_out";
    let Some(browser) = Browser::start(name).await else { return };
    let Some(axe) = axe(name) else { return };
    let plant = Plant::with_users().await;
    let row = roles::row(&plant).await;
    let claim = AckClaim {
        episode_id: row["episode"]["episode_id"].as_str().expect("one").parse().expect("an id"),
        level: RiskLevel::Critical,
        recipient: "email".to_owned(),
        expires_at: Timestamp::parse("2100-01-01T00:00:00Z").expect("a time"),
    };
    let link = format!("{}/ack/{}", plant.url, plant.links().await.text(&claim));
    browser.look(320, true).await;
    let clean = async || {
        browser.run(&axe).await;
        let found = browser.run(RULES).await;
        assert_eq!(found, json!([]), "{found}");
    };
    browser.open(&link).await;
    clean().await;
    let type_in = async |field: &str, text: &str| {
        browser.click(&format!("[name={field}]")).await;
        browser.press(text).await;
    };
    type_in("by", "Kim").await;
    browser.click("button.main").await;
    let told = "return document.querySelector('[role=status]')?.innerText.includes('Kim (email)')";
    browser.until("the acknowledgement", told).await;
    clean().await;
    browser.open(&format!("{}/episodes", plant.url)).await;
    clean().await;
    type_in("name", "technician").await;
    type_in("password", PASSWORD).await;
    browser.click("form button.main").await;
    let seen = "return location.pathname === '/episodes' && document.querySelector('tbody a')";
    browser.until("the episodes after the login", &format!("{seen} !== null")).await;
    browser.click("tbody a").await;
    let form = "return document.querySelector('form[action$=\"/note\"]') !== null";
    browser.until("the episode", form).await;
    let complaints = browser.complaints().await;
    let unexpected = complaints.iter().filter(|one| !one.contains("401"));
    assert_eq!(unexpected.count(), 0, "{complaints:?}");
    plant.stop().await;
}

/// R-UI-1: what users alone reach: tokens, the sheet of a work order, failing channels, the stacked
/// spectra.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_sheets_channels_and_stacked_spectra_keep_nobody_out() {
    let name = "tokens_sheets_channels_and_stacked_spectra_keep_nobody_out";
    let Some(browser) = Browser::start(name).await else { return };
    let Some(axe) = axe(name) else { return };
    let plant = Plant::with_users().await;
    browser.open(&format!("{}/login", plant.url)).await;
    for (field, text) in [("name", "admin"), ("password", PASSWORD)] {
        browser.click(&format!("[name={field}]")).await;
        browser.press(text).await;
    }
    browser.click("form button.main").await;
    browser.until("the fleet", "return document.querySelector('tbody tr') !== null").await;
    let asked =
        "return fetch('/api/v1/work?state=all').then(a => a.json()).then(a => a.items[0].event_id)";
    let judged =
        "return fetch('/api/v1/work?state=all').then(a => a.json()).then(a => a.items.length > 0)";
    browser.until("work of a judgement", judged).await;
    let event = browser.run(asked).await;
    let event = event.as_str().expect("a judgement that asks for work");
    let pages = [
        "/?q=P-101".to_owned(),
        "/notifications".to_owned(),
        "/users/viewer/tokens".to_owned(),
        format!("/work/{event}"),
        "/bearings/ulsan-1/P-101/DE".to_owned(),
    ];
    let mut wrong = Vec::new();
    for language in ["ko", "en"] {
        browser.run(&format!("document.cookie = 'pdm_language={language}; path=/'")).await;
        for (width, dark) in [(320, true), (1280, false)] {
            browser.look(width, dark).await;
            for page in &pages {
                browser.open(&format!("{}{page}", plant.url)).await;
                browser.run(&axe).await;
                let found = browser.run(RULES).await;
                let found = found.as_array().cloned().unwrap_or_default();
                wrong.extend(found.iter().map(|one| format!("{language} {width} {page} {one}")));
                let wide = "return document.documentElement.scrollWidth > \
                    document.documentElement.clientWidth";
                if browser.run(wide).await == json!(true) {
                    wrong.push(format!("{language} {width} {page} scrolls to the side"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // 20 windows with spectra of 400 lines
    let drawn = "const c = document.querySelector('canvas.stack'); return c.height === 20 && \
        c.width === 400";
    browser.until("the stacked spectra", drawn).await;
    let told = "document.querySelector('#waterfall .canvas').focus(); return true";
    browser.run(told).await;
    browser.press("\u{e015}\u{e014}").await; // down, right
    let read = browser.run("return document.querySelector('#waterfall output').textContent").await;
    assert!(read.as_str().is_some_and(|text| text.contains("1.0 Hz")), "{read}");
    let complaints = browser.complaints().await;
    assert!(complaints.is_empty(), "{complaints:?}");
    plant.stop().await;
}
