//! The status document of a gateway: birth, last will, clean stop.

use pdm_shared::bounds::in_one_line;
use pdm_shared::capture::CaptureAnswer;
use pdm_shared::delivery::{GatewayStatus, GatewayTooLarge, MAX_GONE, Presence, STATUS_SCHEMA};
use pdm_shared::id::GatewayId;
use pdm_shared::relearn::RelearnAnswer;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::{GatewayTopic, Topic};

use super::PublisherSettings;
use crate::progress::{BrokerTrouble, Progress};
use crate::spool::Spool;

/// Characters of `trouble`: a text of Korean letters stays within the bound of the document.
const TROUBLE_CHARS: usize = 160;

/// The topic of a gateway's own documents.
pub(super) fn topic(
    settings: &PublisherSettings,
    gateway: &GatewayId,
    what: GatewayTopic,
) -> String {
    Topic::Gateway { site: settings.site.clone(), gateway: gateway.clone(), what }
        .under(&settings.prefix)
}

/// The publisher's statements on the gateway besides its progress.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Sources that deliver nothing and a configuration that is refused, in words.
    pub(super) troubles: Vec<String>,
    /// Numbers that the agent asks for and the spool no longer has.
    pub(super) gone: Vec<[u64; 2]>,
    /// The newest answers to demands for captures.
    pub(super) answers: Vec<CaptureAnswer>,
    /// The newest answers to requests to learn a bearing anew.
    pub(super) relearnt: Vec<RelearnAnswer>,
}

/// Returns the faults that keep the gateway from measuring or keeping, on one line.
fn trouble(progress: &Progress, troubles: &[String]) -> Option<String> {
    let spool = progress.spool_trouble.map(|trouble| trouble.to_string());
    // a client that is thrown out has a field of its own
    let broker = progress.broker_trouble.filter(|trouble| *trouble != BrokerTrouble::ThrownOut);
    let broker = broker.map(|trouble| trouble.to_string());
    let all: Vec<String> =
        spool.into_iter().chain(broker).chain(troubles.iter().cloned()).collect();
    (!all.is_empty()).then(|| in_one_line(&all.join("; "), TROUBLE_CHARS).into_owned())
}

/// The status document.
pub(super) fn status(
    settings: &PublisherSettings,
    spool: &Spool,
    presence: Presence,
    progress: &Progress,
    said: &Said,
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
        trouble: trouble(progress, &said.troubles),
        gone: said.gone.iter().take(MAX_GONE).copied().collect(),
        capture_answers: said.answers.clone(),
        relearn_answers: said.relearnt.clone(),
        thrown_out: progress.broker_trouble == Some(BrokerTrouble::ThrownOut),
        too_large: progress.too_large.map(|large| GatewayTooLarge {
            without_spectra: large.without_spectra,
            parked: large.parked,
            limit_bytes: large.limit_bytes,
        }),
    };
    serde_json::to_vec(&status).expect("texts and numbers always make JSON")
}
