//! The state after an outage: a spool full of events of healthy bearings.

use std::path::Path;
use std::sync::Arc;

use pdm_edge::spool::{Batch, Limits, Spool, SpoolSettings};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;

/// Bytes that the spool may hold: more than any requested number of events takes.
pub(crate) const MAX_BYTES: u64 = 64 << 30;

// a healthy example: the benchmark measures storing, not notifying
const EXAMPLE: &str = include_str!("../../../config/examples/event-healthy.json");
const BEARINGS: u64 = 40;
/// Events of one commit: a million events then need two hundred waits for the disk.
const AT_ONCE: usize = 5000;

/// Fills the spool of the gateway at `site` that is started next. Events are one second apart, and
/// the last one is now.
pub(crate) async fn fill(path: &Path, (site, gateway): (&str, &str), events: u64) {
    let settings = SpoolSettings {
        path: path.to_owned(),
        limits: Limits { max_bytes: MAX_BYTES, ..Limits::default() },
        await_receipt: true,
    };
    let gateway = gateway.parse().expect("a name");
    let spool = Spool::open(settings, gateway, Arc::new(SystemClock)).await.expect("opens");
    let example: Event = serde_json::from_str(EXAMPLE).expect("an event");
    let site = site.parse().expect("a name");
    let example = Event { gateway_id: spool.gateway().clone(), site, ..example };
    let first = SystemClock.now().plus_seconds(-(events as f64));
    let numbers: Vec<u64> = (0..events).collect();
    for numbers in numbers.chunks(AT_ONCE) {
        let events = numbers.iter().map(|n| numbered(&example, *n, first)).collect();
        spool.commit(&mut Batch { events, ..Batch::default() }).await.expect("commits");
    }
    spool.close().await;
}

fn numbered(example: &Event, n: u64, first: Timestamp) -> Event {
    let mut event = example.clone();
    event.measured_at = first.plus_seconds(n as f64);
    event.event_id = EventId::at(event.measured_at.unix_ms());
    event.bearing_id = format!("B{}", n % BEARINGS).parse().expect("a name");
    event
}
