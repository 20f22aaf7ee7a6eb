//! Reads values apart from the channels: times in another struct that give their rate, and structs
//! named by times, which hold recordings of their own.
//!
//! Invariant: times give a rate only to vectors of their length, and only where all such times
//! agree.

use super::rising::rate_of_named_time;
use super::{Variable, is_same_rate};
use crate::source::interpretation::{StatedUnit, UnitKind};
use crate::tabular::Stamp;

/// The times among variables: their path, length and rate.
pub(super) struct TimesApart(Vec<(String, usize, f64)>);

impl TimesApart {
    /// Collects them.
    pub(super) fn of(variables: &[Variable]) -> Self {
        let time = |variable: &Variable| {
            let unit = variable.stated.unit.as_deref().and_then(StatedUnit::parse);
            let is_time = unit.is_some_and(|unit| matches!(unit.kind, UnitKind::Time(_)));
            let own = variable.rate_hz.filter(|_| is_time);
            let rate = own.or_else(|| rate_of_named_time(variable))?;
            Some((variable.path.clone(), variable.numbers.len(), rate))
        };
        Self(variables.iter().filter_map(time).collect())
    }

    /// Returns the one rate of the times with this many numbers, and a note on it.
    pub(super) fn rate_for(&self, samples: usize) -> Option<(f64, String)> {
        let mut fitting = self.0.iter().filter(|(_, length, _)| *length == samples);
        let (path, _, rate) = fitting.next()?;
        let is_one = fitting.all(|(.., other)| is_same_rate(*rate, *other));
        is_one.then(|| (*rate, format!("the rate is that of the times {path}, which stand apart")))
    }
}

/// Returns why channels are refused that stand in structs named by times
/// (`/2026-05-04T06-07-08/acc`): each is a recording.
pub(super) fn refusal_of_snapshots(channels: &[Variable]) -> Option<String> {
    const MOST_TOLD: usize = 4;
    let stamp = |variable: &Variable| {
        let name = variable.scope().rsplit(['.', '/']).next()?.to_owned();
        Stamp::parse(&name).filter(|stamp| stamp.has_date() && stamp.has_clock()).map(|_| name)
    };
    let mut names: Vec<String> = channels.iter().map(stamp).collect::<Option<_>>()?;
    names.dedup();
    if names.len() < 2 {
        return None;
    }
    let more = if names.len() > MOST_TOLD { ", …" } else { "" };
    let first = channels.first().map_or("", |first| first.path.as_str());
    Some(format!(
        "{} groups are named by times ({}{more}) and hold a recording each; name one (--variable \
         {first}), or save each in a file of its own",
        names.len(),
        names[..names.len().min(MOST_TOLD)].join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::recording::StatedChannel;

    fn variable(
        path: &str,
        numbers: Vec<f64>,
        unit: Option<&str>,
        rate_hz: Option<f64>,
    ) -> Variable {
        let stated = StatedChannel { unit: unit.map(str::to_owned), ..StatedChannel::default() };
        Variable { path: path.to_owned(), stated, rate_hz, numbers, ..Variable::default() }
    }

    /// R-EDGE-4: the file listed the times and their rate, and a rate was asked for.
    #[test]
    fn times_that_stand_apart_give_their_rate_to_vectors_of_their_length() {
        let times: Vec<f64> = (0..64).map(|n| f64::from(n) / 2560.0).collect();
        let own = variable("m.X(0).Data", times.clone(), Some("s"), Some(2560.0));
        let slow = variable("m.X(1).Data", times[..32].to_vec(), Some("s"), Some(4.0));
        let apart = TimesApart::of(&[own.clone(), slow]);
        assert_eq!(apart.rate_for(64).map(|(rate, _)| rate), Some(2560.0));
        assert_eq!(apart.rate_for(65), None);
        let other = variable("m.X(2).Data", times, Some("s"), Some(25.0));
        assert_eq!(TimesApart::of(&[own, other]).rate_for(64), None, "two rates");
    }

    #[test]
    fn groups_that_are_named_by_times_are_recordings_of_their_own() {
        let of = |group: &str| variable(&format!("/{group}/acc"), vec![0.5; 64], None, None);
        let two = [of("2026-05-04T06-07-08"), of("2026-05-04T06-17-08")];
        let told = refusal_of_snapshots(&two).expect("two recordings");
        assert!(
            told.contains("2 groups") && told.contains("--variable /2026-05-04T06-07-08/acc"),
            "{told}"
        );
        assert_eq!(refusal_of_snapshots(&[of("2026-05-04T06-07-08"), of("run")]), None);
        assert_eq!(refusal_of_snapshots(&two[..1]), None);
    }
}
