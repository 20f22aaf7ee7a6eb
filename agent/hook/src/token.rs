//! Tokens: one that stands in the configuration, or one that a server hands out for an hour (OAuth
//! 2, client credentials, RFC 6749 section 4.4), kept until shortly before it ends.

use std::time::Duration;

use pdm_service::bounded::{ERROR_BYTES, Head};
use pdm_service::error_chain::error_chain;
use pdm_service::secret::Secret;
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::filled::Filled;

/// How long before its end a token is fetched anew, so that it does not end on its way.
const EARLY: Duration = Duration::from_mins(1);
/// How long a token holds whose server does not say.
const UNSAID: Duration = Duration::from_mins(5);
/// Longest time that a token is kept, whatever its server says: a foreign number may be beyond
/// every clock.
const LONGEST: Duration = Duration::from_hours(24);

/// Where the token of a request comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum TokenSource {
    /// It stands in a secret.
    Bearer {
        /// The name of the secret.
        secret: String,
    },
    /// A server hands it out.
    Oauth2 {
        /// The server's address.
        url: String,
        /// The name of the value that holds the client's name.
        client_id: String,
        /// The name of the secret that holds the client's secret.
        client_secret: String,
        /// The scope of the token.
        #[serde(default)]
        scope: Option<String>,
    },
}

impl TokenSource {
    /// The names of the value and the secret that it needs.
    pub(crate) fn needs(&self) -> (Option<&str>, &str) {
        match self {
            Self::Bearer { secret } => (None, secret),
            Self::Oauth2 { client_id, client_secret, .. } => (Some(client_id), client_secret),
        }
    }
}

/// The token in use.
#[derive(Debug, Default)]
pub(crate) struct TokenKeeper(Mutex<Option<(Secret, Instant)>>);

#[derive(Debug, Deserialize)]
struct TokenAnswer {
    access_token: String,
    #[serde(default)]
    expires_in: Option<u64>,
}

impl TokenKeeper {
    /// The token for a request. Fetches one where none holds; callers that come meanwhile wait for
    /// it.
    pub(crate) async fn token(
        &self,
        source: &TokenSource,
        filled: &Filled,
        client: &reqwest::Client,
    ) -> Result<Secret, String> {
        let (url, id, secret, scope) = match source {
            TokenSource::Bearer { secret } => {
                let value = filled.secret(secret).ok_or_else(|| format!("secrets.{secret}"))?;
                return Ok(Secret::new(value.to_owned()));
            }
            TokenSource::Oauth2 { url, client_id, client_secret, scope } => {
                (url, client_id, client_secret, scope)
            }
        };
        let mut kept = self.0.lock().await;
        if let Some((token, until)) = kept.as_ref()
            && Instant::now() < *until
        {
            return Ok(token.clone());
        }
        let missing = |name: &String| format!("{name} is not set");
        let mut fields = vec![
            ("grant_type", "client_credentials"),
            ("client_id", filled.value(id).ok_or_else(|| missing(id))?),
            ("client_secret", filled.secret(secret).ok_or_else(|| missing(secret))?),
        ];
        fields.extend(scope.as_deref().map(|scope| ("scope", scope)));
        let answer = ask(client, url, &fields).await?;
        let holds = answer.expires_in.map_or(UNSAID, Duration::from_secs).min(LONGEST);
        let holds = holds.saturating_sub(EARLY);
        let token = Secret::new(answer.access_token);
        *kept = Some((token.clone(), Instant::now() + holds));
        Ok(token)
    }

    /// Forgets the token, because the receiver refuses it.
    pub(crate) async fn forget(&self) {
        *self.0.lock().await = None;
    }
}

async fn ask(
    client: &reqwest::Client,
    url: &str,
    fields: &[(&str, &str)],
) -> Result<TokenAnswer, String> {
    let asked = client.post(url).form(fields).send().await;
    let mut answer =
        asked.map_err(|error| format!("token server: {}", error_chain(&error.without_url())))?;
    let status = answer.status();
    let mut head = Head::of(ERROR_BYTES);
    while let Ok(Some(chunk)) = answer.chunk().await {
        if !head.take(&chunk) {
            break;
        }
    }
    if !status.is_success() {
        // the server's words are not repeated: they may hold what was sent
        return Err(format!("token server answers {status}"));
    }
    let whole = head.whole().ok_or("token server: the answer is too long")?;
    serde_json::from_slice(&whole).map_err(|_error| "token server: no access_token".to_owned())
}
