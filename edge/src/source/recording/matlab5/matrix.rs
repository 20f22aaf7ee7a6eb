//! Variables of a MAT-file: numeric arrays, and the structs and cells that hold them.

use super::element::{Bytes, Element, MATRIX};

/// Most channels of a recording: a rack of sensors has fewer, a vector of samples more.
pub(super) const MAX_CHANNELS: usize = 1024;

/// Deepest nesting of structs and cells. Recordings nest two or three deep; 16 recursive calls use
/// some KiB of the stack.
const MAX_DEPTH: usize = 16;

/// Longest name of a variable or field (MAT-File Format, 1-22: 32 with the final 0, 64 in later
/// versions). Paths are made of names, so a longer name would be copied for each element.
const MAX_NAME_BYTES: usize = 64;

/// A real, numeric, two-dimensional array.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NumericArray {
    /// Path of the variable, such as `bearing.gs`.
    pub(super) path: String,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Column by column, `rows × columns` of them.
    pub(super) numbers: Vec<f64>,
}

impl NumericArray {
    /// Samples of a channel.
    pub(super) fn length(&self) -> usize {
        self.rows.max(self.columns)
    }

    /// True if the numbers rise without exception, as times do.
    pub(super) fn is_time(&self) -> bool {
        self.rows.min(self.columns) == 1 && self.numbers.windows(2).all(|pair| pair[1] > pair[0])
    }

    /// True if there is more than one sample and at most [`MAX_CHANNELS`] channels.
    pub(super) fn is_recording(&self) -> bool {
        self.length() > 1 && (1..=MAX_CHANNELS).contains(&self.rows.min(self.columns))
    }
}

/// Adds all numeric arrays of a top-level element.
pub(super) fn collect(
    element: &Element<'_>,
    is_big_endian: bool,
    arrays: &mut Vec<NumericArray>,
) -> Result<(), String> {
    walk(element, is_big_endian, None, 0, arrays)
}

/// Adds the arrays of one element; `place` is its path inside a struct or cell.
fn walk(
    element: &Element<'_>,
    is_big_endian: bool,
    place: Option<String>,
    depth: usize,
    arrays: &mut Vec<NumericArray>,
) -> Result<(), String> {
    if element.kind != MATRIX || element.content.is_empty() {
        return Ok(());
    }
    if depth > MAX_DEPTH {
        return Err(format!("structs and cells nested more than {MAX_DEPTH} deep"));
    }
    let mut bytes = Bytes::new(&element.content, is_big_endian);
    let flags = bytes.part()?.numbers(is_big_endian).unwrap_or_default();
    let flags = flags.first().map_or(0, |&word| word as u32);
    let (class, is_complex) = (flags & 0xff, flags & 0x0800 != 0);
    if !(1..=15).contains(&class) {
        return Ok(()); // function handles and opaque objects hold no samples and have a form of their own
    }
    let dimensions = bytes.part()?.numbers(is_big_endian).unwrap_or_default();
    let own_name = bytes.part()?;
    if own_name.content.len() > MAX_NAME_BYTES {
        let length = own_name.content.len();
        return Err(format!("a name of {length} bytes; at most {MAX_NAME_BYTES} are allowed"));
    }
    let path = place.unwrap_or_else(|| String::from_utf8_lossy(&own_name.content).into_owned());
    match class {
        1 => cells(&mut bytes, is_big_endian, &path, depth, arrays),
        2 | 3 => {
            if class == 3 {
                bytes.part()?; // the name of the object's class
            }
            fields(&mut bytes, is_big_endian, &path, &dimensions, depth, arrays)
        }
        6..=15 if !is_complex => {
            let numbers = bytes.part()?.numbers(is_big_endian).unwrap_or_default();
            arrays.extend(numeric(path, &dimensions, numbers)?);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// An array of at most two dimensions; higher ones are no recording.
fn numeric(
    path: String,
    dimensions: &[f64],
    numbers: Vec<f64>,
) -> Result<Option<NumericArray>, String> {
    let [rows, columns] = *dimensions else { return Ok(None) };
    let (rows, columns) = (rows.max(0.0) as usize, columns.max(0.0) as usize);
    if rows.checked_mul(columns) != Some(numbers.len()) {
        return Err(format!(
            "variable {path:?} states {rows} × {columns} numbers, but {} are there",
            numbers.len()
        ));
    }
    Ok(Some(NumericArray { path, rows, columns, numbers }))
}

fn cells(
    bytes: &mut Bytes<'_>,
    is_big_endian: bool,
    path: &str,
    depth: usize,
    arrays: &mut Vec<NumericArray>,
) -> Result<(), String> {
    let mut index = 0usize;
    while !bytes.is_at_end() {
        let place = format!("{path}{{{index}}}");
        walk(&bytes.part()?, is_big_endian, Some(place), depth + 1, arrays)?;
        index += 1;
    }
    Ok(())
}

fn fields(
    bytes: &mut Bytes<'_>,
    is_big_endian: bool,
    path: &str,
    dimensions: &[f64],
    depth: usize,
    arrays: &mut Vec<NumericArray>,
) -> Result<(), String> {
    let length = bytes.part()?.numbers(is_big_endian).unwrap_or_default();
    let length = length.first().map_or(0, |&n| n.max(0.0) as usize);
    let names = bytes.part()?;
    if names.content.is_empty() {
        return Ok(());
    }
    if !(1..=MAX_NAME_BYTES).contains(&length) {
        return Err(format!(
            "field names of {length} bytes in {path:?}; 1 to {MAX_NAME_BYTES} are allowed"
        ));
    }
    let names: Vec<String> = names.content.chunks(length).map(text_before_zero).collect();
    let is_single = dimensions.iter().all(|&n| n <= 1.0);
    let mut index = 0usize;
    while !bytes.is_at_end() {
        for name in &names {
            if bytes.is_at_end() {
                return Ok(());
            }
            let place = if is_single {
                format!("{path}.{name}")
            } else {
                format!("{path}({index}).{name}")
            };
            walk(&bytes.part()?, is_big_endian, Some(place), depth + 1, arrays)?;
        }
        index += 1;
    }
    Ok(())
}

fn text_before_zero(raw: &[u8]) -> String {
    let text = raw.split(|&byte| byte == 0).next().unwrap_or(&[]);
    String::from_utf8_lossy(text).into_owned()
}
