//! Telling staff: `policy` decides who is told when, `wording` says it, `lanes` carry it out of the
//! outbox by MQTT, e-mail and web hooks.

pub(crate) mod blind;
pub(crate) mod ceiling;
pub(crate) mod email;
mod escape;
mod gateways;
mod grouping;
pub(crate) mod lanes;
mod log;
pub(crate) mod policy;
mod portion;
pub(crate) mod silence;
pub(crate) mod staff;
pub(crate) mod telling;
pub(crate) mod topic;
mod vectors;
pub(crate) mod webhook;
mod wording;

use crate::store::{EMAIL_LANE, MQTT_LANE, VECTORS_LANE, webhook_lane};
