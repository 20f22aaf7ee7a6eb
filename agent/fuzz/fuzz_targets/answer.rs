//! Any bytes as the answer of a language model's server, whole and as a stream cut at a place that
//! the first byte says: the same answer for every cut, or a reason, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pdm_reasoner::wire;
use pdm_reasoner::wire::stream::Assembly;

fuzz_target!(|bytes: &[u8]| {
    let _ = wire::read_completion(bytes);
    let Some((cut, stream)) = bytes.split_first() else { return };
    let (head, tail) = stream.split_at(usize::from(*cut).min(stream.len()));
    let whole = assembled(&[stream]);
    assert_eq!(assembled(&[head, tail]), whole, "a stream means the same however it arrives");
});

fn assembled(portions: &[&[u8]]) -> Option<wire::Completion> {
    let mut assembly = Assembly::default();
    for portion in portions {
        if assembly.take(portion).is_err() {
            return None;
        }
    }
    assembly.end().ok()
}
