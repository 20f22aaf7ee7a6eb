//! `pdm-lake import`: events that come as JSON lines, such as `pdm-edge replay --jsonl` prints them
//! of recordings.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use pdm_service::exit::{Exit, Failure, exit_of_input};
use pdm_service::shutdown;
use pdm_shared::bounds::MAX_EVENT_BYTES;
use pdm_shared::event::Event;

use super::export::begin_as;
use super::{ArchiverArgs, LakeArgs, bytes_for_people};
use crate::archive::Input;
use crate::day::Day;
use crate::order::{Order, SLICE_END_SCHEMA, SliceEnd};
use crate::spill::Spill;

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-edge replay captures/ --jsonl | pdm-lake import - --lake /archive/pdm
  pdm-edge replay run.csv --rate 25600 --rpm 1480 --bearing 6205 --period 600 \\
      --start 2025-01-01T00:00:00Z --equipment P-101 --bearing-name DE --jsonl | pdm-lake import - \
    --lake /archive/pdm

The lines are pdm.slice/1 (docs/slice.md): each bearing in one run and in order. Everything is \
    read and checked \
before a row is archived; an event that the archive has already is left out by its identity.")]
pub(super) struct Options {
    /// JSON lines (`-` for standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    lake: LakeArgs,
    #[command(flatten)]
    archiver: ArchiverArgs,
    /// What the archive knows this history by
    #[arg(long, value_name = "NAME", default_value = "import")]
    source: String,
    /// Take the events of several bearings in turn, as a gateway sends them
    #[arg(long)]
    interleaved: bool,
    /// Demand the last record of a slice
    #[arg(long)]
    whole: bool,
}

pub(super) async fn run(options: &Options) -> anyhow::Result<Exit> {
    let stop = shutdown::on_signal()?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if options.source.is_empty() || !options.source.chars().all(is_name) {
        let told =
            anyhow::anyhow!("--source {:?}: letters, digits, '-', '_' and '.'", options.source);
        return Err(Failure::new(Exit::Usage, told).into());
    }
    // everything is checked before anything is written
    let spill = read(options)?;
    let days: Vec<Day> = spill.days().keys().copied().collect();
    let input = Input::Lines(spill);
    let place = options.lake.make()?;
    let adopting = ArchiverArgs { adopt: true, ..options.archiver };
    let archiver = begin_as(&place, &options.source, adopting, stop).await?;
    let began = Instant::now();
    let (mut rows, mut bytes) = (0, 0);
    let mut done = Ok(());
    for day in days {
        match archiver.archive_day(&input, day, &BTreeMap::new()).await {
            Ok(of_day) => {
                rows += of_day.rows.get("events").copied().unwrap_or(0);
                bytes += of_day.bytes;
            }
            Err(error) => {
                done = Err(error);
                break;
            }
        }
    }
    archiver.turn.end().await?;
    done?;
    let mut out = pdm_service::command_line::stdout();
    let seconds = began.elapsed().as_secs_f64();
    writeln!(out, "{rows} events archived, {}, {seconds:.1} s", bytes_for_people(bytes))?;
    Ok(Exit::Ok)
}

/// Reads and checks all lines.
fn read(options: &Options) -> anyhow::Result<Spill> {
    let name = options.file.display().to_string();
    let reader: Box<dyn BufRead> = if options.file == Path::new("-") {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        let opened = File::open(&options.file).map_err(|error| {
            let exit = exit_of_input(&error);
            Failure::new(exit, anyhow::anyhow!("cannot read {name}: {error}"))
        })?;
        Box::new(BufReader::new(opened))
    };
    let name = if name == "-" { "standard input".to_owned() } else { name };
    let mut lines = Lines { reader, name, number: 0 };
    let mut order = Order::new(options.interleaved);
    let mut spill = Spill::new()?;
    let mut end: Option<u64> = None;
    while let Some(text) = lines.next()? {
        if let Some(line) = end {
            return Err(lines.wrong(&format!("the slice ended on line {line}")).into());
        }
        if text.contains(SLICE_END_SCHEMA) {
            let last: SliceEnd =
                serde_json::from_str(&text).map_err(|error| lines.wrong(&error.to_string()))?;
            if (last.events, last.bearings) != (order.events, order.bearings()) {
                let told = format!(
                    "the last record counts {} events of {} bearings, read were {} of {}",
                    last.events,
                    last.bearings,
                    order.events,
                    order.bearings()
                );
                return Err(lines.wrong(&told).into());
            }
            end = Some(lines.number);
            continue;
        }
        let event: Event = serde_json::from_str(&text)
            .map_err(|error| lines.wrong(&format!("not an event (pdm.event/1): {error}")))?;
        event.check().map_err(|error| lines.wrong(&error.to_string()))?;
        order.take(&event, lines.number).map_err(|told| lines.wrong(&told))?;
        let day = Day::of_ms(event.measured_at.unix_ms());
        let day = day.ok_or_else(|| lines.wrong("its day is in no calendar"))?;
        spill.put(day, &text)?;
    }
    if options.whole && end.is_none() {
        return Err(lines.wrong("there is no last record: the slice was cut").into());
    }
    if order.events == 0 {
        return Err(lines.wrong("there is no event").into());
    }
    spill.flush()?;
    Ok(spill)
}

/// Lines of bounded length with their numbers.
struct Lines {
    reader: Box<dyn BufRead>,
    name: String,
    number: u64,
}

impl Lines {
    /// The next line that is not empty.
    fn next(&mut self) -> Result<Option<String>, Failure> {
        loop {
            let mut bytes = Vec::new();
            let most = MAX_EVENT_BYTES as u64 + 1;
            let read = self.reader.by_ref().take(most).read_until(b'\n', &mut bytes);
            let read = read.map_err(|error| Failure::new(Exit::Io, error))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if bytes.len() as u64 >= most && !bytes.ends_with(b"\n") {
                return Err(self.wrong(&format!("longer than {MAX_EVENT_BYTES} bytes")));
            }
            let text = String::from_utf8(bytes).map_err(|_| self.wrong("not UTF-8"))?;
            if !text.trim().is_empty() {
                return Ok(Some(text));
            }
        }
    }

    fn wrong(&self, told: &str) -> Failure {
        Failure::new(Exit::BadInput, anyhow::anyhow!("{}, line {}: {told}", self.name, self.number))
    }
}
