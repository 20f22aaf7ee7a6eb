//! What people of the floor, an engineer and a manager look for: the first job on a phone's first
//! screen, notes in the trend, a section by its code, the figures of a month.

use pdm_service::clock::{Clock as _, SystemClock};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::orders::{User, order};
use crate::phone::{TOO_SMALL, enter};
use crate::plant::Plant;

const PAGE: &str = "/bearings/ulsan-1/P-101/DE";

/// R-UI-1: the first screen of a phone was a search and its filters, upright and across.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_job_stands_on_the_first_screen_of_a_phone() {
    let name = "the_first_job_stands_on_the_first_screen_of_a_phone";
    let Some(browser) = Browser::start(name).await else { return };
    let plant = Plant::with_users().await;
    browser.look(390, false).await;
    enter(&browser, &plant, "/work").await;
    browser.until("the work", "return document.querySelector('.card') !== null").await;
    for (width, language) in [(390, "ko"), (390, "en"), (320, "ko")] {
        browser.look(width, false).await;
        browser.run(&format!("document.cookie = 'pdm_language={language}; path=/'")).await;
        for (page, first) in
            [("/work", ".card h2 a"), ("/", "#bearings tbody th a"), ("/episodes", "tbody th a")]
        {
            browser.open(&format!("{}{page}", plant.url)).await;
            let place =
                format!("return document.querySelector('{first}').getBoundingClientRect().top");
            let top = browser.run(&place).await.as_f64().expect("a place");
            browser
                .picture(&format!("floor{}-{language}-{width}.png", page.replace('/', "-")))
                .await;
            assert!(top < 480.0, "{language} {width} {page}: the first job stands at {top} px");
            // the search is one touch away, and all of it is there
            browser.click("details.find > summary").await;
            let seen = "return document.querySelector('.find input[name=q]').offsetHeight > 40
                && document.querySelector('.find select[name=element]').offsetHeight > 40";
            browser.until("the search", seen).await;
            assert_eq!(browser.run(TOO_SMALL).await, json!([]), "{page}");
        }
    }
    browser.look(1280, false).await;
    browser.open(&format!("{}/work", plant.url)).await;
    let open = "return document.querySelector('.find input[name=q]').offsetHeight > 20";
    assert_eq!(browser.run(open).await, json!(true), "where there is room it stands open");
    let complaints = browser.complaints().await;
    assert!(complaints.is_empty(), "{complaints:?}");
    plant.stop().await;
}

/// R-UI-1: nothing that people did stood in the trend, and a note had no date of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_note_of_what_was_done_is_a_mark_of_the_trend_at_its_own_time() {
    let plant = Plant::with_documents().await;
    let user = User::of(&plant, "technician").await;
    let (event, _) = order(&user).await;
    let at = SystemClock.now().plus_seconds(-20.0 * 60.0).to_string();
    let note = format!("{PAGE}/note");
    let sent = user.send(&note, &[("note", "greased, 15 g"), ("at", &at[..16])]).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    let later = SystemClock.now().plus_seconds(86_400.0).to_string();
    for (fields, what) in [
        ([("note", "greased"), ("at", &later[..16])], "not done yet"),
        ([("note", "greased"), ("at", "last Tuesday")], "no date"),
        ([("note", " "), ("at", "")], "nothing"),
    ] {
        assert!(user.send(&note, &fields).await.status().is_client_error(), "{what}");
    }
    let fields = [("event_id", event.as_str()), ("verdict", "right"), ("note", "outer race")];
    let sent = user.send(&format!("{PAGE}/found"), &fields).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    let page = user.page(PAGE).await;
    let history = page.split("id=\"history\"").nth(1).expect("the list");
    let history = history.split("</section>").next().expect("its end");
    assert!(history.contains("greased, 15 g") && history.contains("outer race"), "{history}");
    let trend = user.page(&format!("{PAGE}/trend.json?range=day")).await;
    let trend: Value = serde_json::from_str(&trend).expect("json");
    let marks = trend["marks"].as_array().expect("marks");
    let of = |kind: &str| marks.iter().find(|mark| mark["kind"] == json!(kind)).cloned();
    let greased = of("note").expect("the note");
    assert!(greased["text"].as_str().is_some_and(|text| text.contains("greased")), "{greased}");
    assert!(greased["at"].as_str().is_some_and(|told| told.starts_with(&at[..16])), "{greased}");
    assert!(of("alarm").is_some() && of("report").is_some(), "{marks:?}");
    plant.stop().await;
}

/// R-UI-1: `EM-06 torque` found nothing, and work was not found by the element of its bearing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_section_is_found_by_code_and_word_and_work_by_its_bearing() {
    let plant = Plant::with_documents().await;
    let user = User::of(&plant, "technician").await;
    let found = user.page("/search?q=EM-06+%ED%86%A0%ED%81%AC").await;
    assert!(found.contains("/knowledge/EM-06#s"), "a section: {found}");
    let found = user.page("/search?q=EM-06+%C2%A71").await;
    assert!(found.contains("/knowledge/EM-06#s1\""), "{found}");
    let found = user.page("/search?q=%EC%99%B8%EB%A5%9C").await;
    let work = found.split("id=\"work-head\"").nth(1).expect("the part");
    assert!(work.split("</section>").next().expect("its end").contains("/work/"), "{work}");
    plant.stop().await;
}

/// R-UI-1: what was done, how long it took and how often judgements were right stood on no page;
/// what waits to be learnt anew was known by nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_figures_of_a_month_and_what_waits_to_be_learnt_stand_on_pages() {
    let plant = Plant::with_documents().await;
    let user = User::of(&plant, "technician").await;
    let (event, _) = order(&user).await;
    let figure = |page: &str, word: &str| {
        let rest = page.split(word).nth(1).expect("the figure").to_owned();
        let value = rest.split("<dd>").nth(1).expect("its value").split("</dd>").next();
        value.expect("its end").to_owned()
    };
    let before = user.page("/statistics").await;
    assert_eq!(figure(&before, "완료 (30일)"), "0");
    assert!(!user.page("/").await.contains("/relearning"), "nothing waits");
    let fields = [("event_id", event.as_str()), ("verdict", "right"), ("repaired", "yes")];
    let sent = user.send(&format!("{PAGE}/found"), &fields).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    let after = user.page("/statistics").await;
    assert_ne!(figure(&after, "완료 (30일)"), "0");
    assert_eq!(figure(&after, "판정이 맞음"), "1 / 1 (100 %)");
    assert!(user.page("/").await.contains("/relearning"), "the list is counted");
    let waits = user.page("/relearning").await;
    assert!(waits.contains("pdm-edge relearn --config edge.toml P-101/DE"), "{waits}");
    assert!(user.page(PAGE).await.contains("교체했다고 보고되었습니다"), "the bearing says so");
    plant.stop().await;
}

/// R-UI-1: a bearing whose measuring stopped was Normal for good.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bearing_that_is_measured_no_more_is_not_counted_as_normal() {
    let plant = Plant::with_users().await;
    let user = User::of(&plant, "technician").await;
    let old = SystemClock.now().plus_seconds(-3.0 * 86_400.0);
    plant.measure_at(old, "M-7", &["DE"], 21).await;
    plant.measure("M-8", &["DE"], 22).await;
    let fleet = user.page("/").await;
    let row = |name: &str| {
        let row = fleet.split("<tr>").find(|row| row.contains(&format!(">{name} · DE<")));
        row.expect("a row").to_owned()
    };
    assert!(row("M-7").contains("측정 없음") && !row("M-7").contains("정상"), "{}", row("M-7"));
    assert!(row("M-8").contains("정상"), "{}", row("M-8"));
    let normal = user.page("/?risk=Normal").await;
    assert!(normal.contains("M-8 · DE") && !normal.contains("M-7 · DE"), "the list of Normal");
    let silent = user.page("/?state=blind").await;
    assert!(silent.contains("M-7 · DE") && !silent.contains("M-8 · DE"), "those not watched");
    assert!(user.page("/bearings/ulsan-1/M-7/DE").await.contains("측정이 멈춤"), "its page");
    plant.stop().await;
}
