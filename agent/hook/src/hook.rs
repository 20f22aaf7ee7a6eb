//! A hook that is set up: a compiled file with its values and secrets, sending requests.

use std::collections::BTreeMap;
use std::time::Duration;

use pdm_service::broker::TlsFiles;
use pdm_service::clock::SharedClock;
use pdm_service::error_chain::error_chain;
use pdm_service::secret::Secret;
use pdm_shared::bounds::in_one_line;
use pdm_shared::text::Language;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

use crate::answer::Verdict;
use crate::asked::{asked_wait, redirect_in_words};
use crate::filled::Filled;
use crate::message::{Message, sample};
use crate::proxy::{beside_proxy, by_proxy};
use crate::rate::Pace;
use crate::said::{SaidBody, asking_for_plain_answers, said_body};
use crate::sign::Request;
use crate::template::{FilledRequest, HookTemplate};
use crate::token::TokenKeeper;

/// How long a receiver may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Characters of an answer that are kept for the log.
const ANSWER_CHARS: usize = 200;

/// A message was not delivered.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// Trying again can help.
    #[error("{0}")]
    Later(String),
    /// The receiver asks to wait this long.
    #[error("{0}")]
    After(String, Duration),
    /// The receiver does not let us in, or is not there: people may repair that.
    #[error("{0}")]
    Refused(String),
    /// Trying again cannot help.
    #[error("{0}")]
    Never(String),
}

/// A message that its receiver has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The receiver had it already.
    pub is_duplicate: bool,
    /// The status of the answer.
    pub status: u16,
    /// The first characters of the answer.
    pub answer: String,
    /// The answer has ended, or is longer than what is read of it.
    pub has_ended: bool,
}

/// Where a hook's requests go, where that is not the file's address.
#[derive(Debug, Clone, Default)]
pub struct Address {
    /// The address in place of the file's: a template as that one.
    pub url: Option<String>,
    /// Certificates, where they are not those of the operating system.
    pub tls: Option<TlsFiles>,
}

/// An answer as it came.
struct Answered {
    status: u16,
    body: SaidBody,
    /// Where a redirect leads, in words.
    redirect: Option<String>,
    /// How long the receiver asks to wait.
    wait: Option<Duration>,
}

/// A hook that is set up.
#[derive(Debug)]
pub struct Hook {
    template: HookTemplate,
    filled: Filled,
    tls: Option<TlsFiles>,
    client: reqwest::Client,
    tokens: TokenKeeper,
    pace: Pace,
    clock: SharedClock,
}

/// Why there is no answer. The address may hold a secret.
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

impl Hook {
    /// Sets a hook up.
    ///
    /// # Errors
    /// The missing or unknown value, by name.
    pub fn new(
        mut template: HookTemplate,
        values: &BTreeMap<String, String>,
        secrets: BTreeMap<String, Secret>,
        address: Address,
        clock: SharedClock,
    ) -> Result<Self, String> {
        if let Some(url) = &address.url {
            template.replace_url(url).map_err(|error| error.to_string())?;
        }
        let known =
            |name: &String| template.values.contains(name) || template.defaults.contains_key(name);
        if let Some(name) = values.keys().find(|name| !known(name)) {
            return Err(format!("values.{name} is unknown, allowed are {}", template.known()));
        }
        let has = |name: &&String| {
            template.secrets.contains(*name) || template.optional_secrets.contains(*name)
        };
        if let Some(name) = secrets.keys().find(|name| !has(name)) {
            let allowed = [template.secrets.clone(), template.optional_secrets.clone()];
            let allowed = allowed.concat().join(", ");
            return Err(format!("secrets.{name} is unknown, allowed are {allowed}"));
        }
        if let Some(name) = template.values.iter().find(|name| !values.contains_key(*name)) {
            return Err(format!("values.{name} is missing"));
        }
        if let Some(name) = template.secrets.iter().find(|name| !secrets.contains_key(*name)) {
            return Err(format!("secrets.{name} is missing"));
        }
        let mut all = template.defaults.clone();
        all.extend(values.clone());
        let client = builder().build().map_err(|error| error_chain(&error))?;
        if let Some(tls) = &address.tls {
            // read now, so that a wrong file ends the start
            tls.client_config().map_err(|error| error.to_string())?;
        }
        let pace = Pace::of(template.per_minute);
        let filled = Filled { values: all, secrets };
        let mut hook = Self {
            template,
            filled,
            tls: address.tls,
            client,
            tokens: TokenKeeper::default(),
            pace,
            clock,
        };
        hook.tried()?;
        hook.client = hook.builder().build().map_err(|error| error_chain(&error))?;
        Ok(hook)
    }

    /// Whether each message needs the number or name of its receiver.
    pub const fn needs_to(&self) -> bool {
        self.template.needs_to()
    }

    /// The most requests in a minute; 0 is no limit.
    pub const fn per_minute(&self) -> u32 {
        self.template.per_minute
    }

    /// Sends a message.
    ///
    /// # Errors
    /// [`HookError`], which says whether trying again can help.
    pub async fn send(&self, message: &Message<'_>) -> Result<Sent, HookError> {
        let request = self.template.fill(message, &self.filled);
        // a template that fails for one message was right for the sample: the next one may pass
        let request = request.map_err(|error| HookError::Never(error.to_string()))?;
        self.pace.wait().await;
        let mut answered = self.post(message.key, &request).await.map_err(HookError::Later)?;
        if answered.status == 401 && self.template.token.is_some() {
            // a token that was withdrawn before its time is fetched anew once
            self.tokens.forget().await;
            answered = self.post(message.key, &request).await.map_err(HookError::Later)?;
        }
        let Answered { status, body, redirect, wait } = answered;
        let SaidBody { text, unread, .. } = &body;
        let answer = match unread {
            Some(encoding) => {
                format!("its answer is in the encoding {encoding}, which was not asked for")
            }
            None => in_one_line(text, ANSWER_CHARS).into_owned(),
        };
        let has_ended = body.has_ended && unread.is_none();
        let said = || match &redirect {
            Some(redirect) => format!("the receiver answers {status}: {redirect}"),
            None => format!("the receiver answers {status}: {answer}"),
        };
        match self.template.answers.verdict(status, text) {
            Verdict::Delivered => Ok(Sent { is_duplicate: false, status, answer, has_ended }),
            Verdict::Duplicate => Ok(Sent { is_duplicate: true, status, answer, has_ended }),
            Verdict::Later => Err(match wait {
                Some(wait) => HookError::After(said(), wait),
                None => HookError::Later(said()),
            }),
            Verdict::Refused => Err(HookError::Refused(said())),
            Verdict::Never => Err(HookError::Never(said())),
        }
    }

    async fn post(&self, key: Uuid, request: &FilledRequest) -> Result<Answered, String> {
        let url = Self::url(&request.url)?;
        let mut headers = headers(request)?;
        if let Some(name) = &self.template.key_header {
            put(&mut headers, name, &key.to_string())?;
        }
        let client = self.client()?;
        if let Some(source) = &self.template.token {
            let token = self.tokens.token(source, &self.filled, &client).await?;
            let value = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
            let mut value = value.map_err(|_error| "the token is no header".to_owned())?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let method = self.template.method.as_str();
        if let Some(signature) = &self.template.signature {
            let path = match url.query() {
                Some(query) => format!("{}?{query}", url.path()),
                None => url.path().to_owned(),
            };
            let signed = Request { method, path: &path, body: &request.body };
            headers.extend(signature.headers(&signed, &self.filled, self.clock.now().unix_ms())?);
        }
        let method = method.parse().map_err(|_error| "no method".to_owned())?;
        let asked = client.request(method, url.clone()).headers(headers);
        // the address may hold a secret
        let asked = asked.body(request.body.clone()).send().await;
        let answer = asked.map_err(|error| lost(error, &url))?;
        let status = answer.status().as_u16();
        let redirect = redirect_in_words(status, &url, answer.headers());
        let wait = asked_wait(answer.headers(), self.clock.now().unix_ms());
        let body = said_body(answer).await;
        Ok(Answered { status, body, redirect, wait })
    }

    /// The receiver's machine answers, and a token is handed out; nothing is sent.
    ///
    /// # Errors
    /// Why not.
    pub async fn probe(&self) -> Result<(), String> {
        let request = self.sample()?;
        let client = self.client()?;
        if let Some(source) = &self.template.token {
            self.tokens.token(source, &self.filled, &client).await?;
        }
        let url = Self::url(&request.url)?;
        let asked = client.head(url.clone()).send().await;
        let answer = asked.map_err(|error| lost(error, &url))?;
        // a receiver of posts may refuse this request, and 501 says no more than that
        match answer.status().as_u16() {
            501 => Ok(()),
            status if status >= 500 => Err(format!("answers {status}")),
            _ => Ok(()),
        }
    }

    /// The client for one message. With certificates of its own it is made anew each time, so that
    /// a renewed certificate or revocation list is used without a restart.
    fn client(&self) -> Result<reqwest::Client, String> {
        let Some(tls) = &self.tls else { return Ok(self.client.clone()) };
        let config = tls.client_config().map_err(|error| error.to_string())?;
        let client = self.builder().tls_backend_preconfigured(config).build();
        client.map_err(|error| error_chain(&error))
    }

    /// What clients are made of: past the proxy of the environment where the receiver is near.
    fn builder(&self) -> reqwest::ClientBuilder {
        let request = self.sample().ok();
        match request.and_then(|request| Self::url(&request.url).ok()) {
            Some(url) => beside_proxy(builder(), &url),
            None => builder(),
        }
    }

    /// The request of the sample, with the hook's own values.
    fn sample(&self) -> Result<FilledRequest, String> {
        let sample = sample().ok_or("no sample")?;
        let message = Message {
            key: Uuid::nil(),
            to: Some("0"),
            languages: &[Language::Ko],
            notifications: &[&sample],
        };
        self.template.fill(&message, &self.filled).map_err(|error| error.to_string())
    }

    fn tried(&self) -> Result<(), String> {
        let request = self.sample()?;
        Self::url(&request.url)?;
        headers(&request).map(|_headers| ())
    }

    fn url(text: &str) -> Result<reqwest::Url, String> {
        let url = reqwest::Url::parse(text.trim()).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        url.ok_or_else(|| "url: no http or https address".to_owned())
    }
}

fn headers(request: &FilledRequest) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    if let Some(kind) = request.content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    for (name, value) in &request.headers {
        put(&mut headers, name, value)?;
    }
    Ok(headers)
}

fn put(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), String> {
    let wrong = || format!("headers.{name}: the value is no header");
    let key: HeaderName = name.parse().map_err(|_error| wrong())?;
    let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_error| wrong())?;
    value.set_sensitive(true);
    headers.insert(key, value);
    Ok(())
}

#[cfg(test)]
mod tests;
