//! A phone in a cellar: the work orders that were opened last can be read without the server, a
//! report that is written there is kept and sent later, and what is lost is said. In a real
//! browser, whose server goes away.

use pdm_harness::{Network, Proxy};
use reqwest::StatusCode;
use serde_json::json;

use crate::browser::Browser;
use crate::orders::{User, order};
use crate::phone::{FOUND, TOO_SMALL};
use crate::plant::{PASSWORD, Plant};

/// The plant through a line that can be cut.
struct Line {
    plant: Plant,
    proxy: Proxy,
    url: String,
}

impl Line {
    async fn new() -> Self {
        let plant = Plant::with_documents().await;
        let port = plant.url.rsplit(':').next().and_then(|port| port.parse().ok());
        let proxy = Proxy::before(port.expect("a port"));
        let url = format!("http://127.0.0.1:{}", proxy.port());
        Self { plant, proxy, url }
    }

    fn cut(&self) {
        self.proxy.set(Network::Refuses);
        self.proxy.cut();
    }

    fn mend(&self) {
        self.proxy.set(Network::Open);
    }

    async fn enter(&self, browser: &Browser, name: &str, to: &str) {
        browser.open(&format!("{}/login?to={to}", self.url)).await;
        for (field, text) in [("name", name), ("password", PASSWORD)] {
            browser.click(&format!("[name={field}]")).await;
            browser.press(text).await;
        }
        browser.click("form button.main").await;
    }
}

/// Until the worker answers for this page, and the work orders of the list are kept.
async fn is_kept(browser: &Browser) {
    browser.until("the worker", "return navigator.serviceWorker.controller !== null").await;
    let held = "caches.open('pdm-work').then((c) => c.keys()).then((k) => { window.held = k.length \
                >= 2; }); return window.held";
    browser.until("the kept orders", held).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_that_is_written_while_the_server_is_away_is_sent_when_it_is_back() {
    let name = "a_report_that_is_written_while_the_server_is_away_is_sent_when_it_is_back";
    let Some(browser) = Browser::start(name).await else { return };
    let line = Line::new().await;
    browser.look(390, false).await;
    line.enter(&browser, "technician", "/work").await;
    browser.until("the work", "return document.querySelector('.card') !== null").await;
    is_kept(&browser).await;
    let order = "return document.querySelector('.card > .choices a[href^=\"/work/\"]').pathname";
    let order = browser.run(order).await.as_str().expect("an order").to_owned();
    line.cut();
    // never opened before: it was kept with the list
    browser.open(&format!("{}{order}", line.url)).await;
    let says = "const told = document.querySelector('[data-kept]');
        return told && !told.hidden && told.innerText.includes('서버에 연결되지 않아')
            && /\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d/.test(told.innerText)";
    browser.until("that the page is kept", says).await;
    assert_eq!(browser.run(TOO_SMALL).await, json!([]), "styled as with the server");
    browser.picture("offline-order.png").await;
    browser.click("#report input[value=right], form.report input[value=right]").await;
    browser.click("form.report textarea").await;
    browser.press("cage broken in the cellar").await;
    browser.click("form.report button.main").await;
    let told = "return document.body?.innerText.includes('보고를 이 브라우저에 보관했습니다')";
    browser.until("that the report is kept", told).await;
    browser.picture("offline-kept.png").await;
    let listed = format!("return document.querySelector('a[href=\"{order}\"]') !== null");
    assert_eq!(browser.run(&listed).await, json!(true), "the kept order stands there");
    // the same report a second time is the same one: its identity is that of the page
    browser.open(&format!("{}/work", line.url)).await;
    let waits = "const e = document.querySelector('#unsent'); return e && !e.hidden && \
                 e.innerText.includes('cage broken in the cellar')";
    browser.until("the report that waits", waits).await;
    browser.picture("offline-waits.png").await;
    line.mend();
    browser.open(&format!("{}/work?state=all", line.url)).await;
    let sent = "const e = document.querySelector('#unsent'); return e && !e.hidden && \
                e.innerText.includes('보관했던 보고를 보냄: 1')";
    browser.until("that it was sent", sent).await;
    browser.open(&format!("{}/bearings/ulsan-1/P-101/DE", line.url)).await;
    let stands =
        "return document.body.innerText.split('cage broken in the cellar').length - 1 >= 1";
    browser.until("the report at the bearing", stands).await;
    line.plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_kept_is_said_to_be_lost_and_the_log_out_takes_the_orders_away() {
    let name = "what_is_not_kept_is_said_to_be_lost_and_the_log_out_takes_the_orders_away";
    let Some(browser) = Browser::start(name).await else { return };
    let line = Line::new().await;
    line.enter(&browser, "technician", "/work").await;
    browser.until("the work", "return document.querySelector('.card') !== null").await;
    is_kept(&browser).await;
    browser.open(&format!("{}/bearings/ulsan-1/P-101/DE", line.url)).await;
    line.cut();
    browser.click("form[action$='/acknowledge'] button").await;
    let lost = "return document.body?.innerText.includes('서버에 닿지 않았고 보관되지 않았습니다')";
    browser.until("that it is lost", lost).await;
    line.mend();
    // a quick report from the list is kept as well
    browser.open(&format!("{}/work", line.url)).await;
    line.cut();
    browser.click(".card details summary").await;
    browser.run(FOUND).await;
    browser.click(".card form textarea").await;
    browser.press("by the technician").await;
    browser.click(".card form button.main").await;
    browser.until("kept", "return document.body?.innerText.includes('보관했습니다')").await;
    line.mend();
    browser.open(&format!("{}/duty", line.url)).await;
    browser
        .until("sent", "return document.querySelector('#unsent')?.innerText.includes('보냄: 1')")
        .await;
    browser.click("form[action='/logout'] button").await;
    browser.until("the login", "return document.querySelector('[name=password]') !== null").await;
    line.cut();
    browser.open(&format!("{}/work", line.url)).await;
    let nothing = "return document.body?.innerText.includes('저장된 작업 지시서가 없습니다')";
    browser.until("that nothing is kept", nothing).await;
    line.plant.stop().await;
}

/// A report that a browser kept is dated by its writing, is one however often it is sent, and is
/// never another user's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_report_is_dated_by_its_writing_and_belongs_to_its_writer() {
    let plant = Plant::with_documents().await;
    let user = User::of(&plant, "technician").await;
    let (event, _) = order(&user).await;
    let now = pdm_service::clock::Clock::now(&pdm_service::clock::SystemClock);
    let at = |hours: f64| now.plus_seconds(-hours * 3600.0).to_string();
    let send = async |at: &str, by: &str| {
        let fields = [
            ("written_at", at),
            ("written_by", by),
            ("verdict", "right"),
            ("event_id", event.as_str()),
            ("note", "지하에서"),
            ("report_id", "0193c7a0-0000-7000-8000-000000000036"),
        ];
        user.send("/bearings/ulsan-1/P-101/DE/found", &fields).await
    };
    let other = send(&at(1.0), "kim").await;
    assert_eq!(other.status(), StatusCode::CONFLICT);
    let told = other.text().await.expect("text");
    assert!(told.contains("kim 사용자가 쓴 보고입니다"), "{told}");
    let old = send(&at(24.0 * 31.0), "technician").await;
    assert_eq!(old.status(), StatusCode::BAD_REQUEST, "older than a month");
    assert_eq!(send("yesterday", "technician").await.status(), StatusCode::BAD_REQUEST);
    for _ in 0..2 {
        let answer = send(&at(5.0), "technician").await;
        assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    }
    let page = user.page("/bearings/ulsan-1/P-101/DE").await;
    let reports = page.split("id=\"history\"").next().expect("the reports");
    assert_eq!(reports.matches("지하에서").count(), 1, "one report: {page}");
    let written = &at(5.0)[..13];
    assert!(page.contains(written), "dated {written}");
    plant.stop().await;
}

/// A report of a replacement that the measurements contradict is said to be contradicted, and its
/// work is opened again by one act.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replacement_that_the_measurements_contradict_is_said_and_its_work_opened_again() {
    let plant = Plant::with_documents().await;
    let user = User::of(&plant, "technician").await;
    let (event, _) = order(&user).await;
    let now = pdm_service::clock::Clock::now(&pdm_service::clock::SystemClock);
    // reported before the last window was measured, by a browser that kept it
    let at = now.plus_seconds(-3.0 * 86_400.0).to_string();
    let fields = [
        ("event_id", event.as_str()),
        ("verdict", "right"),
        ("repaired", "yes"),
        ("state", "done"),
        ("written_at", at.as_str()),
        ("written_by", "technician"),
    ];
    let answer = user.send("/bearings/ulsan-1/P-101/DE/found", &fields).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let page = user.page("/bearings/ulsan-1/P-101/DE").await;
    assert!(page.contains("그 뒤에도 손상이 측정됩니다"), "{page}");
    let part = page.split("id=\"contradicted\"").nth(1).expect("the part");
    let part = part.split("</section>").next().expect("its end");
    let field = |name: &str| {
        let value = part.split(&format!("name=\"{name}\" value=\"")).nth(1).expect("a field");
        value.split('"').next().expect("its end").to_owned()
    };
    let (number, id) = (field("number"), field("report_id"));
    let fields = [("number", number.as_str()), ("report_id", id.as_str()), ("state", "open")];
    let answer = user.send(&format!("/work/{event}"), &fields).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert!(user.page("/work").await.contains(&format!("/work/{event}")), "the work waits again");
    assert!(!user.page("/bearings/ulsan-1/P-101/DE").await.contains("id=\"contradicted\""));
    plant.stop().await;
}

/// What is typed survives a reload, and the sending of a photo before it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_note_that_was_not_sent_is_there_after_a_reload() {
    let name = "a_note_that_was_not_sent_is_there_after_a_reload";
    let Some(browser) = Browser::start(name).await else { return };
    let line = Line::new().await;
    line.enter(&browser, "technician", "/work").await;
    browser.until("the work", "return document.querySelector('.card') !== null").await;
    let order = "return document.querySelector('.card > .choices a[href^=\"/work/\"]').pathname";
    let order = browser.run(order).await.as_str().expect("an order").to_owned();
    browser.open(&format!("{}{order}", line.url)).await;
    browser.click("form.report input[value=right]").await;
    browser.click("form.report textarea").await;
    browser.press("half a note").await;
    browser.open(&format!("{}{order}", line.url)).await;
    let there = "const form = document.querySelector('form.report');
        return form.querySelector('textarea').value === 'half a note'
            && form.querySelector('input[value=right]').checked
            && !form.querySelector('[data-draft]').hidden";
    browser.until("the note", there).await;
    browser.click("form.report button.main").await;
    browser.until("recorded", "return document.querySelector('#recorded') !== null").await;
    browser.open(&format!("{}{order}", line.url)).await;
    let gone = "const form = document.querySelector('form.report');
        return form !== null && form.querySelector('textarea').value === ''
            && form.querySelector('[data-draft]').hidden";
    browser.until("an empty form", gone).await;
    line.plant.stop().await;
}
