//! The time at which a tree says that its samples begin: `"timestamp": "2026-03-01T10:00:00Z"`.

use pdm_shared::time::Timestamp;

use super::{Leaf, LeafContent};
use crate::source::recording::meaning::since_1970;
use crate::tabular::{DateOrder, Stamp};

/// Keys of such a time, in lower case without `_`, `-` and spaces.
const KEYS: [&str; 22] = [
    "timestamp",
    "time",
    "datetime",
    "date",
    "start",
    "starttime",
    "startedat",
    "starttimestamp",
    "measuredat",
    "measurementtime",
    "recordedat",
    "acquiredat",
    "t0",
    "ts",
    "tstart",
    "timestart",
    "begin",
    "acquisitiontime",
    "recordingtime",
    "recordingstart",
    "시작시각",
    "측정시각",
];

/// The time, and whether its zone is stated nowhere; `None` if the document states none, or several.
pub(in super::super) fn stated_start(leaves: &[Leaf]) -> Option<(Timestamp, bool)> {
    let mut found = leaves.iter().filter_map(time_of);
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

fn time_of(leaf: &Leaf) -> Option<(Timestamp, bool)> {
    let key = leaf.path.rsplit(['.', '/']).next().unwrap_or_default().to_lowercase();
    let key = key.replace(['_', '-', ' '], "");
    if !KEYS.contains(&key.as_str()) {
        return None;
    }
    match &leaf.content {
        LeafContent::Text(lines) => {
            let [one] = lines.as_slice() else { return None };
            let stamp = Stamp::parse(one).filter(|stamp| stamp.has_date() && stamp.has_clock())?;
            let seconds = stamp.unix_ns(DateOrder::YearFirst)? as f64 / 1e9;
            Some((since_1970(seconds)?, !stamp.has_offset()))
        }
        LeafContent::Numbers { numbers, .. } => {
            let [one] = numbers.as_slice() else { return None };
            let units = [1.0, 1e-3, 1e-6, 1e-9].into_iter();
            // the years 2001 to 2096
            let seconds = units.map(|unit_s| one * unit_s).find(|at| (1e9..4e9).contains(at))?;
            Some((since_1970(seconds)?, false))
        }
        LeafContent::Other(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_time_of_a_document_is_its_start_and_two_are_none() {
        let text = |path: &str, text: &str| Leaf {
            path: path.to_owned(),
            content: LeafContent::Text(vec![text.to_owned()]),
        };
        let one = stated_start(&[text("meta.start_time", "2026-02-03T04:05:06Z")]);
        assert!(one.is_some_and(
            |(at, is_local)| !is_local && at.to_string().starts_with("2026-02-03T04:05:06")
        ));
        let local = stated_start(&[text("timestamp", "2026-02-03 04:05:06")]);
        assert!(local.is_some_and(|(_, is_local)| is_local));
        let two = [text("a.time", "2026-02-03T04:05:06Z"), text("b.time", "2026-02-03T04:05:07Z")];
        assert_eq!(stated_start(&two), None);
        assert_eq!(stated_start(&[text("note", "2026-02-03T04:05:06Z")]), None);
    }
}
