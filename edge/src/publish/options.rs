//! The options of one connection, with the password fetched and the certificates read.

use std::sync::Arc;
use std::time::Duration;

use pdm_service::error_chain::error_chain;

use super::link::Down;
use crate::settings::{BrokerAddress, BrokerSettings};

/// Shortest keep-alive that rumqttc accepts.
const SHORTEST_KEEP_ALIVE: Duration = Duration::from_secs(5);

/// The last will.
#[derive(Debug, Clone)]
pub(super) struct Will {
    pub(super) topic: String,
    pub(super) payload: Vec<u8>,
}

/// Everything that a connection needs.
pub(super) struct ConnectOptions {
    pub(super) client_id: String,
    pub(super) address: BrokerAddress,
    pub(super) login: Option<(String, String)>,
    pub(super) transport: rumqttc::Transport,
    pub(super) keep_alive: Duration,
    pub(super) session_expiry_s: u32,
    pub(super) max_packet_bytes: u32,
    pub(super) max_in_flight: u16,
    pub(super) will: Option<Will>,
    /// The broker shall keep no session after the connection.
    pub(super) is_temporary: bool,
}

impl ConnectOptions {
    /// Fetches the password and reads the certificates, for each connection, so that both can be
    /// renewed.
    ///
    /// # Errors
    /// [`Down::Refused`] if one cannot be read: no connection succeeds before a person acts.
    pub(super) fn prepare(
        broker: &BrokerSettings,
        address: &BrokerAddress,
        client_id: String,
        will: Option<Will>,
    ) -> Result<Self, Down> {
        let login = match &broker.login {
            None => None,
            Some(login) => {
                let password =
                    login.password.fetch().map_err(|error| Down::Refused(error_chain(&error)))?;
                Some((login.user.clone(), password.expose().to_owned()))
            }
        };
        let transport = match &broker.tls {
            None => rumqttc::Transport::Tcp,
            Some(tls) => {
                let config =
                    tls.client_config().map_err(|error| Down::Refused(error_chain(&error)))?;
                rumqttc::Transport::tls_with_config(rumqttc::TlsConfiguration::Rustls(Arc::new(
                    config,
                )))
            }
        };
        Ok(Self {
            client_id,
            address: address.clone(),
            login,
            transport,
            keep_alive: broker.keep_alive.max(SHORTEST_KEEP_ALIVE),
            session_expiry_s: u32::try_from(broker.session_expiry.as_secs()).unwrap_or(u32::MAX),
            max_packet_bytes: broker.max_packet_bytes,
            max_in_flight: broker.max_in_flight.max(1),
            will,
            is_temporary: false,
        })
    }
}
