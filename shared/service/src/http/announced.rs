//! Metrics that exist from the start of a program, at 0 and with their help.
//!
//! A counter that appears with its first event hides that event from `increase()`, and an alert
//! rule on a series that does not exist never fires. So each program announces every metric of its
//! documentation before it counts anything.

use metrics::Unit;

/// The kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// A number that only rises.
    Counter,
    /// A number that rises and falls.
    Gauge,
    /// Durations or amounts by quantile.
    Histogram,
}

/// A metric that is announced.
#[derive(Debug, Clone, Copy)]
pub struct Announced {
    /// Name.
    pub name: &'static str,
    /// Kind.
    pub kind: MetricKind,
    /// The meaning, in one line.
    pub help: &'static str,
    /// The label that tells its series apart, and the values known beforehand.
    pub by: Option<(&'static str, &'static [&'static str])>,
}

impl Announced {
    /// A counter.
    pub const fn counter(name: &'static str, help: &'static str) -> Self {
        Self { name, kind: MetricKind::Counter, help, by: None }
    }

    /// A gauge.
    pub const fn gauge(name: &'static str, help: &'static str) -> Self {
        Self { name, kind: MetricKind::Gauge, help, by: None }
    }

    /// A histogram.
    pub const fn histogram(name: &'static str, help: &'static str) -> Self {
        Self { name, kind: MetricKind::Histogram, help, by: None }
    }

    /// Returns the same metric with one series for each of these values of a label. Without values
    /// those of the configuration are announced ([`announce`]).
    #[must_use]
    pub const fn by(self, label: &'static str, values: &'static [&'static str]) -> Self {
        Self { by: Some((label, values)), ..self }
    }

    /// Registers one series.
    fn series(&self, labels: Vec<(&'static str, String)>) {
        match self.kind {
            MetricKind::Counter => metrics::counter!(self.name, &labels).increment(0),
            MetricKind::Gauge => metrics::gauge!(self.name, &labels).increment(0.0),
            MetricKind::Histogram => drop(metrics::histogram!(self.name, &labels)),
        }
    }

    fn describe(&self) {
        match self.kind {
            MetricKind::Counter => metrics::describe_counter!(self.name, Unit::Count, self.help),
            MetricKind::Gauge => metrics::describe_gauge!(self.name, self.help),
            MetricKind::Histogram => metrics::describe_histogram!(self.name, self.help),
        }
    }
}

/// Registers every metric at 0. `known` are values of labels that the configuration names, such as
/// the lanes of the ways to staff.
pub fn announce(list: &[Announced], known: &[(&'static str, Vec<String>)]) {
    for metric in list {
        metric.describe();
        let Some((label, values)) = metric.by else {
            metric.series(Vec::new());
            continue;
        };
        let configured = known.iter().filter(|(name, _)| *name == label);
        let configured = configured.flat_map(|(_, values)| values.iter().cloned());
        let all = values.iter().map(|value| (*value).to_owned()).chain(configured);
        let mut has_any = false;
        for value in all {
            metric.series(vec![(label, value)]);
            has_any = true;
        }
        if !has_any {
            metric.series(Vec::new());
        }
    }
}

/// The metrics that both programs have: of the HTTP server, and of the log.
pub const OF_HTTP: [Announced; 2] = [
    Announced::counter(
        "pdm_http_refused_total",
        "requests refused by reason, and silent connections closed for new ones",
    )
    .by("reason", &["token", "role", "origin", "rate", "places", "tls", "connections"]),
    Announced::counter(
        "pdm_log_lines_dropped_total",
        "lines of the log that were dropped because nothing reads standard error",
    ),
];
