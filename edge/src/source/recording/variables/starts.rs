//! Finds when the channels of a recording begin, by statements beside them or by the times among
//! them.

use super::Variable;
use super::rising::time_axis;
use crate::source::recording::StatedStart;

/// The start of a vector of times.
pub(super) struct TimesStart {
    scope: String,
    length: usize,
    start: StatedStart,
}

/// The start of a recording: that of a channel, of the times beside it, or of those of its struct
/// that a person has not named.
pub(super) fn start_of(
    channels: &[Variable],
    of_times: Option<StatedStart>,
    all: &[TimesStart],
) -> Option<StatedStart> {
    let own = channels.iter().find_map(|channel| channel.started_at.clone());
    own.or(of_times).or_else(|| {
        let first = channels.first()?;
        let is_beside = |times: &&TimesStart| {
            times.scope == first.scope() && times.length == first.numbers.len()
        };
        all.iter().find(is_beside).map(|times| times.start.clone())
    })
}

/// A note on channels that begin at different times: the same row of them is not the same moment.
pub(super) fn begin_apart(channels: &[Variable]) -> Option<String> {
    let is_dated = |channel: &&Variable| channel.started_at.is_some() && channel.rate_hz.is_some();
    let first = channels.iter().find(is_dated)?;
    let rate = first.rate_hz?;
    let begun = first.started_at.as_ref()?.at;
    let since_first = |other: &Variable| Some(other.started_at.as_ref()?.at.seconds_since(begun));
    let apart = |other: &&Variable| since_first(other).is_some_and(|s| s.abs() * rate >= 1.0);
    let other = channels.iter().find(apart)?;
    let seconds = since_first(other)?;
    Some(format!(
        "{} begins {seconds:.3} s after {}: their rows are not of one moment; the time is that of \
         the first",
        other.path, first.path
    ))
}

/// The starts of the times of each struct, for vectors that a person names without their times.
pub(super) fn starts_of_times(variables: &[Variable]) -> Vec<TimesStart> {
    let start = |variable: &Variable| {
        let start = time_axis(variable)?.started_at?;
        let (scope, length) = (variable.scope().to_owned(), variable.numbers.len());
        Some(TimesStart { scope, length, start })
    };
    variables.iter().filter_map(start).collect()
}
