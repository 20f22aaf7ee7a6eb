//! `[[source]]` and `[[source.channel]]` as they are typed, and how they become what is meant.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pdm_service::config::ConfigError;
use pdm_shared::fault::Fault;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;
use serde::Deserialize;

use super::file::Origin;
use super::live::{Around, IioTable, StreamTable};
use super::{Opener, Pace, PointSettings, SourceSettings, Tachometer, Timing};
use crate::catalogue::Catalogue;
use crate::source::simulator::{Course, Simulator, SimulatorSettings};
use crate::source::{AccelUnit, Calibration, RecordingOptions, Source, SourceError, open_sequence};

mod channel;

use channel::ChannelTable;

/// What kind of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Recording,
    Simulator,
    Stream,
    Iio,
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
    kind: Kind,
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
    /// Recording: files or folders.
    #[serde(default)]
    files: Option<Vec<PathBuf>>,
    #[serde(default)]
    variable: Option<String>,
    /// Simulator.
    #[serde(default)]
    simulator: Option<SimulatorTable>,
    /// Stream.
    #[serde(default)]
    stream: Option<StreamTable>,
    /// Accelerometers of the kernel.
    #[serde(default)]
    iio: Option<IioTable>,
    #[serde(flatten)]
    calibration: CalibrationKeys,
    #[serde(default)]
    channel: Vec<ChannelTable>,
}

/// How raw numbers become acceleration; in a source for all its channels, or in one channel.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
struct CalibrationKeys {
    unit: Option<String>,
    scale: Option<f64>,
    offset: Option<f64>,
    sensitivity_mv_per_g: Option<f64>,
}

/// `[source.simulator]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SimulatorTable {
    fault: Option<Fault>,
    /// A constant severity, 0 to 1; a run to failure if left out.
    severity: Option<f64>,
    snapshots: Option<u64>,
    snapshot_s: Option<f64>,
    seed: Option<u64>,
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
        let open = match self.kind {
            Kind::Recording => self.recording(origin, index, &points)?,
            Kind::Simulator => self.simulated(origin, index, &points)?,
            Kind::Stream | Kind::Iio => self.live(origin, index, &points)?,
        };
        let timing = Timing { started_at: self.started_at, period_s };
        let tachometer = self.tachometer;
        if tachometer.is_some_and(|tachometer| tachometer.pulses_per_turn == 0) {
            return Err(origin.refuse(&key("tachometer.pulses_per_turn"), 0, "1 or more"));
        }
        Ok(SourceSettings {
            name: self.name,
            open,
            pace,
            timing,
            points,
            window,
            every,
            tachometer,
        })
    }

    fn pace(&self, origin: Origin<'_>, key: &str) -> Result<Pace, ConfigError> {
        let allowed = "\"max\", or a factor above 0 of the speed of recording";
        let is_live = matches!(self.kind, Kind::Stream | Kind::Iio);
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

    fn rate(&self, origin: Origin<'_>, index: usize) -> Result<Option<SampleRate>, ConfigError> {
        self.rate_hz.map(SampleRate::new).transpose().map_err(|error| {
            origin.refuse(&format!("source[{index}].rate_hz"), error.got, error.allowed)
        })
    }

    fn recording(
        &self,
        origin: Origin<'_>,
        index: usize,
        points: &[PointSettings],
    ) -> Result<Opener, ConfigError> {
        let key = format!("source[{index}].files");
        let Some(files) = self.files.as_ref().filter(|files| !files.is_empty()) else {
            return Err(origin.refuse(&key, "left out", "one or more files or folders"));
        };
        if self.simulator.is_some() {
            let key = format!("source[{index}].simulator");
            return Err(origin.refuse(&key, "set", "only for kind = \"simulator\""));
        }
        let files: Vec<PathBuf> = files.iter().map(|file| origin.rooted(file)).collect();
        let options = RecordingOptions {
            sample_rate: self.rate(origin, index)?,
            calibrations: self.calibrations(origin, index, points)?,
            variable: self.variable.clone(),
            started_at: self.started_at,
            period_s: self.period_s,
            ..RecordingOptions::default()
        };
        Ok(Arc::new(move || open_sequence(&files, &options)))
    }

    fn live(
        &self,
        origin: Origin<'_>,
        index: usize,
        points: &[PointSettings],
    ) -> Result<Opener, ConfigError> {
        let around = Around {
            origin,
            key: format!("source[{index}]"),
            name: self.name.clone(),
            rate: self.rate(origin, index)?,
            calibrations: self.calibrations(origin, index, points)?,
            channels: self.channels(points),
        };
        let missing = |table: &str| {
            let allowed = format!("a table [source.{table}]");
            origin.refuse(&format!("source[{index}].{table}"), "left out", allowed)
        };
        match (self.kind, &self.stream, &self.iio) {
            (Kind::Iio, None, Some(iio)) => iio.meant(around),
            (Kind::Iio, ..) => Err(missing("iio")),
            (_, Some(stream), None) => stream.meant(around),
            _ => Err(missing("stream")),
        }
    }

    /// Channels that the source must have at least.
    fn channels(&self, points: &[PointSettings]) -> usize {
        let tachometer = self.tachometer.iter().map(|tachometer| tachometer.channel);
        points.iter().map(|point| point.channel).chain(tachometer).max().map_or(1, |most| most + 1)
    }

    /// One calibration for all channels where they are alike, else one a channel.
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

    fn simulated(
        &self,
        origin: Origin<'_>,
        index: usize,
        points: &[PointSettings],
    ) -> Result<Opener, ConfigError> {
        if self.files.is_some() {
            let key = format!("source[{index}].files");
            return Err(origin.refuse(&key, "set", "only for kind = \"recording\""));
        }
        let table = self.simulator.clone().unwrap_or_default();
        let Some(first) = points.first() else {
            return Err(origin.refuse(&format!("source[{index}].channel"), "none", "one or more"));
        };
        let default_rate = SampleRate::new(12_800.0).expect("above 0");
        let rate = self.rate(origin, index)?.unwrap_or(default_rate);
        let base = SimulatorSettings::new(rate, first.speed, first.orders);
        let settings = SimulatorSettings {
            fault: table.fault.or(Some(Fault::OuterRace)),
            course: table
                .severity
                .map_or_else(Course::run_to_failure, |severity| Course::Constant { severity }),
            snapshots: table.snapshots.unwrap_or(base.snapshots),
            snapshot_s: table.snapshot_s.unwrap_or(base.snapshot_s),
            period_s: self.period_s.unwrap_or(base.period_s),
            started_at: self.started_at,
            channels: self.channels(points),
            seed: table.seed.unwrap_or(base.seed),
            ..base
        };
        if let Err(error) = Simulator::new(settings.clone()) {
            let key = format!("source[{index}].simulator, {}", error.setting);
            return Err(origin.refuse(&key, error.got, error.allowed));
        }
        Ok(Arc::new(move || -> Result<Box<dyn Source>, SourceError> {
            match Simulator::new(settings.clone()) {
                Ok(simulator) => Ok(Box::new(simulator)),
                Err(error) => Err(SourceError::Options {
                    path: PathBuf::from("simulator"),
                    what: error.to_string(),
                }),
            }
        }))
    }
}

impl CalibrationKeys {
    fn or(&self, other: &Self) -> Self {
        let has_unit = self.unit.is_some() || self.sensitivity_mv_per_g.is_some();
        let unit_from = if has_unit { self } else { other };
        Self {
            unit: unit_from.unit.clone(),
            sensitivity_mv_per_g: unit_from.sensitivity_mv_per_g,
            scale: self.scale.or(other.scale),
            offset: self.offset.or(other.offset),
        }
    }

    fn meant(&self, origin: Origin<'_>, key: &str) -> Result<Calibration, ConfigError> {
        let unit = match (&self.unit, self.sensitivity_mv_per_g) {
            (Some(unit), Some(_)) => {
                let allowed = "one of unit and sensitivity_mv_per_g";
                return Err(origin.refuse(&format!("{key}.unit"), unit, allowed));
            }
            (None, Some(sensitivity_mv_per_g)) => AccelUnit::Millivolt { sensitivity_mv_per_g },
            (None, None) => AccelUnit::G,
            (Some(text), None) => text.parse().map_err(|_unknown: String| {
                origin.refuse(&format!("{key}.unit"), text, "\"g\" or \"m/s2\"")
            })?,
        };
        let (scale, offset) = (self.scale.unwrap_or(1.0), self.offset.unwrap_or(0.0));
        Calibration::new(unit, scale, offset)
            .map_err(|error| origin.refuse(&format!("{key}.scale"), error.got, error.to_string()))
    }
}
