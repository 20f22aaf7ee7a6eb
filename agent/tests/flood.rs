//! A broker that sends more than it was asked to: the agent keeps taking, storing and acknowledging.

mod support;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use pdm_agent::service::Agent;
use pdm_shared::clock::SystemClock;
use support::{healthy, settings, until};

/// Sixteen times what the agent lets be in flight.
const MESSAGES: u16 = 1024;

/// A broker of MQTT 5 that sends all its messages at once to whoever subscribes, and counts what is
/// acknowledged. Everything else is acknowledged by it.
fn flooding_broker(acknowledged: Arc<AtomicU16>) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let acknowledged = Arc::clone(&acknowledged);
            std::thread::spawn(move || serve(client, &acknowledged));
        }
    });
    port
}

fn serve(mut client: TcpStream, acknowledged: &AtomicU16) -> std::io::Result<()> {
    loop {
        let (kind, body) = packet(&mut client)?;
        match kind >> 4 {
            // CONNECT: taken, no session, no properties
            1 => client.write_all(&[0x20, 3, 0, 0, 0])?,
            // PUBLISH with QoS 1: the identifier stands behind the topic
            3 => {
                let at = 2 + usize::from(u16::from_be_bytes([body[0], body[1]]));
                client.write_all(&[0x40, 2, body[at], body[at + 1]])?;
            }
            4 => {
                acknowledged.fetch_add(1, Ordering::AcqRel);
            }
            // SUBSCRIBE to three filters
            8 => {
                client.write_all(&[0x90, 6, body[0], body[1], 0, 1, 1, 1])?;
                let mut sender = client.try_clone()?;
                std::thread::spawn(move || flood(&mut sender));
            }
            12 => client.write_all(&[0xd0, 0])?,
            _ => {}
        }
    }
}

fn flood(client: &mut TcpStream) -> std::io::Result<()> {
    let topic = b"pdm/v1/ulsan-1/P-101/DE/event";
    for number in 1..=MESSAGES {
        let event = serde_json::to_vec(&healthy(number.into())).expect("JSON");
        let mut body = (topic.len() as u16).to_be_bytes().to_vec();
        body.extend_from_slice(topic);
        body.extend_from_slice(&number.to_be_bytes());
        body.push(0);
        body.extend_from_slice(&event);
        let mut packet = vec![0x32];
        let mut length = body.len();
        while length > 127 {
            packet.push((length & 127) as u8 | 128);
            length >>= 7;
        }
        packet.push(length as u8);
        packet.extend_from_slice(&body);
        client.write_all(&packet)?;
    }
    Ok(())
}

fn packet(client: &mut TcpStream) -> std::io::Result<(u8, Vec<u8>)> {
    let mut byte = [0_u8];
    client.read_exact(&mut byte)?;
    let kind = byte[0];
    let (mut length, mut shift) = (0, 0);
    loop {
        client.read_exact(&mut byte)?;
        length |= usize::from(byte[0] & 127) << shift;
        shift += 7;
        if byte[0] < 128 {
            break;
        }
    }
    let mut body = vec![0; length];
    client.read_exact(&mut body)?;
    Ok((kind, body))
}

/// R-AGENT-1: who acknowledged waited for who received, and the other way round.
#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_ignores_the_receive_maximum_does_not_stop_the_intake() {
    let acknowledged = Arc::new(AtomicU16::new(0));
    let port = flooding_broker(Arc::clone(&acknowledged));
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(port, folder.path());
    settings.broker.receive_maximum = 64;
    settings.intake.batch = 32;
    let agent = Agent::start(settings, Arc::new(SystemClock)).await.expect("starts");
    until("every message to be acknowledged", 60, || {
        acknowledged.load(Ordering::Acquire) == MESSAGES
    })
    .await;
    assert_eq!(agent.progress().borrow().stored, u64::from(MESSAGES));
    agent.stop().await.expect("stops");
}
