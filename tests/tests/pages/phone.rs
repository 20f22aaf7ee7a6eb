//! The pages of a technician on a phone, 360 px wide, logged in, in a real browser.

use serde_json::json;

use crate::browser::Browser;
use crate::plant::{PASSWORD, Plant};

/// What is too small for a gloved finger or beyond the screen, of a page.
const TOO_SMALL: &str = r"
    const seen = (e) => e.offsetParent !== null && getComputedStyle(e).visibility !== 'hidden';
    const all = [...document.querySelectorAll('button, summary, select, nav a, .choices a, .tile a, a.tap, input:not([type=hidden]):not([type=radio]):not([type=checkbox])')];
    const small = all.filter(seen).filter((e) => e.getBoundingClientRect().height < 43.5).map((e) => e.outerHTML.slice(0, 120));
    const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['the page scrolls to the side'] : [];
    const head = document.querySelector('header').getBoundingClientRect().height;
    return [...small, ...wide, ...(head > 120 ? [`the header is ${head} px high`] : [])];
";

/// D2, D4: the header leaves room, everything to press is large enough, a work order is a card with the machine
/// above its form, and what was recorded is said and undone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_technician_works_on_a_phone_without_scrolling_sideways() {
    let name = "a_technician_works_on_a_phone_without_scrolling_sideways";
    let Some(browser) = Browser::start(name).await else { return };
    let plant = Plant::with_users().await;
    browser.look(360, false).await;
    browser.open(&format!("{}/login?to=/work", plant.url)).await;
    for (field, text) in [("name", "technician"), ("password", PASSWORD)] {
        browser.click(&format!("[name={field}]")).await;
        browser.press(text).await;
    }
    browser.click("form button.main").await;
    browser.until("the work", "return document.querySelector('.card') !== null").await;
    for (number, page) in
        ["/", "/work", "/episodes", "/bearings/ulsan-1/P-101/DE", "/work?state=all", "/no/such"]
            .into_iter()
            .enumerate()
    {
        browser.open(&format!("{}{page}", plant.url)).await;
        browser.picture(&format!("phone-{number}.png")).await;
        assert_eq!(browser.run(TOO_SMALL).await, json!([]), "{page}");
    }
    browser.open(&format!("{}/work", plant.url)).await;
    browser.click(".card details summary").await;
    let inside = "const card = document.querySelector('.card');
        const box = (e) => e.getBoundingClientRect();
        const [head, send] = [box(card.querySelector('h2')), box(card.querySelector('button.main'))];
        return head.bottom <= send.top && send.left >= 0 && send.right <= innerWidth
            && card.querySelector('form').innerText.includes('P-101')";
    assert_eq!(browser.run(inside).await, json!(true), "the machine above its form");
    browser.click(".card form textarea").await;
    browser.press("cage broken").await;
    browser.picture("phone-form.png").await;
    browser.click(".card form button.main").await;
    let told = "return document.querySelector('#recorded')?.innerText.includes('cage broken')";
    browser.until("what was recorded", told).await;
    browser.picture("phone-recorded.png").await;
    browser.click("#recorded form button").await;
    let undone = "return document.querySelector('#recorded') !== null
        && document.querySelector('#recorded form') === null
        && document.querySelector('.card form') !== null";
    browser.until("the work again", undone).await;
    browser.look(1440, false).await;
    for (number, page) in ["/", "/work", "/bearings/ulsan-1/P-101/DE"].into_iter().enumerate() {
        browser.open(&format!("{}{page}", plant.url)).await;
        browser.picture(&format!("desk-{number}.png")).await;
    }
    // a range of the trend is drawn, and its choice draws another one
    let drawn = "return document.querySelector('#trend canvas')?.width > 100";
    browser.until("the trend", drawn).await;
    browser
        .run("const r = document.querySelector('#trend select[name=range]'); r.value = 'day'; r.dispatchEvent(new Event('change')); return true")
        .await;
    browser.until("the trend of a day", drawn).await;
    let complaints = browser.complaints().await;
    let unexpected = complaints.iter().filter(|one| !one.contains("404"));
    assert_eq!(unexpected.count(), 0, "{complaints:?}");
    plant.stop().await;
}
