//! Times that stand several times because a column beside them tells several channels apart.
//!
//! Used by the readers of tables and of JSON. Invariant: times that repeat because they have few digits are
//! not meant: there the pairs of time and channel repeat, too.

use std::collections::HashMap;

/// Words in the name of a column that tells channels apart.
const CHANNEL_WORDS: [&str; 15] = [
    "sensor", "axis", "channel", "node", "tag", "device", "probe", "location", "sid", "kanal",
    "achse", "센서", "채널", "축", "위치",
];

/// Most channels of a table in long form; a column with more different values is another thing.
pub(super) const MOST_CHANNELS: usize = 64;

/// Fewest rows that are judged.
const LEAST_ROWS: usize = 16;

/// One of so many pairs may stand twice, as where a gateway sends a message again.
const COPIES: usize = 50;

/// How the times repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeated {
    /// Rows of most times.
    pub(super) times: usize,
}

/// Whether the name of a column of numbers says that it tells channels apart.
pub(super) fn names_channels(name: &str) -> bool {
    let name = name.to_lowercase();
    CHANNEL_WORDS.iter().any(|word| name.contains(word)) || name == "ch" || name == "id"
}

/// Why a table in long form is refused.
pub(super) fn long_form_refusal(column: &str, values: &[String], repeated: Repeated) -> String {
    let more = if values.len() > 8 { ", …" } else { "" };
    let shown: Vec<&str> = values.iter().take(8).map(String::as_str).collect();
    format!(
        "each time stands {} times, because {column} tells several channels apart ({}{more}); write each of them into a column or a file of its own",
        repeated.times,
        shown.join(", ")
    )
}

/// How often each time stands, if it stands once for each of several channels. `channels`: the number of
/// each row's channel.
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
