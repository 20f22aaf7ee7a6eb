//! A change to the file: one transaction, and a tally that watchers learn in the order of commits.

use std::sync::atomic::Ordering;

use sqlx::{Sqlite, Transaction};

use super::file::Files;
use super::{Spool, SpoolError, Tally, tally};
use crate::event_log;

impl Spool {
    /// Takes the one connection that writes. Dropped, the transaction changes nothing.
    pub(super) async fn begin(
        &self,
        files: &Files,
    ) -> Result<Transaction<'static, Sqlite>, SpoolError> {
        files.writer.begin_with("BEGIN IMMEDIATE").await.map_err(|source| files.failed(source))
    }

    /// Commits, and tells watchers what the file holds now. The tally is read before the connection
    /// is given back: read elsewhere it would wait for the reader, and could be told out of order.
    pub(super) async fn finish(
        &self,
        files: &Files,
        mut tx: Transaction<'static, Sqlite>,
    ) -> Result<(), SpoolError> {
        let failed = |source| files.failed(source);
        let tally = tally::read(&mut tx).await.map_err(failed)?;
        let turn = self.next_turn();
        tx.commit().await.map_err(failed)?;
        self.tell(turn, tally);
        Ok(())
    }

    /// Tells watchers what the file holds, whoever changed it. A tally that cannot be read is told
    /// with the next change.
    pub(super) async fn refresh(&self) {
        let files = self.files();
        let Ok(mut writer) = files.writer.acquire().await else { return };
        let turn = self.next_turn();
        if let Ok(tally) = tally::read(&mut writer).await {
            self.tell(turn, tally);
        }
    }

    /// To be called by the holder of the connection that writes: turns are then in its order.
    fn next_turn(&self) -> u64 {
        self.inner.turn.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn tell(&self, turn: u64, tally: Tally) {
        self.inner.changed.send_if_modified(|held| {
            let is_later = self.inner.told.fetch_max(turn, Ordering::Relaxed) < turn;
            if is_later {
                event_log::spool_level(&tally);
                *held = tally;
            }
            is_later
        });
    }
}
