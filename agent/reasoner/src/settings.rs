//! `[reasoner]` of `agent.toml`: the endpoint, the model, the budgets.
//!
//! Without the section there is no model: the expert judges alone, and the chat answers by
//! extraction.

use std::path::Path;
use std::time::Duration;

use pdm_service::config::{ConfigError, above_zero, within};
use pdm_service::secret::{Secret, SecretError, SecretSource};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;
use serde::Deserialize;

use crate::budget::{self, Limits, Prices};

/// `[reasoner]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReasonerSettings {
    /// Address of the API, without `/chat/completions`.
    pub base_url: String,
    /// Name of the model.
    pub model: String,
    /// API key; a server in the plant may need none.
    pub key: Option<SecretSource>,
    /// How the model says which tool it wants.
    pub dialect: DialectChoice,
    /// Language of the prompts.
    pub language: Language,
    /// Whether answers are streamed.
    pub stream: bool,
    /// Longest wait for one answer, s.
    pub timeout_s: f64,
    /// Most tokens of one answer.
    pub answer_tokens: u32,
    /// Prices, so that money can be limited.
    pub price: Prices,
    /// Limits of one second opinion, and of one question of the chat.
    #[serde(deserialize_with = "budget::per_event")]
    pub per_event: Limits,
    /// Limits of a day (UTC) for everything together.
    #[serde(deserialize_with = "budget::per_day")]
    pub per_day: Limits,
    /// Second opinions.
    pub opinion: OpinionSettings,
    /// The chat.
    pub chat: ChatSettings,
    /// Words that are never sent, beside those that are recognised: names of people, for example.
    pub private_words: Vec<String>,
}

/// `[reasoner.opinion]`
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpinionSettings {
    /// Whether second opinions are asked for.
    pub enabled: bool,
    /// The lowest risk whose news get a second opinion.
    pub from: RiskLevel,
    /// Opinions that are worked on at once.
    pub parallel: u32,
    /// The age in hours from which waiting news gets no opinion any more.
    pub give_up_after_h: f64,
}

/// `[reasoner.chat]`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatSettings {
    /// How the model acts in the chat.
    pub actions: ChatActions,
}

/// `actions`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatActions {
    /// It calls tools, in the dialect of the server.
    #[default]
    Calls,
    /// It writes small programs that call them.
    Programs,
}

/// `dialect`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DialectChoice {
    /// Found out by a probe at the first use.
    #[default]
    Auto,
    /// Native function calling.
    Native,
    /// One JSON object a turn, held to a JSON Schema.
    Json,
}

impl Default for ReasonerSettings {
    fn default() -> Self {
        Self {
            base_url: "https://api.openai.com/v1".to_owned(),
            model: "gpt-4o".to_owned(),
            key: None,
            dialect: DialectChoice::Auto,
            language: Language::Ko,
            stream: true,
            timeout_s: 60.0,
            answer_tokens: 2000,
            price: Prices::default(),
            per_event: Limits::of_event(),
            per_day: Limits::of_day(),
            opinion: OpinionSettings::default(),
            chat: ChatSettings::default(),
            private_words: Vec::new(),
        }
    }
}

impl Default for OpinionSettings {
    fn default() -> Self {
        Self { enabled: true, from: RiskLevel::Watch, parallel: 2, give_up_after_h: 24.0 }
    }
}

/// Longest wait that may be set, s.
const LONGEST_WAIT_S: f64 = 3600.0;
/// Most opinions at once that may be set: each may hold a transcript of some hundred kilobytes.
const MOST_PARALLEL: u32 = 64;

impl ReasonerSettings {
    /// Refuses values that nothing can work with.
    ///
    /// # Errors
    /// [`ConfigError::Value`] with key, value and what is allowed.
    pub fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let is_http = reqwest::Url::parse(&self.base_url).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.host().is_some()
                && url.username().is_empty()
                && url.password().is_none()
                && url.query().is_none()
        });
        if !is_http {
            // an address may hold a password, so it is not quoted
            let allowed = "an http or https address without login and query";
            return Err(ConfigError::value(path, "reasoner.base_url", "not such", allowed));
        }
        if self.model.trim().is_empty() {
            let allowed = "the name of a model";
            return Err(ConfigError::value(path, "reasoner.model", "empty", allowed));
        }
        within(path, "reasoner.timeout_s", self.timeout_s, LONGEST_WAIT_S, "seconds")?;
        above_zero(path, "reasoner.answer_tokens", u64::from(self.answer_tokens))?;
        let parallel = self.opinion.parallel;
        if !(1..=MOST_PARALLEL).contains(&parallel) {
            let allowed = format!("1 to {MOST_PARALLEL}");
            return Err(ConfigError::value(path, "reasoner.opinion.parallel", parallel, allowed));
        }
        let hours = self.opinion.give_up_after_h;
        within(path, "reasoner.opinion.give_up_after_h", hours, 8760.0, "hours")?;
        self.price.check(path)?;
        self.per_event.check(path, "reasoner.per_event")?;
        self.per_day.check(path, "reasoner.per_day")
    }

    /// The settings with a relative file of the key resolved against `folder`.
    #[must_use]
    pub fn rooted(self, folder: &Path) -> Self {
        Self { key: self.key.map(|key| key.rooted(folder)), ..self }
    }

    /// Reads the key.
    ///
    /// # Errors
    /// [`SecretError`] if its source cannot be read.
    pub fn key(&self) -> Result<Option<Secret>, SecretError> {
        self.key.as_ref().map(SecretSource::fetch).transpose()
    }

    /// Longest wait for one answer.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_s.clamp(0.0, LONGEST_WAIT_S))
    }

    /// The address that requests are posted to.
    pub fn chat_url(&self) -> String {
        format!("{}/chat/completions", self.base_url.trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ReasonerSettings, ConfigError> {
        let path = Path::new("agent.toml");
        let settings: ReasonerSettings = pdm_service::config::parse(path, text)?;
        settings.check(path)?;
        Ok(settings)
    }

    #[test]
    fn an_empty_section_means_gpt_4o_at_openai() {
        let settings = read("").expect("valid");
        assert_eq!(settings.chat_url(), "https://api.openai.com/v1/chat/completions");
        assert_eq!(settings.model, "gpt-4o");
    }

    #[test]
    fn what_no_request_can_be_made_of_is_refused_with_its_key() {
        for (text, key) in [
            ("base_url = \"ftp://a/v1\"", "reasoner.base_url"),
            ("base_url = \"https://me:hunter2@a/v1\"", "reasoner.base_url"),
            ("model = \" \"", "reasoner.model"),
            ("timeout_s = nan", "reasoner.timeout_s"),
            ("answer_tokens = 0", "reasoner.answer_tokens"),
            ("[opinion]\nparallel = 0", "reasoner.opinion.parallel"),
            ("[price]\ninput_usd_per_million = -1.0", "reasoner.price.input_usd_per_million"),
            ("[per_day]\nusd = inf", "reasoner.per_day.usd"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains(key) && !error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_limit_that_is_left_out_has_the_default_of_its_own_section() {
        let settings = read("[per_day]\nusd = 5.0\n[per_event]\ncalls = 3\n").expect("valid");
        assert_eq!(settings.per_day, Limits { usd: 5.0, ..Limits::of_day() });
        assert_eq!(settings.per_event, Limits { calls: 3, ..Limits::of_event() });
    }

    #[test]
    fn a_key_written_into_the_file_is_refused_and_not_shown() {
        let error = read("key = \"sk-hunter2\"").expect_err("refused").to_string();
        assert!(error.contains("file") && !error.contains("hunter2"), "{error}");
    }
}
