//! The bytes of a file for a parser that may never stop reading at their end.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// Most reads in a row that find nothing (chosen: a whole file makes a handful of them, at the end
/// of each part that is searched). The parser's loop over the lines of a cross-reference table has
/// no end of its own where the file ends before the word `trailer` (oxidize-pdf 5.5.6).
const MAX_EMPTY_READS: usize = 1000;

/// A file in memory. A reader that goes on asking at its end gets an error.
#[derive(Debug)]
pub(super) struct BoundedFile {
    bytes: Cursor<Vec<u8>>,
    empty_reads: usize,
}

impl BoundedFile {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: Cursor::new(bytes), empty_reads: 0 }
    }
}

impl Read for BoundedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(into)?;
        if read > 0 {
            self.empty_reads = 0;
            return Ok(read);
        }
        self.empty_reads += 1;
        if self.empty_reads > MAX_EMPTY_READS {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is cut short"));
        }
        Ok(0)
    }
}

impl Seek for BoundedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_never_stops_at_the_end_gets_an_error() {
        let mut file = BoundedFile::new(vec![1, 2, 3]);
        let mut into = [0; 8];
        assert_eq!(file.read(&mut into).expect("bytes"), 3);
        let error = (0..=MAX_EMPTY_READS).find_map(|_| file.read(&mut into).err());
        assert_eq!(error.expect("refused").kind(), io::ErrorKind::UnexpectedEof);
        file.rewind().expect("the begin");
        assert_eq!(file.read(&mut into).expect("bytes again"), 3);
        assert_eq!(file.read(&mut into).expect("counted anew"), 0);
    }
}
