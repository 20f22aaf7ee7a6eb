//! Gateways whose events are refused: kept until staff has put it right, since a refused event
//! leaves no other trace than a dead letter.

use std::collections::BTreeMap;

use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::time::Timestamp;

use crate::database::{Connection, Row};
use crate::encoding::{readable, time_of, word_of};
use crate::{Refusal, RefusalCause, RefusedEvents, StoreError};

/// Most rows of a gateway: one that invents bearings fills no table. Chosen: the bearings of a
/// large plant that comes in one hour through one gateway stand on the page and in the list. The
/// rest is counted by the metric and kept as a dead letter.
const MOST_OF_GATEWAY: i64 = 500;

/// Counts the refusals of a batch.
pub(super) async fn note(
    connection: &mut Connection<'_>,
    refusals: &[Refusal],
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut groups: BTreeMap<_, (&Refusal, i64)> = BTreeMap::new();
    for refusal in refusals {
        let group = (&refusal.gateway, &refusal.bearing, refusal.cause);
        groups.entry(group).or_insert((refusal, 0)).1 += 1;
    }
    for ((gateway, bearing, cause), (refusal, count)) in groups {
        let dialect = connection.dialect();
        let reason = dialect.text(&refusal.reason).into_owned();
        connection
            .query(
                "INSERT INTO refusals (site, gateway_id, bearing, cause, reason, count, first_at_ms,
                                       last_at_ms)
                 SELECT $1, $2, $3, $4, $5, $6, $7, $7
                 WHERE (SELECT count(*) FROM refusals WHERE site = $1 AND gateway_id = $2) < $8
                    OR EXISTS (SELECT 1 FROM refusals WHERE site = $1 AND gateway_id = $2
                                                        AND bearing = $3 AND cause = $4)
                 ON CONFLICT (site, gateway_id, bearing, cause) DO UPDATE
                 SET count = refusals.count + excluded.count, reason = excluded.reason,
                     last_at_ms = excluded.last_at_ms",
            )
            .bind_gateway(gateway)
            .bind(bearing.to_string())
            .bind(cause.as_str())
            .bind(reason)
            .bind(count)
            .bind(now.unix_ms())
            .bind(MOST_OF_GATEWAY)
            .execute()
            .await?;
    }
    Ok(())
}

/// All of them, in the order of their names.
pub(super) async fn all(connection: &mut Connection<'_>) -> Result<Vec<RefusedEvents>, StoreError> {
    let rows = connection
        .query(
            "SELECT bearing, site, gateway_id, cause, reason, count, first_at_ms, last_at_ms,
                    told_at_ms
             FROM refusals ORDER BY site, gateway_id, bearing, cause",
        )
        .fetch_all()
        .await?;
    Ok(rows.iter().map(refused_of).filter_map(readable).collect())
}

fn refused_of(row: &Row) -> Result<RefusedEvents, StoreError> {
    let (bearing, gateway) = super::pins::owner_of(row)?;
    Ok(RefusedEvents {
        gateway,
        bearing,
        cause: word_of::<RefusalCause>("a cause", row.get(3)?)?,
        reason: row.get(4)?,
        count: row.get::<i64>(5)?.unsigned_abs(),
        first_at: time_of(row.get(6)?)?,
        last_at: time_of(row.get(7)?)?,
        told_at: row.get::<Option<i64>>(8)?.map(time_of).transpose()?,
    })
}

/// Notes that staff was told of these.
pub(super) async fn note_told(
    connection: &mut Connection<'_>,
    told: &[RefusedEvents],
    now: Timestamp,
) -> Result<(), StoreError> {
    for one in told {
        connection
            .query(
                "UPDATE refusals SET told_at_ms = $5
                 WHERE site = $1 AND gateway_id = $2 AND bearing = $3 AND cause = $4",
            )
            .bind_gateway(&one.gateway)
            .bind(one.bearing.to_string())
            .bind(one.cause.as_str())
            .bind(now.unix_ms())
            .execute()
            .await?;
    }
    Ok(())
}

/// Forgets refusals that are over.
pub(super) async fn forget(
    connection: &mut Connection<'_>,
    over: &[RefusedEvents],
) -> Result<(), StoreError> {
    for one in over {
        forget_one(connection, &one.gateway, Some(&one.bearing)).await?;
    }
    Ok(())
}

/// Forgets the refusals of a gateway, of one bearing or of all.
pub(super) async fn forget_one(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    bearing: Option<&BearingKey>,
) -> Result<(), StoreError> {
    connection
        .query(
            "DELETE FROM refusals
             WHERE site = $1 AND gateway_id = $2 AND (bearing = $3 OR $4 = 1)",
        )
        .bind_gateway(gateway)
        .bind(bearing.map(BearingKey::to_string).unwrap_or_default())
        .bind(i64::from(bearing.is_none()))
        .execute()
        .await?;
    Ok(())
}

/// Ends the refusals of a gateway that staff has admitted: the next look of the watch tells so.
pub(super) async fn end(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
) -> Result<(), StoreError> {
    let query =
        connection.query("UPDATE refusals SET last_at_ms = 0 WHERE site = $1 AND gateway_id = $2");
    query.bind_gateway(gateway).execute().await?;
    Ok(())
}
