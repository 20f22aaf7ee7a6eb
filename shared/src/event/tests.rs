//! The examples of the contract are events, and nothing of them is lost on the way.

use super::*;

const EXAMPLES: [&str; 2] = [
    include_str!("../../../config/examples/event.json"),
    include_str!("../../../config/examples/event-healthy.json"),
];

#[test]
fn the_contracts_examples_are_read_and_written_back_unchanged() {
    for example in EXAMPLES {
        let before: serde_json::Value = serde_json::from_str(example).expect("json");
        let event: Event = serde_json::from_str(example).expect("event");
        let mut after = serde_json::to_value(&event).expect("json");
        let frequency = after["frequency_domain"].as_object_mut().expect("object");
        assert_eq!(frequency.remove("undetermined"), Some(serde_json::Value::Null));
        assert_eq!(before, after);
        event.check().expect("the example is a valid event");
    }
}
