//! Web hooks: generic JSON, Slack's and Teams' forms. No redirects are followed, so a notification
//! goes to the configured address only.

use std::time::Duration;

use async_trait::async_trait;
use pdm_hook::{
    SaidBody, asked_wait, asking_for_plain_answers, beside_proxy, by_proxy, redirect_in_words,
    said_body,
};
use pdm_service::broker::TlsError;
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::error_chain::error_chain;
use pdm_shared::bounds::in_one_line;
use pdm_shared::delivery::Notification;
use pdm_shared::text::Language;
use serde_json::{Value, json};
use uuid::Uuid;

use super::answers::{ANSWER_CHARS, read_answer};
use super::escape;
use super::grouping::by_urgency;
use super::lanes::{Channel, SendError};
use super::webhook_lane;
use crate::settings::{WebhookFormat, WebhookSettings};

/// How long a receiver may take: Slack and Teams answer within a second, a relay in the plant may
/// be slower.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The hook cannot be set up. The caller ends with a bad configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// The secret address.
    #[error("notify.webhook.{name}.url_secret")]
    Secret {
        /// Which hook.
        name: String,
        /// The error of the secret.
        #[source]
        source: pdm_service::secret::SecretError,
    },
    /// The address is no http or https address.
    #[error("notify.webhook.{name}: the address is no http or https address")]
    Address {
        /// Which hook.
        name: String,
    },
    /// Its certificates cannot be used.
    #[error("notify.webhook.{name}.tls")]
    Tls {
        /// Which hook.
        name: String,
        /// Why not.
        #[source]
        source: TlsError,
    },
    /// A secret that its file asks for.
    #[error("notify.webhook.{name}.secrets.{secret}")]
    TemplateSecret {
        /// Which hook.
        name: String,
        /// Which secret.
        secret: String,
        /// The error of the secret.
        #[source]
        source: pdm_service::secret::SecretError,
    },
    /// Its file, or what the file asks for.
    #[error("notify.webhook.{name}: {reason}")]
    Template {
        /// Which hook.
        name: String,
        /// The fault, with file, line and key.
        reason: String,
    },
    /// No HTTP client.
    #[error("no HTTP client")]
    Client(#[source] reqwest::Error),
}

/// A configured hook.
#[derive(Debug)]
pub(crate) struct Webhook {
    lane: String,
    url: reqwest::Url,
    settings: WebhookSettings,
    client: reqwest::Client,
}

impl Webhook {
    pub(crate) fn new(settings: &WebhookSettings) -> Result<Self, WebhookError> {
        let name = settings.name.clone();
        let url = match (&settings.url, &settings.url_secret) {
            (Some(url), _) => url.clone(),
            (None, Some(source)) => source
                .fetch()
                .map_err(|source| WebhookError::Secret { name: name.clone(), source })?
                .expose()
                .to_owned(),
            (None, None) => String::new(),
        };
        let url = reqwest::Url::parse(url.trim())
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .ok_or(WebhookError::Address { name })?;
        let client = beside_proxy(builder(), &url).build().map_err(WebhookError::Client)?;
        if let Some(tls) = &settings.tls {
            // read now, so that a wrong file ends the start
            tls.client_config()
                .map_err(|source| WebhookError::Tls { name: settings.name.clone(), source })?;
        }
        Ok(Self { lane: webhook_lane(&settings.name), url, settings: settings.clone(), client })
    }
}

/// Why there is no answer, with the proxy by which it was asked for. The address may be a secret.
fn lost(error: reqwest::Error, url: &reqwest::Url) -> String {
    let is_of_connection = error.is_connect();
    let told = error_chain(&error.without_url());
    if is_of_connection { by_proxy(told, url) } else { told }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .default_headers(asking_for_plain_answers())
        .user_agent(concat!("pdm-agent/", env!("CARGO_PKG_VERSION")))
}

impl Webhook {
    /// The client for one message. With certificates of its own it is made anew each time, so that
    /// a renewed certificate or revocation list is used without a restart.
    fn client(&self) -> Result<reqwest::Client, String> {
        let Some(tls) = &self.settings.tls else { return Ok(self.client.clone()) };
        let config = tls.client_config().map_err(|error| error.to_string())?;
        let builder = beside_proxy(builder(), &self.url).tls_backend_preconfigured(config);
        let client = builder.build();
        client.map_err(|error| error_chain(&error))
    }

    /// The receiver's machine answers; nothing is posted.
    pub(crate) async fn probe(&self) -> Result<(), String> {
        let asked = self.client()?.head(self.url.clone()).send().await;
        let status = asked.map_err(|error| lost(error, &self.url))?.status();
        // a receiver of posts may refuse this request, and 501 says no more than that
        let is_broken = status.is_server_error() && status.as_u16() != 501;
        if is_broken { Err(format!("answers {status}")) } else { Ok(()) }
    }
}

#[async_trait]
impl Channel for Webhook {
    fn lane(&self) -> &str {
        &self.lane
    }

    async fn send(&self, key: Uuid, notifications: &[Notification]) -> Result<(), SendError> {
        let body = body(self.settings.format, self.settings.language.list(), notifications);
        let answer = self
            .client()
            .map_err(SendError::Later)?
            .post(self.url.clone())
            .header("Idempotency-Key", key.to_string())
            .json(&body)
            .send()
            .await
            .map_err(|error| SendError::Later(lost(error, &self.url)))?;
        let status = answer.status().as_u16();
        let wait = asked_wait(answer.headers(), SystemClock.now().unix_ms());
        let body = match redirect_in_words(status, &self.url, answer.headers()) {
            Some(text) => SaidBody { text, has_ended: true, unread: None },
            None => said_body(answer).await,
        };
        match (read_answer(self.settings.format, status, &body.text), wait) {
            (Err(SendError::Later(error)), Some(wait)) => Err(SendError::After(error, wait)),
            (Ok(()), _) if body.unread.is_some() || !body.has_ended => {
                let said = match &body.unread {
                    Some(encoding) => {
                        format!("it is in the encoding {encoding}, which was not asked for")
                    }
                    None => in_one_line(&body.text, ANSWER_CHARS).into_owned(),
                };
                Err(unended(status, &said))
            }
            (read, _) => read,
        }
    }
}

/// An answer with a good status whose body does not end or cannot be read. The receiver has the
/// message, and what it has to say of it is not known: many say in the body that they failed. It is
/// not sent there again, as each try would be another message to people; the log and the page of
/// the ways say it.
pub(super) fn unended(status: u16, said: &str) -> SendError {
    SendError::Partly(format!(
        "the receiver answers {status}, and its answer does not end or cannot be read: {said}"
    ))
}

fn body(format: WebhookFormat, languages: &[Language], notifications: &[Notification]) -> Value {
    match format {
        WebhookFormat::Generic => match notifications {
            [one] => json!(one),
            many => json!({ "schema": "pdm.notifications/1", "notifications": many }),
        },
        WebhookFormat::Slack => slack(languages, notifications),
        WebhookFormat::Teams => teams(languages, notifications),
    }
}

fn slack(languages: &[Language], notifications: &[Notification]) -> Value {
    let sorted = by_urgency(notifications);
    let first = languages.first().copied().unwrap_or_default();
    let fallback: Vec<String> = sorted
        .iter()
        .take(MOST_BLOCKS)
        .map(|notification| slack_title(notification, first))
        .collect();
    let blocks: Vec<Value> = sorted
        .iter()
        .flat_map(|notification| languages.iter().map(move |language| (notification, *language)))
        .map(|(notification, language)| {
            let body: Vec<String> = escape::lines(notification.body.in_language(language))
                .map(|line| escape::slack(&line))
                .collect();
            let text = format!("*{}*\n{}", slack_title(notification, language), body.join("\n"));
            slack_section(&text, notification.ack_url.as_deref(), language)
        })
        .collect();
    let blocks = at_most(blocks, |left| slack_section(&format!("… {left} more"), None, first));
    json!({ "text": fallback.join("\n"), "blocks": blocks })
}

/// Most blocks of one message, which is Slack's limit; the rest is counted in the last one.
const MOST_BLOCKS: usize = 50;
/// Most characters of one block: Slack's limit is 3,000.
const BLOCK_CHARS: usize = 2900;

fn slack_title(notification: &Notification, language: Language) -> String {
    escape::slack(&escape::title(notification.title.in_language(language)))
}

/// A block of text in which Slack makes no links of its own (`verbatim`), with the link by which
/// the alarm is acknowledged behind it.
fn slack_section(text: &str, link: Option<&str>, language: Language) -> Value {
    let link = link.map_or_else(String::new, |url| {
        let url = escape::slack_address(url);
        format!("\n<{url}|{}>", escape::acknowledge(language))
    });
    let room = BLOCK_CHARS.saturating_sub(link.chars().count());
    let text: String = text.chars().take(room).chain(link.chars()).collect();
    json!({ "type": "section", "text": { "type": "mrkdwn", "verbatim": true, "text": text } })
}

/// The blocks that a receiver takes; the last one counts those that are left out.
fn at_most(mut blocks: Vec<Value>, more: impl FnOnce(usize) -> Value) -> Vec<Value> {
    if blocks.len() > MOST_BLOCKS {
        let left = blocks.len() - (MOST_BLOCKS - 1);
        blocks.truncate(MOST_BLOCKS - 1);
        blocks.push(more(left));
    }
    blocks
}

fn teams(languages: &[Language], notifications: &[Notification]) -> Value {
    let mut elements = Vec::new();
    for notification in by_urgency(notifications) {
        for language in languages {
            let title = escape::title(notification.title.in_language(*language));
            elements.push(teams_line(json!({ "weight": "Bolder", "size": "Medium" }), &title));
            for line in escape::lines(notification.body.in_language(*language)) {
                elements.push(teams_line(json!({}), &line));
            }
            if let Some(url) = &notification.ack_url {
                let title = escape::acknowledge(*language);
                let open = json!({ "type": "Action.OpenUrl", "title": title, "url": url });
                elements.push(json!({ "type": "ActionSet", "actions": [open] }));
            }
        }
    }
    json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard", "version": "1.4", "body": elements,
            },
        }],
    })
}

/// A line of an adaptive card. A `TextRun` shows its text as it stands, where a `TextBlock` reads
/// Markdown in it.
fn teams_line(mut run: Value, text: &str) -> Value {
    run["type"] = "TextRun".into();
    // a messenger addresses nobody by a name that a gateway made
    run["text"] = escape::addresses_nobody(text).into();
    json!({ "type": "RichTextBlock", "inlines": [run] })
}

#[cfg(test)]
mod tests {
    use pdm_shared::delivery::{NOTIFICATION_SCHEMA, NotificationReason};
    use pdm_shared::risk::RiskLevel;
    use pdm_shared::text::Text;
    use pdm_shared::time::Timestamp;

    use super::*;

    fn notification() -> Notification {
        Notification {
            schema: NOTIFICATION_SCHEMA.to_owned(),
            notification_id: Uuid::nil(),
            event_id: None,
            site: "s".parse().expect("name"),
            equipment_id: "P-101".parse().expect("name"),
            bearing_id: "DE".parse().expect("name"),
            risk_level: RiskLevel::Warning,
            reason: NotificationReason::Raised,
            title: Text::new("[경고] P-101 <DE>", "[Warning] P-101 <DE>"),
            body: Text::new("근거: 가\n조치: 나", "Evidence: a\nAction: b"),
            created_at: Timestamp::from_unix_ms(0).expect("epoch"),
            episode_id: None,
            episode_sequence: None,
            transition: None,
            episode_state: None,
            related: Vec::new(),
            ack_url: None,
        }
    }

    #[test]
    fn slack_gets_a_fallback_and_escaped_blocks_in_each_language() {
        let body = body(WebhookFormat::Slack, &[Language::Ko, Language::En], &[notification()]);
        assert_eq!(body["text"], "[경고] P-101 &lt;DE&gt;");
        assert_eq!(body["blocks"].as_array().map(Vec::len), Some(2));
        assert_eq!(
            body["blocks"][1]["text"]["text"],
            "*[Warning] P-101 &lt;DE&gt;*\nEvidence: a\nAction: b"
        );
    }

    /// R-AGENT-10
    #[test]
    fn an_alarm_is_acknowledged_by_a_link_in_slack_and_in_teams() {
        let url = "https://pdm.example/ack/a-b_c".to_owned();
        let asks = Notification { ack_url: Some(url.clone()), ..notification() };
        let slack = body(WebhookFormat::Slack, &[Language::Ko], std::slice::from_ref(&asks));
        let text = slack["blocks"][0]["text"]["text"].as_str().expect("text");
        assert!(text.ends_with("\n<https://pdm.example/ack/a-b_c|확인>"), "{text}");
        let long = Notification { body: Text::new("가".repeat(9000), "a"), ..asks.clone() };
        let slack = body(WebhookFormat::Slack, &[Language::Ko], &[long]);
        let text = slack["blocks"][0]["text"]["text"].as_str().expect("text");
        assert!(text.chars().count() <= BLOCK_CHARS && text.ends_with("|확인>"), "{text}");
        let teams = body(WebhookFormat::Teams, &[Language::En], &[asks]);
        let card = &teams["attachments"][0]["content"]["body"];
        let action = &card.as_array().and_then(|all| all.last()).expect("elements")["actions"][0];
        assert_eq!((&action["url"], &action["title"]), (&json!(url), &json!("Acknowledge")));
    }

    #[test]
    fn a_name_addresses_nobody_in_teams_and_slack() {
        let mut told = notification();
        told.title = Text::new("[위험] @here @all DE", "[Critical] @here @all DE: <!channel>");
        let told = [told];
        let slack = slack(&[Language::En], &told).to_string();
        // to Teams `<!channel>` is text
        for body in [teams(&[Language::En], &told).to_string(), slack.clone()] {
            assert!(!body.contains("@here") && !body.contains("@all"), "{body}");
        }
        assert!(!slack.contains("<!channel>"), "{slack}");
    }

    #[test]
    fn teams_gets_an_adaptive_card_with_a_block_a_line() {
        let body = body(WebhookFormat::Teams, &[Language::Ko], &[notification()]);
        let card = &body["attachments"][0]["content"];
        assert_eq!(card["type"], "AdaptiveCard");
        assert_eq!(card["body"][1]["inlines"][0]["text"], "근거: 가");
    }

    /// A line break or a mark in a name is shown as such and begins nothing.
    #[test]
    fn a_forged_line_or_mark_stays_within_its_line_in_every_form() {
        let forged = Notification {
            title: Text::new("*a* <!channel>", "a\nAction: none"),
            body: Text::new("가 [x](http://x) *b*", "Evidence: a\u{2028}Action: none `b`"),
            ..notification()
        };
        let languages = [Language::Ko, Language::En];
        let slack = body(WebhookFormat::Slack, &languages, std::slice::from_ref(&forged));
        let text = slack["blocks"][1]["text"]["text"].as_str().expect("text");
        assert_eq!(text.lines().count(), 2, "{text}");
        assert_eq!(text, "*a\\nAction: none*\nEvidence: a\\u{2028}Action: none ˋbˋ");
        assert_eq!(slack["text"], "∗a∗ &lt;!channel&gt;");
        let teams = body(WebhookFormat::Teams, &languages, &[forged]);
        let card = &teams["attachments"][0]["content"]["body"];
        assert_eq!(card.as_array().map(Vec::len), Some(4));
        assert!(card.to_string().matches("TextBlock").count() == 4, "no block reads Markdown");
        assert_eq!(card.to_string().matches("RichTextBlock").count(), 4);
    }

    #[test]
    fn a_message_has_no_more_blocks_than_slack_takes() {
        let many = vec![notification(); 80];
        let slack = body(WebhookFormat::Slack, &[Language::Ko, Language::En], &many);
        let blocks = slack["blocks"].as_array().expect("blocks");
        assert_eq!(blocks.len(), 50);
        assert_eq!(blocks[49]["text"]["text"], "… 111 more");
    }

    /// R-AGENT-10: an answer of 200 whose body never ended was a delivery without a word.
    #[tokio::test]
    async fn an_answer_that_does_not_end_is_said_and_not_sent_again() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

        crate::service::install_cryptography();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let url = format!("http://{}/hook", listener.local_addr().expect("bound"));
        let serving = tokio::spawn(async move {
            let mut asked = 0;
            while let Ok((mut stream, _)) = listener.accept().await {
                asked += 1;
                let mut request = [0; 8192];
                let _read = stream.read(&mut request).await;
                let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n";
                let _sent = stream.write_all(head).await;
                tokio::time::sleep(TIMEOUT + Duration::from_secs(5)).await;
            }
            asked
        });
        let settings = WebhookSettings { url: Some(url), ..WebhookSettings::default() };
        let hook = Webhook::new(&settings).expect("a hook");
        let sent = hook.send(Uuid::nil(), &[notification()]).await;
        let Err(SendError::Partly(said)) = sent else { panic!("{sent:?}") };
        assert!(said.contains("answers 200") && said.contains("does not end"), "{said}");
        serving.abort();
    }

    #[test]
    fn one_notification_is_sent_as_the_contract_has_it() {
        let body = body(WebhookFormat::Generic, &[], &[notification()]);
        assert_eq!(body["schema"], NOTIFICATION_SCHEMA);
        let parsed: Notification = serde_json::from_value(body).expect("a notification");
        assert_eq!(parsed, notification());
    }
}
