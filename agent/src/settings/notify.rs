//! `[notify]`: who is told what, when.
//!
//! The channels with addresses of their own stand in [`super::email`] and [`super::webhook`].

use std::path::Path;

use pdm_episode::EpisodeRules;
use pdm_routes::{Group, Hours, Rota, Route, TimeOfDay, Zone};
use pdm_service::config::{ConfigError, above_zero, within};
use pdm_shared::bounds;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;
use serde::{Deserialize, Deserializer, de};

use super::YEAR_H;
use super::email::EmailSettings;
use super::recipient::RecipientSettings;
use super::webhook::WebhookSettings;

/// Longest wait of notifications for the others of their machine, s: a day.
const LONGEST_GROUP_WAIT_S: f64 = 86_400.0;

/// `[notify]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NotifySettings {
    /// The lowest risk that staff is told of.
    pub from: RiskLevel,
    /// Hours after which an alarm that nobody acknowledged is repeated, at most a year; 0 never.
    pub repeat_after_h: f64,
    /// The lowest risk that is repeated. A Watch asks nobody to act at once.
    pub repeat_from: RiskLevel,
    /// Repeats at this interval; later ones come once a day.
    pub repeat_limit: u32,
    /// Hours that a bearing must have been below a level above the lowest before its return is told
    /// again. Doubles with the first return to Warning; that of Critical never does.
    pub hold_h: f64,
    /// Hours that a bearing must have been below the lowest level before it is told that it is
    /// over. Doubles with each return.
    pub over_h: f64,
    /// Hours after which an episode that is over and that nobody acknowledged is closed.
    pub close_after_h: f64,
    /// The address under which staff reaches the agent's pages, such as `https://pdm.example.com`:
    /// notifications name the page of their bearing.
    pub page_url: Option<String>,
    /// The longest that it becomes by doubling.
    pub hold_most_h: f64,
    /// Minutes after an alarm in which those of the same cause are told with it: of the same
    /// machine, or of the same gateway at the same frequency, and not worse; 0 tells each.
    pub related_within_min: f64,
    /// Hours of invalid windows after which staff is told of the sensor; 0 never.
    pub sensor_after_h: f64,
    /// When channels hear of the operating changes of all machines, and of sensors that are back,
    /// together: each day on the clock of `zone`; at once without it.
    #[serde(deserialize_with = "time_or_none")]
    pub changes_at: Option<TimeOfDay>,
    /// Seconds that notifications of one machine wait at most to go out together, at most a day;
    /// Critical never waits.
    pub group_wait_s: f64,
    /// Hours after which an undeliverable notification is given up (kept, counted, shown).
    pub give_up_after_h: f64,
    /// Most messages of the e-mail list and of each web hook in an hour; what is above leaves as
    /// one summary.
    pub per_recipient_per_hour: u32,
    /// The `notification` topic.
    pub mqtt: bool,
    /// E-mail.
    pub email: Option<EmailSettings>,
    /// Web hooks.
    pub webhook: Vec<WebhookSettings>,
    /// The clock of quiet hours, rotas and routes that name no other.
    pub zone: Zone,
    /// Hours in which a Watch waits until they end.
    pub quiet: Vec<Hours>,
    /// People.
    pub recipient: Vec<RecipientSettings>,
    /// Several people or channels under one name.
    pub group: Vec<Group>,
    /// Who is on duty when.
    pub rota: Vec<Rota>,
    /// Who is told of what. An alarm that no route takes is told to every general channel, or to
    /// everybody where there is none.
    pub route: Vec<Route>,
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self {
            from: RiskLevel::Watch,
            repeat_after_h: 8.0,
            repeat_from: RiskLevel::Warning,
            repeat_limit: 5,
            hold_h: 0.5,
            over_h: 8.0,
            hold_most_h: 24.0,
            close_after_h: 168.0,
            page_url: None,
            related_within_min: 60.0,
            sensor_after_h: 1.0,
            changes_at: Some(TimeOfDay::at_hour(8)),
            group_wait_s: 5.0,
            give_up_after_h: 24.0,
            per_recipient_per_hour: 120,
            mqtt: true,
            email: None,
            webhook: Vec::new(),
            zone: Zone::default(),
            quiet: Vec::new(),
            recipient: Vec::new(),
            group: Vec::new(),
            rota: Vec::new(),
            route: Vec::new(),
        }
    }
}

impl NotifySettings {
    /// The settings with relative files of secrets resolved against `folder`.
    pub(super) fn rooted(mut self, folder: &Path) -> Self {
        if let Some(email) = &mut self.email {
            email.password = email.password.take().map(|password| password.rooted(folder));
        }
        for hook in &mut self.webhook {
            hook.url_secret = hook.url_secret.take().map(|url| url.rooted(folder));
            hook.tls = hook.tls.take().map(|tls| tls.rooted(folder));
            hook.template = hook.template.take().map(|file| folder.join(file));
            for source in hook.secrets.values_mut() {
                *source = source.clone().rooted(folder);
            }
        }
        self
    }

    /// The rules of an episode.
    pub(crate) fn episodes(&self) -> EpisodeRules {
        EpisodeRules {
            from: self.from.max(RiskLevel::Watch),
            hold_s: 3600.0 * self.hold_h,
            over_s: 3600.0 * self.over_h,
            hold_most_s: 3600.0 * self.hold_most_h,
            close_after_s: 3600.0 * self.close_after_h,
            ..EpisodeRules::default()
        }
    }

    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        within(path, "notify.close_after_h", self.close_after_h, YEAR_H, "hours")?;
        if let Some(url) = &self.page_url {
            let is_address = url.starts_with("http://") || url.starts_with("https://");
            if !is_address || url.chars().count() > 256 || url.chars().any(bounds::is_hidden) {
                let allowed =
                    "an address that begins with http:// or https://, up to 256 characters";
                return Err(ConfigError::value(path, "notify.page_url", url, allowed));
            }
        }
        within(path, "notify.repeat_after_h", self.repeat_after_h, YEAR_H, "hours")?;
        within(path, "notify.hold_h", self.hold_h, YEAR_H, "hours")?;
        within(path, "notify.over_h", self.over_h, YEAR_H, "hours")?;
        within(path, "notify.hold_most_h", self.hold_most_h, YEAR_H, "hours")?;
        within(path, "notify.sensor_after_h", self.sensor_after_h, YEAR_H, "hours")?;
        within(path, "notify.related_within_min", self.related_within_min, 1440.0, "minutes")?;
        within(path, "notify.group_wait_s", self.group_wait_s, LONGEST_GROUP_WAIT_S, "seconds")?;
        within(path, "notify.give_up_after_h", self.give_up_after_h, YEAR_H, "hours")?;
        above_zero(path, "notify.per_recipient_per_hour", self.per_recipient_per_hour.into())?;
        let mut names: Vec<&str> = self.webhook.iter().map(|hook| hook.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ConfigError::value(path, "notify.webhook.name", pair[0], "unique names"));
        }
        for hook in &self.webhook {
            hook.check(path)?;
        }
        let has_people = self.recipient.iter().any(|one| one.email.is_some());
        self.email.as_ref().map_or(Ok(()), |email| email.check(path, has_people))?;
        self.check_people(path)
    }
}

/// Deserializes a time of day; `None` for an empty text.
fn time_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<TimeOfDay>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_set = !text.is_empty();
    is_set.then(|| text.parse().map_err(de::Error::custom)).transpose()
}

/// Languages of a notification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Languages {
    /// Korean.
    Ko,
    /// English.
    En,
    /// Korean, then English.
    #[default]
    Both,
}

impl Languages {
    /// The languages, in their order.
    pub const fn list(self) -> &'static [Language] {
        match self {
            Self::Ko => &[Language::Ko],
            Self::En => &[Language::En],
            Self::Both => &[Language::Ko, Language::En],
        }
    }
}

/// The lowest risk that a channel gets by default.
pub(super) const fn watch() -> RiskLevel {
    RiskLevel::Watch
}
