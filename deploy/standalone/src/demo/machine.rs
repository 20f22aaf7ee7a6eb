//! The machine of the demonstration: a simulated one, or that of a recording.

use std::path::{Path, PathBuf};

use pdm_edge::cli::recording_options::{Machine as Bearing, MachineArgs, RecordingArgs};
use pdm_edge::condition::MonitorSettings;
use pdm_edge::settings::{Pace, PointSettings, SourceSettings, Timing, ZoneTable};
use pdm_edge::source::simulator::{Course, SimulatorSettings};
use pdm_edge::source::{SourceInput, open_recording};
use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::fault::Fault;
use pdm_shared::id::{GatewayId, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

/// The simulated run: 300 snapshots of one second, one every three hours, which is 37.5 days.
/// Damage starts at 35 %, so 24 days are left after it, enough to order a spare and to plan a stop.
const SNAPSHOTS: u64 = 300;
const PERIOD_S: f64 = 3.0 * 3600.0;
const RATE_HZ: f64 = 25_600.0;
const RPM: f64 = 1797.0;
const BEARING: &str = "6205";

/// The options that select the machine.
#[derive(Debug, clap::Args)]
pub(crate) struct Choice {
    /// A recording instead of the simulation; each of its channels is a measuring point
    #[arg(long, value_name = "FILE", help_heading = "Recording")]
    recording: Option<PathBuf>,
    /// Seconds from one snapshot to the next
    #[arg(long, value_name = "S", help_heading = "Recording")]
    period: Option<f64>,
    #[command(flatten)]
    read: RecordingArgs,
    #[command(flatten)]
    bearing: MachineArgs,
    /// Speed: max, or a multiple of the speed of recording such as 60x
    #[arg(long, value_name = "SPEED", default_value = "max")]
    speed: Speed,
    /// The element of the simulated bearing that fails
    #[arg(long, value_enum, default_value = "outer", help_heading = "Simulation")]
    fault: Element,
    /// Another seed is another machine
    #[arg(long, default_value_t = 1, help_heading = "Simulation")]
    seed: u64,
    /// Number of simulated snapshots
    #[arg(long, value_name = "N", default_value_t = SNAPSHOTS, help_heading = "Simulation")]
    snapshots: u64,
}

/// The element that fails in the simulation.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Element {
    /// Outer race
    Outer,
    /// Inner race
    Inner,
    /// Rolling element
    Ball,
    /// Cage
    Cage,
    /// Nothing fails
    None,
}

impl Element {
    const fn label(self) -> &'static str {
        match self {
            Self::Outer => "outer race",
            Self::Inner => "inner race",
            Self::Ball => "rolling element",
            Self::Cage => "cage",
            Self::None => "none",
        }
    }
}

/// `max`, or a multiple of the recorded speed.
#[derive(Debug, Clone, Copy)]
struct Speed(Pace);

impl std::str::FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "max" {
            return Ok(Self(Pace::AsFastAsItGoes));
        }
        let times = text.strip_suffix('x').and_then(|number| number.parse::<f64>().ok());
        times
            .filter(|times| times.is_finite() && *times > 0.0)
            .map(|times| Self(Pace::Times(times)))
            .ok_or_else(|| format!("{text:?} is no speed; allowed are max, 1x, 60x, …"))
    }
}

/// The machine as a source for the edge.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) title: String,
    pub(super) gateway: GatewayId,
    pub(super) site: SiteId,
    pub(super) source: SourceSettings,
    /// Number of windows of all measuring points, if it is known.
    pub(super) events: Option<u64>,
}

impl Choice {
    /// The selected machine.
    ///
    /// # Errors
    /// The error of the options or the recording, with its exit code.
    pub(super) fn machine(&self) -> anyhow::Result<Machine> {
        match &self.recording {
            Some(path) => self.recorded(path),
            None => self.simulated(),
        }
    }

    fn recorded(&self, path: &Path) -> anyhow::Result<Machine> {
        let mut options = self.read.options()?;
        options.period_s = self.period;
        let bearing = self.bearing.machine()?;
        // opened once here, so that a wrong option ends the program before anything starts
        let source =
            open_recording(path, &options).map_err(|error| Failure::new(error.exit(), error))?;
        let (channels, snapshots) = (source.format().channels, source.expected_blocks());
        let length_s =
            source.format().block_samples.map(|n| n as f64 / source.format().sample_rate.get());
        let step_s = self.period.or(length_s).unwrap_or(1.0);
        drop(source);
        let started_at = begin(snapshots.unwrap_or(0), step_s);
        let points = (0..channels).map(|channel| point(channel, channels, &bearing)).collect();
        let timing = Timing { started_at: Some(started_at), period_s: self.period };
        let title = format!(
            "recording of {} snapshots × {channels} channels",
            snapshots.map_or_else(|| "?".to_owned(), |n| n.to_string())
        );
        let input =
            SourceInput::Recording { files: vec![path.to_owned()], options: Box::new(options) };
        Ok(self.joined(title, input, timing, points, snapshots.map(|n| n * channels as u64)))
    }

    fn simulated(&self) -> anyhow::Result<Machine> {
        let mut machine = self.bearing.clone();
        machine.rpm = machine.rpm.or(Some(RPM));
        if machine.bearing.is_none() && machine.orders.is_none() {
            machine.bearing = Some(BEARING.to_owned());
        }
        let bearing = machine.machine()?;
        let settings = self.simulation(&bearing)?;
        let started_at = settings.started_at;
        settings.check().map_err(|e| Failure::new(Exit::Usage, e))?;
        let input = SourceInput::Simulator(Box::new(settings));
        let timing = Timing { started_at, period_s: Some(self.period.unwrap_or(PERIOD_S)) };
        let title = format!(
            "simulated run: {} snapshots over {:.0} days, failing element: {}",
            self.snapshots,
            self.period.unwrap_or(PERIOD_S) * self.snapshots as f64 / 86_400.0,
            self.fault.label()
        );
        Ok(self.joined(title, input, timing, vec![point(0, 1, &bearing)], Some(self.snapshots)))
    }

    fn simulation(&self, bearing: &Bearing) -> anyhow::Result<SimulatorSettings> {
        let usage = |option: &str, error: &dyn std::fmt::Display| {
            Failure::new(Exit::Usage, anyhow::anyhow!("{option}: {error}"))
        };
        let rate = SampleRate::new(self.read.rate.unwrap_or(RATE_HZ));
        let rate = rate.map_err(|error| usage("--rate", &error))?;
        let period_s = self.period.unwrap_or(PERIOD_S);
        let mut settings = SimulatorSettings::new(rate, bearing.speed, bearing.orders);
        settings.fault = match self.fault {
            Element::Outer => Some(Fault::OuterRace),
            Element::Inner => Some(Fault::InnerRace),
            Element::Ball => Some(Fault::Ball),
            Element::Cage => Some(Fault::Cage),
            Element::None => None,
        };
        settings.course = Course::run_to_failure();
        settings.snapshots = self.snapshots;
        settings.period_s = period_s;
        settings.started_at = Some(begin(self.snapshots, period_s));
        settings.seed = self.seed;
        Ok(settings)
    }

    fn joined(
        &self,
        title: String,
        input: SourceInput,
        timing: Timing,
        points: Vec<PointSettings>,
        events: Option<u64>,
    ) -> Machine {
        let source = SourceSettings {
            name: "demo".to_owned(),
            input,
            pace: self.speed.0,
            timing,
            points,
            window: None,
            every: None,
            tachometer: None,
            speed_tag: None,
        };
        Machine { title, gateway: name("gw-demo"), site: name("demo"), source, events }
    }
}

/// The time of the first snapshot of a run that ends now. Ages in notifications, such as "three
/// days ago", are then true.
fn begin(snapshots: u64, period_s: f64) -> Timestamp {
    SystemClock.now().plus_seconds(-(snapshots as f64) * period_s)
}

/// A name written in this file.
fn name<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("a valid name")
}

fn point(channel: usize, channels: usize, bearing: &Bearing) -> PointSettings {
    // FEMTO and most two-axis rigs record the horizontal direction first (ISO 13373-1: H, V)
    let direction = match (channels, channel) {
        (2, 0) => "DE-H".to_owned(),
        (2, 1) => "DE-V".to_owned(),
        (_, channel) => format!("DE-{channel}"),
    };
    PointSettings {
        channel,
        equipment: name("P-101"),
        bearing: name("DE"),
        measuring_point: (channels > 1).then(|| name(&direction)),
        orders: bearing.orders,
        order_tolerance: bearing.order_tolerance,
        estimate: bearing.estimate.clone(),
        speed: bearing.speed,
        speed_tolerance: bearing.speed_tolerance,
        tachometer_ratio: 1.0,
        speed_bins: Vec::new(),
        envelope_band: None,
        zones: ZoneTable::of_group("medium_rigid"),
        monitor: MonitorSettings::default(),
    }
}
