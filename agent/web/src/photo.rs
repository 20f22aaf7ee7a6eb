//! Checks whether bytes are a photo: their kind by their content, their bounds, and that they are
//! nothing else beside.
//!
//! The structure of the file is followed from its first byte to the picture's end. What stands
//! behind the end makes a file two things at once (an archive, a page, a script behind a picture)
//! and is refused; what phones put there by themselves (a second picture of the same shot, its
//! film, their own trailer) is cut off. The pixels are not decoded: no decoder runs on what a
//! stranger sends.

use crate::plant::PhotoKind;

/// Most bytes of a photo. Chosen: a phone's 50 megapixels as JPEG have 8 to 12 MB.
pub const MOST_BYTES: usize = 12 * 1024 * 1024;
/// Most pixels of a photo. Chosen: the largest sensors of phones have 108 megapixels; beyond, a
/// small file may take a reader's memory.
const MOST_PIXELS: u64 = 110_000_000;

/// Why bytes are no photo. The caller says it to whoever sent them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoPhoto {
    /// Nothing was sent.
    #[error("no photo was chosen")]
    Empty,
    /// More than [`MOST_BYTES`].
    #[error("the photo is larger than 12 MB")]
    TooLarge,
    /// The content is of no kind that is taken.
    #[error("the file is no photo: allowed is JPEG, PNG and WebP")]
    OtherKind,
    /// The structure ends early or contradicts itself.
    #[error("the photo is broken off or damaged")]
    Damaged,
    /// The file is something else beside a picture.
    #[error("the file holds something else beside a picture")]
    Polyglot,
    /// More than [`MOST_PIXELS`].
    #[error("the photo has more than 110 million pixels")]
    TooManyPixels,
}

/// Returns the kind of the picture, and the bytes that are the picture.
///
/// # Errors
/// [`NoPhoto`].
pub fn check(bytes: &[u8]) -> Result<(PhotoKind, &[u8]), NoPhoto> {
    if bytes.is_empty() {
        return Err(NoPhoto::Empty);
    }
    if bytes.len() > MOST_BYTES {
        return Err(NoPhoto::TooLarge);
    }
    let found = if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        FoundPicture { kind: PhotoKind::Jpeg, ..jpeg(bytes)? }
    } else if bytes.starts_with(PNG) {
        FoundPicture { kind: PhotoKind::Png, ..png(bytes)? }
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        FoundPicture { kind: PhotoKind::Webp, ..webp(bytes)? }
    } else {
        return Err(NoPhoto::OtherKind);
    };
    let pixels = u64::from(found.width) * u64::from(found.height);
    if pixels == 0 {
        return Err(NoPhoto::Damaged);
    }
    if pixels > MOST_PIXELS {
        return Err(NoPhoto::TooManyPixels);
    }
    let (picture, behind) = bytes.split_at(found.end);
    if !is_of_a_phone(behind) || has_other_words(picture.get(..found.head).unwrap_or(picture)) {
        return Err(NoPhoto::Polyglot);
    }
    Ok((found.kind, picture))
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The data of a file's structure.
struct FoundPicture {
    kind: PhotoKind,
    width: u32,
    height: u32,
    /// Where the picture ends.
    end: usize,
    /// Where its words end and its pixels begin.
    head: usize,
}

/// Whether phones write such bytes behind a picture: nothing, filling, another picture of the shot,
/// its film, their trailer.
fn is_of_a_phone(behind: &[u8]) -> bool {
    behind.iter().all(|byte| *byte == 0)
        || behind.starts_with(&[0xff, 0xd8, 0xff])
        || behind.get(4..8) == Some(b"ftyp")
        || behind.ends_with(b"SEFT")
        || holds(behind.get(..64).unwrap_or(behind), b"MotionPhoto_Data")
}

/// Words by which other programs take a file for one of their own: PDF looks for its mark in the
/// first 1,024 bytes, pages and scripts for their elements anywhere.
fn has_other_words(head: &[u8]) -> bool {
    let start = head.get(..1024).unwrap_or(head);
    // none is shorter than five bytes, which the words of a camera hold by chance once in a million
    // photos
    let words: [&[u8]; 5] = [b"<script", b"<html", b"<?php", b"<svg ", b"<!doctype"];
    let folded = head.to_ascii_lowercase();
    holds(start, b"%PDF-") || words.iter().any(|word| holds(&folded, word))
}

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u32> {
    let pair: [u8; 2] = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u32::from(u16::from_be_bytes(pair)))
}

/// ISO/IEC 10918-1, annex B: segments with a length, and scans without one, up to the end of the
/// image.
fn jpeg(bytes: &[u8]) -> Result<FoundPicture, NoPhoto> {
    let (mut at, mut size, mut head) = (2, None, None);
    loop {
        let marker = *bytes.get(at + 1).ok_or(NoPhoto::Damaged)?;
        if bytes.get(at) != Some(&0xff) {
            return Err(NoPhoto::Damaged);
        }
        match marker {
            0xff => at += 1,
            0xd9 => {
                let (height, width) = size.ok_or(NoPhoto::Damaged)?;
                let head = head.ok_or(NoPhoto::Damaged)?;
                return Ok(FoundPicture {
                    kind: PhotoKind::Jpeg,
                    width,
                    height,
                    end: at + 2,
                    head,
                });
            }
            0x00..=0xbf | 0xd0..=0xd8 => return Err(NoPhoto::Damaged),
            _ => {
                let length = u16_at(bytes, at + 2).filter(|length| *length >= 2);
                let length = length.ok_or(NoPhoto::Damaged)? as usize;
                let is_frame =
                    matches!(marker, 0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf);
                if is_frame {
                    size = u16_at(bytes, at + 5).zip(u16_at(bytes, at + 7));
                }
                at += 2 + length;
                if marker == 0xda {
                    head.get_or_insert(at);
                    at = scan_end(bytes, at).ok_or(NoPhoto::Damaged)?;
                }
            }
        }
    }
}

/// The next marker behind the pixels of a scan: 0xff that is neither a pixel's own nor a restart.
fn scan_end(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let is_marker = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0x00 | 0xd0..=0xd7 | 0xff);
    rest.windows(2).position(is_marker).map(|offset| from + offset)
}

/// PNG 1.2, 3.2: chunks with length, type and CRC, from IHDR to IEND.
fn png(bytes: &[u8]) -> Result<FoundPicture, NoPhoto> {
    let number = |at: usize| -> Option<u32> {
        Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    };
    if bytes.get(12..16) != Some(b"IHDR") || number(8) != Some(13) {
        return Err(NoPhoto::Damaged);
    }
    let size = number(16).zip(number(20));
    let (width, height) = size.ok_or(NoPhoto::Damaged)?;
    let (mut at, mut head) = (PNG.len(), None);
    loop {
        let length = number(at).ok_or(NoPhoto::Damaged)? as usize;
        let kind = bytes.get(at + 4..at + 8).ok_or(NoPhoto::Damaged)?;
        let end = at.checked_add(12).and_then(|at| at.checked_add(length));
        let end = end.filter(|end| *end <= bytes.len()).ok_or(NoPhoto::Damaged)?;
        if !kind.iter().all(u8::is_ascii_alphabetic) {
            return Err(NoPhoto::Damaged);
        }
        if kind == b"IDAT" {
            head.get_or_insert(at);
        }
        if kind == b"IEND" {
            let head = head.ok_or(NoPhoto::Damaged)?;
            return Ok(FoundPicture { kind: PhotoKind::Png, width, height, end, head });
        }
        at = end;
    }
}

/// RFC 9649: a RIFF file whose first chunk tells the size.
fn webp(bytes: &[u8]) -> Result<FoundPicture, NoPhoto> {
    let number = |at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    };
    let length = number(4).ok_or(NoPhoto::Damaged)? as usize;
    let end = length.checked_add(8).filter(|end| *end <= bytes.len()).ok_or(NoPhoto::Damaged)?;
    let byte = |at: usize| bytes.get(at).copied().map(u32::from);
    let three = |at: usize| Some(byte(at)? | (byte(at + 1)? << 8) | (byte(at + 2)? << 16));
    let two = |at: usize| Some(byte(at)? | (byte(at + 1)? << 8));
    let size = match bytes.get(12..16) {
        Some(b"VP8X") => three(24).zip(three(27)).map(|(width, height)| (width + 1, height + 1)),
        Some(b"VP8L") => number(21).map(|bits| ((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1)),
        Some(b"VP8 ") if bytes.get(23..26) == Some(&[0x9d, 0x01, 0x2a]) => {
            two(26).zip(two(28)).map(|(width, height)| (width & 0x3fff, height & 0x3fff))
        }
        _ => None,
    };
    let (width, height) = size.ok_or(NoPhoto::Damaged)?;
    // chunks follow each other to the end
    let mut at = 12;
    while at < end {
        let length = number(at + 4).ok_or(NoPhoto::Damaged)? as usize;
        at = at.checked_add(8 + length + length % 2).ok_or(NoPhoto::Damaged)?;
    }
    if at != end {
        return Err(NoPhoto::Damaged);
    }
    Ok(FoundPicture { kind: PhotoKind::Webp, width, height, end, head: end.min(4096) })
}

#[cfg(test)]
mod tests;
