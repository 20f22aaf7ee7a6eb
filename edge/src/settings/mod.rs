//! Everything an edge needs to know, checked: what the stages take.
//!
//! Two stages, so that the form of `edge.toml` and the form the program works with can differ:
//! `file` is what was typed, this is what is meant. `pdm demo` and tests build these values
//! directly. Invariant: values of these types are usable; nothing is checked later.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pdm_service::secret::SecretSource;
use pdm_shared::id::{BearingId, EquipmentId, GatewayId, MeasuringPoint, SiteId};
use pdm_shared::topic::Prefix;
use pdm_shared::units::{Band, Rpm};

use crate::condition::MonitorSettings;
use crate::source::{Source, SourceError};
use crate::spool::{Limits, SpoolSettings};

mod file;
mod lines;
mod live;
mod source;
mod topic;
mod zones;

pub use file::{LogSettings, parse, read};
pub use pdm_dsp::DefectOrders;
pub use pdm_service::broker::{BrokerAddress, Login, TlsFiles};
pub use zones::ZoneTable;

/// How long stopping may take unless the configuration says otherwise. Chosen: half of what
/// systemd allows before it kills (`DefaultTimeoutStopSec=90s`).
pub const DEFAULT_GRACE: Duration = Duration::from_secs(45);

/// Everything an edge needs to know.
#[derive(Debug, Clone)]
pub struct EdgeSettings {
    /// This gateway.
    pub gateway: GatewayId,
    /// Site of every machine it measures.
    pub site: SiteId,
    /// First levels of every topic.
    pub prefix: Prefix,
    /// Where events go.
    pub broker: BrokerSettings,
    /// Where events wait.
    pub spool: SpoolSettings,
    /// Where vibration comes from.
    pub sources: Vec<SourceSettings>,
    /// Health and metrics; `None` serves neither.
    pub admin: Option<AdminSettings>,
    /// How long stopping may take.
    pub shutdown_grace: Duration,
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
            shutdown_grace: DEFAULT_GRACE,
        }
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

/// What is sent first after an outage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrainOrder {
    /// Strictly in the order of measurement.
    #[default]
    OldestFirst,
    /// New events at once, the backlog in what is left of the rate.
    LiveFirst,
}

/// How the broker is reached and what is sent to it.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokerSettings {
    /// Tried in turn until one answers.
    pub addresses: Vec<BrokerAddress>,
    /// MQTT version.
    pub protocol: Protocol,
    /// Client identity; the gateway's name unless set.
    pub client_id: Option<String>,
    /// User and where the password is.
    pub login: Option<Login>,
    /// TLS; `None` is plain TCP.
    pub tls: Option<TlsFiles>,
    /// Silence after which the connection is probed; at least 5 s.
    pub keep_alive: Duration,
    /// How long the broker keeps the session of an absent gateway (MQTT 5).
    pub session_expiry: Duration,
    /// Largest packet taken and sent, bytes.
    pub max_packet_bytes: u32,
    /// Events on the way without a PUBACK.
    pub max_in_flight: u16,
    /// Order after an outage.
    pub drain_order: DrainOrder,
    /// Most backlog events a second; `None`: as fast as they go.
    pub drain_per_s: Option<u32>,
    /// Seconds between commit and sending after which an event is marked `replayed`.
    pub late_after_s: f64,
    /// Shortest and longest wait before the next attempt to connect.
    pub reconnect: (Duration, Duration),
}

impl Default for BrokerSettings {
    /// Plain MQTT 5 on this machine. Chosen: 256 in flight keep a link of 50 ms round trip at
    /// 5,000 events/s busy; 1 MiB holds an event with both spectra forty times.
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
    /// Where to listen.
    pub listen: SocketAddr,
    /// Needed where `listen` is not this machine alone.
    pub token: Option<SecretSource>,
}

/// Opens a source, on the thread that will read it.
pub type Opener = Arc<dyn Fn() -> Result<Box<dyn Source>, SourceError> + Send + Sync>;

/// A source and the measuring points behind its channels.
#[derive(Clone)]
pub struct SourceSettings {
    /// Its name in logs, metrics and the spool; unique, and stable over restarts: the position in a
    /// recording is remembered under it.
    pub name: String,
    /// Opens it.
    pub open: Opener,
    /// How fast it is read, and what happens when measuring cannot follow.
    pub pace: Pace,
    /// When the first block was taken, and the time from one to the next, where the source does
    /// not say when its blocks were taken.
    pub timing: Timing,
    /// One a channel of the source.
    pub points: Vec<PointSettings>,
    /// Length of a window; `None`: a block is a window.
    pub window: Option<Duration>,
    /// Time from the start of one window to that of the next; `None`: without a pause.
    pub every: Option<Duration>,
    /// The channel that tells the shaft's angle, if there is one.
    pub tachometer: Option<Tachometer>,
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

impl fmt::Debug for SourceSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceSettings")
            .field("name", &self.name)
            .field("pace", &self.pace)
            .field("timing", &self.timing)
            .field("points", &self.points)
            .finish_non_exhaustive()
    }
}

/// How fast a source is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// As fast as measuring goes; nothing is ever left out.
    AsFastAsItGoes,
    /// At this multiple of the speed at which it was recorded; nothing is left out.
    Times(f64),
    /// The world decides: blocks that cannot be taken in time are dropped, oldest first, counted.
    Live,
}

/// The times of blocks that do not say theirs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// When the first was taken; `None`: when the source was first opened.
    pub started_at: Option<pdm_shared::time::Timestamp>,
    /// Seconds from one to the next; `None`: their own length.
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
    /// Where the sensor sits.
    pub measuring_point: Option<MeasuringPoint>,
    /// Defect orders of the bearing.
    pub orders: DefectOrders,
    /// Relative tolerance of the orders (slip), such as 0.01.
    pub order_tolerance: f64,
    /// Configured shaft speed.
    pub speed: Rpm,
    /// Relative tolerance of the speed, such as 0.02; the true speed is searched within.
    pub speed_tolerance: f64,
    /// Turns of this shaft in one turn of the tachometer's: a gear or belt between them.
    pub tachometer_ratio: f64,
    /// Speeds that part the operating states, rising; each state has a baseline of its own. Empty:
    /// there is one state.
    pub speed_bins: Vec<Rpm>,
    /// Envelope band; `None`: chosen from the signal.
    pub envelope_band: Option<Band>,
    /// Limits of the velocity zones; `None`: no zone is stated.
    pub zones: Option<ZoneTable>,
    /// Baseline, anomaly, trend and remaining life.
    pub monitor: MonitorSettings,
}
