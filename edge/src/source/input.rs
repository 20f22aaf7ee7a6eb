//! A source as the configuration describes it: data alone, opened where it is read.

use std::path::PathBuf;
use std::time::Duration;

use pdm_service::clock::SharedClock;

use super::frames::FrameFormat;
use super::iio::{IioSettings, open_iio};
use super::mqtt::{TopicSettings, open_topic};
use super::simulator::{Simulator, SimulatorSettings};
use super::stream::{open_stdin, open_tcp};
use super::{RecordingOptions, Source, SourceError, open_sequence};

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
    /// A simulated machine.
    Simulator(Box<SimulatorSettings>),
    /// Frames from standard input.
    StandardInput(FrameFormat),
    /// Frames from a TCP server.
    Tcp {
        /// `host:port` of the server.
        address: String,
        /// Form of the frames.
        format: FrameFormat,
        /// Silence after which the connection counts as lost.
        silence: Duration,
    },
    /// Frames from an MQTT topic.
    Topic {
        /// Broker and topic.
        topic: Box<TopicSettings>,
        /// Form of the frames.
        format: FrameFormat,
    },
    /// Accelerometers of Linux' Industrial I/O.
    Iio(IioSettings),
}

impl SourceInput {
    /// Opens the source. Live sources take the times of their blocks from `clock`.
    ///
    /// A source can be opened again after it failed. Passwords and certificates are read at every
    /// opening, so they can be renewed while the edge runs.
    ///
    /// # Errors
    /// [`SourceError`] if a file or device cannot be opened, or an option does not fit it.
    pub fn open(&self, clock: &SharedClock) -> Result<Box<dyn Source>, SourceError> {
        let clock = SharedClock::clone(clock);
        match self {
            Self::Recording { files, options } => open_sequence(files, options),
            Self::Simulator(settings) => match Simulator::new((**settings).clone()) {
                Ok(simulator) => Ok(Box::new(simulator)),
                Err(error) => Err(SourceError::options("simulator".as_ref(), error.to_string())),
            },
            Self::StandardInput(format) => open_stdin(format, clock),
            Self::Tcp { address, format, silence } => open_tcp(address, format, *silence, clock),
            Self::Topic { topic, format } => open_topic(topic, format, clock),
            Self::Iio(settings) => open_iio(settings, clock),
        }
    }
}
