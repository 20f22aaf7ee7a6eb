//! The names that a template may use: the notifications, their words in the hook's languages, and
//! whom they are for.

use minijinja::value::{Serde, Value};
use pdm_shared::bounds::in_one_line;
use pdm_shared::delivery::{NOTIFICATION_SCHEMA, Notification, NotificationReason};
use pdm_shared::id::{BearingId, EquipmentId, SiteId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use crate::filled::Filled;

/// Longest title, characters.
const TITLE: usize = 200;
/// Longest line of a body.
const LINE: usize = 1000;
/// Most lines of a body: the agent's own texts have twelve.
const LINES: usize = 60;

/// Notifications that leave together.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// The idempotency key, the same on every try.
    pub key: Uuid,
    /// The receiver's number or name, where the hook needs one.
    pub to: Option<&'a str>,
    /// The languages, in their order.
    pub languages: &'a [Language],
    /// The notifications, the most urgent first.
    pub notifications: &'a [&'a Notification],
}

/// The words of a message.
#[derive(Debug, Serialize)]
struct Words<'a> {
    key: String,
    to: Option<&'a str>,
    /// The title of the most urgent, and how many more there are.
    title: String,
    /// The bodies.
    body: String,
    /// Titles and bodies.
    text: String,
    /// The level in the word of the contract.
    risk: &'static str,
    /// The level as a number: 0 Normal to 3 Critical.
    level: u8,
    reason: NotificationReason,
    site: &'a str,
    equipment: &'a str,
    bearing: &'a str,
    /// The page on which it can be acknowledged.
    ack_url: Option<&'a str>,
    count: usize,
    /// The text after `message` and its limit; the text itself before.
    message: &'a str,
    notifications: &'a [&'a Notification],
}

impl Message<'_> {
    /// Returns the values for a template; `None` without a notification.
    pub(crate) fn context(&self, filled: &Filled, message: Option<&str>) -> Option<Value> {
        let first = self.notifications.first()?;
        let text = self.text();
        let words = Words {
            key: self.key.to_string(),
            to: self.to,
            title: self.title(first),
            body: self.bodies(),
            risk: first.risk_level.as_str(),
            level: level(first.risk_level),
            reason: first.reason,
            site: first.site.as_str(),
            equipment: first.equipment_id.as_str(),
            bearing: first.bearing_id.as_str(),
            ack_url: first.ack_url.as_deref(),
            count: self.notifications.len(),
            message: message.unwrap_or(&text),
            text: text.clone(),
            notifications: self.notifications,
        };
        let filled = filled.context();
        Some(minijinja::context! { ..Value::from(Serde(&words)), ..filled })
    }

    fn language(&self) -> Language {
        self.languages.first().copied().unwrap_or_default()
    }

    fn title(&self, first: &Notification) -> String {
        let language = self.language();
        let head = one_line(first.title.in_language(language));
        match (self.notifications.len() - 1, language) {
            (0, _) => head,
            (more, Language::Ko) => format!("{head} 외 {more}건"),
            (more, Language::En) => format!("{head} and {more} more"),
        }
    }

    fn bodies(&self) -> String {
        let each = |language: &Language| {
            let of = |one: &&Notification| lines(one.body.in_language(*language));
            self.notifications.iter().map(of).collect::<Vec<_>>()
        };
        self.languages.iter().flat_map(each).collect::<Vec<_>>().join("\n\n")
    }

    fn text(&self) -> String {
        let part = |(one, language): (&&Notification, &Language)| {
            let title = one_line(one.title.in_language(*language));
            format!("{title}\n{}", lines(one.body.in_language(*language)))
        };
        let all = self.notifications.iter();
        let all = all.flat_map(|one| self.languages.iter().map(move |language| (one, language)));
        all.map(part).collect::<Vec<_>>().join("\n\n")
    }
}

fn one_line(text: &str) -> String {
    in_one_line(text, TITLE).into_owned()
}

fn lines(text: &str) -> String {
    let lines = text.split('\n').take(LINES).map(|line| in_one_line(line, LINE).into_owned());
    lines.collect::<Vec<_>>().join("\n")
}

const fn level(risk: RiskLevel) -> u8 {
    match risk {
        RiskLevel::Normal => 0,
        RiskLevel::Watch => 1,
        RiskLevel::Warning => 2,
        RiskLevel::Critical => 3,
    }
}

/// A notification for trying a template; no part of a plant has these names.
pub(crate) fn sample() -> Option<Notification> {
    Some(Notification {
        schema: NOTIFICATION_SCHEMA.to_owned(),
        notification_id: Uuid::nil(),
        event_id: None,
        site: SiteId::new("pdm").ok()?,
        equipment_id: EquipmentId::new("agent").ok()?,
        bearing_id: BearingId::new("check").ok()?,
        risk_level: RiskLevel::Watch,
        reason: NotificationReason::Message,
        title: Text::new("점검", "check"),
        body: Text::new("점검", "check"),
        created_at: Timestamp::from_unix_ms(0)?,
        episode_id: None,
        episode_sequence: None,
        transition: None,
        episode_state: None,
        related: Vec::new(),
        ack_url: None,
    })
}
