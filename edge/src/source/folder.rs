//! A watched folder: recordings are measured when they have come, each once.
//!
//! A look at the folder every few seconds lists its files. A file is read when its size and its
//! last change are the same in two looks. What was measured is remembered by file (`identity`), not
//! by count, and committed with the events of the file ([`FolderLedger`]); so restarts, renames,
//! deletions and files with earlier names change nothing. A file is dated by its content, else by
//! its name, else by its last change (`file_time`), never by the time of reading.
//!
//! Invariants: every file is measured once, or set aside with a line in the log, a metric and a
//! remark in `/healthz`; the files of a folder have one form, that of most of them, and a file of
//! another form sets nothing for the others.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pdm_service::clock::SharedClock;
use pdm_shared::units::SampleRate;

use super::{
    Block, BlockRate, RecordingOptions, Source, SourceError, SourceFormat, open_recording,
};
use crate::remarks::Remarks;
use crate::tabular::LocalZone;

mod ahead;
mod channel_order;
mod continued;
mod current;
mod file_time;
mod identity;
mod ledger;
mod listing;
mod log;
mod look;
mod record_keeping;
mod unsettled;

use ahead::Ahead;
use continued::{NotOpened, open_new_part};
use current::Current;
use file_time::FileTime;
pub use ledger::FolderLedger;
use listing::dated;
use record_keeping::{Records, is_same_form};
use unsettled::Unsettled;

/// Most files that are opened to learn the form of a folder of which nothing is known.
const FORM_FILES: usize = 64;

/// A folder, and what the service knows of it.
#[derive(Debug, Clone)]
pub struct FolderSettings {
    /// Name of the source, which is part of the keys of its memory.
    pub name: String,
    /// Folders, and files named themselves.
    pub paths: Vec<PathBuf>,
    /// The part of each file to read.
    pub options: RecordingOptions,
    /// The smallest number of channels that a file must have.
    pub least_channels: usize,
    /// Time between two looks.
    pub every: Duration,
    /// The source ends when everything in the folder is measured.
    pub ends: bool,
    /// Files that an earlier version measured, which remembered their number only.
    pub inherited: u64,
}

/// Opens a folder. `memory` is what earlier runs committed of it.
///
/// # Errors
/// [`SourceError::Missing`] or [`SourceError::Io`] if a folder cannot be listed.
pub fn watch_folder(
    settings: FolderSettings,
    memory: &BTreeMap<String, Vec<u8>>,
    clock: SharedClock,
    remarks: Remarks,
) -> Result<(Box<dyn Source>, FolderLedger), SourceError> {
    for path in &settings.paths {
        if path.is_dir() {
            std::fs::read_dir(path).map_err(|e| SourceError::from_io(path, e))?;
        } else {
            std::fs::metadata(path).map_err(|e| SourceError::from_io(path, e))?;
        }
    }
    let ledger = FolderLedger::default();
    let records = Records::restored(&settings.name, memory, ledger.clone());
    let form = records.form_of_most(settings.least_channels);
    let rate = settings.options.sample_rate.or_else(|| form.map(|form| form.1));
    let format = SourceFormat {
        channels: form.map_or(settings.least_channels, |form| form.0),
        // until the first file: every block brings the rate of its file along
        sample_rate: rate.unwrap_or_else(no_rate_yet),
        block_samples: None,
    };
    let folder = Folder {
        settings,
        ahead: Ahead::new(clock.clone(), remarks.clone()),
        clock,
        remarks,
        records,
        form,
        format,
        looks: HashMap::new(),
        lost: 0,
        ready: VecDeque::new(),
        current: None,
        next_index: 0,
        last_look: None,
        is_unsettled: false,
        is_away: false,
        unreadable: HashSet::new(),
        is_unit_told: false,
    };
    Ok((Box::new(folder), ledger))
}

/// The rate of a folder without a file, Hz: that of the usual converter. It sizes the queue of
/// blocks and nothing else.
const NO_RATE_YET_HZ: f64 = 25_600.0;

/// Channels and rate of a file.
type Form = (usize, SampleRate);

fn no_rate_yet() -> SampleRate {
    SampleRate::new(NO_RATE_YET_HZ).expect("the rate is finite and above 0")
}

/// A file that is to be read.
#[derive(Debug)]
struct Ready {
    number: u64,
    path: PathBuf,
    dated: FileTime,
}

struct Folder {
    settings: FolderSettings,
    clock: SharedClock,
    remarks: Remarks,
    ahead: Ahead,
    records: Records,
    form: Option<Form>,
    format: SourceFormat,
    /// Files that were not settled at the last look.
    looks: HashMap<PathBuf, Unsettled>,
    /// Files that went before they were measured, since the start.
    lost: u64,
    ready: VecDeque<Ready>,
    current: Option<Current>,
    next_index: u64,
    last_look: Option<Instant>,
    /// A file was still being written at the last look.
    is_unsettled: bool,
    /// The folder could not be listed at the last look.
    is_away: bool,
    /// Files that could not be opened at the last look.
    unreadable: HashSet<PathBuf>,
    /// The log says that nothing states the unit of the files.
    is_unit_told: bool,
}

impl Source for Folder {
    fn format(&self) -> &SourceFormat {
        &self.format
    }

    /// The next snapshot. A block without samples means that nothing new has come by this look.
    fn next_block(&mut self) -> Result<Option<Block>, SourceError> {
        loop {
            if let Some(block) = self.block_of_current() {
                return Ok(Some(block));
            }
            if let Some(ready) = self.ready.pop_front() {
                self.open(ready);
                continue;
            }
            if let Some(last) = self.last_look {
                std::thread::sleep(self.settings.every.saturating_sub(last.elapsed()));
            }
            self.look();
            if self.ready.is_empty() {
                let is_over = self.settings.ends && !self.is_unsettled && !self.is_away;
                return Ok((!is_over || self.records.has_notes()).then(|| self.nothing_new()));
            }
        }
    }

    fn skip_blocks(&mut self, _count: u64) -> Result<u64, SourceError> {
        // what was measured is remembered by file
        Ok(0)
    }

    fn expected_blocks(&self) -> Option<u64> {
        None
    }
}

impl Folder {
    fn nothing_new(&mut self) -> Block {
        self.records.handed_over();
        let accel_m_s2 = ndarray::Array2::zeros((self.format.channels, 0));
        let index = self.next_index;
        let rate = BlockRate::Format;
        Block {
            index,
            started_at: None,
            follows_on: false,
            rate,
            input: None,
            values: None,
            accel_m_s2,
        }
    }

    /// The next snapshot of the file that is being read; `None` once it is at its end.
    fn block_of_current(&mut self) -> Option<Block> {
        let current = self.current.as_mut()?;
        match current.source.next_block() {
            Ok(Some(block)) => {
                let rate = current.source.format().sample_rate;
                let started_at =
                    current.started_at(&block, &self.settings.options, self.records.count());
                let ahead = self.ahead.note_of_time(&self.settings.name, &current.path, started_at);
                let input = current.input(&block, &self.settings.options, ahead);
                let order = current.order.clone();
                let index = self.next_index;
                self.next_index += 1;
                let is_last = current.source.expected_blocks() == Some(block.index + 1);
                self.records.measured(current.number, self.next_index, is_last);
                if is_last {
                    self.current = None;
                }
                let block = match order {
                    Some(order) => channel_order::in_order(block, &order),
                    None => block,
                };
                Some(Block {
                    index,
                    started_at: Some(started_at),
                    follows_on: false,
                    rate: BlockRate::Stated(rate),
                    input,
                    ..block
                })
            }
            Ok(None) => {
                self.records.ended(current.number, self.next_index);
                self.current = None;
                None
            }
            Err(error) => {
                let number = current.number;
                self.current = None;
                self.set_aside(number, &error, None);
                None
            }
        }
    }

    /// Opens a file and goes to its first snapshot that is not measured yet.
    fn open(&mut self, ready: Ready) {
        let Ready { number, path, dated } = ready;
        let grown_from = self.records.grown_from(number).unwrap_or(0);
        let opened = open_new_part(&path, &self.settings.options, grown_from);
        if !self.records.is_in_place(number) {
            // another file has taken its place since the look, or it was renamed or deleted: what
            // was read may be the other one, and the next look says which is which
            return;
        }
        let (mut source, form) = match opened {
            Ok(source) => {
                let form = (source.format().channels, source.format().sample_rate);
                (source, form)
            }
            Err(NotOpened::NothingNew) => return self.records.ended(number, self.next_index),
            Err(NotOpened::Failed(error)) => return self.set_aside(number, &error, None),
        };
        self.records.set_form(number, form);
        let options = &self.settings.options;
        let is_whole = options.start_s <= 0.0 && options.duration_s.is_none();
        if let (Some(1), Some(samples)) = (source.expected_blocks(), source.format().block_samples)
            && is_whole
        {
            self.records.set_samples(number, grown_from + samples as u64);
        }
        let input = source.interpretation();
        let is_assumed = input.is_some_and(|input| input.is_unit_assumed());
        if is_assumed && !std::mem::replace(&mut self.is_unit_told, true) {
            log::unit_assumed(&self.settings.name, &path);
        }
        if let Some(wrong) = self.other_form(&path, form) {
            self.set_aside(number, &wrong, Some(form));
            return;
        }
        let names = channel_order::names_in(source.interpretation());
        let known = if names.is_empty() { &[][..] } else { self.records.names() };
        let order = match channel_order::order_of(known, &names) {
            Ok(order) => order,
            Err(why) => {
                let error = SourceError::malformed(&path, why);
                return self.set_aside(number, &error, None);
            }
        };
        if order.is_some() {
            log::other_order(&self.settings.name, &path);
        }
        if !names.is_empty() {
            self.records.set_names(number, names);
        }
        let done = self.records.blocks(number);
        if let Err(error) = source.skip_blocks(done) {
            return self.set_aside(number, &error, None);
        }
        let grown_s = grown_from as f64 / form.1.get();
        self.current =
            Some(Current { number, path, dated, grown_s, source, elapsed_s: 0.0, order });
    }

    /// Returns why a file does not belong to the others. The form of most files counts, so a few
    /// odd files decide nothing, even if they come first.
    fn other_form(&mut self, path: &Path, form: Form) -> Option<SourceError> {
        let least = self.settings.least_channels;
        if form.0 < least {
            let what = format!("{} channel(s), but channel {} is measured", form.0, least - 1);
            return Some(SourceError::malformed(path, what));
        }
        let of_most = self.records.form_of_most(least).unwrap_or(form);
        if self.form.is_some_and(|before| !is_same_form(before, of_most)) {
            log::form_changed(&self.settings.name, of_most);
            self.read_again(of_most);
        }
        self.form = Some(of_most);
        self.format.channels = of_most.0;
        self.format.sample_rate = of_most.1;
        (!is_same_form(form, of_most)).then(|| {
            let what = format!(
                "{} channel(s) at {}, but most files of the folder have {} at {}",
                form.0, form.1, of_most.0, of_most.1
            );
            SourceError::malformed(path, what)
        })
    }

    /// Reads the files that were set aside for their form alone, which is that of most files now.
    fn read_again(&mut self, form: Form) {
        let zone = self.settings.options.zone;
        for (number, path, changed_ns) in self.records.set_aside_with(form) {
            self.records.reconsider(number);
            self.ready.push_back(ready(number, path, changed_ns, zone));
        }
    }

    fn set_aside(&mut self, number: u64, error: &SourceError, form: Option<Form>) {
        let is_later = match error {
            // renamed or deleted since the look: the next look says which
            SourceError::Missing { .. } => return,
            // no right to read, or a share that is away: tried again at every look
            SourceError::Io { .. } => !self.settings.ends,
            SourceError::Malformed { .. }
            | SourceError::NothingReadable { .. }
            | SourceError::Options { .. }
            | SourceError::Failed { .. } => false,
        };
        let why = error.to_string();
        if self.records.set_aside(number, self.next_index, why, (form.is_some(), !is_later)) {
            log::set_aside(&self.settings.name, error);
        }
        self.tell();
    }

    /// Brings the remark about the folder up to date.
    fn tell(&self) {
        let (count, last) = self.records.aside();
        match last {
            Some(last) => {
                let files = if count == 1 { "file is" } else { "files are" };
                let text = format!("{count} {files} set aside and not measured, the last: {last}");
                self.remarks.set(&self.settings.name, "files", text);
            }
            None => self.remarks.withdraw(&self.settings.name, "files"),
        }
    }

    /// Learns the form of a folder of which nothing is known from the files that are there, so that
    /// the first one does not decide for all.
    fn learn_form(&mut self, came: &[Ready]) {
        if self.form.is_some() || came.len() < 2 {
            return;
        }
        for ready in came.iter().take(FORM_FILES) {
            // a file that cannot be opened is set aside when its turn comes
            if let Ok(source) = open_recording(&ready.path, &self.settings.options) {
                let format = source.format();
                self.records.set_form(ready.number, (format.channels, format.sample_rate));
            }
        }
    }
}

fn ready(number: u64, path: PathBuf, changed_ns: i64, zone: LocalZone) -> Ready {
    let dated = dated(&path, changed_ns, zone);
    Ready { number, path, dated }
}

#[cfg(test)]
mod tests;
