//! A device that samples in real time and sends what it has as frames over TCP.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// From one delivery to the next, ms.
const PIECE_MS: usize = 50;

/// Starts a device with `channels` at `rate_hz` that sends noise as `i16`, little-endian, channel by
/// channel, to whoever connects. Its port on 127.0.0.1; it ends with the process.
///
/// # Panics
/// If the machine has no free port.
pub fn sampler(channels: usize, rate_hz: usize) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            send(client, channels * rate_hz * PIECE_MS / 1000);
        }
    });
    port
}

/// Sends pieces of so many values until the client has gone.
fn send(mut client: TcpStream, values: usize) {
    let mut phase = 1_u32;
    let begun = Instant::now();
    for piece in 1.. {
        let bytes: Vec<u8> = (0..values)
            .flat_map(|_| {
                phase = phase.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ((phase >> 18) as i16).to_le_bytes()
            })
            .collect();
        if client.write_all(&bytes).is_err() {
            return;
        }
        let due = Duration::from_millis(PIECE_MS as u64 * piece);
        std::thread::sleep(due.saturating_sub(begun.elapsed()));
    }
}
