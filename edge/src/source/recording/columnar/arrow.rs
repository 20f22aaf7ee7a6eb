//! The fields of an Arrow schema, which Arrow's writers keep in a Parquet file's metadata.
//!
//! Base64 of an encapsulated message: a mark, a length, and a FlatBuffer with a `Schema`. Read here
//! by hand, because nothing else of Arrow is used: names, metadata and units of durations. Source:
//! Apache Arrow, *Serialization and Interprocess Communication*, `Message.fbs` and `Schema.fbs`
//! (format 1.0); FlatBuffers, *Internals*. Invariants: every offset is checked against the bytes
//! that are there; damage gives no field.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Most fields and pairs that are read.
const MOST_FIELDS: usize = 4096;

/// `MessageHeader.Schema` and `Type.Duration` of the format's unions.
const SCHEMA: u8 = 1;
const DURATION: u8 = 18;

/// The statements of a schema on a column.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ArrowField {
    pub(super) name: String,
    pub(super) metadata: Vec<(String, String)>,
    /// The unit, if the column holds durations.
    pub(super) duration_unit: Option<&'static str>,
}

/// Returns the fields of the schema in this text; empty if it is damaged.
pub(super) fn fields_of_schema(text: &str) -> Vec<ArrowField> {
    let Ok(bytes) = STANDARD.decode(text.trim()) else { return Vec::new() };
    fields_of_message(&bytes).unwrap_or_default()
}

fn fields_of_message(bytes: &[u8]) -> Option<Vec<ArrowField>> {
    // the mark of the length is absent in messages before Arrow 0.15
    let start = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let buffer = bytes.get(start..)?;
    let message = FlatTable { buffer, at: offset(buffer, 0)? };
    if message.byte(1)? != SCHEMA {
        return None;
    }
    let schema = message.table(2)?;
    let fields = schema.tables(1)?;
    Some(fields.into_iter().filter_map(|field| described(&field)).collect())
}

fn described(field: &FlatTable<'_>) -> Option<ArrowField> {
    let name = field.text(0)?;
    let pair = |pair: FlatTable<'_>| Some((pair.text(0)?, pair.text(1)?));
    let metadata = field.tables(6).unwrap_or_default().into_iter().filter_map(pair).collect();
    let duration_unit = (field.byte(2) == Some(DURATION)).then(|| {
        // a field of the default value is absent: milliseconds
        let unit = field.table(3).and_then(|kind| kind.short(0)).unwrap_or(1);
        ["s", "ms", "us", "ns"].get(usize::from(unit)).copied().unwrap_or("ms")
    });
    Some(ArrowField { name, metadata, duration_unit })
}

/// A table of a FlatBuffer.
struct FlatTable<'a> {
    buffer: &'a [u8],
    at: usize,
}

impl<'a> FlatTable<'a> {
    /// Returns where the value of a field stands.
    fn field(&self, number: usize) -> Option<usize> {
        let back = i32::from_le_bytes(bytes_at(self.buffer, self.at)?);
        let vtable = self.at.checked_add_signed(isize::try_from(-i64::from(back)).ok()?)?;
        let length = usize::from(u16::from_le_bytes(bytes_at(self.buffer, vtable)?));
        let entry = 4 + 2 * number;
        if entry + 2 > length {
            return None;
        }
        let offset = u16::from_le_bytes(bytes_at(self.buffer, vtable.checked_add(entry)?)?);
        (offset > 0).then(|| self.at.checked_add(usize::from(offset))).flatten()
    }

    fn byte(&self, number: usize) -> Option<u8> {
        self.buffer.get(self.field(number)?).copied()
    }

    fn short(&self, number: usize) -> Option<u16> {
        bytes_at(self.buffer, self.field(number)?).map(u16::from_le_bytes)
    }

    fn table(&self, number: usize) -> Option<FlatTable<'a>> {
        Some(FlatTable { buffer: self.buffer, at: offset(self.buffer, self.field(number)?)? })
    }

    fn text(&self, number: usize) -> Option<String> {
        let at = offset(self.buffer, self.field(number)?)?;
        let length = u32::from_le_bytes(bytes_at(self.buffer, at)?) as usize;
        let start = at.checked_add(4)?;
        let bytes = self.buffer.get(start..start.checked_add(length)?)?;
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }

    fn tables(&self, number: usize) -> Option<Vec<FlatTable<'a>>> {
        let at = offset(self.buffer, self.field(number)?)?;
        let count = u32::from_le_bytes(bytes_at(self.buffer, at)?) as usize;
        let one = |index: usize| {
            let place = at.checked_add(4 + 4 * index)?;
            Some(FlatTable { buffer: self.buffer, at: offset(self.buffer, place)? })
        };
        (0..count.min(MOST_FIELDS)).map(one).collect()
    }
}

/// The place that an offset at `at` points to.
fn offset(buffer: &[u8], at: usize) -> Option<usize> {
    at.checked_add(u32::from_le_bytes(bytes_at(buffer, at)?) as usize)
}

fn bytes_at<const N: usize>(buffer: &[u8], at: usize) -> Option<[u8; N]> {
    buffer.get(at..at.checked_add(N)?)?.try_into().ok()
}
