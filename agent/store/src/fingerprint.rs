//! A stable fingerprint of refused messages, by which the same message again finds its row.

use pdm_shared::delivery::DeadLetter;
use pdm_shared::id::{BearingKey, GatewayKey};

/// FNV-1a, 64 bits (Fowler, Noll, Vo 1991; draft-eastlake-fnv). The hash does not resist an
/// adversary, and need not: two messages with one fingerprint share a counter, nothing more.
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

/// The fingerprint of one message.
pub(super) fn of_message(letter: &DeadLetter) -> i64 {
    fnv1a(&[
        letter.topic.as_bytes(),
        letter.reason.as_bytes(),
        letter.payload_head.as_bytes(),
        &letter.payload_bytes.to_le_bytes(),
    ])
}

/// The fingerprint of all events that are refused for one cause, gateway and bearing.
pub(super) fn of_cause(cause: &str, gateway: &GatewayKey, bearing: &BearingKey) -> i64 {
    fnv1a(&[
        b"cause",
        cause.as_bytes(),
        gateway.to_string().as_bytes(),
        bearing.to_string().as_bytes(),
    ])
}

/// The fingerprint of all messages that are refused for one reason, used once too many are kept one
/// by one. The text after the first colon belongs to the single message and is left out.
pub(super) fn of_reason(letter: &DeadLetter) -> i64 {
    let kind = letter.reason.split(':').next().unwrap_or_default();
    fnv1a(&[b"reason", kind.as_bytes()])
}
