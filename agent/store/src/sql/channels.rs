//! The states of the ways to staff: what waits, what fails since when and why, what was given up
//! lately.
//!
//! The words of [`OutboxState`] stand in the text, for the partial indexes (see `outbox`).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pdm_shared::time::Timestamp;
use pdm_web::plant::ChannelRow;

use crate::database::Spelt;
use crate::encoding::time_of;
use crate::outbox::OutboxState;
use crate::{DEAD_LETTER_LANE, OutboxStore, StoreError, VECTORS_LANE};

/// How long something given up is told of, s: a week.
const LATELY_S: f64 = 7.0 * 86_400.0;
/// How long it counts as a failure of its channel that stands, s: a day.
const FAILING_S: f64 = 86_400.0;

/// Parameter: the lane that leads to no person. What is held back waits for its summary.
static WAITING: LazyLock<Spelt> = LazyLock::new(|| {
    let rows_in = |state: OutboxState| {
        format!(
            "SELECT lane, attempts, created_at_ms FROM outbox
             WHERE state = '{state}' AND lane NOT IN ($1, '{DEAD_LETTER_LANE}')"
        )
    };
    let (waiting, held) = (rows_in(OutboxState::Waiting), rows_in(OutboxState::Held));
    Spelt::each(|_| {
        format!(
            "SELECT lane, count(*) AS waiting,
                    min(CASE WHEN attempts > 0 THEN created_at_ms END) AS since_ms
             FROM ({waiting} UNION ALL {held}) AS unsent GROUP BY lane"
        )
    })
});

/// Parameter: lane.
static LAST_FAILURE: LazyLock<Spelt> = LazyLock::new(|| {
    let (waiting, held) = (OutboxState::Waiting, OutboxState::Held);
    Spelt::each(|_| {
        format!(
            "SELECT last_error, due_at_ms FROM outbox
             WHERE lane = $1 AND state IN ('{waiting}', '{held}') AND last_error IS NOT NULL
             ORDER BY id DESC LIMIT 1"
        )
    })
});

/// Parameters: the lane that leads to no person, since.
static GIVEN_UP: LazyLock<Spelt> = LazyLock::new(|| {
    let given_up = OutboxState::GivenUp;
    Spelt::each(|_| {
        format!(
            "SELECT lane, count(*) AS count, max(settled_at_ms) AS at_ms, max(id) AS last
             FROM outbox WHERE state = '{given_up}' AND lane NOT IN ($1, '{DEAD_LETTER_LANE}')
               AND settled_at_ms >= $2
             GROUP BY lane"
        )
    })
});

// How the ways to staff do; used by pages, metrics and `check`.
impl OutboxStore {
    /// The lanes on which something waits or was given up within a week.
    pub async fn channels(&self, now: Timestamp) -> Result<Vec<ChannelRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let mut channels: BTreeMap<String, ChannelRow> = BTreeMap::new();
        for row in reader.query(&WAITING).bind(VECTORS_LANE).fetch_all().await? {
            let lane: String = row.get("lane")?;
            let since = row.get::<Option<i64>>("since_ms")?.map(time_of).transpose()?;
            let waiting = row.get::<i64>("waiting")?.unsigned_abs();
            let of = channels.entry(lane.clone()).or_insert_with(|| ChannelRow::sound(lane));
            (of.waiting, of.failing_since) = (waiting, since);
        }
        for of in channels.values_mut().filter(|of| of.failing_since.is_some()) {
            let query = reader.query(&LAST_FAILURE).bind(of.lane.as_str());
            let Some(row) = query.fetch_optional().await? else { continue };
            of.last_error = row.get(0)?;
            of.next_try_at = Some(time_of(row.get(1)?)?);
        }
        let since = now.plus_seconds(-LATELY_S).unix_ms();
        for row in reader.query(&GIVEN_UP).bind(VECTORS_LANE).bind(since).fetch_all().await? {
            let lane: String = row.get("lane")?;
            let at = time_of(row.get("at_ms")?)?;
            let of = channels.entry(lane.clone()).or_insert_with(|| ChannelRow::sound(lane));
            of.given_up = row.get::<i64>("count")?.unsigned_abs();
            of.given_up_at = Some(at);
            if of.last_error.is_none() {
                let query = reader.query("SELECT last_error FROM outbox WHERE id = $1");
                let last = query.bind(row.get::<i64>("last")?).fetch_optional().await?;
                of.last_error = last.map(|row| row.get(0)).transpose()?.flatten();
            }
        }
        for of in channels.values_mut() {
            let is_fresh = of.given_up_at.is_some_and(|at| now.seconds_since(at) < FAILING_S);
            of.is_failing = of.failing_since.is_some() || is_fresh;
        }
        Ok(channels.into_values().collect())
    }
}
