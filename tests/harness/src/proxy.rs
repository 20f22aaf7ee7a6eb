//! A network between two programs that can be cut, stalled and slowed down: a TCP proxy on a free
//! port.
//!
//! One thread accepts connections, two threads for each connection carry bytes. A connection
//! belongs to one *era*; [`Proxy::cut`] begins the next one and closes connections of older eras. A
//! stalled network accepts connections and bytes and delivers nothing, as a peer behind a dead
//! router does.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest wait of a carrier for bytes before it checks for a change of the network.
const LOOK: Duration = Duration::from_millis(50);

/// The behaviour of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Carries all bytes.
    Open,
    /// Closes every new connection at once.
    Refuses,
    /// Accepts connections and carries nothing: half-open.
    Stalls,
    /// Limits the rate and delays each piece.
    Slow {
        /// Rate in each direction of each connection.
        bytes_per_s: u32,
        /// Delay of each piece.
        delay: Duration,
    },
}

/// Receives the server's bytes of one connection, piece by piece, each after its delivery.
pub type Watcher = Box<dyn FnMut(&[u8]) + Send>;

/// Makes a watcher for each connection.
struct Watch(Box<dyn Fn() -> Watcher + Send + Sync>);

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

#[derive(Debug)]
struct Shared {
    watch: Option<Watch>,
    to: SocketAddr,
    network: Mutex<Network>,
    era: AtomicU64,
    ends: AtomicBool,
}

impl Shared {
    fn network(&self) -> Network {
        *self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self, era: u64) -> bool {
        self.era.load(Ordering::Acquire) != era || self.ends.load(Ordering::Acquire)
    }
}

/// A running proxy; its connections close when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    port: u16,
}

impl Proxy {
    /// Starts a proxy in front of the server at `port` of this machine, which need not run yet.
    ///
    /// # Panics
    /// If no port is free.
    pub fn before(port: u16) -> Self {
        Self::stand(port, None)
    }

    /// [`Proxy::before`] with a watcher for every connection.
    ///
    /// # Panics
    /// If no port is free.
    pub fn watched(port: u16, watch: impl Fn() -> Watcher + Send + Sync + 'static) -> Self {
        Self::stand(port, Some(Watch(Box::new(watch))))
    }

    fn stand(port: u16, watch: Option<Watch>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let own = listener.local_addr().expect("a bound address").port();
        let shared = Arc::new(Shared {
            watch,
            to: (Ipv4Addr::LOCALHOST, port).into(),
            network: Mutex::new(Network::Open),
            era: AtomicU64::new(0),
            ends: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || accept(&listener, &accepting));
        Self { shared, port: own }
    }

    /// The proxy's port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Sets the behaviour from now on; existing connections stay.
    pub fn set(&self, network: Network) {
        *self.shared.network.lock().unwrap_or_else(PoisonError::into_inner) = network;
    }

    /// Closes every connection.
    pub fn cut(&self) {
        self.shared.era.fetch_add(1, Ordering::AcqRel);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Release);
        // wakes the accepting thread
        let _woken = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.ends.load(Ordering::Acquire) {
            return;
        }
        let Ok(client) = client else { continue };
        let era = shared.era.load(Ordering::Acquire);
        let shared = Arc::clone(shared);
        std::thread::spawn(move || connection(client, &shared, era));
    }
}

fn connection(client: TcpStream, shared: &Arc<Shared>, era: u64) {
    // half-open from the first byte: the server is connected when the network carries again
    while shared.network() == Network::Stalls && !shared.is_over(era) {
        std::thread::sleep(LOOK);
    }
    if shared.network() == Network::Refuses || shared.is_over(era) {
        return;
    }
    let Ok(server) = TcpStream::connect_timeout(&shared.to, Duration::from_secs(5)) else { return };
    for socket in [&client, &server] {
        let set = socket
            .set_read_timeout(Some(LOOK))
            .and_then(|()| socket.set_write_timeout(Some(LOOK)))
            .and_then(|()| socket.set_nodelay(true));
        if set.is_err() {
            return;
        }
    }
    let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else { return };
    let back = Arc::clone(shared);
    let watcher = shared.watch.as_ref().map(|watch| (watch.0)());
    std::thread::spawn(move || carry(server, client, &back, era, watcher));
    carry(from, to, shared, era, None);
}

/// Carries one direction to its end, then closes both.
fn carry(
    mut from: TcpStream,
    mut to: TcpStream,
    shared: &Shared,
    era: u64,
    mut watcher: Option<Watcher>,
) {
    let mut piece = vec![0_u8; 64 * 1024];
    while !shared.is_over(era) {
        let most = match shared.network() {
            Network::Stalls => {
                std::thread::sleep(LOOK);
                continue;
            }
            Network::Open | Network::Refuses => piece.len(),
            Network::Slow { bytes_per_s, delay } => {
                std::thread::sleep(delay.max(Duration::from_millis(10)));
                let share = delay.max(Duration::from_millis(10)).as_secs_f64();
                ((f64::from(bytes_per_s) * share) as usize).clamp(1, piece.len())
            }
        };
        match from.read(&mut piece[..most]) {
            Ok(0) => break,
            Ok(got) if deliver(&mut to, &piece[..got], shared, era) => {
                if let Some(watcher) = &mut watcher {
                    watcher(&piece[..got]);
                }
            }
            Err(error) if is_patient(error.kind()) => {}
            Ok(_) | Err(_) => break,
        }
    }
    // a socket that is already closed needs no shutdown
    let _closed = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// Writes the whole piece; false if the connection ended before.
fn deliver(to: &mut TcpStream, mut piece: &[u8], shared: &Shared, era: u64) -> bool {
    while !piece.is_empty() {
        if shared.is_over(era) {
            return false;
        }
        match to.write(piece) {
            Ok(0) => return false,
            Ok(written) => piece = &piece[written..],
            Err(error) if is_patient(error.kind()) => {}
            Err(_) => return false,
        }
    }
    true
}

fn is_patient(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
