//! Taking out of the store what is gone from the plant, each in one transaction: it is whole or not
//! at all, and a dry run is the same transaction without its end.

use std::sync::LazyLock;

use pdm_shared::id::{BearingKey, EventId, GatewayKey};
use pdm_shared::time::Timestamp;
use pdm_shared::topic::{BearingTopic, Topic};

use super::{Database, bulk, episodes, messages, pins};
use crate::database::{Connection, Dialect, Lock, Spelt};
use crate::encoding::readable;
use crate::{
    EpisodeRecord, History, MQTT_LANE, Outgoing, Payload, PlantPart, Removal, RemovedAlarm,
    StoreError, TakenOut,
};

mod gateways;

use gateways::{gateways_of, is_gateway_known, take_gateway_out};

/// Tables whose rows name a bearing in three columns and keep its history.
const HISTORY: [&str; 10] = [
    "events",
    "pdm_agent_memory",
    "follow_ups",
    "work_reports",
    "acknowledgements",
    "notifications",
    "second_opinions",
    "captures",
    "capture_demands",
    "relearn_requests",
];

/// Parameters: site, equipment or '', bearing or ''. Bearings of which something stands or is
/// shown.
const KNOWN: &str = "SELECT DISTINCT site, equipment_id, bearing_id FROM (
         SELECT site, equipment_id, bearing_id FROM bearings
         UNION SELECT site, equipment_id, bearing_id FROM episodes WHERE closed_at_ms IS NULL
         UNION SELECT site, equipment_id, bearing_id FROM follow_ups WHERE state = 'open'
     ) AS known
     WHERE site = $1 AND ($2 = '' OR equipment_id = $2) AND ($3 = '' OR bearing_id = $3)
       AND equipment_id NOT IN ('gateway', 'refused-events', 'gateway-trouble', 'not-measured',
                               'no-data')
     ORDER BY 1, 2, 3";

/// Parameters: a bearing. The arrivals of its events that wait for a judgement.
static WAITING: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let waits = match dialect {
            Dialect::Sqlite => "judged = 0",
            Dialect::Postgres => "event_id IN (SELECT event_id FROM events_unjudged)",
        };
        format!(
            "SELECT arrival FROM events
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND {waits}"
        )
    })
});

/// Taking out and renaming; used by the command line and the HTTP server.
#[derive(Debug, Clone)]
pub struct RemovalStore {
    pub(crate) database: Database,
}

impl RemovalStore {
    /// Takes bearings out: episodes and work are closed, the state and the owner are forgotten,
    /// retained topics are cleared. Events, judgements and notifications stay for as long as they
    /// are kept.
    pub async fn take_out(&self, part: &PlantPart, how: &Removal) -> Result<TakenOut, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        connection.lock(Lock::Plant, ALL).await?;
        let mut out = TakenOut::default();
        for key in known(&mut connection, part).await? {
            take_bearing_out(&mut connection, (&key, None), how, &mut out).await?;
        }
        if part.equipment.is_none() {
            for gateway in gateways_of(&mut connection, part).await? {
                take_gateway_out(&mut connection, &gateway, None, how, &mut out).await?;
            }
        }
        if out.is_something() {
            note(&mut connection, how, "forget", &part.to_string()).await?;
        }
        if !how.is_dry {
            transaction.commit().await?;
        }
        Ok(out)
    }

    /// Gives bearings another name: they are taken out under the former one; with their history,
    /// events, judgements and the bearing's memory go on under the new one. Where a new name is
    /// known already (`joined`), this changes nothing unless `history` says that it may join.
    pub async fn rename(
        &self,
        from: &PlantPart,
        to: &PlantPart,
        history: History,
        how: &Removal,
    ) -> Result<TakenOut, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        connection.lock(Lock::Plant, ALL).await?;
        let mut out = TakenOut::default();
        for key in known(&mut connection, from).await? {
            let Some(new) = from.renamed(to, &key) else { continue };
            if history != History::Stays {
                if is_known(&mut connection, &new).await? {
                    out.joined.push(new.clone());
                }
                // before their rows have the new name: they would be judged under the former one
                out.waiting += set_waiting_aside(&mut connection, &key).await?;
                carry_over(&mut connection, &key, &new).await?;
            }
            let new = Some((&new, history != History::Stays));
            take_bearing_out(&mut connection, (&key, new), how, &mut out).await?;
        }
        if history == History::Moves && !out.joined.is_empty() {
            return Ok(out);
        }
        if out.is_something() {
            note(&mut connection, how, "rename", &format!("{from} to {to}")).await?;
        }
        if !how.is_dry {
            transaction.commit().await?;
        }
        Ok(out)
    }

    /// Takes a gateway out: its alarms end, its bearings belong to the gateway of their next event,
    /// its sequence and its retained topics are forgotten. Nothing is taken out where it is not
    /// known.
    pub async fn forget_gateway(
        &self,
        gateway: &GatewayKey,
        how: &Removal,
    ) -> Result<TakenOut, StoreError> {
        let act = ("forget gateway", gateway.to_string());
        self.gateway_out(gateway, None, how, act).await
    }

    /// Takes a gateway out whose bearings another one of its site measures from now on.
    pub async fn replace_gateway(
        &self,
        old: &GatewayKey,
        new: &GatewayKey,
        how: &Removal,
    ) -> Result<TakenOut, StoreError> {
        let act = ("replace gateway", format!("{old} by {new}"));
        self.gateway_out(old, Some(new), how, act).await
    }

    /// Does the same as [`crate::GatewayStore::release_bearing`], with a record of the act.
    pub async fn release_bearing_as(
        &self,
        bearing: &BearingKey,
        how: &Removal,
    ) -> Result<TakenOut, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let mut out = TakenOut::default();
        if pins::release_bearing(&mut connection, bearing).await? {
            out.released.push(bearing.clone());
            note(&mut connection, how, "release bearing", &bearing.to_string()).await?;
        }
        if !how.is_dry {
            transaction.commit().await?;
        }
        Ok(out)
    }

    /// Does the same as [`crate::GatewayStore::release_gateway`], with a record of the act.
    pub async fn release_gateway_as(
        &self,
        gateway: &GatewayKey,
        how: &Removal,
    ) -> Result<TakenOut, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let mut out = TakenOut::default();
        if pins::release_gateway(&mut connection, gateway).await? {
            out.released = pins::of_gateway(&mut connection, gateway).await?;
            out.gateways.push(gateway.clone());
            note(&mut connection, how, "release gateway", &gateway.to_string()).await?;
        }
        if !how.is_dry {
            transaction.commit().await?;
        }
        Ok(out)
    }
}

/// The name of the lock of every removal: two of one time see each other whole.
const ALL: &str = "removal";

impl RemovalStore {
    /// Takes a gateway out if it is known.
    async fn gateway_out(
        &self,
        gateway: &GatewayKey,
        new: Option<&GatewayKey>,
        how: &Removal,
        (action, what): (&str, String),
    ) -> Result<TakenOut, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        connection.lock(Lock::Plant, ALL).await?;
        let mut out = TakenOut::default();
        if is_gateway_known(&mut connection, gateway).await? {
            take_gateway_out(&mut connection, gateway, new, how, &mut out).await?;
            note(&mut connection, how, action, &what).await?;
        }
        if !how.is_dry {
            transaction.commit().await?;
        }
        Ok(out)
    }
}

/// Whether a bearing has been measured: what was taken out keeps its history under its name.
async fn is_known(connection: &mut Connection<'_>, key: &BearingKey) -> Result<bool, StoreError> {
    let query = connection.query(
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM bearings
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3)
             OR EXISTS (SELECT 1 FROM events
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3)
             OR EXISTS (SELECT 1 FROM pdm_agent_memory
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3)",
    );
    Ok(!query.bind_key(key).fetch_all().await?.is_empty())
}

/// The bearings of a part that are known.
async fn known(
    connection: &mut Connection<'_>,
    part: &PlantPart,
) -> Result<Vec<BearingKey>, StoreError> {
    let rows = connection
        .query(KNOWN)
        .bind(part.site.as_str())
        .bind(part.equipment.as_ref().map(|name| name.as_str().to_owned()).unwrap_or_default())
        .bind(part.bearing.as_ref().map(|name| name.as_str().to_owned()).unwrap_or_default())
        .fetch_all()
        .await?;
    Ok(rows.iter().map(crate::database::Row::key).filter_map(readable).collect())
}

/// Closes the standing episode of a bearing, tells staff that it ends so, and forgets the bearing's
/// state. `new` is the name that follows, and whether the history goes there.
async fn take_bearing_out(
    connection: &mut Connection<'_>,
    (key, new): (&BearingKey, Option<(&BearingKey, bool)>),
    how: &Removal,
    out: &mut TakenOut,
) -> Result<(), StoreError> {
    if let Some(record) = close(connection, key, how).await? {
        out.episodes += 1;
        let (new, moves) = new.map_or((None, false), |(new, moves)| (Some(new.clone()), moves));
        let alarm = RemovedAlarm { key: key.clone(), new, moves, record };
        tell_removed(connection, &alarm, how).await?;
    }
    let query = connection.query(
        "UPDATE follow_ups SET state = 'dropped', by_whom = $4, at_ms = $5, note = $6
         WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND state = 'open'",
    );
    let query = query.bind_key(key).bind(how.by.as_str()).bind(how.now.unix_ms());
    out.work += query.bind(how.reason.as_str()).execute().await?;
    out.waiting += set_waiting_aside(connection, key).await?;
    for statement in [
        "DELETE FROM bearings WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
        "DELETE FROM bearing_pauses WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
    ] {
        connection.query(statement).bind_key(key).execute().await?;
    }
    for statement in [
        "DELETE FROM bearing_gateways WHERE bearing = $1",
        "UPDATE refusals SET last_at_ms = 0 WHERE bearing = $1",
    ] {
        connection.query(statement).bind(key.to_string()).execute().await?;
    }
    let topics = [BearingTopic::State, BearingTopic::Diagnosis, BearingTopic::Episode];
    let topics = topics.map(|what| Topic::Bearing { key: key.clone(), what });
    clear(connection, &topics, how, out).await?;
    out.bearings.push(key.clone());
    Ok(())
}

/// Leaves the events of a bearing that wait without a judgement; tells how many that are.
async fn set_waiting_aside(
    connection: &mut Connection<'_>,
    key: &BearingKey,
) -> Result<u64, StoreError> {
    let rows = connection.query(&WAITING).bind_key(key).fetch_all().await?;
    let waiting = rows.iter().map(|row| row.get(0)).collect::<Result<Vec<i64>, _>>()?;
    bulk::set_aside(connection, &waiting).await?;
    Ok(waiting.len() as u64)
}

/// Writes the message of an alarm that ends with its bearing or name, where staff was told of it.
async fn tell_removed(
    connection: &mut Connection<'_>,
    alarm: &RemovedAlarm,
    how: &Removal,
) -> Result<(), StoreError> {
    if alarm.record.alarm.is_none() {
        return Ok(());
    }
    let Some((notification, outgoing)) = how.wording.message(alarm) else { return Ok(()) };
    messages::insert(connection, &notification).await?;
    let rows: Vec<(&Outgoing, Timestamp)> = outgoing.iter().map(|row| (row, how.now)).collect();
    bulk::insert_outbox(connection, &rows).await
}

/// Closes the open episode of a bearing or gateway, and returns it as it stood.
async fn close(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    how: &Removal,
) -> Result<Option<EpisodeRecord>, StoreError> {
    connection.lock(Lock::Alarm, &key.to_string()).await?;
    let open = episodes::last_episode(connection, key).await?.filter(EpisodeRecord::is_open);
    let Some(record) = open else { return Ok(None) };
    let removed = record.episode.removed(how.now);
    episodes::put(connection, key, &removed, record.alarm.as_ref(), None).await?;
    Ok(Some(record))
}

/// Tells the broker to forget what it retains on these topics.
async fn clear(
    connection: &mut Connection<'_>,
    topics: &[Topic],
    how: &Removal,
    out: &mut TakenOut,
) -> Result<(), StoreError> {
    for topic in topics {
        let row = Outgoing {
            key: EventId::at(how.now.unix_ms()).0,
            lane: MQTT_LANE.to_owned(),
            topic: Some(topic.under(&how.prefix)),
            retain: true,
            notification_id: None,
            group: None,
            payload: Payload::Text(String::new()),
            due_at: how.now,
        };
        bulk::insert_outbox(connection, &[(&row, how.now)]).await?;
        out.topics += 1;
    }
    Ok(())
}

/// Gives what is kept of a bearing its new name, unless the new one is known already: then its own
/// memory goes on, and the history of both stands under it.
async fn carry_over(
    connection: &mut Connection<'_>,
    key: &BearingKey,
    new: &BearingKey,
) -> Result<(), StoreError> {
    for table in HISTORY {
        let statement = rename_rows(table);
        connection.query(statement).bind_key(key).bind_key(new).execute().await?;
    }
    // the pauses first: whether they go along is decided by the row of the bearing
    for statement in [
        "UPDATE bearing_pauses SET site = $4, equipment_id = $5, bearing_id = $6
         WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
           AND NOT EXISTS (SELECT 1 FROM bearings WHERE site = $4 AND equipment_id = $5
                                                    AND bearing_id = $6)",
        "UPDATE bearings SET site = $4, equipment_id = $5, bearing_id = $6
         WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
           AND NOT EXISTS (SELECT 1 FROM bearings WHERE site = $4 AND equipment_id = $5
                                                    AND bearing_id = $6)",
    ] {
        connection.query(statement).bind_key(key).bind_key(new).execute().await?;
    }
    Ok(())
}

/// The statement that renames the rows of a table; work that is open stays with the former name,
/// under which it is closed.
fn rename_rows(table: &str) -> &'static str {
    macro_rules! statement {
        ($table:literal $($more:literal)?) => {
            concat!(
                "UPDATE ", $table, " SET site = $4, equipment_id = $5, bearing_id = $6
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3", $($more)?
            )
        };
    }
    match table {
        "events" => statement!("events"),
        "pdm_agent_memory" => statement!("pdm_agent_memory"),
        "follow_ups" => statement!("follow_ups" " AND state <> 'open'"),
        "work_reports" => statement!("work_reports"),
        "acknowledgements" => statement!("acknowledgements"),
        "notifications" => statement!("notifications"),
        "captures" => statement!("captures"),
        "capture_demands" => statement!("capture_demands"),
        "relearn_requests" => statement!("relearn_requests"),
        _ => statement!("second_opinions"),
    }
}

/// Writes down who did it.
async fn note(
    connection: &mut Connection<'_>,
    how: &Removal,
    action: &str,
    what: &str,
) -> Result<(), StoreError> {
    if how.is_dry {
        return Ok(());
    }
    super::accounts::note_act(connection, &how.act(action, what)).await
}
