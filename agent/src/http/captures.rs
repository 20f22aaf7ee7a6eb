//! `PUT /api/v1/captures/{capture_id}`: a gateway sends a captured waveform, its document first
//! (`application/json`), then its file in parts (`audio/wav` with `Content-Range: bytes
//! 0-262143/1331556`).
//!
//! Every answer but a refusal is `{"have": 262144, "bytes": 1331556, "complete": false}`: the next
//! part begins at `have`, after whatever end of either program. The document sent again tells the
//! same, so it is how a gateway goes on. A gateway says who it is by its own token (`[[gateways]]
//! token`), which opens nothing else here.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::put;
use axum::{Json, Router};
use pdm_service::http::callers::{CallerAnswer, Callers, Identity, Role};
use pdm_service::http::guard::{Access, AccessError, LEAST_TOKEN};
use pdm_service::http::server::{self, Peer};
use pdm_service::secret::{LiveSecret, SecretError};
use pdm_shared::capture::{CaptureUpload, MAX_DOCUMENT_BYTES};
use pdm_shared::id::GatewayKey;
use pdm_web::accounts::token_digest;
use serde_json::json;
use uuid::Uuid;

use crate::captures::{Captures, PartRange, Refusal, RefusalCause};
use pdm_store::BearingOwners;

/// The gateways that have a token.
#[derive(Debug)]
struct Tokens(Vec<(GatewayKey, LiveSecret)>);

/// A gateway's token that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayTokenError {
    /// Its source cannot be read.
    #[error("gateways.token of {0}")]
    Secret(GatewayKey, #[source] SecretError),
    /// It is short.
    #[error("gateways.token of {0}: {1}")]
    Short(GatewayKey, AccessError),
    /// Two gateways have the same one, so it would not say which one sends.
    #[error("gateways.token of {0} and of {1} are the same; allowed is one of its own for each")]
    Same(GatewayKey, GatewayKey),
}

impl Tokens {
    fn open(owners: &BearingOwners) -> Result<Self, GatewayTokenError> {
        let mut tokens: Vec<(GatewayKey, LiveSecret)> = Vec::new();
        for (gateway, source) in owners.tokens() {
            let secret = LiveSecret::open(source.clone())
                .map_err(|error| GatewayTokenError::Secret(gateway.clone(), error))?;
            let characters = secret.current().expose().chars().count();
            if characters < LEAST_TOKEN {
                let short = AccessError::ShortToken { characters };
                return Err(GatewayTokenError::Short(gateway, short));
            }
            let same = |(_, other): &&(GatewayKey, LiveSecret)| {
                other.current().expose() == secret.current().expose()
            };
            if let Some((other, _)) =
                tokens.iter().find(same).filter(|(other, _)| *other != gateway)
            {
                return Err(GatewayTokenError::Same(other.clone(), gateway));
            }
            tokens.push((gateway, secret));
        }
        Ok(Self(tokens))
    }

    /// The gateway with a token. Digests are compared, so that the time tells nothing of a wrong
    /// one.
    fn gateway(&self, token: &str) -> Option<GatewayKey> {
        let given = token_digest(token);
        let is_long =
            |secret: &pdm_service::secret::Secret| secret.expose().chars().count() >= LEAST_TOKEN;
        let is_it =
            |secret: &LiveSecret| token_digest(secret.current_if(is_long).expose()) == given;
        self.0.iter().find(|(_, secret)| is_it(secret)).map(|(gateway, _)| gateway.clone())
    }
}

impl Callers for Tokens {
    fn exist(&self) -> CallerAnswer<'_, bool> {
        Box::pin(async { Ok(true) })
    }

    fn of_token<'a>(&'a self, token: &'a str) -> CallerAnswer<'a, Option<Identity>> {
        Box::pin(async move {
            let named =
                |gateway: GatewayKey| Identity { name: gateway.to_string(), role: Role::Viewer };
            Ok(self.gateway(token).map(named))
        })
    }
}

/// Whether the tokens of gateways can be used.
///
/// # Errors
/// [`GatewayTokenError`].
pub(crate) fn check_tokens(owners: &BearingOwners) -> Result<usize, GatewayTokenError> {
    Tokens::open(owners).map(|tokens| tokens.0.len())
}

/// The state of the route; without captures it answers how they are configured.
#[derive(Debug, Clone)]
struct Desk {
    captures: Option<Captures>,
    access: Access,
    tokens: Arc<Tokens>,
}

/// The route. Tokens that cannot be read any more, which a start has read, let nobody in.
pub(crate) fn router(captures: Option<Captures>, owners: &BearingOwners) -> Router {
    let tokens = Tokens::open(owners).unwrap_or_else(|error| {
        tracing::error!(error = %pdm_service::error_chain::error_chain(&error), "no gateway can \
            send waveforms");
        Tokens(Vec::new())
    });
    let tokens = Arc::new(tokens);
    let own = SocketAddr::from(([127, 0, 0, 1], 0));
    let callers: Arc<dyn Callers> = Arc::clone(&tokens) as _;
    let Ok(access) = Access::with_callers(own, None, callers) else { return Router::new() };
    let desk = Desk { captures, access, tokens };
    Router::new().route("/api/v1/captures/{id}", put(take)).with_state(desk)
}

async fn take(State(desk): State<Desk>, Path(id): Path<String>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let given = parts.headers.get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let Some(given) = given.map(str::trim) else {
        return told(
            StatusCode::UNAUTHORIZED,
            "token",
            "the token of a gateway is required ([[gateways]] token)",
        );
    };
    let peer = parts.extensions.get::<Peer>().copied();
    match desk.access.who(peer, parts.uri.path(), given).await {
        Ok(Some(_)) => {}
        Ok(None) => return told(StatusCode::UNAUTHORIZED, "token", "the token is of no gateway"),
        Err(error) => {
            return told(StatusCode::SERVICE_UNAVAILABLE, "unavailable", &error.to_string());
        }
    }
    let Some(gateway) = desk.tokens.gateway(given) else {
        return told(StatusCode::UNAUTHORIZED, "token", "the token is of no gateway");
    };
    let Some(captures) = &desk.captures else {
        return told(
            StatusCode::NOT_FOUND,
            "off",
            "this agent keeps no waveforms: [captures] is not configured",
        );
    };
    let Ok(id) = Uuid::parse_str(&id) else {
        return told(StatusCode::BAD_REQUEST, "unfit", "capture_id is no UUID");
    };
    let request = Request::from_parts(parts, body);
    if let Err(full) = server::admit(&request, Some(&format!("gateway {gateway}"))) {
        return *full;
    }
    let (parts, body) = request.into_parts();
    let taken = match part_range(&parts.headers) {
        Ok(Some(range)) => captures.append(&gateway, id, range, body).await,
        Ok(None) => match to_bytes(Body::new(body), MAX_DOCUMENT_BYTES).await {
            // nothing asks whether the token is taken, for `pdm-edge check`
            Ok(text) if text.is_empty() => return StatusCode::NO_CONTENT.into_response(),
            Ok(text) => captures.begin(&gateway, id, &text).await,
            Err(_too_large) => {
                let told = format!(
                    "a document has at most {MAX_DOCUMENT_BYTES} bytes; a part of the file needs \
                     Content-Range"
                );
                return self::told(StatusCode::PAYLOAD_TOO_LARGE, "large", &told);
            }
        },
        Err(wrong) => return told(StatusCode::BAD_REQUEST, "unfit", &wrong),
    };
    match taken {
        Ok(state) => state_told(state),
        Err(refusal) => refused(&refusal),
    }
}

fn state_told(state: CaptureUpload) -> Response {
    let status = if state.complete { StatusCode::CREATED } else { StatusCode::ACCEPTED };
    (status, Json(state)).into_response()
}

fn refused(refusal: &Refusal) -> Response {
    let status = match refusal.cause {
        RefusalCause::Unfit | RefusalCause::Hash => StatusCode::UNPROCESSABLE_ENTITY,
        RefusalCause::Owner | RefusalCause::Identity => StatusCode::FORBIDDEN,
        RefusalCause::Large => StatusCode::PAYLOAD_TOO_LARGE,
        RefusalCause::Room => StatusCode::INSUFFICIENT_STORAGE,
        RefusalCause::Place | RefusalCause::Busy | RefusalCause::Unknown => StatusCode::CONFLICT,
        RefusalCause::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    };
    let (have, bytes) =
        (refusal.state.map(|state| state.have), refusal.state.map(|state| state.bytes));
    let body = json!({ "error": refusal.told, "cause": refusal.cause.as_str(), "have": have,
        "bytes": bytes });
    (status, Json(body)).into_response()
}

fn told(status: StatusCode, cause: &str, error: &str) -> Response {
    (status, Json(json!({ "error": error, "cause": cause }))).into_response()
}

/// Returns the part that a request brings; `None` for a document.
fn part_range(headers: &HeaderMap) -> Result<Option<PartRange>, String> {
    let Some(value) = headers.get(header::CONTENT_RANGE) else { return Ok(None) };
    let read = || {
        let (range, total) = value.to_str().ok()?.strip_prefix("bytes ")?.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        Some(PartRange { first, last, total: total.parse().ok()? })
    };
    let allowed = "Content-Range is bytes FIRST-LAST/TOTAL";
    read().map(Some).ok_or_else(|| allowed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_or_refused() {
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_RANGE, text.parse().expect("a value"));
            part_range(&headers)
        };
        assert_eq!(read("bytes 0-9/10"), Ok(Some(PartRange { first: 0, last: 9, total: 10 })));
        for wrong in
            ["bytes */10", "0-9/10", "bytes 0-9/*", "bytes -9/10", "bytes 0-99999999999999999999/1"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(part_range(&HeaderMap::new()), Ok(None));
    }
}
