//! A stable fingerprint of refused messages: the same message again must find its row.

use pdm_shared::delivery::DeadLetter;

/// FNV-1a, 64 bits (Fowler, Noll, Vo 1991; draft-eastlake-fnv). Not against an adversary: two
/// different messages with one fingerprint only share a counter.
fn fnv1a(parts: &[&[u8]]) -> i64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in *part {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        // a separator, so that ("ab", "c") differs from ("a", "bc")
        hash = (hash ^ 0xff).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash.cast_signed()
}

/// Of one message.
pub(super) fn of_message(letter: &DeadLetter) -> i64 {
    fnv1a(&[
        letter.topic.as_bytes(),
        letter.reason.as_bytes(),
        letter.payload_head.as_bytes(),
        &letter.payload_bytes.to_le_bytes(),
    ])
}

/// Of all messages that are refused for one reason, once too many are kept one by one. What stands
/// after the first colon tells the single message and is left out.
pub(super) fn of_reason(letter: &DeadLetter) -> i64 {
    let kind = letter.reason.split(':').next().unwrap_or_default();
    fnv1a(&[b"reason", kind.as_bytes()])
}
