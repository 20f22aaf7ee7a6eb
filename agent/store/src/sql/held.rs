//! Judgements that are held for a language model: put aside with their run, answered once, taken up
//! again.
//!
//! `held_until_ms` above 0: the judgement waits, and no event of its bearing is read. 0: the wait
//! is over, by an answer or by time. Null: the judgement is stored. Each change is one statement
//! with the state before it in its condition, so an answer and the end of a wait cannot both count.

use std::sync::LazyLock;

use pdm_shared::diagnosis::{OpinionStance, SecondOpinion};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;

use super::{bulk, runs};
use crate::database::{Connection, Dialect, Row, Spelt};
use crate::encoding::{json_of, readable, to_json};
use crate::opinion::MAX_WAITING_OPINIONS;
use crate::{
    Checkpoint, EventAfterHeld, HeldAnswer, HeldJudgement, JudgementStore, StoreError, log,
};

/// Parameters: arrival, limit. The server finds the waiting events of a bearing by its turn.
static AFTER_HELD: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let waiting = match dialect {
            // a cross join is made in its order: few judgements are held, many events may wait
            Dialect::Sqlite => "CROSS JOIN events ON events.judged = 0",
            Dialect::Postgres => {
                "JOIN events_unjudged AS waiting ON waiting.turn =
                     hashtext(held.site || '/' || held.equipment_id || '/' || held.bearing_id)
                 JOIN events ON events.event_id = waiting.event_id"
            }
        };
        format!(
            "SELECT held.event_id AS held_id, events.arrival AS arrival, events.payload AS payload
             FROM second_opinions AS held {waiting}
                  AND events.site = held.site AND events.equipment_id = held.equipment_id
                  AND events.bearing_id = held.bearing_id
             WHERE held.held_until_ms > 0 AND events.event_id <> held.event_id
               AND events.arrival > $1
             ORDER BY events.arrival LIMIT $2"
        )
    })
});

// Putting judgements aside until a language model has answered; used by the judging task, and by
// the lane of opinions, which answers.
impl JudgementStore {
    /// Puts a judgement by rules aside until a language model has answered, with its run. No event
    /// of its bearing is read until then. False if the judgement is not to wait: too many do, or
    /// the event was judged meanwhile.
    pub async fn hold(&self, key: &BearingKey, held: &HeldJudgement) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let is_held =
            hold(&mut transaction.connection(), key, held, self.database.replica()).await?;
        transaction.commit().await?;
        Ok(is_held)
    }

    /// Ends the wait of the judgement that wait until `now` or earlier, or that of all whose model
    /// this replica asks; tells how many these are.
    pub async fn end_holds(&self, now: Timestamp, all_own: bool) -> Result<u64, StoreError> {
        let own = all_own.then(|| self.database.replica());
        let mut reader = self.database.read().await?;
        let query = reader.query(HOLD_ENDS).bind(now.unix_ms()).bind(own);
        // this is asked before every batch, and a write waits for the file
        if query.fetch_optional().await?.is_none() {
            return Ok(0);
        }
        drop(reader);
        let mut transaction = self.database.write().await?;
        let ended = end_holds(&mut transaction.connection(), now, own).await?;
        transaction.commit().await?;
        Ok(ended)
    }

    /// Ends the wait of one judgement.
    pub async fn end_hold(&self, event_id: EventId) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        end_hold(&mut transaction.connection(), event_id).await?;
        transaction.commit().await
    }

    /// Returns the events after held judgements of their bearings that arrived after `after`, at
    /// most `limit`, in the order of arrival; and the place up to which there is no other.
    pub async fn events_after_held(
        &self,
        after: i64,
        limit: u32,
    ) -> Result<(Vec<EventAfterHeld>, i64), StoreError> {
        events_after(&mut self.database.read().await?.connection(), after, limit).await
    }

    /// The run of a judgement that waits.
    pub async fn held_run(&self, event_id: EventId) -> Result<Option<Checkpoint>, StoreError> {
        runs::read_checkpoint(&mut self.database.read().await?.connection(), event_id).await
    }

    /// Returns the opinion that a waiting judgement takes in; `None` if no opinion came in time.
    pub async fn held_answer(
        &self,
        event_id: EventId,
    ) -> Result<Option<SecondOpinion>, StoreError> {
        held_answer(&mut self.database.read().await?.connection(), event_id).await
    }

    /// Answers a judgement that waits, which then goes on. False if it waits no longer: its wait
    /// was over, or it was answered before.
    pub async fn answer_held(&self, given: &HeldAnswer) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let is_taken = answer(&mut transaction.connection(), given).await?;
        transaction.commit().await?;
        Ok(is_taken)
    }
}

/// The newest event that waits.
static NEWEST: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| match dialect {
        Dialect::Sqlite => "SELECT max(arrival) FROM events".to_owned(),
        Dialect::Postgres => "SELECT max(arrival) FROM events_unjudged".to_owned(),
    })
});

/// Puts a judgement aside, with its run; false if it is not to wait.
async fn hold(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    held: &HeldJudgement,
    replica: &str,
) -> Result<bool, StoreError> {
    let inserted = connection
        .query(
            "INSERT INTO second_opinions
                 (site, equipment_id, bearing_id, event_id, risk_level, asked_at_ms, memory,
                  held_until_ms, claimed_by)
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9
             WHERE (SELECT count(*) FROM second_opinions WHERE state = 'waiting') < $10
               AND NOT EXISTS (SELECT 1 FROM pdm_agent_memory WHERE event_id = $4)
             ON CONFLICT (event_id) DO NOTHING",
        )
        .bind_key(key)
        .bind(held.event_id.0)
        .bind(held.judged.as_str())
        .bind(held.asked_at.unix_ms())
        .bind(to_json("a bearing's memory", &held.memory)?)
        .bind(held.until.unix_ms())
        .bind(replica)
        .bind(MAX_WAITING_OPINIONS)
        .execute()
        .await?;
    if inserted == 0 {
        log::opinion_not_asked();
        return Ok(false);
    }
    runs::write(connection, held.event_id, &held.checkpoint).await?;
    let steps: Vec<(EventId, &TraceStep)> =
        held.steps.iter().map(|step| (held.event_id, step)).collect();
    bulk::insert_steps(connection, &steps).await?;
    Ok(true)
}

/// Ends waits; tells how many.
async fn end_holds(
    connection: &mut Connection<'_>,
    now: Timestamp,
    own: Option<&str>,
) -> Result<u64, StoreError> {
    connection
        .query(
            "UPDATE second_opinions SET held_until_ms = 0
             WHERE held_until_ms > 0 AND (held_until_ms <= $1 OR claimed_by = $2)",
        )
        .bind(now.unix_ms())
        .bind(own)
        .execute()
        .await
}

/// Whether a wait would end.
const HOLD_ENDS: &str = "SELECT 1 FROM second_opinions
     WHERE held_until_ms > 0 AND (held_until_ms <= $1 OR claimed_by = $2) LIMIT 1";

/// Ends the wait of one judgement.
async fn end_hold(connection: &mut Connection<'_>, event_id: EventId) -> Result<(), StoreError> {
    connection
        .query(
            "UPDATE second_opinions SET held_until_ms = 0
             WHERE event_id = $1 AND held_until_ms > 0",
        )
        .bind(event_id.0)
        .execute()
        .await?;
    Ok(())
}

/// Events after held judgements. An event that cannot be read says nothing here; whoever reads it
/// for its judgement sets it aside.
async fn events_after(
    connection: &mut Connection<'_>,
    after: i64,
    limit: u32,
) -> Result<(Vec<EventAfterHeld>, i64), StoreError> {
    // before the events: one that comes in between is looked at next time
    let row = connection.query(&NEWEST).fetch_one().await?;
    let newest = row.get::<Option<i64>>(0)?.unwrap_or(after).max(after);
    let query = connection.query(&AFTER_HELD).bind(after).bind(i64::from(limit));
    let rows = query.fetch_all().await?;
    let of = |row: &Row| {
        let event = json_of("an event", row.get("payload")?)?;
        let held = EventId(row.get("held_id")?);
        Ok(EventAfterHeld { held, arrival: row.get("arrival")?, event })
    };
    let events: Vec<EventAfterHeld> = rows.iter().map(of).filter_map(readable).collect();
    let is_all = rows.len() < limit as usize;
    let last = rows.last().map(|row| row.get("arrival")).transpose()?;
    Ok((events, if is_all { newest } else { last.unwrap_or(newest) }))
}

/// The answer that a judgement takes in.
async fn held_answer(
    connection: &mut Connection<'_>,
    event_id: EventId,
) -> Result<Option<SecondOpinion>, StoreError> {
    let query = connection.query("SELECT opinion FROM second_opinions WHERE event_id = $1");
    let Some(row) = query.bind(event_id.0).fetch_optional().await? else { return Ok(None) };
    // an opinion that cannot be read is none: the judgement by rules goes on without it
    let opinion = row.get::<Option<&str>>(0)?;
    Ok(opinion.and_then(|opinion| readable(json_of("an opinion", opinion))))
}

/// Answers a judgement that waits; false if it waits no longer.
async fn answer(connection: &mut Connection<'_>, answer: &HeldAnswer) -> Result<bool, StoreError> {
    let opinion = to_json("an opinion", &answer.opinion)?;
    let changed = if let Some(again_at) = answer.again_at {
        let query = connection.query(
            "UPDATE second_opinions
             SET held_until_ms = 0, opinion = $1, claimed_until_ms = $2, attempts = attempts + 1
             WHERE event_id = $3 AND state = 'waiting' AND held_until_ms > 0",
        );
        query.bind(opinion).bind(again_at.unix_ms()).bind(answer.event_id.0).execute().await?
    } else {
        let stance = answer.opinion.stance.map(OpinionStance::as_str);
        let query = connection.query(
            "UPDATE second_opinions
             SET held_until_ms = 0, opinion = $1, state = $2, stance = $3, ended_at_ms = $4,
                 checkpoint = NULL, memory = '{}'
             WHERE event_id = $5 AND state = 'waiting' AND held_until_ms > 0",
        );
        let state = if stance.is_some() { "given" } else { "failed" };
        let query = query.bind(opinion).bind(state).bind(stance).bind(answer.at.unix_ms());
        query.bind(answer.event_id.0).execute().await?
    };
    Ok(changed == 1)
}

/// The judgement is stored: its opinion is one like any other from now on.
pub(super) async fn settle(
    connection: &mut Connection<'_>,
    event_id: EventId,
) -> Result<(), StoreError> {
    connection
        .query(
            "UPDATE second_opinions SET held_until_ms = NULL, opinion = NULL WHERE event_id = $1",
        )
        .bind(event_id.0)
        .execute()
        .await?;
    Ok(())
}
