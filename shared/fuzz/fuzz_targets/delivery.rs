//! Any bytes as each of the smaller documents on the wire: read or refused, and what is read is
//! written back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pdm_shared::delivery::{
    Acknowledgement, DeadLetter, GatewayStatus, Notification, Receipt, State,
};
use pdm_shared::diagnosis::Diagnosis;
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|data: &[u8]| {
    back::<Receipt>(data);
    back::<State>(data);
    back::<GatewayStatus>(data);
    back::<Notification>(data);
    back::<Acknowledgement>(data);
    back::<DeadLetter>(data);
    back::<Diagnosis>(data);
});

fn back<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(data: &[u8]) {
    if let Ok(document) = serde_json::from_slice::<T>(data) {
        let text = serde_json::to_string(&document).expect("a document is JSON");
        let again: T = serde_json::from_str(&text).expect("what was written is read");
        assert_eq!(again, document);
    }
}
