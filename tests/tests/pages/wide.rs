//! Pages on what people have before them: two screens' width, a window at 200 %, a sheet of paper,
//! a bad line.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::phone::{TOO_SMALL, enter};
use crate::plant::Plant;

const PAGE: &str = "/bearings/ulsan-1/P-101/DE";

/// What lies beyond the page's width, or lies under the header.
const BEYOND: &str = r"
    const width = document.documentElement.clientWidth;
    const seen = (e) => e.offsetParent !== null;
    const scrolls = (e) => e.closest('.wide, pre, .u-wrap, .canvas, svg') !== null;
    const all = [...document.querySelectorAll('main *')].filter(seen).filter((e) => !scrolls(e));
    const wide = all.filter((e) => e.getBoundingClientRect().right > width + 1);
    const told = wide.map((e) => `${e.tagName} ${e.className}`);
    const scroll = document.documentElement.scrollWidth > width;
    return [...told.slice(0, 5), ...(scroll ? ['the page scrolls to the side'] : [])];
";

/// The address of the work order that `/work` lists first.
async fn first_order(browser: &Browser) -> String {
    browser.until("the work", "return document.querySelector('.card') !== null").await;
    let order = "return document.querySelector('.card a[href^=\"/work/\"]').getAttribute('href')";
    browser.run(order).await.as_str().expect("an order").to_owned()
}

/// R-UI-1: trend and spectrum stand side by side on 2,560 px, in nearly all of the width.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_five_hundred_pixels_are_used() {
    let Some(browser) = Browser::start("two_thousand_five_hundred_pixels_are_used").await else {
        return;
    };
    let plant = Plant::with_documents().await;
    enter(&browser, &plant, "/work").await;
    let order = first_order(&browser).await;
    browser.look(2560, false).await;
    for (number, page) in [PAGE, "/", &order, "/work", "/episodes"].into_iter().enumerate() {
        browser.open(&format!("{}{page}", plant.url)).await;
        if page == PAGE {
            let drawn = "return document.querySelector('#trend canvas')?.width > 600
                && document.querySelector('#spectrum canvas')?.width > 600";
            browser.until("the plots", drawn).await;
            let beside = "const [a, b] = ['#trend', '#spectrum'].map((one) => \
                document.querySelector(one).getBoundingClientRect());
                return [a.width + b.width, Math.abs(a.top - b.top)]";
            let beside = browser.run(beside).await;
            assert!(beside[0].as_f64().expect("px") > 2200.0, "{beside}");
            assert!(beside[1].as_f64().expect("px") < 2.0, "one below the other: {beside}");
        }
        browser.picture(&format!("wide-{number}.png")).await;
        assert_eq!(browser.run(BEYOND).await, json!([]), "{page}");
    }
    plant.stop().await;
}

/// R-UI-1: at 200 % nothing is cut off, also in forms that are folded out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_cut_off_at_two_hundred_percent() {
    let Some(browser) = Browser::start("nothing_is_cut_off_at_two_hundred_percent").await else {
        return;
    };
    let plant = Plant::with_documents().await;
    enter(&browser, &plant, "/work").await;
    let order = first_order(&browser).await;
    for (width, scale) in [(640, 2.0), (320, 2.0)] {
        browser.zoom(width, scale).await;
        for (number, page) in [PAGE, "/", &order, "/work", "/episodes", "/relearning", "/duty"]
            .into_iter()
            .enumerate()
        {
            browser.open(&format!("{}{page}", plant.url)).await;
            browser
                .run("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
                .await;
            browser.picture(&format!("zoom-{width}-{number}.png")).await;
            assert_eq!(browser.run(BEYOND).await, json!([]), "{width} {page}");
            let small = browser.run(TOO_SMALL).await;
            let small = small.as_array().cloned().unwrap_or_default();
            // an open menu is no header that covers
            let small: Vec<Value> =
                small.into_iter().filter(|one| !one.to_string().contains("header is")).collect();
            assert!(width > 400 || small.is_empty(), "{width} {page}: {small:?}");
        }
    }
    plant.stop().await;
}

/// R-UI-1: a printed page has neither forms nor what only a screen can do, and nothing beyond its
/// edge.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_printed_page_has_its_text_within_its_edges() {
    let Some(browser) = Browser::start("a_printed_page_has_its_text_within_its_edges").await else {
        return;
    };
    let plant = Plant::with_documents().await;
    enter(&browser, &plant, "/work").await;
    let order = first_order(&browser).await;
    for (number, page) in [PAGE, "/", &order, "/work", "/labels"].into_iter().enumerate() {
        browser.open(&format!("{}{page}", plant.url)).await;
        browser.paper().await;
        browser.picture(&format!("print-{number}.png")).await;
        assert_eq!(browser.run(BEYOND).await, json!([]), "{page}");
        let screen =
            "return [...document.querySelectorAll('header, nav, button, select, form, .tools')]
            .filter((e) => e.offsetParent !== null).map((e) => e.outerHTML.slice(0, 80))";
        assert_eq!(browser.run(screen).await, json!([]), "{page}");
        browser.look(1280, false).await;
    }
    plant.stop().await;
}

/// Longest time until a bearing's page is complete, ms, on a line of 400 kbit/s and 400 ms.
const COMPLETE_MS: f64 = 5000.0;

/// R-UI-1: a bearing's page with its plots is complete within five seconds on a bad line, from an
/// empty cache. The font of Korean letters is no part of it: it is loaded where a machine has none,
/// and the text stands before it comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bearings_page_is_complete_within_five_seconds_on_a_bad_line() {
    let name = "a_bearings_page_is_complete_within_five_seconds_on_a_bad_line";
    let Some(browser) = Browser::start(name).await else { return };
    let plant = Plant::with_documents().await;
    browser.look(390, false).await;
    enter(&browser, &plant, "/work").await;
    first_order(&browser).await;
    browser.slow_line(400.0, 400.0).await;
    browser.open(&format!("{}{PAGE}", plant.url)).await;
    let drawn = "return document.querySelector('#trend canvas')?.width > 100
        && document.querySelector('#spectrum canvas')?.width > 100";
    browser.until("the plots", drawn).await;
    let times = browser
        .run(
            "const all = performance.getEntriesByType('resource').filter((one) => \
             !/woff2|\\/live/.test(one.name));
             const [page] = performance.getEntriesByType('navigation');
             const paint = performance.getEntriesByName('first-contentful-paint')[0];
             return [paint?.startTime ?? 0, page.domContentLoadedEventEnd, \
             Math.max(...all.map((one) => one.responseEnd)), \
             all.reduce((sum, one) => sum + one.transferSize, page.transferSize)]",
        )
        .await;
    println!("first paint, document, last answer (ms), bytes: {times}");
    let last = times[2].as_f64().expect("ms");
    assert!(last < COMPLETE_MS, "{times}");
    plant.stop().await;
}
