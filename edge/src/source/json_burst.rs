//! Bursts of samples in JSON messages, as wireless sensors and gateways of other makers publish them.
//!
//! JSON pointers (RFC 6901) say where samples, rate, time, channel and burst stand in a message. A
//! burst is one message, or several in any order: one for each channel, or one for each part. Every
//! whole burst is a block of its own. Invariants: a message that is not of the configured form is
//! refused with the pointer and what stands there; bursts that wait for their parts are bounded, and
//! one that is given up is counted.

use std::collections::{BTreeMap, VecDeque};

use base64::Engine as _;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;
use serde_json::Value;

use super::burst::{BurstBlocks, MOST_BURST_SAMPLES, configured_calibration, give_burst_up};
use super::frames::{Encoding, FrameFormat};
use super::interpretation::believed_rate;
use super::{AccelUnit, Block, Calibration, SourceHost};

/// Bursts that wait for their parts. A sensor sends one after the other; a gateway that serves a
/// dozen of them in turn uses a topic for each.
const MOST_OPEN: usize = 8;

/// Most parts of a burst.
const MOST_PARTS: u64 = 4096;

/// Where a message holds what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JsonForm {
    /// The samples: one pointer, or one for each channel.
    pub samples: Vec<String>,
    /// The encoding of base64 texts; without one, samples are arrays of numbers.
    pub encoding: Option<Encoding>,
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
    /// What all messages of a burst have in common.
    pub burst: Option<String>,
    /// The number of the message in its burst, from 0, and how many there are.
    pub part: Option<(String, String)>,
}

/// A burst that waits for messages.
#[derive(Debug)]
struct Burst {
    id: String,
    /// The parts of each channel by their number.
    channels: Vec<BTreeMap<u64, Vec<f64>>>,
    parts: u64,
    rate: SampleRate,
    time: Option<Timestamp>,
    calibration: Option<Calibration>,
}

/// Bursts from messages.
#[derive(Debug)]
pub(super) struct BurstDecoder {
    form: JsonForm,
    format: FrameFormat,
    blocks: BurstBlocks,
    host: SourceHost,
    open: VecDeque<Burst>,
    ready: VecDeque<Block>,
}

impl BurstDecoder {
    pub(super) fn new(
        form: JsonForm,
        format: FrameFormat,
        rate_tolerance: f64,
        host: SourceHost,
    ) -> Self {
        let (open, ready) = (VecDeque::new(), VecDeque::new());
        let blocks = BurstBlocks::new(format.sample_rate, rate_tolerance, host.clone());
        Self { form, format, blocks, host, open, ready }
    }

    /// The next whole burst.
    pub(super) fn block(&mut self) -> Option<Block> {
        self.ready.pop_front()
    }

    /// Takes a message.
    ///
    /// # Errors
    /// The pointer, what stands there and what was expected.
    pub(super) fn push(&mut self, payload: &[u8]) -> Result<(), String> {
        let message: Value =
            serde_json::from_slice(payload).map_err(|error| format!("no JSON: {error}"))?;
        let channel = self.channel(&message)?;
        let mut samples = self.samples(&message, channel)?;
        if let Some(scale) = self.scale(&message)? {
            // each message has its own: a sensor that changes its range changes it within a burst
            samples.iter_mut().flat_map(|(_, own)| own).for_each(|sample| *sample *= scale);
        }
        let rate = match &self.form.rate {
            None => self.format.sample_rate,
            Some(pointer) => {
                let hz = number(&message, pointer)?;
                believed_rate(hz).map_err(|error| format!("{pointer}: {error}"))?
            }
        };
        let time = self.form.time.as_ref().map(|pointer| time(&message, pointer)).transpose()?;
        let (part, parts) = self.part(&message)?;
        let id = match &self.form.burst {
            Some(pointer) => at(&message, pointer)?.to_string(),
            None => time.map(|time| time.to_string()).unwrap_or_default(),
        };
        let calibration = self.unit(&message)?;
        let mut burst = match self.open.iter().position(|burst| burst.id == id) {
            Some(place) => self.open.remove(place),
            None => None,
        }
        .unwrap_or_else(|| Burst {
            id,
            channels: vec![BTreeMap::new(); self.format.channels],
            parts,
            rate,
            time,
            calibration,
        });
        burst.time = burst.time.min(time).or(time);
        for (channel, samples) in samples {
            burst.channels[channel].insert(part, samples);
        }
        let is_whole = burst.channels.iter().all(|parts| parts.len() as u64 == burst.parts);
        if is_whole {
            return self.finish(burst);
        }
        self.open.push_back(burst);
        if self.open.len() > MOST_OPEN {
            self.open.pop_front();
            give_burst_up(&self.host);
        }
        Ok(())
    }

    /// Makes a block of a whole burst.
    fn finish(&mut self, burst: Burst) -> Result<(), String> {
        let channels: Vec<Vec<f64>> = burst
            .channels
            .into_iter()
            .map(|parts| parts.into_values().flatten().collect())
            .collect();
        let format = &self.format;
        let calibration = |channel: usize| {
            burst.calibration.unwrap_or_else(|| configured_calibration(format, channel))
        };
        self.ready.push_back(self.blocks.block(&channels, calibration, burst.rate, burst.time)?);
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
            format!("{pointer}: {} is no channel; the channels are {names:?}", shown(value))
        })
    }

    /// The number of the message in its burst, and how many there are.
    fn part(&self, message: &Value) -> Result<(u64, u64), String> {
        let Some((part, parts)) = &self.form.part else { return Ok((0, 1)) };
        let whole = |pointer: &str| {
            let value = at(message, pointer)?;
            value.as_u64().ok_or_else(|| format!("{pointer}: {} is no whole number", shown(value)))
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
            Some(text) => {
                let unit = text.parse().map_err(|error: String| format!("{pointer}: {error}"))?;
                (unit, 1.0)
            }
            None => return Err(format!("{pointer}: {} is no unit", shown(value))),
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
                return Ok(vec![(channel, self.numbers(value, pointer)?)]);
            }
            return self.all_channels(value, pointer);
        }
        let each = pointers.iter().enumerate().take(self.format.channels);
        each.map(|(channel, pointer)| Ok((channel, self.numbers(at(message, pointer)?, pointer)?)))
            .collect()
    }

    /// The samples of all channels at one place: an array for each channel, an array for each frame,
    /// or interleaved bytes.
    fn all_channels(&self, value: &Value, pointer: &str) -> Result<Vec<(usize, Vec<f64>)>, String> {
        let channels = self.format.channels;
        let Some(rows) = value.as_array() else {
            let interleaved = self.numbers(value, pointer)?;
            let of = |channel: usize| interleaved.iter().skip(channel).step_by(channels).copied();
            return Ok((0..channels).map(|channel| (channel, of(channel).collect())).collect());
        };
        let rows: Vec<Vec<f64>> =
            rows.iter().map(|row| self.numbers(row, pointer)).collect::<Result<_, _>>()?;
        let is_by_frame = rows.iter().all(|row| row.len() == channels);
        if rows.len() == channels && !is_by_frame {
            return Ok(rows.into_iter().enumerate().collect());
        }
        if !is_by_frame || rows.len() == channels {
            return Err(format!(
                "{pointer}: {} arrays are neither one for each of {channels} channels nor one for \
                 each frame; a pointer for each channel decides",
                rows.len()
            ));
        }
        Ok((0..channels).map(|c| (c, rows.iter().map(|row| row[c]).collect())).collect())
    }

    /// An array of numbers, or the numbers in a base64 text.
    fn numbers(&self, value: &Value, pointer: &str) -> Result<Vec<f64>, String> {
        let wrong = |what: &str| Err(format!("{pointer}: {} is {what}", shown(value)));
        match (value, self.form.encoding) {
            (Value::Array(numbers), None) if numbers.len() <= MOST_BURST_SAMPLES => numbers
                .iter()
                .map(|number| {
                    number
                        .as_f64()
                        .ok_or_else(|| format!("{pointer}: {} is no number", shown(number)))
                })
                .collect(),
            (Value::String(text), Some(encoding)) => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(text.trim());
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

fn at<'a>(message: &'a Value, pointer: &str) -> Result<&'a Value, String> {
    message.pointer(pointer).ok_or_else(|| format!("nothing stands at {pointer}"))
}

fn number(message: &Value, pointer: &str) -> Result<f64, String> {
    let value = at(message, pointer)?;
    let of_text = || value.as_str()?.trim().parse().ok();
    value
        .as_f64()
        .or_else(of_text)
        .ok_or_else(|| format!("{pointer}: {} is no number", shown(value)))
}

fn time(message: &Value, pointer: &str) -> Result<Timestamp, String> {
    let value = at(message, pointer)?;
    let of_number = |number: f64| {
        let ms = match number.abs() {
            n if n < 1e11 => number * 1e3,
            n if n < 1e14 => number,
            n if n < 1e17 => number / 1e3,
            _ => number / 1e6,
        };
        Timestamp::from_unix_ms(ms.round() as i64)
    };
    let time = match value.as_f64() {
        Some(number) => of_number(number),
        None => value.as_str().and_then(|text| {
            Timestamp::parse(text).ok().or_else(|| of_number(text.trim().parse().ok()?))
        }),
    };
    time.ok_or_else(|| format!("{pointer}: {} is no time; RFC 3339 or a number", shown(value)))
}

/// The beginning of a value, for messages.
fn shown(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}

#[cfg(test)]
mod tests;
