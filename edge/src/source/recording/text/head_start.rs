//! The time at which the lines above a table say that its samples begin: `T0\t01.03.2026 08:00:00`,
//! `Start Time, 2026/03/01 08:00:00`, `측정일시: 2026. 3. 1. 오후 2:00:00`.
//!
//! A key that speaks of the beginning (`start`, `T0`, `trigger`) counts above one that speaks of a
//! time (`date`, `timestamp`). Invariants: lines that state different times state none; a date with
//! two readings dates nothing, and it is said.

use super::is_comment;
use super::metadata::factor_of;
use crate::source::recording::RawRecording;
use crate::source::recording::leaves::in_zone;
use crate::source::recording::meaning::since_1970;
use crate::tabular::calendar::decided_order;
use crate::tabular::fields::{Separator, numbered_lines};
use crate::tabular::width::half_width;
use crate::tabular::zone::{zone_of_line, zone_of_name};
use crate::tabular::{LocalZone, Stamp};

/// Most lines of a head that are looked at.
const MOST_LINES: usize = 200;

/// Keys that say when the samples begin, in lower case with letters and digits alone.
const SURE: [&str; 46] = [
    "t0",
    "start",
    "starttime",
    "starttimeutc",
    "startdate",
    "startdatetime",
    "startedat",
    "starttimeofexport",
    "starttimeofrecord",
    "recordingstart",
    "recordingstarted",
    "recordstart",
    "measurementstart",
    "begin",
    "begintime",
    "triggertime",
    "trigtime",
    "trigger",
    "triggerdate",
    "acquisitiontime",
    "acquisitiondate",
    "acquisitionstart",
    "measuredat",
    "measurementtime",
    "measurementdate",
    "recordedat",
    "recordingtime",
    "datetimefirstsampleyyyymmddhhmmss",
    "firstsample",
    "startzeit",
    "messbeginn",
    "messzeit",
    "aufnahmezeit",
    "startdatum",
    "시작시각",
    "시작시간",
    "측정시각",
    "측정일시",
    "측정시간",
    "起始时间",
    "开始时间",
    "采集时间",
    "測定日時",
    "開始時刻",
    "トリガ時刻",
    "試験日時",
];

/// Keys that speak of a time.
const TIMES: [&str; 15] = [
    "time",
    "date",
    "datetime",
    "timestamp",
    "datum",
    "datumzeit",
    "datumuhrzeit",
    "zeitstempel",
    "eventtime",
    "eventdate",
    "readingtime",
    "readingtimeutc",
    "日期",
    "日時",
    "일시",
];

/// Keys of a clock beside a date.
const CLOCKS: [&str; 8] =
    ["time", "eventtime", "starttime", "triggertime", "uhrzeit", "zeit", "시각", "時刻"];

/// A statement of a head.
struct Statement {
    line: String,
    key: String,
    stamp: Stamp,
    zone: Option<LocalZone>,
}

/// Takes what the head of a table says of its samples: when they begin, and that some are missing.
pub(super) fn take(text: &str, first_row: usize, recording: &mut RawRecording) {
    take_factor(text, first_row, recording);
    take_start(text, first_row, recording);
    take_losses(text, first_row, recording);
}

/// Takes a gain or scale of the head, which may be that of channels of whole numbers.
fn take_factor(text: &str, first_row: usize, recording: &mut RawRecording) {
    let head = numbered_lines(text).take(MOST_LINES).take_while(|(number, _)| *number < first_row);
    let Some(factor) = factor_of(head.map(|(_, line)| line)) else { return };
    for channel in &mut recording.channels {
        if channel.factor.is_none() {
            channel.factor = Some(factor.clone());
        }
    }
}

/// Dates a recording by the head of its table, where nothing else does.
fn take_start(text: &str, first_row: usize, recording: &mut RawRecording) {
    let is_dated = recording.time.as_ref().is_some_and(|axis| axis.epoch_s.is_some());
    if recording.stated_start.is_some() || is_dated {
        return;
    }
    let head: Vec<&str> = numbered_lines(text)
        .take(MOST_LINES)
        .take_while(|(number, _)| *number < first_row)
        .map(|(_, line)| line)
        .collect();
    let all = with_joined_clocks(statements_of(&head));
    let is_of = |keys: &[&str], one: &&Statement| {
        keys.contains(&one.key.as_str()) && one.stamp.has_date() && one.stamp.has_clock()
    };
    let sure: Vec<&Statement> = all.iter().filter(|one| is_of(&SURE, one)).collect();
    let times: Vec<&Statement> = all.iter().filter(|one| is_of(&TIMES, one)).collect();
    let of_kind = if sure.is_empty() { times } else { sure };
    let Some((first, others)) = of_kind.split_first() else { return };
    if others.iter().any(|other| other.stamp != first.stamp) {
        return;
    }
    let Ok(order) = decided_order(&[first.stamp], None) else {
        recording.notes.push(format!(
            "the day or the month may come first in {:?} above the rows, so the recording is not \
             dated by it",
            first.line
        ));
        return;
    };
    let seconds = first.stamp.unix_ns(order).map(|ns| ns as f64 / 1e9);
    let Some(at) = seconds.and_then(since_1970) else { return };
    let zone = first.zone.or_else(|| head.iter().find_map(|line| zone_of_line(line)));
    let is_local = !first.stamp.has_offset();
    (recording.stated_start, recording.is_start_local) = match zone.filter(|_| is_local) {
        Some(zone) => (Some(in_zone(at, zone)), false),
        None => (Some(at), is_local),
    };
    recording.start_origin = Some(format!("the line {:?} above the rows", first.line));
}

/// The statements of times in the lines.
fn statements_of(head: &[&str]) -> Vec<Statement> {
    let mut all = Vec::new();
    for (place, line) in head.iter().enumerate() {
        let plain = half_width(line.trim().trim_start_matches('\u{feff}')).into_owned();
        let marks = ['#', '%', '/', '*', ';', '!', '"', ' ', '['];
        let plain = plain.trim_start_matches(marks);
        let found = statement_of(plain, line).or_else(|| below(head, place));
        all.extend(found);
    }
    all
}

/// The statement of one line: a key, and a time behind it.
fn statement_of(plain: &str, line: &str) -> Option<Statement> {
    let at = plain.find([':', '=', ';', ',', '\t', ']'])?;
    let (key, value) = plain.split_at(at);
    // `Date/Time: …`, `Time (UTC): …`, `Start Time of record: …`
    let name = key_of(key);
    if !is_key(&name) {
        return None;
    }
    let value = value.trim_start_matches([':', '=', ';', ',', '\t', ']', ' ', '"']);
    let stamp = stamp_of(value)?;
    let line: String = line.trim().chars().take(60).collect();
    Some(Statement { line, key: name, stamp, zone: zone_of_name(key.trim_matches('"')) })
}

fn is_key(name: &str) -> bool {
    SURE.contains(&name) || TIMES.contains(&name) || CLOCKS.contains(&name)
}

/// A key without its brackets, in lower case with letters and digits alone.
fn key_of(key: &str) -> String {
    let key = key.split(['(', '[']).next().unwrap_or(key);
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A time in the row below its name: `Segment,TrigTime` above `#1,01-Mar-2026 08:00:00`.
fn below(head: &[&str], place: usize) -> Option<Statement> {
    let (names, values) = (head.get(place)?, head.get(place + 1)?);
    let separator = [',', ';', '\t'].into_iter().find(|c| names.contains(*c))?;
    let separator = Separator::Char(separator);
    let (names, fields) = (separator.fields(names), separator.fields(values));
    if names.len() != fields.len() || names.iter().any(|name| Stamp::parse(name).is_some()) {
        return None;
    }
    names.iter().zip(&fields).find_map(|(name, field)| {
        let key = key_of(name);
        let stamp = stamp_of(field).filter(|_| SURE.contains(&key.as_str()))?;
        let line: String = format!("{name}: {field}").chars().take(60).collect();
        Some(Statement { line, key, stamp, zone: zone_of_name(name) })
    })
}

/// The time at the beginning of a value; a comma may part date and clock, or end the time.
fn stamp_of(value: &str) -> Option<Stamp> {
    let value = value.trim_matches([' ', '"', ',', ';', '\t']);
    let whole = |text: &str| Stamp::parse(text.trim().trim_matches('"'));
    let parts: Vec<&str> = value.split([',', ';', '\t']).map(str::trim).collect();
    let joined = |count: usize| whole(&parts.get(..count)?.join(" "));
    // `20260301_080000.000` has the form of a name
    let compact = || whole(&value.replacen('_', "T", 1));
    // a count of ticks before the words: `134168256000000000<tab>Sunday, 1 March
    // 2026<tab>08:00:00.000`
    let behind = || whole(&parts.get(1..).filter(|rest| rest.len() > 1)?.join(" "));
    whole(value).or_else(|| joined(2)).or_else(|| joined(1)).or_else(compact).or_else(behind)
}

/// A date and a clock in lines of their own as one time: `Event Date: …`, `Event Time: …`.
fn with_joined_clocks(mut all: Vec<Statement>) -> Vec<Statement> {
    let date = all.iter().find(|one| one.stamp.has_date() && !one.stamp.has_clock());
    let clock = all.iter().find(|one| {
        !one.stamp.has_date() && one.stamp.has_clock() && CLOCKS.contains(&one.key.as_str())
    });
    if let (Some(date), Some(clock)) = (date, clock) {
        let stamp = date.stamp.with_clock_of(&clock.stamp);
        let line = format!("{}; {}", date.line, clock.line);
        let joined = Statement { line, key: date.key.clone(), stamp, zone: clock.zone };
        all.push(joined);
    }
    all.retain(|one| one.stamp.has_date() && one.stamp.has_clock());
    all
}

/// Tells losses of samples that the lines above the rows state: `Lost samples: 37`.
fn take_losses(text: &str, first_row: usize, recording: &mut RawRecording) {
    const WORDS: [&str; 11] = [
        "lost", "skipped", "dropped", "missed", "missing", "overrun", "overflow", "verloren",
        "손실", "丢失", "欠落",
    ];
    let head = numbered_lines(text).take(MOST_LINES).take_while(|(number, _)| *number < first_row);
    for (number, line) in head {
        let has_loss = |part: &str| {
            let Some((key, value)) = part.split_once([':', '=']) else { return false };
            let key = key.to_lowercase();
            let digits: String = value.trim().chars().take_while(char::is_ascii_digit).collect();
            let count: u64 = digits.parse().unwrap_or(0);
            count > 0 && WORDS.iter().any(|word| key.contains(word))
        };
        let plain = line.trim_matches([' ', '\u{feff}']);
        if plain.split([',', ';', '\t']).any(has_loss) {
            let kind = if is_comment(plain) { "the comment" } else { "the line" };
            let shown: String = plain.chars().take(60).collect();
            recording.notes.push(format!(
                "samples are missing by {kind} in line {number} ({shown:?}), which is counted as a \
                 gap"
            ));
            recording.gaps_told += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::source::recording::{RecordingOptions, open_content};

    fn read(head: &str) -> String {
        let rows: Vec<String> =
            (0..200).map(|n| format!("{:.4}\n", (f64::from(n) * 0.7).sin())).collect();
        let text = format!("{head}Rate: 200 Hz\nAcc (g)\n{}", rows.concat());
        let options = RecordingOptions {
            zone: "UTC".parse().expect("a zone"),
            ..RecordingOptions::default()
        };
        let source = open_content(Path::new("t.txt"), text.into_bytes(), &options).expect(head);
        let said = source.interpretation().expect("a file").to_string();
        let start = source
            .interpretation()
            .and_then(|input| input.notes.iter().find(|note| note.contains("dated by")).cloned());
        format!("{said} | {}", start.unwrap_or_default())
    }

    /// R-EDGE-4: such a start was stated, and the recording was dated by the last change of the
    /// file.
    #[test]
    fn a_start_above_the_rows_dates_the_recording() {
        for head in [
            "T0\t04.05.2026 06:07:08\n",
            "Start Time, 2026/05/04 06:07:08\n",
            "Date/Time,04-May-26 06:07:08\n",
            "Date:\t2026-05-04 06:07:08\n",
            "EVENT_TIME: 060700\nDATE_TIME_FIRST_SAMPLE_YYYYMMDD_HHMMSS: 20260504_060708.000\n",
            "Segment,TrigTime,TimeSinceSegment1\n#1,04-May-2026 06:07:08,0\n",
            ";Start_time, 2026-05-04, 06:07:08.000\n",
            "# Time: 2026-05-04 06:07:08.000000, Device: D4E9\n",
            "Event Date: 2026-05-04\nEvent Time: 06:07:08\n",
            "측정일시: 2026. 5. 4. 오전 6:07:08\n",
            "[試験日時],2026/05/04 06:07:08\n",
            "起始时间：2026-05-04 06:07:08\n",
            "Datum;04.05.2026 06:07:08\n",
            "Starttime of export\t134223700280000000\tMonday, 4 May 2026\t06:07:08.000\n",
            "Start Time (UTC): 2026-05-04 06:07:08\n",
        ] {
            let said = read(head);
            assert!(said.contains("dated by the line"), "{head}: {said}");
        }
        for head in [
            "End time: 2026-05-04 06:07:08\n",
            "Exported: 2026-05-04 06:07:08\n",
            "Serial: 20260504\n",
        ] {
            let said = read(head);
            assert!(!said.contains("dated by the line"), "{head}: {said}");
        }
        let open = read("Start: 05/04/2026 06:07:08\n");
        assert!(open.contains("the day or the month may come first"), "{open}");
    }

    /// R-EDGE-4: whole numbers below a gain were taken for g as they are.
    #[test]
    fn whole_numbers_below_a_gain_are_refused_with_it() {
        let rows: Vec<String> =
            (0..800).map(|n| format!("{:.0}\n", 5e3 * (f64::from(n) * 0.7).sin())).collect();
        for head in ["Gain: 0.02\n", "# Scale factor = 0.02\n"] {
            let text = format!("{head}Rate: 200 Hz\nAcc (g)\n{}", rows.concat()).into_bytes();
            let options = RecordingOptions::default();
            let opened = open_content(Path::new("t.txt"), text, &options);
            let error = opened.err().expect("refused").to_string();
            assert!(error.contains("--scale") && error.contains("0.02"), "{head}: {error}");
        }
        // decimals are g as they are, which is told
        assert!(read("Gain: 0.02\n").contains("in g (from the file)"));
    }

    #[test]
    fn losses_above_the_rows_are_told_and_counted() {
        for head in [
            "# Integrity: False, Skipped samples: 3\n",
            "Lost samples: 9\n",
            "Buffer overruns: 1, dropped packets: 2\n",
        ] {
            let said = read(head);
            assert!(said.contains("samples are missing by"), "{head}: {said}");
        }
        let none = read("Lost samples: 0\n");
        assert!(!none.contains("samples are missing"), "{none}");
    }
}
