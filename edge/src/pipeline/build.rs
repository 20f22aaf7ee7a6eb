//! Opening the sources and fitting them to their settings and to what the spool remembers.

use std::collections::BTreeMap;
use std::sync::Arc;

use pdm_service::clock::SharedClock;
use tokio::sync::{mpsc, watch};

use super::looks::Turn;
use super::measurer::{Measurer, Relearners, position_key};
use super::place::Place;
use super::point::Point;
use super::position::{Position, Times};
use super::queue::{Queue, WhenFull};
use super::reader::Reader;
use super::tools::Tools;
use super::{Progress, Relearning, StartError, relearn};
use crate::event_log;
use crate::settings::{EdgeSettings, Pace, SourceSettings};
use crate::source::{Block, Source, SourceFormat};
use crate::spool::Batch;
use crate::window::{Cut, Windower};

/// Bytes of samples that may wait in a queue. Chosen: 8 channels at 25.6 kHz then wait for five
/// seconds in 8 MiB.
const QUEUE_BYTES: usize = 8 << 20;
/// Fewest blocks of a queue, so that one can be read while another is measured.
const LEAST_BLOCKS: usize = 2;
/// Most blocks of a queue.
const MOST_BLOCKS: usize = 64;
/// Most blocks of a recording that are measured at once: their events are one commit.
const MEASURED_BLOCKS: usize = 32;
/// Bytes of samples of a live source that are measured at once: a second of 8 channels at 25.6 kHz.
/// What waits is then not held twice.
const MEASURED_BYTES: usize = 2 << 20;

/// A source that is ready to run.
pub(super) struct Built {
    pub(super) name: String,
    pub(super) reader: Reader,
    pub(super) measurer: Box<dyn FnOnce(mpsc::Sender<Batch>) -> Measurer + Send>,
    pub(super) queue: Arc<Queue<Block>>,
}

/// What a gateway measures, as `equipment/bearing`.
pub(crate) fn bearings(settings: &EdgeSettings) -> Vec<String> {
    let mut names: Vec<String> = settings
        .sources
        .iter()
        .flat_map(|source| &source.points)
        .map(|point| relearn::name(&point.equipment, &point.bearing))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Opens every source and restores what `memory` holds of it. Blocks on files and devices.
pub(super) fn sources(
    settings: &EdgeSettings,
    memory: &BTreeMap<String, Vec<u8>>,
    clock: &SharedClock,
    progress: &watch::Sender<Progress>,
    relearning: &Relearning,
) -> Result<Vec<Built>, StartError> {
    let mut built = Vec::new();
    let mut expected = Some(0);
    let turn = Turn::default();
    for source in &settings.sources {
        let opened = (source.open)().map_err(|source_error| StartError::Source {
            name: source.name.clone(),
            source: source_error,
        })?;
        let blocks = opened.expected_blocks();
        let remembered = |key: String| memory.get(&key).map(Vec::as_slice);
        let around = Around { settings, clock, progress, relearning, turn: &turn };
        built.push(build(&around, source, opened, &remembered)?);
        expected = expected.zip(blocks).map(|(sum, blocks)| sum + blocks);
    }
    progress.send_modify(|progress| progress.expected_blocks = expected);
    Ok(built)
}

fn unfit(source: &SourceSettings, reason: impl Into<String>) -> StartError {
    StartError::Unfit { name: source.name.clone(), reason: reason.into() }
}

/// What every source of an edge shares.
struct Around<'a> {
    settings: &'a EdgeSettings,
    clock: &'a SharedClock,
    progress: &'a watch::Sender<Progress>,
    relearning: &'a Relearning,
    turn: &'a Turn,
}

fn build<'m>(
    around: &Around<'_>,
    source: &SourceSettings,
    opened: Box<dyn Source>,
    remembered: &dyn Fn(String) -> Option<&'m [u8]>,
) -> Result<Built, StartError> {
    let Around { settings, clock, progress, relearning, turn } = *around;
    let format = opened.format().clone();
    let cut = cut(source, &format)?;
    let windower = Windower::new(cut, &format).map_err(|error| unfit(source, error.to_string()))?;
    let position = position(source, opened.as_ref(), remembered, clock);
    let asked = source.points.iter().map(|point| point.channel);
    let asked = asked.chain(source.tachometer.map(|tachometer| tachometer.channel));
    if let Some(channel) = asked.max().filter(|channel| *channel >= format.channels) {
        let reason = format!("channel {channel} is asked for, it has {}", format.channels);
        return Err(unfit(source, reason));
    }
    let mut points = Vec::new();
    let is_live = source.pace == Pace::Live;
    let tools = if is_live { Tools::live(turn) } else { Tools::default() };
    for point in &source.points {
        let (gateway, site) = (settings.gateway.clone(), settings.site.clone());
        let mut made =
            Point::new(point.clone(), gateway, site, format.sample_rate).with_tools(tools.clone());
        if let Some(memory) = remembered(relearn::memory_key(&source.name, point.channel))
            && let Err(error) = made.restore(memory)
        {
            event_log::memory_lost(&error);
        }
        points.push(made);
    }
    let most_blocks = if is_live { blocks_in(MEASURED_BYTES, &format) } else { MEASURED_BLOCKS };
    let queue = Arc::new(queue(source, &format));
    let reader = Reader {
        name: source.name.clone(),
        open: Arc::clone(&source.open),
        source: opened,
        pace: source.pace,
        period_s: source.timing.period_s,
        skip: position.block,
        queue: Arc::clone(&queue),
        progress: progress.clone(),
    };
    let times = Times::new(source, &position, clock.now());
    let place = Place::new(cut, position);
    let every_s = source.every.map_or(0.0, |every| every.as_secs_f64());
    let (name, clock, progress) = (source.name.clone(), Arc::clone(clock), progress.clone());
    let tachometer = source.tachometer;
    let relearners = Relearners::of(relearning.clone(), &source.points);
    let measured = Arc::clone(&queue);
    let measurer = Box::new(move |batches| Measurer {
        name,
        queue: measured,
        windower,
        place,
        times,
        rate: format.sample_rate,
        every_s,
        is_live,
        most_blocks,
        tachometer,
        points,
        tools,
        relearners,
        clock,
        batches,
        progress,
    });
    Ok(Built { name: source.name.clone(), reader, measurer, queue })
}

fn cut(source: &SourceSettings, format: &SourceFormat) -> Result<Cut, StartError> {
    let Some(window) = source.window else { return Ok(Cut::Whole) };
    let samples = (window.as_secs_f64() * format.sample_rate.get()).round() as usize;
    if samples == 0 {
        return Err(unfit(source, format!("a window of {window:?} has no sample")));
    }
    Ok(Cut::Equal { samples, hop: samples })
}

fn position<'m>(
    source: &SourceSettings,
    opened: &dyn Source,
    remembered: &dyn Fn(String) -> Option<&'m [u8]>,
    clock: &SharedClock,
) -> Position {
    let format = opened.format();
    let block_s = format.block_samples.map(|samples| samples as f64 / format.sample_rate.get());
    let beginning = Position::beginning(source, opened.expected_blocks(), block_s, clock.now());
    if source.pace == Pace::Live {
        return beginning;
    }
    match remembered(position_key(&source.name)).map(serde_json::from_slice::<Position>) {
        Some(Ok(position)) => position,
        Some(Err(error)) => {
            event_log::memory_lost(&error);
            beginning
        }
        None => beginning,
    }
}

fn queue(source: &SourceSettings, format: &SourceFormat) -> Queue<Block> {
    let blocks = blocks_in(QUEUE_BYTES, format).max(LEAST_BLOCKS);
    let when_full = if source.pace == Pace::Live { WhenFull::DropOldest } else { WhenFull::Block };
    Queue::new(blocks, when_full)
}

/// How many blocks so many bytes hold, from 1 to [`MOST_BLOCKS`].
fn blocks_in(bytes: usize, format: &SourceFormat) -> usize {
    let block_bytes = format
        .block_samples
        .unwrap_or(format.sample_rate.get() as usize)
        .saturating_mul(format.channels)
        .saturating_mul(size_of::<f64>());
    (bytes / block_bytes.max(1)).clamp(1, MOST_BLOCKS)
}
