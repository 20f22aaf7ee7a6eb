//! Bursts of samples in JSON messages, as wireless sensors and gateways of other makers publish
//! them.
//!
//! JSON pointers (RFC 6901) say where samples, rate, time, channel and burst stand in a message. A
//! burst is one message, or several in any order: one for each channel, or one for each part
//! ([`parts`]). Every whole burst is a block of its own. Invariants: a message that is not of the
//! configured form is refused with the pointer and what stands there; the samples of a message are
//! converted by the unit and the scale of that message; one that is delivered twice is taken once.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use base64::Engine as _;
use pdm_shared::time::Timestamp;
use serde_json::Value;

use super::burst::{BurstBlocks, MOST_BURST_SAMPLES, SenderClock, configured_calibration};
use super::calibration::no_unit;
use super::frames::{Encoding, FrameFormat};
use super::interleaved::axes_in_one;
use super::interpretation::believed_rate;
use super::no_value::MarksOfNoValue;
use super::sparkplug::Received;
use super::{AccelUnit, Block, Calibration, SourceHost};
use crate::tabular::LocalZone;

mod devices;
mod fields;
mod parts;

use devices::Devices;
use fields::{at, holds_integers, number, time_in};
pub(super) use fields::{begin_of_value, document, time};
use parts::{OpenBursts, Part, WholeBurst};

/// The units that a message may state.
const UNITS: &str = "allowed are g, mg, m/s2 and mm/s2";

/// Most parts of a burst.
const MOST_PARTS: u64 = 4096;

/// Messages that are remembered, so that one which is delivered again is known: those of an hour of
/// a sensor that sends each second.
const REMEMBERED: usize = 4096;

/// The order of several channels at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonLayout {
    /// Frame by frame: x, y, z, x, y, z, …
    Frames,
    /// Channel by channel: all of x, then all of y, …
    Channels,
}

impl std::str::FromStr for JsonLayout {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "frames" => Ok(Self::Frames),
            "channels" => Ok(Self::Channels),
            _ => Err(()),
        }
    }
}

/// Where a message holds what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JsonForm {
    /// The samples: one pointer, or one for each channel.
    pub samples: Vec<String>,
    /// The encoding of base64 texts; without one, samples are arrays of numbers.
    pub encoding: Option<Encoding>,
    /// The order of one array of numbers that holds several channels, or of as many arrays as
    /// channels.
    pub layout: Option<JsonLayout>,
    /// The rate, Hz.
    pub rate: Option<String>,
    /// Time of the first sample: RFC 3339, or s, ms, µs or ns since 1970.
    pub time: Option<String>,
    /// The unit of the numbers.
    pub unit: Option<String>,
    /// The unit's amount in one count of the message.
    pub scale: Option<String>,
    /// The channel of the message, and the names of the channels in their order.
    pub channel: Option<(String, Vec<String>)>,
    /// The value that all messages of a burst have in common.
    pub burst: Option<String>,
    /// The number of the message in its burst, from 0, and how many there are.
    pub part: Option<(String, String)>,
    /// The zone of times that state none.
    pub zone: LocalZone,
}

/// Bursts from messages.
#[derive(Debug)]
pub(super) struct BurstDecoder {
    form: JsonForm,
    format: FrameFormat,
    blocks: BurstBlocks,
    clock: SenderClock,
    host: SourceHost,
    open: OpenBursts,
    devices: Devices,
    marks: MarksOfNoValue,
    /// The latest messages, as hashes.
    seen: VecDeque<u64>,
    /// The last message had come before, and the log says so.
    is_told: bool,
    /// The log says in which zone times without one are read.
    is_zone_told: bool,
    ready: VecDeque<Block>,
}

impl BurstDecoder {
    pub(super) fn new(
        form: JsonForm,
        format: FrameFormat,
        rate_tolerance: f64,
        host: SourceHost,
    ) -> Self {
        Self {
            blocks: BurstBlocks::new(format.sample_rate, rate_tolerance, host.clone()),
            clock: SenderClock::new(host.clone()),
            open: OpenBursts::new(format.channels, form.burst.is_some(), host.clone()),
            devices: Devices::new(host.clone()),
            marks: MarksOfNoValue::new(host.clone()),
            seen: VecDeque::new(),
            is_told: false,
            is_zone_told: false,
            ready: VecDeque::new(),
            form,
            format,
            host,
        }
    }

    /// The next whole burst.
    pub(super) fn block(&mut self) -> Option<Block> {
        self.ready.pop_front()
    }

    /// Takes a message; one that came before is not received again.
    ///
    /// # Errors
    /// The pointer, the value there and what was expected.
    pub(super) fn push(&mut self, topic: &str, payload: &[u8]) -> Result<Received, String> {
        let message = document(payload)?;
        let part = self.part_in(&message)?;
        // a device for each channel is what the configuration asks for
        if self.form.channel.is_none() {
            self.devices.sent(topic, &message);
        }
        // without a time a sensor may well send the same twice, as one does that stands still
        if part.time.is_some() && self.came_before(&part) {
            return Ok(Received::Nothing);
        }
        if let Some(burst) = self.open.take(part)? {
            self.finish(burst)?;
        }
        Ok(Received::Samples)
    }

    /// Reads a message's part of its burst.
    fn part_in(&mut self, message: &Value) -> Result<Part, String> {
        let channel = self.channel(message)?;
        let mut samples = self.samples(message, channel)?;
        let scale = self.scale(message)?;
        let unit = self.unit(message)?;
        for (channel, own) in &mut samples {
            self.marks.take_out(*channel, own);
        }
        let rate = match &self.form.rate {
            None => self.format.sample_rate,
            Some(pointer) => {
                let hz = number(message, pointer)?;
                believed_rate(hz).map_err(|error| format!("{pointer}: {error}"))?
            }
        };
        let time = self.time(message)?;
        let (number, of) = self.part(message)?;
        let id = match &self.form.burst {
            Some(pointer) => at(message, pointer)?.to_string(),
            None => String::new(),
        };
        if unit.is_none() && scale.is_none() {
            self.refuse_without_unit(message, &samples)?;
        }
        for (channel, own) in &mut samples {
            // each message has its own: a sensor that changes its range changes it within a burst,
            // and one may state another unit for each axis
            let calibration =
                unit.unwrap_or_else(|| configured_calibration(&self.format, *channel));
            let scale = scale.unwrap_or(1.0);
            for sample in own {
                *sample = calibration.to_m_s2(*sample * scale);
            }
        }
        Ok(Part { id, samples, number, of, rate, time })
    }

    /// The time of a message.
    fn time(&mut self, message: &Value) -> Result<Option<Timestamp>, String> {
        let Some(pointer) = &self.form.time else { return Ok(None) };
        let zone = self.form.zone;
        let read = time_in(message, pointer, (zone, self.host.clock.now()))?;
        if let Some(offset_s) = read.assumed_s
            && !std::mem::replace(&mut self.is_zone_told, true)
        {
            let (source, zone) = (&self.host.name, zone.words(offset_s));
            tracing::info!(source, zone, "times without a zone are read in this one");
        }
        Ok(Some(read.at))
    }

    /// Whether a message holds its samples as integers.
    fn are_integers(&self, message: &Value) -> bool {
        if let Some(encoding) = self.form.encoding {
            return encoding.full_scale().is_some();
        }
        let mut samples = self.form.samples.iter().filter_map(|pointer| message.pointer(pointer));
        samples.all(holds_integers)
    }

    /// Refuses numbers of which nothing says what they are.
    fn refuse_without_unit(
        &self,
        message: &Value,
        samples: &[(usize, Vec<f64>)],
    ) -> Result<(), String> {
        let is_stated =
            |(channel, _): &(usize, _)| configured_calibration(&self.format, *channel).is_stated();
        if samples.iter().all(is_stated) {
            return Ok(());
        }
        let are_integers = self.are_integers(message);
        let why = no_unit("the messages", are_integers, "json.unit, json.scale, or ");
        Err(format!("the samples are {why}"))
    }

    /// Whether this message was taken already; remembers it.
    fn came_before(&mut self, part: &Part) -> bool {
        let mut hasher = DefaultHasher::new();
        (&part.id, part.number, part.of, part.time.map(Timestamp::unix_ms)).hash(&mut hasher);
        for (channel, samples) in &part.samples {
            channel.hash(&mut hasher);
            for sample in samples {
                sample.to_bits().hash(&mut hasher);
            }
        }
        let message = hasher.finish();
        let is_known = self.seen.contains(&message);
        if is_known {
            let source = &self.host.name;
            metrics::counter!("pdm_edge_messages_repeated_total", "source" => source.clone())
                .increment(1);
            if !self.is_told {
                tracing::warn!(source, "messages are delivered again; each is measured once");
            }
        } else {
            self.seen.push_back(message);
            if self.seen.len() > REMEMBERED {
                self.seen.pop_front();
            }
        }
        self.is_told = is_known;
        is_known
    }

    /// Makes a block of a whole burst.
    fn finish(&mut self, burst: WholeBurst) -> Result<(), String> {
        let WholeBurst { channels, rate, time } = burst;
        let length_s = channels.first().map_or(0, Vec::len) as f64 / rate.get();
        let started_at = time.and_then(|time| self.clock.date(time, length_s));
        self.ready.push_back(self.blocks.block_m_s2(&channels, rate, started_at)?);
        Ok(())
    }

    /// The channel of a message that holds one.
    fn channel(&self, message: &Value) -> Result<Option<usize>, String> {
        let Some((pointer, names)) = &self.form.channel else { return Ok(None) };
        let value = at(message, pointer)?;
        let of_name = |name: &str| names.iter().position(|known| known == name);
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        let channel = match value.as_str() {
            Some(name) => of_name(name),
            None => of_name(&value.to_string()).or(number.filter(|_| names.is_empty())),
        };
        let known = channel.filter(|channel| *channel < self.format.channels);
        known.map(Some).ok_or_else(|| {
            format!(
                "{pointer}: {} is no channel; the channels are {names:?}",
                begin_of_value(value)
            )
        })
    }

    /// The number of the message in its burst, and how many there are.
    fn part(&self, message: &Value) -> Result<(u64, u64), String> {
        let Some((part, parts)) = &self.form.part else { return Ok((0, 1)) };
        let whole = |pointer: &str| {
            let value = at(message, pointer)?;
            value
                .as_u64()
                .ok_or_else(|| format!("{pointer}: {} is no whole number", begin_of_value(value)))
        };
        let (number, count) = (whole(part)?, whole(parts)?);
        if number >= count || count > MOST_PARTS {
            return Err(format!("{part}: part {number} of {count}; parts count from 0"));
        }
        Ok((number, count))
    }

    /// The scale that the message states.
    fn scale(&self, message: &Value) -> Result<Option<f64>, String> {
        let Some(pointer) = &self.form.scale else { return Ok(None) };
        let scale = number(message, pointer)?;
        if !scale.is_finite() || scale == 0.0 {
            return Err(format!("{pointer}: {scale} is no scale; allowed is any number but 0"));
        }
        if self.format.calibrations.iter().any(Calibration::states_scale) {
            return Err(format!("{pointer} states a scale, and so does the configuration"));
        }
        Ok(Some(scale))
    }

    /// The unit that the message states.
    fn unit(&self, message: &Value) -> Result<Option<Calibration>, String> {
        let Some(pointer) = &self.form.unit else { return Ok(None) };
        let value = at(message, pointer)?;
        let (unit, scale) = match value.as_str().map(str::trim) {
            Some("mg") => (AccelUnit::G, 0.001),
            Some("mm/s2" | "mm/s^2" | "mm/s²") => (AccelUnit::MetrePerSecondSquared, 0.001),
            Some(text) => match text.parse() {
                Ok(unit) => (unit, 1.0),
                Err(_unknown) => {
                    let text = begin_of_value(value);
                    return Err(format!("{pointer}: {text} is no unit of acceleration; {UNITS}"));
                }
            },
            None => return Err(format!("{pointer}: {} is no unit", begin_of_value(value))),
        };
        if self.format.calibrations.iter().any(|one| *one != Calibration::default()) {
            return Err(format!("{pointer} states a unit, and so does the configuration"));
        }
        Calibration::new(unit, scale, 0.0).map(Some).map_err(|error| error.to_string())
    }

    /// The samples of a message by channel.
    fn samples(
        &self,
        message: &Value,
        channel: Option<usize>,
    ) -> Result<Vec<(usize, Vec<f64>)>, String> {
        let pointers = &self.form.samples;
        if let [pointer] = pointers.as_slice() {
            let value = at(message, pointer)?;
            let channels = self.format.channels;
            if let Some(channel) = channel.or((channels == 1).then_some(0)) {
                let samples = self.numbers(value, pointer)?;
                self.refuse_interleaved(&samples, pointer)?;
                return Ok(vec![(channel, samples)]);
            }
            return self.all_channels(value, pointer);
        }
        let each = pointers.iter().enumerate().take(self.format.channels);
        each.map(|(channel, pointer)| Ok((channel, self.numbers(at(message, pointer)?, pointer)?)))
            .collect()
    }

    /// Refuses samples of one channel that look like those of several axes in turn.
    fn refuse_interleaved(&self, samples: &[f64], pointer: &str) -> Result<(), String> {
        let Some(axes) = axes_in_one(samples).filter(|_| self.form.layout.is_none()) else {
            return Ok(());
        };
        Err(format!(
            "{pointer}: the {} numbers look like {axes} axes in turn (x, y, z, x, …), and one \
             channel is configured; stream.channels = {axes} with json.layout = \"frames\", or \
             json.layout = \"channels\" for one channel, decides",
            samples.len()
        ))
    }

    /// The samples of all channels at one place: an array for each channel, an array for each
    /// frame, one array with all of them, or interleaved bytes.
    fn all_channels(&self, value: &Value, pointer: &str) -> Result<Vec<(usize, Vec<f64>)>, String> {
        let channels = self.format.channels;
        let Some(rows) = value.as_array() else {
            let layout = self.form.layout.unwrap_or(JsonLayout::Frames);
            return self.apart(self.numbers(value, pointer)?, pointer, layout);
        };
        if !rows.is_empty() && !rows.iter().any(Value::is_array) {
            let all = self.numbers(value, pointer)?;
            let layout = self.form.layout.ok_or_else(|| {
                format!(
                    "{pointer}: {} numbers in one array are those of {channels} channels, frame by \
                     frame (x, y, z, x, …) or channel by channel (x, x, …, y, y, …); json.layout = \
                     \"frames\" or \"channels\" decides",
                    all.len()
                )
            })?;
            return self.apart(all, pointer, layout);
        }
        let rows: Vec<Vec<f64>> =
            rows.iter().map(|row| self.numbers(row, pointer)).collect::<Result<_, _>>()?;
        let is_by_frame = rows.iter().all(|row| row.len() == channels);
        let is_square = rows.len() == channels && is_by_frame;
        let is_by_channel = rows.len() == channels
            && (!is_by_frame || self.form.layout == Some(JsonLayout::Channels));
        if is_by_channel {
            return Ok(rows.into_iter().enumerate().collect());
        }
        if !is_by_frame || (is_square && self.form.layout.is_none()) {
            return Err(format!(
                "{pointer}: {} arrays are neither one for each of {channels} channels nor one for \
                 each frame; json.layout or a pointer for each channel decides",
                rows.len()
            ));
        }
        Ok((0..channels).map(|c| (c, rows.iter().map(|row| row[c]).collect())).collect())
    }

    /// The channels of numbers that stand one after the other.
    fn apart(
        &self,
        all: Vec<f64>,
        pointer: &str,
        layout: JsonLayout,
    ) -> Result<Vec<(usize, Vec<f64>)>, String> {
        let channels = self.format.channels;
        if !all.len().is_multiple_of(channels) {
            let count = all.len();
            return Err(format!(
                "{pointer}: {count} numbers are no whole samples of {channels} channels"
            ));
        }
        let length = all.len() / channels;
        let of = |channel: usize| match layout {
            JsonLayout::Frames => all.iter().skip(channel).step_by(channels).copied().collect(),
            JsonLayout::Channels => all[channel * length..(channel + 1) * length].to_vec(),
        };
        Ok((0..channels).map(|channel| (channel, of(channel))).collect())
    }

    /// An array of numbers, or the numbers in a base64 text.
    fn numbers(&self, value: &Value, pointer: &str) -> Result<Vec<f64>, String> {
        let wrong = |what: &str| Err(format!("{pointer}: {} is {what}", begin_of_value(value)));
        match (value, self.form.encoding) {
            (Value::Array(numbers), None) if numbers.len() <= MOST_BURST_SAMPLES => numbers
                .iter()
                .map(|number| {
                    // some gateways write every value as a text
                    let of_text = || number.as_str()?.trim().parse().ok();
                    let finite = number.as_f64().or_else(of_text).filter(|n: &f64| n.is_finite());
                    finite.ok_or_else(|| {
                        format!("{pointer}: {} is no number", begin_of_value(number))
                    })
                })
                .collect(),
            (Value::String(text), Some(encoding)) => {
                // MIME breaks long texts into lines
                let text: String = text.split_ascii_whitespace().collect();
                let bytes = base64::engine::general_purpose::STANDARD.decode(text);
                let bytes = bytes.map_err(|error| format!("{pointer}: no base64: {error}"))?;
                if bytes.len() % encoding.bytes() != 0 {
                    return Err(format!("{pointer}: {} bytes are no whole samples", bytes.len()));
                }
                Ok(bytes.chunks_exact(encoding.bytes()).map(|raw| encoding.decode(raw)).collect())
            }
            (_, None) => wrong("no array of numbers"),
            (_, Some(_)) => wrong("no base64 text"),
        }
    }
}

#[cfg(test)]
mod tests;
