//! A source as the configuration describes it: data alone, opened where it is read.

use std::path::PathBuf;
use std::time::Duration;

use pdm_service::broker::TlsFiles;
use pdm_service::clock::SharedClock;
use pdm_service::secret::SecretSource;

use super::alsa::{AlsaSettings, open_alsa};
use super::decoder::StreamFormat;
use super::iio::{IioSettings, open_iio};
use super::listen::{ListenBy, listen};
use super::modbus::{ModbusSettings, open_modbus};
use super::mqtt::{MessageForm, TopicSettings, open_topic};
use super::opcua::{OpcuaSettings, check_certificates, open_opcua};
use super::simulator::{Simulator, SimulatorSettings};
use super::stream::{open_stdin, open_tcp};
use super::{AccelUnit, RecordingOptions, Source, SourceError, open_sequence};
use crate::remarks::Remarks;

/// The origin of a source's samples.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceInput {
    /// Recordings in the order of time, or folders of them.
    Recording {
        /// Files and folders.
        files: Vec<PathBuf>,
        /// The part of each file to read.
        options: Box<RecordingOptions>,
    },
    /// Recordings whose folders are watched by a service: files are measured as they come, each
    /// once. A command that ends reads what is there.
    Watched {
        /// Files and folders.
        files: Vec<PathBuf>,
        /// The part of each file to read.
        options: Box<RecordingOptions>,
        /// Time between two looks.
        every: Duration,
    },
    /// A simulated machine.
    Simulator(Box<SimulatorSettings>),
    /// Frames from standard input.
    StandardInput(StreamFormat),
    /// Frames from a TCP server.
    Tcp {
        /// `host:port` of the server.
        address: String,
        /// Form of the frames.
        format: StreamFormat,
        /// Silence after which the connection counts as lost.
        silence: Duration,
    },
    /// Frames from a sender that connects to the edge, or sends it datagrams.
    Listen {
        /// How it reaches the edge.
        by: ListenBy,
        /// `host:port` of the edge; without a host on loopback.
        address: String,
        /// Form of the frames.
        format: StreamFormat,
        /// Silence after which another sender may take the place.
        silence: Duration,
    },
    /// Frames from an MQTT topic.
    Topic {
        /// Broker and topic.
        topic: Box<TopicSettings>,
        /// Form of the frames.
        format: StreamFormat,
        /// The form of the messages.
        messages: MessageForm,
    },
    /// Accelerometers of Linux' Industrial I/O.
    Iio(IioSettings),
    /// An audio interface of Linux.
    Alsa(Box<AlsaSettings>),
    /// Ready-made values of a transmitter.
    Modbus(ModbusSettings),
    /// Samples or values of an OPC UA server.
    Opcua(Box<OpcuaSettings>),
}

/// The environment that the opening program gives a source.
#[derive(Debug, Clone)]
pub struct SourceHost {
    /// The clock that dates the blocks of a live source.
    pub clock: SharedClock,
    /// Name of the source in logs, metrics and remarks.
    pub name: String,
    /// Where the source states what is wrong with it.
    pub remarks: Remarks,
}

impl SourceHost {
    /// A host that shows no remarks, for commands that open a source once.
    pub fn alone(clock: SharedClock, name: impl Into<String>) -> Self {
        Self { clock, name: name.into(), remarks: Remarks::default() }
    }
}

impl SourceInput {
    /// Whether it gives samples, not a transmitter's ready-made values alone.
    pub const fn has_samples(&self) -> bool {
        match self {
            Self::Modbus(_) => false,
            Self::Opcua(settings) => settings.has_samples(),
            Self::Recording { .. }
            | Self::Watched { .. }
            | Self::Simulator(_)
            | Self::StandardInput(_)
            | Self::Tcp { .. }
            | Self::Listen { .. }
            | Self::Topic { .. }
            | Self::Iio(_)
            | Self::Alsa(_) => true,
        }
    }

    /// Returns the same source for a look of at most `wait` beside the running service: at a broker
    /// under another name and without a session, so that nothing is taken away from the service,
    /// and with as much patience as the look has.
    #[must_use]
    pub fn for_a_look(&self, wait: Duration) -> Self {
        let mut looked_at = self.clone();
        match &mut looked_at {
            Self::Topic { topic, .. } => {
                topic.client_id.push_str("-check");
                topic.keeps_session = false;
            }
            Self::Tcp { silence, .. } => *silence = wait,
            Self::Recording { .. }
            | Self::Watched { .. }
            | Self::Simulator(_)
            | Self::StandardInput(_)
            | Self::Listen { .. }
            | Self::Iio(_)
            | Self::Alsa(_)
            | Self::Modbus(_)
            | Self::Opcua(_) => {}
        }
        looked_at
    }

    /// The secret that the source names, with its key.
    pub fn secret(&self) -> Option<(&'static str, &SecretSource)> {
        let (key, login) = match self {
            Self::Topic { topic, .. } => ("stream.password", topic.login.as_ref()?),
            Self::Opcua(settings) => ("opcua.password", settings.server.login.as_ref()?),
            Self::Recording { .. }
            | Self::Watched { .. }
            | Self::Simulator(_)
            | Self::StandardInput(_)
            | Self::Tcp { .. }
            | Self::Listen { .. }
            | Self::Iio(_)
            | Self::Alsa(_)
            | Self::Modbus(_) => return None,
        };
        Some((key, &login.password))
    }

    /// The certificates of the broker from whose topic the source comes.
    pub const fn tls(&self) -> Option<&TlsFiles> {
        match self {
            Self::Topic { topic, .. } => topic.tls.as_ref(),
            Self::Recording { .. }
            | Self::Watched { .. }
            | Self::Simulator(_)
            | Self::StandardInput(_)
            | Self::Tcp { .. }
            | Self::Listen { .. }
            | Self::Iio(_)
            | Self::Alsa(_)
            | Self::Modbus(_)
            | Self::Opcua(_) => None,
        }
    }

    /// Checks the certificates of a server of OPC UA that the source names.
    ///
    /// # Errors
    /// The key, the file, and what is wrong with it.
    pub fn check_certificates(&self, clock: &SharedClock) -> Result<(), String> {
        match self {
            Self::Opcua(settings) => check_certificates(&settings.server, clock.now()),
            Self::Recording { .. }
            | Self::Watched { .. }
            | Self::Simulator(_)
            | Self::StandardInput(_)
            | Self::Tcp { .. }
            | Self::Listen { .. }
            | Self::Topic { .. }
            | Self::Iio(_)
            | Self::Alsa(_)
            | Self::Modbus(_) => Ok(()),
        }
    }

    /// The sensitivity that the configuration states for a channel.
    pub fn sensitivity_mv_per_g(&self, channel: usize) -> Option<f64> {
        let calibrations = match self {
            Self::Recording { options, .. } | Self::Watched { options, .. } => {
                &options.calibrations
            }
            Self::StandardInput(format)
            | Self::Tcp { format, .. }
            | Self::Listen { format, .. }
            | Self::Topic { format, .. } => &format.frames.calibrations,
            Self::Iio(settings) => &settings.calibrations,
            Self::Alsa(settings) => &settings.format.calibrations,
            Self::Simulator(_) | Self::Modbus(_) | Self::Opcua(_) => return None,
        };
        let own = match calibrations.as_slice() {
            [one] => Some(one),
            several => several.get(channel),
        };
        match own?.unit()? {
            AccelUnit::Millivolt { sensitivity_mv_per_g } => Some(sensitivity_mv_per_g),
            AccelUnit::G | AccelUnit::MetrePerSecondSquared => None,
        }
    }

    /// Opens the source. Live sources take the times of their blocks from `clock`.
    ///
    /// A source can be opened again after it failed. Passwords and certificates are read at every
    /// opening, so they can be renewed while the edge runs.
    ///
    /// # Errors
    /// [`SourceError`] if a file or device cannot be opened, or an option does not fit it.
    pub fn open(&self, clock: &SharedClock) -> Result<Box<dyn Source>, SourceError> {
        self.open_at(&SourceHost::alone(SharedClock::clone(clock), "source"))
    }

    /// [`Self::open`] with the name of the source and the place of its remarks.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_at(&self, host: &SourceHost) -> Result<Box<dyn Source>, SourceError> {
        match self {
            Self::Recording { files, options } | Self::Watched { files, options, .. } => {
                open_sequence(files, options)
            }
            Self::Simulator(settings) => match Simulator::new((**settings).clone()) {
                Ok(simulator) => Ok(Box::new(simulator)),
                Err(error) => Err(SourceError::options("simulator".as_ref(), error.to_string())),
            },
            Self::StandardInput(format) => open_stdin(format, host),
            Self::Tcp { address, format, silence } => open_tcp(address, format, *silence, host),
            Self::Listen { by, address, format, silence } => {
                listen(*by, address, format, *silence, host)
            }
            Self::Topic { topic, format, messages } => open_topic(topic, format, messages, host),
            Self::Iio(settings) => open_iio(settings, host),
            Self::Alsa(settings) => open_alsa(settings, host),
            Self::Modbus(settings) => open_modbus(settings, host),
            Self::Opcua(settings) => open_opcua(settings, host),
        }
    }
}
