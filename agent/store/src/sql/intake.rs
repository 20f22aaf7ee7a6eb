//! Storing a batch: events once each, sequences, presence, acknowledgements, refused messages.

use std::collections::{BTreeMap, BTreeSet};

use pdm_shared::delivery::{GatewayStatus, Presence};
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, GatewayKey, SiteId};
use pdm_shared::time::Timestamp;

use super::{
    Database, bulk, capture_demands, dead_letters, episodes, gateway_says, gateways, identity,
    pins, refusals, relearn_requests, unread, work_reports,
};
use crate::admission::{Admitted, Desk, GatewayRecord};
use crate::database::Connection;
use crate::encoding::to_word;
use crate::{
    DEAD_LETTER_LANE, Incoming, IntakeTerms, MQTT_LANE, Reported, ShelveOutcome, StoreError, Stored,
};

/// Stores incoming messages; used by the intake.
#[derive(Debug, Clone)]
pub struct IntakeStore {
    pub(crate) database: Database,
}

impl IntakeStore {
    /// Stores a batch; only after this returns may its messages be acknowledged. Events are held to
    /// `terms`. A refused message that is new leaves on `dead_letter_topic`.
    pub async fn store_under(
        &self,
        terms: &IntakeTerms,
        batch: &[Incoming],
        now: Timestamp,
        dead_letter_topic: &str,
    ) -> Result<Stored, StoreError> {
        if let Database::Postgres(server) = &self.database {
            server.make_partitions(batch, now).await?;
        }
        let mut stored = Stored::default();
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        // every gateway of the batch before its first piece: two writers whose pieces come in other
        // orders must not wait for each other
        gateways::lock(&mut connection, &gateways_of(batch)).await?;
        // a status decides which events after it are its gateway's, so it ends a piece
        let is_status = |incoming: &Incoming| matches!(incoming, Incoming::Status { .. });
        for piece in batch.split_inclusive(is_status) {
            store_events(&mut connection, terms, piece, now, &mut stored).await?;
            let others = Others { terms, now, dead_letter_topic };
            store_others(&mut connection, piece, &others, &mut stored).await?;
        }
        dead_letters::refuse_events(&mut connection, batch, now, dead_letter_topic, &mut stored)
            .await?;
        refusals::note(&mut connection, &stored.refusals, now).await?;
        unread::follow(&mut connection, batch, &stored.refusals).await?;
        transaction.commit().await?;
        Ok(stored)
    }

    /// Stores a batch under the default terms.
    pub async fn store(
        &self,
        batch: &[Incoming],
        now: Timestamp,
        dead_letter_topic: &str,
    ) -> Result<Stored, StoreError> {
        self.store_under(&IntakeTerms::default(), batch, now, dead_letter_topic).await
    }
}

/// The gateways that a batch changes.
fn gateways_of(batch: &[Incoming]) -> BTreeSet<GatewayKey> {
    let named = batch.iter().filter_map(|incoming| match incoming {
        Incoming::Event { event, .. } => Some(event.gateway()),
        Incoming::Status { site, status } => {
            Some(GatewayKey::new(site.clone(), status.gateway_id.clone()))
        }
        Incoming::Ack { .. }
        | Incoming::Shelve { .. }
        | Incoming::FollowUp { .. }
        | Incoming::Refused(_) => None,
    });
    named.collect()
}

/// The context in which messages other than events are stored.
struct Others<'a> {
    terms: &'a IntakeTerms,
    now: Timestamp,
    dead_letter_topic: &'a str,
}

async fn store_others(
    connection: &mut Connection<'_>,
    piece: &[Incoming],
    others: &Others<'_>,
    stored: &mut Stored,
) -> Result<(), StoreError> {
    let &Others { now, dead_letter_topic, .. } = others;
    for incoming in piece {
        match incoming {
            Incoming::Event { .. } => {}
            Incoming::Status { site, status } => {
                note_status(connection, site, status, others, stored).await?;
            }
            Incoming::Ack { key, ack, topic } => {
                episodes::acknowledge(connection, key, ack, topic, now).await?;
            }
            Incoming::Shelve { key, shelve, topic } => {
                let outcome = episodes::shelve(connection, key, shelve, topic, now).await?;
                if outcome == ShelveOutcome::Unknown {
                    let letter = dead_letters::unknown_shelf(key, shelve, now)?;
                    let topic = (MQTT_LANE, dead_letter_topic);
                    dead_letters::take_refused(connection, &letter, topic, stored).await?;
                }
            }
            Incoming::FollowUp { key, report } => {
                let one = work_reports::Sets::One;
                let letter = match work_reports::take(connection, key, report, one, now).await? {
                    Reported::Unknown => Some(dead_letters::unknown_work(key, report, now)?),
                    // the sender's answer: there is no other way back to it
                    Reported::Undecided => {
                        let open = work_reports::candidates(connection, key).await?;
                        Some(dead_letters::undecided_work(key, report, &open, now)?)
                    }
                    Reported::Taken(_) | Reported::Kept => None,
                };
                if let Some(letter) = letter {
                    let topic = (MQTT_LANE, dead_letter_topic);
                    dead_letters::take_refused(connection, &letter, topic, stored).await?;
                }
            }
            Incoming::Refused(refused) => {
                let topic = (DEAD_LETTER_LANE, dead_letter_topic);
                dead_letters::take_refused(connection, &refused.letter, topic, stored).await?;
                stored.refusals.extend(unread::refusal(connection, refused).await?);
            }
        }
    }
    Ok(())
}

/// An event of a batch, its text, and whether its topic names the gateway.
type Arrived<'a> = (&'a Event, &'a str, bool);

fn arrived_events(piece: &[Incoming]) -> Vec<Arrived<'_>> {
    piece
        .iter()
        .filter_map(|incoming| match incoming {
            Incoming::Event { event, payload, proven } => {
                Some((event.as_ref(), payload.as_str(), *proven))
            }
            Incoming::Status { .. }
            | Incoming::Ack { .. }
            | Incoming::Shelve { .. }
            | Incoming::FollowUp { .. }
            | Incoming::Refused(_) => None,
        })
        .collect()
}

async fn store_events(
    connection: &mut Connection<'_>,
    terms: &IntakeTerms,
    piece: &[Incoming],
    now: Timestamp,
    stored: &mut Stored,
) -> Result<(), StoreError> {
    let arrived = arrived_events(piece);
    if arrived.is_empty() {
        return Ok(());
    }
    let mut desk = desk(connection, terms, &arrived, now).await?;
    let known = desk.gateways.clone();
    let (mut events, mut counted) = (Vec::new(), Vec::new());
    for (event, payload, proven) in arrived {
        match desk.admit(event, proven) {
            Ok(admitted) => {
                events.push((event, payload));
                counted.push(admitted == Admitted::Counted);
            }
            Err(refusal) => {
                stored.refused += 1;
                stored.refusals.push(*refusal);
            }
        }
    }
    let highest = highest_numbers(connection, &known, &desk, &events).await?;
    let new = bulk::insert_events(connection, &events, now).await?;
    let mut by_gateway: BTreeMap<GatewayKey, Vec<(&Event, bool)>> = BTreeMap::new();
    for (((event, payload), is_new), is_counted) in events.iter().zip(new).zip(counted) {
        let gateway = event.gateway();
        // an identity that another event has is no repetition: its window would be lost without a
        // word
        let taken = if is_new {
            Ok(true)
        } else {
            identity::of_known(connection, (event, payload), now).await?
        };
        let is_new = match taken {
            Ok(is_new) => is_new,
            Err(refusal) => {
                stored.refused += 1;
                stored.refusals.push(*refusal);
                continue;
            }
        };
        if is_new {
            stored.events += 1;
        } else {
            stored.duplicates += 1;
        }
        *stored.gateways.entry(gateway.clone()).or_default() += 1;
        if is_counted {
            by_gateway.entry(gateway).or_default().push((event, is_new));
        }
    }
    for (gateway, events) in by_gateway {
        let highest = highest.get(&gateway).copied().unwrap_or(0);
        let uncounted = gateways::follow(connection, &gateway, highest, &events, now).await?;
        stored.uncounted += uncounted;
        if uncounted > 0 {
            gateway_says::note_twin(connection, &gateway, now).await?;
            stored.twins.insert(gateway);
        }
    }
    Ok(())
}

/// The highest number of each gateway of admitted events before this batch. Only what was admitted
/// makes a gateway known, and notes that its topic names it.
async fn highest_numbers(
    connection: &mut Connection<'_>,
    known: &BTreeMap<GatewayKey, GatewayRecord>,
    desk: &Desk<'_>,
    events: &[(&Event, &str)],
) -> Result<BTreeMap<GatewayKey, u64>, StoreError> {
    let admitted: BTreeSet<GatewayKey> = events.iter().map(|(event, _)| event.gateway()).collect();
    let mut highest = BTreeMap::new();
    for gateway in admitted {
        let was = known.get(&gateway);
        let number = match was {
            Some(record) => record.highest,
            None => gateways::begin(connection, &gateway).await?,
        };
        let is_proven = desk.gateways.get(&gateway).is_some_and(|record| record.proven);
        if is_proven && !was.is_some_and(|record| record.proven) {
            gateways::note_proof(connection, &gateway).await?;
        }
        highest.insert(gateway, number);
    }
    Ok(highest)
}

/// Reads what events are admitted by, locks their gateways, and makes new bearings their gateways'.
async fn desk<'a>(
    connection: &mut Connection<'_>,
    terms: &'a IntakeTerms,
    arrived: &[Arrived<'_>],
    now: Timestamp,
) -> Result<Desk<'a>, StoreError> {
    let gateways = arrived.iter().map(|(event, ..)| event.gateway()).collect();
    let bearings: BTreeSet<BearingKey> = arrived.iter().map(|(event, ..)| event.key()).collect();
    let mut desk = Desk {
        terms,
        gateways: gateways::lock(connection, &gateways).await?,
        owners: pins::owners(connection, &bearings).await?,
        new_bearings: BTreeMap::new(),
    };
    let mut claims = BTreeMap::new();
    for (event, _, proven) in arrived {
        let (key, gateway) = (event.key(), event.gateway());
        if claims.contains_key(&key) || desk.owners.contains_key(&key) {
            continue;
        }
        if !desk.new_bearings.contains_key(&gateway) {
            let new = pins::new_in_the_last_hour(connection, &gateway, now).await?;
            desk.new_bearings.insert(gateway.clone(), new);
        }
        if desk.claims(event, *proven) {
            claims.insert(key, gateway);
        }
    }
    if !claims.is_empty() {
        pins::claim(connection, &claims, now).await?;
        desk.owners = pins::owners(connection, &bearings).await?;
    }
    Ok(desk)
}

/// Writes whether a gateway is online. The time changes with the presence only, so it says since
/// when.
async fn note_status(
    connection: &mut Connection<'_>,
    site: &SiteId,
    status: &GatewayStatus,
    others: &Others<'_>,
    stored: &mut Stored,
) -> Result<(), StoreError> {
    let now = others.now;
    let gateway = GatewayKey::new(site.clone(), status.gateway_id.clone());
    if gateways::is_forgotten(connection, &gateway, status.status).await? {
        return Ok(());
    }
    if !others.terms.owners.names(&gateway) && !gateways::has_room(connection, &gateway).await? {
        stored.strangers += 1;
        return Ok(());
    }
    connection
        .query(
            "INSERT INTO gateways (site, gateway_id, presence, presence_at_ms)
             VALUES ($1, $2, $3, $4)
             ON CONFLICT (site, gateway_id) DO UPDATE
             SET presence_at_ms =
                     CASE WHEN gateways.presence IS NOT DISTINCT FROM excluded.presence
                     THEN gateways.presence_at_ms ELSE excluded.presence_at_ms END,
                 presence = excluded.presence",
        )
        .bind_gateway(&gateway)
        .bind(to_word("a presence", &status.status)?)
        .bind(now.unix_ms())
        .execute()
        .await?;
    match status.status {
        Presence::Online => {
            gateway_says::note_trouble(connection, &gateway, status, now).await?;
            let silence = (now, others.terms.rival_silent_s);
            if gateways::note_count(connection, &gateway, status, silence).await? {
                gateway_says::note_twin(connection, &gateway, now).await?;
                stored.twins.insert(gateway.clone());
            }
            capture_demands::note_answers(connection, site, &status.capture_answers).await?;
            relearn_requests::note_status(connection, site, status, now).await?;
            let lost = gateway_says::lose_gone(connection, &gateway, status).await?;
            if lost > 0 {
                stored.lost += lost;
                // the receipt that no longer asks for them
                stored.gateways.entry(gateway).or_default();
            }
            Ok(())
        }
        // a last will that comes late may be of an earlier spool
        Presence::Offline => Ok(()),
    }
}
