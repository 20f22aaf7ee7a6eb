//! The points of one machine beside each other: what each is told of the others, and which of them
//! tells a change of the machine.
//!
//! Every point is judged with what the others had seen by the window before, so the result does not
//! depend on the order in which cores measure them, nor on how many windows are measured in one go.
//! Points of one machine that different sources deliver do not know of each other.

use std::sync::Arc;

use pdm_shared::event::{ChangeKind, Event};

use super::point::Point;
use crate::condition::Neighbour;

/// Whether two of the points are of one machine.
pub(super) fn has_company(points: &[Point]) -> bool {
    let mut machines: Vec<_> = points.iter().map(|point| &point.names().equipment).collect();
    machines.sort_unstable();
    machines.windows(2).any(|pair| pair[0] == pair[1])
}

/// Returns, for each point, the other points of its machine as neighbours.
pub(super) fn neighbours(points: &[Point]) -> Vec<Vec<Neighbour>> {
    let seen: Vec<Arc<_>> = points
        .iter()
        .map(|point| Arc::new((point.names().bearing.clone(), point.seen())))
        .collect();
    let of = |(own, point): (usize, &Point)| {
        let names = point.names();
        let others = points.iter().zip(&seen).enumerate().filter(|(other, (point, _))| {
            *other != own && point.names().equipment == names.equipment
        });
        others
            .map(|(_, (point, seen))| Neighbour {
                point: Arc::clone(seen),
                is_same_bearing: point.names().bearing == names.bearing,
            })
            .collect()
    };
    points.iter().enumerate().map(of).collect()
}

/// Leaves the same change of a machine in the first of the events of one window that tell it.
pub fn tell_once(events: &mut [Event]) {
    for at in 0..events.len() {
        let (told, rest) = events.split_at_mut(at);
        let Some(event) = rest.first_mut() else { return };
        let kind = event.change.as_ref().map(|change| change.kind);
        let is_of_machine = matches!(kind, Some(ChangeKind::Operating | ChangeKind::Swapped));
        let is_told = told.iter().any(|other| {
            other.equipment_id == event.equipment_id
                && other.change.as_ref().map(|change| change.kind) == kind
        });
        if is_of_machine && is_told {
            event.change = None;
        }
    }
}
