//! The limits of a recording: samples in memory, bytes read whole, and how far a compressed file
//! may expand. The limits count what is read; a header that promises less or more changes nothing.

use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::SourceError;

/// Most samples of a snapshot over all channels: 8 Mi are 64 MiB as 64-bit floats, a quarter of the
/// memory that the service's unit grants, and 17 times the largest snapshot of the public sets that
/// the tests read (498,292 samples, CWRU).
pub(super) const MAX_SAMPLES: usize = 8 << 20;

/// Most bytes of a file that is read whole: 16 for each sample, the length of a number as text.
const MAX_WHOLE_BYTES: u64 = 16 * MAX_SAMPLES as u64;

/// Most bytes into which one compressed byte may expand. Vibration compresses to a half at best
/// (28 MB of FEMTO's 1-1 hold 57 MB); 64 leaves room for a sensor that stood still.
const MAX_EXPANSION: u64 = 64;

/// Bytes that any compressed file may expand into: a small file of zeros is no attack.
const FREE_BYTES: u64 = MAX_WHOLE_BYTES;

/// The whole content of a file.
pub(super) fn whole(path: &Path, file: impl Read) -> Result<Vec<u8>, SourceError> {
    let mut content = Vec::new();
    let read = file.take(MAX_WHOLE_BYTES + 1).read_to_end(&mut content);
    read.map_err(|e| SourceError::from_io(path, e))?;
    if content.len() as u64 > MAX_WHOLE_BYTES {
        let what = format!("larger than {MAX_WHOLE_BYTES} bytes, the most that is read whole");
        return Err(SourceError::malformed(path, what));
    }
    Ok(content)
}

/// Refuses more samples than fit into memory.
pub(super) fn check_samples(path: &Path, samples: usize) -> Result<(), SourceError> {
    if samples <= MAX_SAMPLES {
        return Ok(());
    }
    let what = format!("more than {MAX_SAMPLES} samples in a snapshot, the most that is read");
    Err(SourceError::malformed(path, what))
}

/// Counts the bytes that are read.
struct Counting<R> {
    reader: R,
    count: u64,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let got = self.reader.read(bytes)?;
        self.count += got as u64;
        Ok(got)
    }
}

/// The content of a gzip file. The checksum of each member is compared at its end.
pub(super) struct Gunzip<R> {
    decoder: MultiGzDecoder<Counting<R>>,
    expanded: u64,
}

impl<R: Read> Gunzip<R> {
    /// The content of the gzip file in `reader`.
    pub(super) fn new(reader: R) -> Self {
        let decoder = MultiGzDecoder::new(Counting { reader, count: 0 });
        Self { decoder, expanded: 0 }
    }
}

impl<R: Read> Read for Gunzip<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let got = self.decoder.read(bytes)?;
        self.expanded += got as u64;
        let compressed = self.decoder.get_ref().count;
        let most = FREE_BYTES.saturating_add(compressed.saturating_mul(MAX_EXPANSION));
        if self.expanded > most {
            let told = format!(
                "{compressed} compressed bytes expand into more than {most}; at most \
                 {MAX_EXPANSION} times are read"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, told));
        }
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_file_that_expands_without_end_is_refused_before_its_end() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let zeros = vec![0u8; 1 << 20];
        for _ in 0..(FREE_BYTES >> 20) + 100 {
            gzip.write_all(&zeros).expect("memory");
        }
        let compressed = gzip.finish().expect("memory");
        let mut gunzip = Gunzip::new(&compressed[..]);
        let error = io::copy(&mut gunzip, &mut io::sink()).expect_err("refused").to_string();
        assert!(error.contains("at most 64 times"), "{error}");
    }

    #[test]
    fn an_endless_file_is_not_read_whole() {
        let error = whole(Path::new("a.csv"), io::repeat(b'1')).expect_err("refused").to_string();
        assert!(error.contains("134217728 bytes"), "{error}");
    }
}
