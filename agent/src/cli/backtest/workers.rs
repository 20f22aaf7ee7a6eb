//! Threads that play machines side by side.
//!
//! The reader hands each machine to one thread; the threads read and check the lines and play them;
//! one more thread takes the machines that are done and writes the part. Every queue is bounded and
//! blocks its sender. After an error what was handed out is still looked at, so that the error that
//! is told is always the first one of the input.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use pdm_service::exit::{Exit, Failure};
use pdm_shared::event::Event;
use pdm_shared::slice::MachineSlice;

use super::Played;
use crate::backtest::parts::Part;
use crate::backtest::{MachineKey, MachinePlay, MachinePlayed, Reported, Terms};
use crate::cli::event_lines::{Demands, MachineLines, Turns};

/// Lines of one batch.
pub(super) const BATCH: usize = 128;
/// Batches that wait for a thread.
const WAITING: usize = 16;
/// Remarks that are kept.
const MOST_REMARKS: usize = 100;

/// The machines that a reader plays.
pub(super) struct Choice {
    pub(super) slice: MachineSlice,
    /// Machines that stand in the part.
    pub(super) done: BTreeSet<MachineKey>,
}

impl Choice {
    /// Whether a machine is played.
    pub(super) fn takes(&self, site: &str, equipment: &str) -> bool {
        let is_done =
            |one: &MachineKey| one.site.as_str() == site && one.equipment.as_str() == equipment;
        self.slice.holds(site, equipment) && !self.done.iter().any(is_done)
    }
}

/// The threads before they begin.
pub(super) struct Crew<'a> {
    pub(super) terms: &'a Terms,
    pub(super) jobs: usize,
    pub(super) part: Option<Part>,
}

/// A piece of a machine, for the thread that plays it.
pub(super) enum Work {
    /// Lines by their numbers.
    Lines(String, Vec<(u64, String)>),
    /// Events whose order is right.
    Events(String, Vec<Event>),
    /// The reports of staff on a machine, before its events.
    Reported(String, Vec<Reported>),
    /// No more of the machine comes.
    End(String),
}

/// A result of a thread.
enum Done {
    Machine(Box<MachinePlayed>),
    Remark(String),
    Wrong(u64, Failure),
}

/// How machines are read.
#[derive(Clone, Copy)]
pub(super) struct EventReading<'a> {
    /// The input's name.
    pub(super) name: &'a str,
    /// The required order of the lines.
    pub(super) demands: Demands,
}

/// Where a reader puts its work.
pub(super) struct Desk<'a> {
    threads: Vec<SyncSender<Work>>,
    places: BTreeMap<String, usize>,
    is_wrong: &'a AtomicBool,
    /// Events that were played.
    pub(super) events: &'a AtomicU64,
}

impl Desk<'_> {
    /// Hands work to the thread of its machine; false if nothing more is wanted.
    pub(super) fn put(&mut self, work: Work) -> bool {
        let machine = match &work {
            Work::Lines(machine, _)
            | Work::Events(machine, _)
            | Work::Reported(machine, _)
            | Work::End(machine) => machine,
        };
        let next = self.places.len() % self.threads.len();
        let place = match self.places.get(machine) {
            Some(place) => *place,
            None => *self.places.entry(machine.clone()).or_insert(next),
        };
        let is_taken = self.threads.get(place).is_some_and(|thread| thread.send(work).is_ok());
        is_taken && !self.is_wrong.load(Ordering::Relaxed)
    }
}

impl Crew<'_> {
    /// Plays what `read` hands out.
    ///
    /// # Errors
    /// The first failure of the input, that of `read`, or one of writing.
    pub(super) fn play(
        self,
        reading: EventReading<'_>,
        read: impl FnOnce(&mut Desk<'_>) -> Result<(), Failure>,
    ) -> anyhow::Result<Played> {
        let Self { terms, jobs, part } = self;
        let (is_wrong, is_cut) = (AtomicBool::new(false), AtomicBool::new(false));
        let events = AtomicU64::new(0);
        let collected = Mutex::new(Collected::new(part));
        let outcome = std::thread::scope(|scope| {
            let (done, finished) = sync_channel::<Done>(WAITING);
            let mut threads = Vec::new();
            for _ in 0..jobs {
                let (sender, work) = sync_channel::<Work>(WAITING);
                let (done, events, is_cut) = (done.clone(), &events, &is_cut);
                scope.spawn(move || {
                    let machines = BTreeMap::new();
                    Thread { terms, reading, done, events, is_cut, machines }.run(work);
                });
                threads.push(sender);
            }
            drop(done);
            let (collected, is_wrong) = (&collected, &is_wrong);
            scope.spawn(move || collect(&finished, collected, is_wrong));
            let mut desk = Desk { threads, places: BTreeMap::new(), is_wrong, events: &events };
            let outcome = read(&mut desk);
            // a machine that was not read to its end must not stand in a part
            is_cut.store(outcome.is_err(), Ordering::Release);
            outcome
            // the desk is dropped: the threads end what they have, then the collector ends
        });
        let collected = collected.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        collected.end(outcome)
    }
}

/// A thread with the machines that it plays.
struct Thread<'a> {
    terms: &'a Terms,
    reading: EventReading<'a>,
    done: SyncSender<Done>,
    events: &'a AtomicU64,
    /// The reading failed: what a thread still holds has not been read to its end.
    is_cut: &'a AtomicBool,
    machines: BTreeMap<String, Machine<'a>>,
}

/// A machine on its way.
struct Machine<'a> {
    lines: MachineLines,
    play: Option<MachinePlay<'a>>,
    reported: Vec<Reported>,
    /// Events that wait for the others of the machine, where bearings come one after the other.
    waiting: Vec<Event>,
}

impl<'a> Thread<'a> {
    fn run(mut self, work: Receiver<Work>) {
        for piece in work {
            if !self.piece(piece) {
                return;
            }
        }
        if self.is_cut.load(Ordering::Acquire) {
            return;
        }
        for (_, machine) in std::mem::take(&mut self.machines) {
            if !self.end(machine) {
                return;
            }
        }
    }

    /// Plays a piece; false if the collector is gone.
    fn piece(&mut self, piece: Work) -> bool {
        match piece {
            Work::Reported(machine, reported) => {
                self.machine(machine).reported = reported;
                true
            }
            Work::End(machine) => {
                let ended = self.machines.remove(&machine);
                ended.is_none_or(|machine| self.end(machine))
            }
            Work::Events(machine, events) => {
                let terms = self.terms;
                self.events.fetch_add(events.len() as u64, Ordering::Relaxed);
                let machine = self.machine(machine);
                for event in events {
                    machine.take(terms, event, Turns::Interleaved);
                }
                true
            }
            Work::Lines(machine, lines) => self.lines(machine, &lines),
        }
    }

    fn lines(&mut self, machine: String, lines: &[(u64, String)]) -> bool {
        let (terms, reading) = (self.terms, self.reading);
        self.events.fetch_add(lines.len() as u64, Ordering::Relaxed);
        let mut said = Vec::new();
        let machine = self.machine(machine);
        for (number, text) in lines {
            match machine.lines.event(reading.name, *number, text) {
                Ok((event, remark)) => {
                    said.extend(remark.map(Done::Remark));
                    machine.take(terms, *event, reading.demands.turns);
                }
                Err(failure) => {
                    said.push(Done::Wrong(*number, failure));
                    break;
                }
            }
        }
        said.into_iter().all(|one| self.done.send(one).is_ok())
    }

    fn machine(&mut self, name: String) -> &mut Machine<'a> {
        let demands = self.reading.demands;
        self.machines.entry(name).or_insert_with(|| Machine {
            lines: MachineLines::new(demands),
            play: None,
            reported: Vec::new(),
            waiting: Vec::new(),
        })
    }

    fn end(&self, machine: Machine<'a>) -> bool {
        let played = machine.end(self.terms);
        played.is_none_or(|played| self.done.send(Done::Machine(Box::new(played))).is_ok())
    }
}

impl<'a> Machine<'a> {
    fn take(&mut self, terms: &'a Terms, event: Event, turns: Turns) {
        let event = Event { spectra: None, ..event };
        match turns {
            Turns::OneRun => self.waiting.push(event),
            Turns::Interleaved => self.play(terms, &event),
        }
    }

    fn play(&mut self, terms: &'a Terms, event: &Event) {
        let reported = &mut self.reported;
        let play = self.play.get_or_insert_with(|| {
            MachinePlay::new(terms, MachineKey::of(event), std::mem::take(reported))
        });
        play.event(event);
    }

    fn end(mut self, terms: &'a Terms) -> Option<MachinePlayed> {
        for event in in_time(std::mem::take(&mut self.waiting)) {
            self.play(terms, &event);
        }
        self.play.map(MachinePlay::end)
    }
}

/// The events of a machine's bearings, each in its order, by the end of their windows.
pub(super) fn in_time(events: Vec<Event>) -> impl Iterator<Item = Event> {
    let mut runs: Vec<std::iter::Peekable<std::vec::IntoIter<Event>>> = Vec::new();
    let mut run: Vec<Event> = Vec::new();
    for event in events {
        if run.last().is_some_and(|last| last.bearing_id != event.bearing_id) {
            runs.push(std::mem::take(&mut run).into_iter().peekable());
        }
        run.push(event);
    }
    runs.push(run.into_iter().peekable());
    std::iter::from_fn(move || {
        let heads = runs.iter_mut().enumerate().filter_map(|(place, run)| {
            let event = run.peek()?;
            let ended = event.measured_at.plus_seconds(event.window.duration_s);
            // of windows that end together the gateway's count decides, as it sends them
            Some(((ended, event.sequence, event.bearing_id.clone()), place))
        });
        let (_, place) = heads.min()?;
        runs.get_mut(place)?.next()
    })
}

/// The collected results of the threads.
struct Collected {
    part: Option<Part>,
    machines: Vec<MachinePlayed>,
    remarks: Vec<String>,
    more_remarks: u64,
    wrong: BTreeMap<u64, Failure>,
    not_written: Option<Failure>,
}

fn collect(finished: &Receiver<Done>, into: &Mutex<Collected>, is_wrong: &AtomicBool) {
    for done in finished {
        let mut collected = into.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match done {
            Done::Machine(machine) => collected.machine(*machine),
            Done::Remark(remark) if collected.remarks.len() < MOST_REMARKS => {
                collected.remarks.push(remark);
            }
            Done::Remark(_) => collected.more_remarks += 1,
            Done::Wrong(line, failure) => {
                collected.wrong.insert(line, failure);
            }
        }
        if !collected.wrong.is_empty() || collected.not_written.is_some() {
            is_wrong.store(true, Ordering::Relaxed);
        }
    }
}

impl Collected {
    const fn new(part: Option<Part>) -> Self {
        Self {
            part,
            machines: Vec::new(),
            remarks: Vec::new(),
            more_remarks: 0,
            wrong: BTreeMap::new(),
            not_written: None,
        }
    }

    fn machine(&mut self, machine: MachinePlayed) {
        if self.wrong.is_empty()
            && self.not_written.is_none()
            && let Some(Err(error)) = self.part.as_mut().map(|part| part.add(&machine))
        {
            self.not_written = Some(super::part(error));
        }
        self.machines.push(machine);
    }

    fn end(mut self, read: Result<(), Failure>) -> anyhow::Result<Played> {
        if let Some((_, failure)) = self.wrong.pop_first() {
            return Err(failure.into());
        }
        if let Some(failure) = self.not_written {
            return Err(failure.into());
        }
        read?;
        if self.more_remarks > 0 {
            self.remarks.push(format!("and {} more of the kind", self.more_remarks));
        }
        self.remarks.sort();
        if let Some(part) = self.part {
            let ended = part.end(self.remarks.clone());
            ended.map_err(|error| Failure::new(Exit::Io, error))?;
        }
        Ok(Played { machines: self.machines, remarks: self.remarks })
    }
}
