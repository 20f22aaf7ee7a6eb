//! The chat's page in a browser, with a stand-in for a language model and without one.

use std::time::Duration;

use pdm_harness::{ModelReply, ModelStandIn};
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::plant::Plant;
use crate::seen::{RULES, axe};

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

/// Looks up a bearing and a manual, waits, and answers.
fn looks_up_then_answers(wait: Duration) -> ModelStandIn {
    ModelStandIn::answering(move |request| {
        let messages = request["messages"].as_array().expect("messages");
        let asked = messages.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
        if messages[asked..].iter().any(|message| message["role"] == "tool") {
            std::thread::sleep(wait);
            let words = "P-101 DE: 경고 <b>x</b>. 교체를 계획하십시오.";
            return ModelReply::Calls(vec![(
                "final_answer".to_owned(),
                json!({ "answer": words }),
            )]);
        }
        ModelReply::Calls(vec![
            ("get_bearing".to_owned(), json!({ "equipment_id": "P-101", "bearing_id": "DE" })),
            ("search_equipment_manual".to_owned(), json!({ "query": "외륜 결함" })),
        ])
    })
}

/// Presses Tab until a script says that the focus is where it has to be.
async fn tab_to(browser: &Browser, what: &str, is_there: &str) {
    for _ in 0..60 {
        browser.press(TAB).await;
        if browser.run(&format!("const at = document.activeElement; return {is_there}")).await
            == json!(true)
        {
            return;
        }
    }
    panic!("{what} is not reached by Tab");
}

/// Types a question and sends it, by the keyboard alone.
async fn ask(browser: &Browser, question: &str) {
    tab_to(browser, "the question", "at.name === 'message'").await;
    browser.press(question).await;
    tab_to(browser, "the button", "at.matches('#ask button')").await;
    browser.press(ENTER).await;
}

#[expect(clippy::print_stdout, reason = "the figure of the run is printed")]
fn print(line: &str) {
    println!("{line}");
}

/// R-CHAT: by keyboard, a step is shown before the answer, steps open and close, texts are no
/// markup.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_by_keyboard_shows_its_steps_as_they_come_and_then_the_answer() {
    let name = "a_question_by_keyboard_shows_its_steps_as_they_come_and_then_the_answer";
    let Some(browser) = Browser::start(name).await else { return };
    let model = looks_up_then_answers(Duration::from_secs(3));
    let plant = Plant::with_model(&model).await;
    browser.open(&format!("{}/chat", plant.url)).await;
    browser
        .run(
            "window.seen = {}; const talk = document.querySelector('#talk');
            document.querySelector('#ask').addEventListener('submit', () => {
                window.seen.sent = performance.now(); }, true);
            new MutationObserver(() => {
                if (!window.seen.step && talk.querySelector('ol li')) {
                    window.seen.step = performance.now();
                    window.seen.early = !talk.innerText.includes('계획하십시오');
                }
                if (!window.seen.answer && talk.innerText.includes('계획하십시오')) {
                    window.seen.answer = performance.now();
                }
            }).observe(talk, { childList: true, subtree: true, characterData: true });",
        )
        .await;
    ask(&browser, "P-101 DE?").await;
    browser.until("the answer", "return window.seen.answer > 0").await;
    let seen = browser.run("return window.seen").await;
    assert_eq!(seen["early"], json!(true), "the step stands before the answer: {seen}");
    let after =
        |what: &str| seen[what].as_f64().unwrap_or(f64::NAN) - seen["sent"].as_f64().unwrap_or(0.0);
    let (step, answer) = (after("step"), after("answer"));
    print(&format!(
        "first step shown after {step:.0} ms (asked: at most 1000), answer after {answer:.0} ms \
         (the stand-in waits 3000)"
    ));

    // both kinds of summary open and close by Enter
    let open = "return [...document.querySelectorAll('#talk details')].map(one => one.open)";
    assert_eq!(browser.run(open).await, json!([false, false]), "collapsed at first");
    browser.run("document.querySelector('#talk').focus()").await;
    for opened in [json!([true, false]), json!([true, true])] {
        tab_to(&browser, "a summary", "at.matches('#talk summary')").await;
        browser.press(ENTER).await;
        assert_eq!(browser.run(open).await, opened);
    }
    let shown = browser.run("return document.querySelector('#talk pre').innerText").await;
    assert!(shown.as_str().is_some_and(|text| text.contains("P-101")), "{shown}");
    browser.press(ENTER).await;
    assert_eq!(browser.run(open).await, json!([true, false]), "closed again");
    let markup = browser.run("return document.querySelectorAll('#talk b, #talk img').length").await;
    assert_eq!(markup, json!(0), "texts are no markup");
    let focus = "return document.querySelector('textarea').value";
    assert_eq!(browser.run(focus).await, json!(""), "ready for the next question");
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    assert_eq!(model.violations(), Vec::<String>::new());
    plant.stop().await;
}

/// Returns the barriers of the page as it is now, on a phone and a screen, light and dark.
async fn barriers(browser: &Browser, axe: &str, what: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (width, dark) in [(320, false), (320, true), (1280, false), (1280, true)] {
        browser.look(width, dark).await;
        browser.run(axe).await;
        let found: Value = browser.run(RULES).await;
        let found = found.as_array().cloned().unwrap_or_default();
        wrong.extend(found.iter().map(|one| format!("{what} {width} {dark} {one}")));
        let wide =
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth";
        if browser.run(wide).await == json!(true) {
            wrong.push(format!("{what} {width} scrolls to the side"));
        }
    }
    wrong
}

/// WCAG 2.2 AA with an answer and its open steps, in both languages; and without a model.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chat_keeps_nobody_out_in_both_languages_and_themes_on_a_phone_and_a_screen() {
    let name = "the_chat_keeps_nobody_out_in_both_languages_and_themes_on_a_phone_and_a_screen";
    let Some(browser) = Browser::start(name).await else { return };
    let Some(axe) = axe(name) else { return };
    let model = looks_up_then_answers(Duration::ZERO);
    let (with, without) = (Plant::with_model(&model).await, Plant::open().await);
    let mut wrong = Vec::new();
    for plant in [&with, &without] {
        for language in ["ko", "en"] {
            browser.open(&format!("{}/chat", plant.url)).await;
            browser.run(&format!("document.cookie = 'pdm_language={language}; path=/'")).await;
            browser
                .open(&format!("{}/chat?site=ulsan-1&equipment=P-101&bearing=DE", plant.url))
                .await;
            assert_eq!(browser.run("return document.documentElement.lang").await, json!(language));
            ask(&browser, "P-101 DE?").await;
            browser
                .until("the answer", "return document.querySelector('#talk .quiet') !== null")
                .await;
            let open =
                "document.querySelectorAll('#talk details').forEach(one => { one.open = true; })";
            browser.run(open).await;
            wrong.extend(barriers(&browser, &axe, language).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // without a model the page says so
    let told = browser.run("return document.querySelector('#banner')?.innerText").await;
    assert!(told.as_str().is_some_and(|text| !text.is_empty()), "{told}");
    with.stop().await;
    without.stop().await;
}
