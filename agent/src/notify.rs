//! Telling staff: `policy` decides who is told when, `wording` says it, `lanes` carry it out of the
//! outbox by MQTT, e-mail and web hooks.

mod answers;
pub(crate) mod attached;
pub(crate) mod ceiling;
mod directory;
pub(crate) mod elsewhere;
pub(crate) mod email;
mod escape;
mod failing_ways;
mod gateways;
pub(crate) mod gone_way;
mod grouping;
pub(crate) mod lanes;
pub(crate) mod linked;
mod log;
mod lost_rows;
mod no_data;
pub(crate) mod outage;
pub(crate) mod policy;
mod portion;
pub(crate) mod refused;
pub(crate) mod remarks;
pub(crate) mod renewed;
mod sending;
mod share;
pub(crate) mod silence;
mod sited;
pub(crate) mod staff;
pub(crate) mod staff_tool;
pub(crate) mod templated;
#[cfg(test)]
mod test_clock;
mod together;
pub(crate) mod topic;
mod troubles;
mod unmeasured;
mod unsent;
mod vectors;
pub(crate) mod webhook;
mod wording;

pub(crate) use wording::missing_rows_line;

use pdm_store::{DEAD_LETTER_LANE, EMAIL_LANE, MQTT_LANE, VECTORS_LANE, person_lane, webhook_lane};
