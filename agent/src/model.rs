//! The language model of `[reasoner]`: its client, its dialect, its budgets on the store, and what
//! is never sent to it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use pdm_reasoner::budget::Spent;
use pdm_reasoner::client::{Attempted, Client, Model, ModelError};
use pdm_reasoner::dialect::Dialect;
use pdm_reasoner::guard::Redactor;
use pdm_reasoner::meter::{Ledger, Meter};
use pdm_reasoner::probe::{ProbeError, probe};
use pdm_reasoner::settings::{DialectChoice, ReasonerSettings};
use pdm_reasoner::trouble::Trouble;
use pdm_reasoner::wire::ChatRequest;
use pdm_service::clock::SharedClock;
use pdm_service::secret::SecretError;
use pdm_store::OpinionStore;
use tokio::sync::OnceCell;

use crate::settings::AgentSettings;

pub(crate) mod prompted;

/// The model cannot be used. The caller does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenModelError {
    /// The key cannot be read.
    #[error(transparent)]
    Key(#[from] SecretError),
    /// No HTTP client can be made.
    #[error(transparent)]
    Client(#[from] ModelError),
}

/// A language model with its budgets.
#[derive(Debug)]
pub(crate) struct LanguageModel {
    client: Client,
    settings: ReasonerSettings,
    dialect: OnceCell<Dialect>,
    redactor: Redactor,
    book: Book,
    /// The fault of the model that the last request or probe has shown.
    trouble: Mutex<Option<Trouble>>,
}

impl LanguageModel {
    /// Opens the configured model; `None` without `[reasoner]`.
    ///
    /// # Errors
    /// [`OpenModelError`].
    pub(crate) fn open(
        settings: &AgentSettings,
        store: OpinionStore,
        clock: SharedClock,
    ) -> Result<Option<Arc<Self>>, OpenModelError> {
        let Some(reasoner) = &settings.reasoner else { return Ok(None) };
        let client = Client::new(reasoner, reasoner.key()?)?;
        let words = settings.secrets().into_iter().chain(reasoner.private_words.iter().cloned());
        let dialect = match reasoner.dialect {
            DialectChoice::Auto => OnceCell::new(),
            DialectChoice::Native => OnceCell::new_with(Some(Dialect::Native)),
            DialectChoice::Json => OnceCell::new_with(Some(Dialect::Json)),
        };
        Ok(Some(Arc::new(Self {
            client,
            settings: reasoner.clone(),
            dialect,
            redactor: Redactor::new(words),
            book: Book { store, clock },
            trouble: Mutex::default(),
        })))
    }

    pub(crate) const fn settings(&self) -> &ReasonerSettings {
        &self.settings
    }

    pub(crate) const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub(crate) fn name(&self) -> &str {
        self.client.name()
    }

    /// Returns how the model writes its calls, found out at the first use. A failure is not kept:
    /// the next use asks again.
    ///
    /// # Errors
    /// [`ProbeError`].
    pub(crate) async fn dialect(&self) -> Result<Dialect, ProbeError> {
        let found = self.dialect.get_or_try_init(|| async {
            let probed = probe(&self.client, self.client.name()).await;
            let dialect = probed.inspect_err(|error| self.note(Some(Trouble::of_probe(error))))?;
            self.note(None);
            tracing::info!(
                model = self.client.name(),
                dialect = dialect.as_str(),
                "language model"
            );
            Ok(dialect)
        });
        found.await.copied()
    }

    /// Returns the fault of the model, if it has one.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what is wrong with the model, or that nothing is.
    pub(crate) fn note(&self, trouble: Option<Trouble>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// The model within its budgets.
    pub(crate) fn meter(&self, purpose: &'static str) -> Meter<'_> {
        Meter {
            model: self,
            ledger: &self.book,
            prices: self.settings.price,
            per_event: self.settings.per_event,
            per_day: self.settings.per_day,
            purpose,
        }
    }
}

/// The client, with a note of what each request has shown.
#[async_trait]
impl Model for LanguageModel {
    fn name(&self) -> &str {
        self.client.name()
    }

    async fn complete(&self, request: &ChatRequest, within: Duration) -> Attempted {
        let attempted = self.client.complete(request, within).await;
        let error = attempted.result.as_ref().err();
        self.note(error.map(|error| Trouble::of_error(error, self.client.has_key())));
        attempted
    }
}

/// The store's ledger of what was spent.
#[derive(Debug)]
struct Book {
    store: OpinionStore,
    clock: SharedClock,
}

#[async_trait]
impl Ledger for Book {
    async fn today(&self) -> Result<Spent, String> {
        self.store.model_usage(self.clock.now()).await.map_err(|error| error.to_string())
    }

    async fn add(&self, purpose: &'static str, spent: &Spent) -> Result<(), String> {
        let added = self.store.add_model_usage(purpose, spent, self.clock.now()).await;
        added.map_err(|error| error.to_string())
    }
}
