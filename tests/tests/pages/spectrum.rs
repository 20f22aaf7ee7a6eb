//! Spectra laid over each other on the page of a bearing.

use serde_json::json;

use crate::browser::Browser;
use crate::plant::Plant;
use crate::seen::Demo;

/// Chooses what is laid over the last spectrum.
fn choose(name: &str, value: &str) -> String {
    format!(
        "const one = document.querySelector('#spectrum [name={name}]'); one.value = '{value}';
         one.dispatchEvent(new Event('change')); return true"
    )
}

const TOLD: &str = "return document.querySelector('#spectrum .beside').textContent";
/// Lines that the plot's legend names: the axis, the last spectrum, and what lies over it.
const DRAWN: &str = "return document.querySelectorAll('#spectrum .u-legend .u-series').length";

/// R-UI-1: the baseline and a spectrum of another date lie over the last one, named with their time
/// and speed; what is not kept is said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_baseline_and_another_date_are_laid_over_the_last_spectrum() {
    let name = "the_baseline_and_another_date_are_laid_over_the_last_spectrum";
    let Some(browser) = Browser::start(name).await else { return };
    let demo = Demo::start().await;
    browser.look(1280, false).await;
    browser.open(&format!("{}/bearings/demo/P-101/DE", demo.url)).await;
    browser.run("document.cookie = 'pdm_language=en; path=/'; return true").await;
    browser.open(&format!("{}/bearings/demo/P-101/DE", demo.url)).await;
    browser.until("the spectrum", &format!("{DRAWN} === 2")).await;
    browser.run(&choose("beside", "baseline")).await;
    let is_told = "return document.querySelector('#spectrum \
        .beside').textContent.includes('Spectrum to compare: demo/P-101/DE')";
    browser.until("the baseline", is_told).await;
    assert_eq!(browser.run(DRAWN).await, json!(3), "both are drawn");
    let baseline = browser.run(TOLD).await;
    assert!(baseline.as_str().expect("text").contains("rpm. Now: "), "{baseline}");
    browser.run("document.querySelector('#spectrum').scrollIntoView(); return true").await;
    browser.picture("baseline.png").await;
    // the last spectrum up to now is the last one; before the first one there is none
    browser.run(&choose("beside", "date")).await;
    browser.run(&choose("beside_at", "2096-01-01T00:00")).await;
    browser.until("the date", is_told).await;
    let date = browser.run(TOLD).await;
    assert_ne!(date, baseline, "another spectrum");
    browser.run(&choose("beside_at", "1996-01-01T00:00")).await;
    let missing = "return document.querySelector('#spectrum .beside').textContent === 'No such \
        spectrum is kept.'";
    browser.until("that there is none", missing).await;
    assert_eq!(browser.run(DRAWN).await, json!(2));
    browser.run(&choose("beside", "")).await;
    assert_eq!(browser.run(TOLD).await, json!(""));
    let complaints = browser.complaints().await;
    let unexpected = complaints.iter().filter(|one| !one.contains("404"));
    assert_eq!(unexpected.count(), 0, "{complaints:?}");
}

/// R-UI-1: the bearings of the site are offered, those of the machine first; one without spectra
/// says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_bearing_is_laid_over_the_last_spectrum() {
    let name = "another_bearing_is_laid_over_the_last_spectrum";
    let Some(browser) = Browser::start(name).await else { return };
    let plant = Plant::open().await;
    plant.measure("P-000", &["X"], 21).await;
    plant.measure("P-101", &["NDE"], 22).await;
    browser.look(390, true).await;
    browser.open(&format!("{}/bearings/ulsan-1/P-000/X", plant.url)).await;
    let none = "return document.querySelector('#spectrum [name=beside]')?.disabled === true";
    browser.until("a bearing without spectra", none).await;
    browser.open(&format!("{}/bearings/ulsan-1/P-101/DE", plant.url)).await;
    browser.until("the spectrum", &format!("{DRAWN} === 2")).await;
    let offered = "return [...document.querySelectorAll('[name=beside_bearing] option')].map((one) \
        => one.textContent)";
    assert_eq!(browser.run(offered).await, json!(["P-101 · NDE 급수 펌프 1", "P-000 · X"]));
    browser.run(&choose("beside", "bearing")).await;
    let told = "return document.querySelector('#spectrum .beside').textContent.length > 0";
    browser.until("that it has none", told).await;
    let kept = browser.run("return location.hash.includes('beside=bearing')").await;
    assert_eq!(kept, json!(true), "the comparison stands in the address");
    assert_eq!(browser.run(DRAWN).await, json!(2));
    let wide = "return document.documentElement.scrollWidth > document.documentElement.clientWidth";
    assert_eq!(browser.run(wide).await, json!(false));
    browser.picture("beside-phone.png").await;
    plant.stop().await;
}
