//! Records who did what over the routes beside the pages: uploads and values of stations.

use pdm_service::clock::SharedClock;
use pdm_service::http::guard::Caller;
use pdm_store::Store;
use pdm_web::accounts::Act;
use pdm_web::audit;

/// Writes acts down.
#[derive(Debug, Clone)]
pub(super) struct Acts {
    pub(super) store: Store,
    pub(super) clock: SharedClock,
}

impl Acts {
    /// Writes down what a caller did. It stays done if this fails, so the failure is logged.
    pub(super) async fn note(&self, caller: &Caller, action: &str, what: String) {
        let who = caller.identity.as_ref().map_or("local", |identity| identity.name.as_str());
        let act = Act::new(self.clock.now(), who, "api", caller.peer, action, &what);
        audit::write(&self.store.accounts(), &act).await;
    }
}
