//! The summary of a replay for people.

use std::collections::BTreeMap;
use std::fmt;

use pdm_shared::event::Event;
use pdm_shared::fault::Fault;
use pdm_shared::time::Timestamp;

/// The course of one measuring point.
#[derive(Debug, Default)]
struct Course {
    events: u64,
    invalid: u64,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    alarms: Vec<(Timestamp, Option<Timestamp>)>,
    faults: BTreeMap<Fault, u64>,
    last_rul: Option<String>,
}

/// All points of a replay.
#[derive(Debug, Default)]
pub(super) struct Summary {
    courses: BTreeMap<String, Course>,
    /// Points of several bearings, which are named.
    has_bearings: bool,
}

impl Summary {
    /// A summary of points of several bearings.
    pub(super) fn of_bearings() -> Self {
        Self { has_bearings: true, ..Self::default() }
    }

    pub(super) fn take(&mut self, event: &Event) {
        let point = event.measuring_point.as_ref().map_or("-", |point| point.as_str());
        let name = if self.has_bearings {
            format!("{}/{} {point}", event.equipment_id, event.bearing_id)
        } else {
            point.to_owned()
        };
        let course = self.courses.entry(name).or_default();
        let at = event.measured_at;
        course.events += 1;
        course.invalid += u64::from(!event.signal_quality.valid);
        course.first.get_or_insert(at);
        course.last = Some(at);
        let open = matches!(course.alarms.last(), Some((_, None)));
        if event.anomaly_detected && !open {
            course.alarms.push((at, None));
        } else if !event.anomaly_detected
            && open
            && let Some(alarm) = course.alarms.last_mut()
        {
            alarm.1 = Some(at);
        }
        if let Some(fault) = event.frequency_domain.dominant_fault {
            *course.faults.entry(fault).or_default() += 1;
        }
        course.last_rul = Some(match (&event.rul.hours, &event.rul.unknown) {
            (Some(hours), _) => format!("{hours:.1} h"),
            (None, reason) => format!("unknown: {}", reason.as_deref().unwrap_or("no reason")),
        });
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (point, course) in &self.courses {
            let (Some(first), Some(last)) = (course.first, course.last) else { continue };
            let hours = last.seconds_since(first) / 3600.0;
            writeln!(
                f,
                "{point}: {} events over {hours:.2} h, {} not judged",
                course.events, course.invalid
            )?;
            if course.alarms.is_empty() {
                writeln!(f, "  no anomaly")?;
            }
            for (from, to) in &course.alarms {
                let before_end = last.seconds_since(*from) / 3600.0;
                write!(f, "  anomaly from {from}, {before_end:.2} h before the end")?;
                match to {
                    Some(to) => writeln!(f, ", cleared {to}")?,
                    None => writeln!(f, ", lasting")?,
                }
            }
            for (fault, count) in &course.faults {
                writeln!(f, "  {fault} named in {count} events")?;
            }
            writeln!(
                f,
                "  remaining life at the end: {}",
                course.last_rul.as_deref().unwrap_or("-")
            )?;
        }
        Ok(())
    }
}
