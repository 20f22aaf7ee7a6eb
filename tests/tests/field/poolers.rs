//! A pooler between the agent and its database: refused by name where it mixes sessions up, and its
//! restart under load loses and doubles nothing where it does not.

use std::process::Command;
use std::time::Duration;

use pdm_harness::{Postgres, not_run, program, until};

use crate::watched::{PATIENCE, Watched};

/// Issue 33, point 9: the turns of bearings are locks of a session, which a pooler lends to
/// anybody.
#[test]
fn a_pooler_in_transaction_mode_is_refused_by_name() {
    let test = "a_pooler_in_transaction_mode_is_refused_by_name";
    let Some(pgbouncer) = program(test, "pgbouncer") else { return };
    let Some(server) = Postgres::start(test) else { return };
    let Some(pooler) = Pooler::start(&pgbouncer, server.port(), "transaction") else {
        not_run(test, "pgbouncer does not start here");
        return;
    };
    let url = format!("postgres://pdm@127.0.0.1:{}/postgres", pooler.port);
    let store = format!("[store.postgres]\nurl = {url:?}");
    let Some(plant) = Watched::new(test, &store, "") else { return };
    for command in ["migrate", "run"] {
        let (code, said) = plant.said(command);
        assert_eq!(code, Some(78), "{command}: {said}");
        assert!(said.contains("connection pooler in transaction"), "{said}");
    }
    drop(pooler);
    let Some(pooler) = Pooler::start(&pgbouncer, server.port(), "session") else { return };
    let text = std::fs::read_to_string(plant.path().join("agent.toml")).expect("there");
    let text = text.replace(&url, &format!("postgres://pdm@127.0.0.1:{}/postgres", pooler.port));
    std::fs::write(plant.path().join("agent.toml"), text).expect("written");
    let (code, said) = plant.said("migrate");
    assert_eq!(code, Some(0), "a pool in session mode works: {said}");
}

/// R-AGENT-10: sessions end in the middle of batches, judgements and claims.
#[test]
fn a_pooler_that_is_killed_under_load_loses_and_doubles_no_alarm() {
    let test = "a_pooler_that_is_killed_under_load_loses_and_doubles_no_alarm";
    let Some(pgbouncer) = program(test, "pgbouncer") else { return };
    let Some(server) = Postgres::start(test) else { return };
    let Some(pooler) = Pooler::start(&pgbouncer, server.port(), "session") else {
        not_run(test, "pgbouncer does not start here");
        return;
    };
    let port = pooler.port;
    let url = format!("postgres://pdm@127.0.0.1:{port}/postgres");
    let store = format!("[store.postgres]\nurl = {url:?}");
    let Some(mut plant) = Watched::new(test, &store, "") else { return };
    plant.start();
    plant.works();
    let (mut pooler, mut machines) = (Some(pooler), Vec::new());
    for round in 0..3 {
        for number in 0..6 {
            let machine = format!("P-7{round}{number}");
            plant.fault(&machine);
            machines.push(machine);
        }
        // killed, and away for longer than an alarm waits
        drop(pooler.take());
        plant.fault(&format!("P-7{round}9"));
        machines.push(format!("P-7{round}9"));
        std::thread::sleep(Duration::from_millis(700));
        pooler = Pooler::start_at(port, &pgbouncer, server.port(), "session");
        assert!(pooler.is_some(), "it starts again");
    }
    plant.works();
    for machine in &machines {
        plant.hears(machine);
    }
    until("nothing waits", PATIENCE, || {
        let (_, metrics) = plant.status("/metrics")?;
        metrics.contains("pdm_agent_outbox_waiting 0\n").then_some(())
    });
    for machine in &machines {
        assert_eq!(plant.count(&format!("[Warning] {machine} ")), 1, "{machine} is told once");
    }
    drop(pooler);
}

/// pgbouncer before a server.
struct Pooler {
    child: pdm_harness::Child,
    _folder: tempfile::TempDir,
    port: u16,
}

impl Pooler {
    fn start(program: &std::path::Path, server: u16, mode: &str) -> Option<Self> {
        Self::start_at(pdm_harness::free_port(), program, server, mode)
    }

    fn start_at(port: u16, program: &std::path::Path, server: u16, mode: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("folder");
        let users = folder.path().join("users.txt");
        std::fs::write(&users, "\"pdm\" \"\"\n").expect("written");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {}\n\
             pool_mode = {mode}\nignore_startup_parameters = options,extra_float_digits\n",
            users.display()
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, text).expect("written");
        // pgbouncer refuses to run as root
        let opened = Command::new("chmod").args(["-R", "a+rX"]).arg(folder.path()).status();
        assert!(opened.is_ok_and(|status| status.success()));
        let mut command = Command::new(program);
        if std::fs::metadata("/proc/self").is_ok_and(|own| {
            use std::os::unix::fs::MetadataExt as _;
            own.uid() == 0
        }) {
            command.args(["-u", "postgres"]);
        }
        let null = std::process::Stdio::null;
        let child = pdm_harness::Child::start(command.arg(file).stdout(null()).stderr(null()));
        let mut started = Self { child, _folder: folder, port };
        for _ in 0..100 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(started);
            }
            if !started.child.is_running() {
                return None;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        None
    }
}
