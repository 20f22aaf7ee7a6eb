//! A bearing while its events are judged: its memory, its episode, and the judgements not saved
//! yet.

use pdm_expert::case::Memory;
use pdm_shared::id::BearingKey;
use pdm_store::{BearingJudged, EpisodeChange, EpisodeRecord, Judged};

/// A bearing while its events are judged.
pub(super) struct Bearing {
    pub(super) key: BearingKey,
    pub(super) memory: Memory,
    pub(super) episode: Option<EpisodeRecord>,
    /// Judgements that are not saved yet.
    pub(super) waiting: Vec<Judged>,
}

impl Bearing {
    /// Follows the episode as a change leaves it, for the next event of the batch.
    pub(super) fn changed(&mut self, change: &EpisodeChange) {
        self.episode = Some(EpisodeRecord::after(self.episode.take(), change.clone()));
    }

    /// Takes the judgements that are not saved yet, with the bearing's state after them.
    pub(super) fn taken(&mut self) -> BearingJudged {
        BearingJudged {
            key: self.key.clone(),
            judgements: std::mem::take(&mut self.waiting),
            state: self.memory.state.clone(),
            recent: self.memory.recent.clone(),
        }
    }
}
