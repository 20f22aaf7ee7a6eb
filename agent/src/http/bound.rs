//! The HTTP server's address, certificate and users, opened before anything is received: an address
//! in use or a certificate that cannot be read ends the start.
//!
//! An address that other machines can reach is served only where callers can say who they are: with
//! a token, with a user, or while the first user is awaited by the one-time token of the log.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pdm_oidc::{OidcError, Provider};
use pdm_service::broker::TlsError;
use pdm_service::clock::SharedClock;
use pdm_service::http::callers::{CallerAnswer, Callers, Identity, UnknownCallers};
use pdm_service::http::guard::{Access, AccessError};
use pdm_service::http::server::ServerTerms;
use pdm_service::http::tls::Tls;
use pdm_service::process_limits::raise_open_files;
use pdm_service::secret::SecretError;
use pdm_store::Store;
use pdm_web::Setup;
use pdm_web::accounts::{AccountStore as _, new_secret, token_digest};
use pdm_web::link::AckLinks;
use pdm_web::plant::PlantError;
use pdm_web::provided;
use tokio::net::TcpListener;

use super::captures::GatewayTokenError;
use crate::settings::{FirstAdmin, HttpSettings};

/// Most connections at once: 128 live streams and as many askers. A quarter of a shell's usual
/// limit of 1,024 files; the embedded broker leaves that much
/// (`deploy/standalone/src/broker/gate.rs`).
const CONNECTIONS: usize = 256;

/// Files that the agent needs beside its connections. Measured: 25 with SQLite, the broker and a
/// hook; chosen: twice as many for mail, PostgreSQL, documents and their child processes, and a
/// reserve.
const FILES_OF_OTHERS: u64 = 72;

/// The connections that the limit of open files leaves room for, so that no caller takes the files
/// that judging and telling need.
pub(super) fn connections() -> usize {
    let files = raise_open_files(CONNECTIONS as u64 + FILES_OF_OTHERS);
    let most = usize::try_from(files.saturating_sub(FILES_OF_OTHERS)).unwrap_or(CONNECTIONS);
    if most < CONNECTIONS {
        tracing::warn!(files, "the limit of open files allows fewer connections to the pages");
    }
    // some are left for health where the limit is far too low
    most.clamp(8, CONNECTIONS)
}

/// The address cannot be opened. The caller shows the error and ends with its exit code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The token cannot be read.
    #[error("http.token")]
    Token(#[source] SecretError),
    /// The token is short.
    #[error("http.listen, http.token: {0}")]
    Access(#[from] AccessError),
    /// Other machines can reach the address, and nobody could say who they are.
    #[error(
        "http.listen is {listen}, which other machines reach, and there is neither a token nor a \
         user: set http.token, make a user (pdm-agent user add NAME --role admin), or set \
         http.first_admin = \"log\""
    )]
    NoUsers {
        /// The address.
        listen: SocketAddr,
    },
    /// The certificate cannot be read.
    #[error("http.tls: {0}")]
    Tls(#[from] TlsError),
    /// The secret or the certificates of the provider of logins cannot be read.
    #[error("http.oidc: {0}")]
    Provider(#[from] OidcError),
    /// The token of a gateway cannot be used.
    #[error(transparent)]
    Gateways(#[from] GatewayTokenError),
    /// The users cannot be asked.
    #[error(transparent)]
    Users(#[from] PlantError),
    /// The address cannot be bound.
    #[error("cannot listen on {listen}")]
    Bind {
        /// The address.
        listen: SocketAddr,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
}

impl ServerError {
    /// Whether the configuration has to change; else something that it names is away.
    pub(crate) const fn is_of_configuration(&self) -> bool {
        match self {
            Self::Token(_)
            | Self::Access(_)
            | Self::NoUsers { .. }
            | Self::Tls(_)
            | Self::Gateways(_)
            | Self::Provider(_) => true,
            Self::Users(_) | Self::Bind { .. } => false,
        }
    }
}

/// An address that is bound, with what its callers need.
#[derive(Debug)]
pub(crate) struct BoundServer {
    pub(crate) listener: TcpListener,
    pub(crate) terms: ServerTerms,
    pub(crate) access: Access,
    pub(crate) setup: Arc<Setup>,
    pub(crate) links: Option<AckLinks>,
    pub(crate) provider: Option<Arc<Provider>>,
    pub(crate) public_url: Option<String>,
    pub(crate) is_secure: bool,
}

/// Users of the store as the guard asks for them.
#[derive(Debug)]
struct StoredCallers {
    store: Store,
    clock: SharedClock,
    /// There was a user once: whoever acts has to say who they are from then on.
    exist: AtomicBool,
}

impl Callers for StoredCallers {
    fn exist(&self) -> CallerAnswer<'_, bool> {
        Box::pin(async {
            if !self.exist.load(Ordering::Relaxed) {
                let found = self.store.accounts().has_users().await;
                let found = found.map_err(|error| UnknownCallers(error.to_string()))?;
                self.exist.store(found, Ordering::Relaxed);
            }
            Ok(self.exist.load(Ordering::Relaxed))
        })
    }

    fn of_token<'a>(&'a self, token: &'a str) -> CallerAnswer<'a, Option<Identity>> {
        Box::pin(async move {
            let owner =
                self.store.accounts().token_owner(&token_digest(token), self.clock.now()).await;
            let owner = owner.map_err(|error| UnknownCallers(error.to_string()))?;
            Ok(owner.map(|user| Identity { name: user.name, role: user.role }))
        })
    }
}

/// Opens the configured address; `None` if none is configured.
///
/// # Errors
/// [`ServerError`].
pub(crate) async fn open(
    settings: &HttpSettings,
    store: &Store,
    clock: &SharedClock,
) -> Result<Option<BoundServer>, ServerError> {
    let Some(listen) = settings.listen else { return Ok(None) };
    let callers = StoredCallers {
        store: store.clone(),
        clock: Arc::clone(clock),
        // the provider's users are users before the first of them has come
        exist: AtomicBool::new(settings.oidc.is_some()),
    };
    let token = token(settings)?;
    let has_token = token.is_some();
    let access = Access::with_callers(listen, token, Arc::new(callers))?;
    let access = access.renewing(settings.token.clone());
    let tls = settings.tls.clone().map(Tls::open).transpose()?;
    let has_users = settings.oidc.is_some() || store.accounts().has_users().await?;
    let is_awaited = settings.first_admin == Some(FirstAdmin::Log) && !has_users;
    if !listen.ip().is_loopback() && !has_token && !has_users && !is_awaited {
        return Err(ServerError::NoUsers { listen });
    }
    if !listen.ip().is_loopback() && !settings.is_secure() {
        tracing::warn!(%listen, "other machines reach the HTTP server without TLS: passwords and \
            tokens can be read on their way (http.tls)");
    }
    let listener =
        TcpListener::bind(listen).await.map_err(|source| ServerError::Bind { listen, source })?;
    let setup = Arc::new(Setup::default());
    if is_awaited {
        offer(&setup, settings, listener.local_addr().unwrap_or(listen));
    }
    Ok(Some(BoundServer {
        listener,
        terms: ServerTerms { connections: connections(), tls: tls.map(Arc::new) },
        access,
        setup,
        links: links(settings, store, clock).await?,
        provider: provider(settings)?,
        public_url: settings.public_url.clone(),
        is_secure: settings.is_secure(),
    }))
}

/// Writes the one-time token of the first user into the log.
fn offer(setup: &Setup, settings: &HttpSettings, listen: SocketAddr) {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let own = format!("{scheme}://{listen}");
    let base = settings.public_url.as_deref().unwrap_or(&own).trim_end_matches('/');
    let token = setup.offer();
    tracing::warn!(
        "there is no user yet: within 30 minutes {base}/setup makes the first administrator, once, \
         with the one-time token {token}"
    );
}

/// Returns the signer of links, if an address for them is configured. The key is the store's own.
pub(crate) async fn links(
    settings: &HttpSettings,
    store: &Store,
    clock: &SharedClock,
) -> Result<Option<AckLinks>, ServerError> {
    let Some(base) = &settings.public_url else { return Ok(None) };
    let fresh = token_digest(&new_secret());
    let key = store.accounts().link_key(fresh, clock.now()).await?;
    Ok(Some(AckLinks::new(&key, base)))
}

/// The plant's own provider of logins, where one is configured. It is asked at the first login.
pub(crate) fn provider(settings: &HttpSettings) -> Result<Option<Arc<Provider>>, OidcError> {
    let (Some(oidc), Some(url)) = (&settings.oidc, &settings.public_url) else { return Ok(None) };
    provided::provider((**oidc).clone(), url).map(Some)
}

/// Reads the token.
pub(crate) fn token(
    settings: &HttpSettings,
) -> Result<Option<pdm_service::secret::Secret>, ServerError> {
    settings.token().map_err(ServerError::Token)
}

/// Whether the section can be used, as far as that can be told without the store.
///
/// # Errors
/// [`ServerError::Token`], [`ServerError::Access`], [`ServerError::Tls`].
pub(crate) fn check(settings: &HttpSettings) -> Result<(), ServerError> {
    let token = token(settings)?;
    if token.is_some() {
        // the length of a token is checked whatever the address
        Access::new(SocketAddr::from(([127, 0, 0, 1], 0)), token)?;
    }
    settings.tls.clone().map(Tls::open).transpose()?;
    provider(settings)?;
    Ok(())
}
