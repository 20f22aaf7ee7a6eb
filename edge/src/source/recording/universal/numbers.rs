//! The numbers of a dataset 58, as text and as a binary block.
//!
//! Text is read by what numbers look like and not by columns: programs widen the exponent, leave
//! out spaces before a sign, or fill the last line. Invariant: as many numbers are there as the
//! header states, or the dataset is refused.

use super::function::FunctionHead;
use super::{Lines, is_delimiter};

/// Most bytes of line ends and filling between a binary block and the line of `-1`.
const MAX_FILLING: usize = 90;

/// Reads the lines up to the end of the dataset.
pub(super) fn ascii(lines: &mut Lines<'_>, head: &FunctionHead) -> Result<Vec<f64>, String> {
    let count = head.count()?;
    let mut numbers = Vec::new();
    let mut is_closed = false;
    while let Some(line) = lines.next_line() {
        if is_delimiter(line) {
            is_closed = true;
            break;
        }
        let text = String::from_utf8_lossy(line);
        for token in number_tokens(&text) {
            let number = number_of(token).ok_or_else(|| {
                let shown: String = token.chars().take(30).collect();
                format!("{shown:?} is no number")
            })?;
            numbers.push(number);
        }
        if numbers.len() > count {
            return Err(format!("more than the {count} numbers that its header states"));
        }
    }
    if numbers.len() < count {
        let there = numbers.len();
        let end = if is_closed { "" } else { "; the file is truncated" };
        return Err(format!("{there} of {count} numbers are there{end}"));
    }
    Ok(numbers)
}

/// The numbers of a line: at spaces, and before a sign that belongs to no exponent.
fn number_tokens(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for word in line.split_whitespace() {
        let bytes = word.as_bytes();
        let mut start = 0;
        for at in 1..bytes.len() {
            let is_sign = matches!(bytes[at], b'+' | b'-');
            let is_exponent = matches!(bytes[at - 1], b'e' | b'E' | b'd' | b'D');
            if is_sign && !is_exponent {
                tokens.extend(word.get(start..at));
                start = at;
            }
        }
        tokens.extend(word.get(start..));
    }
    tokens
}

/// A number of FORTRAN: `1.0E+02`, `1.0D+02`.
pub(super) fn number_of(token: &str) -> Option<f64> {
    token.parse().ok().or_else(|| token.replace(['D', 'd'], "E").parse().ok())
}

/// Reads the block behind the header; `first` is the line with the dataset's number.
pub(super) fn binary(
    lines: &mut Lines<'_>,
    first: &[u8],
    head: &FunctionHead,
) -> Result<Vec<f64>, String> {
    let text = String::from_utf8_lossy(first);
    let stated: Vec<i64> = text.split_whitespace().skip(1).filter_map(|t| t.parse().ok()).collect();
    let is_big_endian = match stated.first() {
        Some(1) => false,
        Some(2) => true,
        _ => return Err("its first line states no byte order; 1 and 2 are known".to_owned()),
    };
    if stated.get(1) == Some(&1) || stated.get(1) == Some(&3) {
        return Err("numbers of a VAX or an IBM computer; IEEE 754 is read".to_owned());
    }
    let (count, width) = (head.count()?, if head.is_double() { 8 } else { 4 });
    let length = count.checked_mul(width).ok_or("more numbers than any memory holds")?;
    let (start, end) = block_of(lines.rest(), length)?;
    let block = lines.rest().get(start..start + length).unwrap_or(&[]);
    let numbers = block.chunks_exact(width).map(|raw| decoded(raw, is_big_endian)).collect();
    lines.at += end;
    lines.skip_dataset();
    Ok(numbers)
}

/// Start of the block and of the line of `-1` behind it. Line ends are looked for before zeros: the
/// last bytes of a number may be zeros, too.
fn block_of(rest: &[u8], length: usize) -> Result<(usize, usize), String> {
    let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    for is_filling in [
        |byte: &u8| matches!(byte, b'\r' | b'\n' | b' '),
        |byte: &u8| matches!(byte, b'\r' | b'\n' | b' ' | 0),
    ] {
        for start in 0..=2 {
            let is_stray = rest.get(..start).is_some_and(|bytes| bytes.iter().all(is_line_end));
            let behind = start.checked_add(length).and_then(|end| rest.get(end..));
            let Some(behind) = behind.filter(|_| is_stray) else { continue };
            if let Some(filling) = filling_before_delimiter(behind, is_filling) {
                return Ok((start, start + length + filling));
            }
        }
    }
    let there = rest.len();
    if there < length {
        return Err(format!("{there} of {length} bytes are there; the file is truncated"));
    }
    Err(format!("no line of -1 stands behind its {length} bytes: another length or a damaged file"))
}

/// Bytes of filling before a line of `-1`, or before the end of the file.
fn filling_before_delimiter(behind: &[u8], is_filling: fn(&u8) -> bool) -> Option<usize> {
    let filling = behind.iter().take_while(|byte| is_filling(byte)).count();
    if filling > MAX_FILLING {
        return None;
    }
    let mut line = Lines { content: behind.get(filling..)?, at: 0 };
    line.next_line().is_none_or(is_delimiter).then_some(filling)
}

fn decoded(raw: &[u8], is_big_endian: bool) -> f64 {
    let mut little = [0u8; 8];
    let width = raw.len().min(8);
    little[..width].copy_from_slice(&raw[..width]);
    if is_big_endian {
        little[..width].reverse();
    }
    if width == 4 {
        f64::from(f32::from_le_bytes([little[0], little[1], little[2], little[3]]))
    } else {
        f64::from_le_bytes(little)
    }
}
