//! The exit code of each error.

use pdm_knowledge::KnowledgeError;
use pdm_knowledge::document::DocumentError;
use pdm_service::config::ConfigError;
use pdm_service::exit::{Exit, Failure};
use pdm_store::{StoreError, StoreTrouble, Unfit};

use crate::service::StartError;

/// A configuration that cannot be used: 78.
pub(super) fn config(error: ConfigError) -> Failure {
    Failure::new(Exit::Config, error)
}

/// The exit code of a store that cannot be opened or fails.
pub(super) fn store(error: StoreError) -> Failure {
    let exit = match &error {
        StoreError::Missing { .. } => Exit::NoInput,
        // a file that cannot be made or read is no service that is away
        StoreError::Open { .. } if StoreTrouble::from(&error) == StoreTrouble::Unopened => Exit::Io,
        StoreError::Unavailable(_)
        | StoreError::Open { .. }
        | StoreError::Moved { .. }
        | StoreError::LogMoved { .. }
        | StoreError::Swallowed { .. }
        | StoreError::Unfit { unfit: Unfit::Standby, .. } => Exit::Unavailable,
        StoreError::Way(_) | StoreError::Unfit { .. } => Exit::Config,
        StoreError::Newer { .. } | StoreError::Migrate(_) | StoreError::Content { .. } => Exit::Io,
    };
    Failure::new(exit, error)
}

/// The exit code of an agent that did not start.
pub(super) fn start(error: StartError) -> Failure {
    let exit = match error {
        StartError::Store(error) => return store(error),
        StartError::Knowledge(error) => return knowledge(error),
        StartError::Broker(_)
        | StartError::Email(_)
        | StartError::Webhook(_)
        | StartError::Secret { .. }
        | StartError::Model(_) => Exit::Config,
        StartError::Server(ref error) if error.is_of_configuration() => Exit::Config,
        StartError::Server(_) | StartError::Tools(_) | StartError::Taken(_) => Exit::Unavailable,
    };
    Failure::new(exit, error)
}

/// The exit code of an error of the knowledge base.
pub(super) fn knowledge(error: KnowledgeError) -> Failure {
    let exit = match &error {
        KnowledgeError::Document(DocumentError::Unreadable { .. }) => Exit::NoInput,
        KnowledgeError::Document(_) => Exit::BadInput,
        KnowledgeError::Store(_) | KnowledgeError::Embed(_) => Exit::Unavailable,
        KnowledgeError::Secret { .. } | KnowledgeError::Words(_) | KnowledgeError::WordsSettled => {
            Exit::Config
        }
        KnowledgeError::EmptyQuery { .. } => Exit::Usage,
    };
    Failure::new(exit, error)
}

/// The exit code of a runtime that cannot be made.
pub(super) fn runtime(error: std::io::Error) -> Failure {
    Failure::new(Exit::Software, anyhow::Error::new(error).context("cannot start the runtime"))
}
