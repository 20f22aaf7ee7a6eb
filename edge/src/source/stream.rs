//! A live stream of frames from standard input or a TCP connection.
//!
//! The edge connects to the device that samples. A connection that closes or falls silent is an
//! error: the reader opens the source again, and the first block then does not follow on. Format of
//! the bytes: [`super::frames`] or [`super::framed`].

use std::io::{self, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::decoder::{StreamDecoder, StreamFormat};
use super::{Block, Source, SourceError, SourceFormat, SourceHost};

/// Most bytes of one read: the size of a socket's receive buffer by default.
const PIECE_BYTES: usize = 64 * 1024;

/// Longest wait of a read, after which blocks that waited for a newer frame are handed out.
const WAIT: Duration = Duration::from_millis(200);

/// The meaning of the end of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamEnd {
    /// The stream is complete: the rest is a last block.
    Over,
    /// The sender closed the connection: an error, so that the source is opened again.
    Lost,
}

/// Frames from a reader.
struct Stream<R> {
    name: PathBuf,
    reader: R,
    decoder: StreamDecoder,
    format: SourceFormat,
    end: StreamEnd,
    /// Longest time without a byte; not of standard input.
    silence: Duration,
    heard: Instant,
    /// Why nothing more comes, told once the blocks that are there are handed out.
    failure: Option<io::Error>,
    is_over: bool,
}

/// Frames from standard input, until it ends.
///
/// # Errors
/// [`SourceError::Options`] if the format is not valid.
pub fn open_stdin(
    format: &StreamFormat,
    host: &SourceHost,
) -> Result<Box<dyn Source>, SourceError> {
    let never = Duration::MAX;
    from_reader("standard input", io::stdin(), format, host, (StreamEnd::Over, never))
}

/// Frames from a TCP server at `address` (`host:port`). The connection is made at the first
/// [`Source::next_block`]. After `silence` without a byte the source fails.
///
/// # Errors
/// [`SourceError::Options`] if the format or the address is not valid.
pub fn open_tcp(
    address: &str,
    format: &StreamFormat,
    silence: Duration,
    host: &SourceHost,
) -> Result<Box<dyn Source>, SourceError> {
    let name = format!("tcp://{address}");
    let has_port = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if !has_port {
        return Err(SourceError::options(Path::new(&name), "the address is no host:port"));
    }
    // a timeout of 0 is an error of the operating system
    let silence = silence.max(Duration::from_millis(1));
    let connection = Connection { address: address.to_owned(), silence, socket: None };
    from_reader(&name, connection, format, host, (StreamEnd::Lost, silence))
}

/// A TCP connection that is made at the first read.
struct Connection {
    address: String,
    silence: Duration,
    socket: Option<TcpStream>,
}

impl Read for Connection {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        if let Some(socket) = &mut self.socket {
            return socket.read(piece);
        }
        let wait = self.silence.min(WAIT);
        let made = connect(&self.address, self.silence)
            .and_then(|socket| socket.set_read_timeout(Some(wait)).map(|()| socket));
        let socket = made.map_err(|e| io::Error::other(format!("cannot connect: {e}")))?;
        self.socket.insert(socket).read(piece)
    }
}

fn connect(address: &str, timeout: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn from_reader<R: Read + Send + 'static>(
    name: &str,
    reader: R,
    format: &StreamFormat,
    host: &SourceHost,
    (end, silence): (StreamEnd, Duration),
) -> Result<Box<dyn Source>, SourceError> {
    format.frames.check().map_err(|e| SourceError::options(Path::new(name), e.to_string()))?;
    Ok(Box::new(Stream {
        name: PathBuf::from(name),
        reader,
        decoder: StreamDecoder::new(format, host.clone()),
        format: format.frames.source_format(),
        end,
        silence,
        heard: Instant::now(),
        failure: None,
        is_over: false,
    }))
}

impl<R: Read + Send> Source for Stream<R> {
    fn format(&self) -> &SourceFormat {
        &self.format
    }

    fn next_block(&mut self) -> Result<Option<Block>, SourceError> {
        if self.is_over {
            return Ok(None);
        }
        // the silence is that of the sender, and not the time until it is listened to
        self.heard = Instant::now();
        // a backlog is read in large pieces, however little is missing of a block
        let most = if self.end == StreamEnd::Lost { PIECE_BYTES } else { self.decoder.wanted() };
        let mut piece = vec![0u8; most.clamp(1, PIECE_BYTES)];
        loop {
            // what is piped from a file has not waited anywhere
            let is_live = self.end == StreamEnd::Lost && self.failure.is_none();
            let is_held = is_live && self.decoder.holds();
            let decoded = if is_held { Ok(None) } else { self.decoder.block() };
            if let Some(block) = decoded.map_err(|why| self.strange(why))? {
                return Ok(Some(block));
            }
            if let Some(failure) = self.failure.take() {
                return Err(self.lost(failure));
            }
            let wanted = self.decoder.wanted().clamp(1, piece.len());
            match self.reader.read(&mut piece[..wanted]) {
                Ok(0) if self.end == StreamEnd::Over => {
                    self.is_over = true;
                    return Ok(self.decoder.rest());
                }
                Ok(0) => {
                    let gone = "the sender closed the connection";
                    self.failure = Some(io::Error::new(io::ErrorKind::ConnectionAborted, gone));
                }
                Ok(got) => {
                    self.heard = Instant::now();
                    let pushed = self.decoder.push(&piece[..got]);
                    pushed.map_err(|why| self.strange(why))?;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e)
                    if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
                {
                    if self.heard.elapsed() >= self.silence {
                        let silent = "the sender is silent";
                        self.failure = Some(io::Error::new(io::ErrorKind::TimedOut, silent));
                    }
                }
                Err(e) => self.failure = Some(e),
            }
        }
    }

    fn expected_blocks(&self) -> Option<u64> {
        None
    }
}

impl<R> Stream<R> {
    /// The error for bytes that are not what the configuration says.
    fn strange(&mut self, why: String) -> SourceError {
        self.is_over = true;
        SourceError::malformed(&self.name, why)
    }

    fn lost(&mut self, source: io::Error) -> SourceError {
        self.is_over = true;
        SourceError::Io { path: self.name.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};
    use std::net::TcpListener;
    use std::sync::Arc;

    use pdm_service::clock::SystemClock;
    use pdm_shared::units::SampleRate;

    use super::super::decoder::StreamForm;
    use super::super::frames::{Encoding, FrameFormat};
    use super::*;

    fn format() -> StreamFormat {
        let frames = FrameFormat {
            channels: 1,
            sample_rate: SampleRate::new(1000.0).expect("valid"),
            encoding: Encoding::I16,
            block_samples: 4,
            calibrations: vec![],
        };
        StreamFormat { frames, form: StreamForm::Raw, rate_tolerance: 0.05 }
    }

    fn host() -> SourceHost {
        SourceHost::alone(Arc::new(SystemClock), "bench")
    }

    #[test]
    fn the_rest_of_a_stream_that_is_over_is_a_short_block() {
        let bytes = vec![1u8; 2 * 4 + 2 * 3 + 1];
        let mut stream = from_reader(
            "x",
            Cursor::new(bytes),
            &format(),
            &host(),
            (StreamEnd::Over, Duration::MAX),
        )
        .expect("valid");
        let lengths: Vec<usize> = std::iter::from_fn(|| stream.next_block().expect("bytes"))
            .map(|block| block.accel_m_s2.ncols())
            .collect();
        assert_eq!(lengths, [4, 3]);
    }

    #[test]
    fn a_sender_that_is_gone_or_silent_is_an_error_that_says_so() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("port");
        let address = listener.local_addr().expect("address").to_string();
        let open = || {
            let silence = Duration::from_millis(100);
            open_tcp(&address, &format(), silence, &host()).expect("valid")
        };
        let served = std::thread::spawn(move || {
            let (mut sender, _) = listener.accept().expect("connection");
            sender.write_all(&[1; 10]).expect("sent");
            drop(listener.accept().expect("connection"));
            drop(sender);
        });
        let mut silent = open();
        assert!(silent.next_block().expect("a block").is_some());
        let error = silent.next_block().expect_err("silent").to_string();
        assert!(error.contains(&address) && error.contains("silent"), "{error}");
        let error = open().next_block().expect_err("closed").to_string();
        assert!(error.contains("closed") || error.contains("reset"), "{error}");
        served.join().expect("served");
    }

    #[test]
    fn nobody_at_the_address_is_told_with_it() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("port");
        let address = listener.local_addr().expect("address").to_string();
        drop(listener);
        let open =
            |address: &str| open_tcp(address, &format(), Duration::from_millis(200), &host());
        let error = open(&address).expect("valid").next_block().expect_err("nobody").to_string();
        assert!(error.starts_with(&format!("tcp://{address}: cannot connect")), "{error}");
        assert!(open("no-port").is_err());
    }
}
