//! The embedded broker, with which `pdm` runs on one machine without any other program.
//!
//! The broker acknowledges a publication before the message is on disk, so a PUBACK does not
//! promise durability. The edge keeps every event until the agent's receipt covers it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use mqtt5::broker::config::{StorageBackend, StorageConfig};
use mqtt5::broker::{BrokerConfig, BrokerShutdownHandle, MqttBroker};
use tokio::task::JoinHandle;

/// Largest packet that the broker takes: 16 times an event with two spectra of 800 lines (64 KiB).
const MAX_PACKET_BYTES: usize = 1024 * 1024;

/// Most messages that the broker keeps for an absent client, about 400 MB of events of 4 KiB. The
/// edge sends again what the broker drops beyond.
const MAX_QUEUED_MESSAGES: usize = 100_000;

/// Address and folder of the embedded broker.
#[derive(Debug, Clone)]
pub(crate) struct BrokerSettings {
    /// Address; port 0 takes a free one.
    pub(crate) listen: SocketAddr,
    /// Folder for sessions and queues; without it they are kept in memory.
    pub(crate) folder: Option<PathBuf>,
}

/// The embedded broker did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrokerError {
    /// The address is in use or not an address of this machine. The caller reports the error; exit
    /// 69.
    #[error("the embedded broker cannot listen on {listen}: {source}")]
    Start {
        /// The address.
        listen: SocketAddr,
        /// The broker's error.
        source: mqtt5::MqttError,
    },
    /// The broker stopped before it was ready.
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

    /// Address of the broker, with the port that the system chose for port 0.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the broker, which first writes queues and retained messages to disk. After 10 s it is
    /// left: no event depends on its state, since edge and agent have theirs on disk.
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
