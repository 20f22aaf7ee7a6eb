//! The checked settings of an edge.
//!
//! Reading has two stages, so that the form of `edge.toml` and the form that the program works with
//! can differ: `file` holds the values as typed, this module the values as meant. `pdm demo` and
//! tests build the latter directly. Settings are data: nothing here opens a file other than the
//! configuration, a device or a connection. Invariant: values of these types are usable; nothing is
//! checked later.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use pdm_dsp::Findings;
use pdm_service::secret::SecretSource;
use pdm_shared::event::FrequencyDomain;
use pdm_shared::id::{BearingId, BearingKey, EquipmentId, GatewayId, MeasuringPoint, SiteId};
use pdm_shared::topic::Prefix;
use pdm_shared::units::{Band, Rpm};

use crate::analysis::Machine;
use crate::capture::CaptureSettings;
use crate::catalogue::Estimate;
use crate::condition::MonitorSettings;
use crate::features::judged_block;
use crate::source::SourceInput;
use crate::source::speed_tag::SpeedTagSettings;
use crate::spool::{Limits, SpoolSettings};

mod alsa;
mod capture;
mod file;
mod iio;
mod json;
mod lines;
mod live;
mod modbus;
mod opcua;
mod source;
mod sparkplug;
mod speed_tag;
mod topic;
mod torn;
mod values;
mod zones;

pub use file::{LogSettings, parse, read_settings};
pub use pdm_dsp::DefectOrders;
pub use pdm_service::broker::{BrokerAddress, Login, TlsFiles};
pub use zones::ZoneTable;

/// Grace period of a stop where none is configured: half of the time after which systemd kills a
/// service that does not stop (`DefaultTimeoutStopSec=90s`).
pub const DEFAULT_GRACE: Duration = Duration::from_secs(45);

/// The settings of an edge.
#[derive(Debug, Clone)]
pub struct EdgeSettings {
    /// This gateway.
    pub gateway: GatewayId,
    /// Site of every machine that the gateway measures.
    pub site: SiteId,
    /// First levels of every topic.
    pub prefix: Prefix,
    /// The broker that events are sent to.
    pub broker: BrokerSettings,
    /// The spool in which events wait.
    pub spool: SpoolSettings,
    /// The sources of vibration.
    pub sources: Vec<SourceSettings>,
    /// The listener for health and metrics; `None`: no listener.
    pub admin: Option<AdminSettings>,
    /// Captures of waveforms; `None`: nothing is captured.
    pub capture: Option<CaptureSettings>,
    /// Time that stopping may take.
    pub shutdown_grace: Duration,
    /// A watched folder ends once everything in it is measured.
    pub until_done: bool,
}

impl EdgeSettings {
    /// An edge beside its broker on one machine: plain TCP, a spool in `folder`, no HTTP.
    pub fn embedded(
        gateway: GatewayId,
        site: SiteId,
        host: impl Into<String>,
        port: u16,
        spool: impl Into<PathBuf>,
        sources: Vec<SourceSettings>,
    ) -> Self {
        Self {
            gateway,
            site,
            prefix: Prefix::default(),
            broker: BrokerSettings {
                addresses: vec![BrokerAddress { host: host.into(), port }],
                ..BrokerSettings::default()
            },
            spool: SpoolSettings {
                path: spool.into(),
                limits: Limits::default(),
                await_receipt: true,
            },
            sources,
            admin: None,
            capture: None,
            shutdown_grace: DEFAULT_GRACE,
            until_done: false,
        }
    }

    /// The full name of a point's bearing.
    pub fn key(&self, point: &PointSettings) -> BearingKey {
        BearingKey {
            site: self.site.clone(),
            equipment: point.equipment.clone(),
            bearing: point.bearing.clone(),
        }
    }

    /// The bearings that the gateway measures, as `equipment/bearing`, sorted.
    pub fn bearings(&self) -> Vec<String> {
        let points = self.sources.iter().flat_map(|source| &source.points);
        let mut names: Vec<String> = points.map(|point| self.key(point).within_site()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Version of MQTT.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
pub enum Protocol {
    /// MQTT 5.
    #[default]
    #[serde(rename = "5")]
    V5,
    /// MQTT 3.1.1.
    #[serde(rename = "3.1.1")]
    V311,
}

/// The order in which events are sent after an outage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrainOrder {
    /// Strictly in the order of measurement.
    #[default]
    OldestFirst,
    /// New events first, the backlog whenever no new event waits.
    LiveFirst,
}

/// The connection to the broker, and the limits of sending.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokerSettings {
    /// The addresses, tried in turn until one answers.
    pub addresses: Vec<BrokerAddress>,
    /// MQTT version.
    pub protocol: Protocol,
    /// Client identity; the gateway's name unless set.
    pub client_id: Option<String>,
    /// User, and the place of the password.
    pub login: Option<Login>,
    /// TLS; `None` is plain TCP.
    pub tls: Option<TlsFiles>,
    /// Silence after which the connection is probed; at least 5 s.
    pub keep_alive: Duration,
    /// Time for which the broker keeps the session of an absent gateway (MQTT 5).
    pub session_expiry: Duration,
    /// Largest packet received and sent, bytes.
    pub max_packet_bytes: u32,
    /// Most events that are sent without waiting for a PUBACK.
    pub max_in_flight: u16,
    /// Whether the topic of an event names the gateway as its last level, so that the broker's
    /// access rules can hold a gateway to its own events.
    pub gateway_in_topic: bool,
    /// Order after an outage.
    pub drain_order: DrainOrder,
    /// Most events of the backlog a second; `None`: no limit.
    pub drain_per_s: Option<u32>,
    /// Seconds between commit and sending after which an event is marked `replayed`.
    pub late_after_s: f64,
    /// Shortest and longest wait before the next attempt to connect.
    pub reconnect: (Duration, Duration),
}

impl Default for BrokerSettings {
    /// Plain MQTT 5 on this machine. 256 events in flight keep a link with a round trip of 50 ms
    /// busy at 5,000 events/s; 1 MiB is forty times an event with both spectra.
    fn default() -> Self {
        Self {
            addresses: vec![BrokerAddress { host: "127.0.0.1".to_owned(), port: 1883 }],
            protocol: Protocol::V5,
            client_id: None,
            login: None,
            tls: None,
            keep_alive: Duration::from_secs(20),
            session_expiry: Duration::from_hours(1),
            max_packet_bytes: 1 << 20,
            max_in_flight: 256,
            gateway_in_topic: false,
            drain_order: DrainOrder::OldestFirst,
            drain_per_s: None,
            late_after_s: 10.0,
            reconnect: (Duration::from_millis(250), Duration::from_secs(30)),
        }
    }
}

/// Health and metrics over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminSettings {
    /// Address of the listener.
    pub listen: SocketAddr,
    /// Bearer token; needed if `listen` is not a loopback address.
    pub token: Option<SecretSource>,
}

/// A source and the measuring points behind its channels.
#[derive(Debug, Clone)]
pub struct SourceSettings {
    /// Name in logs, metrics and the spool; unique, and the same over restarts, since the position
    /// in a recording is remembered under the name.
    pub name: String,
    /// Origin of the samples.
    pub input: SourceInput,
    /// Speed of reading, and the policy when measuring is slower.
    pub pace: Pace,
    /// Times of the blocks, for a source whose blocks have none.
    pub timing: Timing,
    /// Measuring points, one for each measured channel of the source.
    pub points: Vec<PointSettings>,
    /// Length of a window; `None`: each block is a window.
    pub window: Option<Duration>,
    /// Time from the start of one measured window to that of the next; `None`: every window is
    /// measured.
    pub every: Option<Duration>,
    /// The channel with the pulses of a tachometer, if there is one.
    pub tachometer: Option<Tachometer>,
    /// The shaft speed as another system tells it, for live sources.
    pub speed_tag: Option<SpeedTagSettings>,
}

/// A channel with the pulses of a tachometer or keyphasor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tachometer {
    /// Row of the source's blocks.
    pub channel: usize,
    /// Pulses in one turn of its shaft, 1 or more.
    #[serde(default = "one")]
    pub pulses_per_turn: u32,
}

const fn one() -> u32 {
    1
}

/// The speed at which a source is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Measures as fast as it goes; no block is left out.
    AsFastAsItGoes,
    /// Measures at this multiple of the speed of recording; no block is left out.
    Times(f64),
    /// Measures as the device delivers. Blocks that measuring is too slow for are dropped, oldest
    /// first, and counted.
    Live,
}

/// The times of blocks that have no time of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Time of the first block; `None`: the time when the source was first opened.
    pub started_at: Option<pdm_shared::time::Timestamp>,
    /// Seconds from the start of one block to that of the next; `None`: the length of the block.
    pub period_s: Option<f64>,
}

/// A measuring point: one channel, one bearing.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSettings {
    /// Row of the source's blocks.
    pub channel: usize,
    /// Machine.
    pub equipment: EquipmentId,
    /// Bearing.
    pub bearing: BearingId,
    /// Position of the sensor.
    pub measuring_point: Option<MeasuringPoint>,
    /// Defect orders of the bearing.
    pub orders: DefectOrders,
    /// Relative tolerance of the orders (slip), such as 0.01.
    pub order_tolerance: f64,
    /// The estimate that the orders are, if the catalogue has no better for this bearing.
    pub estimate: Option<Estimate>,
    /// Configured shaft speed.
    pub speed: Rpm,
    /// Relative tolerance of the speed, such as 0.02; the true speed is searched within this range.
    pub speed_tolerance: f64,
    /// Turns of this shaft in one turn of the tachometer's shaft, for a gear or belt between them.
    pub tachometer_ratio: f64,
    /// Speeds that separate the operating states, rising. Each state has a baseline of its own.
    /// Empty: there is one state.
    pub speed_bins: Vec<Rpm>,
    /// Envelope band; `None`: the fast path uses a fixed share of the sampling rate, the thorough
    /// path selects a band from the signal.
    pub envelope_band: Option<Band>,
    /// Limits of the velocity zones; `None`: no zone is stated.
    pub zones: Option<ZoneTable>,
    /// Settings of baseline, anomaly, trend and remaining life.
    pub monitor: MonitorSettings,
}

impl PointSettings {
    /// The point of row 0 on a machine that a person describes by its speed and its bearing's
    /// orders, with nothing else known of it.
    pub fn of_machine(
        machine: &Machine,
        (equipment, bearing, measuring_point): (EquipmentId, BearingId, Option<MeasuringPoint>),
    ) -> Self {
        Self {
            channel: 0,
            equipment,
            bearing,
            measuring_point,
            orders: machine.orders,
            order_tolerance: machine.order_tolerance,
            estimate: machine.estimate.clone(),
            speed: machine.speed,
            speed_tolerance: machine.speed_tolerance,
            tachometer_ratio: 1.0,
            speed_bins: Vec::new(),
            envelope_band: None,
            zones: None,
            monitor: MonitorSettings::default(),
        }
    }

    /// The frequency domain of the thorough path, with the word for orders that are an estimate.
    pub fn judged(&self, findings: &Findings) -> FrequencyDomain {
        judged_block(findings, &self.orders, self.estimate.as_ref())
    }
}
