//! Ready-made values of a vibration transmitter, polled over Modbus TCP.
//!
//! A transmitter measures velocity, acceleration or envelope itself and holds the figures in
//! registers. Every poll gives one block without samples, with the values of each measuring point
//! ([`super::values`]); they go into the same judgement as the figures of a window. Only the
//! functions 3 and 4 are sent, so a device is never changed.
//!
//! Invariants: a value that is not read, or is a mark for "no value", is `None` and is told; a poll
//! in which the connection is lost gives no block; polls keep to their period, however long a
//! device takes.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ndarray::Array2;
use pdm_shared::units::SampleRate;

use super::values::{Freshness, PointValue, PointValues, Standing};
use super::{Block, BlockRate, Source, SourceError, SourceFormat, SourceHost};

pub mod adu;
mod device;
mod log;
mod value;

pub use adu::RegisterKind;
use device::{Device, ReadFault};
pub use value::{ByteOrder, RegisterType, RegisterValue};

/// Longest wait in one call, so that a reader can end.
const NAP: Duration = Duration::from_millis(500);

/// A device and its registers.
#[derive(Debug, Clone, PartialEq)]
pub struct ModbusSettings {
    /// `host:port` of the device or of the gateway before it.
    pub address: String,
    /// Number of the device.
    pub unit: u8,
    /// Time from poll to poll.
    pub every: Duration,
    /// Longest wait for an answer.
    pub timeout: Duration,
    /// Whether an answer has to carry the number of its request.
    pub checks_transaction: bool,
    /// The values.
    pub values: Vec<RegisterValue>,
}

/// Polls of a device.
struct Polls {
    name: PathBuf,
    settings: ModbusSettings,
    host: SourceHost,
    format: SourceFormat,
    device: Option<Device>,
    due: Instant,
    next_index: u64,
    standing: Standing,
    is_told: bool,
}

/// Polls of a device, which is connected at the first [`Source::next_block`].
///
/// # Errors
/// [`SourceError::Options`] if the period is no rate.
pub fn open_modbus(
    settings: &ModbusSettings,
    host: &SourceHost,
) -> Result<Box<dyn Source>, SourceError> {
    let name = PathBuf::from(format!("modbus://{}/{}", settings.address, settings.unit));
    let sample_rate = SampleRate::new(1.0 / settings.every.as_secs_f64())
        .map_err(|error| SourceError::options(&name, error.to_string()))?;
    let channels = settings.values.iter().map(|value| value.meaning.channel + 1).max().unwrap_or(1);
    Ok(Box::new(Polls {
        name,
        settings: settings.clone(),
        host: host.clone(),
        format: SourceFormat { channels, sample_rate, block_samples: Some(1) },
        device: None,
        due: Instant::now(),
        next_index: 0,
        standing: Standing::new(settings.values.len(), settings.every, host.clone()),
        is_told: false,
    }))
}

impl Source for Polls {
    fn format(&self) -> &SourceFormat {
        &self.format
    }

    fn next_block(&mut self) -> Result<Option<Block>, SourceError> {
        let left = self.due.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            std::thread::sleep(left.min(NAP));
            return Ok(Some(self.block(None)));
        }
        // a poll that took longer than its period is not made up for
        self.due = (self.due + self.settings.every).max(Instant::now());
        let values = self.poll()?;
        let every = self.settings.every;
        let block = self.block(Some(Box::new(PointValues { values, every })));
        self.next_index += 1;
        Ok(Some(block))
    }

    fn expected_blocks(&self) -> Option<u64> {
        None
    }
}

impl Polls {
    fn block(&self, values: Option<Box<PointValues>>) -> Block {
        let accel_m_s2 = Array2::zeros((self.format.channels, 0));
        let started_at = values.is_some().then(|| self.host.clock.now());
        let (index, rate) = (self.next_index, BlockRate::Format);
        Block { index, started_at, follows_on: false, rate, input: None, values, accel_m_s2 }
    }

    /// Reads every value.
    fn poll(&mut self) -> Result<Vec<PointValue>, SourceError> {
        let mut values = Vec::with_capacity(self.settings.values.len());
        let mut missing = None;
        for (place, register) in self.settings.values.clone().into_iter().enumerate() {
            let (value, fault) = self.value_of(&register)?;
            missing = missing.or(fault);
            if let Some(value) = value {
                let number = register.number_of(value);
                let figure = &register.meaning.figure;
                match self.standing.freshness(place, figure, number, None) {
                    Freshness::New | Freshness::Earlier => {}
                    // registers have no time; a device that is stale is told to be frozen
                    Freshness::Stale(why) => missing = missing.or(Some(why)),
                }
            }
            values.push(register.meaning.point_value(value));
        }
        if let Some(text) = missing {
            self.tell(text);
        } else {
            // a remark of the connection before does not hold any more either
            self.host.remarks.withdraw(&self.host.name, "values");
            if std::mem::take(&mut self.is_told) {
                log::values_back(&self.host.name);
            }
        }
        Ok(values)
    }

    /// A value, or the reason why there is none.
    ///
    /// # Errors
    /// The connection is lost.
    fn value_of(
        &mut self,
        register: &RegisterValue,
    ) -> Result<(Option<f64>, Option<String>), SourceError> {
        let (cause, why) = match self.read(register) {
            Ok(bytes) => match register.value_in(&bytes) {
                Ok(value) => return Ok((Some(value), None)),
                Err(why) => (why.cause(), why.to_string()),
            },
            Err(ReadFault::Refused(why)) => ("exception", why),
            Err(ReadFault::Lost { cause, error }) => {
                self.device = None;
                log::value_missing(&self.host.name, cause, &error.to_string(), self.is_told);
                self.tell(format!("the Modbus device is not read: {error}"));
                return Err(SourceError::Io { path: self.name.clone(), source: error });
            }
        };
        let kind = match register.kind {
            RegisterKind::Holding => "holding",
            RegisterKind::Input => "input",
        };
        let (key, address) = (register.meaning.figure.key(), register.address);
        let text = format!("{key} at {kind} register {address}: {why}");
        log::value_missing(&self.host.name, cause, &text, self.is_told);
        Ok((None, Some(text)))
    }

    fn read(&mut self, value: &RegisterValue) -> Result<Vec<u8>, ReadFault> {
        let ModbusSettings { address, unit, timeout, checks_transaction, .. } = &self.settings;
        let device = match &mut self.device {
            Some(device) => device,
            none => {
                let connected = Device::connect(address, (*unit, *timeout, *checks_transaction));
                let lost = |error| ReadFault::Lost { cause: "connection", error };
                none.insert(connected.map_err(lost)?)
            }
        };
        device.read_registers(value.kind, value.address, value.register_type.registers())
    }

    fn tell(&mut self, text: String) {
        self.is_told = true;
        self.host.remarks.set(&self.host.name, "values", text);
    }
}
