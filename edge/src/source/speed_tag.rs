//! The shaft speed from an MQTT tag: a value of another system (a drive, a PLC, a historian) that a
//! topic brings (R-EDGE-1).
//!
//! One thread a source follows the topic and keeps the last value with the time of its arrival; the
//! points of the source read it. Invariants: a value that is older than the limit, by its arrival
//! or by its own time, is not used, so that a broker or a drive that is away leaves the configured
//! speed or the estimate in its place; neither is a retained one, whose age nobody knows, nor one
//! that the shaft cannot have ([`super::shaft_speed`]); whatever is not used is told with its
//! source. The thread ends once no point reads any more.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use pdm_shared::time::Timestamp;
use pdm_shared::units::Rpm;
use rumqttc::{Client, Connection, Event, Packet, Publish, QoS};

use super::json_burst::{begin_of_value, document, time};
use super::mqtt::{TopicSettings, check_topic, connect};
use super::shaft_speed::{ShaftSpeed, shaft_speed};
use super::{SourceError, SourceHost};

mod look;

pub(crate) use look::{TagAnswer, look_at_tag};

/// Longest payload that is read, bytes. A tag's message is a number, or a small object.
const MAX_PAYLOAD_BYTES: usize = 64 * 1024;
/// How long the thread waits for the connection before it looks whether it is still needed.
const LOOK: Duration = Duration::from_secs(1);
/// Age of a value by a time that stands beside it and is not configured, above which the value is
/// old: more than clocks and time zones are apart.
const OLD_S: f64 = 86_400.0;
/// Where the time of a value usually stands, beside it or in its message.
const USUAL_TIMES: [&str; 4] = ["timestamp", "ts", "time", "t"];
/// The remarks on a tag: on its value, on its messages, on its silence, on a contradiction.
const REMARKS: [&str; 4] =
    ["speed tag", "speed tag message", "speed tag silence", "speed tag standstill"];
/// Pause after a lost connection.
const PAUSE: Duration = Duration::from_secs(5);

/// A tag: topic, place of the value, unit, age.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedTagSettings {
    /// The topic and its broker; `silence` is not used.
    pub topic: TopicSettings,
    /// JSON pointer of the value (RFC 6901); empty if the payload is the number.
    pub pointer: String,
    /// The factor from the value to rpm: 1 for rpm, 60 for Hz.
    pub rpm_per_unit: f64,
    /// Age up to which a value is used.
    pub max_age: Duration,
    /// JSON pointer of the value's time.
    pub time: Option<String>,
    /// Speeds that the shaft can have, as shares of its name plate's.
    pub speeds: RangeInclusive<f64>,
}

/// The last value, rpm; its sign is the direction.
#[derive(Debug, Default)]
struct SpeedReading(Mutex<Option<(f64, Instant)>>);

/// The last value of a tag, shared by the points of a source.
#[derive(Debug, Clone)]
pub struct SpeedTag {
    reading: Arc<SpeedReading>,
    max_age: Duration,
    speeds: RangeInclusive<f64>,
    begun: Instant,
    host: SourceHost,
    /// Whether each of [`REMARKS`] is told, by its place.
    told: Arc<[AtomicBool; 4]>,
}

impl SpeedTag {
    /// Follows a tag from now on, on a thread of its own. A password or certificate that is not
    /// there is told and awaited.
    ///
    /// # Errors
    /// [`SourceError::Options`] if the topic is not valid.
    pub fn follow(settings: &SpeedTagSettings, host: SourceHost) -> Result<Self, SourceError> {
        check_topic(&settings.topic)?;
        let reading = Arc::new(SpeedReading::default());
        let kept = Arc::downgrade(&reading);
        let name = format!("tag {}", settings.topic.topic);
        let tag = Self {
            reading,
            max_age: settings.max_age,
            speeds: settings.speeds.clone(),
            begun: Instant::now(),
            host: host.clone(),
            told: Arc::default(),
        };
        let follower = Follower { settings: settings.clone(), kept, host, is_refusing: false };
        let thread = std::thread::Builder::new().name("speed-tag".to_owned());
        let started = thread.spawn(move || follower.run());
        started.map_err(|error| SourceError::options(name.as_ref(), error.to_string()))?;
        Ok(tag)
    }

    /// Returns the tag's speed of a shaft with this speed on its name plate, if a value has come
    /// that is not too old. A speed that the shaft cannot have is told and not used.
    pub(crate) fn speed_near(&self, name_plate: Rpm) -> Option<ShaftSpeed> {
        let Some(rpm) = self.fresh() else {
            if self.begun.elapsed() > self.max_age {
                self.tell(2, || {
                    let age_s = self.max_age.as_secs_f64();
                    format!(
                        "the speed tag has brought no value for {age_s} s or longer: the estimated \
                         or configured speed is used"
                    )
                });
            }
            return None;
        };
        self.withdraw(2);
        match shaft_speed(rpm, name_plate, &self.speeds) {
            Ok(speed) => {
                self.withdraw(0);
                if speed != ShaftSpeed::Standing {
                    self.withdraw(3);
                }
                Some(speed)
            }
            Err(why) => {
                count(&self.host.name, "implausible");
                self.tell(0, || format!("the speed tag is not used: {why}"));
                None
            }
        }
    }

    /// Tells that a shaft which stands by its tag vibrates as if it turned, until the tag says that
    /// it does.
    pub(crate) fn tell_doubtful_standstill(&self) {
        self.tell(3, || {
            "the speed tag says that the shaft stands, and the sensor vibrates: its windows are \
             not judged (machine_off); a neighbour, or a tag that has failed?"
                .to_owned()
        });
    }

    /// The amount of the speed, if a value has come that is not too old and no standstill.
    pub fn speed(&self) -> Option<Rpm> {
        self.fresh().and_then(|rpm| Rpm::new(rpm.abs()).ok())
    }

    fn fresh(&self) -> Option<f64> {
        let reading = self.reading.0.lock().unwrap_or_else(PoisonError::into_inner);
        reading.filter(|(_, came)| came.elapsed() <= self.max_age).map(|(rpm, _)| rpm)
    }

    /// Sets a remark; the log has it once until it is withdrawn.
    fn tell(&self, place: usize, text: impl FnOnce() -> String) {
        let (Some(told), Some(matter)) = (self.told.get(place), REMARKS.get(place)) else { return };
        if !told.swap(true, Ordering::Relaxed) {
            let text = text();
            tracing::error!(source = self.host.name, "{text}");
            self.host.remarks.set(&self.host.name, matter, text);
        }
    }

    fn withdraw(&self, place: usize) {
        let (Some(told), Some(matter)) = (self.told.get(place), REMARKS.get(place)) else { return };
        if told.swap(false, Ordering::Relaxed) {
            self.host.remarks.withdraw(&self.host.name, matter);
        }
    }
}

/// Follows the topic until nobody reads the value.
struct Follower {
    settings: SpeedTagSettings,
    kept: Weak<SpeedReading>,
    host: SourceHost,
    is_refusing: bool,
}

impl Follower {
    fn run(mut self) {
        while self.kept.strong_count() > 0 {
            match connect(&self.settings.topic, "the speed tag") {
                Ok(link) => {
                    if std::mem::take(&mut self.is_refusing) {
                        self.host.remarks.withdraw(&self.host.name, REMARKS[1]);
                    }
                    self.follow_link(link);
                }
                Err(error) => {
                    let text =
                        format!("the speed tag is not followed, and is tried again: {error}");
                    if !std::mem::replace(&mut self.is_refusing, true) {
                        tracing::error!(source = self.host.name, "{text}");
                    }
                    self.host.remarks.set(&self.host.name, REMARKS[1], text);
                }
            }
            self.pause();
        }
    }

    /// Sleeps, but not beyond the life of the last reader.
    fn pause(&self) {
        let until = Instant::now() + PAUSE;
        while self.kept.strong_count() > 0 && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
    }

    /// Follows one connection until it is lost: the next one reads password and certificates anew.
    fn follow_link(&mut self, (client, mut connection): (Client, Connection)) {
        let topic = self.settings.topic.topic.clone();
        while self.kept.strong_count() > 0 {
            match connection.recv_timeout(LOOK) {
                Err(_no_event) => {}
                Ok(Ok(Event::Incoming(Packet::ConnAck(_)))) => {
                    if let Err(error) = client.try_subscribe(&topic, QoS::AtMostOnce) {
                        tracing::warn!(%error, topic, "Speed tag not subscribed.");
                    }
                }
                Ok(Ok(Event::Incoming(Packet::Publish(message)))) => self.take(&message),
                Ok(Ok(Event::Incoming(_) | Event::Outgoing(_))) => {}
                Ok(Err(error)) => {
                    tracing::debug!(%error, topic, "speed tag not reached");
                    return;
                }
            }
        }
    }

    fn take(&mut self, message: &Publish) {
        let source = &self.host.name;
        let value = if message.retain {
            Err(("retained", "a retained value, whose age nobody knows".to_owned()))
        } else {
            read(&message.payload, &self.settings, self.host.clock.now())
        };
        match value {
            Ok(rpm) => {
                count(source, "read");
                if std::mem::take(&mut self.is_refusing) {
                    self.host.remarks.withdraw(source, REMARKS[1]);
                }
                let Some(reading) = self.kept.upgrade() else { return };
                let mut reading = reading.0.lock().unwrap_or_else(PoisonError::into_inner);
                let before = reading.replace((rpm, Instant::now()));
                if rpm < 0.0 && before.is_none_or(|(before, _)| before >= 0.0) {
                    tracing::info!(
                        source,
                        rpm,
                        "the shaft turns backwards; its speed is the amount"
                    );
                }
            }
            Err((outcome, why)) => {
                count(source, outcome);
                if !std::mem::replace(&mut self.is_refusing, true) {
                    tracing::error!(source, why, "messages of the speed tag are not used");
                }
                let topic = &self.settings.topic.topic;
                let text = format!("the speed tag {topic} is not used: {why}");
                self.host.remarks.set(source, REMARKS[1], text);
            }
        }
    }
}

fn count(source: &str, outcome: &'static str) {
    metrics::counter!("pdm_edge_speed_tag_values_total", "source" => source.to_owned(),
        "outcome" => outcome)
    .increment(1);
}

/// The speed in a message, rpm.
///
/// # Errors
/// The word for it in the metric, and why there is none.
fn read(
    payload: &[u8],
    settings: &SpeedTagSettings,
    now: Timestamp,
) -> Result<f64, (&'static str, String)> {
    let refused = |why: String| ("refused", why);
    if payload.len() > MAX_PAYLOAD_BYTES {
        return Err(refused(format!("a message of {} bytes", payload.len())));
    }
    let message = document(payload).map_err(refused)?;
    let pointer = &settings.pointer;
    let value = message
        .pointer(pointer)
        .ok_or_else(|| refused(format!("nothing stands at {pointer:?}")))?;
    // tags of some gateways are texts
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    let rpm = number.map(|number: f64| number * settings.rpm_per_unit);
    let rpm = rpm
        .filter(|rpm| rpm.is_finite())
        .ok_or_else(|| refused(format!("{} at {pointer:?} is no number", begin_of_value(value))))?;
    match age_s(&message, settings, now).map_err(refused)? {
        Some((age_s, most_s)) if age_s > most_s => {
            Err(("stale", format!("the value is {age_s:.0} s old by its own time")))
        }
        _ => Ok(rpm),
    }
}

/// Returns how old a value is by its own time, s, and how old it may be; `None` if it has no time.
///
/// # Errors
/// The value at the configured place is no time; in words.
fn age_s(
    message: &serde_json::Value,
    settings: &SpeedTagSettings,
    now: Timestamp,
) -> Result<Option<(f64, f64)>, String> {
    if let Some(pointer) = &settings.time {
        let at = time(message, pointer)?;
        return Ok(Some((now.seconds_since(at), settings.max_age.as_secs_f64())));
    }
    let beside = settings.pointer.rsplit_once('/').map_or("", |(beside, _)| beside);
    let usual = USUAL_TIMES.iter().map(|name| format!("{beside}/{name}"));
    let at = usual.filter(|pointer| *pointer != settings.pointer).find_map(|pointer| {
        // a number below that of 1973 is no time since 1970, but a count
        time(message, &pointer).ok().filter(|at| at.unix_ms() > 100_000_000_000)
    });
    Ok(at.map(|at| (now.seconds_since(at), OLD_S.max(settings.max_age.as_secs_f64()))))
}

#[cfg(test)]
mod tests {
    use pdm_service::broker::BrokerAddress;
    use pdm_service::clock::{Clock as _, SystemClock};
    use proptest::prelude::*;

    use super::*;
    use crate::source::shaft_speed::USUAL_SPEEDS;

    fn settings(pointer: &str, rpm_per_unit: f64) -> SpeedTagSettings {
        let topic = TopicSettings {
            address: BrokerAddress { host: "127.0.0.1".to_owned(), port: 1883 },
            client_id: "tag".to_owned(),
            topic: "plant/p-101/speed".to_owned(),
            login: None,
            tls: None,
            silence: Duration::ZERO,
            silence_by_pauses: false,
            keeps_session: false,
        };
        SpeedTagSettings {
            topic,
            pointer: pointer.to_owned(),
            rpm_per_unit,
            max_age: Duration::from_secs(1),
            time: None,
            speeds: USUAL_SPEEDS,
        }
    }

    fn rpm(payload: &str, settings: &SpeedTagSettings) -> Result<f64, (&'static str, String)> {
        read(payload.as_bytes(), settings, SystemClock.now())
    }

    /// R-EDGE-1.
    #[test]
    fn a_value_is_read_at_its_pointer_and_in_its_unit() {
        let rpm = |payload: &str, pointer: &str, unit: f64| rpm(payload, &settings(pointer, unit));
        assert_eq!(rpm("1475.5", "", 1.0), Ok(1475.5));
        assert_eq!(rpm(r#"{"d":[{"v":24.6}]}"#, "/d/0/v", 60.0), Ok(24.6 * 60.0));
        assert_eq!(rpm(r#"{"v":"1500 "}"#, "/v", 1.0), Ok(1500.0));
        assert_eq!(rpm(r#"{"v":-1350}"#, "/v", 1.0), Ok(-1350.0));
        for wrong in ["", "{}", r#"{"v":null}"#, r#"{"v":"1480 rpm"}"#, r#"{"v":"NaN"}"#, "[1]"] {
            let (outcome, why) = rpm(wrong, "/v", 1.0).expect_err(wrong);
            assert!(outcome == "refused" && !why.is_empty(), "{wrong}");
        }
    }

    /// A message that a gateway sends again with the time of a week ago.
    #[test]
    fn a_value_that_is_old_by_its_own_time_is_not_fresh() {
        let at = |age_s: f64| SystemClock.now().plus_seconds(-age_s);
        let of = |age_s: f64| format!(r#"{{"v": 1480, "ts": {}}}"#, at(age_s).unix_ms());
        let guessed = settings("/v", 1.0);
        assert_eq!(rpm(&of(7.0 * 86_400.0), &guessed).expect_err("old").0, "stale");
        assert_eq!(rpm(&of(9.0 * 3600.0), &guessed), Ok(1480.0), "a time zone");
        assert_eq!(rpm(r#"{"v": 1480, "t": 12345}"#, &guessed), Ok(1480.0), "a count");
        let named = SpeedTagSettings { time: Some("/ts".to_owned()), ..guessed };
        assert_eq!(rpm(&of(2.0), &named).expect_err("above max_age").0, "stale");
        assert_eq!(rpm(&of(0.5), &named), Ok(1480.0));
        assert_eq!(rpm(r#"{"v": 1480}"#, &named).expect_err("no time").0, "refused");
    }

    #[test]
    fn an_old_value_is_not_used() {
        let tag = |age: Duration| {
            let came = Instant::now().checked_sub(age).expect("a long uptime");
            tag_of(Arc::new(SpeedReading(Mutex::new(Some((1500.0, came)))))).speed().map(Rpm::get)
        };
        assert_eq!(tag(Duration::ZERO), Some(1500.0));
        assert_eq!(tag(Duration::from_secs(1)), None);
    }

    fn tag_of(reading: Arc<SpeedReading>) -> SpeedTag {
        SpeedTag {
            reading,
            max_age: Duration::from_millis(500),
            speeds: USUAL_SPEEDS,
            begun: Instant::now(),
            host: SourceHost::alone(Arc::new(SystemClock), "bench"),
            told: Arc::default(),
        }
    }

    /// 24.6 Hz sent as rpm to a machine of 1,480 rpm, and a standstill.
    #[test]
    fn a_value_far_from_the_name_plate_is_told_and_not_used_and_zero_is_a_standstill() {
        let plate = Rpm::new(1480.0).expect("a speed");
        let tag = tag_of(Arc::new(SpeedReading(Mutex::new(Some((24.6, Instant::now()))))));
        let told = || tag.host.remarks.lines().join("");
        assert_eq!(tag.speed_near(plate), None);
        assert!(told().contains("24.6") && told().contains("1480"), "{}", told());
        let set = |rpm: f64| {
            *tag.reading.0.lock().expect("whole") = Some((rpm, Instant::now()));
            tag.speed_near(plate)
        };
        assert_eq!(set(-300.0).and_then(ShaftSpeed::turning).map(Rpm::get), Some(300.0));
        assert_eq!(told(), "");
        assert_eq!(set(0.0), Some(ShaftSpeed::Standing));
        tag.tell_doubtful_standstill();
        assert!(told().contains("stands"), "{}", told());
        set(1480.0);
        assert_eq!(told(), "");
    }

    /// The kept message of a broker may be of last year.
    #[test]
    fn a_retained_value_is_told_and_not_used() {
        let reading = Arc::new(SpeedReading::default());
        let host = SourceHost::alone(Arc::new(SystemClock), "bench");
        let mut follower = Follower {
            settings: settings("", 1.0),
            kept: Arc::downgrade(&reading),
            host: host.clone(),
            is_refusing: false,
        };
        let mut message = Publish::new("plant/p-101/speed", QoS::AtMostOnce, "1480");
        message.retain = true;
        follower.take(&message);
        let value = || reading.0.lock().expect("whole").map(|(rpm, _)| rpm);
        assert_eq!(value(), None);
        assert!(host.remarks.lines().join("").contains("retained"));
        message.retain = false;
        follower.take(&message);
        assert_eq!((value(), host.remarks.lines().len()), (Some(1480.0), 0));
    }

    /// A password that a volume brings later is told and awaited; the program ended with 78.
    #[test]
    fn a_tag_whose_password_is_not_there_is_told_and_tried_again() {
        let host = SourceHost::alone(Arc::new(SystemClock), "bench");
        let mut settings = settings("", 1.0);
        settings.topic.login = Some(pdm_service::broker::Login {
            user: "gw".to_owned(),
            password: pdm_service::secret::SecretSource::File("/no/such/secret".into()),
        });
        let tag = SpeedTag::follow(&settings, host.clone()).expect("it can wait");
        let until = Instant::now() + Duration::from_secs(5);
        while host.remarks.lines().is_empty() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        let told = host.remarks.lines().join("");
        assert!(
            told.contains("password of the speed tag: cannot read the secret's file"),
            "{told}"
        );
        assert_eq!(told.matches("/no/such/secret").count(), 1, "{told}");
        drop(tag);
    }

    proptest! {
        #[test]
        fn no_payload_makes_it_panic(payload in prop::collection::vec(any::<u8>(), 0..300)) {
            let _value = read(&payload, &settings("/a/0", 1.0), SystemClock.now());
        }
    }
}
