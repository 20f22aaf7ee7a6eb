//! Remarks among the rows of a table: a logger writes there that its memory was full, or that it
//! began anew.
//!
//! Invariant: a remark is told with its line, and one by which samples are missing counts as a gap.

use super::is_comment;
use crate::source::recording::RawRecording;
use crate::tabular::fields::numbered_lines;

/// Words of a remark by which rows are missing behind it, in lower case.
const LOSS_WORDS: [&str; 12] = [
    "lost",
    "loss",
    "overflow",
    "overrun",
    "dropped",
    "missed",
    "skipped",
    "restart",
    "reset",
    "gap",
    "손실",
    "재시작",
];

/// Words beside which a word of loss names a thing, not a loss: `gap sensor`, `air gap`,
/// `calibrated`.
const BESIDE_THINGS: [&str; 6] = ["sensor", "air gap", "probe", "calibrat", "no gap", "without"];

/// Whether a remark tells that samples are missing.
fn tells_loss(line: &str) -> bool {
    let lower = line.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let is_weak = ["gap", "reset", "loss"].iter().any(|word| lower.contains(word))
        && !has(&["lost", "overflow", "overrun", "dropped", "missed", "skipped", "restart"]);
    has(&LOSS_WORDS) && !(is_weak && has(&BESIDE_THINGS))
}

/// Tells remarks among the rows; one by which samples are missing is a gap.
pub(super) fn take(text: &str, first_row: usize, recording: &mut RawRecording) {
    let last_row = numbered_lines(text)
        .filter(|(_, line)| {
            !line.trim().is_empty() && !is_comment(line.trim_matches([' ', '\u{feff}']))
        })
        .last()
        .map_or(0, |(number, _)| number);
    let among = numbered_lines(text)
        .filter(|(number, _)| *number > first_row && *number < last_row)
        .map(|(number, line)| (number, line.trim_matches([' ', '\u{feff}'])))
        .filter(|(_, line)| is_comment(line));
    let (mut count, mut first, mut losses) = (0_u64, None, 0_u64);
    for (number, line) in among {
        count += 1;
        let is_loss = tells_loss(line);
        losses += u64::from(is_loss);
        // a loss is told before any other remark
        if first.is_none() || (is_loss && losses == 1) {
            first = Some((number, line.chars().take(60).collect::<String>()));
        }
    }
    let Some((number, line)) = first else { return };
    let stand =
        if count == 1 { "1 remark stands".to_owned() } else { format!("{count} remarks stand") };
    let gaps = if losses > 0 {
        let are = if losses == 1 { "is counted as a gap" } else { "are counted as gaps" };
        format!("; samples are missing behind {losses} of them, which {are}")
    } else {
        String::new()
    };
    recording.notes.push(format!("{stand} among the rows (line {number}: {line:?}){gaps}"));
    recording.gaps_told += losses;
}

/// Takes what the lines behind the last row state: a rate that nothing above states, and overflows,
/// which are gaps.
pub(super) fn take_footer(lines: &[String], recording: &mut RawRecording) {
    for line in lines {
        let parts: Vec<&str> = line.split([',', ';']).map(str::trim).collect();
        // `Rate 1344, overflows 0`
        let number = |word: &str| {
            parts.iter().find_map(|part| {
                let (key, value) = part.split_once([' ', ':', '='])?;
                let is_key = key.trim_end_matches(['s', ':']).eq_ignore_ascii_case(word);
                value.trim().trim_end_matches("Hz").trim().parse::<f64>().ok().filter(|_| is_key)
            })
        };
        let rate = number("rate").filter(|rate| rate.is_finite() && *rate > 0.0);
        if let Some(rate) = rate.filter(|_| recording.stated_rate_hz.is_none()) {
            recording.stated_rate_hz = Some(rate);
            recording.notes.push(format!("the last line states the rate: {line:?}"));
        }
        if let Some(overflows) = number("overflow").filter(|count| *count >= 1.0) {
            recording.gaps_told += overflows as u64;
            recording.notes.push(format!(
                "the last line tells of overflows, behind which samples are missing: {line:?}"
            ));
        }
        if line.to_lowercase().contains("fail") {
            recording.notes.push(format!("the last line tells of a failure: {line:?}"));
        }
    }
}
