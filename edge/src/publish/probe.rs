//! Testing whether a broker can be reached as configured, without a lasting session: for `check`.

use std::time::Duration;

use super::link::{CONNECT_TIMEOUT_S, Down, Happening, Link};
use super::options::ConnectOptions;
use crate::settings::{BrokerAddress, BrokerSettings};

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
    let mut options = ConnectOptions::prepare(broker, address, format!("{client_id}-check"), None)?;
    options.is_temporary = true;
    let mut link = Link::open(broker.protocol, options);
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
