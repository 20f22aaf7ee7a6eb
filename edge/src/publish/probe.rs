//! Testing whether a broker can be reached as configured, without a lasting session, and whether it
//! speaks MQTT 3.1.1 alone: for `check`, and where a broker ends connections before it takes them.

use std::time::Duration;

use super::link::{CONNECT_TIMEOUT_S, Down, Happening, Link};
use super::options::ConnectOptions;
use crate::settings::{BrokerAddress, BrokerSettings, Protocol};

/// What to do with a broker of the older version.
const OLDER: &str = "the broker speaks MQTT 3.1.1 alone: set protocol = \"3.1.1\" in [broker]";

/// Connects to one address, TLS and login included, and disconnects. The client identity is not
/// that of the gateway: the broker would close the connection of a running service with the same
/// one.
///
/// # Errors
/// [`Down`] with the answer of the broker, of TLS or of the network.
pub async fn probe(
    broker: &BrokerSettings,
    address: &BrokerAddress,
    client_id: &str,
) -> Result<(), Down> {
    match probe_as(broker.protocol, broker, address, client_id).await {
        // a refusal has said why
        Err(down @ Down::Lost(_)) if speaks_311_alone(broker, address, client_id).await => {
            Err(older(&down))
        }
        taken => taken,
    }
}

/// Whether a broker that did not take a connection of MQTT 5 speaks MQTT 3.1.1 alone: it ends the
/// connection without a word, or with one that the client cannot read. It is asked in the older
/// version and again in the newer one, since one that was just being restarted takes both.
pub(super) async fn speaks_311_alone(
    broker: &BrokerSettings,
    address: &BrokerAddress,
    client_id: &str,
) -> bool {
    let takes = |protocol| probe_as(protocol, broker, address, client_id);
    broker.protocol == Protocol::V5
        && takes(Protocol::V311).await.is_ok()
        && takes(Protocol::V5).await.is_err()
}

/// The end of a connection of MQTT 5 at a broker that speaks the older version alone.
pub(super) fn older(down: &Down) -> Down {
    Down::Refused(format!("{OLDER} ({down})"))
}

async fn probe_as(
    protocol: Protocol,
    broker: &BrokerSettings,
    address: &BrokerAddress,
    client_id: &str,
) -> Result<(), Down> {
    let mut options = ConnectOptions::prepare(broker, address, format!("{client_id}-check"), None)?;
    options.is_temporary = true;
    let mut link = Link::open(protocol, options);
    let limit = Duration::from_secs(CONNECT_TIMEOUT_S + 1);
    match tokio::time::timeout(limit, link.happening()).await {
        Ok(Some(Happening::Up { .. })) => {
            link.disconnect().await;
            Ok(())
        }
        Ok(Some(Happening::Down(down))) => Err(down),
        Ok(Some(other)) => Err(Down::Lost(format!("no CONNACK but {other:?}"))),
        Ok(None) => Err(Down::Lost("the connection ended without a word".to_owned())),
        Err(_elapsed) => Err(Down::Lost(format!("no answer within {CONNECT_TIMEOUT_S} s"))),
    }
}
