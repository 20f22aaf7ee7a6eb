//! Data of a Sparkplug device: its metrics become samples.
//!
//! Invariant: a metric that cannot be read is refused with its name, and the others of its message
//! are read.

use pdm_shared::units::SampleRate;

use super::birth::{Birth, DataType, MetricRole};
use super::form::{Received, Refusal};
use super::payload::{Metric, MetricValue, Payload};
use super::samples::{MetricSamples, samples_in};
use super::{SparkplugDecoder, log};
use crate::source::Calibration;
use crate::source::burst::{ChannelArray, sender_time};
use crate::source::interpretation::believed_rate;

/// Values of the property "Quality" that are good, in the codes of OPC DA that Ignition sends.
const GOOD_QUALITY: std::ops::RangeInclusive<u64> = 192..=255;

/// The single values of a message, m/s², channel by channel.
#[derive(Debug)]
struct SingleValues {
    channels: Vec<Vec<f64>>,
    first_ms: Option<u64>,
}

impl SingleValues {
    fn new(channels: usize) -> Self {
        Self { channels: vec![Vec::new(); channels], first_ms: None }
    }

    fn has_any(&self) -> bool {
        self.channels.iter().any(|values| !values.is_empty())
    }
}

impl SparkplugDecoder {
    pub(super) fn data(&mut self, payload: &Payload<'_>) -> Result<Received, Refusal> {
        // taken out and put back, so that the parts of the decoder can be used beside it
        let Some(birth) = self.birth.take() else {
            if let Some(why) = &self.birth_fault {
                return Err(Refusal::from(format!("data whose birth is refused: {why}")));
            }
            self.is_rebirth_due = true;
            let why = if self.form.asks_rebirth {
                "data without their birth; the node is asked for it"
            } else {
                "data without their birth; sparkplug.rebirth = false forbids to ask for it"
            };
            return Err(Refusal { cause: "unborn", why: why.to_owned() });
        };
        let outcome = self.data_of(payload, &birth);
        self.birth = Some(birth);
        if outcome.is_err() {
            self.singles.gap();
        }
        outcome
    }

    fn data_of(&mut self, payload: &Payload<'_>, birth: &Birth) -> Result<Received, Refusal> {
        let mut singles = SingleValues::new(self.form.metrics.len());
        let (mut has_samples, mut refused) = (false, None);
        for metric in &payload.metrics {
            let taken = match birth.role(metric, &self.form) {
                Some(MetricRole::Other) => continue,
                Some(MetricRole::Rate) => {
                    self.rate = rate_in(metric)?;
                    continue;
                }
                Some(MetricRole::Channel(channel)) => {
                    let sent_ms = metric.timestamp_ms.or(payload.timestamp_ms);
                    self.take_metric(metric, (channel, sent_ms), birth, &mut singles)
                }
                None | Some(MetricRole::Ambiguous) => Err(self.nameless(metric)),
            };
            has_samples |= taken.is_ok();
            refused = taken.err().or(refused);
        }
        if singles.has_any() && self.singles.push(&singles.channels, singles.first_ms)? {
            log::values_missing(&self.host);
        }
        match refused {
            Some(refusal) => Err(refusal),
            None if has_samples => Ok(Received::Samples),
            None => Ok(Received::Nothing),
        }
    }

    /// A metric that the birth does not name.
    fn nameless(&mut self, metric: &Metric<'_>) -> Refusal {
        self.is_rebirth_due = true;
        let why = match metric.alias {
            Some(alias) => format!("alias {alias} stands for no one metric of the birth"),
            None => "a metric without name and alias".to_owned(),
        };
        Refusal { cause: "unborn", why }
    }

    /// Takes the samples of a metric that is measured.
    fn take_metric(
        &mut self,
        metric: &Metric<'_>,
        (channel, time_ms): (usize, Option<u64>),
        birth: &Birth,
        singles: &mut SingleValues,
    ) -> Result<(), Refusal> {
        let samples = self.value_of(metric, channel, birth)?;
        let is_historical = metric.is_historical;
        if let (Some(sent_ms), false) = (time_ms, is_historical) {
            sender_time(&self.host, sent_ms as f64);
        }
        match samples {
            MetricSamples::Single(_) if is_historical => {
                let why = "has single values that the node has kept, which nothing dates";
                Err(self.refusal(channel, "late", why))
            }
            MetricSamples::Single(raw) => {
                let born = birth.channel(channel).ok_or("a channel without its birth")?;
                singles.channels[channel].push(born.calibration.to_m_s2(raw));
                singles.first_ms = singles.first_ms.or(time_ms);
                Ok(())
            }
            MetricSamples::Burst(samples) => {
                let array = ChannelArray { channel, samples, time_ms, is_historical };
                let calibration = |channel| {
                    birth.channel(channel).map_or_else(Calibration::default, |b| b.calibration)
                };
                let pushed = self.bursts.push(array, calibration, (&mut self.blocks, self.rate));
                pushed.map_err(|why| self.refusal(channel, "form", &why))
            }
        }
    }

    /// The samples of a metric that is measured.
    fn value_of(
        &self,
        metric: &Metric<'_>,
        channel: usize,
        birth: &Birth,
    ) -> Result<MetricSamples, Refusal> {
        let born = birth.channel(channel).ok_or("a channel without its birth")?;
        let value = metric.value.filter(|_| !metric.is_null);
        let Some(value) = value else {
            return Err(self.refusal(channel, "null", "has no value (null)"));
        };
        let quality = metric.property(&["Quality"])?;
        if let Some(MetricValue::Integer(quality)) = quality
            && !GOOD_QUALITY.contains(&quality)
        {
            let why = format!("is of bad quality ({quality})");
            return Err(self.refusal(channel, "quality", &why));
        }
        // data need no type; 0 is how some libraries leave it out
        let stated = metric.datatype.filter(|number| *number != 0);
        let stated = stated.map(DataType::numbered).transpose();
        let stated = stated.map_err(|why| self.refusal(channel, "form", &why))?;
        if stated.is_some_and(|stated| stated != born.datatype) {
            let why = "has another data type than in its birth";
            return Err(self.refusal(channel, "form", why));
        }
        samples_in(value, born.datatype, self.form.is_big_endian)
            .map_err(|why| self.refusal(channel, "form", &why))
    }

    fn refusal(&self, channel: usize, cause: &'static str, why: &str) -> Refusal {
        Refusal { cause, why: format!("metric {:?} {why}", self.form.metrics[channel]) }
    }
}

/// The rate in a metric.
pub(super) fn rate_in(metric: &Metric<'_>) -> Result<SampleRate, String> {
    let hz = match metric.value.filter(|_| !metric.is_null) {
        Some(MetricValue::Integer(hz)) => hz as f64,
        Some(MetricValue::Float(hz)) => hz,
        _ => return Err("the metric of the rate has no number".to_owned()),
    };
    believed_rate(hz).map_err(|error| format!("the metric of the rate: {error}"))
}
