//! Numbers of nodes, read at a period: the ready-made values of a transmitter or a controller.
//!
//! They are read and not subscribed to, because a subscription brings a value only when it changes,
//! and a value that stays would count as missing. Invariants as for Modbus: a value that is not
//! used is `None` and told; a poll in which the connection is lost gives no block.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ndarray::Array2;
use opcua::types::NodeId;
use pdm_shared::units::SampleRate;

use super::connection::Connection;
use super::open::lost;
use super::reading::{self, Fault};
use super::{NodeName, NodeValue, OpcuaServer, log};
use crate::source::values::{Conversion, Figure, Freshness, PointValue, PointValues, Standing};
use crate::source::{Block, BlockRate, Source, SourceError, SourceFormat, SourceHost};

/// Longest wait in one call, so that a reader can end.
const NAP: Duration = Duration::from_millis(500);

/// Polls of a server.
pub(super) struct Polls {
    name: PathBuf,
    server: OpcuaServer,
    values: Vec<NodeValue>,
    every: Duration,
    host: SourceHost,
    format: SourceFormat,
    open: Option<Open>,
    due: Instant,
    next_index: u64,
    standing: Standing,
    is_told: bool,
}

/// A server that is connected.
struct Open {
    connection: Connection,
    nodes: Vec<NodeId>,
    /// The conversion of each value, or why its unit is not known.
    conversions: Vec<Result<Conversion, String>>,
}

impl Polls {
    pub(super) fn new(
        name: PathBuf,
        server: OpcuaServer,
        values: Vec<NodeValue>,
        every: Duration,
        host: SourceHost,
    ) -> Result<Self, SourceError> {
        let sample_rate = SampleRate::new(1.0 / every.as_secs_f64())
            .map_err(|error| SourceError::options(&name, error.to_string()))?;
        let channels = values.iter().map(|value| value.meaning.channel + 1).max().unwrap_or(1);
        let format = SourceFormat { channels, sample_rate, block_samples: Some(1) };
        let standing = Standing::new(values.len(), every, host.clone());
        Ok(Self {
            name,
            server,
            values,
            every,
            host,
            format,
            open: None,
            due: Instant::now(),
            next_index: 0,
            standing,
            is_told: false,
        })
    }

    fn block(&self, values: Option<Box<PointValues>>) -> Block {
        let accel_m_s2 = Array2::zeros((self.format.channels, 0));
        let started_at = values.is_some().then(|| self.host.clock.now());
        let (index, rate) = (self.next_index, BlockRate::Format);
        Block { index, started_at, follows_on: false, rate, input: None, values, accel_m_s2 }
    }

    /// Reads every value; `None` if all of them are those of an earlier poll.
    fn poll(&mut self) -> Result<Option<Vec<PointValue>>, String> {
        let open = match self.open.take() {
            Some(open) => open,
            None => self.connect()?,
        };
        let read = open.connection.read(&open.nodes)?;
        let mut values = Vec::with_capacity(self.values.len());
        let (mut is_any_missing, mut is_any_new, mut is_any_earlier) = (false, false, false);
        for (place, ((value, conversion), read)) in
            self.values.iter().zip(&open.conversions).zip(read).enumerate()
        {
            let mut number = value_in(value, conversion, &read);
            let figure = &value.meaning.figure;
            if let (Ok(_), Ok(raw)) = (&number, reading::number(&read)) {
                let source_ms = reading::source_time_ms(&read);
                match self.standing.freshness(place, figure, raw, source_ms) {
                    Freshness::New => is_any_new |= matches!(figure, Figure::Feature(_)),
                    Freshness::Earlier => {
                        is_any_earlier = true;
                        values.push(value.meaning.point_value(None));
                        continue;
                    }
                    Freshness::Stale(why) => {
                        is_any_earlier = true;
                        number = Err(Fault::new("stale", why));
                    }
                }
            } else {
                // an invalid event says so
                is_any_new = true;
            }
            if let Err(Fault { cause, why }) = &number {
                let (key, node) = (figure.key(), &value.node);
                let is_told = std::mem::replace(&mut self.is_told, true) || is_any_missing;
                log::not_used(&self.host, cause, &format!("{key} at {node} {why}"), is_told);
                is_any_missing = true;
            }
            values.push(value.meaning.point_value(number.ok()));
        }
        if !is_any_missing {
            log::used_again(&self.host, std::mem::take(&mut self.is_told));
        }
        self.open = Some(open);
        Ok((is_any_new || !is_any_earlier).then_some(values))
    }

    fn connect(&self) -> Result<Open, String> {
        let connection = Connection::open(&self.server, &self.host)?;
        let names: Vec<&NodeName> = self.values.iter().map(|value| &value.node).collect();
        let nodes = connection.resolve(&names, &self.host)?;
        let units = connection.units(&nodes)?;
        let conversions = self.values.iter().zip(units);
        let conversions = conversions.map(|(value, stated)| conversion(value, stated)).collect();
        Ok(Open { connection, nodes, conversions })
    }
}

/// Returns the conversion from a value's number to its figure's unit; the unit of the server and
/// that of the configuration may not contradict.
fn conversion(value: &NodeValue, stated: Option<String>) -> Result<Conversion, String> {
    let figure = &value.meaning.figure;
    let own = value.unit.as_deref().and_then(|unit| figure.conversion(Some(unit)));
    let of_server = stated.as_deref().map(|unit| figure.conversion(Some(unit)));
    let found = match (own, of_server) {
        (Some(own), Some(Some(other))) if own != other => {
            let (unit, stated) = (value.unit.as_deref().unwrap_or(""), stated.unwrap_or_default());
            return Err(format!(
                "is in {stated} by the server and in {unit} by the configuration; leave unit out, \
                 or correct one of them"
            ));
        }
        // a unit that only the server could spell; the configuration decides
        (Some(own), _) => Some(own),
        (None, Some(of_server)) => of_server,
        (None, None) => figure.conversion(None),
    };
    found.map(|conversion| conversion.scaled(value.scale)).ok_or_else(|| {
        let stated = stated.map_or("no unit".to_owned(), |unit| format!("the unit {unit:?}"));
        format!("has {stated} from the server; unit, one of {}, decides", figure.units())
    })
}

fn value_in(
    value: &NodeValue,
    conversion: &Result<Conversion, String>,
    read: &opcua::types::DataValue,
) -> Result<f64, Fault> {
    let number = reading::number(read)?;
    let conversion = conversion.as_ref().map_err(|why| Fault::new("unit", why.clone()))?;
    value
        .meaning
        .value_of(number, *conversion)
        .map_err(|why| Fault::new(why.cause(), why.to_string()))
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
        self.due = (self.due + self.every).max(Instant::now());
        let values = self.poll().map_err(|why| {
            lost(
                &self.name,
                &self.host,
                ("connection", why),
                std::mem::replace(&mut self.is_told, true),
            )
        })?;
        let every = self.every;
        let Some(values) = values else { return Ok(Some(self.block(None))) };
        let block = self.block(Some(Box::new(PointValues { values, every })));
        self.next_index += 1;
        Ok(Some(block))
    }

    fn expected_blocks(&self) -> Option<u64> {
        None
    }
}
