//! The sequence of one gateway in the store: how far its numbers have come, and its gaps.

use pdm_shared::event::Event;
use pdm_shared::id::GatewayKey;
use pdm_shared::time::Timestamp;

use crate::database::{Connection, Row};
use crate::encoding::sequence_of;
use crate::sequence::{Gap, Sequence};
use crate::{StoreError, log};

/// Follows one gateway's sequence through its events in their order; each comes with whether it is
/// new. Tells how many new events had a number that was neither missing nor above the highest.
pub(in crate::sql) async fn follow(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    highest: u64,
    events: &[(&Event, bool)],
    now: Timestamp,
) -> Result<u64, StoreError> {
    let numbers = events
        .iter()
        .map(|(event, is_new)| Ok((sequence_of(event.sequence)?, *is_new)))
        .collect::<Result<Vec<(i64, bool)>, StoreError>>()?;
    let (Some((least, _)), Some((most, _))) = (numbers.iter().min(), numbers.iter().max()) else {
        return Ok(0);
    };
    let gaps = gaps_between(connection, gateway, *least, *most).await?;
    let mut sequence = Sequence::new(sequence_of(highest)?, gaps);
    let (mut is_heard, mut uncounted) = (false, 0);
    for (number, is_new) in numbers {
        let moved = sequence.follow(number, now.unix_ms());
        is_heard |= moved || is_new;
        uncounted += u64::from(is_new && !moved);
    }
    if uncounted > 0 {
        log::numbers_not_counted(gateway, uncounted);
    }
    if is_heard {
        write(connection, gateway, sequence, now).await?;
    }
    Ok(uncounted)
}

async fn gaps_between(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    least: i64,
    most: i64,
) -> Result<Vec<Gap>, StoreError> {
    let rows = connection
        .query(
            "SELECT first_sequence, last_sequence, noticed_at_ms, lost FROM sequence_gaps
             WHERE site = $1 AND gateway_id = $2 AND first_sequence <= $3 AND last_sequence >= $4",
        )
        .bind_gateway(gateway)
        .bind(most)
        .bind(least)
        .fetch_all()
        .await?;
    let gap = |row: &Row| {
        Ok(Gap {
            first: row.get(0)?,
            last: row.get(1)?,
            noticed_at_ms: row.get(2)?,
            lost: row.get(3)?,
        })
    };
    rows.iter().map(gap).collect()
}

/// Writes how far a sequence has come and how its gaps have changed.
async fn write(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    sequence: Sequence,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (highest, changes) = sequence.finish();
    for first in changes.removed {
        let query = connection.query(
            "DELETE FROM sequence_gaps
             WHERE site = $1 AND gateway_id = $2 AND first_sequence = $3",
        );
        query.bind_gateway(gateway).bind(first).execute().await?;
    }
    for gap in changes.added {
        let query = connection.query("INSERT INTO sequence_gaps VALUES ($1, $2, $3, $4, $5, $6)");
        let query = query.bind_gateway(gateway).bind(gap.first).bind(gap.last);
        query.bind(gap.noticed_at_ms).bind(gap.lost).execute().await?;
    }
    connection
        .query(
            "UPDATE gateways SET highest_sequence = $3, last_event_at_ms = $4,
                                 lost_events = lost_events - $5
             WHERE site = $1 AND gateway_id = $2",
        )
        .bind_gateway(gateway)
        .bind(highest)
        .bind(now.unix_ms())
        .bind(changes.found)
        .execute()
        .await?;
    Ok(())
}
