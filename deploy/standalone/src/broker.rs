//! The embedded broker: what `pdm` needs to run on one machine with nothing installed.
//!
//! It acknowledges a publish before the message is on disk, so its word is no promise of
//! durability: the edge keeps every event until the agent's receipt covers it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use mqtt5::broker::config::{StorageBackend, StorageConfig};
use mqtt5::broker::{BrokerConfig, BrokerShutdownHandle, MqttBroker};
use tokio::task::JoinHandle;

/// Largest packet it takes: an event with two spectra of 800 lines stays below 64 KiB.
const MAX_PACKET_BYTES: usize = 1024 * 1024;

/// Messages it keeps for a client that is away. What it drops beyond, the edge sends again.
const MAX_QUEUED_MESSAGES: usize = 100_000;

/// Where the embedded broker listens and keeps its sessions.
#[derive(Debug, Clone)]
pub(crate) struct BrokerSettings {
    /// Address; port 0 takes a free one.
    pub(crate) listen: SocketAddr,
    /// Folder for sessions and queues; without it they live in memory.
    pub(crate) folder: Option<PathBuf>,
}

/// Why the embedded broker did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrokerError {
    /// The address is taken or not ours. The caller reports it; exit 69.
    #[error("the embedded broker cannot listen on {listen}: {source}")]
    Start {
        /// The address.
        listen: SocketAddr,
        /// Why.
        source: mqtt5::MqttError,
    },
    /// It stopped before it was ready.
    #[error("the embedded broker on {listen} ended before it was ready")]
    Ended {
        /// The address.
        listen: SocketAddr,
    },
}

/// A running broker.
pub(crate) struct Broker {
    address: SocketAddr,
    stop: BrokerShutdownHandle,
    task: JoinHandle<()>,
}

impl std::fmt::Debug for Broker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Broker").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Broker {
    /// Starts the broker and waits until it accepts connections.
    ///
    /// # Errors
    /// [`BrokerError`] with the address.
    pub(crate) async fn start(settings: BrokerSettings) -> Result<Self, BrokerError> {
        let listen = settings.listen;
        let mut broker = MqttBroker::with_config(config(settings))
            .await
            .map_err(|source| BrokerError::Start { listen, source })?;
        let address = broker.local_addr().unwrap_or(listen);
        let stop = broker.shutdown_handle();
        let mut ready = broker.ready_receiver();
        let task = tokio::spawn(async move {
            if let Err(error) = broker.run().await {
                tracing::error!(%error, "the embedded broker ended");
            }
        });
        let waited = ready.wait_for(|ready| *ready).await.map(|_ready| ());
        waited.map_err(|_closed| BrokerError::Ended { listen })?;
        Ok(Self { address, stop, task })
    }

    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it; queues and retained messages reach the disk first.
    pub(crate) async fn stop(self) {
        self.stop.shutdown();
        if tokio::time::timeout(Duration::from_secs(10), self.task).await.is_err() {
            tracing::warn!("the embedded broker did not stop within 10 s");
        }
    }
}

fn config(settings: BrokerSettings) -> BrokerConfig {
    let mut storage = StorageConfig::new().with_max_queued_messages_per_client(MAX_QUEUED_MESSAGES);
    storage = match settings.folder {
        Some(folder) => storage.with_backend(StorageBackend::File).with_base_dir(folder),
        None => storage.with_backend(StorageBackend::Memory).with_persistence(false),
    };
    BrokerConfig::default()
        .with_bind_address(settings.listen)
        .with_max_packet_size(MAX_PACKET_BYTES)
        .with_sys_topics_enabled(false)
        .with_storage(storage)
}
