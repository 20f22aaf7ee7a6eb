//! TDMS, the streaming format of LabVIEW and NI-DAQmx: segments of metadata and raw data.
//!
//! A segment has a lead-in (magic, flags, two offsets), metadata (objects `/'group'/'channel'` with
//! the layout of their raw data and properties), and raw data: chunks of the objects one after the
//! other, or interleaved, or in the layout of DAQmx cards. Metadata is incremental: a segment
//! without any repeats the one before. Source: NI, *TDMS File Format Internal Structure*. The rate
//! is `wf_increment`, the unit `unit_string`, the start `wf_start_time` with `wf_start_offset`;
//! channels of times beside others are their times; scales that the driver left to the reader
//! (`NI_Scale[0]_…`) are applied if they are linear, polynomial, sums or differences, and refused
//! by name otherwise.
//!
//! Invariants: no more is held than the file's bytes allow; the loops over chunks end with the
//! bytes.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use super::bounds::{MAX_SAMPLES, whole};
use super::variables::recording_of_variables;
use super::{NumberEncoding, RawRecording, SourceError};
use channels::variables_of_objects;
use metadata::{Object, Properties};
use ordered::OrderedBytes;

mod channels;
mod chunk;
mod metadata;
mod ordered;
mod scale;

/// First bytes of the format.
pub(super) const MAGIC: &[u8] = b"TDSm";

/// Bytes of a segment's lead-in.
const LEAD_IN_BYTES: usize = 28;

/// Most objects of a file; a test of a hundred channels has some hundred.
const MAX_OBJECTS: usize = 20_000;

/// Reads the whole file.
pub(super) fn open(
    path: &Path,
    file: impl Read,
    variable: Option<&str>,
) -> Result<RawRecording, SourceError> {
    let content = whole(path, file)?;
    let objects = parse(path, &content).map_err(|what| SourceError::malformed(path, what))?;
    drop(content);
    let (variables, others) = variables_of_objects(objects);
    recording_of_variables(path, "TDMS file", variables, &others, variable)
}

/// The numbers of one object so far.
#[derive(Default)]
struct ObjectData {
    /// Numbers by the identifier of the scaler of a DAQmx card; plain data has 0.
    numbers: BTreeMap<u32, Vec<f64>>,
    encoding: NumberEncoding,
    /// Data of a kind that is no number.
    other: Option<String>,
    is_daqmx: bool,
    /// The numbers are times, in seconds since 1970.
    is_time: bool,
}

/// A file as it is read, segment by segment.
#[derive(Default)]
struct Objects {
    properties: BTreeMap<String, Properties>,
    data: BTreeMap<String, ObjectData>,
    /// Paths with data in the order of their first appearance.
    order: Vec<String>,
    /// The last layout of each object.
    layouts: BTreeMap<String, Object>,
    /// The objects of the current list that have raw data, in order.
    active: Vec<String>,
    numbers: usize,
}

fn parse(path: &Path, content: &[u8]) -> Result<Objects, String> {
    let mut objects = Objects::default();
    let mut at = 0usize;
    while let Some(head) = content.get(at..at + LEAD_IN_BYTES) {
        if !head.starts_with(MAGIC) {
            return Err(format!("no segment at byte {at}: the file is damaged"));
        }
        let toc = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let mut lead = OrderedBytes::new(&head[8..], toc & (1 << 6) != 0);
        let (_version, next, raw) = (lead.u32()?, lead.u64()?, lead.u64()?);
        let start = at + LEAD_IN_BYTES;
        let left = content.len() - start;
        // a program that was stopped leaves the offset of the next segment open
        let announced = usize::try_from(next).unwrap_or(usize::MAX);
        let length = announced.min(left);
        if announced > left {
            let place = path.display();
            tracing::warn!(path = %place, "the last segment of this TDMS file is cut off; what is \
                there is read");
        }
        let raw_start = usize::try_from(raw).unwrap_or(usize::MAX);
        if raw_start > length {
            return Err(format!("the segment at byte {at} ends within its metadata: truncated"));
        }
        let segment = &content[start..start + length];
        objects.add_segment(toc, &segment[..raw_start], &segment[raw_start..])?;
        at = start + length;
        if length == 0 && left == 0 {
            break;
        }
    }
    Ok(objects)
}

impl Objects {
    fn add_segment(&mut self, toc: u32, meta: &[u8], raw: &[u8]) -> Result<(), String> {
        let is_big_endian = toc & (1 << 6) != 0;
        if toc & (1 << 2) != 0 {
            self.active.clear();
        }
        if toc & (1 << 1) != 0 {
            self.add_metadata(&mut OrderedBytes::new(meta, is_big_endian))?;
        }
        if toc & (1 << 3) == 0 || raw.is_empty() {
            return Ok(());
        }
        let layouts: Vec<Object> =
            self.active.iter().filter_map(|path| self.layouts.get(path).cloned()).collect();
        let form = chunk::SegmentForm {
            is_big_endian,
            is_interleaved: toc & (1 << 5) != 0,
            is_daqmx: toc & (1 << 7) != 0,
        };
        let left = MAX_SAMPLES.saturating_sub(self.numbers);
        let read = chunk::numbers_of_segment(raw, &layouts, form, left)?;
        for piece in read {
            self.numbers += piece.numbers.len();
            let Some(path) = self.active.get(piece.object) else { continue };
            let data = self.data.entry(path.clone()).or_default();
            if data.numbers.is_empty() && data.other.is_none() {
                self.order.push(path.clone());
            }
            data.encoding = piece.encoding;
            data.is_daqmx |= form.is_daqmx;
            data.is_time |= piece.is_time;
            match piece.other {
                Some(kind) => data.other = Some(kind),
                None => data.numbers.entry(piece.scaler).or_default().extend(piece.numbers),
            }
        }
        if self.numbers > MAX_SAMPLES {
            return Err(format!("more than {MAX_SAMPLES} numbers, the most that is read"));
        }
        Ok(())
    }

    fn add_metadata(&mut self, bytes: &mut OrderedBytes<'_>) -> Result<(), String> {
        let count = bytes.u32()?;
        for _ in 0..count {
            let path = bytes.text()?;
            let before = self.layouts.get(&path);
            let layout = metadata::layout(bytes, before)?;
            let properties = metadata::properties(bytes)?;
            self.properties.entry(path.clone()).or_default().extend(properties);
            if self.properties.len() > MAX_OBJECTS {
                return Err(format!("more than {MAX_OBJECTS} objects, the most that is read"));
            }
            let place = self.active.iter().position(|active| *active == path);
            match (layout, place) {
                (Some(layout), place) => {
                    self.layouts.insert(path.clone(), layout);
                    if place.is_none() {
                        self.active.push(path);
                    }
                }
                (None, Some(place)) => {
                    self.active.remove(place);
                }
                (None, None) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
