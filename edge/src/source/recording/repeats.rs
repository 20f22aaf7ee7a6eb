//! Times that stand several times because a column beside them tells several channels apart.
//!
//! Used by the readers of tables, of trees of variables and of JSON. Invariant: times that repeat
//! because they have few digits are not meant: there the pairs of time and channel repeat, too.

use std::collections::HashMap;

use super::stations;
use super::variables::Variable;
use crate::source::interpretation::ChannelRole;

/// Words in the name of a column that tells channels apart.
const CHANNEL_WORDS: [&str; 15] = [
    "sensor", "axis", "channel", "node", "tag", "device", "probe", "location", "sid", "kanal",
    "achse", "센서", "채널", "축", "위치",
];

/// Most channels of a table in long form; a column with more different values is another thing.
pub(super) const MOST_CHANNELS: usize = 64;

/// Fewest rows that are judged.
const LEAST_ROWS: usize = 16;

/// One in this many pairs may stand twice, as where a gateway sends a message again.
const COPIES: usize = 50;

/// How the times repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeated {
    /// Rows of most times.
    pub(super) times: usize,
}

/// A column of words, each by its number.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct WordColumn {
    /// Its path in the file, or its name.
    pub(super) name: String,
    /// The words in the order in which they come; no more of them once they are more than
    /// [`MOST_CHANNELS`].
    pub(super) words: Vec<String>,
    /// The number of each row's word.
    pub(super) rows: Vec<u16>,
}

impl WordColumn {
    /// Adds the word of the next row.
    pub(super) fn take(&mut self, word: &str) {
        let place = self.words.iter().position(|own| own == word);
        let place = place.unwrap_or_else(|| {
            if self.words.len() <= MOST_CHANNELS {
                self.words.push(word.chars().take(40).collect());
            }
            self.words.len() - 1
        });
        self.rows.push(place as u16);
    }

    /// Whether the words are so few that they may name channels.
    pub(super) fn may_name_channels(&self) -> bool {
        (2..=MOST_CHANNELS).contains(&self.words.len())
    }
}

/// Refuses variables of one table that hold several channels in one column, or each row several
/// times. `words`: the table's columns of words. Returns notes for the person.
///
/// # Errors
/// The column that tells the channels apart, with its values, or copies of all rows; in words.
pub(super) fn check_variables(
    variables: &[Variable],
    words: &[WordColumn],
    is_named: bool,
) -> Result<Vec<String>, String> {
    let last_part = |path: &str| path.rsplit(['.', '/']).next().unwrap_or(path).to_owned();
    let is_time = |variable: &&Variable| {
        let name = variable.stated.name.as_deref().unwrap_or(&variable.path);
        ChannelRole::by_name(&last_part(name)) == ChannelRole::Time
            && variable.numbers.len() >= LEAST_ROWS
            && !variable.numbers.iter().any(|number| number.is_nan())
    };
    let mut notes = Vec::new();
    for time in variables.iter().filter(is_time) {
        let times = &time.numbers;
        let is_beside = |length: usize| length == times.len();
        for own in words.iter().filter(|own| is_beside(own.rows.len()) && own.may_name_channels()) {
            if let Some(repeated) = repeated_times(times, &own.rows) {
                let column = format!("column {:?}", own.name);
                return Err(long_form_refusal(&column, &own.words, repeated));
            }
        }
        let beside =
            || variables.iter().filter(|own| is_beside(own.numbers.len()) && own.path != time.path);
        for own in beside().filter(|own| names_channels(&last_part(&own.path))) {
            if let Some((values, rows)) = numbered(&own.numbers)
                && let Some(repeated) = repeated_times(times, &rows)
            {
                return Err(long_form_refusal(
                    &format!("column {:?}", own.path),
                    &values,
                    repeated,
                ));
            }
        }
        let is_copied = |each: usize| beside().all(|own| is_copied(&own.numbers, each));
        notes.extend(check_copies(times, |each| beside().count() > 0 && is_copied(each))?);
    }
    notes.extend(check_points(variables, words, is_named)?);
    let left_out: Vec<&str> = words.iter().map(|own| own.name.as_str()).collect();
    if !left_out.is_empty() {
        notes.push(format!("columns of words were left out: {}", left_out.join(", ")));
    }
    Ok(notes)
}

/// Refuses rows that belong to several measuring points, one below the other; tells them where a
/// person has named the variables.
fn check_points(
    variables: &[Variable],
    words: &[WordColumn],
    is_named: bool,
) -> Result<Vec<String>, String> {
    let length = variables.iter().map(|own| own.numbers.len()).max().unwrap_or(0);
    let is_table = |rows: usize| rows >= LEAST_ROWS && rows == length;
    let mut told: Vec<String> = words
        .iter()
        .filter(|own| is_table(own.rows.len()) && stations::names_points(&own.name))
        .filter_map(|own| {
            stations::several_points(&format!("column {:?}", own.name), &own.words, &own.rows)
        })
        .collect();
    let numbers = variables
        .iter()
        .filter(|own| is_table(own.numbers.len()) && stations::names_points(&own.path))
        .filter(|own| own.stated.unit.is_none() && variables.len() > 1);
    told.extend(numbers.filter_map(|own| {
        let (values, rows) = numbered(&own.numbers)?;
        let column = format!("column {:?}", own.path);
        stations::are_blocks(&rows).then(|| stations::several_points(&column, &values, &rows))?
    }));
    match told.first() {
        Some(first) if !is_named => Err(stations::refusal(first)),
        _ => Ok(told),
    }
}

/// Whether each number of a column is there `each` times, one copy behind the other.
fn is_copied(numbers: &[f64], each: usize) -> bool {
    let is_same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    let copies = |all: &[f64]| all.iter().all(|other| is_same(*other, all[0]));
    numbers.len().is_multiple_of(each) && numbers.chunks(each).all(copies)
}

/// The values of a column of few whole numbers, and the place of each row's value among them.
pub(super) fn numbered(column: &[f64]) -> Option<(Vec<String>, Vec<u16>)> {
    let mut values: Vec<f64> = Vec::new();
    let mut rows = Vec::with_capacity(column.len());
    for number in column {
        let place = values.iter().position(|own| own.to_bits() == number.to_bits());
        let place = place.unwrap_or_else(|| {
            values.push(*number);
            values.len() - 1
        });
        if number.fract() != 0.0 || values.len() > MOST_CHANNELS {
            return None;
        }
        rows.push(place as u16);
    }
    Some((values.iter().map(f64::to_string).collect(), rows))
}

/// Refuses rows that all stand several times with the same time and values; tells some that do.
/// `is_copied`: whether the values of each row are there this many times.
///
/// # Errors
/// How often each row stands, in words.
pub(super) fn check_copies(
    times: &[f64],
    is_copied: impl Fn(usize) -> bool,
) -> Result<Vec<String>, String> {
    let pairs = || times.windows(2);
    let falls = pairs().filter(|pair| pair[1] < pair[0]).count();
    if 20 * falls > times.len() {
        return Ok(Vec::new()); // no course of time: intervals, or parts one below the other
    }
    let same = pairs().filter(|pair| pair[0].to_bits() == pair[1].to_bits()).count();
    // the time rises from one row to the next that is no copy of it
    let rises = |each: usize| {
        let own: Vec<f64> = times.iter().copied().step_by(each).collect();
        own.windows(2).all(|pair| pair[1] > pair[0])
    };
    let is_refused = |each: &usize| times.len() > 15 && rises(*each) && is_copied(*each);
    if let Some(each) = [2, 3, 4].into_iter().find(is_refused) {
        return Err(format!(
            "every row stands {each} times, with the same time and the same values; take the \
             copies out"
        ));
    }
    // times with few digits repeat, too: a few equal ones beside many different ones are copies
    let are_copies = same > 0 && 10 * same <= times.len();
    Ok(are_copies
        .then(|| format!("{same} rows have the time of the row before: rows may stand twice"))
        .into_iter()
        .collect())
}

/// Whether the name of a column of numbers says that it tells channels apart.
pub(super) fn names_channels(name: &str) -> bool {
    let name = name.to_lowercase();
    CHANNEL_WORDS.iter().any(|word| name.contains(word)) || name == "ch" || name == "id"
}

/// Returns why a table in long form is refused.
pub(super) fn long_form_refusal(column: &str, values: &[String], repeated: Repeated) -> String {
    let more = if values.len() > 8 { ", …" } else { "" };
    let shown: Vec<&str> = values.iter().take(8).map(String::as_str).collect();
    format!(
        "each time stands {} times, because {column} tells several channels apart ({}{more}); \
         write each of them into a column or a file of its own",
        repeated.times,
        shown.join(", ")
    )
}

/// Returns how often each time stands, if it stands once for each of several channels. `channels`:
/// the number of each row's channel.
pub(super) fn repeated_times(times: &[f64], channels: &[u16]) -> Option<Repeated> {
    if times.len() < LEAST_ROWS || times.len() != channels.len() {
        return None;
    }
    let mut of_time: HashMap<u64, Vec<u16>> = HashMap::new();
    let mut copies = 0;
    for (time, channel) in times.iter().zip(channels) {
        let own = of_time.entry(time.to_bits()).or_default();
        if own.contains(channel) {
            copies += 1;
            // a time that stands very often would make this slow
            if copies * COPIES > times.len() {
                return None;
            }
        } else {
            own.push(*channel);
        }
    }
    // most times stand for more than one channel
    let several = of_time.values().filter(|own| own.len() > 1).count();
    let most = of_time.values().map(Vec::len).max().unwrap_or(0);
    (2 * several > of_time.len()).then_some(Repeated { times: most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_for_each_channel_is_told_from_a_time_with_few_digits() {
        let each: Vec<f64> = (0..60).map(|n| f64::from(n / 3) * 0.01).collect();
        let axes: Vec<u16> = (0..60).map(|n| n % 3).collect();
        assert_eq!(repeated_times(&each, &axes), Some(Repeated { times: 3 }));
        let stacked: Vec<f64> = (0..60).map(|n| f64::from(n % 20)).collect();
        let blocks: Vec<u16> = (0..60).map(|n| n / 20).collect();
        assert_eq!(repeated_times(&stacked, &blocks), Some(Repeated { times: 3 }));
        let states: Vec<u16> = (0..60).map(|n| n / 30).collect();
        assert_eq!(repeated_times(&each, &states), None, "a state beside rounded times");
        let rising: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(repeated_times(&rising, &axes), None);
    }
}
