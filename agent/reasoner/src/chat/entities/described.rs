//! A bearing that a question describes by how its alarm stands (`the shelved one`), where one alone
//! stands so.

use pdm_shared::episode::Suppression;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;

use crate::chat::desk::{CoreFields, Watch};
use crate::chat::intent::{self, Lookup, PLAIN_WORDS, has};

/// Returns the only bearing that a message describes; `None` where it describes none, or several
/// fit.
pub(super) fn described(message: &str, fleet: &[CoreFields]) -> Option<BearingKey> {
    let (text, words) = (message.to_lowercase(), &PLAIN_WORDS.described);
    let is_such: fn(&CoreFields) -> bool = match () {
        () if has(&text, &words.shelved) => {
            |core| matches!(core.suppression, Suppression::Shelved { .. })
        }
        () if has(&text, &words.out_of_service) => {
            |core| matches!(core.suppression, Suppression::OutOfService { .. })
        }
        () if has(&text, &words.critical) => |core| core.risk == RiskLevel::Critical,
        () if has(&text, &words.unacknowledged) => {
            |core| core.alarm.as_ref().is_some_and(|alarm| alarm.acknowledged_by.is_none())
        }
        () if has(&text, &words.dead_sensor) => |core| matches!(core.watch, Watch::Invalid { .. }),
        () if has(&text, &words.worst) && asks_more(message) => return worst(fleet),
        () => return None,
    };
    let mut such = fleet.iter().filter(|core| is_such(core));
    such.next().filter(|_| such.next().is_none()).map(|core| core.key.clone())
}

/// Whether a message asks something of the bearing beside which one it is.
fn asks_more(message: &str) -> bool {
    let asked = intent::asked_for(message, false, true);
    asked.iter().any(|one| one.is_of_bearing() && *one != Lookup::State)
}

/// The first of the fleet, which is told worst first, where something stands.
fn worst(fleet: &[CoreFields]) -> Option<BearingKey> {
    fleet.first().filter(|core| core.risk > RiskLevel::Normal).map(|core| core.key.clone())
}
