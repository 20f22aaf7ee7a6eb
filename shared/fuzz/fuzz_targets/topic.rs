//! Any text as a topic: a topic that is read is written back as the same text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pdm_shared::topic::{Prefix, Topic};

fuzz_target!(|topic: &str| {
    let prefix = Prefix::default();
    if let Some(read) = Topic::parse(&prefix, topic) {
        assert_eq!(read.under(&prefix), topic);
    }
});
