//! Refused messages: each kind is kept once with its count, and the first of it leaves as a dead
//! letter.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pdm_shared::delivery::DeadLetter;
use pdm_shared::episode::{Shelve, ShelveAction};
use pdm_shared::follow_up::FollowUpReport;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;

use super::bulk;
use crate::database::{Connection, Spelt};
use crate::encoding::to_json;
use crate::outbox::{MAX_LETTERS_WAITING, OutboxState};
use crate::{
    DEAD_LETTER_LANE, Incoming, MAX_DEAD_LETTERS, Outgoing, Payload, Refusal, RefusalCause,
    StoreError, Stored, fingerprint, log,
};

/// Parameter: lane.
static LETTERS_WAITING: LazyLock<Spelt> = LazyLock::new(|| {
    let waiting = OutboxState::Waiting;
    Spelt::each(|_| format!("SELECT count(*) FROM outbox WHERE lane = $1 AND state = '{waiting}'"))
});

/// Counts one refused message, which leaves by this lane under this topic. What answers staff has
/// the lane of everything else.
pub(super) async fn take_refused(
    connection: &mut Connection<'_>,
    letter: &DeadLetter,
    topic: (&'static str, &str),
    stored: &mut Stored,
) -> Result<(), StoreError> {
    let is_new = refuse(connection, letter, fingerprint::of_message(letter), 1, topic).await?;
    stored.letters += u64::from(is_new);
    stored.refused += 1;
    Ok(())
}

/// The refusal of a shelf of a bearing that was never measured, or of the end of one that there is
/// not.
pub(super) fn unknown_shelf(
    key: &BearingKey,
    shelve: &Shelve,
    now: Timestamp,
) -> Result<DeadLetter, StoreError> {
    let payload = to_json("a shelf", shelve)?;
    let reason = match shelve.action {
        ShelveAction::End => "nothing is shelved of this bearing",
        ShelveAction::Shelve | ShelveAction::OutOfService => "this bearing was never judged",
    };
    Ok(DeadLetter::of(&format!("{key}/shelve"), payload.as_bytes(), reason.to_owned(), now))
}

/// The refusal of a report on work that nobody asked for.
pub(super) fn unknown_work(
    key: &BearingKey,
    report: &FollowUpReport,
    now: Timestamp,
) -> Result<DeadLetter, StoreError> {
    let payload = to_json("a follow-up", report)?;
    let reason = "no judgement of this bearing asks for such work".to_owned();
    Ok(DeadLetter::of(&format!("{key}/follow-up"), payload.as_bytes(), reason, now))
}

/// The answer to a report that names no action where several are open.
pub(super) fn undecided_work(
    key: &BearingKey,
    report: &FollowUpReport,
    open: &str,
    now: Timestamp,
) -> Result<DeadLetter, StoreError> {
    let payload = to_json("a follow-up", report)?;
    let reason = format!(
        "the report is kept and sets no action: number is absent and the work of several \
         judgements is open; send it again with one of {open}"
    );
    Ok(DeadLetter::of(&format!("{key}/follow-up"), payload.as_bytes(), reason, now))
}

/// Writes one dead letter for all events that were refused for one cause, gateway and bearing: a
/// hostile gateway must not fill the table, and the first of its events shows what it sends.
pub(super) async fn refuse_events(
    connection: &mut Connection<'_>,
    batch: &[Incoming],
    now: Timestamp,
    topic: &str,
    stored: &mut Stored,
) -> Result<(), StoreError> {
    let mut groups: BTreeMap<_, (&Refusal, i64)> = BTreeMap::new();
    // what cannot be read has left as a dead letter of its own
    for refusal in stored.refusals.iter().filter(|one| one.cause != RefusalCause::Unreadable) {
        let group = (refusal.cause, &refusal.gateway, &refusal.bearing);
        groups.entry(group).or_insert((refusal, 0)).1 += 1;
    }
    let mut letters = 0;
    for ((cause, gateway, bearing), (refusal, count)) in groups {
        let payload = batch.iter().find_map(|incoming| match incoming {
            Incoming::Event { event, payload, .. } if event.event_id == refusal.event_id => {
                Some(payload.as_str())
            }
            Incoming::Event { .. }
            | Incoming::Status { .. }
            | Incoming::Ack { .. }
            | Incoming::Shelve { .. }
            | Incoming::FollowUp { .. }
            | Incoming::Refused(_) => None,
        });
        let reason = format!("not this gateway's event: {}", refusal.reason);
        let payload = payload.unwrap_or_default().as_bytes();
        let letter = DeadLetter::of(&bearing.to_string(), payload, reason, now);
        let fingerprint = fingerprint::of_cause(cause.as_str(), gateway, bearing);
        let topic = (DEAD_LETTER_LANE, topic);
        let is_new = refuse(connection, &letter, fingerprint, count, topic).await?;
        letters += u64::from(is_new);
    }
    stored.letters += letters;
    Ok(())
}

/// Counts `count` refused messages of one fingerprint; true if the first of them leaves as a dead
/// letter, which it does unless too many wait already.
async fn refuse(
    connection: &mut Connection<'_>,
    letter: &DeadLetter,
    mut fingerprint: i64,
    count: i64,
    (lane, topic): (&'static str, &str),
) -> Result<bool, StoreError> {
    let kept = connection.query("SELECT count(*) FROM dead_letters").fetch_one().await?;
    if kept.get::<i64>(0)? >= MAX_DEAD_LETTERS && !is_known(connection, fingerprint).await? {
        fingerprint = fingerprint::of_reason(letter);
    }
    let dialect = connection.dialect();
    let counted = connection
        .query(
            "INSERT INTO dead_letters (fingerprint, topic, reason, payload_head, payload_bytes,
                                       first_at_ms, last_at_ms, count)
             VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
             ON CONFLICT (fingerprint) DO UPDATE
             SET count = dead_letters.count + excluded.count, last_at_ms = excluded.last_at_ms
             RETURNING count",
        )
        .bind(fingerprint)
        .bind(dialect.text(&letter.topic))
        .bind(dialect.text(&letter.reason))
        .bind(dialect.text(&letter.payload_head))
        .bind(i64::try_from(letter.payload_bytes).unwrap_or(i64::MAX))
        .bind(letter.received_at.unix_ms())
        .bind(count)
        .fetch_one()
        .await?;
    if counted.get::<i64>(0)? != count {
        return Ok(false);
    }
    if lane == DEAD_LETTER_LANE && !has_room(connection).await? {
        log::letter_not_published();
        return Ok(false);
    }
    let row = outgoing(letter, lane, topic)?;
    bulk::insert_outbox(connection, &[(&row, letter.received_at)]).await?;
    Ok(true)
}

/// Whether a further refused message may wait to be published.
async fn has_room(connection: &mut Connection<'_>) -> Result<bool, StoreError> {
    let query = connection.query(&LETTERS_WAITING);
    let waiting: i64 = query.bind(DEAD_LETTER_LANE).fetch_one().await?.get(0)?;
    Ok(waiting < MAX_LETTERS_WAITING)
}

/// The row of the outbox that publishes a refused message.
fn outgoing(letter: &DeadLetter, lane: &str, topic: &str) -> Result<Outgoing, StoreError> {
    Ok(Outgoing {
        key: EventId::at(letter.received_at.unix_ms()).0,
        lane: lane.to_owned(),
        topic: Some(topic.to_owned()),
        retain: false,
        notification_id: None,
        group: None,
        payload: Payload::Text(to_json("a dead letter", letter)?),
        due_at: letter.received_at,
    })
}

async fn is_known(connection: &mut Connection<'_>, fingerprint: i64) -> Result<bool, StoreError> {
    let query = connection.query("SELECT 1 FROM dead_letters WHERE fingerprint = $1");
    Ok(query.bind(fingerprint).fetch_optional().await?.is_some())
}
