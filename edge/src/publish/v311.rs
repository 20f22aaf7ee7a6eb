//! MQTT 3.1.1: options for rumqttc, and the meaning of its events. This version has no way to
//! refuse a publication or to state the largest packet.

use pdm_service::error_chain::error_chain;
use rumqttc::mqttbytes::v4::SubscribeReasonCode;
use rumqttc::{
    ConnectReturnCode, ConnectionError, Event, EventLoop, LastWill, MqttOptions, Outgoing, Packet,
    QoS, StateError, TlsError,
};

use super::link::{Down, Happening, Polled, is_tls_refusal};
use super::options::ConnectOptions;

pub(super) fn options(from: ConnectOptions) -> MqttOptions {
    let mut options = MqttOptions::new(from.client_id, from.address.host, from.address.port);
    let max_packet_bytes = usize::try_from(from.max_packet_bytes).unwrap_or(usize::MAX);
    options
        .set_transport(from.transport)
        .set_keep_alive(from.keep_alive)
        .set_clean_session(from.is_temporary)
        .set_max_packet_size(max_packet_bytes, max_packet_bytes)
        .set_inflight(from.max_in_flight);
    if let Some((user, password)) = from.login {
        options.set_credentials(user, password);
    }
    if let Some(will) = from.will {
        options.set_last_will(LastWill::new(will.topic, will.payload, QoS::AtLeastOnce, true));
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
        Event::Incoming(Packet::ConnAck(_)) => Some(Happening::Up { max_packet_bytes: None }),
        Event::Incoming(Packet::PubAck(ack)) => Some(Happening::Taken(ack.pkid)),
        Event::Incoming(Packet::SubAck(ack)) => {
            let is_refused =
                |code: &&SubscribeReasonCode| !matches!(code, SubscribeReasonCode::Success(_));
            let refused = ack.return_codes.iter().find(is_refused);
            Some(Happening::Subscribed(refused.map_or(Ok(()), |code| Err(format!("{code:?}")))))
        }
        Event::Incoming(Packet::Publish(message)) => Some(Happening::Message {
            is_retained: message.retain,
            payload: message.payload.to_vec(),
            topic: message.topic,
        }),
        Event::Outgoing(_) | Event::Incoming(_) => None,
    }
}

fn down(error: &ConnectionError) -> Down {
    let text = error_chain(error);
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the arms name the errors that a person must act on; all others are losses"
    )]
    let refused = match error {
        ConnectionError::ConnectionRefused(code) => matches!(
            code,
            ConnectReturnCode::BadClientId
                | ConnectReturnCode::BadUserNamePassword
                | ConnectReturnCode::NotAuthorized
                | ConnectReturnCode::RefusedProtocolVersion
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
