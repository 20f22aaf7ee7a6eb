//! Blocks of a device that captures, with what happens to it: overruns, sleep, silence, unplugging.
//!
//! The device is a trait, so that its faults can be played by a test.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::super::frames::FrameDecoder;
use super::super::{Block, Source, SourceError, SourceFormat, SourceHost};
use super::{AlsaSettings, log};

/// Longest wait for samples before the time without any is looked at.
const WAIT: Duration = Duration::from_millis(200);

/// Pause where a device says that it has samples and gives none.
const NOTHING: Duration = Duration::from_millis(20);

/// Frames of a read: 85 ms at 48 kHz, so that samples are dated well.
const PIECE_FRAMES: usize = 4096;

/// Overruns in a row without a sample in between after which the device counts as lost: it is
/// opened anew then. Chosen; a device that works loses samples and goes on.
const MOST_IN_A_ROW: u32 = 10;

/// Time without an overrun after which `/healthz` does not name it any more: ten usual windows.
const REMARKED: Duration = Duration::from_mins(10);

/// What a read gives.
#[derive(Debug)]
pub(super) enum Taken {
    /// So many bytes, all of whole frames.
    Bytes(usize),
    /// No sample is there.
    Nothing,
    /// Samples were lost before those that come, and the device goes on.
    Overrun,
}

/// A device that captures.
pub(super) trait Device: Send {
    /// Waits until samples are there, or for so long.
    fn wait(&mut self, most: Duration) -> io::Result<()>;

    /// Takes what is there, at most so many bytes.
    fn take(&mut self, bytes: &mut [u8]) -> io::Result<Taken>;
}

/// A device as a source.
pub(super) struct Capture<D> {
    name: PathBuf,
    device: D,
    decoder: FrameDecoder,
    format: SourceFormat,
    silence: Duration,
    host: SourceHost,
    piece: Vec<u8>,
    /// Overruns since the opening, those since the last sample, and when the last one was.
    overruns: u64,
    in_a_row: u32,
    last_overrun: Option<Instant>,
}

impl<D: Device> Capture<D> {
    pub(super) fn new(settings: &AlsaSettings, device: D, host: &SourceHost) -> Self {
        let format = settings.format.clone();
        Self {
            name: PathBuf::from(format!("alsa {}", settings.device)),
            device,
            piece: vec![0; PIECE_FRAMES * format.frame_bytes()],
            format: format.source_format(),
            decoder: FrameDecoder::at(format, settings.rate_tolerance, host.clone()),
            silence: settings.silence,
            host: host.clone(),
            overruns: 0,
            in_a_row: 0,
            last_overrun: None,
        }
    }

    fn failed(&self, source: io::Error) -> SourceError {
        SourceError::Io { path: self.name.clone(), source }
    }

    /// Takes one piece; true if samples came.
    fn take(&mut self) -> Result<bool, SourceError> {
        self.device.wait(WAIT).map_err(|error| self.failed(error))?;
        let most = self.decoder.wanted().min(self.piece.len());
        let taken = self.device.take(&mut self.piece[..most]);
        match taken.map_err(|error| self.failed(error))? {
            Taken::Bytes(count) if count > 0 => {
                self.in_a_row = 0;
                self.decoder.push(&self.piece[..count]);
                self.forget_overruns();
                Ok(true)
            }
            Taken::Bytes(_) | Taken::Nothing => {
                std::thread::sleep(NOTHING);
                Ok(false)
            }
            Taken::Overrun => self.overrun().map(|()| false),
        }
    }

    fn overrun(&mut self) -> Result<(), SourceError> {
        self.decoder.gap();
        self.overruns += 1;
        self.in_a_row += 1;
        log::overrun(&self.host.name, self.last_overrun.is_some());
        self.last_overrun = Some(Instant::now());
        let text = format!(
            "samples were lost {} time(s) at the audio interface, the last time within ten \
             minutes: its buffer was full, or it slept; is the gateway too busy, or the USB \
             bus?",
            self.overruns
        );
        self.host.remarks.set(&self.host.name, "overruns", text);
        if self.in_a_row < MOST_IN_A_ROW {
            return Ok(());
        }
        Err(self.failed(io::Error::other("the device loses all samples; it is opened again")))
    }

    fn forget_overruns(&mut self) {
        if self.last_overrun.is_some_and(|last| last.elapsed() > REMARKED) {
            self.last_overrun = None;
            self.host.remarks.withdraw(&self.host.name, "overruns");
        }
    }
}

impl<D: Device> Source for Capture<D> {
    fn format(&self) -> &SourceFormat {
        &self.format
    }

    fn next_block(&mut self) -> Result<Option<Block>, SourceError> {
        let mut heard = Instant::now();
        loop {
            if let Some(block) = self.decoder.block() {
                return Ok(Some(block));
            }
            if self.take()? {
                heard = Instant::now();
            } else if heard.elapsed() >= self.silence {
                let silence_s = self.silence.as_secs_f64();
                let why = format!("the device gives no samples for {silence_s} s");
                return Err(self.failed(io::Error::new(io::ErrorKind::TimedOut, why)));
            }
        }
    }

    fn expected_blocks(&self) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;

    use pdm_service::clock::SystemClock;
    use pdm_shared::units::{M_S2_PER_G, SampleRate};

    use super::*;
    use crate::source::frames::{Encoding, FrameFormat};
    use crate::source::{AccelUnit, Calibration};

    /// What a device does, step by step; at its end it is silent.
    enum ScriptStep {
        Samples(Vec<i32>),
        Overrun,
        Fails(i32),
    }

    struct Scripted(VecDeque<ScriptStep>);

    impl Device for Scripted {
        fn wait(&mut self, _most: Duration) -> io::Result<()> {
            Ok(())
        }

        fn take(&mut self, bytes: &mut [u8]) -> io::Result<Taken> {
            match self.0.pop_front() {
                None => Ok(Taken::Nothing),
                Some(ScriptStep::Overrun) => Ok(Taken::Overrun),
                Some(ScriptStep::Fails(code)) => Err(io::Error::from_raw_os_error(code)),
                Some(ScriptStep::Samples(samples)) => {
                    let raw = samples.iter().flat_map(|sample| {
                        let [a, b, c, _] = sample.to_le_bytes();
                        [a, b, c]
                    });
                    let raw: Vec<u8> = raw.collect();
                    bytes[..raw.len()].copy_from_slice(&raw);
                    Ok(Taken::Bytes(raw.len()))
                }
            }
        }
    }

    /// Blocks of four samples of a 24-bit device with 5 V full scale and a sensor of 100 mV/g.
    fn capture(steps: impl IntoIterator<Item = ScriptStep>) -> (Capture<Scripted>, SourceHost) {
        let unit = AccelUnit::Millivolt { sensitivity_mv_per_g: 100.0 };
        let scale = 5000.0 / 8_388_608.0;
        let format = FrameFormat {
            channels: 1,
            sample_rate: SampleRate::new(48_000.0).expect("a rate"),
            encoding: Encoding::I24,
            block_samples: 4,
            calibrations: vec![Calibration::new(unit, scale, 0.0).expect("valid")],
        };
        let (device, silence) = ("hw:0".to_owned(), Duration::from_millis(100));
        let settings = AlsaSettings { device, format, rate_tolerance: 0.05, silence };
        let host = SourceHost::alone(Arc::new(SystemClock), "n");
        (Capture::new(&settings, Scripted(steps.into_iter().collect()), &host), host)
    }

    fn next(capture: &mut Capture<Scripted>) -> Block {
        capture.next_block().expect("a block").expect("endless")
    }

    #[test]
    fn counts_of_24_bits_are_volts_and_volts_are_acceleration() {
        let half = 1 << 22;
        let (mut capture, _) = capture([ScriptStep::Samples(vec![half, -half, 0, -8_388_608])]);
        let block = next(&mut capture);
        let in_g: Vec<f64> = block.accel_m_s2.iter().map(|sample| sample / M_S2_PER_G).collect();
        for (got, wanted) in in_g.iter().zip([25.0, -25.0, 0.0, -50.0]) {
            assert!((got - wanted).abs() < 1e-9, "{in_g:?}");
        }
    }

    /// cpal #730, SDL #13761, pipedal #544: a capture that overruns stops for good, or goes on as
    /// if nothing were missing.
    #[test]
    fn an_overrun_is_told_and_no_block_stands_across_it() {
        let two = || ScriptStep::Samples(vec![1, 1]);
        let (mut capture, host) =
            capture([two(), two(), two(), two(), two(), ScriptStep::Overrun, two(), two()]);
        assert!(!next(&mut capture).follows_on, "the first");
        assert!(next(&mut capture).follows_on);
        let after = next(&mut capture);
        assert!(!after.follows_on, "two samples before the overrun are dropped, not joined");
        let told = host.remarks.lines().join("; ");
        assert!(told.contains("lost 1 time(s)"), "{told}");
    }

    #[test]
    fn a_device_that_only_overruns_is_opened_anew() {
        let (mut capture, _) = capture((0..MOST_IN_A_ROW).map(|_| ScriptStep::Overrun));
        let error = capture.next_block().expect_err("lost").to_string();
        assert!(error.contains("loses all samples"), "{error}");
    }

    /// An unplugged device is an error (ENODEV), and so is one that gives nothing (EIO of a driver
    /// after some seconds, alsa-rs #64, or silence for good): the reader opens it again.
    #[test]
    fn an_unplugged_or_silent_device_is_an_error() {
        for (steps, expected) in [
            (vec![ScriptStep::Fails(19)], "No such device"),
            (vec![ScriptStep::Fails(5)], "nput/output error"),
            (vec![], "no samples for 0.1 s"),
        ] {
            let (mut capture, _) = capture(steps);
            let error = capture.next_block().expect_err("lost").to_string();
            assert!(error.contains(expected) && error.contains("alsa hw:0"), "{error}");
        }
    }
}
