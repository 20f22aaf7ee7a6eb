//! The provider: what it publishes, the way to its login, and the exchange of a code for a person.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pdm_service::secret::{LiveSecret, Secret, SecretError};
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tokio::sync::{Mutex, Semaphore};
use url::Url;

use crate::claims::{self, NotEntitled, Person};
use crate::fetch::{self, Client};
use crate::settings::{OidcSettings, is_safe};
use crate::token::{self, Key, Untrusted};

/// How long what the provider publishes is used without asking again.
const FRESH: Duration = Duration::from_hours(1);
/// How often keys are fetched at most because a token names an unknown one.
const KEYS_EVERY: Duration = Duration::from_mins(1);
/// Exchanges at once: each waits for the provider.
const AT_ONCE: usize = 8;
/// Most characters of the provider's description of an error.
const MAX_SAID: usize = 200;

/// Nobody has logged in. [`OidcError::is_away`] tells whether a later attempt may succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OidcError {
    /// The provider cannot be asked, or answers nonsense.
    #[error("the provider of logins cannot be used: {0}")]
    Away(String),
    /// The secret cannot be read.
    #[error("http.oidc.client_secret")]
    Secret(#[from] SecretError),
    /// The provider says no.
    #[error("the provider of logins refuses: {0}")]
    Refused(String),
    /// The answer does not belong to this attempt, or nobody the provider vouches for has signed
    /// it.
    #[error("the answer of the provider of logins is not taken: {0}")]
    Untrusted(String),
    /// The person may not enter.
    #[error(transparent)]
    NotEntitled(#[from] NotEntitled),
}

impl OidcError {
    /// Whether the provider could not be asked.
    pub const fn is_away(&self) -> bool {
        matches!(self, Self::Away(_) | Self::Secret(_))
    }
}

impl From<Untrusted> for OidcError {
    fn from(error: Untrusted) -> Self {
        Self::Untrusted(error.to_string())
    }
}

/// One attempt to log in, kept by the browser alone: whoever comes back without it is not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Returned by the provider with the code.
    pub state: String,
    /// Returned by the provider inside the identity token.
    pub nonce: String,
    /// Proves to the provider that whoever has the code began the attempt.
    pub verifier: String,
}

impl Attempt {
    fn new() -> Self {
        let secret = || URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>());
        Self { state: secret(), nonce: secret(), verifier: secret() }
    }
}

/// The parameters with which the browser comes back.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Callback {
    /// The code, once.
    pub code: Option<String>,
    /// The attempt's state.
    pub state: Option<String>,
    /// The issuer, where the provider says it (RFC 9207).
    pub iss: Option<String>,
    /// Why there is no code.
    pub error: Option<String>,
    /// The description of the error in words.
    pub error_description: Option<String>,
}

/// The provider's published document (OpenID Connect Discovery 1.0, section 3), as far as it is
/// used.
#[derive(Debug, Clone, Deserialize)]
struct Published {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    jwks_uri: Url,
    userinfo_endpoint: Option<Url>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

#[derive(Debug, Clone)]
struct PublishedProvider {
    published: Published,
    keys: Vec<Key>,
    published_at: Instant,
    keys_at: Instant,
}

/// The provider of a plant's logins.
#[derive(Debug)]
pub struct Provider {
    settings: OidcSettings,
    /// Read again for each login.
    secret: Option<LiveSecret>,
    redirect_uri: String,
    client: Client,
    found: Mutex<Option<PublishedProvider>>,
    turns: Semaphore,
}

impl Provider {
    /// A provider whose browsers come back to `redirect_uri`. The provider is asked at the first
    /// login.
    ///
    /// # Errors
    /// [`OidcError::Away`] for files of TLS, [`OidcError::Secret`].
    pub fn new(settings: OidcSettings, redirect_uri: String) -> Result<Self, OidcError> {
        let client = Client::new(settings.tls.clone()).map_err(OidcError::Away)?;
        // read now, so that a wrong file ends the start
        let secret = settings.client_secret.clone().map(LiveSecret::open).transpose()?;
        Ok(Self {
            settings,
            secret,
            redirect_uri,
            client,
            found: Mutex::default(),
            turns: Semaphore::new(AT_ONCE),
        })
    }

    /// Returns the text of the login page's button.
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    fn secret(&self) -> Option<Secret> {
        self.secret.as_ref().map(LiveSecret::current)
    }

    /// Asks the provider for what it publishes: whether logins would work.
    ///
    /// # Errors
    /// [`OidcError`].
    pub async fn probe(&self) -> Result<(), OidcError> {
        let found = self.found(None).await?;
        if found.keys.is_empty() {
            return Err(OidcError::Away(
                "it publishes no key that identity tokens can be signed with".to_owned(),
            ));
        }
        Ok(())
    }

    /// The address where the person logs in, and what the browser keeps meanwhile.
    ///
    /// # Errors
    /// [`OidcError::Away`].
    pub async fn begin(&self) -> Result<(Url, Attempt), OidcError> {
        let attempt = Attempt::new();
        let mut address = self.found(None).await?.published.authorization_endpoint;
        let scope = std::iter::once("openid")
            .chain(
                self.settings.scopes.iter().map(String::as_str).filter(|scope| *scope != "openid"),
            )
            .collect::<Vec<_>>()
            .join(" ");
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(attempt.verifier.as_bytes()));
        address
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", &self.redirect_uri)
            .append_pair("scope", &scope)
            .append_pair("state", &attempt.state)
            .append_pair("nonce", &attempt.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        Ok((address, attempt))
    }

    /// Returns the person who has logged in, from the parameters with which the browser came back.
    /// `now_s`: seconds since 1970.
    ///
    /// # Errors
    /// [`OidcError`].
    pub async fn finish(
        &self,
        back: &Callback,
        attempt: &Attempt,
        now_s: i64,
    ) -> Result<Person, OidcError> {
        if back.state.as_deref() != Some(attempt.state.as_str()) {
            return Err(OidcError::Untrusted("it belongs to another attempt".to_owned()));
        }
        // closed only when the program ends
        let Ok(_turn) = self.turns.acquire().await else {
            return Err(OidcError::Away("the agent stops".to_owned()));
        };
        let found = self.found(None).await?;
        let must_say = found.published.authorization_response_iss_parameter_supported;
        let is_of_issuer = match &back.iss {
            Some(issuer) => *issuer == self.settings.issuer,
            None => !must_say,
        };
        if !is_of_issuer {
            return Err(OidcError::Untrusted("it is of another provider".to_owned()));
        }
        if let Some(error) = &back.error {
            return Err(OidcError::Refused(said(error, back.error_description.as_deref())));
        }
        let Some(code) = &back.code else {
            return Err(OidcError::Untrusted("it has no code".to_owned()));
        };
        let tokens = self.exchange(&found.published, code, attempt).await?;
        let id_token = tokens["id_token"].as_str().unwrap_or_default();
        let mut claims = self.verified(id_token, &found).await?;
        if let Some(wrong) = claims::wrong(&claims, &self.settings, &attempt.nonce, now_s) {
            return Err(OidcError::Untrusted(wrong));
        }
        if !claims::are_enough(&claims, &self.settings) {
            self.complete(&mut claims, &found.published, &tokens["access_token"]).await?;
        }
        Ok(claims::person(&claims, &self.settings)?)
    }

    /// Exchanges the code for tokens.
    async fn exchange(
        &self,
        published: &Published,
        code: &str,
        attempt: &Attempt,
    ) -> Result<Value, OidcError> {
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &self.redirect_uri),
            ("code_verifier", &attempt.verifier),
        ];
        let secret = self.secret();
        // basic is the rule where the provider does not say (Discovery 1.0, section 3)
        let methods = published.token_endpoint_auth_methods_supported.as_deref();
        let is_basic =
            methods.is_none_or(|methods| methods.iter().any(|one| one == "client_secret_basic"));
        let mut request = self.http()?.post(published.token_endpoint.clone());
        match &secret {
            Some(secret) if is_basic => {
                // RFC 6749, section 2.3.1: both are encoded as in a form before they are joined
                let encoded = |text: &str| {
                    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
                };
                request = request
                    .basic_auth(encoded(&self.settings.client_id), Some(encoded(secret.expose())));
            }
            Some(secret) => {
                form.push(("client_id", &self.settings.client_id));
                form.push(("client_secret", secret.expose()));
            }
            None => form.push(("client_id", &self.settings.client_id)),
        }
        let (is_success, answer) =
            fetch::json(request.form(&form)).await.map_err(OidcError::Away)?;
        if !is_success {
            let error = answer["error"].as_str().unwrap_or("no reason");
            return Err(OidcError::Refused(said(error, answer["error_description"].as_str())));
        }
        Ok(answer)
    }

    /// The claims of a signed token. Keys are fetched anew where the token names an unknown one: a
    /// provider changes its keys from time to time.
    async fn verified(
        &self,
        id_token: &str,
        found: &PublishedProvider,
    ) -> Result<Map<String, Value>, OidcError> {
        match token::verified(id_token, &found.keys) {
            Err(Untrusted::UnknownKey(_)) => {
                let renewed = self.found(Some(found.keys_at)).await?;
                Ok(token::verified(id_token, &renewed.keys)?)
            }
            read => Ok(read?),
        }
    }

    /// Adds what the provider tells of the person beyond the identity token (Core 1.0, section
    /// 5.3).
    async fn complete(
        &self,
        claims: &mut Map<String, Value>,
        published: &Published,
        access_token: &Value,
    ) -> Result<(), OidcError> {
        let (Some(address), Some(access_token)) =
            (&published.userinfo_endpoint, access_token.as_str())
        else {
            return Ok(());
        };
        let request = self.http()?.get(address.clone()).bearer_auth(access_token);
        let (is_success, answer) = fetch::json(request).await.map_err(OidcError::Away)?;
        let Value::Object(more) = answer else {
            return Err(OidcError::Away("it tells no claims of the person".to_owned()));
        };
        if !is_success || more.get("sub") != claims.get("sub") {
            return Err(OidcError::Untrusted("it tells claims of another person".to_owned()));
        }
        for (name, value) in more {
            // what was signed stands
            claims.entry(name).or_insert(value);
        }
        Ok(())
    }

    fn http(&self) -> Result<reqwest::Client, OidcError> {
        self.client.http().map_err(OidcError::Away)
    }

    /// Returns the provider's published document and keys. Keys from before the moment `stale_keys`
    /// lack a key, so they are read again.
    async fn found(&self, stale_keys: Option<Instant>) -> Result<PublishedProvider, OidcError> {
        let mut found = self.found.lock().await;
        if let Some(known) = found.as_mut().filter(|known| known.published_at.elapsed() < FRESH) {
            let is_stale = stale_keys.is_some_and(|stale| known.keys_at <= stale);
            if is_stale && known.keys_at.elapsed() >= KEYS_EVERY {
                known.keys = self.keys(&known.published).await?;
                known.keys_at = Instant::now();
            }
            return Ok(known.clone());
        }
        let published = self.published().await?;
        let keys = self.keys(&published).await?;
        let now = Instant::now();
        let new = PublishedProvider { published, keys, published_at: now, keys_at: now };
        *found = Some(new.clone());
        Ok(new)
    }

    async fn published(&self) -> Result<Published, OidcError> {
        let issuer = self.settings.issuer.trim_end_matches('/');
        let request = self.http()?.get(format!("{issuer}/.well-known/openid-configuration"));
        let (is_success, answer) = fetch::json(request).await.map_err(OidcError::Away)?;
        let published: Published = serde_json::from_value(answer)
            .ok()
            .filter(|_| is_success)
            .ok_or_else(|| OidcError::Away(format!("{issuer} is no OpenID Connect provider")))?;
        if published.issuer != self.settings.issuer {
            let told: String =
                published.issuer.chars().filter(|c| !c.is_control()).take(MAX_SAID).collect();
            return Err(OidcError::Away(format!(
                "it calls itself {told:?}, http.oidc.issuer is {:?}",
                self.settings.issuer
            )));
        }
        let addresses =
            [&published.authorization_endpoint, &published.token_endpoint, &published.jwks_uri];
        let unsafe_one =
            addresses.into_iter().chain(&published.userinfo_endpoint).find(|one| !is_safe(one));
        match unsafe_one {
            Some(address) => Err(OidcError::Away(format!("its address {address} is without TLS"))),
            None => Ok(published),
        }
    }

    async fn keys(&self, published: &Published) -> Result<Vec<Key>, OidcError> {
        let request = self.http()?.get(published.jwks_uri.clone());
        let (is_success, answer) = fetch::json(request).await.map_err(OidcError::Away)?;
        if !is_success {
            return Err(OidcError::Away("it does not tell its keys".to_owned()));
        }
        Ok(token::keys(&answer))
    }
}

/// Returns a provider's description of an error, on one line.
fn said(error: &str, description: Option<&str>) -> String {
    let joined = match description {
        Some(description) => format!("{error}: {description}"),
        None => error.to_owned(),
    };
    joined.chars().filter(|c| !c.is_control()).take(MAX_SAID).collect()
}
