//! MQTT 5: options for rumqttc, and the meaning of its events.

use pdm_service::error_chain::error_chain;
use rumqttc::Outgoing;
use rumqttc::v5::mqttbytes::v5::{
    ConnectProperties, ConnectReturnCode, DisconnectReasonCode, LastWill, Packet, PubAckReason,
    SubscribeReasonCode,
};
use rumqttc::v5::mqttbytes::{Error as MqttError, QoS};
use rumqttc::v5::{ConnectionError, Event, EventLoop, MqttOptions, StateError, TlsError};

use super::link::{CONNECT_TIMEOUT_S, Down, Happening, Polled, is_tls_refusal};
use super::options::ConnectOptions;

pub(super) fn options(from: ConnectOptions) -> MqttOptions {
    let mut options = MqttOptions::new(from.client_id, from.address.host, from.address.port);
    let mut properties = ConnectProperties::new();
    properties.session_expiry_interval = (!from.is_temporary).then_some(from.session_expiry_s);
    properties.max_packet_size = Some(from.max_packet_bytes);
    options
        .set_connect_properties(properties)
        .set_transport(from.transport)
        .set_keep_alive(from.keep_alive)
        .set_clean_start(from.is_temporary)
        .set_connection_timeout(CONNECT_TIMEOUT_S)
        .set_outgoing_inflight_upper_limit(from.max_in_flight);
    if let Some((user, password)) = from.login {
        options.set_credentials(user, password);
    }
    if let Some(will) = from.will {
        let will = LastWill::new(will.topic, will.payload, QoS::AtLeastOnce, true, None);
        options.set_last_will(will);
    }
    options
}

impl Polled for EventLoop {
    async fn next(&mut self) -> Option<Happening> {
        match self.poll().await {
            Ok(event) => meaning(event),
            Err(error) => Some(Happening::Down(down(&error))),
        }
    }
}

fn meaning(event: Event) -> Option<Happening> {
    match event {
        Event::Outgoing(Outgoing::Publish(packet_id)) => Some(Happening::Sent(packet_id)),
        Event::Outgoing(Outgoing::AwaitAck(packet_id)) => Some(Happening::Held(packet_id)),
        Event::Incoming(Packet::ConnAck(ack)) => {
            let max_packet_bytes = ack.properties.and_then(|p| p.max_packet_size);
            Some(Happening::Up { max_packet_bytes })
        }
        Event::Incoming(Packet::PubAck(ack)) => {
            let taken =
                matches!(ack.reason, PubAckReason::Success | PubAckReason::NoMatchingSubscribers);
            Some(if taken {
                Happening::Taken(ack.pkid)
            } else {
                Happening::Declined(ack.pkid, format!("{:?}", ack.reason))
            })
        }
        Event::Incoming(Packet::SubAck(ack)) => {
            let is_refused =
                |code: &&SubscribeReasonCode| !matches!(code, SubscribeReasonCode::Success(_));
            let refused = ack.return_codes.iter().find(is_refused);
            Some(Happening::Subscribed(refused.map_or(Ok(()), |code| Err(format!("{code:?}")))))
        }
        Event::Incoming(Packet::Publish(message)) => Some(Happening::Message {
            is_retained: message.retain,
            payload: message.payload.to_vec(),
            topic: String::from_utf8_lossy(&message.topic).into_owned(),
        }),
        Event::Outgoing(_) | Event::Incoming(_) => None,
    }
}

/// Reason 149, "packet too large", which the client does not know for a publication.
const TOO_LARGE: u8 = 149;

/// Whether the connection ended over the size of a publication.
fn is_too_large(error: &ConnectionError) -> bool {
    let ConnectionError::MqttState(error) = error else { return false };
    matches!(
        error,
        StateError::Deserialization(MqttError::InvalidConnectReturnCode(TOO_LARGE))
            | StateError::OutgoingPacketTooLarge { .. }
            | StateError::ServerDisconnect {
                reason_code: DisconnectReasonCode::PacketTooLarge,
                ..
            }
    )
}

fn down(error: &ConnectionError) -> Down {
    let text = error_chain(error);
    if is_too_large(error) {
        return Down::TooLarge(text);
    }
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the arms name the errors that a person must act on; all others are losses"
    )]
    let refused = match error {
        ConnectionError::ConnectionRefused(code) => matches!(
            code,
            ConnectReturnCode::BadClientId
                | ConnectReturnCode::ClientIdentifierNotValid
                | ConnectReturnCode::BadUserNamePassword
                | ConnectReturnCode::NotAuthorized
                | ConnectReturnCode::Banned
                | ConnectReturnCode::BadAuthenticationMethod
                | ConnectReturnCode::RefusedProtocolVersion
                | ConnectReturnCode::UnsupportedProtocolVersion
        ),
        ConnectionError::Tls(TlsError::Io(error))
        | ConnectionError::Io(error)
        | ConnectionError::MqttState(StateError::Io(error)) => is_tls_refusal(error),
        ConnectionError::Tls(_) => true,
        // with TLS 1.3 a broker that refuses the gateway's certificate sends an alert, which the
        // client gets at its first read
        _ => text.contains("received fatal alert"),
    };
    if refused { Down::Refused(text) } else { Down::Lost(text) }
}
