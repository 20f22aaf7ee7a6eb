//! Who did what: every act at a page, at the API or by a link is written down.

use pdm_service::http::server::Peer;

use crate::Shared;
use crate::accounts::Act;

/// Writes an act down. An act that was done stays done if this fails, so the failure is logged.
pub(crate) async fn note(
    shared: &Shared,
    who: &str,
    via: &str,
    peer: Option<Peer>,
    action: &str,
    what: String,
) {
    let act = Act {
        id: 0,
        at: shared.site.clock.now(),
        who: who.to_owned(),
        via: via.to_owned(),
        peer: peer.map(|peer| peer.0.ip().to_string()),
        action: action.to_owned(),
        what: what.chars().take(pdm_shared::bounds::MAX_NOTE).collect(),
    };
    tracing::info!(who, via, action, what = ?act.what, "somebody acted");
    if let Err(error) = shared.site.accounts.note_act(&act).await {
        tracing::error!(%error, who, action, "an act could not be written down");
    }
}
