//! The layout of a scan of an IIO buffer.

use std::fs;
use std::path::Path;

use super::{SourceError, read, read_number, write};

/// One enabled element of a scan.
#[derive(Debug, Clone, PartialEq)]
struct Element {
    name: String,
    index: u32,
    layout: Layout,
    /// m/s² or mV per count.
    scale: f64,
    /// Offset in counts.
    offset: f64,
    /// Position in the scan, bytes.
    at: usize,
}

/// `[be|le]:[s|u]bits/storagebits>>shift`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    is_big_endian: bool,
    is_signed: bool,
    bits: u32,
    bytes: usize,
    shift: u32,
}

impl Layout {
    /// Decodes the driver's text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (order, rest) = text.split_once(':')?;
        let (sign, rest) = rest.split_at_checked(1)?;
        let (bits, rest) = rest.split_once('/')?;
        let (storage, shift) = rest.split_once(">>").unwrap_or((rest, "0"));
        let (bits, storage, shift): (u32, u32, u32) =
            (bits.parse().ok()?, storage.parse().ok()?, shift.parse().ok()?);
        let fits = matches!(storage, 8 | 16 | 32 | 64)
            && (1..=storage).contains(&bits)
            && bits.checked_add(shift).is_some_and(|used| used <= storage);
        let layout = Self {
            is_big_endian: order == "be",
            is_signed: sign == "s",
            bits,
            bytes: (storage / 8) as usize,
            shift,
        };
        (fits && matches!(order, "be" | "le") && matches!(sign, "s" | "u")).then_some(layout)
    }

    /// The count in these bytes; a slice of another length gives NaN.
    pub(super) fn decode(self, raw: &[u8]) -> f64 {
        if raw.len() != self.bytes {
            return f64::NAN;
        }
        let mut little = [0u8; 8];
        for (i, &byte) in raw.iter().enumerate() {
            let at = if self.is_big_endian { self.bytes - 1 - i } else { i };
            little[at] = byte;
        }
        let unused = 64 - self.bits;
        let bits = (u64::from_le_bytes(little) >> self.shift) << unused;
        if self.is_signed { (bits.cast_signed() >> unused) as f64 } else { (bits >> unused) as f64 }
    }
}

/// The enabled elements of a device.
#[derive(Debug)]
pub(super) struct Scan {
    elements: Vec<Element>,
    /// The element of each channel.
    order: Vec<usize>,
    bytes: usize,
}

impl Scan {
    /// Enables the wanted elements, disables the others, and computes the position of each.
    pub(super) fn set_up(folder: &Path, wanted: &[String]) -> Result<Self, SourceError> {
        let scan = folder.join("scan_elements");
        let mut elements = Vec::new();
        for name in names(&scan)? {
            let is_accel = name.starts_with("in_accel");
            let short = name.trim_start_matches("in_");
            let is_wanted =
                if wanted.is_empty() { is_accel } else { wanted.iter().any(|w| w == short) };
            write(&scan.join(format!("{name}_en")), if is_wanted { "1" } else { "0" })?;
            if !is_wanted {
                continue;
            }
            let index = read_number(&scan.join(format!("{name}_index")))? as u32;
            let type_path = scan.join(format!("{name}_type"));
            let text = read(&type_path)?;
            let layout = Layout::parse(&text).ok_or_else(|| {
                let what =
                    format!("{text:?} is no type; expected [be|le]:[s|u]bits/storage>>shift");
                SourceError::malformed(&type_path, what)
            })?;
            let scale = attribute(folder, &name, "scale")?.unwrap_or(1.0);
            let offset = attribute(folder, &name, "offset")?.unwrap_or(0.0);
            elements.push(Element { name: short.to_owned(), index, layout, scale, offset, at: 0 });
        }
        elements.sort_by_key(|element| element.index);
        let order = order(folder, &elements, wanted)?;
        let bytes = place(&mut elements);
        Ok(Self { elements, order, bytes })
    }

    pub(super) fn channels(&self) -> usize {
        self.order.len()
    }

    /// Bytes of a scan.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a channel is a voltage.
    pub(super) fn is_voltage(&self, channel: usize) -> bool {
        self.elements[self.order[channel]].name.starts_with("voltage")
    }

    /// Value of a channel in one scan: acceleration, m/s², or voltage, mV.
    pub(super) fn value(&self, raw: &[u8], channel: usize) -> f64 {
        let element = &self.elements[self.order[channel]];
        let bytes = raw.get(element.at..element.at + element.layout.bytes).unwrap_or(&[]);
        (element.layout.decode(bytes) + element.offset) * element.scale
    }
}

/// The elements of a device, by their `…_en` files.
fn names(scan: &Path) -> Result<Vec<String>, SourceError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(scan).map_err(|e| SourceError::from_io(scan, e))? {
        let entry = entry.map_err(|e| SourceError::from_io(scan, e))?;
        let file = entry.file_name().to_string_lossy().into_owned();
        names.extend(file.strip_suffix("_en").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// The value of `in_accel_x_scale`, else that of `in_accel_scale`, which all axes share.
fn attribute(folder: &Path, name: &str, what: &str) -> Result<Option<f64>, SourceError> {
    let shared = name.rsplit_once('_').map_or(name, |(kind, _)| kind);
    // of `in_voltage0` it is `in_voltage`
    let counted = name.trim_end_matches(|character: char| character.is_ascii_digit());
    for name in [name, shared, counted] {
        let path = folder.join(format!("{name}_{what}"));
        if path.exists() {
            return read_number(&path).map(Some);
        }
    }
    Ok(None)
}

/// The element of each channel: in the order of `wanted`, else by index.
fn order(
    folder: &Path,
    elements: &[Element],
    wanted: &[String],
) -> Result<Vec<usize>, SourceError> {
    if elements.is_empty() {
        return Err(SourceError::options(folder, "the device has none of the channels wanted"));
    }
    if wanted.is_empty() {
        return Ok((0..elements.len()).collect());
    }
    wanted
        .iter()
        .map(|name| {
            elements.iter().position(|element| element.name == *name).ok_or_else(|| {
                let known: Vec<&str> = elements.iter().map(|e| e.name.as_str()).collect();
                let what = format!("no channel {name:?}; there are {}", known.join(", "));
                SourceError::options(folder, what)
            })
        })
        .collect()
}

/// Sets the position of every element and returns the length of a scan. Each element is aligned to
/// its own size, the scan to the largest.
fn place(elements: &mut [Element]) -> usize {
    let (mut end, mut largest) = (0usize, 1usize);
    for element in elements {
        let size = element.layout.bytes;
        element.at = end.next_multiple_of(size);
        end = element.at + size;
        largest = largest.max(size);
    }
    end.next_multiple_of(largest)
}
