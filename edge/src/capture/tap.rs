//! The ends at which captures are fed: a tap at each source, and demands.

use std::collections::BTreeSet;
use std::sync::Arc;

use pdm_shared::event::Event;
use pdm_shared::units::SampleRate;

use super::CapturePoint;
use super::chunk::Origin;
use super::inbox::Inbox;
use super::log;
use super::recorder::Message;
use crate::source::Block;
use crate::window::Window;

/// Hands the samples and events of one source to the captures.
#[derive(Debug)]
pub struct Tap {
    inbox: Arc<Inbox<Message>>,
    source: String,
    points: Vec<(usize, CapturePoint)>,
    waits: bool,
    /// Samples were lost, and the log says so.
    is_behind: bool,
}

impl Tap {
    pub(super) fn new(
        inbox: Arc<Inbox<Message>>,
        source: &str,
        (first, points): (usize, &[CapturePoint]),
        waits: bool,
    ) -> Self {
        let points = points.iter().enumerate().map(|(at, point)| (first + at, point.clone()));
        Self { inbox, source: source.to_owned(), points: points.collect(), waits, is_behind: false }
    }

    /// Hands over a block whose first sample has this number; `rate_hz`: that of the source.
    pub fn push(&mut self, block: &Block, first: u64, rate_hz: f64) {
        let count = block.accel_m_s2.ncols();
        let Some(started_at) = block.started_at.filter(|_| count > 0) else { return };
        let rate_hz = block.rate.own().map_or(rate_hz, SampleRate::get);
        let origin = Origin { first, started_at, rate_hz, is_after_gap: !block.follows_on };
        let rows: Vec<(usize, Vec<f64>)> = self
            .points
            .iter()
            .filter(|(_, point)| point.channel < block.accel_m_s2.nrows())
            .map(|(id, point)| (*id, block.accel_m_s2.row(point.channel).to_vec()))
            .collect();
        let bytes = rows.len() * count * size_of::<f64>();
        let is_taken = self.inbox.push(bytes, Message::Block { origin, rows }, self.waits);
        if !is_taken {
            log::not_followed(&self.source, count as u64, !self.is_behind);
        }
        self.is_behind = !is_taken;
    }

    /// Hands over the events of these windows.
    pub fn tell(&self, events: &[Event], windows: &[Window]) {
        for event in events {
            let of_event = |point: &&(usize, CapturePoint)| {
                point.1.equipment == event.equipment_id
                    && point.1.bearing == event.bearing_id
                    && point.1.measuring_point == event.measuring_point
            };
            let Some((point, _)) = self.points.iter().find(of_event) else { continue };
            let is_its = |window: &&Window| window.started_at == Some(event.measured_at);
            let Some(window) = windows.iter().find(is_its) else { continue };
            let samples = window.accel_m_s2.ncols() as u64;
            let event = Box::new(Event { spectra: None, ..event.clone() });
            let (point, first) = (*point, window.first_sample);
            let message = Message::Judged { point, first, samples, event };
            if !self.inbox.push(0, message, self.waits) {
                log::not_followed(&self.source, 0, true);
            }
        }
    }
}

/// The answer to a demand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demanded {
    /// It is captured as soon as its last samples have come, if the hour's budget allows.
    Taken,
    /// No waveform of such a bearing is measured; these are.
    Unknown(Vec<String>),
    /// The captures do not take it now: the program stops, or they cannot follow.
    Busy,
}

/// Asks for captures. Clones ask the same captures.
#[derive(Debug, Clone)]
pub struct Capturing {
    inbox: Arc<Inbox<Message>>,
    bearings: Arc<BTreeSet<String>>,
}

impl Capturing {
    pub(super) fn of(inbox: Arc<Inbox<Message>>, bearings: impl Iterator<Item = String>) -> Self {
        Self { inbox, bearings: Arc::new(bearings.collect()) }
    }

    /// Whether the waveform of a bearing, named `equipment/bearing`, is captured here.
    pub fn has(&self, bearing: &str) -> bool {
        self.bearings.contains(bearing)
    }

    /// Asks for a capture of a bearing, named `equipment/bearing`.
    pub fn demand(&self, bearing: &str) -> Demanded {
        if !self.bearings.contains(bearing) {
            return Demanded::Unknown(self.bearings.iter().cloned().collect());
        }
        let message = Message::Demand { bearing: bearing.to_owned() };
        if self.inbox.push(0, message, false) { Demanded::Taken } else { Demanded::Busy }
    }
}
