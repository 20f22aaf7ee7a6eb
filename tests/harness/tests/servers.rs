//! Tests of the servers: each starts, can be killed and starts again.

use std::net::TcpStream;
use std::process::Command;

use pdm_harness::{Mosquitto, Persistence, Postgres, Smtp};

#[test]
fn mosquitto_dies_at_kill_and_comes_back_on_its_port() {
    let test = "mosquitto_dies_at_kill_and_comes_back_on_its_port";
    let Some(mut broker) = Mosquitto::start(test, Persistence::Disk) else { return };
    broker.kill();
    assert!(TcpStream::connect(("127.0.0.1", broker.port())).is_err());
    broker.restart();
    assert!(TcpStream::connect(("127.0.0.1", broker.port())).is_ok());
}

#[test]
fn postgres_answers_after_kill_and_restart() {
    let Some(mut server) = Postgres::start("postgres_answers_after_kill_and_restart") else {
        return;
    };
    server.kill();
    server.restart();
    let asked = Command::new("psql").args([&server.url(), "-Atc", "select 6 * 7"]).output();
    assert_eq!(asked.expect("psql runs").stdout, b"42\n");
}

#[test]
fn the_mail_server_greets() {
    let Some(server) = Smtp::start("the_mail_server_greets") else { return };
    let mut greeting = [0_u8; 3];
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("connects");
    std::io::Read::read_exact(&mut stream, &mut greeting).expect("a greeting");
    assert_eq!(&greeting, b"220");
    assert!(server.mails().is_empty());
}
