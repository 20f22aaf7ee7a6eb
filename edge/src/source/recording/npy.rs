//! NumPy's `.npy` (format versions 1 to 3) and `.npy.gz`.
//!
//! Layout: the magic `\x93NUMPY`, two bytes of version, the length of the header (2 bytes in
//! version 1, else 4, little endian), the header as a Python dictionary
//! `{'descr': '<i2', 'fortran_order': False, 'shape': (3, 122571), }`, then the numbers.
//! Source: NumPy Enhancement Proposal 1.
//!
//! A 3-D array in C order is read snapshot by snapshot and never held whole. Invariants: memory
//! grows with the bytes that were read, not with the shape that a header announces; the last
//! snapshot is handed out after the rest of the file was read, so that a gzip file's checksum
//! holds.

use std::io::Read;
use std::path::{Path, PathBuf};

use ndarray::Array2;

use super::bounds::check_samples;
use super::leaves::LeafContent;
use super::{NumberEncoding, RawRecording, RawSnapshots, SourceError, StatedChannel};

mod header;
mod times;

use header::{Form, Header, Number};

pub(super) use times::{ArrayTimes, times_of};

/// First bytes of the format.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Most channels of a recording. A rack of sensors has fewer than a hundred, a recording more than
/// some thousand samples; so 1024 detects an array of sample × channel.
const MAX_CHANNELS: usize = 1024;

/// Most channels of an array of sample × channel: three axes of ten places and a time. Chosen.
const MOST_TURNED: usize = 32;

/// Fewest samples of an array of sample × channel: chosen, above any rack of sensors, below any
/// recording.
const LEAST_TURNED: usize = 512;

/// Numbers that are decoded at once, so that the bytes of a snapshot are not held beside its
/// numbers.
const PIECE_NUMBERS: usize = 64 << 10;

/// Opens the file and reads its header. `is_gzip` is true if `file` is the content of a gzip file.
pub(super) fn open(
    path: &Path,
    file: Box<dyn Read + Send>,
    is_gzip: bool,
) -> Result<RawRecording, SourceError> {
    let mut reader = file;
    let header = header::read_header(path, &mut reader)?;
    if let [samples, channels] = *header.shape.as_slice()
        && is_turned(samples, channels)
    {
        return turned(path, reader, &header, is_gzip);
    }
    let (snapshots, channels, samples) = axes(path, &header)?;
    let encoding = header.number.encoding();
    let numbers = Numbers { path: path.to_owned(), reader, number: header.number, is_gzip };
    if header.fortran_order {
        return fortran(numbers, (snapshots, channels, samples));
    }
    let left = snapshots as u64;
    let reader = Box::new(InOrder { numbers, channels, samples, left });
    Ok(described(channels, samples, left, encoding, reader))
}

/// Whether a 2-D array is sample × channel: its last axis is as short as a number of channels, and
/// its first is much longer than any.
const fn is_turned(samples: usize, channels: usize) -> bool {
    channels > 0 && channels <= MOST_TURNED && samples >= LEAST_TURNED
}

/// Reads an array of sample × channel, turned.
fn turned(
    path: &Path,
    reader: Box<dyn Read + Send>,
    header: &Header,
    is_gzip: bool,
) -> Result<RawRecording, SourceError> {
    let [samples, channels] = *header.shape.as_slice() else {
        return Err(SourceError::malformed(path, "an array of two axes is turned"));
    };
    let mut numbers = Numbers { path: path.to_owned(), reader, number: header.number, is_gzip };
    let all = numbers.take(product(path, &[samples, channels])?)?;
    numbers.finish()?;
    let data = if header.fortran_order {
        shaped(path, (channels, samples), all)?
    } else {
        shaped(path, (samples, channels), all)?.reversed_axes().as_standard_layout().into_owned()
    };
    // its columns may be times, as those of any table
    let mut recording = RawRecording::whole("array of NumPy", data, None, header.number.encoding());
    recording
        .notes
        .push(format!("shape ({samples}, {channels}) was taken for sample × channel and turned"));
    Ok(recording)
}

/// One array of an archive, of at most two dimensions: numbers, or texts.
pub(super) fn array_of(
    path: &Path,
    content: impl Read + Send + 'static,
) -> Result<LeafContent, SourceError> {
    let mut reader: Box<dyn Read + Send> = Box::new(content);
    let header = match header::read_form(path, &mut reader)? {
        Form::Numbers(header) => header,
        Form::Text { characters, is_big_endian } => {
            return header::texts(path, &mut reader, characters, is_big_endian)
                .map(LeafContent::Text);
        }
    };
    let (rows, columns) = match *header.shape.as_slice() {
        [] => (1, 1),
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => return Ok(LeafContent::Other(format!("an array of shape {:?}", header.shape))),
    };
    let encoding = header.number.encoding();
    let path = path.to_owned();
    let count = product(&path, &[rows, columns])?;
    let mut numbers =
        Numbers { path, reader, number: header.number, is_gzip: false }.take(count)?;
    if !header.fortran_order && columns > 1 {
        let at = |index: usize| numbers[(index % rows) * columns + index / rows];
        numbers = (0..count).map(at).collect();
    }
    Ok(LeafContent::Numbers { rows, columns, numbers, encoding })
}

/// A recording of this shape; an array states nothing of its channels but their encoding.
fn described(
    channels: usize,
    samples: usize,
    snapshots: u64,
    encoding: NumberEncoding,
    reader: Box<dyn RawSnapshots>,
) -> RawRecording {
    let channel = StatedChannel { encoding, ..StatedChannel::default() };
    let channels = vec![channel; channels];
    RawRecording::read_by("NumPy array", channels, (samples, snapshots), reader)
}

/// Snapshots, channels and samples of the array.
fn axes(path: &Path, header: &Header) -> Result<(usize, usize, usize), SourceError> {
    let (snapshots, channels, samples) = match *header.shape.as_slice() {
        [samples] => (1, 1, samples),
        [channels, samples] => (1, channels, samples),
        [snapshots, channels, samples] => (snapshots, channels, samples),
        _ => {
            let what = format!(
                "an array of shape {:?}; allowed are 1-D (samples), 2-D (channel × sample) and 3-D \
                 (snapshot × channel × sample)",
                header.shape
            );
            return Err(SourceError::malformed(path, what));
        }
    };
    if snapshots == 0 || channels == 0 || samples == 0 {
        let what = format!("an array of shape {:?} holds no samples", header.shape);
        return Err(SourceError::malformed(path, what));
    }
    if channels > MAX_CHANNELS {
        let what = format!(
            "shape {:?} would be {channels} channels of {samples} samples; the axis of the samples \
             comes last (at most {MAX_CHANNELS} channels)",
            header.shape
        );
        return Err(SourceError::malformed(path, what));
    }
    Ok((snapshots, channels, samples))
}

/// The numbers behind the header.
struct Numbers {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    number: Number,
    is_gzip: bool,
}

impl Numbers {
    /// The next `count` numbers; an error if the file ends before, or if they are more than fit
    /// into memory.
    fn take(&mut self, count: usize) -> Result<Vec<f64>, SourceError> {
        check_samples(&self.path, count)?;
        let width = self.number.bytes();
        let (mut numbers, mut piece) = (Vec::new(), Vec::new());
        while numbers.len() < count {
            let wanted = (count - numbers.len()).min(PIECE_NUMBERS) * width;
            piece.clear();
            let got = self.reader.by_ref().take(wanted as u64).read_to_end(&mut piece);
            got.map_err(|e| SourceError::from_io(&self.path, e))?;
            numbers.extend(piece.chunks_exact(width).map(|raw| self.number.decode(raw)));
            if piece.len() < wanted {
                let there = numbers.len() * width + piece.len() % width;
                let what = format!(
                    "the {} ends too early: {there} of {} bytes of samples are there",
                    if self.is_gzip { "compressed array" } else { "file" },
                    count * width
                );
                return Err(SourceError::malformed(&self.path, what));
            }
        }
        Ok(numbers)
    }

    /// Reads what follows the last number, so that a damaged end of a gzip file is found.
    fn finish(&mut self) -> Result<(), SourceError> {
        if self.is_gzip {
            let rest = std::io::copy(&mut self.reader, &mut std::io::sink());
            rest.map_err(|e| SourceError::from_io(&self.path, e))?;
        }
        Ok(())
    }

    /// Skips `count` numbers without decoding them.
    fn skip(&mut self, count: usize) -> Result<(), SourceError> {
        let wanted = (count as u64).saturating_mul(self.number.bytes() as u64);
        let passed = std::io::copy(&mut self.reader.by_ref().take(wanted), &mut std::io::sink());
        match passed.map_err(|e| SourceError::from_io(&self.path, e))? {
            passed if passed == wanted => Ok(()),
            _ => {
                Err(SourceError::malformed(&self.path, "the file ends too early: it is truncated"))
            }
        }
    }
}

/// Snapshots in C order.
struct InOrder {
    numbers: Numbers,
    channels: usize,
    samples: usize,
    left: u64,
}

impl RawSnapshots for InOrder {
    fn next_snapshot(&mut self) -> Result<Option<Array2<f64>>, SourceError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let shape = (self.channels, self.samples);
        let numbers = self.numbers.take(product(&self.numbers.path, &[shape.0, shape.1])?)?;
        if self.left == 0 {
            self.numbers.finish()?;
        }
        shaped(&self.numbers.path, shape, numbers).map(Some)
    }

    fn skip_snapshot(&mut self) -> Result<bool, SourceError> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        let count = product(&self.numbers.path, &[self.channels, self.samples])?;
        self.numbers.skip(count).map(|()| true)
    }
}

/// A file in Fortran order is read whole: the first axis varies fastest.
fn fortran(
    mut numbers: Numbers,
    (snapshots, channels, samples): (usize, usize, usize),
) -> Result<RawRecording, SourceError> {
    let count = product(&numbers.path, &[snapshots, channels, samples])?;
    let data = numbers.take(count)?;
    numbers.finish()?;
    let encoding = numbers.number.encoding();
    let left = snapshots as u64;
    let reader = Box::new(OutOfOrder { data, snapshots, channels, samples, next: 0 });
    Ok(described(channels, samples, left, encoding, reader))
}

struct OutOfOrder {
    data: Vec<f64>,
    snapshots: usize,
    channels: usize,
    samples: usize,
    next: usize,
}

impl RawSnapshots for OutOfOrder {
    fn next_snapshot(&mut self) -> Result<Option<Array2<f64>>, SourceError> {
        if self.next == self.snapshots {
            return Ok(None);
        }
        let snapshot = self.next;
        self.next += 1;
        let at = |(channel, sample): (usize, usize)| {
            self.data[snapshot + self.snapshots * (channel + self.channels * sample)]
        };
        Ok(Some(Array2::from_shape_fn((self.channels, self.samples), at)))
    }
}

fn product(path: &Path, axes: &[usize]) -> Result<usize, SourceError> {
    axes.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis)).ok_or_else(|| {
        SourceError::malformed(path, format!("shape {axes:?} is larger than any memory"))
    })
}

fn shaped(
    path: &Path,
    shape: (usize, usize),
    numbers: Vec<f64>,
) -> Result<Array2<f64>, SourceError> {
    Array2::from_shape_vec(shape, numbers).map_err(|e| SourceError::malformed(path, e.to_string()))
}

#[cfg(test)]
mod tests;
