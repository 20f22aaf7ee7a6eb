//! Columns by which the rows of a table belong to several measuring points: `station`, `sensor_id`,
//! `axis`.
//!
//! Beside `repeats`, which knows the points by times that stand several times: here the times go
//! on, and the rows of one point follow those of another. Invariant: rows of several points are
//! never read as one recording without a word.

use super::repeats::MOST_CHANNELS;

/// Words of a name that say that a column tells measuring points apart.
const WORDS: [&str; 22] = [
    "station",
    "sensor",
    "sensorid",
    "axis",
    "channel",
    "channelid",
    "node",
    "nodeid",
    "probe",
    "point",
    "machine",
    "equipment",
    "asset",
    "bearing",
    "device",
    "deviceid",
    "kanal",
    "achse",
    "messstelle",
    "maschine",
    "tag",
    "tagname",
];

/// Such words in languages that write without blanks.
const JOINED: [&str; 10] =
    ["센서", "채널", "측점", "측정점", "설비", "测点", "通道", "传感器", "センサ", "チャンネル"];

/// Whether the name of a column says that it tells measuring points apart.
pub(crate) fn names_points(name: &str) -> bool {
    let name = name.rsplit(['.', '/']).next().unwrap_or(name);
    let mut plain = String::new();
    let mut was_lower = false;
    for letter in name.chars() {
        if letter.is_uppercase() && was_lower {
            plain.push(' ');
        }
        was_lower = letter.is_lowercase();
        plain.push(if letter.is_alphabetic() { letter } else { ' ' });
    }
    let lower = plain.to_lowercase();
    lower.split_whitespace().any(|word| WORDS.contains(&word))
        || JOINED.iter().any(|word| name.contains(word))
}

/// Rows of a point for each change to another one from which on numbers are those of points.
/// Chosen: samples of a converter change nearly with each row.
const LEAST_BLOCK: usize = 16;

/// Whether numbers stand still for enough rows ([`LEAST_BLOCK`]) that they tell points apart, and
/// are no samples.
pub(super) fn are_blocks(rows: &[u16]) -> bool {
    let changes = rows.windows(2).filter(|two| two[0] != two[1]).count();
    changes * LEAST_BLOCK <= rows.len()
}

/// Describes a column whose rows belong to several points; `None` if they are of one. `rows`: the
/// place of each row's value among `values`; an empty value belongs to none.
pub(super) fn several_points(column: &str, values: &[String], rows: &[u16]) -> Option<String> {
    let named: Vec<usize> = (0..values.len()).filter(|at| !values[*at].trim().is_empty()).collect();
    if named.len() < 2 || values.len() > MOST_CHANNELS {
        return None;
    }
    let count = |at: usize| rows.iter().filter(|row| usize::from(**row) == at).count();
    let shown: Vec<String> =
        named.iter().take(8).map(|at| format!("{:?} {} rows", values[*at], count(*at))).collect();
    let more = if named.len() > 8 { ", …" } else { "" };
    Some(format!(
        "{column} says that the rows belong to several measuring points ({}{more})",
        shown.join(", ")
    ))
}

/// Returns why such a table is refused.
pub(super) fn refusal(told: &str) -> String {
    format!(
        "{told}; write the rows of each into a file of its own, or name the columns to read all \
         rows as one (--variable)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_tell_points_apart_are_told_from_others() {
        for name in ["station", "SensorId", "axis_no", "channel 1", "meta.device", "센서번호"] {
            assert!(names_points(name), "{name}");
        }
        for name in ["voltage", "stage", "inside", "acc_de", "resid", "time", "status"] {
            assert!(!names_points(name), "{name}");
        }
        let values = ["DE".to_owned(), "NDE".to_owned()];
        let told = several_points("column \"station\"", &values, &[0, 0, 1]).expect("two");
        assert!(told.contains("\"DE\" 2 rows, \"NDE\" 1 rows"), "{told}");
        let one = ["DE".to_owned(), String::new()];
        assert_eq!(several_points("station", &one, &[0, 1]), None);
    }
}
