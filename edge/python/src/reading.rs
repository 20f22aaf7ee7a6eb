//! Files, read by the gateway's own readers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_edge::analysis::ReadChannel;
use pdm_edge::source::{
    Block, Calibration, Interpretation, Preferred, RecordingOptions, Source, SourceError,
    open_recording, open_sequence,
};
use pdm_edge::tabular::Decimal;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;
use pyo3::prelude::*;

use crate::errors::{input, reading};
use crate::samples::{Meaning, Samples, calibration, rate};

/// Which part of a file, and what a person states of it, as Python gives it.
#[derive(Debug, FromPyObject)]
pub(crate) struct FileOptions {
    #[pyo3(item)]
    rate_hz: Option<f64>,
    #[pyo3(item)]
    meaning: Meaning,
    #[pyo3(item)]
    channels: Vec<usize>,
    #[pyo3(item)]
    variable: Option<String>,
    #[pyo3(item)]
    start_s: f64,
    #[pyo3(item)]
    duration_s: Option<f64>,
    #[pyo3(item)]
    prefer: Option<String>,
    #[pyo3(item)]
    decimal: Option<String>,
    #[pyo3(item)]
    started_at_ms: Option<i64>,
    #[pyo3(item)]
    period_s: Option<f64>,
}

impl FileOptions {
    fn checked(&self) -> PyResult<RecordingOptions> {
        let named = |name: &str, e: String| input(format!("{name}={e}"));
        let prefer = self.prefer.as_deref().map(str::parse::<Preferred>).transpose();
        let decimal = self.decimal.as_deref().map(str::parse::<Decimal>).transpose();
        let started_at = self.started_at_ms.map(crate::samples::instant).transpose()?;
        Ok(RecordingOptions {
            sample_rate: self.rate_hz.map(rate).transpose()?,
            channels: self.channels.clone(),
            calibrations: vec![calibration(&self.meaning)?],
            variable: self.variable.clone(),
            snapshot: None,
            start_s: self.start_s,
            duration_s: self.duration_s,
            started_at,
            period_s: self.period_s,
            prefer: prefer.map_err(|e| named("prefer", e))?,
            decimal: decimal.map_err(|e| named("decimal", e.to_string()))?,
            zone: pdm_edge::tabular::LocalZone::default(),
        })
    }
}

/// Refuses counts of a converter without a scale. To the readers a unit says what a count is; here
/// every call states a unit, so that it says nothing of counts.
fn refuse_counts(paths: &[PathBuf], options: &RecordingOptions) -> Result<(), SourceError> {
    if options.calibrations.iter().any(Calibration::states_scale) {
        return Ok(());
    }
    let without_unit = RecordingOptions { calibrations: Vec::new(), ..options.clone() };
    match open_sequence(paths, &without_unit) {
        // other refusals are those of the missing unit, which the caller has stated
        Err(SourceError::Options { path, what }) if what.contains("counts cannot be g") => {
            Err(SourceError::Options { path, what })
        }
        _ => Ok(()),
    }
}

/// One snapshot of a file.
#[pyfunction]
pub(crate) fn read(
    py: Python<'_>,
    path: PathBuf,
    options: FileOptions,
    snapshot: u64,
) -> PyResult<Samples> {
    let options = RecordingOptions { snapshot: Some(snapshot), ..options.checked()? };
    let name = file_name(&path);
    let written = written_at(&path);
    let first = py.detach(|| {
        refuse_counts(std::slice::from_ref(&path), &options)?;
        let mut source = open_recording(&path, &options)?;
        Ok::<_, SourceError>(source.next_block()?.map(|block| taken(source.as_ref(), block)))
    });
    let Some((channels, rate, started_at)) = first.map_err(|e| reading(&e))? else {
        return Err(input(format!("{}: the file has no samples", path.display())));
    };
    Ok(Samples { channels, rate, name, measured_at: started_at.unwrap_or(written) })
}

/// Every snapshot of files or folders, in the order of time; at most `most` of them.
#[pyfunction]
pub(crate) fn read_sequence(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: FileOptions,
    most: Option<usize>,
) -> PyResult<Vec<Samples>> {
    let options = options.checked()?;
    let written = paths.first().map_or(Timestamp::EPOCH, |path| written_at(path));
    let name = paths.first().map_or_else(String::new, |path| file_name(path));
    let blocks = py.detach(|| {
        refuse_counts(&paths, &options)?;
        let mut source = open_sequence(&paths, &options)?;
        let mut blocks = Vec::new();
        while most.is_none_or(|most| blocks.len() < most)
            && let Some(block) = source.next_block()?
        {
            blocks.push(taken(source.as_ref(), block));
        }
        Ok::<_, SourceError>(blocks)
    });
    let period_s = options.period_s.unwrap_or(0.0);
    let named = |(index, (channels, rate, started_at)): (usize, Taken)| {
        let by_period = written.plus_seconds(period_s * index as f64);
        let name = format!("{name}#{index}");
        Samples { channels, rate, name, measured_at: started_at.unwrap_or(by_period) }
    };
    Ok(blocks.map_err(|e| reading(&e))?.into_iter().enumerate().map(named).collect())
}

/// What `analyze` says of a recording that neither its file nor a person dates; a test holds both
/// together.
const LAST_CHANGE: &str = "dated by the file's last change";

/// Channels, their rate, the time of their first sample.
type Taken = (Vec<ReadChannel>, SampleRate, Option<Timestamp>);

fn taken(source: &dyn Source, block: Block) -> Taken {
    let rate = block.rate.own().unwrap_or(source.format().sample_rate);
    let input = block.input.or_else(|| source.interpretation().map(Arc::clone));
    let input = match input {
        Some(input) if block.started_at.is_none() => Some(Arc::new(undated(&input))),
        input => input,
    };
    let channel = |(at, row): (usize, ndarray::ArrayView1<'_, f64>)| ReadChannel {
        accel_m_s2: row.to_vec(),
        rate,
        input: input.as_ref().map(|input| (Arc::clone(input), at)),
    };
    let channels = block.accel_m_s2.outer_iter().enumerate().map(channel).collect();
    (channels, rate, block.started_at)
}

/// Says that nothing in the file dates it.
fn undated(input: &Interpretation) -> Interpretation {
    let mut input = input.clone();
    input.notes.push(LAST_CHANGE.to_owned());
    input
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Time of the last write to the file: of the times that a file has, the nearest to the
/// measurement.
fn written_at(path: &Path) -> Timestamp {
    let written = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    written.ok().and_then(|at| Timestamp::of(at.into())).unwrap_or(Timestamp::EPOCH)
}
