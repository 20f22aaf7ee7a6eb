//! Stores the reports of a gateway's status besides its count: that it is in trouble, that its name
//! may be used twice, and which numbers it no longer has. Such a number is lost at once: nobody
//! waits for it.

use std::collections::BTreeSet;

use pdm_shared::delivery::GatewayStatus;
use pdm_shared::event::HIGHEST_SEQUENCE;
use pdm_shared::id::GatewayKey;
use pdm_shared::time::Timestamp;

use super::gateways::lock;
use crate::database::Connection;
use crate::encoding::sequence_of;
use crate::sequence::Gap;
use crate::{StoreError, log};

/// Keeps what an online gateway says is wrong with it; since when is the time of the first such
/// status.
pub(super) async fn note_trouble(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    status: &GatewayStatus,
    now: Timestamp,
) -> Result<(), StoreError> {
    let trouble =
        status.trouble.as_deref().map(|text| connection.dialect().text(text).into_owned());
    connection
        .query(
            "UPDATE gateways
             SET trouble = $3,
                 trouble_at_ms = CASE WHEN $4 = 0 THEN NULL ELSE COALESCE(trouble_at_ms, $5) END,
                 twin_at_ms = CASE WHEN $6 = 1 THEN $5 ELSE twin_at_ms END
             WHERE site = $1 AND gateway_id = $2",
        )
        .bind_gateway(gateway)
        .bind(trouble)
        .bind(i64::from(status.trouble.is_some()))
        .bind(now.unix_ms())
        .bind(i64::from(status.thrown_out))
        .execute()
        .await?;
    Ok(())
}

/// Notes that two gateways seem to use one name.
pub(super) async fn note_twin(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    now: Timestamp,
) -> Result<(), StoreError> {
    let query =
        connection.query("UPDATE gateways SET twin_at_ms = $3 WHERE site = $1 AND gateway_id = $2");
    query.bind_gateway(gateway).bind(now.unix_ms()).execute().await?;
    Ok(())
}

/// Counts as lost what the gateway says that it no longer has: a database that is a restored backup
/// asks for events that the gateway deleted by the receipts of the one before.
pub(super) async fn lose_gone(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    status: &GatewayStatus,
) -> Result<u64, StoreError> {
    if status.gone.is_empty() {
        return Ok(0);
    }
    let Some(record) = lock(connection, &BTreeSet::from([gateway.clone()])).await?.remove(gateway)
    else {
        return Ok(0);
    };
    if record.epoch != status.epoch {
        return Ok(0);
    }
    let mut lost = 0;
    for &[first, to] in &status.gone {
        let (first, to) = (first.min(HIGHEST_SEQUENCE), to.min(HIGHEST_SEQUENCE));
        let (first, to) = (sequence_of(first)?, sequence_of(to)?);
        let gaps = connection
            .query(
                "SELECT first_sequence, last_sequence, noticed_at_ms FROM sequence_gaps
                 WHERE site = $1 AND gateway_id = $2 AND NOT lost
                   AND first_sequence <= $4 AND last_sequence >= $3",
            )
            .bind_gateway(gateway)
            .bind(first)
            .bind(to)
            .fetch_all()
            .await?;
        for gap in &gaps {
            let (begins, ends, noticed_at_ms) = (gap.get(0)?, gap.get(1)?, gap.get(2)?);
            let whole = Gap { first: begins, last: ends, noticed_at_ms, lost: false };
            lost += lose_part(connection, gateway, whole, (first, to)).await?;
        }
    }
    if lost > 0 {
        let query = connection.query(
            "UPDATE gateways SET lost_events = lost_events + $3 WHERE site = $1 AND gateway_id = \
             $2",
        );
        query.bind_gateway(gateway).bind(lost).execute().await?;
        log::events_lost(gateway, lost);
    }
    Ok(lost.unsigned_abs())
}

/// Counts as lost the part of a gap that lies in these numbers; tells how many they are.
async fn lose_part(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    gap: Gap,
    (first, to): (i64, i64),
) -> Result<i64, StoreError> {
    let (from, through) = (gap.first.max(first), gap.last.min(to));
    let pieces = [
        Gap { last: from - 1, ..gap },
        Gap { first: from, last: through, lost: true, ..gap },
        Gap { first: through + 1, ..gap },
    ];
    let query = connection.query(
        "DELETE FROM sequence_gaps WHERE site = $1 AND gateway_id = $2 AND first_sequence = $3",
    );
    query.bind_gateway(gateway).bind(gap.first).execute().await?;
    for piece in pieces.into_iter().filter(|piece| piece.first <= piece.last) {
        let query = connection.query("INSERT INTO sequence_gaps VALUES ($1, $2, $3, $4, $5, $6)");
        let query = query.bind_gateway(gateway).bind(piece.first).bind(piece.last);
        query.bind(piece.noticed_at_ms).bind(piece.lost).execute().await?;
    }
    Ok(through - from + 1)
}
