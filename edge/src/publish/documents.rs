//! The status document of a gateway: birth, last will, clean stop.

use pdm_shared::delivery::{GatewayStatus, GatewayTooLarge, Presence, STATUS_SCHEMA};
use pdm_shared::id::GatewayId;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::{GatewayTopic, Topic};

use super::PublisherSettings;
use crate::progress::{BrokerTrouble, Progress};
use crate::spool::Spool;

/// The topic of a gateway's own documents.
pub(super) fn topic(
    settings: &PublisherSettings,
    gateway: &GatewayId,
    what: GatewayTopic,
) -> String {
    Topic::Gateway { site: settings.site.clone(), gateway: gateway.clone(), what }
        .under(&settings.prefix)
}

/// The status document.
pub(super) fn status(
    settings: &PublisherSettings,
    spool: &Spool,
    presence: Presence,
    progress: &Progress,
    at: Timestamp,
) -> Vec<u8> {
    let (tally, numbering) = (*spool.watch().borrow(), spool.numbering());
    let status = GatewayStatus {
        schema: STATUS_SCHEMA.to_owned(),
        gateway_id: spool.gateway().clone(),
        status: presence,
        at,
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        bearings: settings.bearings.clone(),
        last_sequence: Some(tally.last_sequence),
        epoch: Some(numbering.epoch),
        first_sequence: Some(numbering.first),
        spooled: Some(tally.waiting),
        dropped: Some(tally.dropped),
        trouble: progress.spool_trouble.map(|trouble| trouble.to_string()),
        thrown_out: progress.broker_trouble == Some(BrokerTrouble::ThrownOut),
        too_large: progress.too_large.map(|large| GatewayTooLarge {
            without_spectra: large.without_spectra,
            parked: large.parked,
            limit_bytes: large.limit_bytes,
        }),
    };
    serde_json::to_vec(&status).expect("texts and numbers always make JSON")
}
