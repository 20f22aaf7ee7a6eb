//! Remarks among the rows of a table: a logger writes there that its memory was full, or that it began anew.
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
        let lower = line.to_lowercase();
        let is_loss = LOSS_WORDS.iter().any(|word| lower.contains(word));
        losses += u64::from(is_loss);
        // a loss is told before any other remark
        if first.is_none() || (is_loss && losses == 1) {
            first = Some((number, line.chars().take(60).collect::<String>()));
        }
    }
    let Some((number, line)) = first else { return };
    let gaps = if losses > 0 {
        format!("; samples are missing behind {losses} of them, which are counted as gaps")
    } else {
        String::new()
    };
    recording
        .notes
        .push(format!("{count} remarks stand among the rows (line {number}: {line:?}){gaps}"));
    recording.gaps_told += losses;
}
