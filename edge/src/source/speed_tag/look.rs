//! A look at a tag beside the running service, for `pdm-edge check`.

use std::time::{Duration, Instant};

use pdm_service::clock::{Clock as _, SystemClock};
use rumqttc::{Event, Packet, QoS};

use super::{SpeedTagSettings, read};
use crate::source::SourceError;
use crate::source::mqtt::{check_topic, connect};

/// The answer of a tag.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TagAnswer {
    /// The last value, rpm.
    Speed(f64),
    /// The broker has taken the subscription, and no value has come.
    Nothing,
    /// The broker keeps a value, whose age nobody knows, and no other has come.
    Kept,
    /// The values that come are not used, with the reason.
    Unusable(String),
}

/// Follows a tag until its first value, for at most `wait`.
///
/// # Errors
/// [`SourceError::Options`] if topic, password or certificates are not valid, [`SourceError::Io`]
/// if the broker is not reached or refuses.
pub(crate) fn look_at_tag(
    settings: &SpeedTagSettings,
    wait: Duration,
) -> Result<TagAnswer, SourceError> {
    let mut topic = settings.topic.clone();
    topic.client_id.push_str("-check");
    check_topic(&topic)?;
    let (client, mut connection) = connect(&topic, "the speed tag")?;
    let name = format!("mqtt://{}/{}", topic.address, topic.topic);
    let lost = |why: String| SourceError::Io {
        path: name.clone().into(),
        source: std::io::Error::other(why),
    };
    let until = Instant::now() + wait;
    let mut answer = None;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return answer.ok_or_else(|| lost("its broker does not answer".to_owned()));
        }
        match connection.recv_timeout(left) {
            Err(_no_event) => {}
            Ok(Err(error)) => return Err(lost(error.to_string())),
            Ok(Ok(Event::Incoming(Packet::ConnAck(_)))) => {
                let asked = client.try_subscribe(&topic.topic, QoS::AtMostOnce);
                asked.map_err(|error| lost(error.to_string()))?;
            }
            Ok(Ok(Event::Incoming(Packet::SubAck(taken)))) => {
                if taken.return_codes.contains(&rumqttc::SubscribeReasonCode::Failure) {
                    return Err(lost("the broker refuses the subscription".to_owned()));
                }
                answer = answer.or(Some(TagAnswer::Nothing));
            }
            Ok(Ok(Event::Incoming(Packet::Publish(message)))) => {
                answer = Some(if message.retain {
                    TagAnswer::Kept
                } else {
                    match read(&message.payload, settings, SystemClock.now()) {
                        Ok(rpm) => return Ok(TagAnswer::Speed(rpm)),
                        Err((_, why)) => TagAnswer::Unusable(why),
                    }
                });
            }
            Ok(Ok(Event::Incoming(_) | Event::Outgoing(_))) => {}
        }
    }
}
