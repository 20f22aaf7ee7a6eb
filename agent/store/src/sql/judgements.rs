//! Reads the inputs of a judgement, and writes judgements with everything that leaves because of
//! them.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use pdm_expert::case::{BearingState, Memory, RECALLED, Remembered, remember};
use pdm_routes::ToldLately;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::fault::Fault;
use pdm_shared::id::{BearingKey, EventId, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;

use super::{Database, bulk, episodes, follow_ups, held, opinions, pins, runs, standing};
use crate::database::{Connection, Identities, Numbers, Row, Session, Spelt};
use crate::encoding::{
    MemoryRow, count_of, fault_of, json_of, readable, stage_of, time_of, to_json, word_of,
};
use crate::{
    BearingJudged, Checkpoint, Finished, Judged, Outgoing, Recall, StoreError, Unjudged, log,
};

/// Parameter: events.
static DROP_CHECKPOINTS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        format!("DELETE FROM checkpoints WHERE event_id {}", dialect.in_identities("$1"))
    })
});

/// The last window of a bearing stays where the new one is older or ahead of the clock; one that
/// lies more than a day ahead, which an earlier version wrote, does not stay: `intake.ahead_s` is a
/// day at most.
static WRITE_STANDING: LazyLock<Spelt> = LazyLock::new(|| {
    let newer = |column: &str| {
        format!(
            "{column} = CASE WHEN excluded.last_measured_at_ms IS NULL
                               OR (bearings.last_measured_at_ms > excluded.last_measured_at_ms
                                   AND bearings.last_measured_at_ms
                                       <= excluded.updated_at_ms + 86400000)
                             THEN bearings.{column} ELSE excluded.{column} END"
        )
    };
    let newer = ["last_event_id", "last_rul_hours", "last_measured_at_ms"].map(newer).join(", ");
    Spelt::each(|_| {
        format!(
            "INSERT INTO bearings (site, equipment_id, bearing_id, risk_level, fault_stage,
                                   fault_type, updated_at_ms, state, recent, last_event_id,
                                   last_measured_at_ms, last_rul_hours, heard_since_ms)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $7)
             ON CONFLICT (site, equipment_id, bearing_id) DO UPDATE
             SET risk_level = excluded.risk_level, fault_stage = excluded.fault_stage,
                 fault_type = excluded.fault_type, updated_at_ms = excluded.updated_at_ms,
                 state = excluded.state, recent = excluded.recent, {newer}"
        )
    })
});

/// Reading what waits and writing judgements; used by the judging task.
#[derive(Debug, Clone)]
pub struct JudgementStore {
    pub(crate) database: Database,
}

impl JudgementStore {
    /// The next events to be judged, at most `limit`, in the order of arrival. No other replica
    /// gets an event of their bearings until this agent calls again.
    pub async fn unjudged(&self, limit: u32) -> Result<Vec<Unjudged>, StoreError> {
        let mut waiting = match &self.database {
            Database::Sqlite(_) => self.next_unjudged(limit).await?,
            Database::Postgres(server) => server.unjudged(limit).await?,
        };
        self.leave_out_foreign(&mut waiting).await?;
        Ok(waiting)
    }

    /// Takes from changes the names of bearings that belong to another gateway: what it says of
    /// them is no word of theirs.
    async fn leave_out_foreign(&self, waiting: &mut [Unjudged]) -> Result<(), StoreError> {
        let named = |event: &Event| -> Vec<BearingKey> {
            let bearings = event.change.iter().flat_map(|change| &change.bearings);
            bearings.map(|bearing| BearingKey { bearing: bearing.clone(), ..event.key() }).collect()
        };
        let all: BTreeSet<BearingKey> = waiting.iter().flat_map(|one| named(&one.event)).collect();
        if all.is_empty() {
            return Ok(());
        }
        let owners = pins::owners(&mut self.database.read().await?.connection(), &all).await?;
        for Unjudged { event, .. } in waiting {
            let (key, gateway) = (event.key(), event.gateway());
            let Some(change) = &mut event.change else { continue };
            change.bearings.retain(|bearing| {
                let key = BearingKey { bearing: bearing.clone(), ..key.clone() };
                owners.get(&key).is_none_or(|owner| *owner == gateway)
            });
        }
        Ok(())
    }

    /// Alarms of a site that stand and were told at `since` or later, at most `limit`.
    pub async fn told_lately(
        &self,
        site: &SiteId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<ToldLately>, StoreError> {
        episodes::told_lately(&mut self.database.read().await?.connection(), site, since, limit)
            .await
    }

    /// Returns the inputs of a judgement of this bearing. Judgements of windows that were measured
    /// after `until` are left out: their clock was ahead.
    pub async fn recall(&self, key: &BearingKey, until: Timestamp) -> Result<Recall, StoreError> {
        let mut reader = self.database.read().await?;
        let row = reader
            .query(
                "SELECT state, recent, risk_level, fault_stage, fault_type, last_measured_at_ms
                 FROM bearings
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
            )
            .bind_key(key)
            .fetch_optional()
            .await?;
        let (mut state, mut known) = (BearingState::default(), None);
        if let Some(row) = row {
            state = standing::state_of(key, &row)?;
            let recent = row.get::<Option<&str>>(1)?;
            known = recent.and_then(|recent| {
                readable(json_of::<Vec<Remembered>>("a bearing's judgements", recent))
            });
        }
        let mut connection = reader.connection();
        let recent = match known {
            Some(recent) => recent,
            None => last_windows(&mut connection, key, until).await?,
        };
        let work = follow_ups::of_bearing(&mut connection, key).await?;
        let episode = episodes::last_episode(&mut connection, key).await?;
        Ok(Recall { memory: Memory { recent, state, work }, episode })
    }

    /// Writes judgements with everything that leaves because of them. The steps of their runs stay;
    /// their checkpoints are deleted, or become those of their documents. An event that was judged
    /// before is left as it stands.
    pub async fn save(&self, judged: &[BearingJudged]) -> Result<(), StoreError> {
        match &self.database {
            Database::Sqlite(_) => {
                let mut transaction = self.database.write().await?;
                save(&mut transaction.connection(), judged).await?;
                transaction.commit().await
            }
            // through the session that holds the bearings' turns
            Database::Postgres(server) => server.save(judged).await,
        }
    }

    /// Writes the state of an unfinished run, together with the `steps` that led to it. A step that
    /// is stored already stays as it is.
    pub async fn checkpoint(
        &self,
        event_id: EventId,
        checkpoint: &Checkpoint,
        steps: &[TraceStep],
    ) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        runs::write(&mut connection, event_id, checkpoint).await?;
        let steps: Vec<(EventId, &TraceStep)> = steps.iter().map(|step| (event_id, step)).collect();
        bulk::insert_steps(&mut connection, &steps).await?;
        transaction.commit().await
    }

    /// Runs of judged events whose documents are left, at most `limit`, oldest first: those of
    /// `own`, and those that have not moved since `idle_since`; in a file, which has one agent,
    /// all.
    pub async fn unwritten(
        &self,
        own: &[EventId],
        idle_since: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EventId, Checkpoint)>, StoreError> {
        runs::unwritten(&mut self.database.read().await?, own, idle_since, limit).await
    }

    /// Ends a run whose judgement was saved before: its last steps, and what staff is told of
    /// documents that could not be written. True if staff is told, false if not or if it was told
    /// before.
    pub async fn finish(&self, finished: &Finished) -> Result<bool, StoreError> {
        let mut transaction = self.database.write().await?;
        let is_told = runs::finish(&mut transaction.connection(), finished).await?;
        transaction.commit().await?;
        Ok(is_told)
    }

    /// Returns how many steps of an event's run are stored.
    pub async fn noted_steps(&self, event_id: EventId) -> Result<u32, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query("SELECT count(*) FROM trace_steps WHERE event_id = $1");
        Ok(count_of(query.bind(event_id.0).fetch_one().await?.get(0)?))
    }
}

impl JudgementStore {
    /// The next events of a file, which has one agent: every bearing's turn is its own. Gateways
    /// are served in turn, so that what one of them has waiting delays itself alone.
    async fn next_unjudged(&self, limit: u32) -> Result<Vec<Unjudged>, StoreError> {
        let mut reader = self.database.read().await?;
        let arrivals = arrivals_in_turn(&mut reader, limit as usize).await?;
        let query = reader.query(
            "SELECT payload, node, state, updated_at_ms, arrival
             FROM events LEFT JOIN checkpoints USING (event_id)
             WHERE arrival IN (SELECT value FROM json_each($1)) ORDER BY arrival",
        );
        let these: Numbers = arrivals.into_iter().collect();
        let rows = query.bind(these).fetch_all().await?;
        drop(reader);
        let mut waiting = Vec::with_capacity(rows.len());
        let mut unreadable = Vec::new();
        for row in &rows {
            let arrival = row.get("arrival")?;
            match unjudged_of(arrival, row) {
                Ok(event) => waiting.push(event),
                Err(error) => {
                    log::event_unreadable(arrival, &error);
                    unreadable.push(arrival);
                }
            }
        }
        if !unreadable.is_empty() {
            let mut transaction = self.database.write().await?;
            bulk::set_aside(&mut transaction.connection(), &unreadable).await?;
            transaction.commit().await?;
        }
        Ok(waiting)
    }
}

/// Gateways of which events wait in a file; a look at the index for each.
const GATEWAYS_WAITING: &str = "WITH RECURSIVE waiting (gateway) AS (
         SELECT (SELECT site || '/' || gateway_id FROM events WHERE judged = 0
                 ORDER BY site || '/' || gateway_id LIMIT 1)
         UNION ALL
         SELECT (SELECT site || '/' || gateway_id FROM events
                 WHERE judged = 0 AND site || '/' || gateway_id > gateway
                 ORDER BY site || '/' || gateway_id LIMIT 1)
         FROM waiting WHERE gateway IS NOT NULL LIMIT 1001)
     SELECT gateway FROM waiting WHERE gateway IS NOT NULL";

/// Parameters: gateway, limit. The oldest events of a gateway that wait in a file and may be judged
/// now.
const WAITING_OF_GATEWAY: &str = "SELECT arrival FROM events
     WHERE judged = 0 AND site || '/' || gateway_id = $1 AND NOT EXISTS (
         SELECT 1 FROM second_opinions AS held
         WHERE held.held_until_ms > 0 AND held.site = events.site
           AND held.equipment_id = events.equipment_id
           AND held.bearing_id = events.bearing_id)
     ORDER BY arrival LIMIT $2";

/// The arrivals of the events of a file that are judged next: the oldest of each gateway, then the
/// second of each, and so on.
async fn arrivals_in_turn(reader: &mut Session, limit: usize) -> Result<Vec<i64>, StoreError> {
    let rows = reader.query(GATEWAYS_WAITING).fetch_all().await?;
    let gateways: Vec<String> = rows.iter().map(|row| row.get(0)).collect::<Result<_, _>>()?;
    let mut each = limit / gateways.len().max(1) + 1;
    loop {
        let (mut lines, mut is_cut) = (Vec::with_capacity(gateways.len()), false);
        for gateway in &gateways {
            let query = reader.query(WAITING_OF_GATEWAY).bind(gateway.as_str());
            let rows = query.bind(i64::try_from(each).unwrap_or(i64::MAX)).fetch_all().await?;
            let line = rows.iter().map(|row| row.get(0)).collect::<Result<Vec<i64>, _>>()?;
            is_cut |= line.len() == each;
            lines.push(line);
        }
        let found: usize = lines.iter().map(Vec::len).sum();
        if found >= limit || !is_cut {
            return Ok(in_turn(&lines, limit));
        }
        // others have little: who has more gets the rest
        each = limit;
    }
}

/// The first of each line, then the second of each, and so on.
fn in_turn(lines: &[Vec<i64>], limit: usize) -> Vec<i64> {
    let longest = lines.iter().map(Vec::len).max().unwrap_or(0);
    let places =
        (0..longest).flat_map(|place| lines.iter().filter_map(move |line| line.get(place)));
    places.copied().take(limit).collect()
}

/// An event that waits, out of a row with the event and the columns of a checkpoint or nulls.
pub(crate) fn unjudged_of(arrival: i64, row: &Row) -> Result<Unjudged, StoreError> {
    let checkpoint = match row.get::<Option<String>>("node")? {
        None => None,
        Some(node) => Some(Checkpoint {
            node,
            state: row.get("state")?,
            at: time_of(row.get("updated_at_ms")?)?,
        }),
    };
    Ok(Unjudged { arrival, event: json_of("an event", row.get("payload")?)?, checkpoint })
}

/// The last judgements of a bearing that an earlier version wrote, one an entry.
async fn last_windows(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    until: Timestamp,
) -> Result<Vec<Remembered>, StoreError> {
    let rows = connection
        .query(
            "SELECT measured_at_ms, risk_level, fault_stage, fault_type FROM pdm_agent_memory
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
               AND measured_at_ms <= $4
             ORDER BY measured_at_ms DESC, id DESC LIMIT $5",
        )
        .bind_key(key)
        .bind(until.unix_ms())
        .bind(i64::try_from(RECALLED).unwrap_or(i64::MAX))
        .fetch_all()
        .await?;
    let windows: Vec<Remembered> = rows.iter().map(remembered_of).filter_map(readable).collect();
    let mut recent = Vec::with_capacity(RECALLED);
    for window in windows.into_iter().rev() {
        remember(&mut recent, window);
    }
    Ok(recent)
}

fn remembered_of(row: &Row) -> Result<Remembered, StoreError> {
    Ok(Remembered::verdict(
        time_of(row.get(0)?)?,
        word_of("a risk", row.get(1)?)?,
        stage_of(row.get(2)?),
        row.get::<Option<&str>>(3)?.map(fault_of).transpose()?,
    ))
}

/// Writes judgements. An event that was judged before keeps its judgement, and nothing leaves a
/// second time.
pub(crate) async fn save(
    connection: &mut Connection<'_>,
    judged: &[BearingJudged],
) -> Result<(), StoreError> {
    let all: Vec<(&BearingKey, &Judged)> = judged
        .iter()
        .flat_map(|bearing| bearing.judgements.iter().map(|judged| (&bearing.key, judged)))
        .collect();
    if all.is_empty() {
        return Ok(());
    }
    bulk::mark_judged(connection, &all).await?;
    let rows = all.iter().map(|(key, judged)| MemoryRow::of(key, judged));
    let rows = rows.collect::<Result<Vec<_>, StoreError>>()?;
    let first = bulk::insert_judgements(connection, &rows).await?;
    // of an event that was judged before the checkpoint is that of its documents
    let events: Identities = first.iter().collect();
    connection.query(&DROP_CHECKPOINTS).bind(events).execute().await?;
    write_effects(connection, &all, &first).await?;
    for bearing in judged {
        let stored = |judged: &&Judged| first.contains(&judged.diagnosis.event_id);
        let last = bearing.judgements.last().filter(stored);
        let in_time = bearing.judgements.iter().filter(stored).filter(|judged| !is_ahead(judged));
        let newest = in_time.max_by_key(|judged| judged.measured_at);
        if let Some(last) = last {
            write_standing(connection, bearing, &last.diagnosis, newest).await?;
        }
    }
    Ok(())
}

/// Whether a window was measured ahead of the clock: such a one counts as late, and lies after its
/// judgement. It is shown as no bearing's last.
fn is_ahead(judged: &Judged) -> bool {
    judged.late && judged.measured_at > judged.diagnosis.judged_at
}

/// Writes what follows from the judgements that are the first of their event: episodes, rows of the
/// outbox, steps of runs, checkpoints of their documents.
async fn write_effects(
    connection: &mut Connection<'_>,
    all: &[(&BearingKey, &Judged)],
    first: &HashSet<EventId>,
) -> Result<(), StoreError> {
    let mut outgoing: Vec<(&Outgoing, Timestamp)> = Vec::with_capacity(all.len());
    let mut steps: Vec<(EventId, &TraceStep)> = Vec::with_capacity(all.len());
    for (key, judged) in all {
        let event_id = judged.diagnosis.event_id;
        if judged.was_held {
            held::settle(connection, event_id).await?;
        }
        if !first.contains(&event_id) {
            continue;
        }
        follow_ups::write(connection, key, judged).await?;
        opinions::ask(connection, key, judged).await?;
        let at = judged.diagnosis.judged_at;
        outgoing.extend(judged.outgoing.iter().map(|row| (row, at)));
        steps.extend(judged.trace.iter().map(|step| (event_id, step)));
        if let Some(checkpoint) = &judged.unwritten {
            runs::write(connection, event_id, checkpoint).await?;
        }
        if let Some(announcement) = &judged.announcement {
            episodes::insert_announcement(connection, key, announcement).await?;
            let at = announcement.notification.created_at;
            outgoing.extend(announcement.outgoing.iter().map(|row| (row, at)));
        }
        if let Some(change) = &judged.quiet {
            episodes::write(connection, key, change).await?;
        }
    }
    bulk::insert_outbox(connection, &outgoing).await?;
    bulk::insert_steps(connection, &steps).await
}

/// Writes the state of a bearing after its last judgement, and which judgement is that of its
/// newest window: a window that came late or lies ahead of the clock leaves it.
async fn write_standing(
    connection: &mut Connection<'_>,
    bearing: &BearingJudged,
    last: &Diagnosis,
    newest: Option<&Judged>,
) -> Result<(), StoreError> {
    connection
        .query(&WRITE_STANDING)
        .bind_key(&bearing.key)
        .bind(last.risk_level.as_str())
        .bind(i64::from(last.fault_stage))
        .bind(last.fault_type.map(Fault::as_str))
        .bind(last.judged_at.unix_ms())
        .bind(to_json("a bearing's state", &bearing.state)?)
        .bind(to_json("a bearing's judgements", &bearing.recent)?)
        .bind(newest.map(|one| one.diagnosis.event_id.0))
        .bind(newest.map(|one| one.measured_at.unix_ms()))
        .bind(newest.and_then(|one| one.diagnosis.rul_assessment.hours))
        .execute()
        .await?;
    Ok(())
}
