//! The thread that measures a source: blocks → windows → events of every point, together with the
//! memory that must be committed with these events.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pdm_dsp::order::ShaftAngle;
use pdm_service::clock::SharedClock;
use pdm_shared::event::Event;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use super::fft_plans::FftPlans;
use super::left_out::LeftOut;
use super::log;
use super::machines;
use super::next_window::NextWindow;
use super::pacing::Pacing;
use super::point::{Point, memory_key, pasts_key};
use super::position::{BlockTimes, position_key};
use super::queue::Queue;
use super::repeats::Repeats;
use super::timing::{self, ClockWatch};
use crate::capture::Tap;
use crate::condition::Neighbour;
use crate::progress::Progress;
use crate::relearning::{Relearning, Wish};
use crate::remarks::{CLOCK, Remarks};
use crate::settings::Tachometer;
use crate::source::folder::FolderLedger;
use crate::source::values::PointValues;
use crate::source::{Block, BlockRate, SourceFormat};
use crate::spool::Batch;
use crate::window::{Cut, Window, Windower};

/// A measurer and the state of its source.
pub(super) struct Measurer {
    /// The source's name, which is part of the keys of its memory.
    pub(super) name: String,
    pub(super) queue: Arc<Queue<Block>>,
    pub(super) windower: Windower,
    /// Only of a live source, as is what follows.
    pub(super) left_out: LeftOut,
    pub(super) repeats: Repeats,
    pub(super) next: NextWindow,
    pub(super) times: BlockTimes,
    pub(super) rate: SampleRate,
    /// The watched folder that is read; `None` for any other source.
    pub(super) folder: Option<Folder>,
    /// Time from the start of one window to that of the next, s; 0: every window is measured.
    pub(super) every_s: f64,
    /// A live source cannot be continued after a restart, so its position alone is no reason for a
    /// commit.
    pub(super) is_live: bool,
    /// Most blocks measured before their events are handed on.
    pub(super) most_blocks: usize,
    /// The channel with the pulses of a tachometer.
    pub(super) tachometer: Option<Tachometer>,
    pub(super) points: Vec<Point>,
    pub(super) plans: FftPlans,
    pub(super) relearners: Relearners,
    /// Where the samples go for captures; `None`: nothing is captured.
    pub(super) tap: Option<Tap>,
    pub(super) clock: SharedClock,
    /// Only of a live source: a recording brings its times along.
    pub(super) clock_watch: Option<ClockWatch>,
    pub(super) batches: mpsc::Sender<Batch>,
    pub(super) remarks: Remarks,
    /// A sensor repeats its samples, and `/healthz` says so.
    pub(super) is_frozen: bool,
    /// The clock of the gateway is not right yet, and the log says so.
    pub(super) is_without_time: bool,
    /// The last log text on how the source's files are read.
    pub(super) logged_input: Option<String>,
    pub(super) progress: watch::Sender<Progress>,
}

/// A watched folder: its notes, and how its files are cut.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) ledger: FolderLedger,
    /// Length of a window; `None`: each snapshot is one.
    pub(super) window: Option<Duration>,
}

/// 2020-01-01, ms since 1970: a clock before is that of a machine without a battery.
const FIRST_RIGHT_MS: i64 = 1_577_836_800_000;

/// Number of points that each core measures one after the other.
fn share(points: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    points.div_ceil(cores).max(1)
}

/// The bearing of each point, and the number of requests that the point has taken up.
pub(super) struct Relearners {
    relearning: Relearning,
    taken: Vec<(String, u64)>,
}

impl Relearners {
    /// For points whose bearings have these names, in the order of the points.
    pub(super) fn of(relearning: Relearning, names: impl Iterator<Item = String>) -> Self {
        let count = |name: String| {
            relearning.add_point(&name);
            (name, 0)
        };
        let taken = names.map(count).collect();
        Self { relearning, taken }
    }

    /// Empties the memory of the points whose bearing was requested since the last batch. Returns
    /// the bearings with the requests that are to be answered when that memory is on disk.
    fn apply(&mut self, points: &mut [Point]) -> Vec<(String, Uuid)> {
        let mut to_answer = Vec::new();
        for (point, (name, taken)) in points.iter_mut().zip(&mut self.taken) {
            let Wish { times, pending } = self.relearning.wish(name);
            if times <= *taken {
                continue;
            }
            let pending = pending.filter(|(number, _)| *number > *taken);
            // a request that came before the last start is done, unless another one came with it
            let is_alone = times == *taken + 1;
            *taken = times;
            let is_known = pending.is_some_and(|(_, id)| !point.note_request(id));
            if !(is_known && is_alone) {
                point.relearn();
                log::relearnt(name);
            }
            to_answer.extend(pending.map(|(_, id)| (name.clone(), id)));
        }
        to_answer
    }
}

/// The contents of blocks of the queue.
#[derive(Default)]
struct Brought {
    windows: Vec<Window>,
    /// Values that a device measured itself, and when.
    polls: Vec<(Timestamp, Box<PointValues>)>,
    /// The folder's records of its files.
    notes: BTreeMap<String, Vec<u8>>,
    /// The position in recordings has moved on.
    has_moved: bool,
}

impl Measurer {
    /// Measures until the queue is closed and empty, or the committer has ended.
    pub(super) fn run(mut self) {
        let mut pace = Pacing::new(self.every_s);
        loop {
            let blocks = self.queue.pop(self.most_blocks);
            if blocks.is_empty() {
                return;
            }
            let mut brought = Brought::default();
            for block in blocks {
                self.take(block, &mut brought);
            }
            let Brought { mut windows, mut polls, mut notes, has_moved } = brought;
            if self.is_live && self.clock.now().unix_ms() < FIRST_RIGHT_MS {
                self.leave_out(windows.len() + polls.len());
                windows.clear();
                polls.clear();
            } else if std::mem::take(&mut self.is_without_time) {
                log::clock_is_right(&self.name);
                self.remarks.withdraw(&self.name, CLOCK);
            }
            if self.is_live {
                let (repeats, source) = (&mut self.repeats, &self.name);
                windows.retain(|window| !repeats.came_before(source, window));
            }
            windows.retain(|window| pace.is_wanted(self.start(window), self.length_s(window)));
            if windows.is_empty() && polls.is_empty() && !has_moved && notes.is_empty() {
                continue;
            }
            let relearnt = self.relearners.apply(&mut self.points);
            self.plans.looks().pass(windows.iter().map(|window| self.stands_for_s(window)).sum());
            let mut events = self.measure(&windows);
            if self.is_live {
                timing::tell_delay(&mut events, self.clock.now());
                self.tell_frozen();
            }
            if let Some(tap) = &self.tap {
                tap.tell(&events, &windows);
            }
            events.extend(self.judge_polls(&polls));
            timing::tell_period_once(&mut events);
            let moved_s = self.clock_watch.as_ref().and_then(|w| w.moved_s(self.clock.now()));
            timing::tell_moved(&mut events, moved_s);
            let count = events.len() as u64;
            let mut memory = self.memory();
            memory.append(&mut self.changed_pasts());
            memory.append(&mut notes);
            let batch = Batch { events, memory, relearnt };
            self.progress.send_modify(|progress| progress.measured += count);
            if self.batches.blocking_send(batch).is_err() {
                return;
            }
        }
    }

    /// Takes a block: dated, handed to the captures, cut into windows.
    fn take(&mut self, mut block: Block, brought: &mut Brought) {
        brought.notes.append(&mut self.notes(&block));
        if let Some(values) = block.values.take() {
            let at = block.started_at.unwrap_or_else(|| self.clock.now());
            brought.polls.push((at, values));
        }
        if block.accel_m_s2.ncols() == 0 {
            return;
        }
        self.fit_to(&block);
        let before_s = self.times.stamp(&mut block, self.rate.get(), self.clock.now());
        self.next.skip_into(&mut block);
        self.next.push(&block, before_s);
        self.hand_over(&block);
        let pushed = (block.follows_on, block.accel_m_s2.ncols());
        let cut = self.windower.push(block);
        if self.is_live {
            self.left_out.pushed(pushed, cut.len(), self.windower.dropped());
        }
        self.next.cut(cut.len());
        brought.has_moved |= !cut.is_empty() && !self.is_live;
        brought.windows.extend(cut);
    }

    /// Hands a block to the captures, before it is cut.
    fn hand_over(&mut self, block: &Block) {
        if let Some(tap) = &mut self.tap {
            tap.push(block, self.windower.came(), self.rate.get());
        }
    }

    /// Returns the records of a watched folder up to this block.
    fn notes(&self, block: &Block) -> BTreeMap<String, Vec<u8>> {
        let measured = block.index + u64::from(block.accel_m_s2.ncols() > 0);
        self.folder.as_ref().map(|folder| folder.ledger.take(measured)).unwrap_or_default()
    }

    /// Cuts the snapshots of a file at the rate of that file.
    fn fit_to(&mut self, block: &Block) {
        let (Some(folder), BlockRate::Stated(rate)) = (&self.folder, block.rate) else { return };
        if rate == self.rate {
            return;
        }
        self.rate = rate;
        let Some(window) = folder.window else { return };
        // a window of a file with a very low rate has one sample, and is told as too short
        let samples = ((window.as_secs_f64() * rate.get()).round() as usize).max(1);
        let cut = Cut::Equal { samples, hop: samples };
        let format = SourceFormat { channels: 0, sample_rate: rate, block_samples: None };
        if let Ok(windower) = Windower::new(cut, &format) {
            self.windower = windower.after(self.windower.came());
            self.next = NextWindow::new(cut, self.next.position().clone());
        }
    }

    /// Leaves windows out that cannot be dated: the gateway started without a battery, and its
    /// clock is not set yet. Dated in 1970 they would spoil every trend.
    fn leave_out(&mut self, windows: usize) {
        log::windows_without_time(&self.name, windows, self.is_without_time);
        if !std::mem::replace(&mut self.is_without_time, true) {
            let text = "nothing is measured: the gateway's clock stands before 2020".to_owned();
            self.remarks.set(&self.name, CLOCK, text);
        }
    }

    /// Events of the values that a transmitter gives without samples.
    fn judge_polls(&mut self, polls: &[(Timestamp, Box<PointValues>)]) -> Vec<Event> {
        let mut events = Vec::with_capacity(polls.len() * self.points.len());
        for (at, values) in polls {
            let now = self.clock.now();
            events.extend(self.points.iter_mut().map(|point| point.judge_values(values, *at, now)));
        }
        events
    }

    /// Tells sensors that repeat their samples.
    fn tell_frozen(&mut self) {
        let frozen = self.points.iter().filter(|point| point.is_frozen());
        let channels: Vec<String> = frozen.map(|point| point.channel().to_string()).collect();
        if channels.is_empty() {
            if std::mem::take(&mut self.is_frozen) {
                self.remarks.withdraw(&self.name, "frozen");
            }
            return;
        }
        let text = format!(
            "channel {} repeats the same samples again and again: the sensor or its gateway stands \
             still; they are not judged (flat_line)",
            channels.join(", ")
        );
        if !std::mem::replace(&mut self.is_frozen, true) {
            log::sensor_frozen(&self.name, &text);
        }
        self.remarks.set(&self.name, "frozen", text);
    }

    fn length_s(&self, window: &Window) -> f64 {
        window.accel_m_s2.ncols() as f64 / self.rate.get()
    }

    /// Machine time from the start of a window to that of the next measured one, s.
    fn stands_for_s(&self, window: &Window) -> f64 {
        self.every_s.max(self.length_s(window))
    }

    fn start(&self, window: &Window) -> Timestamp {
        window.started_at.unwrap_or_else(|| self.clock.now())
    }

    /// Events in the order of time, the points of a window in their own order.
    fn measure(&mut self, windows: &[Window]) -> Vec<Event> {
        windows.iter().filter_map(|window| window.input.as_ref()).for_each(|input| {
            // once for all files that are read alike
            let text = input.to_string();
            if self.logged_input.as_ref() != Some(&text) {
                log::input_read(&self.name, &text);
                self.logged_input = Some(text);
            }
        });
        if !machines::has_company(&self.points) {
            return self.measure_apart(windows, &[]);
        }
        let mut events = Vec::with_capacity(self.points.len() * windows.len());
        for window in windows {
            let neighbours = machines::neighbours(&self.points);
            let mut of_window = self.measure_apart(std::slice::from_ref(window), &neighbours);
            machines::tell_once(&mut of_window);
            events.extend(of_window);
        }
        events
    }

    /// Measures the windows where no point has to know what the others see in the same windows;
    /// `neighbours`: by point, empty for none.
    fn measure_apart(&mut self, windows: &[Window], neighbours: &[Vec<Neighbour>]) -> Vec<Event> {
        let times: Vec<Timestamp> = windows.iter().map(|window| self.start(window)).collect();
        let angles: Vec<Option<ShaftAngle>> =
            windows.iter().map(|window| self.angle(window)).collect();
        let clock = &self.clock;
        let of_point = |(number, point): (usize, &mut Point)| -> Vec<Event> {
            let beside = neighbours.get(number).map_or(&[][..], Vec::as_slice);
            windows
                .iter()
                .zip(&times)
                .zip(&angles)
                .filter_map(|((window, at), angle)| {
                    let samples = samples_of(window, point.channel());
                    let seen = (angle.as_ref(), beside);
                    point.set_rate(window.rate);
                    point.set_input(window.input.as_ref());
                    (!samples.is_empty())
                        .then(|| point.measure_beside(&samples, seen, *at, clock.now()))
                })
                .collect()
        };
        let share = share(self.points.len());
        let is_behind = windows.len() > 1 || !neighbours.is_empty();
        let by_point: Vec<Vec<Event>> = if self.points.len() < 2 || !is_behind {
            self.points.iter_mut().enumerate().map(of_point).collect()
        } else {
            // points do not depend on each other, so each core measures its share of them
            let mut numbered: Vec<(usize, &mut Point)> =
                self.points.iter_mut().enumerate().collect();
            std::thread::scope(|scope| {
                let threads: Vec<_> = numbered
                    .chunks_mut(share)
                    .map(|points| {
                        let measured = || {
                            let each = points.iter_mut();
                            each.map(|(number, point)| of_point((*number, point))).collect()
                        };
                        scope.spawn(measured)
                    })
                    .collect();
                threads
                    .into_iter()
                    .flat_map(|thread: std::thread::ScopedJoinHandle<'_, Vec<_>>| {
                        match thread.join() {
                            Ok(events) => events,
                            Err(panic) => std::panic::resume_unwind(panic),
                        }
                    })
                    .collect()
            })
        };
        interleaved(by_point, windows.len())
    }

    /// The shaft's angle over a window by the tachometer; `None` without a tachometer or without
    /// pulses.
    fn angle(&self, window: &Window) -> Option<ShaftAngle> {
        let tachometer = self.tachometer?;
        let pulses = samples_of(window, tachometer.channel);
        let angle = ShaftAngle::from_pulses(&pulses, self.rate.get(), tachometer.pulses_per_turn);
        angle.inspect_err(|reason| log::no_shaft_angle(&self.name, reason)).ok()
    }

    /// The memory of all points and the position, by their keys in the spool.
    fn memory(&self) -> BTreeMap<String, Vec<u8>> {
        let mut memory: BTreeMap<String, Vec<u8>> = self
            .points
            .iter()
            .map(|point| (memory_key(&self.name, point.channel()), point.memory()))
            .collect();
        let position =
            serde_json::to_vec(&self.next.position()).expect("numbers and times always make JSON");
        // a folder is remembered by its files; an earlier version's count would be taken over again
        let position = if self.folder.is_some() { Vec::new() } else { position };
        memory.insert(position_key(&self.name), position);
        memory
    }

    /// Returns the pasts of the points whose baselines are being learnt, where they have changed.
    fn changed_pasts(&mut self) -> BTreeMap<String, Vec<u8>> {
        let changed = |point: &mut Point| {
            let key = pasts_key(&self.name, point.channel());
            point.changed_pasts().map(|kept| (key, kept))
        };
        self.points.iter_mut().filter_map(changed).collect()
    }
}

/// A channel's samples.
fn samples_of(window: &Window, channel: usize) -> Cow<'_, [f64]> {
    let row = window.accel_m_s2.row(channel);
    row.to_slice().map_or_else(|| row.to_vec().into(), Cow::from)
}

/// The events in the order of windows: those of all points for the first window, then those for the
/// second, …
fn interleaved(by_point: Vec<Vec<Event>>, windows: usize) -> Vec<Event> {
    let mut points: Vec<_> = by_point.into_iter().map(Vec::into_iter).collect();
    let mut events = Vec::with_capacity(points.len() * windows);
    for _ in 0..windows {
        events.extend(points.iter_mut().filter_map(Iterator::next));
    }
    events
}
