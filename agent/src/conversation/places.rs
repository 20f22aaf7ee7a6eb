//! Limits how many questions are answered at once: of all askers, and of one.
//!
//! Without the second bound three questions of a viewer to a slow model closed the chat to
//! everybody.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use pdm_web::talk::Busy;

/// Questions that are answered at once. Chosen: a shift and a program; a model in the plant answers
/// one after the other anyway.
const AT_ONCE: usize = 8;
/// Questions of one asker among them. Chosen: two open pages.
const OF_ASKER: usize = 2;

/// Questions that are being answered, by their askers.
#[derive(Debug, Default)]
pub(super) struct QuestionPlaces(Mutex<BTreeMap<String, usize>>);

/// The place of a question, free again when it is dropped.
#[derive(Debug)]
pub(super) struct QuestionPlace<'a> {
    places: &'a QuestionPlaces,
    asker: String,
}

impl QuestionPlaces {
    /// A place for a question of this asker.
    ///
    /// # Errors
    /// [`Busy`] if the asker, or all together, have as many as they may have.
    pub(super) fn take(&self, asker: &str) -> Result<QuestionPlace<'_>, Busy> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_asker = open.get(asker).copied().unwrap_or_default();
        if of_asker >= OF_ASKER || open.values().sum::<usize>() >= AT_ONCE {
            return Err(Busy);
        }
        open.insert(asker.to_owned(), of_asker + 1);
        Ok(QuestionPlace { places: self, asker: asker.to_owned() })
    }
}

impl Drop for QuestionPlace<'_> {
    fn drop(&mut self) {
        let mut open = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.asker) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.remove(&self.asker);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 34, M7.
    #[test]
    fn one_asker_never_closes_the_chat_to_the_others() {
        let places = QuestionPlaces::default();
        let viewer: Vec<_> = (0..5).filter_map(|_| places.take("user viewer").ok()).collect();
        assert_eq!(viewer.len(), OF_ASKER);
        let others: Vec<_> =
            (0..9).filter_map(|number| places.take(&format!("user {number}")).ok()).collect();
        assert_eq!(others.len(), AT_ONCE - OF_ASKER);
        drop(viewer);
        assert!(places.take("user viewer").is_ok());
    }
}
