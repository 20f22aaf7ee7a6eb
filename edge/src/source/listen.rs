//! A live stream whose sender connects to the edge (TCP), or sends datagrams to it (UDP).
//!
//! The edge keeps its address: a connection that ends or falls silent makes room for the next one.
//! One sender is heard at a time; a second one waits, or its datagrams are counted and left out,
//! until the first is silent. While nothing comes, a block without samples says so once a second,
//! so that the reader can end. Invariant: a sender that does not come, or falls silent, is logged
//! once and shown in `/healthz` until it is back.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use metrics::counter;
use ndarray::Array2;

use super::decoder::{StreamDecoder, StreamFormat};
use super::{Block, BlockRate, Source, SourceError, SourceFormat, SourceHost};

/// How long a read waits before it says that nothing has come.
const WAIT: Duration = Duration::from_secs(1);
/// Pause between two looks for a connection.
const PAUSE: Duration = Duration::from_millis(20);
/// Bytes of the largest datagram.
const DATAGRAM: usize = 65_536;

/// How a sender reaches the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenBy {
    /// It connects.
    Tcp,
    /// It sends datagrams, each with whole frames or blocks.
    Udp,
}

/// Listens at `address` (`HOST:PORT`; without a host on loopback) from the first
/// [`Source::next_block`] on.
///
/// # Errors
/// [`SourceError::Options`] if the format or the address is not valid.
pub fn listen(
    by: ListenBy,
    address: &str,
    format: &StreamFormat,
    silence: Duration,
    host: &SourceHost,
) -> Result<Box<dyn Source>, SourceError> {
    let scheme = if by == ListenBy::Tcp { "tcp-listen" } else { "udp" };
    let name = PathBuf::from(format!("{scheme}://{address}"));
    let refused = |why: String| SourceError::options(&name, why);
    format.frames.check().map_err(|e| refused(e.to_string()))?;
    let is_address = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if !is_address {
        return Err(refused("the address is no host:port".to_owned()));
    }
    Ok(Box::new(Listening {
        by,
        address: address.to_owned(),
        socket: None,
        decoder: StreamDecoder::new(format, host.clone()),
        format: format.frames.source_format(),
        silence,
        heard: Instant::now(),
        stranger: None,
        is_gone: false,
        is_told: false,
        next_index: 0,
        host: host.clone(),
        name,
    }))
}

/// The edge's side of the connection.
enum Socket {
    Tcp(TcpListener, Option<TcpStream>),
    Udp(UdpSocket, Option<SocketAddr>),
}

struct Listening {
    by: ListenBy,
    address: String,
    socket: Option<Socket>,
    decoder: StreamDecoder,
    format: SourceFormat,
    silence: Duration,
    /// When the last bytes came.
    heard: Instant,
    /// When datagrams of another sender last came.
    stranger: Option<Instant>,
    /// The sender has gone, and no other has come.
    is_gone: bool,
    /// The silence is logged.
    is_told: bool,
    next_index: u64,
    host: SourceHost,
    name: PathBuf,
}

impl Source for Listening {
    fn format(&self) -> &SourceFormat {
        &self.format
    }

    fn next_block(&mut self) -> Result<Option<Block>, SourceError> {
        let mut piece = vec![0u8; DATAGRAM];
        loop {
            let is_held = !self.is_gone && self.decoder.holds();
            let decoded = if is_held { Ok(None) } else { self.decoder.block() };
            let decoded = decoded.map_err(|why| self.failed(why))?;
            if let Some(block) = decoded {
                self.next_index = block.index + 1;
                return Ok(Some(block));
            }
            let wanted = match self.by {
                ListenBy::Tcp => self.decoder.wanted().clamp(1, DATAGRAM),
                ListenBy::Udp => DATAGRAM,
            };
            let received = self.receive(&mut piece[..wanted]);
            match received.map_err(|source| SourceError::Io { path: self.name.clone(), source })? {
                Some(count) => {
                    self.is_heard();
                    let pushed = self.decoder.push(&piece[..count]);
                    pushed.map_err(|why| self.failed(why))?;
                }
                None => return Ok(Some(self.nothing())),
            }
        }
    }

    fn expected_blocks(&self) -> Option<u64> {
        None
    }
}

fn sender_gone(source: &str) {
    counter!("pdm_edge_stream_gaps_total",
        "source" => source.to_owned(), "cause" => "disconnected")
    .increment(1);
    tracing::warn!(source, "the sender has gone, waiting for the next");
}

impl Listening {
    /// The bytes that came, or `None` if nothing came for [`WAIT`].
    fn receive(&mut self, piece: &mut [u8]) -> io::Result<Option<usize>> {
        let socket = match &mut self.socket {
            Some(socket) => socket,
            none => none.insert(bind(self.by, &self.address)?),
        };
        match socket {
            Socket::Tcp(listener, peer) => {
                let Some(connected) = peer else {
                    *peer = accept(listener)?;
                    if peer.is_some() {
                        // the connection is read at the next call
                        self.heard = Instant::now();
                        self.decoder.reconnected();
                        self.is_gone = false;
                        tracing::info!(source = self.host.name, "a sender has connected");
                    }
                    return Ok(None);
                };
                let is_silent = self.heard.elapsed() > self.silence;
                match connected.read(piece) {
                    Ok(0) => {}
                    Ok(count) => return Ok(Some(count)),
                    Err(error) if is_pause(&error) && !is_silent => return Ok(None),
                    // a connection that is lost or silent makes room for the next one
                    Err(_lost) => {}
                }
                *peer = None;
                // blocks that wait for a newer frame are handed out before the next connection
                self.is_gone = true;
                sender_gone(&self.host.name);
                Ok(None)
            }
            Socket::Udp(socket, peer) => loop {
                let (count, from) = match socket.recv_from(piece) {
                    Ok(received) => received,
                    Err(error) if is_pause(&error) => return Ok(None),
                    Err(error) => return Err(error),
                };
                if peer.is_some_and(|peer| peer != from) && self.heard.elapsed() < self.silence {
                    counter!("pdm_edge_messages_refused_total",
                        "source" => self.host.name.clone(), "cause" => "another_sender")
                    .increment(1);
                    self.stranger = Some(Instant::now());
                    let text = format!(
                        "datagrams of {from} are left out: another sender is heard; each sender \
                         needs a source and a port of its own"
                    );
                    self.host.remarks.set(&self.host.name, "senders", text);
                    continue;
                }
                if self.stranger.is_some_and(|last| last.elapsed() > self.silence) {
                    self.stranger = None;
                    self.host.remarks.withdraw(&self.host.name, "senders");
                }
                if peer.replace(from) != Some(from) {
                    self.decoder.reconnected();
                    tracing::info!(source = self.host.name, %from, "datagrams are heard");
                }
                return Ok(Some(count));
            },
        }
    }

    fn is_heard(&mut self) {
        self.heard = Instant::now();
        if std::mem::take(&mut self.is_told) {
            self.host.remarks.withdraw(&self.host.name, "silence");
        }
    }

    /// A block without samples; tells a silence that lasts.
    fn nothing(&mut self) -> Block {
        if self.heard.elapsed() > self.silence && !std::mem::replace(&mut self.is_told, true) {
            let silence_s = self.silence.as_secs_f64();
            counter!("pdm_edge_source_failures_total", "source" => self.host.name.clone())
                .increment(1);
            tracing::error!(source = self.host.name, silence_s, "no sender is heard");
            let text = format!("no sender is heard at {}", self.name.display());
            self.host.remarks.set(&self.host.name, "silence", text);
        }
        let accel_m_s2 = Array2::zeros((self.format.channels, 0));
        let rate = BlockRate::Format;
        let index = self.next_index;
        Block {
            index,
            started_at: None,
            follows_on: false,
            rate,
            input: None,
            values: None,
            accel_m_s2,
        }
    }

    fn failed(&self, why: String) -> SourceError {
        SourceError::malformed(&self.name, why)
    }
}

fn bind(by: ListenBy, address: &str) -> io::Result<Socket> {
    let (host, port) = address.rsplit_once(':').unwrap_or(("", address));
    let port: u16 = port.parse().map_err(|_| io::Error::other("no port"))?;
    let addresses: Vec<SocketAddr> = if host.is_empty() {
        vec![(Ipv4Addr::LOCALHOST, port).into()]
    } else {
        address.to_socket_addrs()?.collect()
    };
    match by {
        ListenBy::Tcp => {
            let listener = TcpListener::bind(&addresses[..])?;
            listener.set_nonblocking(true)?;
            Ok(Socket::Tcp(listener, None))
        }
        ListenBy::Udp => {
            let socket = UdpSocket::bind(&addresses[..])?;
            socket.set_read_timeout(Some(WAIT))?;
            Ok(Socket::Udp(socket, None))
        }
    }
}

/// The next connection, awaited for [`WAIT`].
fn accept(listener: &TcpListener) -> io::Result<Option<TcpStream>> {
    let until = Instant::now() + WAIT;
    while Instant::now() < until {
        match listener.accept() {
            Ok((peer, _from)) => {
                peer.set_nonblocking(false)?;
                peer.set_read_timeout(Some(WAIT))?;
                return Ok(Some(peer));
            }
            Err(error) if is_pause(&error) => std::thread::sleep(PAUSE),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests;
