//! The embedded broker, with which `pdm` runs on one machine without any other program.
//!
//! The broker acknowledges a publication before the message is on disk, so a PUBACK does not
//! promise durability. The edge keeps every event until the agent's receipt covers it.
//!
//! Edge and agent of the process reach the broker on a loopback port of its own. Everybody else
//! connects to the [`Gate`] on the configured address: the broker's own accept loop has no limit of
//! connections before their CONNECT, and where no file descriptor is left it repeats its attempt
//! without a pause. With certificates that port takes this process alone ([`InsidePassword`]).

mod gate;
mod inside;
mod packets;
mod rules;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mqtt5::broker::config::{StorageBackend, StorageConfig};
use mqtt5::broker::{BrokerConfig, BrokerShutdownHandle, MqttBroker};
use pdm_service::broker::{Login, ServerTls};
use pdm_service::error_chain::error_chain;
use pdm_service::exit::Exit;
use tokio::task::JoinHandle;

use gate::Gate;
use inside::InsidePassword;

/// Largest packet that the broker takes: four times an event with two spectra of 800 lines (64
/// KiB), as in `deploy/mosquitto/mosquitto.conf`.
const MAX_PACKET_BYTES: usize = 256 * 1024;

/// Most messages that the broker keeps for an absent client: 16 MB of events of 4 KiB. The edge
/// sends again what the broker drops beyond.
const MAX_QUEUED_MESSAGES: usize = 4_000;
/// Most bytes that the broker keeps for an absent client: the agent's queue and those that one
/// certificate may have ([`rules::CLIENTS_OF_ONE`]) stay below half of the unit's memory.
const MAX_QUEUED_BYTES: usize = 48 * 1024 * 1024;

/// Address of the embedded broker, and folder of its sessions.
#[derive(Debug, Clone)]
pub(crate) struct BrokerSettings {
    /// Address; port 0 takes a free one.
    pub(crate) listen: SocketAddr,
    /// Folder for sessions and queues; without it they live in memory.
    pub(crate) folder: Option<PathBuf>,
    /// Certificates; clients then need one too. Without them only loopback is served.
    pub(crate) tls: Option<ServerTls>,
    /// Client ids of this process, which nobody else may take.
    pub(crate) own_client_ids: Vec<String>,
}

/// The embedded broker did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrokerError {
    /// Other machines can reach the address, and nothing tells who may connect. Exit 78.
    #[error(
        "the broker on {listen} could be used by every machine that reaches it: give \
         --tls-certificate, --tls-key and --tls-ca (each client then needs a certificate), or \
         listen on loopback (--listen 127.0.0.1:1883)"
    )]
    Open {
        /// The address.
        listen: SocketAddr,
    },
    /// The certificates cannot be used. Exit 78.
    #[error("--tls-certificate, --tls-key, --tls-ca, --tls-crl: {0}")]
    Tls(String),
    /// The address is in use or not an address of this machine. The caller reports the error; exit
    /// 69.
    #[error("the embedded broker cannot listen on {listen}: {source}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The broker behind the gate did not start, such as on a folder that it cannot write.
    #[error("the embedded broker cannot start: {source}")]
    Start {
        /// The broker's error.
        source: mqtt5::MqttError,
    },
    /// The sessions of the last start cannot be read or written.
    #[error("the embedded broker cannot use its folder {}: {source}", folder.display())]
    Sessions {
        /// The folder.
        folder: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The broker stopped before it was ready.
    #[error("the embedded broker ended before it was ready")]
    Ended,
}

impl BrokerError {
    /// The exit code of a command that fails with this error.
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Open { .. } | Self::Tls(_) => Exit::Config,
            Self::Listen { .. } | Self::Start { .. } | Self::Sessions { .. } | Self::Ended => {
                Exit::Unavailable
            }
        }
    }
}

/// A running broker.
pub(crate) struct Broker {
    inside: SocketAddr,
    /// The password behind the gate; `None` without certificates, where everybody on loopback may
    /// connect.
    password: Option<InsidePassword>,
    gate: Gate,
    stop: BrokerShutdownHandle,
    task: JoinHandle<()>,
}

impl std::fmt::Debug for Broker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Broker").field("inside", &self.inside).finish_non_exhaustive()
    }
}

impl Broker {
    /// Starts the broker and waits until it accepts connections.
    ///
    /// # Errors
    /// [`BrokerError`] with the address.
    pub(crate) async fn start(settings: BrokerSettings) -> Result<Self, BrokerError> {
        let listen = settings.listen;
        let tls = settings.tls.as_ref().map(ServerTls::server_config).transpose();
        let tls = tls.map_err(|error| BrokerError::Tls(error_chain(&error)))?;
        if tls.is_none() && !listen.ip().is_loopback() {
            return Err(BrokerError::Open { listen });
        }
        // bound first: an address in use ends the start before the broker opens its folder
        let password = tls.is_some().then(InsidePassword::draw);
        let certified = tls.zip(password.clone());
        let gate = Gate::bind(listen, certified, settings.own_client_ids.clone())
            .await
            .map_err(|source| BrokerError::Listen { listen, source })?;
        if let Some(folder) = &settings.folder {
            inside::forget_user(folder)
                .map_err(|source| BrokerError::Sessions { folder: folder.clone(), source })?;
        }
        let mut broker = MqttBroker::with_config(config(settings))
            .await
            .map_err(|source| BrokerError::Start { source })?;
        if let Some(password) = &password {
            broker = broker.with_auth_provider(Arc::new(password.clone()));
        }
        let inside = broker.local_addr().ok_or(BrokerError::Ended)?;
        let stop = broker.shutdown_handle();
        let mut ready = broker.ready_receiver();
        let task = tokio::spawn(async move {
            if let Err(error) = broker.run().await {
                tracing::error!(%error, "the embedded broker ended");
            }
        });
        let waited = ready.wait_for(|ready| *ready).await.map(|_ready| ());
        waited.map_err(|_closed| BrokerError::Ended)?;
        Ok(Self { inside, password, gate: gate.open(inside), stop, task })
    }

    /// Address of the broker for edge and agent in this process.
    pub(crate) const fn inside(&self) -> SocketAddr {
        self.inside
    }

    /// Returns the login for edge and agent in this process; `None` where the broker takes
    /// everybody.
    pub(crate) fn login(&self) -> Option<Login> {
        self.password.as_ref().map(InsidePassword::login)
    }

    /// Stops the broker, which first writes queues and retained messages to disk. After 10 s it is
    /// left: no event depends on its state, since edge and agent have theirs on disk.
    pub(crate) async fn stop(self) {
        self.gate.close();
        self.stop.shutdown();
        if tokio::time::timeout(Duration::from_secs(10), self.task).await.is_err() {
            tracing::warn!("the embedded broker did not stop within 10 s");
        }
    }
}

fn config(settings: BrokerSettings) -> BrokerConfig {
    let mut storage = StorageConfig::new()
        .with_max_queued_messages_per_client(MAX_QUEUED_MESSAGES)
        .with_max_queued_bytes_per_client(MAX_QUEUED_BYTES);
    storage = match settings.folder {
        Some(folder) => storage.with_backend(StorageBackend::File).with_base_dir(folder),
        None => storage.with_backend(StorageBackend::Memory).with_persistence(false),
    };
    BrokerConfig::default()
        .with_bind_address((Ipv4Addr::LOCALHOST, 0))
        .with_max_packet_size(MAX_PACKET_BYTES)
        .with_sys_topics_enabled(false)
        .with_storage(storage)
}
