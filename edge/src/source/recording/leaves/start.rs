//! The time at which a tree says that its samples begin: `"timestamp": "2026-03-01T10:00:00Z"`.

use pdm_shared::time::Timestamp;

use super::{Leaf, LeafContent};
use crate::source::recording::meaning::since_1970;
use crate::tabular::zone::{is_zone_key, zone_of_name, zone_of_text};
use crate::tabular::{DateOrder, LocalZone, Stamp};

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

/// The time, and whether its zone is stated nowhere; `None` if the document states none, or
/// several.
pub(in super::super) fn stated_start(leaves: &[Leaf]) -> Option<(Timestamp, bool)> {
    let mut found = leaves.iter().filter_map(time_of);
    let first = found.next()?;
    let (at, is_local) = found.all(|other| other == first).then_some(first)?;
    match stated_zone(leaves).filter(|_| is_local) {
        Some(zone) => Some((in_zone(at, zone), false)),
        None => Some((at, is_local)),
    }
}

/// A time of a clock of this zone, written as if it were UTC, in UTC.
pub(in super::super) fn in_zone(at: Timestamp, zone: LocalZone) -> Timestamp {
    let offset_s = zone.offsets(at.date_time().naive_utc()).first_s;
    at.plus_seconds(-f64::from(offset_s))
}

/// The one zone that fields state: `"timezone": "Asia/Seoul"`.
fn stated_zone(leaves: &[Leaf]) -> Option<LocalZone> {
    let zone = |leaf: &Leaf| {
        let key = leaf.path.rsplit(['.', '/']).next().unwrap_or_default();
        match &leaf.content {
            LeafContent::Text(lines) if is_zone_key(key) => zone_of_text(lines.first()?),
            LeafContent::Text(_) | LeafContent::Numbers { .. } | LeafContent::Other(_) => None,
        }
    };
    let mut zones = leaves.iter().filter_map(zone);
    let first = zones.next()?;
    zones.all(|other| other == first).then_some(first)
}

fn time_of(leaf: &Leaf) -> Option<(Timestamp, bool)> {
    let name = leaf.path.rsplit(['.', '/']).next().unwrap_or_default();
    let key = name.to_lowercase().replace(['_', '-', ' '], "");
    let zone = zone_of_name(name);
    // `start_time_utc`
    let plain = key.strip_suffix("utc").or_else(|| key.strip_suffix("gmt")).unwrap_or(&key);
    if !KEYS.contains(&plain) && !KEYS.contains(&key.as_str()) {
        return None;
    }
    match &leaf.content {
        LeafContent::Text(lines) => {
            let [one] = lines.as_slice() else { return None };
            let stamp = Stamp::parse(one).filter(|stamp| stamp.has_date() && stamp.has_clock())?;
            let seconds = stamp.unix_ns(DateOrder::YearFirst)? as f64 / 1e9;
            let (at, is_local) = (since_1970(seconds)?, !stamp.has_offset());
            match zone.filter(|_| is_local) {
                Some(zone) => Some((in_zone(at, zone), false)),
                None => Some((at, is_local)),
            }
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
        let zoned =
            [text("start_time", "2026-02-03 09:05:06"), text("meta.timezone", "Asia/Seoul")];
        let utc = [text("start_time_utc", "2026-02-03 00:05:06")];
        for leaves in [&zoned[..], &utc] {
            let at = stated_start(leaves).expect("a start");
            assert!(!at.1 && at.0.to_string().starts_with("2026-02-03T00:05:06"), "{at:?}");
        }
        let two = [text("a.time", "2026-02-03T04:05:06Z"), text("b.time", "2026-02-03T04:05:07Z")];
        assert_eq!(stated_start(&two), None);
        assert_eq!(stated_start(&[text("note", "2026-02-03T04:05:06Z")]), None);
    }
}
