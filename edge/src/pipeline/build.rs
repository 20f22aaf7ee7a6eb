//! Opening the sources, and fitting them to their settings and to the memory in the spool.

use std::collections::BTreeMap;
use std::sync::Arc;

use pdm_service::clock::SharedClock;
use tokio::sync::{mpsc, watch};

use super::fft_plans::FftPlans;
use super::left_out::LeftOut;
use super::looks::Turn;
use super::measurer::{Folder, Measurer, Relearners};
use super::next_window::NextWindow;
use super::point::{Point, memory_key, pasts_key};
use super::position::{BlockTimes, Position, position_key};
use super::queue::{Queue, WhenFull};
use super::reader::Reader;
use super::repeats::Repeats;
use super::timing::ClockWatch;
use super::{StartError, log};
use crate::capture::{CapturePoint, CaptureStart, Tap};
use crate::progress::Progress;
use crate::relearning::Relearning;
use crate::remarks::Remarks;
use crate::settings::{EdgeSettings, Pace, SourceSettings};
use crate::source::folder::{FolderLedger, FolderSettings, watch_folder};
use crate::source::speed_tag::SpeedTag;
use crate::source::{Block, Source, SourceError, SourceFormat, SourceHost, SourceInput};
use crate::spool::Batch;
use crate::window::{Cut, Windower};

/// Bytes of samples that may wait in a queue: 8 channels at 25.6 kHz, 8 bytes a sample, fill 8 MiB
/// in five seconds. A commit that the disk holds up for less loses no block of a live source.
const QUEUE_BYTES: usize = 8 << 20;
/// Fewest blocks of a queue, so that one block can be read while another is measured.
const LEAST_BLOCKS: usize = 2;
/// Most blocks of a queue. Short blocks would otherwise make a queue of thousands, each with the
/// overhead of an allocation.
const MOST_BLOCKS: usize = 64;
/// Most blocks of a recording that are measured at once. Their events are one commit, so one fsync
/// serves 32 windows.
const MEASURED_BLOCKS: usize = 32;
/// Bytes of samples of a live source that are measured at once: a second of 8 channels at 25.6 kHz
/// (1.6 MB). A larger share would hold the samples of a full queue twice, as blocks and as windows.
const MEASURED_BYTES: usize = 2 << 20;

/// A source that is ready to run.
pub(super) struct Built {
    pub(super) name: String,
    pub(super) reader: Reader,
    /// Makes the measurer once the channel to the committer exists.
    pub(super) measurer: Box<dyn FnOnce(mpsc::Sender<Batch>) -> Measurer + Send>,
    pub(super) queue: Arc<Queue<Block>>,
}

/// How a folder without a readable recording is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// A service measures its other sources.
    LeaveOut,
    /// A command has nothing to do.
    Fail,
}

/// Opens every source and restores the memory that the spool holds of it. Blocks on files and
/// devices.
pub(super) fn sources(
    settings: &EdgeSettings,
    memory: &BTreeMap<String, Vec<u8>>,
    shared: &Shared<'_>,
    unreadable: Unreadable,
) -> Result<Vec<Built>, StartError> {
    let mut built = Vec::new();
    let mut expected = Some(0);
    let (turn, clock_watch) = (&Turn::default(), &ClockWatch::new(shared.clock));
    let builder = Builder { settings, memory, shared, turn, clock_watch };
    for source in &settings.sources {
        let opened = match builder.open(source, unreadable) {
            Ok(opened) => opened,
            // a folder is filled by other programs: its files must not keep the edge from starting
            Err(error @ SourceError::NothingReadable { .. })
                if unreadable == Unreadable::LeaveOut =>
            {
                log::source_left_out(&source.name, &error);
                continue;
            }
            Err(error) => {
                return Err(StartError::Source { name: source.name.clone(), source: error });
            }
        };
        let blocks = opened.source.expected_blocks();
        built.push(builder.build(source, opened)?);
        expected = expected.zip(blocks).map(|(sum, blocks)| sum + blocks);
    }
    shared.progress.send_modify(|progress| progress.expected_blocks = expected);
    Ok(built)
}

/// The parts that all sources of an edge share.
pub(super) struct Shared<'a> {
    pub(super) clock: &'a SharedClock,
    pub(super) progress: &'a watch::Sender<Progress>,
    pub(super) relearning: &'a Relearning,
    pub(super) remarks: &'a Remarks,
    /// Where samples go for captures; `None`: nothing is captured.
    pub(super) captures: Option<&'a CaptureStart>,
}

/// A source that is open, and its notes if it is a watched folder.
struct Opened {
    source: Box<dyn Source>,
    ledger: Option<FolderLedger>,
}

/// The values that all sources of an edge share.
struct Builder<'a> {
    settings: &'a EdgeSettings,
    memory: &'a BTreeMap<String, Vec<u8>>,
    shared: &'a Shared<'a>,
    turn: &'a Turn,
    clock_watch: &'a ClockWatch,
}

impl Builder<'_> {
    /// Opens a source. Only a service watches a folder: a command that ends reads what is there.
    fn open(&self, source: &SourceSettings, unreadable: Unreadable) -> Result<Opened, SourceError> {
        let plain = |source| Opened { source, ledger: None };
        let SourceInput::Watched { files, options, every } = &source.input else {
            return source.input.open_at(&self.host(source)).map(plain);
        };
        if unreadable == Unreadable::Fail || files.iter().all(|file| file.is_file()) {
            return source.input.open_at(&self.host(source)).map(plain);
        }
        let inherited = self.memory.get(&position_key(&source.name));
        let inherited = inherited.and_then(|json| serde_json::from_slice::<Position>(json).ok());
        let settings = FolderSettings {
            name: source.name.clone(),
            paths: files.clone(),
            options: (**options).clone(),
            least_channels: channels_of(source),
            every: *every,
            ends: self.settings.until_done,
            inherited: inherited.map_or(0, |position| position.block),
        };
        let clock = Arc::clone(self.shared.clock);
        watch_folder(settings, self.memory, clock, self.shared.remarks.clone())
            .map(|(source, ledger)| Opened { source, ledger: Some(ledger) })
    }

    fn host(&self, source: &SourceSettings) -> SourceHost {
        SourceHost {
            clock: Arc::clone(self.shared.clock),
            name: source.name.clone(),
            remarks: self.shared.remarks.clone(),
        }
    }

    fn build(&self, source: &SourceSettings, opened: Opened) -> Result<Built, StartError> {
        let Opened { source: opened, ledger } = opened;
        let format = opened.format().clone();
        check_channels(source, &format)?;
        let cut = cut(source, &format)?;
        let windower =
            Windower::new(cut, &format).map_err(|error| unfit(source, error.to_string()))?;
        let position = self.position(source, opened.as_ref());
        let is_live = source.pace == Pace::Live;
        let plans = if is_live { FftPlans::live(self.turn) } else { FftPlans::default() };
        let tag = self.speed_tag(source)?;
        let mut points = self.points(source, &format, &plans, tag.as_ref());
        if is_live {
            points.iter_mut().for_each(Point::watch_repeats);
        }
        let clock_watch = is_live.then(|| self.clock_watch_of(&points));
        let times = BlockTimes::new(source, &position, self.shared.clock.now());
        let queue = Arc::new(queue(source, &format));
        let reader = self.reader(source, opened, position.block, &queue, ledger.is_some());
        let names = source.points.iter().map(|point| self.settings.key(point).within_site());
        let relearners = Relearners::of(self.shared.relearning.clone(), names);
        let (name, clock) = (source.name.clone(), Arc::clone(self.shared.clock));
        let (measured, progress) = (Arc::clone(&queue), self.shared.progress.clone());
        let folder = ledger.map(|ledger| Folder { ledger, window: source.window });
        let remarks = self.shared.remarks.clone();
        let (every, tachometer) = (source.every, source.tachometer);
        let tap = self.tap(source, &format);
        let length_s = source.window.map(|window| window.as_secs_f64());
        let window = (format.sample_rate.get(), length_s);
        let left_out = LeftOut::new(source.name.clone(), remarks.clone(), window);
        let measurer = Box::new(move |batches| Measurer {
            name,
            queue: measured,
            windower,
            left_out,
            repeats: Repeats::default(),
            next: NextWindow::new(cut, position),
            times,
            rate: format.sample_rate,
            folder,
            every_s: every.map_or(0.0, |every| every.as_secs_f64()),
            is_live,
            most_blocks: most_blocks(is_live, tap.is_some(), &format),
            tachometer,
            points,
            plans,
            relearners,
            tap,
            clock,
            clock_watch,
            batches,
            remarks,
            is_frozen: false,
            is_without_time: false,
            logged_input: None,
            progress,
        });
        Ok(Built { name: source.name.clone(), reader, measurer, queue })
    }

    /// The watch of the gateway's clock, which knows when these points were measured last.
    fn clock_watch_of(&self, points: &[Point]) -> ClockWatch {
        let watch = self.clock_watch.clone();
        for point in points {
            watch.remember(point.last_at());
        }
        watch
    }

    /// The speed tag of a source, followed from now on.
    fn speed_tag(&self, source: &SourceSettings) -> Result<Option<SpeedTag>, StartError> {
        let tag = source.speed_tag.as_ref();
        let tag = tag.map(|tag| SpeedTag::follow(tag, self.host(source))).transpose();
        tag.map_err(|error| StartError::Source { name: source.name.clone(), source: error })
    }

    /// Returns where the samples of a source go for captures; `None` for a source that gives values
    /// without samples.
    fn tap(&self, source: &SourceSettings, format: &SourceFormat) -> Option<Tap> {
        let captures = self.shared.captures.filter(|_| source.input.has_samples())?;
        let points = source.points.iter().map(|point| CapturePoint {
            source: source.name.clone(),
            channel: point.channel,
            equipment: point.equipment.clone(),
            bearing: point.bearing.clone(),
            measuring_point: point.measuring_point.clone(),
            orders: point.orders,
            order_tolerance: point.order_tolerance,
            estimated_for: point.estimate.as_ref().map(|estimate| estimate.bearing.clone()),
            speed_rpm: point.speed.get(),
            speed_tolerance: point.speed_tolerance,
            sensitivity_mv_per_g: source.input.sensitivity_mv_per_g(point.channel),
            rate_hz: format.sample_rate.get(),
        });
        let is_live = source.pace == Pace::Live;
        Some(captures.tap(&source.name, points.collect(), is_live))
    }

    /// The points of a source, each with its memory. A point whose memory cannot be decoded starts
    /// without memory.
    fn points(
        &self,
        source: &SourceSettings,
        format: &SourceFormat,
        plans: &FftPlans,
        tag: Option<&SpeedTag>,
    ) -> Vec<Point> {
        let make = |settings: &crate::settings::PointSettings| {
            let (gateway, site) = (self.settings.gateway.clone(), self.settings.site.clone());
            let mut point = Point::new(settings.clone(), gateway, site, format.sample_rate)
                .with_plans(plans.clone())
                .with_tag(tag.cloned());
            if let Some(memory) = self.memory.get(&memory_key(&source.name, settings.channel))
                && let Err(error) = point.restore(memory)
            {
                log::memory_lost(&error);
            }
            if let Some(kept) = self.memory.get(&pasts_key(&source.name, settings.channel))
                && let Err(error) = point.restore_pasts(kept)
            {
                log::memory_lost(&error);
            }
            point
        };
        let estimates = source.points.iter().filter_map(|point| point.estimate.as_ref());
        log::orders_estimated(&source.name, estimates);
        source.points.iter().map(make).collect()
    }

    /// The position after the last window that was committed; the beginning for a live source.
    fn position(&self, source: &SourceSettings, opened: &dyn Source) -> Position {
        let format = opened.format();
        let block_s = format.block_samples.map(|samples| samples as f64 / format.sample_rate.get());
        let beginning =
            Position::beginning(source, opened.expected_blocks(), block_s, self.shared.clock.now());
        if source.pace == Pace::Live {
            return beginning;
        }
        match self.memory.get(&position_key(&source.name)).map(|json| serde_json::from_slice(json))
        {
            Some(Ok(position)) => position,
            Some(Err(error)) => {
                log::memory_lost(&error);
                beginning
            }
            None => beginning,
        }
    }

    fn reader(
        &self,
        source: &SourceSettings,
        opened: Box<dyn Source>,
        skip: u64,
        queue: &Arc<Queue<Block>>,
        is_watched: bool,
    ) -> Reader {
        // files come at their own pace; what waits in the folder is caught up with
        let pace = if is_watched && source.pace == Pace::Times(1.0) {
            Pace::AsFastAsItGoes
        } else {
            source.pace
        };
        Reader {
            name: source.name.clone(),
            input: source.input.clone(),
            host: self.host(source),
            source: opened,
            pace,
            period_s: source.timing.period_s,
            skip,
            queue: Arc::clone(queue),
            progress: self.shared.progress.clone(),
        }
    }
}

fn unfit(source: &SourceSettings, reason: impl Into<String>) -> StartError {
    StartError::Unfit { name: source.name.clone(), reason: reason.into() }
}

/// Refuses settings that name a channel which the source does not have.
fn check_channels(source: &SourceSettings, format: &SourceFormat) -> Result<(), StartError> {
    match channels_of(source) {
        count if count <= format.channels => Ok(()),
        count => {
            let channel = count - 1;
            let reason =
                format!("channel {channel} is measured, but the source has {}", format.channels);
            Err(unfit(source, reason))
        }
    }
}

/// The smallest number of channels that a source must have.
fn channels_of(source: &SourceSettings) -> usize {
    let asked = source.points.iter().map(|point| point.channel);
    let asked = asked.chain(source.tachometer.map(|tachometer| tachometer.channel));
    asked.max().map_or(0, |highest| highest + 1)
}

fn cut(source: &SourceSettings, format: &SourceFormat) -> Result<Cut, StartError> {
    let Some(window) = source.window else { return Ok(Cut::Whole) };
    let samples = (window.as_secs_f64() * format.sample_rate.get()).round() as usize;
    if samples == 0 {
        return Err(unfit(source, format!("a window of {window:?} has no sample")));
    }
    Ok(Cut::Equal { samples, hop: samples })
}

/// Blocks that are measured at once.
fn most_blocks(is_live: bool, is_captured: bool, format: &SourceFormat) -> usize {
    match (is_live, is_captured) {
        (true, _) => blocks_in(MEASURED_BYTES, format),
        (false, false) => MEASURED_BLOCKS,
        // what is measured at once must be in the ring together
        (false, true) => blocks_in(MEASURED_BYTES, format).min(MEASURED_BLOCKS),
    }
}

fn queue(source: &SourceSettings, format: &SourceFormat) -> Queue<Block> {
    let blocks = blocks_in(QUEUE_BYTES, format).max(LEAST_BLOCKS);
    let when_full = if source.pace == Pace::Live { WhenFull::DropOldest } else { WhenFull::Block };
    Queue::new(blocks, when_full)
}

/// Returns the number of blocks in `bytes` bytes, from 1 to [`MOST_BLOCKS`].
fn blocks_in(bytes: usize, format: &SourceFormat) -> usize {
    let block_bytes = format
        .block_samples
        .unwrap_or(format.sample_rate.get() as usize)
        .saturating_mul(format.channels)
        .saturating_mul(size_of::<f64>());
    (bytes / block_bytes.max(1)).clamp(1, MOST_BLOCKS)
}
