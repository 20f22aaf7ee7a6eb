//! Tests of the parts that fail on demand: network, disk and clock fail as documented.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use pdm_harness::{Network, Proxy, SmallDisk, WallClock};

/// A server that sends back its input.
fn echo() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut back = client.try_clone().expect("a second handle");
                std::io::copy(&mut client, &mut back)
            });
        }
    });
    port
}

fn connect(proxy: &Proxy) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).expect("connects");
    stream.set_read_timeout(Some(Duration::from_millis(300))).expect("sets");
    stream
}

fn answers(stream: &mut TcpStream) -> bool {
    let mut back = [0_u8; 4];
    stream.write_all(b"ping").is_ok() && stream.read_exact(&mut back).is_ok() && &back == b"ping"
}

#[test]
fn the_network_carries_stalls_slows_down_is_cut_and_refuses() {
    let proxy = Proxy::before(echo());
    let mut stream = connect(&proxy);
    assert!(answers(&mut stream), "open");
    proxy.set(Network::Slow { bytes_per_s: 1000, delay: Duration::from_millis(20) });
    assert!(answers(&mut stream), "slow");
    proxy.set(Network::Stalls);
    // a piece that is already on its way may arrive
    std::thread::sleep(Duration::from_millis(100));
    assert!(!answers(&mut stream), "stalled");
    proxy.set(Network::Open);
    let mut late = [0_u8; 4];
    stream.read_exact(&mut late).expect("what was held up arrives");
    assert!(answers(&mut stream), "open again");
    proxy.cut();
    let mut rest = Vec::new();
    let closed = stream.read_to_end(&mut rest);
    assert!(matches!(closed, Ok(0)) || closed.is_err_and(|e| !is_silence(&e)), "cut");
    proxy.set(Network::Refuses);
    assert!(!answers(&mut connect(&proxy)), "refused");
    proxy.set(Network::Open);
    assert!(answers(&mut connect(&proxy)), "open at last");
}

fn is_silence(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

#[test]
fn a_full_disk_takes_nothing_until_there_is_room() {
    let test = "a_full_disk_takes_nothing_until_there_is_room";
    let Some(disk) = SmallDisk::mount(test, 1) else { return };
    let file = disk.path().join("file");
    disk.fill();
    assert!(std::fs::write(&file, [1; 8192]).is_err());
    disk.make_room();
    std::fs::write(&file, [1; 8192]).expect("room");
}

#[test]
fn a_clock_jumps_while_a_program_runs() {
    let Some(clock) = WallClock::new("a_clock_jumps_while_a_program_runs") else { return };
    let mut command = Command::new("date");
    clock.apply(&mut command);
    let year = |command: &mut Command| -> i32 {
        let told = command.arg("+%Y").output().expect("runs").stdout;
        String::from_utf8_lossy(&told).trim().parse().expect("a year")
    };
    let now = year(&mut command);
    clock.set(10 * 366 * 86_400);
    let mut command = Command::new("date");
    clock.apply(&mut command);
    assert_eq!(year(&mut command), now + 10);
}
