//! What comes from outside is read or refused, never a panic: the entry points of `shared/fuzz`, with
//! generated input.

use pdm_shared::event::Event;
use pdm_shared::topic::{Prefix, Topic};
use proptest::prelude::*;

const EVENT: &str = include_str!("../../config/examples/event.json");

/// Any bytes as an event.
fn event(bytes: &[u8]) {
    if let Ok(event) = serde_json::from_slice::<Event>(bytes) {
        let _checked = event.check();
        let text = serde_json::to_string(&event).expect("an event is JSON");
        serde_json::from_str::<Event>(&text).expect("what was written is read");
    }
}

/// What a damaged sender puts in the place of a number.
fn numbers() -> impl Strategy<Value = &'static str> {
    let odd = ["1e308", "1e999", "-1e999", "-0", "18446744073709551616", "0.1e-400", "NaN", "null"];
    prop::sample::select(odd.to_vec())
}

proptest! {
    #[test]
    fn any_bytes_are_an_event_or_none(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        event(&bytes);
    }

    #[test]
    fn an_event_with_a_part_cut_out_is_an_event_or_none(from in 0usize..4000, length in 0usize..200) {
        let mut text = EVENT.as_bytes().to_vec();
        let from = from.min(text.len());
        let to = (from + length).min(text.len());
        text.drain(from..to);
        event(&text);
    }

    #[test]
    fn an_event_with_a_huge_number_is_an_event_or_none(which in 0usize..80, number in numbers()) {
        let places: Vec<(usize, &str)> = EVENT.match_indices(": ").collect();
        let at = places[which % places.len()].0 + 2;
        let end = EVENT[at..].find([',', '\n']).map_or(EVENT.len(), |end| at + end);
        event(format!("{}{number}{}", &EVENT[..at], &EVENT[end..]).as_bytes());
    }

    #[test]
    fn any_text_is_a_topic_that_is_written_back_or_none(
        topic in "(pdm/v1/)?([a-z+#$ 가]{0,4}/?){0,6}(event|status|ack|dead-letter)?|\\PC{0,80}",
    ) {
        let prefix = Prefix::default();
        if let Some(read) = Topic::parse(&prefix, &topic) {
            prop_assert_eq!(read.under(&prefix), topic);
        }
    }
}
