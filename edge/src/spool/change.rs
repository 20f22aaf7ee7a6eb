//! A change to the file: one transaction, after which watchers get the new tally, in the order of
//! the commits.

use std::sync::atomic::Ordering;

use sqlx::{Sqlite, Transaction};

use super::file::Files;
use super::{Spool, SpoolError, Tally, log, tally};

impl Spool {
    /// Begins a transaction on the only connection that writes. A transaction that is dropped
    /// changes nothing.
    pub(super) async fn begin(
        &self,
        files: &Files,
    ) -> Result<Transaction<'static, Sqlite>, SpoolError> {
        files.writer.begin_with("BEGIN IMMEDIATE").await.map_err(|source| files.failed(source))
    }

    /// Commits, and sends the new tally to watchers. The tally is read on the writing connection
    /// before it is given back: another connection would have to wait, and two tallies could change
    /// places.
    pub(super) async fn finish(
        &self,
        files: &Files,
        mut tx: Transaction<'static, Sqlite>,
    ) -> Result<(), SpoolError> {
        let failed = |source| files.failed(source);
        let tally = tally::read_tally(&mut tx).await.map_err(failed)?;
        let turn = self.next_turn();
        tx.commit().await.map_err(failed)?;
        self.tell(turn, tally);
        Ok(())
    }

    /// Reads the tally and sends it to watchers, after the file was replaced. A tally that cannot
    /// be read is sent with the next change.
    pub(super) async fn refresh(&self) {
        let files = self.files();
        let Ok(mut writer) = files.writer.acquire().await else { return };
        let turn = self.next_turn();
        if let Ok(tally) = tally::read_tally(&mut writer).await {
            self.tell(turn, tally);
        }
    }

    /// The number of a change. Must be called while the writing connection is held, so that numbers
    /// are in the order of the commits.
    fn next_turn(&self) -> u64 {
        self.inner.turn.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn tell(&self, turn: u64, tally: Tally) {
        self.inner.changed.send_if_modified(|held| {
            let is_later = self.inner.told.fetch_max(turn, Ordering::Relaxed) < turn;
            if is_later {
                log::level(&tally);
                *held = tally;
            }
            is_later
        });
    }
}
