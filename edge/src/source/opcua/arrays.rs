//! Arrays of nodes: every one is a burst of samples, brought by a subscription.
//!
//! The server keeps a queue for each node, and this gateway one for all; what finds no room in
//! either is told as lost. An array with the same samples as the one before is told apart by its
//! source time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use opcua::types::DataValue;
use pdm_shared::units::SampleRate;

use super::connection::Connection;
use super::open::lost;
use super::reading::{self, Fault};
use super::subscription::{Arrival, subscribe};
use super::{NodeForm, NodeName, OpcuaServer, log};
use crate::source::burst::{
    BurstBlocks, Bursts, ChannelArray, configured_calibration, sender_time,
};
use crate::source::calibration::no_unit;
use crate::source::frames::FrameFormat;
use crate::source::interpretation::believed_rate;
use crate::source::{Block, Calibration, Source, SourceError, SourceFormat, SourceHost};

/// Longest wait in one call, so that a reader can end.
const NAP: Duration = Duration::from_millis(500);

/// Arrays that wait in this gateway: seconds of several channels; at most 1 GiB if each is as long
/// as is allowed.
const OWN_QUEUE: usize = 32;

/// Bursts of a server.
pub(super) struct Arrays {
    name: PathBuf,
    server: OpcuaServer,
    form: NodeForm,
    format: FrameFormat,
    silence: Duration,
    host: SourceHost,
    source_format: SourceFormat,
    open: Option<Open>,
    bursts: Bursts,
    blocks: BurstBlocks,
    rate: SampleRate,
    heard: Instant,
    /// A value was not used, and the log says so.
    is_told: bool,
    /// No burst has been taken yet.
    is_new: bool,
    /// The silence is told.
    is_silent: bool,
}

/// A server that is subscribed to.
struct Open {
    connection: Connection,
    arrivals: Receiver<Arrival>,
    is_full: Arc<AtomicBool>,
    calibrations: Vec<Calibration>,
    /// Whether the server states the unit, by channel.
    has_unit: Vec<bool>,
    /// Whether the first value of a place has come, which may be old, by place.
    has_begun: Vec<bool>,
}

impl Arrays {
    pub(super) fn new(
        name: PathBuf,
        server: OpcuaServer,
        (form, format, rate_tolerance, silence): (NodeForm, FrameFormat, f64, Duration),
        host: SourceHost,
    ) -> Result<Self, SourceError> {
        format.check().map_err(|error| SourceError::options(&name, error.to_string()))?;
        let source_format = SourceFormat { block_samples: None, ..format.source_format() };
        Ok(Self {
            bursts: Bursts::new(form.nodes.len(), form.dated, host.clone()),
            blocks: BurstBlocks::new(format.sample_rate, rate_tolerance, host.clone()),
            rate: format.sample_rate,
            heard: Instant::now(),
            open: None,
            is_told: false,
            is_new: true,
            is_silent: false,
            name,
            server,
            form,
            format,
            silence,
            host,
            source_format,
        })
    }

    fn connect(&mut self) -> Result<Open, String> {
        let connection = Connection::open(&self.server, &self.host)?;
        let names: Vec<&NodeName> = self.form.nodes.iter().chain(&self.form.rate).collect();
        let nodes = connection.resolve(&names, &self.host)?;
        let channels = self.form.nodes.len();
        let units = connection.units(&nodes[..channels])?;
        let mut calibrations = Vec::with_capacity(channels);
        for (channel, unit) in units.iter().enumerate() {
            let configured = configured_calibration(&self.format, channel);
            calibrations.push(match unit {
                None => configured,
                Some(unit) => configured
                    .in_stated_unit(unit)
                    .map_err(|why| format!("node {} {why}", self.form.nodes[channel]))?,
            });
        }
        if let Some(node) = nodes.get(channels) {
            let value = connection.read(std::slice::from_ref(node))?.remove(0);
            self.rate = rate_in(&value).map_err(|fault| self.named(channels, &fault.why))?;
        }
        let (tell, arrivals) = sync_channel(OWN_QUEUE);
        let is_full = Arc::new(AtomicBool::new(false));
        subscribe(&connection, &nodes, (tell, Arc::clone(&is_full)), &self.host)
            .map_err(|(place, why)| self.named(place, &why))?;
        let has_unit = units.iter().map(Option::is_some).collect();
        let has_begun = vec![false; nodes.len()];
        self.heard = Instant::now();
        // a remark of the connection before does not hold any more
        log::used_again(&self.host, false);
        Ok(Open { connection, arrivals, is_full, calibrations, has_unit, has_begun })
    }

    /// Takes what the subscription brought.
    fn take(&mut self, open: &mut Open, place: usize, value: &DataValue) -> Result<(), Fault> {
        if value.status().overflow() {
            log::values_lost(&self.host, "server");
        }
        let Some(begun) = open.has_begun.get_mut(place) else { return Ok(()) };
        let is_first = !std::mem::replace(begun, true);
        if place == self.form.nodes.len() {
            self.rate = rate_in(value)?;
            return Ok(());
        }
        let numbers = reading::samples(value)?;
        let configured = configured_calibration(&self.format, place);
        if !open.has_unit[place] && !configured.is_stated() {
            let why = no_unit("the server (EngineeringUnits)", numbers.are_integers, "");
            return Err(Fault::new("unit", format!("holds {why}")));
        }
        let time_ms = reading::time_ms(value);
        if is_first {
            return Ok(());
        }
        if let Some(ms) = time_ms {
            sender_time(&self.host, ms as f64);
        }
        let samples = numbers.values;
        let array = ChannelArray { channel: place, samples, time_ms, is_historical: false };
        let calibrations = &open.calibrations;
        let calibration = |channel: usize| calibrations.get(channel).copied().unwrap_or_default();
        let pushed = self.bursts.push(array, calibration, (&mut self.blocks, self.rate));
        pushed.map_err(|why| Fault::new("form", why))
    }

    /// Returns the fault at a place, with the name of its node; for a place beyond the nodes, the
    /// fault of the server.
    fn named(&self, place: usize, why: &str) -> String {
        let mut nodes = self.form.nodes.iter().chain(&self.form.rate);
        let node = nodes.nth(place);
        node.map_or_else(|| why.to_owned(), |node| format!("node {node} {why}"))
    }

    /// Waits for a burst; `None` if none came for now.
    fn wait(&mut self, open: &mut Open) -> Result<Option<Block>, (&'static str, String)> {
        let until = Instant::now() + NAP;
        loop {
            if let Some(block) = self.bursts.block() {
                self.heard = Instant::now();
                let was_silent = std::mem::take(&mut self.is_silent);
                if std::mem::take(&mut self.is_new) || self.is_told || was_silent {
                    log::used_again(&self.host, std::mem::take(&mut self.is_told));
                    self.host.remarks.withdraw(&self.host.name, "silence");
                }
                return Ok(Some(block));
            }
            let left = until.saturating_duration_since(Instant::now());
            match open.arrivals.recv_timeout(left) {
                Ok(Arrival::Value(place, value)) => {
                    if let Err(Fault { cause, why }) = self.take(open, place, &value) {
                        let is_told = std::mem::replace(&mut self.is_told, true);
                        log::not_used(&self.host, cause, &self.named(place, &why), is_told);
                    }
                }
                Ok(Arrival::Ended(status)) => {
                    let why = format!("the server ends the subscription: {status}");
                    return Err(("connection", why));
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(("connection", "the client has failed".to_owned()));
                }
            }
        }
        if open.is_full.swap(false, Ordering::Relaxed) {
            log::values_lost(&self.host, "gateway");
            self.bursts.gap();
        }
        open.connection.check().map_err(|why| ("connection", why))?;
        if self.heard.elapsed() > self.silence {
            // the session lives by its keep-alive; a new one would bring no burst either
            let text = format!("no burst within {:.0} s", self.silence.as_secs_f64());
            if !std::mem::replace(&mut self.is_silent, true) {
                log::not_used(&self.host, "silence", &text, false);
            }
            self.host.remarks.set(&self.host.name, "silence", text);
        }
        Ok(None)
    }
}

impl Source for Arrays {
    fn format(&self) -> &SourceFormat {
        &self.source_format
    }

    fn next_block(&mut self) -> Result<Option<Block>, SourceError> {
        let waited = match self.open.take().map_or_else(|| self.connect(), Ok) {
            Err(why) => Err(("connection", why)),
            Ok(mut open) => {
                let waited = self.wait(&mut open);
                if waited.is_ok() {
                    self.open = Some(open);
                }
                waited
            }
        };
        match waited {
            Ok(Some(block)) => Ok(Some(block)),
            Ok(None) => Ok(Some(self.blocks.nothing(self.form.nodes.len()))),
            Err(fault) => {
                let is_told = std::mem::replace(&mut self.is_told, true);
                Err(lost(&self.name, &self.host, fault, is_told))
            }
        }
    }

    fn expected_blocks(&self) -> Option<u64> {
        None
    }
}

fn rate_in(value: &DataValue) -> Result<SampleRate, Fault> {
    let hz = reading::number(value)?;
    believed_rate(hz).map_err(|error| Fault::new("rate", format!("is no rate: {error}")))
}
