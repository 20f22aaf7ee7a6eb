//! Records who did what: every act at a page, at the API or by a link is written down.

use pdm_service::http::server::Peer;

use crate::Shared;
use crate::accounts::{AccountStore, Act};

/// Writes an act down. An act that was done stays done if this fails, so the failure is logged.
pub async fn write(accounts: &dyn AccountStore, act: &Act) {
    let Act { who, via, action, what, .. } = act;
    tracing::info!(who, via, action, ?what, "somebody acted");
    if let Err(error) = accounts.note_act(act).await {
        tracing::error!(%error, who, action, "an act could not be written down");
    }
}

/// Writes down what somebody did at a page, at the API or by a link.
pub(crate) async fn note(
    shared: &Shared,
    who: &str,
    via: &str,
    peer: Option<Peer>,
    action: &str,
    what: String,
) {
    let act = Act::new(shared.site.clock.now(), who, via, peer, action, &what);
    write(shared.site.accounts.as_ref(), &act).await;
}
