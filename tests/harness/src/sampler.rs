//! A device that samples in real time and sends its samples as frames over TCP.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Interval between deliveries, ms.
const PIECE_MS: usize = 50;

/// Starts a device with `channels` at `rate_hz`, which sends noise to every client as `i16`,
/// little-endian, channel by channel, and ends with the process. Returns the `[[source]]` of an
/// `edge.toml` that measures the device, with one bearing for each channel and one window a second.
///
/// # Panics
/// If no port is free.
pub fn sampler(channels: usize, rate_hz: usize) -> String {
    let port = start(channels, rate_hz);
    let mut text = format!(
        "[[source]]\nname = \"daq\"\nkind = \"stream\"\nrate_hz = {rate_hz}.0\nwindow_s = 1.0\n\
         [source.stream]\nfrom = \"tcp://127.0.0.1:{port}\"\nencoding = \"i16\"\nblock_s = 0.5\n"
    );
    for channel in 0..channels {
        let _infallible = write!(
            text,
            "[[source.channel]]\nchannel = {channel}\nequipment = \"P-{channel}\"\n\
             bearing = \"DE\"\nbearing_type = \"6205\"\nrpm = 1797.0\n\
             sensitivity_mv_per_g = 100.0\nscale = 0.0001\n"
        );
    }
    text
}

fn start(channels: usize, rate_hz: usize) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            send(client, channels * rate_hz * PIECE_MS / 1000);
        }
    });
    port
}

/// Sends pieces of `values` samples until the client has disconnected.
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
