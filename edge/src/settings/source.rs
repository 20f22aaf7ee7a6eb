//! `[[source]]`: the keys as typed, and the source that they describe.

use std::path::PathBuf;
use std::time::Duration;

use pdm_service::config::ConfigError;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;
use serde::Deserialize;

use super::alsa::AlsaTable;
use super::file::Origin;
use super::iio::IioTable;
use super::live::{SourceContext, StreamTable};
use super::modbus::ModbusTable;
use super::opcua::OpcuaTable;
use super::speed_tag::SpeedTagTable;
use super::{Pace, PointSettings, SourceSettings, Tachometer, Timing};
use crate::catalogue::Catalogue;
use crate::source::interpretation::MOST_HZ;
use crate::source::speed_tag::SpeedTagSettings;
use crate::source::{Calibration, RecordingOptions, SourceInput};
use crate::tabular::LocalZone;
use crate::tabular::zone::ZONES;

mod calibration;
mod channel;
mod simulated;
mod transmitter;

use calibration::CalibrationKeys;
use channel::ChannelTable;
use simulated::SimulatorTable;

/// Time between two looks at a folder where none is configured. A file is measured after two looks
/// in which it did not change, so a writer may pause for as long as this.
const DEFAULT_WATCH: Duration = Duration::from_secs(2);

/// `kind` of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SourceKind {
    Recording,
    Simulator,
    Stream,
    Iio,
    Alsa,
    Modbus,
    Opcua,
}

impl SourceKind {
    /// Whether it delivers at its own pace.
    const fn is_live(self) -> bool {
        matches!(self, Self::Stream | Self::Iio | Self::Alsa | Self::Modbus | Self::Opcua)
    }
}

/// `pace`: a word or a factor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum PaceText {
    Word(String),
    Factor(f64),
}

/// `[[source]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceTable {
    pub(super) name: String,
    kind: SourceKind,
    #[serde(default)]
    pace: Option<PaceText>,
    #[serde(default)]
    started_at: Option<Timestamp>,
    #[serde(default)]
    period_s: Option<f64>,
    #[serde(default)]
    window_s: Option<f64>,
    #[serde(default)]
    every_s: Option<f64>,
    #[serde(default)]
    tachometer: Option<Tachometer>,
    #[serde(default)]
    rate_hz: Option<f64>,
    /// The files or folders of a recording.
    #[serde(default)]
    files: Option<Vec<PathBuf>>,
    #[serde(default)]
    variable: Option<String>,
    /// Which side counts where a file and a key contradict each other.
    #[serde(default)]
    prefer: Option<String>,
    /// Decimal sign of texts.
    #[serde(default)]
    decimal: Option<String>,
    /// Zone of times that state none.
    #[serde(default)]
    zone: Option<String>,
    /// The part of each file that is read.
    #[serde(default)]
    start_s: Option<f64>,
    #[serde(default)]
    duration_s: Option<f64>,
    /// Whether the files of folders are measured as they come.
    #[serde(default)]
    watch: Option<bool>,
    /// Time between two looks at the folders.
    #[serde(default)]
    watch_s: Option<f64>,
    /// The settings of the simulator.
    #[serde(default)]
    simulator: Option<SimulatorTable>,
    /// The settings of a stream.
    #[serde(default)]
    stream: Option<StreamTable>,
    /// The settings for accelerometers of the kernel.
    #[serde(default)]
    iio: Option<IioTable>,
    /// For an audio interface.
    #[serde(default)]
    alsa: Option<AlsaTable>,
    /// For ready-made values of a transmitter.
    #[serde(default)]
    modbus: Option<ModbusTable>,
    /// The settings for arrays or values of an OPC UA server.
    #[serde(default)]
    opcua: Option<OpcuaTable>,
    /// The shaft speed from another system, for a live source.
    #[serde(default)]
    speed_tag: Option<SpeedTagTable>,
    #[serde(flatten)]
    calibration: CalibrationKeys,
    #[serde(default)]
    channel: Vec<ChannelTable>,
}

impl SourceTable {
    pub(super) fn meant(
        self,
        origin: Origin<'_>,
        index: usize,
        catalogue: &Catalogue,
    ) -> Result<SourceSettings, ConfigError> {
        let key = |name: &str| format!("source[{index}].{name}");
        if self.channel.is_empty() {
            let allowed = "one or more [[source.channel]]";
            return Err(origin.refuse(&key("channel"), "left out", allowed));
        }
        let seconds = |name: &str, value: Option<f64>| match value {
            None => Ok(None),
            Some(_) => origin.seconds(&key(name), value, Duration::ZERO, 1e-3).map(Some),
        };
        let window = seconds("window_s", self.window_s)?;
        let every = seconds("every_s", self.every_s)?;
        let period_s = seconds("period_s", self.period_s)?.map(|period| period.as_secs_f64());
        let pace = self.pace(origin, &key("pace"))?;
        let mut points = Vec::new();
        for (place, channel) in self.channel.iter().enumerate() {
            let key = format!("source[{index}].channel[{place}]");
            points.push(channel.meant(origin, &key, place, catalogue)?);
        }
        self.refuse_keys_of_files(origin, index)?;
        let input = match self.kind {
            SourceKind::Recording => self.recording(origin, index, &points)?,
            SourceKind::Simulator => self.simulated(origin, index, &points)?,
            SourceKind::Stream | SourceKind::Iio | SourceKind::Alsa => {
                self.live(origin, index, &points)?
            }
            SourceKind::Modbus => self.modbus(origin, index, &points)?,
            SourceKind::Opcua => self.opcua(origin, index, &points)?,
        };
        let timing = Timing { started_at: self.started_at, period_s };
        let tachometer = self.tachometer;
        if tachometer.is_some_and(|tachometer| tachometer.pulses_per_turn == 0) {
            return Err(origin.refuse(&key("tachometer.pulses_per_turn"), 0, "1 or more"));
        }
        let speed_tag = self.speed_tag(origin, index)?;
        Ok(SourceSettings {
            name: self.name,
            input,
            pace,
            timing,
            points,
            window,
            every,
            tachometer,
            speed_tag,
        })
    }

    fn pace(&self, origin: Origin<'_>, key: &str) -> Result<Pace, ConfigError> {
        let allowed = "\"max\", or a factor above 0 of the speed of recording";
        let is_live = self.kind.is_live();
        match &self.pace {
            None if is_live => Ok(Pace::Live),
            Some(pace) if is_live => {
                Err(origin.refuse(key, format!("{pace:?}"), "nothing: a live source has its own"))
            }
            None => Ok(Pace::Times(1.0)),
            Some(PaceText::Word(word)) if word == "max" => Ok(Pace::AsFastAsItGoes),
            Some(PaceText::Word(word)) => Err(origin.refuse(key, word, allowed)),
            Some(PaceText::Factor(factor)) if factor.is_finite() && *factor > 0.0 => {
                Ok(Pace::Times(*factor))
            }
            Some(PaceText::Factor(factor)) => Err(origin.refuse(key, factor, allowed)),
        }
    }

    fn speed_tag(
        &self,
        origin: Origin<'_>,
        index: usize,
    ) -> Result<Option<SpeedTagSettings>, ConfigError> {
        let Some(tag) = &self.speed_tag else { return Ok(None) };
        let source = format!("source[{index}]");
        if !self.kind.is_live() {
            let key = format!("{source}.speed_tag");
            let allowed = "nothing: a recording's speed is not that of now";
            return Err(origin.refuse(&key, "set", allowed));
        }
        tag.meant(origin, &source, &self.name).map(Some)
    }

    fn rate(&self, origin: Origin<'_>, index: usize) -> Result<Option<SampleRate>, ConfigError> {
        let Some(hz) = self.rate_hz else { return Ok(None) };
        let key = format!("source[{index}].rate_hz");
        let rate =
            SampleRate::new(hz).map_err(|error| origin.refuse(&key, error.got, error.allowed))?;
        if hz > MOST_HZ {
            return Err(origin.refuse(&key, hz, format!("a rate of at most {MOST_HZ} Hz")));
        }
        Ok(Some(rate))
    }

    /// A key whose value is one of two words.
    fn worded<T: std::str::FromStr>(
        origin: Origin<'_>,
        key: &str,
        value: Option<&str>,
        allowed: &str,
    ) -> Result<Option<T>, ConfigError> {
        let parsed =
            |text: &str| text.parse().map_err(|_unknown| origin.refuse(key, text, allowed));
        value.map(parsed).transpose()
    }

    /// Refuses the keys of reading files where the source has no files.
    fn refuse_keys_of_files(&self, origin: Origin<'_>, index: usize) -> Result<(), ConfigError> {
        if self.kind == SourceKind::Recording {
            return Ok(());
        }
        for (name, is_set) in [
            ("prefer", self.prefer.is_some()),
            ("decimal", self.decimal.is_some()),
            ("start_s", self.start_s.is_some()),
            ("duration_s", self.duration_s.is_some()),
        ] {
            if is_set {
                let allowed = "nothing: only for kind = \"recording\"";
                return Err(origin.refuse(&format!("source[{index}].{name}"), "set", allowed));
            }
        }
        Ok(())
    }

    /// The zone of times that state none.
    fn zone(&self, origin: Origin<'_>, index: usize) -> Result<LocalZone, ConfigError> {
        let Some(text) = &self.zone else { return Ok(LocalZone::default()) };
        let key = format!("source[{index}].zone");
        let has_json = self.stream.as_ref().is_some_and(StreamTable::is_of_json);
        if self.kind != SourceKind::Recording && !has_json {
            let allowed = "nothing: only for recordings and messages of JSON";
            return Err(origin.refuse(&key, text, allowed));
        }
        text.parse().map_err(|_unknown| origin.refuse(&key, text, ZONES))
    }

    fn recording(
        &self,
        origin: Origin<'_>,
        index: usize,
        points: &[PointSettings],
    ) -> Result<SourceInput, ConfigError> {
        let key = format!("source[{index}].files");
        let Some(files) = self.files.as_ref().filter(|files| !files.is_empty()) else {
            return Err(origin.refuse(&key, "left out", "one or more files or folders"));
        };
        if self.simulator.is_some() {
            let key = format!("source[{index}].simulator");
            return Err(origin.refuse(&key, "set", "only for kind = \"simulator\""));
        }
        let files: Vec<PathBuf> = files.iter().map(|file| origin.rooted(file)).collect();
        let named = |name: &str| format!("source[{index}].{name}");
        let seconds = |name: &str, value: Option<f64>| {
            let least = if name == "start_s" { 0.0 } else { 1e-3 };
            let read = origin.seconds(&named(name), value, Duration::ZERO, least)?;
            Ok(value.map(|_| read.as_secs_f64()))
        };
        let options = RecordingOptions {
            sample_rate: self.rate(origin, index)?,
            calibrations: self.calibrations(origin, index, points)?,
            variable: self.variable.clone(),
            snapshot: None,
            channels: Vec::new(),
            start_s: seconds("start_s", self.start_s)?.unwrap_or(0.0),
            duration_s: seconds("duration_s", self.duration_s)?,
            prefer: Self::worded(
                origin,
                &named("prefer"),
                self.prefer.as_deref(),
                "\"file\" or \"option\"",
            )?,
            decimal: Self::worded(
                origin,
                &named("decimal"),
                self.decimal.as_deref(),
                "\"comma\" or \"point\"",
            )?,
            started_at: self.started_at,
            period_s: self.period_s,
            zone: self.zone(origin, index)?,
        };
        let key = format!("source[{index}].watch_s");
        let every = origin.seconds(&key, self.watch_s, DEFAULT_WATCH, 0.01)?;
        let options = Box::new(options);
        if self.watch == Some(false) {
            return Ok(SourceInput::Recording { files, options });
        }
        Ok(SourceInput::Watched { files, options, every })
    }

    fn live(
        &self,
        origin: Origin<'_>,
        index: usize,
        points: &[PointSettings],
    ) -> Result<SourceInput, ConfigError> {
        if self.stream.as_ref().is_some_and(StreamTable::is_of_raw_frames) {
            self.refuse_without_unit(origin, index, points)?;
        }
        if self.alsa.is_some() && self.kind != SourceKind::Alsa {
            let allowed = "only with kind = \"alsa\"";
            return Err(origin.refuse(&format!("source[{index}].alsa"), "set", allowed));
        }
        let context = self.context(origin, index, points)?;
        let missing = |table: &str| {
            let allowed = format!("a table [source.{table}]");
            origin.refuse(&format!("source[{index}].{table}"), "left out", allowed)
        };
        match (self.kind, &self.stream, &self.iio) {
            (SourceKind::Iio, None, Some(iio)) => iio.meant(context),
            (SourceKind::Iio, ..) => Err(missing("iio")),
            (SourceKind::Alsa, None, None) => {
                self.alsa.as_ref().map_or_else(|| Err(missing("alsa")), |alsa| alsa.meant(&context))
            }
            (SourceKind::Alsa, ..) => Err(missing("alsa")),
            (_, Some(stream), None) => stream.meant(context),
            _ => Err(missing("stream")),
        }
    }

    /// Refuses raw frames of which nothing states the unit: no header does.
    fn refuse_without_unit(
        &self,
        origin: Origin<'_>,
        index: usize,
        points: &[PointSettings],
    ) -> Result<(), ConfigError> {
        let all = self.calibrations(origin, index, points)?;
        let is_stated = |point: &PointSettings| {
            all.get(point.channel).or(all.first()).is_some_and(Calibration::is_stated)
        };
        let Some(place) = points.iter().position(|point| !is_stated(point)) else { return Ok(()) };
        let key = format!("source[{index}].channel[{place}].unit");
        let allowed = "\"g\" or \"m/s2\", with scale for counts, or sensitivity_mv_per_g: raw \
                       frames state no unit";
        Err(origin.refuse(&key, "left out", allowed))
    }

    fn context<'a>(
        &self,
        origin: Origin<'a>,
        index: usize,
        points: &[PointSettings],
    ) -> Result<SourceContext<'a>, ConfigError> {
        Ok(SourceContext {
            origin,
            key: format!("source[{index}]"),
            name: self.name.clone(),
            rate: self.rate(origin, index)?,
            every: if self.every_s.is_some() {
                let key = format!("source[{index}].every_s");
                Some(origin.seconds(&key, self.every_s, Duration::ZERO, 1e-3)?)
            } else {
                None
            },
            calibrations: self.calibrations(origin, index, points)?,
            channels: self.channels(points),
            zone: self.zone(origin, index)?,
        })
    }

    /// The smallest number of channels that the source must have.
    fn channels(&self, points: &[PointSettings]) -> usize {
        let tachometer = self.tachometer.iter().map(|tachometer| tachometer.channel);
        points.iter().map(|point| point.channel).chain(tachometer).max().map_or(1, |most| most + 1)
    }

    /// One calibration for all channels if they are alike, else one for each channel.
    fn calibrations(
        &self,
        origin: Origin<'_>,
        index: usize,
        points: &[PointSettings],
    ) -> Result<Vec<Calibration>, ConfigError> {
        let common = self.calibration.meant(origin, &format!("source[{index}]"))?;
        let own = |channel: &ChannelTable| channel.calibration != CalibrationKeys::default();
        if !self.channel.iter().any(own) {
            return Ok(vec![common]);
        }
        let highest = points.iter().map(|point| point.channel).max().unwrap_or(0);
        let mut all = vec![common; highest + 1];
        for (place, (channel, point)) in self.channel.iter().zip(points).enumerate() {
            if own(channel) {
                let key = format!("source[{index}].channel[{place}]");
                all[point.channel] =
                    channel.calibration.or(&self.calibration).meant(origin, &key)?;
            }
        }
        Ok(all)
    }
}
