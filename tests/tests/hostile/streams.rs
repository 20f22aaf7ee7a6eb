//! Live streams: as many as a plant has screens, bounded, and no reason not to stop.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use crate::programs::{Plant, get};

/// Opens a stream; gives it back with its status.
fn stream(port: u16) -> (TcpStream, String) {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a limit");
    stream.write_all(b"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").expect("asked");
    let mut head = [0; 512];
    let length = stream.read(&mut head).expect("answered");
    let status = String::from_utf8_lossy(&head[..length]).lines().next().map(str::to_owned);
    (stream, status.unwrap_or_default())
}

/// R-UI-1: a hundred streams leave the pages answering, the next ones are refused, SIGTERM ends
/// all.
#[test]
fn a_hundred_streams_are_served_beside_the_pages_and_end_with_the_program() {
    let plant = Plant::new("", "");
    let mut agent = plant.start(plant.command("pdm-agent", "run"), plant.agent);
    let mut open = Vec::new();
    for number in 0..100 {
        let (stream, status) = stream(plant.agent);
        assert!(status.contains("200"), "{number}: {status}");
        open.push(stream);
    }
    for path in ["/", "/healthz", "/api/v1/bearings"] {
        let page = get(plant.agent, path).expect("answered beside the streams");
        assert!(page.starts_with("HTTP/1.1 200"), "{path}: {page}");
    }
    let more: Vec<(TcpStream, String)> = (0..40).map(|_| stream(plant.agent)).collect();
    // half of the places are one caller's at most
    let refused = more.iter().filter(|(_, status)| status.contains("429")).count();
    assert_eq!(refused, 12, "128 streams are served");
    assert!(get(plant.agent, "/healthz").expect("an answer").starts_with("HTTP/1.1 200"));
    let begun = Instant::now();
    assert_eq!(agent.terminate().code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}
