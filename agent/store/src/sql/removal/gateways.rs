//! Taking gateways out of the store, for which their bearings stay.

use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::topic::{BearingTopic, GatewayTopic, Topic};

use super::{clear, close};
use crate::database::Connection;
use crate::gateway_alarm::{
    no_data_alarm, refusals_alarm, silence_alarm, trouble_alarm, unmeasured_alarm,
};
use crate::sql::{pins, refusals};
use crate::{PlantPart, Removal, StoreError, TakenOut};

/// Whether a gateway has sent something, has bearings, or is refused.
pub(super) async fn is_gateway_known(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
) -> Result<bool, StoreError> {
    let rows = connection
        .query(
            "SELECT 1 FROM gateways WHERE site = $1 AND gateway_id = $2
             UNION SELECT 1 FROM bearing_gateways WHERE site = $1 AND gateway_id = $2
             UNION SELECT 1 FROM refusals WHERE site = $1 AND gateway_id = $2",
        )
        .bind_gateway(gateway)
        .fetch_all()
        .await?;
    Ok(!rows.is_empty())
}

pub(super) async fn gateways_of(
    connection: &mut Connection<'_>,
    part: &PlantPart,
) -> Result<Vec<GatewayKey>, StoreError> {
    let rows = connection
        .query("SELECT gateway_id FROM gateways WHERE site = $1 ORDER BY gateway_id")
        .bind(part.site.as_str())
        .fetch_all()
        .await?;
    let mut gateways = Vec::with_capacity(rows.len());
    for row in &rows {
        let name = pdm_shared::id::GatewayId::from_any(row.get(0)?);
        gateways.push(GatewayKey::new(part.site.clone(), name));
    }
    Ok(gateways)
}

/// Returns the bearings under which a gateway's own alarms stand.
fn alarms_of(gateway: &GatewayKey) -> impl Iterator<Item = BearingKey> {
    let silence = silence_alarm(&gateway.site, &gateway.gateway);
    let others = [
        refusals_alarm(gateway),
        trouble_alarm(gateway),
        unmeasured_alarm(gateway),
        no_data_alarm(gateway),
    ];
    std::iter::once(silence).chain(others).flatten()
}

/// Ends a gateway's alarms and forgets its sequence; its bearings go to `new`, or to the gateway of
/// their next event.
pub(super) async fn take_gateway_out(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    new: Option<&GatewayKey>,
    how: &Removal,
    out: &mut TakenOut,
) -> Result<(), StoreError> {
    let mut topics = Vec::new();
    for key in alarms_of(gateway) {
        out.episodes += u64::from(close(connection, &key, how).await?.is_some());
        topics.push(Topic::Bearing { key, what: BearingTopic::Episode });
    }
    out.released = pins::of_gateway(connection, gateway).await?;
    match new {
        None => {
            let query = connection
                .query("DELETE FROM bearing_gateways WHERE site = $1 AND gateway_id = $2");
            query.bind_gateway(gateway).execute().await?;
        }
        Some(new) => {
            let query = connection.query(
                "UPDATE bearing_gateways SET gateway_id = $3, since_ms = 0
                 WHERE site = $1 AND gateway_id = $2",
            );
            query.bind_gateway(gateway).bind(new.gateway.as_str()).execute().await?;
        }
    }
    if let Some(new) = new {
        refusals::end(connection, new).await?;
    }
    refusals::forget_one(connection, gateway, None).await?;
    for statement in [
        "DELETE FROM sequence_gaps WHERE site = $1 AND gateway_id = $2",
        "DELETE FROM gateways WHERE site = $1 AND gateway_id = $2",
    ] {
        connection.query(statement).bind_gateway(gateway).execute().await?;
    }
    connection
        .query(
            "INSERT INTO forgotten_gateways (site, gateway_id) VALUES ($1, $2)
             ON CONFLICT (site, gateway_id) DO NOTHING",
        )
        .bind_gateway(gateway)
        .execute()
        .await?;
    let of_gateway = |what| Topic::Gateway {
        site: gateway.site.clone(),
        gateway: gateway.gateway.clone(),
        what,
    };
    topics.extend([GatewayTopic::Status, GatewayTopic::Receipt].map(of_gateway));
    clear(connection, &topics, how, out).await?;
    out.gateways.push(gateway.clone());
    Ok(())
}
