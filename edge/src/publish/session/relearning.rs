//! Requests over the broker to learn a bearing anew: checked, handed to the measuring threads, and
//! answered in the gateway's status.

use std::sync::atomic::Ordering;

use pdm_shared::bounds::{MAX_LINE, MAX_WORD, in_one_line};
use pdm_shared::relearn::{RELEARN_LIFE_S, RELEARN_SCHEMA, RelearnRequest};
use pdm_shared::topic::{BearingTopic, Topic};

use super::super::{Publisher, log};
use super::Session;
use crate::relearning::Requested;

/// How far a request may lie ahead of the gateway's clock, s: an hour, the agent's bound for clocks
/// that are ahead.
const AHEAD_S: f64 = 3600.0;

/// How often in a row a connection ends while its broker owes the answer to the subscription,
/// before the topic is subscribed no more until the program's next start. Chosen as for states: a
/// broker may answer what its rules forbid by the end of the connection.
const ENDED_BY_IT: u8 = 3;

impl Publisher {
    /// Whether the topic of requests is subscribed.
    pub(super) fn subscribes_relearning(&self) -> bool {
        self.relearn_refused.load(Ordering::Relaxed) < ENDED_BY_IT
    }

    /// The broker answered the subscription, or ended a young connection before it did.
    pub(super) fn relearning_answered(&self, is_answered: bool) {
        let before = self.relearn_refused.load(Ordering::Relaxed);
        let now = if is_answered { 0 } else { before.saturating_add(1) };
        self.relearn_refused.store(now, Ordering::Relaxed);
        if now == ENDED_BY_IT {
            log::relearning_not_subscribed("it ends each connection that asks for it");
        }
    }
}

impl Session<'_> {
    /// Takes a request to learn a bearing anew; returns false if the topic is not that of one.
    /// Requests for bearings of other gateways of the site come too, and are theirs.
    pub(super) fn is_relearning(&self, topic: &str, payload: &[u8], is_retained: bool) -> bool {
        let Publisher { settings, relearning, clock, .. } = self.publisher;
        let Some(Topic::Bearing { key, what: BearingTopic::Relearn }) =
            Topic::parse(&settings.prefix, topic)
        else {
            return false;
        };
        let bearing = key.within_site();
        if key.site != settings.site || !relearning.has(&bearing) {
            return true;
        }
        let request = match serde_json::from_slice::<RelearnRequest>(payload) {
            Ok(request) if request.schema == RELEARN_SCHEMA => request,
            Ok(request) => {
                let schema = in_one_line(&request.schema, MAX_WORD);
                log::relearning_refused(&bearing, &format!("schema {schema:?}"));
                return true;
            }
            Err(error) => {
                log::relearning_refused(&bearing, &error.to_string());
                return true;
            }
        };
        let (id, now) = (request.request_id, clock.now());
        let age_s = now.seconds_since(request.asked_at);
        // a retained one would come again at every connection
        let refusal = if is_retained {
            Some(("retained", "it is retained: publish it without the retain flag".to_owned()))
        } else if age_s > RELEARN_LIFE_S {
            Some(("old", format!("it was asked at {}, more than 30 days ago", request.asked_at)))
        } else if age_s < -AHEAD_S {
            let told = format!("it was asked at {}, ahead of this clock: {now}", request.asked_at);
            Some(("ahead", told))
        } else {
            None
        };
        if let Some((cause, told)) = refusal {
            log::relearning_refused(&bearing, &told);
            relearning.refuse(id, now, cause, &told);
            return true;
        }
        match relearning.request(&bearing, id, now) {
            Requested::Taken => {
                log::relearning_requested(&bearing, &in_one_line(&request.by, MAX_LINE));
            }
            Requested::Known | Requested::NotHere => {}
        }
        true
    }
}
