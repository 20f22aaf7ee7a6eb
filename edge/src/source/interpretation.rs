//! The interpretation of an input: which columns are channels, their unit and scale, the rate, and
//! where each of these comes from.
//!
//! Stands between the readers of formats, which repeat what a file states, and the source, which
//! delivers m/s². Invariants: nothing is decided in silence (the one line of [`Interpretation`]'s
//! `Display` says all of it); what contradicts or is ambiguous is refused with both sides and the
//! option that decides.

use std::fmt;
use std::str::FromStr;

use pdm_shared::event::{InputDescription, StatementSource};

mod channels;
mod rate;
mod role;
mod scale;
mod unit;

pub(crate) use channels::{choose_channels, label, role};
pub use rate::{MOST_HZ, believed_rate};
pub(crate) use rate::{RateStatements, decided_rate, unbelieved};
pub use role::ChannelRole;
pub(crate) use role::{says_voltage, sensor_of_file, states_time};
pub(crate) use scale::decided_scale;
pub use unit::{StatedUnit, UnitKind};
pub(crate) use unit::{time_unit_of_name, unknown_unit_of};

/// Which side counts where a file and an option contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preferred {
    /// The statement of the file.
    File,
    /// The statement of the option.
    Option,
}

impl FromStr for Preferred {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "file" => Ok(Self::File),
            "option" => Ok(Self::Option),
            _ => Err(format!("{text:?} is no side; allowed are file and option")),
        }
    }
}

impl fmt::Display for Preferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::File { "file" } else { "option" })
    }
}

/// How one channel was read.
#[derive(Debug, Clone, PartialEq)]
pub struct InterpretedChannel {
    /// Name in the file.
    pub name: Option<String>,
    /// Unit of the numbers, with the scale if there is one.
    pub unit: String,
    /// Where the unit comes from.
    pub unit_source: StatementSource,
}

/// How an input was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Interpretation {
    /// Format, as a person calls it.
    pub format: String,
    /// The channels that are delivered, in their order.
    pub channels: Vec<InterpretedChannel>,
    /// Channels of the file that were not asked for, by number and name.
    pub further: Vec<(usize, Option<String>)>,
    /// Columns or variables that are no channels, each with the reason.
    pub left_out: Vec<String>,
    /// The column of time, if there is one.
    pub time: Option<String>,
    /// Samples per second.
    pub rate_hz: f64,
    /// Where the rate comes from.
    pub rate_source: StatementSource,
    /// Jitter of the time column, ratio, if its digits show it.
    pub jitter_ratio: Option<f64>,
    /// Values that are missing.
    pub missing_values: u64,
    /// Gaps in the time column.
    pub gaps: u64,
    /// Samples that the gaps would hold.
    pub lost_samples: u64,
    /// How often the times of a column step back, which then gives no rate.
    pub time_steps_back: u64,
    /// Further notes for the person.
    pub notes: Vec<String>,
}

impl Interpretation {
    /// The description of one channel for its events.
    pub fn described(&self, channel: usize) -> InputDescription {
        let own = self.channels.get(channel).or_else(|| self.channels.first());
        let notes = self.notes.join("; ");
        InputDescription {
            format: self.format.clone(),
            channel: own.and_then(|channel| channel.name.clone()),
            unit: own.map_or_else(String::new, |channel| channel.unit.clone()),
            unit_source: own.map_or(StatementSource::Assumed, |channel| channel.unit_source),
            rate_source: self.rate_source,
            jitter_ratio: self.jitter_ratio,
            missing_values: self.missing_values,
            gaps: self.gaps,
            lost_samples: self.lost_samples,
            note: (!notes.is_empty()).then_some(notes),
        }
        .bounded()
    }
}

impl Interpretation {
    /// Returns the note on the channels that were not asked for: their names, and how to ask for
    /// them.
    pub fn further_words(&self) -> Option<String> {
        let named = |(number, name): &(usize, Option<String>)| match name {
            Some(name) => format!("{name} (--channel {number})"),
            None => format!("--channel {number}"),
        };
        let more = if self.further.len() > MOST_NAMED { ", …" } else { "" };
        let words: Vec<String> = self.further.iter().take(MOST_NAMED).map(named).collect();
        (!words.is_empty())
            .then(|| format!("not analysed, of the same recording: {}{more}", words.join(", ")))
    }

    /// Whether nothing states the unit of a channel, so that it is read as g.
    pub fn is_unit_assumed(&self) -> bool {
        self.channels.iter().any(|channel| channel.unit_source == StatementSource::Assumed)
    }
}

/// Most channels that the line names.
const MOST_NAMED: usize = 8;

fn source_word(source: StatementSource) -> &'static str {
    match source {
        StatementSource::File => "from the file",
        StatementSource::TimeColumn => "from the time column",
        StatementSource::Option => "from the option",
        StatementSource::Assumed => "assumed, nothing states it",
    }
}

impl fmt::Display for Interpretation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.channels.len();
        write!(f, "{}: {count} channel{}", self.format, if count == 1 { "" } else { "s" })?;
        let names: Vec<&str> =
            self.channels.iter().filter_map(|channel| channel.name.as_deref()).collect();
        if !names.is_empty() {
            let more = if names.len() > MOST_NAMED { ", …" } else { "" };
            write!(f, " {}{more}", names[..names.len().min(MOST_NAMED)].join(", "))?;
        }
        if let Some(first) = self.channels.first() {
            write!(f, " in {} ({})", first.unit, source_word(first.unit_source))?;
            if self.channels.iter().any(|channel| channel.unit != first.unit) {
                write!(f, " and other units")?;
            }
        }
        write!(f, "; {} Hz ({}", short(self.rate_hz), source_word(self.rate_source))?;
        if let Some(jitter) = self.jitter_ratio {
            write!(f, ", jitter {:.2} %", 100.0 * jitter)?;
        }
        write!(f, ")")?;
        if let Some(time) = &self.time {
            write!(f, "; time in {time}")?;
        }
        if self.gaps > 0 {
            write!(f, "; {} gap{}", self.gaps, plural(self.gaps))?;
            // a remark does not say how many are missing
            if self.lost_samples > 0 {
                write!(f, ", {} sample{} lost", self.lost_samples, plural(self.lost_samples))?;
            }
        }
        if self.missing_values > 0 {
            let values = plural(self.missing_values);
            write!(f, "; {} value{values} missing", self.missing_values)?;
        }
        if !self.left_out.is_empty() {
            let more = if self.left_out.len() > MOST_NAMED { ", …" } else { "" };
            let named = &self.left_out[..self.left_out.len().min(MOST_NAMED)];
            write!(f, "; no channels: {}{more}", named.join(", "))?;
        }
        self.notes.iter().try_for_each(|note| write!(f, "; {note}"))
    }
}

/// The ending of what is counted.
const fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// A number with at most six digits behind the point.
pub(crate) fn short(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests;
