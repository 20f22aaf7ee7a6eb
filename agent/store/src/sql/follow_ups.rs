//! The work that judgements ask for: written with the judgement, closed by reports of staff
//! (`work_reports`), superseded by later judgements of the bearing.

use pdm_expert::case::{RECALLED_WORK, Work};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::{FollowUpReport, FollowUpState, Verdict, WorkFound};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use super::work_reports::Sets;
use super::{Database, work_reports};
use crate::database::{Connection, Row};
use crate::encoding::{count_of, fault_of, json_of, readable, time_of};
use crate::{FollowUp, Judged, Reported, StoreError, WorkCounts};

pub(super) const COLUMNS: &str =
    "event_id, number, asked_at_ms, action_ko, action_en, due_at_ms, work_order,
                       state, by_whom, at_ms, note, repaired, verdict, element, cause";

/// Actions that follow from judgements; used by the command line and the metrics.
#[derive(Debug, Clone)]
pub struct FollowUpStore {
    pub(crate) database: Database,
}

impl FollowUpStore {
    /// Returns the actions that a judgement asks for; empty if this event has no judgement.
    pub async fn follow_up(&self, event_id: EventId) -> Result<Vec<FollowUp>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(&OF_EVENT).bind(event_id.0);
        let rows = query.fetch_all().await?;
        if !rows.is_empty() {
            return Ok(rows.iter().map(follow_up_of).filter_map(readable).collect());
        }
        // a judgement of an earlier version
        let query =
            reader.query("SELECT follow_up_actions FROM pdm_agent_memory WHERE event_id = $1");
        let row = query.bind(event_id.0).fetch_optional().await?;
        row.map_or(Ok(Vec::new()), |row| json_of("follow-up actions", row.get(0)?))
    }

    /// Applies a report of staff on the work of a bearing. What was found goes into the bearing's
    /// memory and, with the judgement, into the knowledge base.
    pub async fn report(
        &self,
        key: &BearingKey,
        report: &FollowUpReport,
        now: Timestamp,
    ) -> Result<Reported, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let reported = work_reports::take(&mut connection, key, report, Sets::All, now).await?;
        transaction.commit().await?;
        Ok(reported)
    }

    /// Does the same as [`FollowUpStore::report`] for a program: a report that names no action sets
    /// the work that is open. Where several judgements have any, it is kept and sets none
    /// ([`Reported::Undecided`]).
    pub async fn report_one(
        &self,
        key: &BearingKey,
        report: &FollowUpReport,
        now: Timestamp,
    ) -> Result<Reported, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let reported = work_reports::take(&mut connection, key, report, Sets::One, now).await?;
        transaction.commit().await?;
        Ok(reported)
    }

    /// Returns the bearing whose event was judged; `None` if this event has no judgement.
    pub async fn bearing_of(&self, event_id: EventId) -> Result<Option<BearingKey>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT site, equipment_id, bearing_id FROM pdm_agent_memory WHERE event_id = $1",
        );
        query.bind(event_id.0).fetch_optional().await?.map(|row| row.key()).transpose()
    }

    /// Counts of all work that is kept.
    pub async fn work_counts(&self, now: Timestamp) -> Result<WorkCounts, StoreError> {
        let mut reader = self.database.read().await?;
        let row = reader
            .query(
                "SELECT count(CASE WHEN state = 'open' THEN 1 END),
                        count(CASE WHEN state = 'open' AND due_at_ms < $1 THEN 1 END),
                        count(CASE WHEN state = 'done' THEN 1 END),
                        count(CASE WHEN state = 'dropped' THEN 1 END),
                        count(CASE WHEN state = 'superseded' THEN 1 END)
                 FROM follow_ups",
            )
            .bind(now.unix_ms())
            .fetch_one()
            .await?;
        let count = |at: usize| Ok::<u32, StoreError>(count_of(row.get(at)?));
        let mut counts = WorkCounts {
            open: count(0)?,
            overdue: count(1)?,
            done: count(2)?,
            dropped: count(3)?,
            superseded: count(4)?,
            ..WorkCounts::default()
        };
        for (verdict, number) in work_reports::verdicts(&mut reader.connection()).await? {
            match verdict {
                Verdict::Right => counts.right = number,
                Verdict::Wrong => counts.wrong = number,
                Verdict::OtherCause => counts.other_cause = number,
            }
        }
        Ok(counts)
    }

    /// Returns how many actions were done since a time, and the median time from their asking to
    /// their doing, hours; none where none was done.
    pub async fn done_since(&self, since: Timestamp) -> Result<(u32, Option<f64>), StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT at_ms - asked_at_ms FROM follow_ups
             WHERE state = 'done' AND at_ms >= $1 ORDER BY 1",
        );
        let rows = query.bind(since.unix_ms()).fetch_all().await?;
        let took = rows.iter().map(|row| row.get::<i64>(0)).filter_map(readable);
        // work that was done before it was asked for took no time
        let took: Vec<f64> = took.map(|took_ms| took_ms.max(0) as f64 / 3_600_000.0).collect();
        let middle = took.len() / 2;
        let median = match (took.get(middle), took.get(middle.wrapping_sub(1))) {
            (Some(upper), Some(lower)) if took.len().is_multiple_of(2) => {
                Some(f64::midpoint(*lower, *upper))
            }
            (upper, _) => upper.copied(),
        };
        Ok((u32::try_from(took.len()).unwrap_or(u32::MAX), median))
    }
}

static OF_EVENT: std::sync::LazyLock<crate::database::Spelt> = std::sync::LazyLock::new(|| {
    crate::database::Spelt::each(|_| {
        format!("SELECT {COLUMNS} FROM follow_ups WHERE event_id = $1 ORDER BY number")
    })
});

static OF_BEARING: std::sync::LazyLock<crate::database::Spelt> = std::sync::LazyLock::new(|| {
    crate::database::Spelt::each(|_| {
        format!(
            "SELECT {COLUMNS} FROM follow_ups
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
                 ORDER BY asked_at_ms DESC, number LIMIT $4"
        )
    })
});

pub(super) fn found_of(row: &Row) -> Result<Option<WorkFound>, StoreError> {
    let Some(word) = row.get::<Option<&str>>("verdict")? else { return Ok(None) };
    let verdict: Verdict = json_of("a verdict", &format!("\"{word}\""))?;
    let element = row.get::<Option<&str>>("element")?.map(fault_of).transpose()?;
    Ok(Some(WorkFound { verdict, element, cause: row.get("cause")? }))
}

pub(super) fn state_of(row: &Row) -> Result<FollowUpState, StoreError> {
    json_of("a state", &format!("\"{}\"", row.get::<&str>("state")?))
}

fn time_at(row: &Row, column: &str) -> Result<Option<Timestamp>, StoreError> {
    row.get::<Option<i64>>(column)?.map(time_of).transpose()
}

pub(super) fn follow_up_of(row: &Row) -> Result<FollowUp, StoreError> {
    Ok(FollowUp {
        action: Text::new(row.get::<String>("action_ko")?, row.get::<String>("action_en")?),
        due_at: time_at(row, "due_at_ms")?,
        work_order: row.get("work_order")?,
        state: state_of(row)?,
        by: row.get("by_whom")?,
        at: time_at(row, "at_ms")?,
        note: row.get("note")?,
        repaired: row.get::<i64>("repaired")? != 0,
        found: found_of(row)?,
    })
}

/// The work that judgements of a bearing asked for, and what was reported beside it, newest first.
pub(super) async fn of_bearing(
    connection: &mut Connection<'_>,
    key: &BearingKey,
) -> Result<Vec<Work>, StoreError> {
    let limit = i64::try_from(RECALLED_WORK).unwrap_or(i64::MAX);
    let rows = connection.query(&OF_BEARING).bind_key(key).bind(limit).fetch_all().await?;
    let asked = rows.iter().map(|row| {
        let FollowUp { action, due_at, work_order, state, at, repaired, found, .. } =
            follow_up_of(row)?;
        let event_id = EventId(row.get("event_id")?);
        let asked_at = time_of(row.get("asked_at_ms")?)?;
        Ok(Work { event_id, asked_at, action, due_at, work_order, state, at, repaired, found })
    });
    let mut work: Vec<Work> = asked.filter_map(readable).collect();
    work.extend(work_reports::beside_work(connection, key, limit).await?);
    work.sort_by_key(|one| std::cmp::Reverse(one.asked_at));
    work.truncate(RECALLED_WORK);
    Ok(work)
}

/// Writes the work that a judgement asks for. What an earlier judgement of the bearing asked for
/// and is still open is superseded by it.
pub(super) async fn write(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    judged: &Judged,
) -> Result<(), StoreError> {
    let Diagnosis { event_id, judged_at, .. } = &judged.diagnosis;
    if judged.supersedes || !judged.follow_up.is_empty() {
        connection
            .query(
                "UPDATE follow_ups SET state = 'superseded', at_ms = $4, note = $5
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND state = 'open'",
            )
            .bind_key(key)
            .bind(judged_at.unix_ms())
            .bind(format!("superseded by the judgement of event {event_id}"))
            .execute()
            .await?;
    }
    for (number, follow) in (1_i64..).zip(&judged.follow_up) {
        insert(connection, key, *event_id, *judged_at, number, follow).await?;
    }
    Ok(())
}

async fn insert(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    event_id: EventId,
    asked_at: Timestamp,
    number: i64,
    follow: &FollowUp,
) -> Result<(), StoreError> {
    let dialect = connection.dialect();
    let text = |text: Option<&str>| text.map(|text| dialect.text(text).into_owned());
    let found = follow.found.as_ref();
    connection
        .query(
            "INSERT INTO follow_ups (site, equipment_id, bearing_id, event_id, number, asked_at_ms,
                                     action_ko, action_en, due_at_ms, work_order, state, by_whom,
                                     at_ms, note, repaired, verdict, element, cause)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
             $18)
             ON CONFLICT (event_id, number) DO NOTHING",
        )
        .bind_key(key)
        .bind(event_id.0)
        .bind(number)
        .bind(asked_at.unix_ms())
        .bind(follow.action.ko.as_str())
        .bind(follow.action.en.as_str())
        .bind(follow.due_at.map(Timestamp::unix_ms))
        .bind(follow.work_order.as_deref())
        .bind(follow.state.as_str())
        .bind(text(follow.by.as_deref()))
        .bind(follow.at.map(Timestamp::unix_ms))
        .bind(text(follow.note.as_deref()))
        .bind(i64::from(follow.repaired))
        .bind(found.map(|found| found.verdict.as_str()))
        .bind(found.and_then(|found| found.element).map(Fault::as_str))
        .bind(text(found.and_then(|found| found.cause.as_deref())))
        .execute()
        .await?;
    Ok(())
}
