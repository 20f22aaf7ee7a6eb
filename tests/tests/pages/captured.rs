//! Captured waveforms in a real browser: the pictures, one capture over another, the way from the
//! bearing.

use std::path::Path;

use pdm_shared::capture::{CaptureDocument, CaptureReason};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use pdm_store::{CaptureNote, Store};
use pdm_web::plant::{CaptureFound, CaptureRow};
use serde_json::json;
use uuid::Uuid;

use crate::browser::Browser;
use crate::plant::Plant;

/// The captures of [`Plant::with_documents`]: of an alarm, and a reference of the day before.
pub(crate) const ALARM: Uuid = Uuid::from_u128(0x0193_90a3_5b2a_7c31_9f00_4b6d_1f2a_77e1);
const REFERENCE: Uuid = Uuid::from_u128(0x0193_90a3_5b2a_7c31_9f00_4b6d_1f2a_77e2);
/// The page of the first.
pub(crate) const PAGE: &str =
    "/bearings/ulsan-1/P-101/DE/captures/019390a3-5b2a-7c31-9f00-4b6d1f2a77e1";

/// Puts two captures of an event's bearing into a folder and a store.
pub(crate) async fn put_captures(store: &Store, folder: &Path, event: &Event, now: Timestamp) {
    std::fs::create_dir_all(folder).expect("made");
    let text = include_str!("../../../config/examples/capture.json");
    let example: CaptureDocument = serde_json::from_str(text).expect("a document");
    for (id, reason, days, loudness) in
        [(ALARM, CaptureReason::Alarm, 0.0, 20.0), (REFERENCE, CaptureReason::Reference, 1.0, 0.0)]
    {
        let mut document = example.clone();
        document.capture_id = EventId(id);
        document.started_at = event.measured_at.plus_seconds(-10.0 - 86_400.0 * days);
        document.triggers.truncate(1);
        document.triggers[0].reason = reason;
        document.triggers[0].event_id = Some(event.event_id);
        let file = file(&document, loudness);
        document.file.bytes = file.len() as u64;
        std::fs::write(folder.join(format!("{id}.wav")), file).expect("written");
        let row = CaptureRow::new(event.key(), now, &document);
        let text = serde_json::to_string(&document).expect("json");
        let note = CaptureNote { key: event.key(), found: CaptureFound { row, document, text } };
        assert!(store.captures().note_capture(&note).await.expect("noted"));
    }
}

/// A struck outer race, or noise.
fn file(document: &CaptureDocument, loudness: f64) -> Vec<u8> {
    let mut file = b"RIFF\0\0\0\0WAVEfmt ".to_vec();
    file.extend_from_slice(&18_u32.to_le_bytes());
    file.extend_from_slice(&[3, 0, 1, 0]);
    file.extend_from_slice(&25_600_u32.to_le_bytes());
    file.extend_from_slice(&102_400_u32.to_le_bytes());
    file.extend_from_slice(&[4, 0, 32, 0, 0, 0]);
    file.extend_from_slice(b"data");
    file.extend_from_slice(&(4 * document.samples as u32).to_le_bytes());
    let mut noise = 1_u32;
    for i in 0..document.samples {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let since = (i as f64 / 25_600.0 * 107.36).fract() / 107.36;
        let ring = loudness * (-900.0 * since).exp() * (25_000.0 * since).sin();
        let value = ring + f64::from(noise >> 8) / f64::from(1 << 24) - 0.5;
        file.extend_from_slice(&(value as f32).to_le_bytes());
    }
    file
}

/// R-UI-1: from the bearing to its waveform; cursors, zoom and read-out as on the bearing's page;
/// plots side by side where there is room, below one another on a phone; the sound reference over
/// it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waveform_is_seen_with_the_reference_over_it() {
    let name = "a_waveform_is_seen_with_the_reference_over_it";
    let Some(browser) = Browser::start(name).await else { return };
    let plant = Plant::with_documents().await;
    browser.look(1280, false).await;
    crate::phone::enter(&browser, &plant, "/bearings/ulsan-1/P-101/DE").await;
    browser.until("the list", "return document.querySelector('#captures a') !== null").await;
    browser.click("#captures a").await;
    let drawn = "const all = [...document.querySelectorAll('.drawn .u-over')];
        return all.length === 5 && all.every((one) => one.clientWidth > 300 && one.clientHeight > \
        100)";
    browser.until("five plots", drawn).await;
    let places = "const at = (id) => document.querySelector(id).getBoundingClientRect();
        return Math.abs(at('#envelope').top - at('#cepstrum').top) < 2
            || Math.abs(at('#spectrum').top - at('#envelope').top) < 2";
    assert_eq!(browser.run(places).await, json!(true), "side by side");
    reads_and_zooms(&browser).await;
    browser.picture("capture-desk.png").await;
    let marked = "return document.querySelectorAll('#envelope line').length >= 8
        && document.querySelector('#waveform rect.window') !== null
        && [...document.querySelectorAll('a[download]')].length === 4
        && [...document.querySelectorAll('audio')].length === 2";
    assert_eq!(browser.run(marked).await, json!(true), "marks, the judged window, two sounds");
    browser.click("a[href*='?over=']").await;
    let over = "return document.querySelectorAll('.drawn path.over').length === 5";
    browser.until("the reference", over).await;
    browser.picture("capture-over.png").await;
    browser.until("five plots with it", drawn).await;
    browser.look(390, false).await;
    let below = "const at = (id) => document.querySelector(id).getBoundingClientRect();
        const tops = ['#waveform', '#spectrum', '#envelope', '#cepstrum', '#orders'].map((id) => \
        at(id).top);
        return tops.every((top, n) => n === 0 || top > tops[n - 1] + 100)
            && document.documentElement.scrollWidth <= innerWidth";
    browser.until("below one another", below).await;
    browser.picture("capture-phone.png").await;
    let complaints = browser.complaints().await;
    assert!(complaints.is_empty(), "{complaints:?}");
    plant.stop().await;
}

/// A line's button marks its harmonics, the keyboard reads values, and a part of the axis is drawn
/// from the samples.
async fn reads_and_zooms(browser: &Browser) {
    browser.run("document.querySelectorAll('.tools button[data-hz]')[1].click()").await;
    let cursor = "return Number(document.querySelector('input[name=fundamental]').value) > 100";
    assert_eq!(browser.run(cursor).await, json!(true), "BPFO in Hz");
    let keys = "const canvas = document.querySelector('#envelope .canvas'); canvas.focus();
        const press = (key) => canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: \
        true }));
        for (let n = 0; n < 5; n += 1) press('PageDown');
        return document.querySelector('#envelope .readout').textContent";
    let told = browser.run(keys).await;
    let told = told.as_str().unwrap_or_default();
    assert!(told.contains("Hz") && told.contains("(m/s²)²"), "{told}");
    let zoom = "const canvas = document.querySelector('#envelope .canvas');
        canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '+', bubbles: true }))";
    let asked = "return performance.getEntriesByType('resource')
        .some((one) => one.name.includes('plot=envelope') && one.name.includes('from='))";
    browser.run(zoom).await;
    browser.until("a part of the axis", asked).await;
}
