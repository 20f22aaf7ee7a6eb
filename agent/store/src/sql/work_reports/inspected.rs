//! Finds which work a report sets, and which judgement was inspected.

use pdm_shared::follow_up::{FollowUpReport, FollowUpState};
use pdm_shared::id::{BearingKey, EventId};
use serde::{Deserialize, Serialize};

use crate::database::{Connection, Row, Spelt};
use crate::sql::follow_ups::{COLUMNS, follow_up_of};
use crate::{FollowUp, StoreError};

/// Most judgements that replace one another between the one that a report names and the one that
/// stands. Chosen: a judgement a day of a year that asks for new work each time.
const MAX_CHAIN: i64 = 400;

/// An action as it stands before a report.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Action {
    /// The judgement that asks for it.
    pub(super) event_id: EventId,
    /// Its number there.
    pub(super) number: i64,
    /// The action and its state.
    pub(super) before: FollowUp,
}

/// The judgement and the actions that a report is about.
#[derive(Debug)]
pub(super) struct Aim {
    /// The judgement that was inspected.
    pub(super) inspected: Option<EventId>,
    /// The actions that the report sets, in their order.
    pub(super) actions: Vec<Action>,
}

impl Aim {
    /// The actions, of which the first one's judgement was inspected; without any, that of `or`.
    fn new(actions: Vec<Action>, or: Option<EventId>) -> Self {
        let inspected = actions.first().map(|action| action.event_id).or(or);
        Self { inspected, actions }
    }
}

static OPEN: std::sync::LazyLock<Spelt> = std::sync::LazyLock::new(|| {
    Spelt::each(|_| {
        format!(
            "SELECT {COLUMNS} FROM follow_ups
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND state = 'open'
             ORDER BY asked_at_ms, event_id, number"
        )
    })
});

static NAMED: std::sync::LazyLock<Spelt> = std::sync::LazyLock::new(|| {
    Spelt::each(|_| {
        format!(
            "SELECT {COLUMNS} FROM follow_ups
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND event_id = $4
             ORDER BY number"
        )
    })
});

/// Returns the judgement and actions that a report is about; `None` if its bearing is not known, or
/// if it names a judgement of another bearing or an action that nothing asks for.
pub(super) async fn aim(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    report: &FollowUpReport,
) -> Result<Option<Aim>, StoreError> {
    let open = open(connection, key).await?;
    let named = match (report.event_id, report.number) {
        (Some(event_id), _) => Some(event_id),
        // a number alone is of the last work
        (None, Some(_)) => last_with_work(connection, key).await?,
        (None, None) => None,
    };
    let Some(event_id) = named else {
        let is_known = !open.is_empty() || is_known(connection, key).await?;
        return Ok(is_known.then(|| Aim::new(open, None)));
    };
    let rows = connection.query(&NAMED).bind_key(key).bind(event_id.0).fetch_all().await?;
    let asked = rows.iter().map(action_of).collect::<Result<Vec<_>, _>>()?;
    if let Some(number) = report.number {
        let action = asked.into_iter().find(|action| action.number == i64::from(number));
        let Some(action) = action else { return Ok(None) };
        return of_action(connection, key, action, open, report.state).await.map(Some);
    }
    if asked.is_empty() {
        return of_judgement(connection, key, event_id, open).await;
    }
    let inspected = end_of_chain(connection, key, event_id).await?;
    Ok(Some(Aim::new(open, Some(inspected))))
}

/// The open actions of a bearing, in their order.
pub(super) async fn open(
    connection: &mut Connection<'_>,
    key: &BearingKey,
) -> Result<Vec<Action>, StoreError> {
    let rows = connection.query(&OPEN).bind_key(key).fetch_all().await?;
    rows.iter().map(action_of).collect()
}

/// A report on one action. One that a later judgement has replaced is the open one that asks for
/// the same, if there is one: other work is left to be done.
async fn of_action(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    action: Action,
    open: Vec<Action>,
    state: FollowUpState,
) -> Result<Aim, StoreError> {
    if action.before.state != FollowUpState::Superseded || state == FollowUpState::Open {
        return Ok(Aim::new(vec![action], None));
    }
    let inspected = end_of_chain(connection, key, action.event_id).await?;
    let same = open.into_iter().filter(|other| other.before.action == action.before.action);
    Ok(Aim::new(same.take(1).collect(), Some(inspected)))
}

/// A report that names a judgement which asks for no work. One that is no longer kept closes
/// nothing: whether it was of this bearing cannot be told.
async fn of_judgement(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    event_id: EventId,
    open: Vec<Action>,
) -> Result<Option<Aim>, StoreError> {
    let row = connection
        .query(
            "SELECT site, equipment_id, bearing_id FROM pdm_agent_memory WHERE event_id = $1
             UNION SELECT site, equipment_id, bearing_id FROM follow_ups WHERE event_id = $1",
        )
        .bind(event_id.0)
        .fetch_optional()
        .await?;
    match row.map(|row| row.key()).transpose()? {
        Some(of) if of == *key => Ok(Some(Aim::new(open, Some(event_id)))),
        Some(_) => Ok(None),
        None => {
            let is_known = is_known(connection, key).await?;
            Ok(is_known.then(|| Aim { inspected: None, actions: Vec::new() }))
        }
    }
}

fn action_of(row: &Row) -> Result<Action, StoreError> {
    Ok(Action {
        event_id: EventId(row.get("event_id")?),
        number: row.get("number")?,
        before: follow_up_of(row)?,
    })
}

/// The last judgement of the bearing that asked for work.
async fn last_with_work(
    connection: &mut Connection<'_>,
    key: &BearingKey,
) -> Result<Option<EventId>, StoreError> {
    let query = connection.query(
        "SELECT event_id FROM follow_ups
         WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
         ORDER BY asked_at_ms DESC, event_id DESC LIMIT 1",
    );
    let row = query.bind_key(key).fetch_optional().await?;
    row.map(|row| row.get(0).map(EventId)).transpose()
}

/// Whether anything is known of the bearing.
async fn is_known(connection: &mut Connection<'_>, key: &BearingKey) -> Result<bool, StoreError> {
    let query = connection.query(
        "SELECT 1 FROM bearings WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
         UNION SELECT 1 FROM follow_ups WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
    );
    Ok(query.bind_key(key).fetch_optional().await?.is_some())
}

/// The judgement that stands in the place of one whose work later judgements have replaced: each
/// replaced at the time at which the next one asked for its own. What was found on the machine was
/// found of that one, so one inspection counts once, whichever judgement of the chain a report
/// names.
async fn end_of_chain(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    from: EventId,
) -> Result<EventId, StoreError> {
    let rows = connection
        .query(
            "SELECT event_id, asked_at_ms, MAX(CASE WHEN state = 'superseded' THEN at_ms END)
             FROM follow_ups
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
               AND asked_at_ms >= (SELECT MIN(asked_at_ms) FROM follow_ups WHERE event_id = $4)
             GROUP BY event_id, asked_at_ms ORDER BY asked_at_ms, event_id LIMIT $5",
        )
        .bind_key(key)
        .bind(from.0)
        .bind(MAX_CHAIN)
        .fetch_all()
        .await?;
    let mut stands = from;
    let mut replaced_at: Option<i64> = None;
    let mut is_after = false;
    for row in &rows {
        let event_id = EventId(row.get(0)?);
        let asked_at: i64 = row.get(1)?;
        if event_id == from {
            (is_after, replaced_at) = (true, row.get(2)?);
        } else if is_after && replaced_at == Some(asked_at) {
            (stands, replaced_at) = (event_id, row.get(2)?);
        }
    }
    Ok(stands)
}
