//! Variables of a MAT-file: numeric arrays, texts, and the structs and cells that hold them.

use super::super::NumberEncoding;
use super::super::leaves::{Leaf, LeafContent};
use super::element::{Bytes, Element, MATRIX};

/// Deepest nesting of structs and cells. Recordings nest two or three deep; 16 recursive calls use
/// some KiB of the stack.
const MAX_DEPTH: usize = 16;

/// Longest name of a variable or field (MAT-File Format, 1-22: 32 with the final 0, 64 in later
/// versions). Paths are made of names, so a longer name would be copied for each element.
const MAX_NAME_BYTES: usize = 64;

/// Most numbers, texts and other arrays of a file. A test of a hundred channels with all their
/// properties has some thousand.
const MAX_LEAVES: usize = 20_000;

/// The leaves of a file as they are collected.
pub(super) struct Collected {
    is_big_endian: bool,
    pub(super) leaves: Vec<Leaf>,
    /// Numbers over all leaves.
    pub(super) numbers: usize,
}

/// Flags, dimensions and path of one array.
struct ArrayHead {
    class: u32,
    is_complex: bool,
    dimensions: Vec<usize>,
    path: String,
}

impl Collected {
    pub(super) const fn new(is_big_endian: bool) -> Self {
        Self { is_big_endian, leaves: Vec::new(), numbers: 0 }
    }

    /// Adds all arrays of a top-level element.
    pub(super) fn add(&mut self, element: &Element<'_>) -> Result<(), String> {
        self.walk(element, None, 0)
    }

    fn push(&mut self, path: String, content: LeafContent) -> Result<(), String> {
        if self.leaves.len() == MAX_LEAVES {
            return Err(format!("more than {MAX_LEAVES} arrays, the most that is read"));
        }
        if let LeafContent::Numbers { numbers, .. } = &content {
            self.numbers += numbers.len();
        }
        self.leaves.push(Leaf { path, content });
        Ok(())
    }

    /// Adds the arrays of one element; `place` is its path inside a struct or cell.
    fn walk(
        &mut self,
        element: &Element<'_>,
        place: Option<String>,
        depth: usize,
    ) -> Result<(), String> {
        if element.kind != MATRIX || element.content.is_empty() {
            return Ok(());
        }
        if depth > MAX_DEPTH {
            return Err(format!("structs and cells nested more than {MAX_DEPTH} deep"));
        }
        let mut bytes = Bytes::new(&element.content, self.is_big_endian);
        let Some(head) = self.head(&mut bytes, place)? else { return Ok(()) };
        match head.class {
            1 => self.cells(&mut bytes, &head.path, depth),
            2 | 3 => {
                if head.class == 3 {
                    bytes.part()?; // the name of the object's class
                }
                self.fields(&mut bytes, &head, depth)
            }
            4 => {
                let lines = text_rows(&bytes.part()?, &head.dimensions, self.is_big_endian);
                self.push(head.path, LeafContent::Text(lines))
            }
            5 => self.push(head.path, LeafContent::Other("a sparse matrix".to_owned())),
            _ if head.is_complex => {
                let shape = shape_text(&head.dimensions);
                self.push(head.path, LeafContent::Other(format!("complex numbers, {shape}")))
            }
            _ => {
                let numbers = bytes.part()?.numbers(self.is_big_endian).unwrap_or_default();
                let content = numeric(&head, numbers)?;
                self.push(head.path, content)
            }
        }
    }

    /// The head of an array; `None` for function handles and opaque objects, which hold no samples
    /// and have a form of their own.
    fn head(
        &self,
        bytes: &mut Bytes<'_>,
        place: Option<String>,
    ) -> Result<Option<ArrayHead>, String> {
        let flags = bytes.part()?.numbers(self.is_big_endian).unwrap_or_default();
        let flags = flags.first().map_or(0, |&word| word as u32);
        let class = flags & 0xff;
        if !(1..=15).contains(&class) {
            return Ok(None);
        }
        let dimensions = bytes.part()?.numbers(self.is_big_endian).unwrap_or_default();
        let own_name = bytes.part()?;
        if own_name.content.len() > MAX_NAME_BYTES {
            let length = own_name.content.len();
            return Err(format!("a name of {length} bytes; at most {MAX_NAME_BYTES} are allowed"));
        }
        Ok(Some(ArrayHead {
            class,
            is_complex: flags & 0x0800 != 0,
            dimensions: dimensions.iter().map(|&n| n.max(0.0) as usize).collect(),
            path: place.unwrap_or_else(|| String::from_utf8_lossy(&own_name.content).into_owned()),
        }))
    }

    fn cells(&mut self, bytes: &mut Bytes<'_>, path: &str, depth: usize) -> Result<(), String> {
        let mut index = 0usize;
        while !bytes.is_at_end() {
            self.walk(&bytes.part()?, Some(format!("{path}{{{index}}}")), depth + 1)?;
            index += 1;
        }
        Ok(())
    }

    fn fields(
        &mut self,
        bytes: &mut Bytes<'_>,
        head: &ArrayHead,
        depth: usize,
    ) -> Result<(), String> {
        let path = &head.path;
        let length = bytes.part()?.numbers(self.is_big_endian).unwrap_or_default();
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
        let is_single = head.dimensions.iter().all(|&n| n <= 1);
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
                self.walk(&bytes.part()?, Some(place), depth + 1)?;
            }
            index += 1;
        }
        Ok(())
    }
}

/// A vector or matrix; an array of more dimensions is no recording.
fn numeric(head: &ArrayHead, numbers: Vec<f64>) -> Result<LeafContent, String> {
    let (path, shape) = (&head.path, shape_text(&head.dimensions));
    let stated = head.dimensions.iter().try_fold(1usize, |n, &axis| n.checked_mul(axis));
    if stated != Some(numbers.len()) {
        return Err(format!(
            "variable {path:?} states {shape} numbers, but {} are there",
            numbers.len()
        ));
    }
    let long: Vec<usize> = head.dimensions.iter().copied().filter(|&n| n != 1).collect();
    let (rows, columns) = match *head.dimensions.as_slice() {
        [rows, columns] => (rows, columns),
        _ => match *long.as_slice() {
            [] => (1, 1),
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => return Ok(LeafContent::Other(format!("an array of {shape}"))),
        },
    };
    let encoding = match head.class {
        6 | 7 => NumberEncoding::Real,
        class => NumberEncoding::Counts { bits: 8 << ((class - 8) / 2) },
    };
    Ok(LeafContent::Numbers { rows, columns, numbers, encoding })
}

fn shape_text(dimensions: &[usize]) -> String {
    let axes: Vec<String> = dimensions.iter().take(8).map(usize::to_string).collect();
    axes.join(" × ")
}

/// The rows of a matrix of characters.
fn text_rows(element: &Element<'_>, dimensions: &[usize], is_big_endian: bool) -> Vec<String> {
    const UTF8: u32 = 16;
    const UTF16: u32 = 17;
    const MAX_CHARACTERS: usize = 4096;
    let units: Vec<u16> = match element.kind {
        UTF8 => String::from_utf8_lossy(&element.content).encode_utf16().collect(),
        UTF16 => element
            .content
            .chunks_exact(2)
            .map(|raw| {
                let raw = [raw[0], raw[1]];
                if is_big_endian { u16::from_be_bytes(raw) } else { u16::from_le_bytes(raw) }
            })
            .collect(),
        _ => {
            let numbers = element.numbers(is_big_endian).unwrap_or_default();
            numbers.iter().map(|&n| n as u16).collect()
        }
    };
    let units = units.get(..MAX_CHARACTERS).unwrap_or(&units);
    let rows = dimensions.first().copied().unwrap_or(1).clamp(1, units.len().max(1));
    let row = |row: usize| {
        let own: Vec<u16> = units.iter().skip(row).step_by(rows).copied().collect();
        String::from_utf16_lossy(&own).trim_end_matches(['\0', ' ']).to_owned()
    };
    (0..rows.min(64)).map(row).collect()
}

fn text_before_zero(raw: &[u8]) -> String {
    let text = raw.split(|&byte| byte == 0).next().unwrap_or(&[]);
    String::from_utf8_lossy(text).into_owned()
}
