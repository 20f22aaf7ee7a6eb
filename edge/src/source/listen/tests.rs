//! Real senders over TCP and UDP on loopback.

use std::io::Write as _;
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

fn free_port(by: ListenBy) -> u16 {
    let any = (Ipv4Addr::LOCALHOST, 0);
    match by {
        ListenBy::Tcp => TcpListener::bind(any).and_then(|s| s.local_addr()),
        ListenBy::Udp => UdpSocket::bind(any).and_then(|s| s.local_addr()),
    }
    .expect("a port")
    .port()
}

/// The next block with samples.
fn whole(source: &mut Box<dyn Source>) -> Block {
    loop {
        let block = source.next_block().expect("goes on").expect("endless");
        if block.accel_m_s2.ncols() > 0 {
            return block;
        }
    }
}

#[test]
fn a_sender_that_connects_is_heard_and_the_next_one_after_it() {
    let port = free_port(ListenBy::Tcp);
    let host = SourceHost::alone(Arc::new(SystemClock), "bench");
    let silence = Duration::from_secs(20);
    let address = format!(":{port}");
    let mut source = listen(ListenBy::Tcp, &address, &format(), silence, &host).expect("valid");
    let sender = std::thread::spawn(move || {
        for _ in 0..2 {
            let mut socket = loop {
                match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                    Ok(socket) => break socket,
                    Err(_not_yet) => std::thread::sleep(PAUSE),
                }
            };
            socket.write_all(&[1; 16]).expect("sent");
        }
    });
    let got: Vec<(u64, bool)> =
        (0..4).map(|_| whole(&mut source)).map(|block| (block.index, block.follows_on)).collect();
    assert_eq!(got, [(0, false), (1, true), (2, false), (3, true)]);
    sender.join().expect("sent");
}

#[test]
fn datagrams_are_heard_and_a_silence_is_told_until_it_ends() {
    let port = free_port(ListenBy::Udp);
    let host = SourceHost::alone(Arc::new(SystemClock), "bench");
    let silence = Duration::from_millis(10);
    let address = format!("127.0.0.1:{port}");
    let mut source = listen(ListenBy::Udp, &address, &format(), silence, &host).expect("valid");
    let block = source.next_block().expect("goes on").expect("endless");
    assert_eq!(block.accel_m_s2.ncols(), 0);
    let told = host.remarks.lines().join("");
    assert!(told.contains(&format!("no sender is heard at udp://127.0.0.1:{port}")), "{told}");
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
    socket.send_to(&[1; 8], (Ipv4Addr::LOCALHOST, port)).expect("sent");
    assert_eq!(whole(&mut source).accel_m_s2.dim(), (1, 4));
    assert!(host.remarks.lines().is_empty());
}
