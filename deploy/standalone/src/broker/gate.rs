//! The embedded broker's door: takes connections on the configured address, bounded in number, and
//! hands their bytes on to the broker.
//!
//! A connection is admitted when the broker has answered it (CONNACK). A thousand connections that
//! send nothing lose their places to each other ([`pdm_service::places`]) and cost the broker
//! nothing more than the [`CONNECTIONS`] that fit.
//!
//! With certificates a client connects and publishes as [`rules`](super::rules) allow its name;
//! without, on loopback, it may take no client id of this process. A connection that tries anything
//! else is closed, before a byte of that packet reaches the broker.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pdm_service::places::{ConnectionPlace, Places};
use pdm_service::process_limits::raise_open_files;
use pdm_shared::bounds::{MAX_LINE, in_one_line};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::inside::InsidePassword;
use super::packets::{Claim, Packets};
use super::rules::{self, KnownNames, common_name, may_publish};

/// Most connections from outside: ten times the gateways of a large plant on one machine.
const CONNECTIONS: u64 = 512;
/// Open files of a connection: the client's, and both ends of the one to the broker.
const FILES_EACH: u64 = 3;
/// Open files of everything else: the agent's HTTP server of 256 connections, the edge's of 64,
/// databases, sources.
const FILES_OF_OTHERS: u64 = 448;
/// Longest time of a TLS handshake; a slow link of a gateway needs a second.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Bytes that are read of a client at once.
const PIECE: usize = 8 * 1024;
/// The name of clients without a certificate, in the log.
const LOCAL: &str = "a program of this machine";
/// Pause after a failed `accept`, which would fail again at once and use a whole core.
const REFUSED: Duration = Duration::from_millis(200);

/// The door; dropped or closed, it takes nobody any more.
#[derive(Debug)]
pub(super) struct Gate {
    stop: CancellationToken,
}

/// A door on its address, still shut.
pub(super) struct ShutGate {
    listener: TcpListener,
    names: Arc<KnownNames>,
    certified: Option<Certified>,
}

/// The parts that a gate with certificates needs for each connection.
#[derive(Clone)]
struct Certified {
    tls: TlsAcceptor,
    /// Replaces the login of a client, whose certificate was its proof.
    password: Arc<InsidePassword>,
}

impl Gate {
    /// Binds the address. Where clients need certificates, the broker behind the gate takes the
    /// password alone. The client ids `inside` are of this process.
    pub(super) async fn bind(
        listen: SocketAddr,
        certified: Option<(Arc<ServerConfig>, InsidePassword)>,
        inside: Vec<String>,
    ) -> io::Result<ShutGate> {
        let listener = TcpListener::bind(listen).await?;
        let certified = certified.map(|(tls, password)| Certified {
            tls: TlsAcceptor::from(tls),
            password: Arc::new(password),
        });
        Ok(ShutGate { listener, names: Arc::new(KnownNames::new(inside)), certified })
    }

    /// Takes nobody any more and closes every connection.
    pub(super) fn close(&self) {
        self.stop.cancel();
    }
}

impl ShutGate {
    /// Takes connections for the broker at `inside`.
    pub(super) fn open(self, inside: SocketAddr) -> Gate {
        let wanted = CONNECTIONS * FILES_EACH + FILES_OF_OTHERS;
        let files = raise_open_files(wanted).saturating_sub(FILES_OF_OTHERS);
        let most = (files / FILES_EACH).clamp(1, CONNECTIONS);
        if most < CONNECTIONS {
            tracing::warn!(most, "the limit of open files allows fewer connections to the broker");
        }
        let stop = CancellationToken::new();
        let places = Arc::new(Places::new(usize::try_from(most).unwrap_or(1)));
        tokio::spawn(take(self, inside, places, stop.clone()));
        Gate { stop }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.close();
    }
}

/// Takes connections until stopped.
async fn take(gate: ShutGate, inside: SocketAddr, places: Arc<Places>, stop: CancellationToken) {
    let lost = Arc::new(AtomicU64::new(0));
    loop {
        let accepted = tokio::select! {
            accepted = gate.listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        let (client, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection to the broker could not be taken");
                tokio::time::sleep(REFUSED).await;
                continue;
            }
        };
        let place = tokio::select! {
            place = Places::take(&places, peer.ip()) => place,
            () = stop.cancelled() => return,
        };
        let (certified, names) = (gate.certified.clone(), Arc::clone(&gate.names));
        let (stop, lost) = (stop.clone(), Arc::clone(&lost));
        tokio::spawn(async move {
            tokio::select! {
                ended = joined(client, certified, names, inside, &place) => {
                    if let Err(error) = ended {
                        tracing::debug!(%peer, %error, "a connection to the broker ended");
                    }
                }
                () = place.is_taken_away() => told(&lost, peer),
                () = stop.cancelled() => {}
            }
            place.leave();
        });
    }
}

/// Tells the first lost place and every doubling: a flood does not fill the log.
fn told(lost: &AtomicU64, peer: SocketAddr) {
    let lost = lost.fetch_add(1, Ordering::Relaxed) + 1;
    if lost.is_power_of_two() {
        tracing::warn!(%peer, lost, "a silent connection to the broker lost its place to another");
    }
}

/// Hands bytes on in both directions until one side ends.
async fn joined(
    client: TcpStream,
    certified: Option<Certified>,
    names: Arc<KnownNames>,
    inside: SocketAddr,
    place: &ConnectionPlace,
) -> io::Result<()> {
    // acknowledgements are small and must not wait for more bytes
    client.set_nodelay(true)?;
    match certified {
        None => relayed(Checked::of(client, None, names, None), inside, place).await,
        Some(Certified { tls, password }) => {
            let accepted = tokio::time::timeout(HANDSHAKE, tls.accept(client)).await;
            let slow = |_elapsed| io::Error::from(io::ErrorKind::TimedOut);
            let client = accepted.map_err(slow)??;
            let certificates = client.get_ref().1.peer_certificates();
            let name = certificates.and_then(|chain| common_name(chain.first()?));
            let nameless = || io::Error::other("the client's certificate has no common name");
            let name = name.ok_or_else(nameless)?;
            names.note(&name);
            let many = || {
                let most = rules::CONNECTIONS_OF_ONE;
                io::Error::other(format!("one more than the {most} connections of a certificate"))
            };
            let _open =
                names.connects(&name).ok_or_else(many).inspect_err(|e| refused(&name, e))?;
            let login = Some(password.end_of_connect());
            relayed(Checked::of(client, Some(name), names, login), inside, place).await
        }
    }
}

async fn relayed(
    mut client: impl AsyncRead + AsyncWrite + Unpin,
    inside: SocketAddr,
    place: &ConnectionPlace,
) -> io::Result<()> {
    let broker = TcpStream::connect(inside).await?;
    broker.set_nodelay(true)?;
    let mut broker = Answering { broker, place };
    copy_bidirectional(&mut client, &mut broker).await.map(|_bytes| ())
}

/// The client's side, with what it publishes held to the rules of its name.
struct Checked<C> {
    client: C,
    /// The name of its certificate; `None` on loopback without certificates.
    name: Option<String>,
    names: Arc<KnownNames>,
    packets: Packets,
    /// Bytes that are checked and not read yet.
    passed: Vec<u8>,
}

impl<C> Checked<C> {
    fn of(client: C, name: Option<String>, names: Arc<KnownNames>, login: Option<Vec<u8>>) -> Self {
        Self { client, name, names, packets: Packets::with_login(login), passed: Vec::new() }
    }
}

/// Whether a client may claim this.
fn may(name: Option<&str>, names: &KnownNames, claim: &Claim<'_>) -> bool {
    match (name, claim) {
        (None, Claim::ClientId(id)) => !names.is_inside(id),
        (None, Claim::Session(_) | Claim::Topic(_) | Claim::Retained(..)) => true,
        (Some(name), Claim::ClientId(id)) => names.may_connect_as(name, id),
        (Some(name), Claim::Session(id)) => names.may_keep(name, id),
        (Some(name), Claim::Topic(topic)) => may_publish(name, topic),
        (Some(name), Claim::Retained(topic, bytes)) => names.may_retain(name, topic, *bytes),
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for Checked<C> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { client, name, names, packets, passed } = self.get_mut();
        while passed.is_empty() {
            let mut bytes = [0; PIECE];
            let mut piece = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut *client).poll_read(context, &mut piece))?;
            if piece.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            let name = name.as_deref();
            let may = |claim: Claim<'_>| may(name, names, &claim);
            let taken = packets.take(piece.filled(), passed, may);
            taken.inspect_err(|error| refused(name.unwrap_or(LOCAL), error))?;
        }
        let fits = passed.len().min(into.remaining());
        into.put_slice(&passed[..fits]);
        passed.drain(..fits);
        Poll::Ready(Ok(()))
    }
}

/// Tells the first refusal and every doubling.
fn refused(name: &str, error: &io::Error) {
    static REFUSED: AtomicU64 = AtomicU64::new(0);
    let count = REFUSED.fetch_add(1, Ordering::Relaxed) + 1;
    if count.is_power_of_two() {
        let (name, claim) = (in_one_line(name, MAX_LINE), error.to_string());
        let claim = in_one_line(&claim, MAX_LINE);
        tracing::warn!(
            %name, %claim, count,
            "a client published or connected as it may not, its connection is closed"
        );
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for Checked<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.client).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.client).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.client).poll_shutdown(context)
    }
}

/// The broker's side; its first byte admits the connection.
struct Answering<'a> {
    broker: TcpStream,
    place: &'a ConnectionPlace,
}

impl AsyncRead for Answering<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.broker).poll_read(context, into);
        if into.filled().len() > before {
            self.place.admit();
        }
        read
    }
}

impl AsyncWrite for Answering<'_> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.broker).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.broker).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.broker).poll_shutdown(context)
    }
}
