//! The ends at which captures are fed: a tap at each source, and demands.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pdm_shared::event::Event;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;
use tokio::sync::oneshot;
use uuid::Uuid;

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
        let stated_hz = block.rate.stated().map(SampleRate::get);
        let is_after_gap = !block.follows_on;
        let origin = Origin { first, started_at, rate_hz, stated_hz, is_after_gap };
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
    /// It is captured as soon as its last samples have come.
    Taken,
    /// No waveform of such a bearing is measured; these are.
    Unknown(Vec<String>),
    /// The captures of the hour that demands may use are used up.
    Used {
        /// Most captures of a point in an hour.
        most: usize,
        /// Time until the next demand has a place.
        wait: Duration,
    },
    /// The folder of captures cannot be written.
    NoDisk,
    /// The captures do not take it now: the program stops, or they cannot follow.
    Busy,
    /// They did not answer in time; they may capture it still.
    Late,
}

impl Demanded {
    /// Returns why a demand for this bearing is refused; `None`: it is not.
    pub fn refusal(&self, bearing: &str) -> Option<String> {
        Some(match self {
            Self::Taken => return None,
            Self::Unknown(known) => {
                format!("no waveform of {bearing} here; there is {}", known.join(", "))
            }
            Self::Used { most, wait } => {
                let minutes = wait.as_secs().div_ceil(60).max(1);
                format!(
                    "{bearing} had its captures of the hour ([capture] per_hour = {most}, the last \
                     of which is for an alarm); the next demand is taken in {minutes} min"
                )
            }
            Self::NoDisk => format!(
                "waveforms of {bearing} cannot be written; the log tells why, and a full disk is \
                 tried again within a minute"
            ),
            Self::Busy => "captures cannot follow at the moment; ask again".to_owned(),
            Self::Late => format!(
                "captures gave no answer within {} s; `capture list` shows whether {bearing} was \
                 captured",
                PATIENCE.as_secs()
            ),
        })
    }
}

/// Longest wait for an answer: two files of a minute on a slow flash, and less than `capture take`
/// waits.
const PATIENCE: Duration = Duration::from_secs(8);

/// Tells somebody once the outcome of a demand. A demand that is dropped without an answer is told
/// as [`Demanded::Busy`].
pub(super) struct DemandAnswer(Option<Box<dyn FnOnce(Demanded) + Send>>);

impl DemandAnswer {
    pub(super) fn answer_demand(mut self, demanded: Demanded) {
        if let Some(told) = self.0.take() {
            told(demanded);
        }
    }
}

impl Drop for DemandAnswer {
    fn drop(&mut self) {
        if let Some(told) = self.0.take() {
            told(Demanded::Busy);
        }
    }
}

impl fmt::Debug for DemandAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DemandAnswer")
    }
}

/// The time and identity of a demand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AskedBy {
    /// When it was asked.
    pub asked_at: Option<Timestamp>,
    /// Its identity.
    pub demand_id: Option<Uuid>,
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

    /// Asks for a capture of a bearing, named `equipment/bearing`; `asked`: where the demand says
    /// when it was asked, and which it is. `told` gets the answer once, on the thread of the
    /// captures where they give it.
    pub fn demand(
        &self,
        bearing: &str,
        asked: AskedBy,
        told: impl FnOnce(Demanded) + Send + 'static,
    ) {
        let answer = DemandAnswer(Some(Box::new(told)));
        if !self.bearings.contains(bearing) {
            answer.answer_demand(Demanded::Unknown(self.bearings.iter().cloned().collect()));
            return;
        }
        let message = Message::Demand { bearing: bearing.to_owned(), asked, answer };
        // what finds no room is dropped, and by that answered
        let _is_queued = self.inbox.push(0, message, false);
    }

    /// Asks for a capture of a bearing and waits for the answer.
    pub async fn answer(&self, bearing: &str) -> Demanded {
        let (told, answer) = oneshot::channel();
        self.demand(bearing, AskedBy::default(), move |demanded| {
            // nobody waits any more: a request that was given up
            let _left = told.send(demanded);
        });
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(answer) => answer.unwrap_or(Demanded::Busy),
            Err(_late) => Demanded::Late,
        }
    }
}
