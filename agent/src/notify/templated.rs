//! A templated web hook as a channel: one lane for the hook itself, or one for each person behind
//! it.

use std::sync::Arc;

use async_trait::async_trait;
use pdm_hook::{Hook, HookError, Message, Sent};
use pdm_shared::delivery::Notification;
use pdm_shared::text::Language;
use uuid::Uuid;

use super::grouping::by_urgency;
use super::lanes::{CLAIM, Channel, SendError};
use super::log;
use super::webhook::unended;

/// A hook with whom it tells.
#[derive(Debug)]
pub(crate) struct Templated {
    pub(crate) lane: String,
    pub(crate) hook: Arc<Hook>,
    /// The number, chat or topic, where the hook asks for one.
    pub(crate) to: Option<String>,
    pub(crate) languages: &'static [Language],
    /// Lanes that share the hook's pace.
    pub(crate) beside: u32,
}

impl Templated {
    /// Sends notifications together; what the receiver says.
    pub(crate) async fn tell(
        &self,
        key: Uuid,
        notifications: &[Notification],
    ) -> Result<Sent, HookError> {
        let sorted = by_urgency(notifications);
        let message = Message {
            key,
            to: self.to.as_deref(),
            languages: self.languages,
            notifications: &sorted,
        };
        self.hook.send(&message).await
    }
}

fn refusal(error: HookError) -> SendError {
    match error {
        HookError::Later(error) => SendError::Later(error),
        HookError::After(error, wait) => SendError::After(error, wait),
        HookError::Refused(error) => SendError::Refused(error),
        HookError::Never(error) => SendError::Never(error),
    }
}

#[async_trait]
impl Channel for Templated {
    fn lane(&self) -> &str {
        &self.lane
    }

    /// Returns as many rows as leave within a minute at the hook's pace, so that no claim ends
    /// before its row has left.
    fn most(&self) -> u32 {
        match self.hook.per_minute() {
            0 => CLAIM,
            pace => (pace / self.beside.max(1)).clamp(1, CLAIM),
        }
    }

    async fn try_out(&self, key: Uuid, trial: &Notification) -> Result<String, SendError> {
        match self.tell(key, std::slice::from_ref(trial)).await {
            Ok(Sent { status, answer, is_duplicate, .. }) => {
                let known = if is_duplicate { ", known already" } else { "" };
                Ok(format!("{status}{known}: {answer}"))
            }
            Err(error) => Err(refusal(error)),
        }
    }

    async fn send(&self, key: Uuid, notifications: &[Notification]) -> Result<(), SendError> {
        match self.tell(key, notifications).await {
            Ok(sent) if sent.is_duplicate => {
                log::known_already(&self.lane, key);
                Ok(())
            }
            Ok(sent) if !sent.has_ended => Err(unended(sent.status, &sent.answer)),
            Ok(_sent) => Ok(()),
            Err(error) => Err(refusal(error)),
        }
    }
}
