//! The headers of an LVM file: how its rows are laid out, and what they state of the channels.

use std::iter::Peekable;

use pdm_shared::time::Timestamp;

use super::END_OF_HEADER;
use crate::source::recording::StatedChannel;
use crate::tabular::{DateOrder, Stamp};

/// Most channels of a segment; a rack of sensors has fewer.
const MAX_CHANNELS: usize = 1024;

/// Columns of X in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeColumns {
    None,
    One,
    OneEach,
}

/// How the rows of a file are laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    separator: char,
    times: TimeColumns,
    /// The decimal mark that the header states.
    decimal: Option<char>,
}

impl Layout {
    /// Reads the header of the file.
    pub(super) fn parse<'a>(
        lines: &mut impl Iterator<Item = (usize, &'a str)>,
    ) -> Result<Self, String> {
        let mut layout = Self { separator: '\t', times: TimeColumns::One, decimal: None };
        for (_, line) in lines {
            if line.starts_with(END_OF_HEADER) {
                return Ok(layout);
            }
            let mut fields = line.split(['\t', ',', ';']);
            let (key, value) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
            match (key.trim(), value.trim().to_lowercase().as_str()) {
                ("Separator", "comma") => layout.separator = ',',
                ("Separator", "semicolon") => layout.separator = ';',
                ("X_Columns", "no") => layout.times = TimeColumns::None,
                ("X_Columns", "one") => layout.times = TimeColumns::One,
                ("X_Columns", "multi") => layout.times = TimeColumns::OneEach,
                ("Decimal_Separator", ".") => layout.decimal = Some('.'),
                // the mark itself may be the separator at which the line was split
                ("Decimal_Separator", _) => layout.decimal = Some(','),
                _ => {}
            }
        }
        Err(format!("this LVM file ends within its header: {END_OF_HEADER} is missing"))
    }

    pub(super) fn fields(self, line: &str) -> Vec<&str> {
        line.trim_end_matches(['\r', '\n']).split(self.separator).map(str::trim).collect()
    }

    /// The column of a channel's values.
    pub(super) const fn value_column(self, channel: usize) -> usize {
        match self.times {
            TimeColumns::None | TimeColumns::One => channel + 1,
            TimeColumns::OneEach => 2 * channel + 1,
        }
    }

    /// The column of a channel's times.
    pub(super) const fn time_column(self, channel: usize) -> Option<usize> {
        match self.times {
            TimeColumns::None => None,
            TimeColumns::One => Some(0),
            TimeColumns::OneEach => Some(2 * channel),
        }
    }

    /// The column of a channel's entry in a line of the header, counted behind the key.
    const fn entry(self, channel: usize) -> usize {
        match self.times {
            TimeColumns::None | TimeColumns::One => channel,
            TimeColumns::OneEach => 2 * channel,
        }
    }

    /// The number in a column: NaN where the field is empty.
    pub(super) fn number(self, fields: &[&str], column: usize, line: usize) -> Result<f64, String> {
        let field = fields.get(column).copied().unwrap_or("");
        if field.is_empty() {
            return Ok(f64::NAN);
        }
        self.parsed(field).ok_or_else(|| {
            let shown: String = field.chars().take(40).collect();
            format!("line {}, column {}: {shown:?} is no number", line + 1, column + 1)
        })
    }

    fn parsed(self, field: &str) -> Option<f64> {
        let is_comma = self.decimal != Some('.') && self.separator != ',';
        match field.parse() {
            Ok(number) => Some(number),
            Err(_) if is_comma => field.replacen(',', ".", 1).parse().ok(),
            Err(_) => None,
        }
    }
}

/// A time of day with at most nine digits behind its seconds; LabVIEW writes up to twenty.
fn cut_clock(text: &str) -> String {
    let text = text.trim().replace(',', ".");
    match text.split_once('.') {
        Some((whole, part)) if whole.contains(':') => {
            format!("{whole}.{}", part.chars().take(9).collect::<String>())
        }
        _ => text,
    }
}

/// The statements of a segment on one channel.
#[derive(Debug, Clone, Default)]
pub(super) struct ChannelHead {
    pub(super) stated: StatedChannel,
    pub(super) delta_x: Option<f64>,
    pub(super) is_over_frequency: bool,
    /// Samples that the header announces.
    pub(super) samples: Option<usize>,
}

/// The header of a segment.
pub(super) struct SegmentHead {
    pub(super) layout: Layout,
    pub(super) channels: Vec<ChannelHead>,
    /// Date and time of the first channel, as the segment spells them.
    date: Option<String>,
    clock: Option<String>,
}

impl SegmentHead {
    /// Reads the header and the line of names.
    pub(super) fn parse<'a>(
        layout: Layout,
        lines: &mut Peekable<impl Iterator<Item = (usize, &'a str)>>,
    ) -> Result<Self, String> {
        let mut head = Self { layout, channels: Vec::new(), date: None, clock: None };
        let mut is_special = false;
        let mut is_ended = false;
        for (index, line) in lines.by_ref() {
            if line.starts_with(END_OF_HEADER) {
                is_ended = true;
                break;
            }
            is_special |= line.starts_with("***Start_Special");
            if !is_special {
                head.add_line(line, index)?;
            }
            is_special &= !line.starts_with("***End_Special");
        }
        if !is_ended {
            return Err(format!("a segment of this LVM file has no {END_OF_HEADER}"));
        }
        if head.channels.is_empty() {
            return Err("a segment of this LVM file states no Channels".to_owned());
        }
        head.add_names(lines);
        Ok(head)
    }

    fn add_line(&mut self, line: &str, index: usize) -> Result<(), String> {
        let fields = self.layout.fields(line);
        let (key, entries) = fields.split_first().map_or(("", &[][..]), |(key, rest)| (*key, rest));
        if key == "Channels" {
            let count = entries.first().and_then(|field| field.parse().ok()).unwrap_or(0usize);
            if !(1..=MAX_CHANNELS).contains(&count) {
                let line = index + 1;
                return Err(format!("line {line}: {count} channels; 1 to {MAX_CHANNELS} are read"));
            }
            self.channels = vec![ChannelHead::default(); count];
        }
        let first =
            || entries.iter().find(|entry| !entry.is_empty()).map(|&entry| entry.to_owned());
        match key {
            "Date" => self.date = first(),
            "Time" => self.clock = first(),
            _ => {}
        }
        let layout = self.layout;
        for (channel, head) in self.channels.iter_mut().enumerate() {
            let entry = entries.get(layout.entry(channel)).copied().unwrap_or("");
            if entry.is_empty() {
                continue;
            }
            match key {
                "Y_Unit_Label" => head.stated.unit = Some(entry.to_owned()),
                "Delta_X" => head.delta_x = layout.parsed(entry).filter(|step| *step > 0.0),
                "Samples" => head.samples = entry.parse().ok(),
                "X_Dimension" => {
                    let dimension = entry.to_lowercase();
                    head.is_over_frequency =
                        ["freq", "주파수"].iter().any(|word| dimension.contains(word));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The line of names, if one is there.
    fn add_names<'a>(&mut self, lines: &mut Peekable<impl Iterator<Item = (usize, &'a str)>>) {
        let layout = self.layout;
        let is_names = |line: &str| {
            let fields = layout.fields(line);
            fields.iter().any(|f| !f.is_empty())
                && fields.iter().all(|f| layout.parsed(f).is_none())
        };
        let Some((_, line)) = lines.next_if(|(_, line)| is_names(line)) else { return };
        let fields = layout.fields(line);
        for (channel, head) in self.channels.iter_mut().enumerate() {
            let name = fields.get(layout.value_column(channel)).copied().unwrap_or("");
            head.stated.name = Some(name.to_owned()).filter(|name| !name.is_empty());
        }
    }

    /// Returns when the segment begins, by the clock of its computer.
    pub(super) fn start(&self) -> Option<Timestamp> {
        let stated = |text: &Option<String>| Stamp::parse(&cut_clock(text.as_deref()?));
        let (date, clock) = (stated(&self.date)?, stated(&self.clock)?);
        let at = date.with_clock_of(&clock).unix_ns(DateOrder::YearFirst)?;
        let fits = date.has_date() && clock.has_clock();
        fits.then(|| Timestamp::from_unix_ms(at / 1_000_000)).flatten()
    }

    /// 1 if a file without X column has no empty first field in its rows either.
    pub(super) fn missing_fields(&self, first_row: &[&str]) -> usize {
        let is_missing = self.layout.times == TimeColumns::None
            && first_row.len() <= self.channels.len()
            && first_row.first().is_some_and(|field| !field.is_empty());
        usize::from(is_missing)
    }
}
