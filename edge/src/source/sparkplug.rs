//! Samples in the metrics of Sparkplug B: protobuf messages over MQTT with births, data and deaths.
//!
//! A node says in its births which metrics it has, with alias, type and unit; its data hold values
//! under the alias. [`SparkplugDecoder`] follows one device of a node, or the node itself, and
//! makes blocks of the metrics that are measured: an array is a burst ([`super::burst`]), numbers
//! one by one are a stream ([`singles`]). Specification: Eclipse Sparkplug 3.0.
//!
//! Invariants: nothing is read without a birth, and the node is asked for one; the values of a
//! birth are never measured, since they may have been measured before; a message that is missing by
//! the node's count is a gap and is counted; a death ends the source; a value that is null, of bad
//! quality or of another type is refused with its name.

use std::time::Duration;

use pdm_shared::units::SampleRate;

pub use super::burst::ArrayTime;
use super::burst::{BurstBlocks, Bursts};
use super::frames::FrameFormat;
use super::{Block, SourceHost};

mod address;
mod birth;
mod data;
mod form;
mod log;
mod payload;
mod samples;
mod sequence;
mod singles;
mod wire;

use address::MessageKind;
pub use address::SparkplugAddress;
use birth::{Birth, MetricRole};
use data::rate_in;
pub use form::{Received, Refusal, SparkplugForm};
use payload::{MetricValue, Payload, rebirth_command};
use sequence::{Order, Sequence};
use singles::Singles;

/// Time between two requests for the births. A node answers with the births of all its devices, and
/// other hosts ask it too. No data chose it.
const REBIRTH_PAUSE: Duration = Duration::from_secs(10);

/// Blocks from messages.
#[derive(Debug)]
pub struct SparkplugDecoder {
    form: SparkplugForm,
    format: FrameFormat,
    host: SourceHost,
    sequence: Sequence,
    /// Number of the session that the birth began.
    session: Option<u64>,
    birth: Option<Birth>,
    /// Why the last birth is refused.
    birth_fault: Option<String>,
    /// The rate that the node states.
    rate: SampleRate,
    blocks: BurstBlocks,
    bursts: Bursts,
    singles: Singles,
    requested_at: Option<Duration>,
    is_rebirth_due: bool,
}

impl SparkplugDecoder {
    /// A decoder of the metrics of a form; `format` has a channel for each.
    pub fn new(
        form: SparkplugForm,
        format: FrameFormat,
        rate_tolerance: f64,
        host: SourceHost,
    ) -> Self {
        Self {
            sequence: Sequence::default(),
            session: None,
            birth: None,
            birth_fault: None,
            rate: format.sample_rate,
            blocks: BurstBlocks::new(format.sample_rate, rate_tolerance, host.clone()),
            bursts: Bursts::new(form.metrics.len(), form.dated, host.clone()),
            singles: Singles::new(format.clone(), rate_tolerance, host.clone()),
            requested_at: None,
            is_rebirth_due: false,
            form,
            format,
            host,
        }
    }

    /// The next whole block.
    pub fn block(&mut self) -> Option<Block> {
        self.bursts.block().or_else(|| self.singles.block(&mut self.blocks))
    }

    /// Samples were lost.
    pub fn gap(&mut self) {
        self.bursts.gap();
        self.singles.gap();
    }

    /// Notes that the connection is new: the earlier state may have changed unheard.
    pub fn begin_anew(&mut self) {
        self.gap();
        self.sequence.end();
        self.session = None;
        self.birth = None;
        self.birth_fault = None;
        self.requested_at = None;
    }

    /// The topic and the command that asks the node for its births, if that is due.
    pub fn rebirth_request(&mut self) -> Option<(String, Vec<u8>)> {
        if !std::mem::take(&mut self.is_rebirth_due) || !self.form.asks_rebirth {
            return None;
        }
        let now = self.host.clock.uptime();
        if self.requested_at.is_some_and(|last| now.saturating_sub(last) < REBIRTH_PAUSE) {
            return None;
        }
        self.requested_at = Some(now);
        let topic = self.form.address.command_topic();
        log::rebirth_requested(&self.host, &topic);
        let now_ms = u64::try_from(self.host.clock.now().unix_ms()).unwrap_or(0);
        Some((topic, rebirth_command(now_ms)))
    }

    /// Takes a message of [`SparkplugAddress::filter`].
    ///
    /// # Errors
    /// The metric, what it holds and what was expected.
    pub fn push(&mut self, topic: &str, message: &[u8]) -> Result<Received, Refusal> {
        let kind = self.form.address.kind_of(topic);
        if kind == MessageKind::Uncounted {
            return Ok(Received::Nothing);
        }
        let payload = Payload::parse(message)?;
        if kind == MessageKind::NodeBirth {
            return self.node_birth(&payload);
        }
        if kind == MessageKind::NodeDeath {
            return Ok(self.node_death(&payload));
        }
        if !self.counted(&payload) {
            return Ok(Received::Nothing);
        }
        match kind {
            MessageKind::DeviceBirth => self.device_birth(&payload),
            MessageKind::DeviceDeath => {
                self.birth = None;
                Ok(self.gone("the device has said that it has gone (DDEATH)"))
            }
            MessageKind::Data => self.data(&payload),
            MessageKind::NodeBirth
            | MessageKind::NodeDeath
            | MessageKind::Counted
            | MessageKind::Uncounted => Ok(Received::Nothing),
        }
    }

    /// Takes the count of a message; false for one that came twice.
    fn counted(&mut self, payload: &Payload<'_>) -> bool {
        if self.sequence.is_first_without(payload.seq) {
            log::not_counted(&self.host);
        }
        match self.sequence.take(payload.seq, payload.timestamp_ms) {
            Order::Following => true,
            Order::Twice => false,
            Order::Missing(missing) => {
                log::messages_missing(&self.host, missing, false);
                self.gap();
                self.is_rebirth_due = true;
                true
            }
            Order::MaybeReborn(missing) => {
                log::messages_missing(&self.host, missing, true);
                self.gap();
                // an alias may stand for another metric now
                self.birth = None;
                self.birth_fault = None;
                true
            }
        }
    }

    fn node_birth(&mut self, payload: &Payload<'_>) -> Result<Received, Refusal> {
        self.gap();
        self.birth = None;
        self.birth_fault = None;
        self.sequence.begin(payload.seq, payload.timestamp_ms);
        self.session = session(payload);
        if self.form.address.is_node() { self.device_birth(payload) } else { Ok(Received::Nothing) }
    }

    fn device_birth(&mut self, payload: &Payload<'_>) -> Result<Received, Refusal> {
        self.gap();
        self.birth = None;
        let birth = Birth::from_payload(payload, &self.form, &self.format);
        self.birth_fault = birth.as_ref().err().cloned();
        let birth = birth?;
        for metric in &payload.metrics {
            if birth.role(metric, &self.form) == Some(MetricRole::Rate) && metric.value.is_some() {
                self.rate = rate_in(metric)?;
            }
        }
        self.birth = Some(birth);
        log::born(&self.host);
        Ok(Received::Nothing)
    }

    fn node_death(&mut self, payload: &Payload<'_>) -> Received {
        // the will of an earlier session comes late, if the node was back before its time-out
        if let (Some(death), Some(birth)) = (session(payload), self.session)
            && death != birth
        {
            log::earlier_death(&self.host);
            return Received::Nothing;
        }
        self.birth = None;
        self.sequence.end();
        self.gone("the node has gone (NDEATH)")
    }

    fn gone(&mut self, why: &str) -> Received {
        self.gap();
        log::gone(&self.host, why);
        Received::Gone(why.to_owned())
    }
}

/// The number of the session in a birth or death of the node.
fn session(payload: &Payload<'_>) -> Option<u64> {
    let named = payload.metrics.iter().find(|metric| metric.name == Some("bdSeq"));
    match named.and_then(|metric| metric.value) {
        Some(MetricValue::Integer(number)) => Some(number),
        _ => None,
    }
}
