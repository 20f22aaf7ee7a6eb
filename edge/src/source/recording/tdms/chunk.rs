//! The raw data of a TDMS segment: chunks one after the other until the bytes end.

use super::metadata::{NumberKind, Object, Scaler, seconds_of_time};
use super::ordered::unsigned_of;
use crate::source::recording::NumberEncoding;

/// How a segment's raw data is arranged.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentForm {
    pub(super) is_big_endian: bool,
    pub(super) is_interleaved: bool,
    pub(super) is_daqmx: bool,
}

/// Numbers of one object from a segment.
#[derive(Default)]
pub(super) struct ObjectPiece {
    /// Place of the object in the list of the segment.
    pub(super) object: usize,
    /// Identifier of a DAQmx scaler; 0 for plain data.
    pub(super) scaler: u32,
    pub(super) numbers: Vec<f64>,
    pub(super) encoding: NumberEncoding,
    /// Data that is no number.
    pub(super) other: Option<String>,
    /// The numbers are times.
    pub(super) is_time: bool,
}

/// All numbers of a segment; an error if they are more than `most`.
pub(super) fn numbers_of_segment(
    raw: &[u8],
    objects: &[Object],
    form: SegmentForm,
    most: usize,
) -> Result<Vec<ObjectPiece>, String> {
    let is_card = |object: &Object| matches!(object, Object::Daqmx { .. });
    if form.is_daqmx || objects.iter().any(is_card) {
        if !objects.iter().all(is_card) {
            return Err("DAQmx data beside data of another form in one segment".to_owned());
        }
        return daqmx(raw, objects, form.is_big_endian, most);
    }
    let mut pieces: Vec<ObjectPiece> = objects.iter().enumerate().map(plain_piece).collect();
    if form.is_interleaved {
        interleaved(raw, objects, form.is_big_endian, most, &mut pieces)?;
    } else {
        in_turn(raw, objects, form.is_big_endian, most, &mut pieces)?;
    }
    Ok(pieces)
}

fn plain_piece((object, layout): (usize, &Object)) -> ObjectPiece {
    let is_time = matches!(layout, Object::Numbers { kind, .. } if kind.is_time);
    let (encoding, other) = match layout {
        Object::Numbers { kind, .. } => (encoding_of(*kind), None),
        Object::Other { what, .. } => (NumberEncoding::Real, Some(what.clone())),
        Object::Daqmx { .. } => (NumberEncoding::Real, None),
    };
    ObjectPiece { object, encoding, other, is_time, ..ObjectPiece::default() }
}

const fn encoding_of(kind: NumberKind) -> NumberEncoding {
    if kind.is_float || kind.is_time {
        NumberEncoding::Real
    } else {
        NumberEncoding::Counts { bits: 8 * kind.bytes as u32 }
    }
}

/// Objects one after the other within a chunk. A last chunk that is cut off keeps what every object
/// has of it: nothing, unless there is one object alone.
fn in_turn(
    raw: &[u8],
    objects: &[Object],
    is_big_endian: bool,
    most: usize,
    pieces: &mut [ObjectPiece],
) -> Result<(), String> {
    let bytes_of = |object: &Object| match object {
        Object::Numbers { kind, count } => count.checked_mul(kind.bytes),
        Object::Other { bytes, .. } => Some(*bytes),
        Object::Daqmx { .. } => None,
    };
    let chunk = objects.iter().try_fold(0usize, |sum, object| sum.checked_add(bytes_of(object)?));
    let chunk = chunk.ok_or("a chunk larger than any memory")?;
    if chunk == 0 {
        return Ok(());
    }
    let mut total = 0usize;
    for bytes in raw.chunks(chunk) {
        if bytes.len() < chunk && objects.len() > 1 {
            break;
        }
        let mut at = 0usize;
        for (object, piece) in objects.iter().zip(pieces.iter_mut()) {
            let length = bytes_of(object).unwrap_or(0).min(bytes.len() - at);
            if let Object::Numbers { kind, .. } = object {
                let own = bytes[at..at + length].chunks_exact(kind.bytes);
                total += own.len();
                check_total(total, most)?;
                piece.numbers.extend(own.map(|raw| number_of(raw, *kind, is_big_endian)));
            }
            at += length;
        }
    }
    Ok(())
}

/// One number of each object after the other.
fn interleaved(
    raw: &[u8],
    objects: &[Object],
    is_big_endian: bool,
    most: usize,
    pieces: &mut [ObjectPiece],
) -> Result<(), String> {
    let mut kinds = Vec::new();
    for object in objects {
        let Object::Numbers { kind, .. } = object else {
            return Err("interleaved data that is no number".to_owned());
        };
        kinds.push(*kind);
    }
    let frame: usize = kinds.iter().map(|kind| kind.bytes).sum();
    if frame == 0 {
        return Ok(());
    }
    check_total((raw.len() / frame).saturating_mul(kinds.len()), most)?;
    for bytes in raw.chunks_exact(frame) {
        let mut at = 0;
        for (kind, piece) in kinds.iter().zip(pieces.iter_mut()) {
            piece.numbers.push(number_of(&bytes[at..at + kind.bytes], *kind, is_big_endian));
            at += kind.bytes;
        }
    }
    Ok(())
}

fn check_total(total: usize, most: usize) -> Result<(), String> {
    if total <= most {
        return Ok(());
    }
    Err(format!("more than {most} further numbers in a segment, the most that is read"))
}

/// Frames of each card after the other; a scaler's numbers stand at its offset in a frame.
fn daqmx(
    raw: &[u8],
    objects: &[Object],
    is_big_endian: bool,
    most: usize,
) -> Result<Vec<ObjectPiece>, String> {
    let cards = cards_of(objects)?;
    let chunk = cards
        .iter()
        .try_fold(0usize, |sum, (frames, width)| sum.checked_add(frames.checked_mul(*width)?));
    let chunk = chunk.filter(|&chunk| chunk > 0).ok_or("DAQmx data without a size")?;
    let mut pieces = Vec::new();
    for (object, layout) in objects.iter().enumerate() {
        let Object::Daqmx { scalers, .. } = layout else { continue };
        for scaler in scalers {
            let (_, width) =
                cards.get(scaler.card).ok_or("a scaler of a card that is not there")?;
            if scaler.offset.saturating_add(scaler.kind.bytes) > *width {
                return Err("a DAQmx channel stands outside of its card's frame".to_owned());
            }
            let encoding = encoding_of(scaler.kind);
            let piece =
                ObjectPiece { object, scaler: scaler.id, encoding, ..ObjectPiece::default() };
            pieces.push((scaler, piece));
        }
    }
    let mut total = 0usize;
    for bytes in raw.chunks(chunk) {
        let mut at = 0usize;
        for (card, &(frames, width)) in cards.iter().enumerate() {
            let length = frames.saturating_mul(width).min(bytes.len() - at);
            let own = &bytes[at..at + length];
            for (scaler, piece) in pieces.iter_mut().filter(|(scaler, _)| scaler.card == card) {
                total += own.len() / width;
                check_total(total, most)?;
                let number = |frame: &[u8]| number_of_scaler(frame, scaler, is_big_endian);
                piece.numbers.extend(own.chunks_exact(width).map(number));
            }
            at += length;
        }
    }
    Ok(pieces.into_iter().map(|(_, piece)| piece).collect())
}

/// Frames of a chunk and bytes of a frame, for each card that has channels.
fn cards_of(objects: &[Object]) -> Result<Vec<(usize, usize)>, String> {
    let mut cards: Vec<(usize, usize)> = Vec::new();
    for layout in objects {
        let Object::Daqmx { count, scalers, widths } = layout else { continue };
        if cards.is_empty() {
            cards = widths.iter().map(|&width| (0, width)).collect();
        } else if !cards.iter().map(|(_, width)| width).eq(widths) {
            return Err("DAQmx channels of one segment state different cards".to_owned());
        }
        for scaler in scalers {
            let card = cards.get_mut(scaler.card).ok_or("a scaler of a card that is not there")?;
            card.0 = card.0.max(*count);
        }
    }
    if cards.iter().any(|&(frames, width)| frames > 0 && width == 0) {
        return Err("a card with frames of 0 bytes".to_owned());
    }
    Ok(cards)
}

fn number_of_scaler(frame: &[u8], scaler: &Scaler, is_big_endian: bool) -> f64 {
    let raw = frame.get(scaler.offset..scaler.offset + scaler.kind.bytes).unwrap_or(&[]);
    match scaler.bit {
        Some(bit) => ((unsigned_of(raw, is_big_endian) >> bit) & 1) as f64,
        None => number_of(raw, scaler.kind, is_big_endian),
    }
}

/// A number of this kind.
pub(super) fn number_of(raw: &[u8], kind: NumberKind, is_big_endian: bool) -> f64 {
    if kind.is_time {
        return seconds_of_time(raw, is_big_endian);
    }
    let bits = unsigned_of(raw, is_big_endian);
    match (kind.is_float, kind.bytes) {
        (true, 4) => f64::from(f32::from_bits(bits as u32)),
        (true, _) => f64::from_bits(bits),
        (false, bytes) if kind.is_signed => {
            let unused = 64 - 8 * bytes as u32;
            ((bits << unused).cast_signed() >> unused) as f64
        }
        (false, _) => bits as f64,
    }
}
