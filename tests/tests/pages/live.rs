//! Tests the conditions for how long a browser on a weak machine is busy, without timing it: a live
//! update exchanges the elements that changed and leaves the others in place, a page of the fleet
//! holds a bounded number of rows, and scripts and styles have a bounded weight. `tests/run speed`
//! prints the times.

use std::collections::BTreeSet;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::browser::Browser;
use crate::plant::{Plant, client};

/// R-UI-1: of three bearings one is measured anew. Its row alone is another element afterwards:
/// where the others, the heading or the table were exchanged too, a screen reader would lose its
/// place every two seconds, a selection would be gone, and a browser would lay the whole page out
/// again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_update_exchanges_the_row_that_changed_alone() {
    let name = "a_live_update_exchanges_the_row_that_changed_alone";
    let Some(browser) = Browser::start(name).await else { return };
    let plant = Plant::open().await;
    plant.measure("P-102", &["DE", "NDE"], 21).await;
    browser.open(&plant.url).await;
    let three = "return document.querySelectorAll('#bearings tbody tr').length === 3";
    browser.until("three bearings", three).await;
    let live =
        "const live = document.querySelector('#live'); return live.textContent === live.dataset.on";
    browser.until("the live stream", live).await;
    // what is told later than the last refresh may still come: marks are made anew until they stay
    let settled = "const all = [...document.querySelectorAll('main, h1, table, tbody, tbody tr')];
        const is = all.every((one) => one.isKept); for (const one of all) one.isKept = true;
        return new Promise((done) => setTimeout(() => done(is && all.every((one) => \
        one.isConnected)), 3000));";
    browser.until("a page that rests", settled).await;
    plant.measure("P-102", &["NDE"], 23).await;
    let fresh = "const fresh = [...document.querySelectorAll('tbody tr')].filter((row) => \
        !row.isKept);
        return fresh.length === 0 ? false : fresh.map((row) => \
        row.querySelector('a').textContent);";
    let fresh = browser.until("the changed row", fresh).await;
    assert_eq!(fresh, json!(["P-102 · NDE"]));
    let kept = "return ['main', 'h1', 'table', 'tbody'].every((one) => \
        document.querySelector(one).isKept)";
    assert_eq!(browser.run(kept).await, json!(true), "what stands around the rows stays");
    let local = "const times = [...document.querySelectorAll('tbody time')];
        return times.length === 3 && times.every((time) => time.dateTime.endsWith('Z') && \
        /^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d/.test(time.textContent))";
    assert_eq!(browser.run(local).await, json!(true), "times are those of the plant's clock");
    let complaints = browser.complaints().await;
    assert!(complaints.is_empty(), "{complaints:?}");
    plant.stop().await;
}

/// A page with its slashes as they are: templates write them as references.
fn plain(page: &str) -> String {
    page.replace("&#x2f;", "/")
}

/// R-UI-1: the page of a fleet holds a hundred rows of at most thirteen elements, however large the
/// fleet is, and leads to the rest without a script.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_the_fleet_holds_a_hundred_rows_and_leads_to_the_rest() {
    let plant = Plant::open().await;
    let names: Vec<String> = (0..119).map(|number| format!("B{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    plant.measure("P-103", &names, 21).await;
    let page = async |address: &str| {
        let answer = client().get(format!("{}{address}", plant.url)).send().await.expect("answers");
        plain(&answer.text().await.expect("text"))
    };
    let first = page("/").await;
    let (_, table) = first.split_once("<tbody>").expect("a table");
    let (rows, after) = table.split_once("</tbody>").expect("its end");
    assert_eq!(rows.matches("<tr").count(), 100);
    let elements = rows.matches('<').count() - rows.matches("</").count();
    assert!(elements <= 13 * 100, "{elements} elements in a hundred rows");
    assert!(after.contains("rel=\"next\" href=\"/?q=&amp;page=2\""), "{after}");
    let second = page("/?q=&page=2").await;
    assert_eq!(second.matches("<th scope=\"row\">").count(), 20, "of 120 bearings");
    plant.stop().await;
}

/// R-AGENT-10: what the heaviest page loads beside itself, as a proxy packs it. Fonts come where a
/// device has none, and are kept for a year.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_and_styles_of_a_bearings_page_weigh_at_most_60_kb() {
    let plant = Plant::open().await;
    let text = async |address: &str| {
        let answer = client().get(format!("{}{address}", plant.url)).send().await.expect("answers");
        assert!(answer.status().is_success(), "{address}");
        answer.text().await.expect("text")
    };
    let page = plain(&text("/bearings/ulsan-1/P-101/DE").await);
    let loaded = page.split('"').filter(|part| part.starts_with("/assets/"));
    let loaded: BTreeSet<&str> = loaded.collect();
    // seven scripts and styles, and the icon
    assert_eq!(loaded.len(), 8, "{loaded:?}");
    let mut bytes = 0;
    let mut counted: BTreeSet<String> = loaded.iter().map(|one| (*one).to_owned()).collect();
    let mut open: Vec<String> = counted.iter().cloned().collect();
    while let Some(address) = open.pop() {
        let file = text(&address).await;
        // a file that another one imports weighs, too
        let folder = address.rsplit_once('/').map_or("", |(folder, _)| folder);
        for line in file.lines().filter(|line| line.starts_with("import ")) {
            let name = line.rsplit("'./").next().and_then(|rest| rest.split('\'').next());
            let imported = format!("{folder}/{}", name.expect("a file beside it"));
            if counted.insert(imported.clone()) {
                open.push(imported);
            }
        }
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(file.as_bytes()).expect("packed");
        bytes += packed.finish().expect("packed").len();
    }
    assert!(bytes <= 60_000, "{bytes} bytes");
    plant.stop().await;
}
