//! The one place in which a command opens the store and closes it again.

use pdm_store::Store;

use super::failure;
use crate::settings::StoreSettings;

/// Connects to the store as it is, hands it to `work` on a runtime of one thread, and closes it
/// whatever `work` returns. The schema is left alone, as an agent may run on the store.
///
/// # Errors
/// A [`pdm_service::exit::Failure`] (69) if the store does not answer, or the error of `work`.
pub(super) fn with_store<T, E: Into<anyhow::Error>>(
    settings: &StoreSettings,
    work: impl AsyncFnOnce(&Store) -> Result<T, E>,
) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(failure::runtime)?.block_on(async {
        let store = pdm_store::connect(settings).await.map_err(failure::store)?;
        let worked = work(&store).await;
        store.close().await;
        worked.map_err(Into::into)
    })
}
