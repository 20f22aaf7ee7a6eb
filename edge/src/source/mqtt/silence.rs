//! Observes whether a topic still brings samples.
//!
//! The life of the connection is the keep-alive of MQTT, so a topic without messages is told and no
//! reason to connect anew. Sensors send a burst each second or each hour: without a configured
//! limit it follows the longest of the last pauses. Invariants: a topic whose messages are all
//! refused is not told to be silent, but with the reason of the refusal; what is told holds until
//! samples come.

use std::collections::VecDeque;
use std::time::Duration;

use metrics::{counter, gauge};
use pdm_shared::time::Timestamp;

use crate::source::SourceHost;

/// Pauses that are remembered.
const PAUSES: usize = 8;
/// Multiple of the longest pause after which a topic is silent: one burst may be lost, and sensors
/// wake up late.
const PAUSES_LONG: u32 = 3;
/// Limit until a second burst has shown the period.
const UNKNOWN_PERIOD: Duration = Duration::from_mins(10);

/// Follows the samples of a topic.
#[derive(Debug)]
pub(super) struct SilenceWatch {
    host: SourceHost,
    topic: String,
    least: Duration,
    /// The limit follows the pauses; else `least` alone counts.
    follows_pauses: bool,
    pauses: VecDeque<Duration>,
    /// When samples came last, by the monotonic clock and by the wall clock; before the first, when
    /// the topic was opened.
    heard: (Duration, Timestamp),
    has_heard: bool,
    /// Why the latest message since then is refused.
    refused: Option<String>,
    is_told: bool,
}

impl SilenceWatch {
    pub(super) fn new(
        topic: String,
        (least, follows_pauses): (Duration, bool),
        host: SourceHost,
    ) -> Self {
        Self {
            heard: (host.clock.uptime(), host.clock.now()),
            host,
            topic,
            least,
            follows_pauses,
            pauses: VecDeque::new(),
            has_heard: false,
            refused: None,
            is_told: false,
        }
    }

    /// Samples have come.
    pub(super) fn heard(&mut self) {
        let now = self.host.clock.uptime();
        if std::mem::replace(&mut self.has_heard, true) {
            self.pauses.push_back(now.saturating_sub(self.heard.0));
            if self.pauses.len() > PAUSES {
                self.pauses.pop_front();
            }
        } else {
            // what an earlier connection told does not hold any more
            self.withdraw();
        }
        self.heard = (now, self.host.clock.now());
        self.refused = None;
        if std::mem::take(&mut self.is_told) {
            tracing::info!(source = self.host.name, "the topic brings samples again");
            self.withdraw();
        }
    }

    /// A message was refused.
    pub(super) fn refused(&mut self, why: &str) {
        self.refused = Some(why.to_owned());
    }

    /// Tells a silence that lasts for too long.
    pub(super) fn look(&mut self) {
        let silent = self.host.clock.uptime().saturating_sub(self.heard.0);
        if silent <= self.limit() {
            return;
        }
        let SourceHost { name, remarks, .. } = &self.host;
        let (topic, since) = (&self.topic, self.heard.1);
        let text = match &self.refused {
            Some(why) => {
                format!(
                    "nothing of {topic} is measured since {since}: all messages are refused: {why}"
                )
            }
            None => format!("{topic}: the topic is silent since {since}"),
        };
        remarks.set(name, "silence", text);
        if !std::mem::replace(&mut self.is_told, true) {
            counter!("pdm_edge_source_failures_total", "source" => name.clone()).increment(1);
            gauge!("pdm_edge_source_silent", "source" => name.clone()).set(1.0);
            if self.refused.is_none() {
                tracing::error!(source = name, topic, %since, "the topic is silent");
            }
        }
    }

    fn withdraw(&self) {
        self.host.remarks.withdraw(&self.host.name, "silence");
        gauge!("pdm_edge_source_silent", "source" => self.host.name.clone()).set(0.0);
    }

    fn limit(&self) -> Duration {
        if !self.follows_pauses {
            return self.least;
        }
        match self.pauses.iter().max() {
            Some(longest) => self.least.max(*longest * PAUSES_LONG),
            None if self.has_heard => self.least.max(UNKNOWN_PERIOD),
            None => self.least,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pdm_service::clock::SystemClock;

    use super::*;

    fn watch(follows_pauses: bool) -> SilenceWatch {
        let host = SourceHost::alone(Arc::new(SystemClock), "bench");
        SilenceWatch::new("plant/x".to_owned(), (Duration::from_secs(10), follows_pauses), host)
    }

    #[test]
    fn the_limit_follows_the_pauses_of_the_sensor_unless_it_is_configured() {
        let mut watch = watch(true);
        assert_eq!(watch.limit(), Duration::from_secs(10), "nothing has come yet");
        watch.heard();
        assert_eq!(watch.limit(), UNKNOWN_PERIOD);
        watch.pauses.push_back(Duration::from_mins(1));
        assert_eq!(watch.limit(), Duration::from_mins(3));
        watch.pauses = VecDeque::from([Duration::from_millis(200)]);
        assert_eq!(watch.limit(), Duration::from_secs(10));
        let mut fixed = super::tests::watch(false);
        fixed.pauses.push_back(Duration::from_mins(1));
        assert_eq!(fixed.limit(), Duration::from_secs(10));
    }

    #[test]
    fn a_silence_is_told_until_samples_come_and_a_refusal_with_its_reason() {
        let mut watch = watch(false);
        watch.least = Duration::ZERO;
        std::thread::sleep(Duration::from_millis(2));
        watch.look();
        let told = watch.host.remarks.lines().join("");
        assert!(told.contains("plant/x: the topic is silent since 2"), "{told}");
        assert_eq!(watch.host.remarks.troubles().len(), 1, "nothing watches the machine");
        watch.refused("nothing stands at /x");
        watch.look();
        let told = watch.host.remarks.lines().join("");
        assert!(told.contains("nothing stands at /x") && !told.contains("silent"), "{told}");
        watch.heard();
        assert!(watch.host.remarks.lines().is_empty());
    }
}
