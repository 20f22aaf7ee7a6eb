//! Finds out which features that agent and gateways need a broker lacks, and whether a broker that
//! ends a connection before it has taken it speaks only MQTT 3.1.1. Such a broker answers a CONNECT
//! of MQTT 5 with the older CONNACK, which the client cannot read, or with nothing at all; the
//! error of the client says neither. So the broker is asked once more in the older version, and
//! then again in the newer one: a broker that was just being restarted accepts that.

use std::time::Duration;

use rumqttc::v5::ConnectionError;
use rumqttc::v5::mqttbytes::v5::{ConnAck, ConnectReturnCode as Code};
use tokio::time::timeout;

use super::{options_with, outgoing_id};
use crate::progress::BrokerLack;
use crate::settings::BrokerSettings;

/// Longest wait for each of the two answers.
const WAIT: Duration = Duration::from_secs(5);

/// Returns the feature that a broker lacks by its own words. The broker accepts the agent's
/// connection all the same, but refuses the gateways, which nobody would see here.
pub(crate) fn lack_of(ack: &ConnAck) -> Option<BrokerLack> {
    let says = ack.properties.as_ref()?;
    if says.retain_available == Some(0) {
        Some(BrokerLack::Retained)
    } else if says.max_qos == Some(0) {
        Some(BrokerLack::Qos1)
    } else {
        None
    }
}

/// Whether a connection may have ended because of the version. Only of use where the broker had not
/// taken it.
pub(crate) fn may_be_version(error: &ConnectionError) -> bool {
    match error {
        // a certificate that the broker refuses ends the first reading: it has said why
        ConnectionError::MqttState(state) => !state.to_string().contains("fatal alert"),
        ConnectionError::NotConnAck(_) | ConnectionError::Timeout(_) => true,
        ConnectionError::ConnectionRefused(code) => {
            matches!(code, Code::RefusedProtocolVersion | Code::UnsupportedProtocolVersion)
        }
        ConnectionError::Tls(_) | ConnectionError::Io(_) | ConnectionError::RequestsDone => false,
    }
}

/// Asks the broker. It connects under another client id, so that no session is disturbed, and with
/// the certificate of the connection that publishes, for which nothing waits at the broker.
pub(crate) async fn speaks_311_alone(settings: &BrokerSettings, attempt: usize) -> bool {
    takes_older(settings, attempt).await && !takes_newer(settings, attempt).await
}

async fn takes_older(settings: &BrokerSettings, attempt: usize) -> bool {
    let Some(from) = options(settings, attempt) else { return false };
    let (host, port) = from.broker_address();
    let mut older = rumqttc::MqttOptions::new(from.client_id(), host, port);
    older.set_transport(from.transport()).set_clean_session(true).set_keep_alive(from.keep_alive());
    if let Some(login) = from.credentials() {
        older.set_credentials(login.username, login.password);
    }
    let (client, mut events) = rumqttc::AsyncClient::new(older, 4);
    let answer = timeout(WAIT, events.poll()).await;
    let is_taken = answer.is_ok_and(|event| {
        event.is_ok_and(|event| {
            matches!(event, rumqttc::Event::Incoming(rumqttc::Packet::ConnAck(_)))
        })
    });
    if client.try_disconnect().is_ok() {
        let _left = timeout(Duration::from_secs(1), events.poll()).await;
    }
    is_taken
}

async fn takes_newer(settings: &BrokerSettings, attempt: usize) -> bool {
    let Some(options) = options(settings, attempt) else { return true };
    let (_client, mut events) = rumqttc::v5::AsyncClient::new(options, 4);
    match timeout(WAIT, events.poll()).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => !may_be_version(&error),
        Err(_elapsed) => false,
    }
}

fn options(settings: &BrokerSettings, attempt: usize) -> Option<rumqttc::v5::MqttOptions> {
    let client_id = format!("{}-version", settings.client_id);
    let mut options =
        options_with(settings, &client_id, &outgoing_id(&settings.client_id), attempt).ok()?;
    options.set_clean_start(true);
    Some(options)
}
