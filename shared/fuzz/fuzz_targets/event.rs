//! Any bytes as an event: read and checked or refused, and what is read is written back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pdm_shared::event::Event;

fuzz_target!(|data: &[u8]| {
    if let Ok(event) = serde_json::from_slice::<Event>(data) {
        let _ = event.check();
        let text = serde_json::to_string(&event).expect("an event is JSON");
        let again: Event = serde_json::from_str(&text).expect("what was written is read");
        assert_eq!(again, event);
    }
});
