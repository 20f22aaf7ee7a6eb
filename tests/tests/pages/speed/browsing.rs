//! A fleet of a thousand bearings in a real browser: first paint, the longest task at a quarter of
//! the CPU's speed, eight tabs, a plot of 100,000 points, and the weight of scripts and styles.

#![expect(clippy::print_stdout, reason = "the figures of the run are printed")]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Large;
use crate::browser::Browser;
use crate::plant::client;

/// Collects the tasks of more than 50 ms (Long Tasks API), those before this script included.
const WATCH: &str = "window.longTasks = []; new PerformanceObserver(list => {
    for (const one of list.getEntries()) window.longTasks.push(one.duration); })
    .observe({ type: 'longtask', buffered: true });";
const PAINT: &str = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime";
/// Draws 100,000 points with the vendored uPlot; the time until the frame after.
const PLOT: &str = "const x = [], y = []; for (let i = 0; i < 100000; i += 1) { x.push(i); \
    y.push(Math.sin(i / 300)); }
    const at = performance.now(); const root = document.createElement('div'); \
    document.body.append(root);
    new uPlot({ width: 900, height: 300, series: [{}, { stroke: 'red' }], scales: { x: { time: \
    false } } }, [x, y], root);
    return new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now() \
    - at))));";

/// R-AGENT-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "figures of a browser: tests/run speed"]
async fn a_fleet_of_a_thousand_in_a_browser() {
    let Some(browser) = Browser::start("a_fleet_of_a_thousand_in_a_browser").await else { return };
    let plant = Large::start(None, false).await;
    let mut paints = Vec::new();
    for _ in 0..5 {
        browser.open(&plant.url).await;
        let paint = browser.until("the first paint", PAINT).await;
        paints.push(paint.as_f64().expect("ms"));
    }
    println!("first contentful paint of five loads: {paints:.0?} ms");
    let stop = CancellationToken::new();
    let feeding = plant.feed(stop.clone());
    browser.throttle(4.0).await;
    browser.open(&plant.url).await;
    browser.run(WATCH).await;
    tokio::time::sleep(std::time::Duration::from_secs(20)).await;
    let tasks = browser.run("return window.longTasks").await;
    println!("tasks over 50 ms in 20 s, a quarter of the CPU's speed: {tasks}");
    browser.throttle(1.0).await;
    tabs(&browser, &plant.url).await;
    browser.open(&format!("{}/bearings/ulsan-1/P-000/B0", plant.url)).await;
    browser.until("the plot", "return typeof uPlot === 'function'").await;
    println!("100,000 points by uPlot: {:.0} ms", browser.run(PLOT).await.as_f64().expect("ms"));
    weight(&browser, &plant.url).await;
    stop.cancel();
    feeding.await.expect("fed");
    plant.stop().await;
}

/// Eight tabs, each of which says that it is live.
async fn tabs(browser: &Browser, url: &str) {
    let first = browser.window().await;
    let mut windows = vec![first.clone()];
    for _ in 1..8 {
        windows.push(browser.tab().await);
        browser.open(url).await;
    }
    let mut live = 0;
    for window in &windows {
        browser.turn_to(window).await;
        browser
            .until("the live stream", "return document.querySelector('#live').textContent !== ''")
            .await;
        let on = "const live = document.querySelector('#live'); return live.textContent === \
            live.dataset.on";
        live += u32::from(browser.run(on).await == json!(true));
    }
    println!("tabs that are open and live: {live} of {}", windows.len());
    for window in &windows[1..] {
        browser.turn_to(window).await;
        browser.close().await;
    }
    browser.turn_to(&first).await;
}

/// Measures the scripts and styles that the heaviest page loads.
async fn weight(browser: &Browser, url: &str) {
    let loaded = "return performance.getEntriesByType('resource').map(one => one.name).filter(one \
        => /\\/assets\\/.*\\.(js|css)$/.test(one))";
    let loaded = browser.run(loaded).await;
    let mut bytes = 0;
    for one in loaded.as_array().expect("addresses").iter().filter_map(Value::as_str) {
        assert!(one.starts_with(url), "{one}");
        let text = client().get(one).send().await.expect("answers").bytes().await.expect("read");
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&text).expect("packed");
        bytes += packed.finish().expect("packed").len();
    }
    println!("scripts and styles of the bearing's page, gzip: {:.1} kB", bytes as f64 / 1000.0);
}
