//! The shaft speed from an MQTT tag: a value of another system (a drive, a PLC, a historian) that a
//! topic brings (R-EDGE-1).
//!
//! One thread a source follows the topic and keeps the last value with the time of its arrival; the
//! points of the source read it. A value that is older than the limit is not used, so that a broker
//! or a drive that is away leaves the configured speed or the estimate in its place. A retained value
//! counts from its arrival, since its age is not known. The thread ends once no point reads any more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use pdm_shared::units::Rpm;
use rumqttc::{Client, Connection, Event, Packet, QoS};

use super::mqtt::{TopicSettings, connect};
use super::{SourceError, SourceHost};

/// Longest payload that is read, bytes. A tag's message is a number, or a small object.
const MAX_PAYLOAD_BYTES: usize = 64 * 1024;
/// How long the thread waits for the connection before it looks whether it is still needed.
const LOOK: Duration = Duration::from_secs(1);
/// Speeds, as multiples of the name plate's, that a tag may have. A frequency converter runs its motor
/// from a tenth of the nominal speed to some way above; Hz taken for rpm are a sixtieth, and rpm taken
/// for Hz sixty times. Chosen for these two.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.05..=5.0;
/// Pause after a lost connection.
const PAUSE: Duration = Duration::from_secs(5);

/// A tag: topic, place of the value, unit, age.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedTagSettings {
    /// The topic and its broker; `silence` is not used.
    pub topic: TopicSettings,
    /// JSON pointer of the value (RFC 6901); empty if the payload is the number.
    pub pointer: String,
    /// What the value is multiplied by to give rpm: 1 for rpm, 60 for Hz.
    pub rpm_per_unit: f64,
    /// Age up to which a value is used.
    pub max_age: Duration,
}

#[derive(Debug, Default)]
struct Reading(Mutex<Option<(Rpm, Instant)>>);

/// The last value of a tag, shared by the points of a source.
#[derive(Debug, Clone)]
pub struct SpeedTag {
    reading: Arc<Reading>,
    max_age: Duration,
    host: SourceHost,
    /// A value was far from a name plate, and the log says so.
    is_told: Arc<AtomicBool>,
}

impl SpeedTag {
    /// Follows a tag from now on, on a thread of its own.
    ///
    /// # Errors
    /// [`SourceError::Options`] if topic, password or certificates are not valid.
    pub fn follow(settings: &SpeedTagSettings, host: SourceHost) -> Result<Self, SourceError> {
        let connected = connect(&settings.topic)?;
        let reading = Arc::new(Reading::default());
        let (kept, settings) = (Arc::downgrade(&reading), settings.clone());
        let max_age = settings.max_age;
        let name = format!("tag {}", settings.topic.topic);
        let thread = std::thread::Builder::new().name("speed-tag".to_owned());
        let started = thread.spawn(move || run(connected, &settings, &kept));
        started.map_err(|error| SourceError::options(name.as_ref(), error.to_string()))?;
        Ok(Self { reading, max_age, host, is_told: Arc::default() })
    }

    /// The speed of a shaft with this speed on its name plate, if a value has come that is not too
    /// old. A value that is far from the name plate is told and not used: it is most likely in
    /// another unit.
    pub(crate) fn speed_near(&self, name_plate: Rpm) -> Option<Rpm> {
        let speed = self.speed()?;
        if PLAUSIBLE.contains(&(speed.get() / name_plate.get())) {
            if self.is_told.swap(false, Ordering::Relaxed) {
                self.host.remarks.withdraw(&self.host.name, "speed tag");
            }
            return Some(speed);
        }
        metrics::counter!("pdm_edge_speed_tag_values_total", "outcome" => "implausible")
            .increment(1);
        if !self.is_told.swap(true, Ordering::Relaxed) {
            let source = &self.host.name;
            tracing::error!(source, tag = %speed, rpm = %name_plate, "speed tag far from the \
                 configured speed, not used: is it in Hz (speed_tag.unit)?");
            let text = format!(
                "the speed tag says {speed}, but rpm is {name_plate}: it is not used; \
                 speed_tag.unit decides whether it is rpm or Hz"
            );
            self.host.remarks.set(source, "speed tag", text);
        }
        None
    }

    /// The speed, if a value has come that is not too old.
    pub fn speed(&self) -> Option<Rpm> {
        let reading = self.reading.0.lock().unwrap_or_else(PoisonError::into_inner);
        reading.filter(|(_, came)| came.elapsed() <= self.max_age).map(|(speed, _)| speed)
    }
}

/// Follows the topic until nobody reads the value.
fn run(connected: (Client, Connection), settings: &SpeedTagSettings, kept: &Weak<Reading>) {
    let (client, mut connection) = connected;
    while kept.strong_count() > 0 {
        match connection.recv_timeout(LOOK) {
            Err(_no_event) => {}
            Ok(Ok(Event::Incoming(Packet::ConnAck(_)))) => {
                if let Err(error) = client.try_subscribe(&settings.topic.topic, QoS::AtMostOnce) {
                    tracing::warn!(%error, topic = settings.topic.topic, "Speed tag not subscribed.");
                }
            }
            Ok(Ok(Event::Incoming(Packet::Publish(message)))) => {
                let value = read(&message.payload, settings);
                metrics::counter!("pdm_edge_speed_tag_values_total",
                    "outcome" => if value.is_some() { "read" } else { "refused" })
                .increment(1);
                if let (Some(value), Some(reading)) = (value, kept.upgrade()) {
                    let mut reading = reading.0.lock().unwrap_or_else(PoisonError::into_inner);
                    *reading = Some((value, Instant::now()));
                }
            }
            Ok(Ok(Event::Incoming(_) | Event::Outgoing(_))) => {}
            Ok(Err(error)) => {
                tracing::debug!(%error, topic = settings.topic.topic, "speed tag not reached");
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// The speed in a message; none if the value is missing, no number or no speed.
fn read(payload: &[u8], settings: &SpeedTagSettings) -> Option<Rpm> {
    let text = payload.get(..payload.len().min(MAX_PAYLOAD_BYTES + 1))?;
    if text.len() > MAX_PAYLOAD_BYTES {
        return None;
    }
    let document: serde_json::Value = serde_json::from_slice(text).ok()?;
    let value = document.pointer(&settings.pointer)?;
    // tags of some gateways are texts
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    Rpm::new(number * settings.rpm_per_unit).ok()
}

#[cfg(test)]
mod tests {
    use pdm_service::broker::BrokerAddress;
    use proptest::prelude::*;

    use super::*;

    fn settings(pointer: &str, rpm_per_unit: f64) -> SpeedTagSettings {
        let topic = TopicSettings {
            address: BrokerAddress { host: "127.0.0.1".to_owned(), port: 1883 },
            client_id: "tag".to_owned(),
            topic: "plant/p-101/speed".to_owned(),
            login: None,
            tls: None,
            silence: Duration::ZERO,
        };
        let pointer = pointer.to_owned();
        SpeedTagSettings { topic, pointer, rpm_per_unit, max_age: Duration::from_secs(1) }
    }

    /// R-EDGE-1.
    #[test]
    fn a_value_is_read_at_its_pointer_and_in_its_unit() {
        let rpm = |payload: &str, pointer: &str, unit: f64| {
            read(payload.as_bytes(), &settings(pointer, unit)).map(Rpm::get)
        };
        assert_eq!(rpm("1475.5", "", 1.0), Some(1475.5));
        assert_eq!(rpm(r#"{"d":[{"v":24.6}]}"#, "/d/0/v", 60.0), Some(24.6 * 60.0));
        assert_eq!(rpm(r#"{"v":"1500 "}"#, "/v", 1.0), Some(1500.0));
        for wrong in ["", "{}", r#"{"v":null}"#, r#"{"v":-3}"#, r#"{"v":"fast"}"#, "[1]"] {
            assert_eq!(rpm(wrong, "/v", 1.0), None, "{wrong}");
        }
    }

    #[test]
    fn an_old_value_is_not_used() {
        let speed = Rpm::new(1500.0).expect("a speed");
        let tag = |age: Duration| {
            let came = Instant::now().checked_sub(age).expect("a long uptime");
            let reading = Arc::new(Reading(Mutex::new(Some((speed, came)))));
            tag_of(reading).speed()
        };
        assert_eq!(tag(Duration::ZERO), Some(speed));
        assert_eq!(tag(Duration::from_secs(1)), None);
    }

    fn tag_of(reading: Arc<Reading>) -> SpeedTag {
        let host = SourceHost::alone(Arc::new(pdm_service::clock::SystemClock), "bench");
        let is_told = Arc::default();
        SpeedTag { reading, max_age: Duration::from_millis(500), host, is_told }
    }

    /// 24.6 Hz sent as rpm to a machine of 1,480 rpm.
    #[test]
    fn a_value_far_from_the_name_plate_is_told_and_not_used() {
        let rpm = |value| Rpm::new(value).expect("a speed");
        let tag = tag_of(Arc::new(Reading(Mutex::new(Some((rpm(24.6), Instant::now()))))));
        assert_eq!(tag.speed_near(rpm(1480.0)), None);
        let told = tag.host.remarks.lines().join("");
        assert!(told.contains("24.6") && told.contains("1480"), "{told}");
        let slow = Some((rpm(300.0), Instant::now()));
        *tag.reading.0.lock().expect("whole") = slow;
        assert_eq!(tag.speed_near(rpm(1480.0)), Some(rpm(300.0)));
        assert!(tag.host.remarks.lines().is_empty());
    }

    proptest! {
        #[test]
        fn no_payload_makes_it_panic(payload in prop::collection::vec(any::<u8>(), 0..300)) {
            let _value = read(&payload, &settings("/a/0", 1.0));
        }
    }
}
