//! An agent that is killed while it makes room at `[store] max_bytes`: the file stays sound and
//! within its ceiling, and no open alarm goes.

use std::time::Duration;

use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use serde_json::json;

use crate::plant::{Gateway, Plant};

/// The smallest ceiling that is allowed.
const MOST_BYTES: u64 = 16 << 20;
/// Windows between two kills: 6 MB of text with their spectra.
const PORTION: u64 = 500;
const KILLS: u64 = 8;

/// A window that is judged Normal, with spectra as an anomaly or the hourly one has.
fn window(own: Gateway<'_>, n: u64) -> Event {
    let measured_at = own.event(0, true).measured_at.plus_seconds(60.0 * n as f64);
    let event_id = EventId::at(measured_at.unix_ms());
    let event = Event { measured_at, event_id, ..own.event(n, true) };
    let mut value = serde_json::to_value(event).expect("json");
    let lines: Vec<f64> = (0..800).map(|line| f64::from(line) * 0.000_123_4).collect();
    let spectrum = json!({ "df_hz": 1.25, "unit": "m/s2", "amplitude": lines });
    value["spectra"] = json!({ "envelope": spectrum, "acceleration": spectrum });
    serde_json::from_value(value).expect("an event")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_killed_at_its_ceiling_keeps_a_sound_file_and_every_open_alarm() {
    let test = "an_agent_that_is_killed_at_its_ceiling_keeps_a_sound_file_and_every_open_alarm";
    let store = format!("max_bytes = {MOST_BYTES}\n");
    let Some(mut plant) = Plant::shipped_with(test, &[("gw-01", "ulsan-1")], &store, "") else {
        return;
    };
    let own = Gateway { site: "ulsan-1", name: "gw-01", bearing: "DE", epoch: None };
    let alarmed = Gateway { bearing: "NDE", ..own };
    let mut peer = plant.client("gw-01", &[]).await;
    assert!(peer.send(&alarmed.event(1, false), Some("gw-01")).await, "the alarm's window");
    let open = "SELECT count(*) FROM episodes WHERE closed_at_ms IS NULL AND bearing_id = 'NDE'";
    plant.until_figure("the alarm", open, 1).await;
    for kill in 0..KILLS {
        let windows = (0..PORTION).map(|n| window(own, 2 + kill * PORTION + n)).map(|event| {
            let topic = format!("pdm/v1/{}/event/gw-01", event.key());
            (topic, serde_json::to_string(&event).expect("json"))
        });
        peer.pour(windows).await;
        // at another point of its work each time
        tokio::time::sleep(Duration::from_millis(1500 + 700 * kill)).await;
        plant.stop_agent();
        plant.start_agent_again();
    }
    let last = "SELECT coalesce(max(sequence), 0) FROM events";
    let sent = i64::try_from(1 + KILLS * PORTION).expect("small");
    plant.until_figure("the last window", last, sent).await;
    // the file keeps the length that it had, and what was deleted is written again
    let in_use = "SELECT (page_count - freelist_count) * page_size
                  FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
    let most = i64::try_from(MOST_BYTES).expect("small");
    let mut used = Vec::new();
    for _ in 0..300 {
        used = plant.figures(in_use).await;
        if used[0] <= most {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(used[0] <= most, "{used:?} bytes in use");
    assert_eq!(plant.figures(open).await, [1], "the open alarm stays");
    let its_window = "SELECT count(*) FROM events WHERE bearing_id = 'NDE'";
    assert_eq!(plant.figures(its_window).await, [1], "and its window");
    let sound =
        "SELECT CASE integrity_check WHEN 'ok' THEN 1 ELSE 0 END FROM pragma_integrity_check";
    assert_eq!(plant.figures(sound).await, [1], "a sound file");
    let windows = plant.figures("SELECT count(*) FROM events").await;
    assert!(windows[0] < sent, "room was made: {windows:?} of {sent}");
}
