//! A device of ALSA, opened as it is: no resampling, no other format, no other number of channels.

use std::io;
use std::path::Path;
use std::time::Duration;

use alsa::pcm::{Access, Format, HwParams, PCM};
use alsa::{Direction, ValueOr};

use super::super::frames::Encoding;
use super::super::{Source, SourceError, SourceHost};
use super::AlsaSettings;
use super::capture::{Capture, Device, Taken};

/// Length of the device's buffer and of its periods, µs: the reader may be a second late.
const BUFFER_US: u32 = 1_000_000;
const PERIOD_US: u32 = 50_000;

/// Errors of the operating system: a full buffer (`EPIPE`), a device that slept (`ESTRPIPE`),
/// nothing there yet (`EAGAIN`), a call that a signal interrupted (`EINTR`).
const EPIPE: i32 = 32;
const ESTRPIPE: i32 = 86;
const EAGAIN: i32 = 11;
const EINTR: i32 = 4;

/// Formats that are named where the configured one is not there.
const KNOWN: [(Format, &str); 6] = [
    (Format::S16LE, "s16"),
    (Format::S243LE, "s24_3le"),
    (Format::S32LE, "s32"),
    (Format::S24LE, "S24_LE"),
    (Format::FloatLE, "FLOAT_LE"),
    (Format::U8, "U8"),
];

/// Opens a device.
///
/// # Errors
/// [`SourceError::Io`] if it is not there or is in use; [`SourceError::Options`] with what it has
/// in place of what is configured.
pub fn open_alsa(
    settings: &AlsaSettings,
    host: &SourceHost,
) -> Result<Box<dyn Source>, SourceError> {
    let path = format!("alsa {}", settings.device);
    let failed = |error: alsa::Error| {
        let source = io::Error::from_raw_os_error(error.errno());
        SourceError::Io { path: path.clone().into(), source }
    };
    if settings.device.contains('\0') {
        return Err(SourceError::options(Path::new(&path), "a name with a zero byte"));
    }
    let pcm = PCM::new(&settings.device, Direction::Capture, true).map_err(failed)?;
    set_up(&pcm, settings).map_err(|refused| match refused {
        Refused::System(error) => failed(error),
        Refused::Option(why) => SourceError::options(Path::new(&path), why),
    })?;
    pcm.start().map_err(failed)?;
    Ok(Box::new(Capture::new(settings, Opened(pcm), host)))
}

/// Why a device is not opened.
enum Refused {
    System(alsa::Error),
    Option(String),
}

impl From<alsa::Error> for Refused {
    fn from(error: alsa::Error) -> Self {
        Self::System(error)
    }
}

fn set_up(pcm: &PCM, settings: &AlsaSettings) -> Result<(), Refused> {
    let format = &settings.format;
    let params = HwParams::any(pcm)?;
    // a rate that the device does not have would be made of one that it has
    params.set_rate_resample(false)?;
    params.set_access(Access::RWInterleaved)?;
    let wanted = alsa_format(format.encoding);
    if params.set_format(wanted).is_err() {
        let names = KNOWN.iter().filter(|(known, _)| params.test_format(*known).is_ok());
        let names: Vec<&str> = names.map(|(_, name)| *name).collect();
        return Err(Refused::Option(format!(
            "the device has no format {wanted}; it has {}, and alsa.format decides",
            names.join(", ")
        )));
    }
    let channels = format.channels as u32;
    if params.set_channels(channels).is_err() {
        let (least, most) = (params.get_channels_min()?, params.get_channels_max()?);
        return Err(Refused::Option(format!(
            "the device has not {channels} channel(s), but {least} to {most}; alsa.channels decides"
        )));
    }
    let rate = format.sample_rate.get() as u32;
    let has_rate = params.set_rate(rate, ValueOr::Nearest).is_ok();
    let given = params.get_rate();
    if !has_rate || given.ok() != Some(rate) {
        let (least, most) = (params.get_rate_min()?, params.get_rate_max()?);
        return Err(Refused::Option(format!(
            "the device has no rate of {rate} Hz; it has {least} to {most} Hz, and rate_hz decides"
        )));
    }
    params.set_buffer_time_near(BUFFER_US, ValueOr::Nearest)?;
    params.set_period_time_near(PERIOD_US, ValueOr::Nearest)?;
    Ok(pcm.hw_params(&params)?)
}

/// The format of an encoding; those with the high byte first are not offered.
const fn alsa_format(encoding: Encoding) -> Format {
    match encoding {
        Encoding::I16 | Encoding::I16Be => Format::S16LE,
        Encoding::I24 | Encoding::I24Be => Format::S243LE,
        Encoding::I32 | Encoding::I32Be => Format::S32LE,
        Encoding::F32 | Encoding::F32Be => Format::FloatLE,
    }
}

/// A device that captures.
struct Opened(PCM);

impl Opened {
    /// Starts the device anew after samples were lost. A capture does not start by itself.
    fn recover(&self, error: alsa::Error) -> io::Result<Taken> {
        let begun = self.0.try_recover(error, true).and_then(|()| self.0.start());
        begun.map_err(|error| io::Error::from_raw_os_error(error.errno()))?;
        Ok(Taken::Overrun)
    }
}

impl Device for Opened {
    fn wait(&mut self, most: Duration) -> io::Result<()> {
        match self.0.wait(u32::try_from(most.as_millis()).ok()) {
            Ok(_is_ready) => Ok(()),
            // the read tells them
            Err(error) if matches!(error.errno(), EPIPE | ESTRPIPE | EINTR | EAGAIN) => Ok(()),
            Err(error) => Err(io::Error::from_raw_os_error(error.errno())),
        }
    }

    fn take(&mut self, bytes: &mut [u8]) -> io::Result<Taken> {
        let read = self.0.io_bytes().readi(bytes);
        match read {
            Ok(frames) => {
                let frames = alsa::pcm::Frames::try_from(frames).unwrap_or(0);
                let count = self.0.frames_to_bytes(frames);
                Ok(Taken::Bytes(usize::try_from(count).unwrap_or(0).min(bytes.len())))
            }
            Err(error) if matches!(error.errno(), EPIPE | ESTRPIPE) => self.recover(error),
            Err(error) if matches!(error.errno(), EAGAIN | EINTR) => Ok(Taken::Nothing),
            Err(error) => Err(io::Error::from_raw_os_error(error.errno())),
        }
    }
}
