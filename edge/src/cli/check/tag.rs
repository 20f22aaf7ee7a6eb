//! The speed tag of a source: whether its broker answers, and what it says.

use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use pdm_service::exit::Exit;

use super::Finding;
use crate::source::SourceError;
use crate::source::speed_tag::{SpeedTagSettings, TagAnswer, look_at_tag};

/// The time to wait beyond that of the look, for the thread to report.
const GRACE: Duration = Duration::from_secs(1);

/// A tag that is looked at, on a thread of its own.
pub(super) struct TagLook {
    what: String,
    wait: Duration,
    until: Instant,
    told: Receiver<Result<TagAnswer, SourceError>>,
}

impl TagLook {
    pub(super) fn begin(source: &str, settings: &SpeedTagSettings, wait: Duration) -> Self {
        let topic = &settings.topic;
        let what = format!("source {source}, speed tag mqtt://{}/{}", topic.address, topic.topic);
        let settings = settings.clone();
        let (tell, told) = sync_channel(1);
        std::thread::spawn(move || {
            // an error means that the time is up
            let _late = tell.send(look_at_tag(&settings, wait));
        });
        Self { what, wait, until: Instant::now() + wait + GRACE, told }
    }

    pub(super) fn finding(self) -> Finding {
        let answer = self.told.recv_timeout(self.until.saturating_duration_since(Instant::now()));
        let within = format!("within {} s", self.wait.as_secs());
        match answer {
            Ok(Ok(TagAnswer::Speed(rpm))) => Finding::good(self.what, format!("says {rpm:.1} rpm")),
            Ok(Ok(answer @ (TagAnswer::Nothing | TagAnswer::Kept))) => {
                let kept = if answer == TagAnswer::Kept {
                    " (one that the broker keeps is not used: nobody knows its age)"
                } else {
                    ""
                };
                let text = format!(
                    "connected and subscribed; no new value has come {within}{kept}: a tag that is \
                     sent more rarely is awaited with --wait SECONDS"
                );
                Finding::good(self.what, text)
            }
            Ok(Ok(TagAnswer::Unusable(why))) => {
                let text = format!("its values are not used: {why}");
                Finding { what: self.what, outcome: Err((Exit::BadInput, text)) }
            }
            Ok(Err(error)) if error.exit() == Exit::Usage => {
                Finding::bad(self.what, Exit::Config, &error)
            }
            Ok(Err(error)) => Finding::bad(self.what, Exit::Unavailable, &error),
            Err(_silent) => {
                let text = format!("its broker does not answer {within}");
                Finding { what: self.what, outcome: Err((Exit::Unavailable, text)) }
            }
        }
    }
}
