//! The pages of a technician on a phone, 360 px wide, logged in, in a real browser.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::browser::Browser;
use crate::plant::{PASSWORD, Plant};
use crate::seen::{RULES, axe};

/// Finds the elements of a page that are too small for a gloved finger or lie beyond the screen.
pub(crate) const TOO_SMALL: &str = r"
    const seen = (e) => e.offsetParent !== null && getComputedStyle(e).visibility !== 'hidden';
    const all = [...document.querySelectorAll('button, summary, select, nav a, .choices a, .tile a, a.tap, input:not([type=hidden]):not([type=radio]):not([type=checkbox])')];
    const small = all.filter(seen).filter((e) => e.getBoundingClientRect().height < 43.5).map((e) => e.outerHTML.slice(0, 120));
    const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['the page scrolls to the side'] : [];
    const head = document.querySelector('header').getBoundingClientRect().height;
    return [...small, ...wide, ...(head > 120 ? [`the header is ${head} px high`] : [])];
";

/// Answers what was found, which a report on urgent work asks for.
pub(crate) const FOUND: &str = "const found = \
    document.querySelector('.card form select[name=verdict]');
    if (!found) return false;
    found.value = 'right';
    found.dispatchEvent(new Event('input', { bubbles: true }));
    return true";

/// D2, D4: the header leaves room, everything to press is large enough, a work order is a card with
/// the machine above its form, and what was recorded is said and undone.
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
        const [head, send] = [box(card.querySelector('h2')), \
        box(card.querySelector('button.main'))];
        return head.bottom <= send.top && send.left >= 0 && send.right <= innerWidth
            && card.querySelector('form').innerText.includes('P-101')";
    assert_eq!(browser.run(inside).await, json!(true), "the machine above its form");
    browser.run(FOUND).await;
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
        .run(
            "const r = document.querySelector('#trend select[name=range]'); r.value = 'day'; \
            r.dispatchEvent(new Event('change')); return true",
        )
        .await;
    browser.until("the trend of a day", drawn).await;
    let complaints = browser.complaints().await;
    let unexpected = complaints.iter().filter(|one| !one.contains("404"));
    assert_eq!(unexpected.count(), 0, "{complaints:?}");
    plant.stop().await;
}

/// Logs the technician in on the way to a page.
pub(crate) async fn enter(browser: &Browser, plant: &Plant, to: &str) {
    browser.open(&format!("{}/login?to={to}", plant.url)).await;
    for (field, text) in [("name", "technician"), ("password", PASSWORD)] {
        browser.click(&format!("[name={field}]")).await;
        browser.press(text).await;
    }
    browser.click("form button.main").await;
}

/// A work order is done with the thumb: lockout is ticked and stays ticked, a photo of the phone is
/// added and shown, one that is too large is told before it is sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_work_order_is_done_on_a_phone_with_a_photo() {
    let name = "a_work_order_is_done_on_a_phone_with_a_photo";
    let Some(browser) = Browser::start(name).await else { return };
    let plant = Plant::with_documents().await;
    browser.look(390, false).await;
    enter(&browser, &plant, "/work").await;
    browser.until("the work", "return document.querySelector('.card') !== null").await;
    browser.click(".card a[href^='/work/']").await;
    browser.until("the order", "return document.querySelector('#loto-head') !== null").await;
    assert_eq!(browser.run(TOO_SMALL).await, json!([]), "a gloved finger");
    browser.picture("phone-order.png").await;
    browser.click("[data-ticks*=loto] input").await;
    let again = browser.run("return location.href").await;
    browser.open(again.as_str().expect("an address")).await;
    let ticked = "return document.querySelector('[data-ticks*=loto] input').checked";
    assert_eq!(browser.run(ticked).await, json!(true), "a tick stays on the phone");
    let drawn = "const c = document.createElement('canvas'); c.width = 800; c.height = 600;
        const d = c.getContext('2d'); d.fillStyle = '#0a58ca'; d.fillRect(0, 0, 800, 600);
        d.fillStyle = '#fff'; d.fillRect(200, 150, 400, 300);
        return ['jpeg', 'png', 'webp'].map((kind) => c.toDataURL(`image/${kind}`).split(',')[1])";
    let photos = browser.run(drawn).await;
    let photos = photos.as_array().expect("three kinds");
    for (number, photo) in photos.iter().enumerate() {
        // the name says nothing: the content is looked at
        let path = plant.folder().join(format!("{number}.jpg"));
        let bytes = STANDARD.decode(photo.as_str().expect("text")).expect("Base64");
        std::fs::write(&path, bytes).expect("written");
        browser.choose_file("input[type=file]", &path).await;
        browser.click("form[data-too-large] button").await;
        let seen = format!(
            "const all = [...document.querySelectorAll('.photos img')]; \
             all.at(-1)?.scrollIntoView();
             return all.length === {} && all.every((one) => one.naturalWidth === 800)",
            number + 1
        );
        browser.until("the photo", &seen).await;
    }
    browser.picture("phone-photos.png").await;
    let large = plant.folder().join("large.jpg");
    std::fs::write(&large, vec![0; 13 * 1024 * 1024]).expect("written");
    browser.choose_file("input[type=file]", &large).await;
    browser.click("form[data-too-large] button").await;
    let told = "return document.querySelector('form[data-too-large] \
        output').textContent.includes('12 MB')";
    browser.until("the sentence", told).await;
    let complaints = browser.complaints().await;
    assert!(complaints.is_empty(), "{complaints:?}");
    plant.stop().await;
}

/// R-UI-1: what was made for the floor keeps nobody out, on a phone and a screen, in both languages
/// and themes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_duty_labels_search_and_statistics_keep_nobody_out() {
    let name = "orders_duty_labels_search_and_statistics_keep_nobody_out";
    let Some(browser) = Browser::start(name).await else { return };
    let Some(axe) = axe(name) else { return };
    let plant = Plant::with_documents().await;
    enter(&browser, &plant, "/work").await;
    browser.until("the work", "return document.querySelector('.card') !== null").await;
    let order = "return document.querySelector('.card a[href^=\"/work/\"]').getAttribute('href')";
    let order = browser.run(order).await.as_str().expect("an order").to_owned();
    let pages = [
        order.as_str(),
        "/episodes",
        "/?element=outer_race",
        "/work",
        "/bearings/ulsan-1/P-101/DE",
        crate::captured::PAGE,
        "/duty",
        "/labels",
        "/statistics",
        "/search?q=6205",
        "/knowledge/EM-06",
    ];
    let mut wrong = Vec::new();
    for language in ["ko", "en"] {
        browser.run(&format!("document.cookie = 'pdm_language={language}; path=/'")).await;
        for (width, dark) in [(320, false), (390, true), (1280, false)] {
            browser.look(width, dark).await;
            for page in pages {
                browser.open(&format!("{}{page}", plant.url)).await;
                browser.run(&axe).await;
                let found = browser.run(RULES).await;
                let found = found.as_array().cloned().unwrap_or_default();
                wrong.extend(found.iter().map(|one| format!("{language} {width} {page} {one}")));
                let small = browser.run(TOO_SMALL).await;
                let small = small.as_array().cloned().unwrap_or_default();
                let small = small.iter().filter(|_| width < 1000);
                wrong.extend(small.map(|one| format!("{language} {width} {page} {one}")));
                let file =
                    page.trim_start_matches('/').split(['/', '?']).next().unwrap_or_default();
                browser.picture(&format!("{file}-{language}-{width}.png")).await;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let complaints = browser.complaints().await;
    assert!(complaints.is_empty(), "{complaints:?}");
    plant.stop().await;
}
