//! Any text as a topic: what is read is written back as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pdm_shared::topic::{Prefix, Topic};

fuzz_target!(|topic: &str| {
    let prefix = Prefix::default();
    if let Some(read) = Topic::parse(&prefix, topic) {
        assert_eq!(read.under(&prefix), topic);
    }
});
