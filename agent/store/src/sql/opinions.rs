//! Second opinions: asked for in the transaction of the judgement, claimed by one agent, ended
//! once; and what the model has cost on a day.

use std::sync::LazyLock;

use pdm_expert::case::Memory;
use pdm_reasoner::budget::Spent;
use pdm_shared::diagnosis::{Diagnosis, OpinionStance};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;

use super::{Database, bulk, messages};
use crate::database::{Connection, Dialect, Lock, Row, Spelt};
use crate::encoding::{count_of, json_of, readable, time_of, to_json, word_of};
use crate::opinion::MAX_WAITING_OPINIONS;
use crate::{Judged, OpinionAsked, OpinionCounts, OpinionEnded, Outgoing, StoreError, log};

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Parameter: event. On a server the row is locked, because a report of staff changes the same
/// text.
static DIAGNOSIS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let lock = match dialect {
            Dialect::Sqlite => "",
            Dialect::Postgres => "FOR UPDATE",
        };
        format!("SELECT diagnosis FROM pdm_agent_memory WHERE event_id = $1 {lock}")
    })
});

/// Second opinions of a language model and what the model has cost; used by the lane of opinions
/// and by the chat.
#[derive(Debug, Clone)]
pub struct OpinionStore {
    pub(crate) database: Database,
}

impl OpinionStore {
    /// Claims judgements that wait for an opinion, oldest first, at most `limit`. A claim ends by
    /// [`OpinionStore::end_opinion`] or at `until`.
    pub async fn claim_opinions(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<OpinionAsked>, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        connection.lock(Lock::Lane, "second opinions").await?;
        let rows = connection
            .query(
                "UPDATE second_opinions SET claimed_until_ms = $1, claimed_by = $2
                 WHERE event_id IN (
                     SELECT event_id FROM second_opinions
                     WHERE state = 'waiting' AND claimed_until_ms <= $3
                       AND (held_until_ms IS NULL OR held_until_ms > 0)
                     ORDER BY asked_at_ms LIMIT $4)
                 RETURNING event_id, memory, checkpoint, attempts, asked_at_ms, risk_level,
                           held_until_ms",
            )
            .bind(until.unix_ms())
            .bind(self.database.replica())
            .bind(now.unix_ms())
            .bind(i64::from(limit))
            .fetch_all()
            .await?;
        transaction.commit().await?;
        let mut asked: Vec<OpinionAsked> = rows.iter().map(asked_of).filter_map(readable).collect();
        asked.sort_by_key(|one| one.asked_at);
        Ok(asked)
    }

    /// Writes the state of an unfinished run and holds the claim until then. False if the claim is
    /// another's by now.
    pub async fn note_opinion(
        &self,
        event_id: EventId,
        checkpoint: &str,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let changed = transaction
            .connection()
            .query(
                "UPDATE second_opinions SET checkpoint = $1, claimed_until_ms = $2
                 WHERE event_id = $3 AND state = 'waiting' AND claimed_by = $4",
            )
            .bind(checkpoint)
            .bind(until.unix_ms())
            .bind(event_id.0)
            .bind(self.database.replica())
            .execute()
            .await?;
        transaction.commit().await?;
        Ok(changed == 1)
    }

    /// Puts a run off until then, because the model does not answer.
    pub async fn put_off_opinion(
        &self,
        event_id: EventId,
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        transaction
            .connection()
            .query(
                "UPDATE second_opinions SET claimed_until_ms = $1, attempts = attempts + 1
                 WHERE event_id = $2 AND state = 'waiting'",
            )
            .bind(until.unix_ms())
            .bind(event_id.0)
            .execute()
            .await?;
        transaction.commit().await
    }

    /// Ends an opinion: into the diagnosis, and out to staff and listeners. False if it had ended
    /// before.
    pub async fn end_opinion(&self, ended: &OpinionEnded) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let is_first = end(&mut transaction.connection(), ended).await?;
        transaction.commit().await?;
        Ok(is_first)
    }

    /// Counts of all opinions that are kept.
    pub async fn opinion_counts(&self) -> Result<OpinionCounts, StoreError> {
        let mut reader = self.database.read().await?;
        let rows = reader
            .query("SELECT state, stance, count(*) FROM second_opinions GROUP BY state, stance")
            .fetch_all()
            .await?;
        let mut counts = OpinionCounts::default();
        for row in &rows {
            let (state, stance): (&str, Option<&str>) = (row.get(0)?, row.get(1)?);
            let count = row.get::<i64>(2)?.unsigned_abs();
            match (state, stance) {
                ("waiting", _) => counts.waiting += count,
                (_, Some("agrees")) => counts.agrees += count,
                (_, Some("raises")) => counts.raises += count,
                (_, Some("lowers")) => counts.lowers += count,
                _ => counts.failed += count,
            }
        }
        Ok(counts)
    }

    /// Returns the model's use and cost on the day (UTC) of this time.
    pub async fn model_usage(&self, on: Timestamp) -> Result<Spent, StoreError> {
        let mut reader = self.database.read().await?;
        let rows = reader
            .query(
                "SELECT calls, prompt_tokens, completion_tokens, seconds, usd
                 FROM model_usage WHERE day = $1",
            )
            .bind(on.unix_ms().div_euclid(DAY_MS))
            .fetch_all()
            .await?;
        let mut all = Spent::default();
        for row in &rows {
            let count = |column: usize| row.get::<i64>(column).map(i64::unsigned_abs);
            all = all.plus(&Spent {
                calls: count(0)?,
                prompt_tokens: count(1)?,
                completion_tokens: count(2)?,
                seconds: row.get(3)?,
                usd: row.get(4)?,
            });
        }
        Ok(all)
    }

    /// Adds to what the model has cost on the day (UTC) of this time, by who asked.
    pub async fn add_model_usage(
        &self,
        purpose: &str,
        spent: &Spent,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let mut transaction = self.database.write().await?;
        transaction
            .connection()
            .query(
                "INSERT INTO model_usage
                     (day, purpose, calls, prompt_tokens, completion_tokens, seconds, usd)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)
                 ON CONFLICT (day, purpose) DO UPDATE
                 SET calls = model_usage.calls + excluded.calls,
                     prompt_tokens = model_usage.prompt_tokens + excluded.prompt_tokens,
                     completion_tokens = model_usage.completion_tokens + excluded.completion_tokens,
                     seconds = model_usage.seconds + excluded.seconds,
                     usd = model_usage.usd + excluded.usd",
            )
            .bind(at.unix_ms().div_euclid(DAY_MS))
            .bind(purpose)
            .bind(number(spent.calls))
            .bind(number(spent.prompt_tokens))
            .bind(number(spent.completion_tokens))
            .bind(spent.seconds)
            .bind(spent.usd)
            .execute()
            .await?;
        transaction.commit().await
    }
}

fn asked_of(row: &Row) -> Result<OpinionAsked, StoreError> {
    Ok(OpinionAsked {
        event_id: EventId(row.get("event_id")?),
        memory: json_of::<Memory>("a bearing's memory", row.get("memory")?)?,
        checkpoint: row.get("checkpoint")?,
        attempts: count_of(row.get("attempts")?),
        asked_at: time_of(row.get("asked_at_ms")?)?,
        judged: word_of("a risk", row.get("risk_level")?)?,
        is_held: row.get::<Option<i64>>("held_until_ms")?.is_some(),
    })
}

/// Asks for an opinion on a judgement that is being written, unless too many wait.
pub(super) async fn ask(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    judged: &Judged,
) -> Result<(), StoreError> {
    let Some(memory) = &judged.opinion_on else { return Ok(()) };
    let inserted = connection
        .query(
            "INSERT INTO second_opinions
                 (site, equipment_id, bearing_id, event_id, risk_level, asked_at_ms, memory)
             SELECT $1, $2, $3, $4, $5, $6, $7
             WHERE (SELECT count(*) FROM second_opinions WHERE state = 'waiting') < $8
             ON CONFLICT (event_id) DO NOTHING",
        )
        .bind_key(key)
        .bind(judged.diagnosis.event_id.0)
        .bind(judged.diagnosis.risk_level.as_str())
        .bind(judged.diagnosis.judged_at.unix_ms())
        .bind(to_json("a bearing's memory", memory.as_ref())?)
        .bind(MAX_WAITING_OPINIONS)
        .execute()
        .await?;
    if inserted == 0 {
        log::opinion_not_asked();
    }
    Ok(())
}

/// Frees the claims of an earlier process of this replica.
pub(super) async fn free_claims(
    connection: &mut Connection<'_>,
    replica: &str,
) -> Result<(), StoreError> {
    connection
        .query(
            "UPDATE second_opinions SET claimed_until_ms = 0
             WHERE state = 'waiting' AND claimed_by = $1 AND claimed_until_ms > 0",
        )
        .bind(replica)
        .execute()
        .await?;
    Ok(())
}

/// Ends an opinion; false if it had ended before, and nothing is written a second time.
async fn end(connection: &mut Connection<'_>, ended: &OpinionEnded) -> Result<bool, StoreError> {
    let stance = ended.opinion.stance.map(OpinionStance::as_str);
    let first = connection
        .query(
            "UPDATE second_opinions
             SET state = $1, stance = $2, ended_at_ms = $3, checkpoint = NULL, memory = '{}'
             WHERE event_id = $4 AND state = 'waiting'",
        )
        .bind(if stance.is_some() { "given" } else { "failed" })
        .bind(stance)
        .bind(ended.at.unix_ms())
        .bind(ended.event_id.0)
        .execute()
        .await?;
    if first == 0 {
        return Ok(false);
    }
    let row = connection.query(&DIAGNOSIS).bind(ended.event_id.0).fetch_optional().await?;
    if let Some(row) = row {
        let mut diagnosis: Diagnosis = json_of("a diagnosis", row.get(0)?)?;
        diagnosis.take_opinion(ended.opinion.clone(), ended.disagreement.clone());
        connection
            .query("UPDATE pdm_agent_memory SET diagnosis = $1 WHERE event_id = $2")
            .bind(to_json("a diagnosis", &diagnosis)?)
            .bind(ended.event_id.0)
            .execute()
            .await?;
    }
    let mut rows: Vec<(&Outgoing, Timestamp)> = Vec::new();
    if let Some((notification, outgoing)) = &ended.told
        && messages::insert(connection, notification).await?
    {
        rows.extend(outgoing.iter().map(|row| (row, notification.created_at)));
    }
    rows.extend(ended.publication.iter().map(|row| (row, ended.at)));
    bulk::insert_outbox(connection, &rows).await?;
    Ok(true)
}
