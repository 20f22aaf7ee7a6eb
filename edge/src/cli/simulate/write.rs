//! Writing a source as `.npy`, `.npy.gz`, `.wav` or `.csv`, in g.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;
use hound::{SampleFormat, WavSpec, WavWriter};
use ndarray::Array2;
use pdm_shared::units::M_S2_PER_G;

use crate::source::Source;

/// The format of the file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileFormat {
    Npy,
    NpyGz,
    Wav,
    Csv,
}

impl FileFormat {
    /// The format for a name and a number of snapshots.
    ///
    /// # Errors
    /// A text with the allowed names or numbers.
    pub(super) fn of(path: &Path, snapshots: u64) -> Result<Self, String> {
        let name = path.to_string_lossy().to_lowercase();
        let endings = [
            (".npy.gz", Self::NpyGz),
            (".npy", Self::Npy),
            (".wav", Self::Wav),
            (".csv", Self::Csv),
        ];
        let Some((_, form)) = endings.into_iter().find(|(ending, _)| name.ends_with(ending)) else {
            return Err(format!(
                "--out {}: allowed are names that end in .npy, .npy.gz, .wav or .csv",
                path.display()
            ));
        };
        if snapshots == 0 {
            return Err("--snapshots is 0, allowed is 1 or more".to_owned());
        }
        if snapshots > 1 && matches!(form, Self::Wav | Self::Csv) {
            return Err(format!(
                "--snapshots {snapshots}: .wav and .csv hold one; write .npy or .npy.gz"
            ));
        }
        Ok(form)
    }
}

/// Writes all blocks of `source` under another name and renames the file at the end.
pub(super) fn write(
    path: &Path,
    form: FileFormat,
    source: &mut dyn Source,
    snapshots: u64,
) -> anyhow::Result<()> {
    let unfinished = unfinished(path);
    let written = File::create(&unfinished).map_err(anyhow::Error::from).and_then(|file| {
        let mut out = BufWriter::new(file);
        match form {
            FileFormat::Npy => npy(&mut out, source, snapshots)?,
            FileFormat::NpyGz => {
                let mut gzip = GzEncoder::new(&mut out, Compression::default());
                npy(&mut gzip, source, snapshots)?;
                gzip.finish()?;
            }
            FileFormat::Wav => wav(&mut out, source)?,
            FileFormat::Csv => csv(&mut out, source)?,
        }
        Ok(out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?)
    });
    if let Err(error) = written {
        // the unfinished file is useless; if it cannot be removed, the first error is still the one
        // to report
        let _ = std::fs::remove_file(&unfinished);
        return Err(error);
    }
    std::fs::rename(&unfinished, path).context("cannot rename the finished file")
}

fn unfinished(path: &Path) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}

/// The next block in g, as 32-bit floats.
fn next_block(source: &mut dyn Source) -> anyhow::Result<Option<Array2<f32>>> {
    let block = source.next_block()?;
    Ok(block.map(|block| block.accel_m_s2.mapv(|a| (a / M_S2_PER_G) as f32)))
}

fn npy(out: &mut impl Write, source: &mut dyn Source, snapshots: u64) -> anyhow::Result<()> {
    let format = source.format();
    let samples = format.block_samples.context("a source of snapshots has a fixed length")?;
    let shape = match snapshots {
        1 => format!("({}, {samples})", format.channels),
        _ => format!("({snapshots}, {}, {samples})", format.channels),
    };
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    // magic, version and length take 10 bytes; the whole header is a multiple of 64 with a newline
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&u16::try_from(header.len())?.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    while let Some(block) = next_block(source)? {
        for value in &block {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    Ok(out.flush()?)
}

fn wav(out: &mut (impl Write + Seek), source: &mut dyn Source) -> anyhow::Result<()> {
    let format = source.format();
    let rate = format.sample_rate.get();
    anyhow::ensure!(
        rate.fract() == 0.0 && rate <= f64::from(u32::MAX),
        "a WAV file has a whole rate in Hz, not {rate}"
    );
    let spec = WavSpec {
        channels: u16::try_from(format.channels)?,
        sample_rate: rate as u32,
        bits_per_sample: 32,
        sample_format: SampleFormat::Float,
    };
    let mut writer = WavWriter::new(out, spec)?;
    while let Some(block) = next_block(source)? {
        for frame in block.columns() {
            for &value in frame {
                writer.write_sample(value)?;
            }
        }
    }
    Ok(writer.finalize()?)
}

fn csv(out: &mut impl Write, source: &mut dyn Source) -> anyhow::Result<()> {
    let format = source.format().clone();
    let names: Vec<String> = (0..format.channels).map(|c| format!("channel_{c}_g")).collect();
    writeln!(out, "time_s,{}", names.join(","))?;
    while let Some(block) = next_block(source)? {
        for (sample, frame) in block.columns().into_iter().enumerate() {
            write!(out, "{:.7}", sample as f64 / format.sample_rate.get())?;
            for value in frame {
                write!(out, ",{value}")?;
            }
            writeln!(out)?;
        }
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use pdm_dsp::DefectOrders;
    use pdm_shared::units::{Rpm, SampleRate};

    use super::*;
    use crate::source::simulator::{Simulator, SimulatorSettings};
    use crate::source::{RecordingOptions, open_recording};

    fn simulator(snapshots: u64) -> Simulator {
        let orders = DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("valid");
        let rate = SampleRate::new(8000.0).expect("valid");
        let mut settings = SimulatorSettings::new(rate, Rpm::new(1500.0).expect("valid"), orders);
        (settings.snapshots, settings.snapshot_s, settings.channels) = (snapshots, 0.1, 2);
        Simulator::new(settings).expect("valid")
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().expect("folder");
        for (name, snapshots) in [("a.npy", 3), ("a.npy.gz", 2), ("a.wav", 1), ("a.csv", 1)] {
            let path = folder.path().join(name);
            let form = FileFormat::of(&path, snapshots).expect(name);
            write(&path, form, &mut simulator(snapshots), snapshots).expect(name);
            let options = RecordingOptions {
                sample_rate: SampleRate::new(8000.0).ok(),
                ..RecordingOptions::default()
            };
            let mut read = open_recording(&path, &options).expect(name);
            let mut written = simulator(snapshots);
            assert_eq!(read.expected_blocks(), Some(snapshots), "{name}");
            while let Some(block) = written.next_block().expect("simulated") {
                let other = read.next_block().expect(name).expect(name).accel_m_s2;
                assert_eq!(other.dim(), block.accel_m_s2.dim(), "{name}");
                let worst = (&other - &block.accel_m_s2).mapv(f64::abs);
                // half a step of a 32-bit float of about 1 g
                assert!(worst.iter().all(|d| *d < 1e-6), "{name}");
            }
        }
    }

    #[test]
    fn a_name_or_number_that_cannot_be_written_is_refused() {
        assert!(FileFormat::of(Path::new("a.txt"), 1).is_err());
        assert!(FileFormat::of(Path::new("a.wav"), 2).is_err());
        assert!(FileFormat::of(Path::new("a.npy"), 0).is_err());
    }
}
