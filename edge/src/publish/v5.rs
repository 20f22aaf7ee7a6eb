//! MQTT 5: options for rumqttc, and what its events mean.

use pdm_service::error_chain::error_chain;
use rumqttc::Outgoing;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{
    ConnectProperties, ConnectReturnCode, LastWill, Packet, PubAckReason, SubscribeReasonCode,
};
use rumqttc::v5::{ConnectionError, Event, EventLoop, MqttOptions, StateError, TlsError};

use super::link::{CONNECT_TIMEOUT_S, Down, Happening, Options, Polled, is_tls_refusal};

pub(super) fn options(from: Options) -> MqttOptions {
    let mut options = MqttOptions::new(from.client_id, from.address.host, from.address.port);
    let mut properties = ConnectProperties::new();
    properties.session_expiry_interval = (!from.passing).then_some(from.session_expiry_s);
    properties.max_packet_size = Some(from.max_packet_bytes);
    options
        .set_connect_properties(properties)
        .set_transport(from.transport)
        .set_keep_alive(from.keep_alive)
        .set_clean_start(from.passing)
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
        Event::Incoming(Packet::SubAck(ack)) => ack.return_codes.iter().find_map(|code| {
            let refused = !matches!(code, SubscribeReasonCode::Success(_));
            refused.then(|| Happening::NotSubscribed(format!("{code:?}")))
        }),
        Event::Incoming(Packet::Publish(message)) => Some(Happening::Message {
            topic: String::from_utf8_lossy(&message.topic).into_owned(),
            payload: message.payload.to_vec(),
        }),
        Event::Outgoing(_) | Event::Incoming(_) => None,
    }
}

fn down(error: &ConnectionError) -> Down {
    let text = error_chain(error);
    #[expect(clippy::wildcard_enum_match_arm, reason = "only what somebody must act on is named")]
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
        // a refused certificate of ours shows as an alert at the first read (TLS 1.3)
        _ => text.contains("received fatal alert"),
    };
    if refused { Down::Refused(text) } else { Down::Lost(text) }
}
