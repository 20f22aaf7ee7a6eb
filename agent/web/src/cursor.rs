//! Cursors: the place of a list's last row as one opaque word, by which the next page begins after
//! it.
//!
//! A list that is ordered by time alone would lose or repeat rows of one millisecond at the edge of
//! a page; a cursor names the row itself.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

use crate::plant::ListPlace;
use crate::problem::Problem;

/// A place as a word.
pub(crate) fn write(place: ListPlace) -> String {
    let mut bytes = place.at_ms.to_be_bytes().to_vec();
    bytes.extend_from_slice(place.id.as_bytes());
    bytes.extend_from_slice(&place.number.to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The place of a word.
pub(crate) fn read_cursor(word: &str) -> Result<ListPlace, Problem> {
    let wrong = || Problem::parameter("cursor", word, "the `next` of the page before");
    let bytes = URL_SAFE_NO_PAD.decode(word).map_err(|_other| wrong())?;
    let parts = bytes.split_at_checked(8).and_then(|(at, rest)| {
        let (id, number) = rest.split_at_checked(16)?;
        let at_ms = i64::from_be_bytes(at.try_into().ok()?);
        let number = u32::from_be_bytes(number.try_into().ok()?);
        Some(ListPlace { at_ms, id: Uuid::from_slice(id).ok()?, number })
    });
    parts.ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_back_and_another_word_is_refused() {
        let place = ListPlace { at_ms: -7, id: Uuid::from_u128(9), number: 3 };
        assert_eq!(read_cursor(&write(place)).ok(), Some(place));
        for wrong in ["", "x", "AAAA", "2026-11-23", "../..", "'; DROP TABLE users"] {
            assert!(read_cursor(wrong).is_err(), "{wrong}");
        }
    }
}
