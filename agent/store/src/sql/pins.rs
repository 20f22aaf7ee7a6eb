//! Stores which gateway a bearing belongs to: that of its first event, until the bearing is
//! released.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::time::Timestamp;

use crate::StoreError;
use crate::database::{Connection, Dialect, Row, Spelt};
use crate::encoding::{readable, to_json, word_of};

/// Parameter: the bearings as a JSON list of `site/equipment/bearing`.
static OF_BEARINGS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let listed = match dialect {
            Dialect::Sqlite => "SELECT value FROM json_each($1)",
            Dialect::Postgres => "SELECT json_array_elements_text($1::json)",
        };
        format!(
            "SELECT bearing, site, gateway_id FROM bearing_gateways WHERE bearing IN ({listed})"
        )
    })
});

/// The gateways of those of these bearings that have one.
pub(super) async fn owners(
    connection: &mut Connection<'_>,
    bearings: &BTreeSet<BearingKey>,
) -> Result<BTreeMap<BearingKey, GatewayKey>, StoreError> {
    let names: Vec<String> = bearings.iter().map(BearingKey::to_string).collect();
    let list = to_json("names of bearings", &names)?;
    let rows = connection.query(&OF_BEARINGS).bind(list).fetch_all().await?;
    rows.iter().map(owner_of).collect()
}

/// A row with bearing, site and gateway as its first columns.
pub(super) fn owner_of(row: &Row) -> Result<(BearingKey, GatewayKey), StoreError> {
    let text: &str = row.get(0)?;
    let mut names = text.split('/');
    let mut next = || names.next().unwrap_or_default();
    let key = BearingKey {
        site: word_of("a site", next())?,
        equipment: word_of("a machine", next())?,
        bearing: word_of("a bearing", next())?,
    };
    let gateway =
        GatewayKey::new(word_of("a site", row.get(1)?)?, word_of("a gateway", row.get(2)?)?);
    Ok((key, gateway))
}

/// The bearings of a gateway, in the order of their names.
pub(super) async fn of_gateway(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
) -> Result<Vec<BearingKey>, StoreError> {
    let query = connection.query(
        "SELECT bearing, site, gateway_id FROM bearing_gateways
         WHERE site = $1 AND gateway_id = $2 ORDER BY bearing",
    );
    let rows = query.bind_gateway(gateway).fetch_all().await?;
    let owners = rows.iter().map(owner_of).filter_map(readable);
    Ok(owners.map(|(bearing, _)| bearing).collect())
}

/// Lets the next event decide which gateway a bearing belongs to. False if it belongs to none.
pub(super) async fn release_bearing(
    connection: &mut Connection<'_>,
    bearing: &BearingKey,
) -> Result<bool, StoreError> {
    let query = connection.query("DELETE FROM bearing_gateways WHERE bearing = $1");
    Ok(query.bind(bearing.to_string()).execute().await? > 0)
}

/// Forgets how a gateway has proven itself. False if the gateway is not known.
pub(super) async fn release_gateway(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
) -> Result<bool, StoreError> {
    let query = connection.query(
        "UPDATE gateways SET proven = FALSE, epoch = NULL, epoch_before = NULL, rival_epoch = NULL
         WHERE site = $1 AND gateway_id = $2",
    );
    let changed = query.bind_gateway(gateway).execute().await?;
    super::refusals::end(connection, gateway).await?;
    Ok(changed > 0)
}

/// Makes new bearings their gateways', in the order of their names, so that two writers never wait
/// for each other. A bearing that another writer was faster with stays that one's.
pub(super) async fn claim(
    connection: &mut Connection<'_>,
    claims: &BTreeMap<BearingKey, GatewayKey>,
    now: Timestamp,
) -> Result<(), StoreError> {
    for (key, gateway) in claims {
        connection
            .query(
                "INSERT INTO bearing_gateways (bearing, site, gateway_id, since_ms)
                 VALUES ($1, $2, $3, $4) ON CONFLICT (bearing) DO NOTHING",
            )
            .bind(key.to_string())
            .bind(gateway.site.as_str())
            .bind(gateway.gateway.as_str())
            .bind(now.unix_ms())
            .execute()
            .await?;
    }
    Ok(())
}

/// Returns how many bearings became a gateway's in the hour before `now`.
pub(super) async fn new_in_the_last_hour(
    connection: &mut Connection<'_>,
    gateway: &GatewayKey,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let query = connection.query(
        "SELECT count(*) FROM bearing_gateways
         WHERE site = $1 AND gateway_id = $2 AND since_ms > $3",
    );
    let row = query
        .bind(gateway.site.as_str())
        .bind(gateway.gateway.as_str())
        .bind(now.plus_seconds(-3600.0).unix_ms())
        .fetch_one()
        .await?;
    Ok(row.get::<i64>(0)?.unsigned_abs())
}
