//! The change of the plant that admits refused events, for pages, API and messages alike.

use pdm_store::{RefusalCause, RefusedEvents};
use pdm_web::plant::Admission;

use crate::settings::BearingOwners;

/// Returns the change that admits refused events. A bearing that the configuration gives to a
/// gateway is not released by a command: the configuration decides at each event.
pub(crate) fn admission(one: &RefusedEvents, owners: &BearingOwners) -> Admission {
    match one.cause {
        RefusalCause::Owner if owners.of(&one.bearing).is_none() => {
            Admission::ReleaseBearing(one.bearing.clone())
        }
        RefusalCause::Topic | RefusalCause::Epoch | RefusalCause::Jump => {
            Admission::ReleaseGateway(one.gateway.clone())
        }
        // of an identity twice nothing admits the second event: the reason says what to look at
        RefusalCause::Owner
        | RefusalCause::NewBearing
        | RefusalCause::EventId
        | RefusalCause::Unreadable => Admission::Configuration,
    }
}
