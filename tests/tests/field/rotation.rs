//! Every secret on the way of an alarm is changed while Criticals come in: no alarm is told later
//! than a minute after the new secret is in its file, and no mail comes twice. Issue 33, "must
//! show".

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pdm_harness::{
    Child, Mosquitto, Persistence, Postgres, Smtp, free_port, program, until, whole_request,
};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use sqlx::{Connection as _, PgConnection};

use crate::watched::{PATIENCE, Watched};

/// The time between two machines that become Critical.
const PACE: Duration = Duration::from_millis(1500);
/// How long a server has the new secret before its file has. The load goes on.
const BETWEEN: Duration = Duration::from_secs(4);
const FAULT: &str = include_str!("../../../config/examples/event.json");

/// A mail server with a login, whose password stands in a file; it confirms each mail after 0.7 s,
/// so that secrets change in the middle of some. A mail is a line of its file: identity, then text.
const MAIL_SERVER: &str = r#"
import asyncio, email, email.policy, sys
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

port, password, mails = int(sys.argv[1]), sys.argv[2], sys.argv[3]

def allowed(server, session, envelope, mechanism, data):
    right = open(password, "rb").read().strip()
    return AuthResult(success=isinstance(data, LoginPassword) and data.password == right)

class Keeping:
    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.original_content, policy=email.policy.default)
        text = mail["Subject"] + " " + mail.get_body(("plain",)).get_content()
        with open(mails, "a") as file:
            file.write(mail["Message-ID"] + " " + " ".join(text.split()) + "\n")
        await asyncio.sleep(0.7)
        return "250 OK"

class Guarded(Controller):
    def factory(self):
        return SMTP(self.handler, authenticator=allowed, auth_required=True, auth_require_tls=False)

controller = Guarded(Keeping(), hostname="127.0.0.1", port=port)
controller.start()
asyncio.new_event_loop().run_forever()
"#;

/// A web hook that takes the path of the moment and answers 401 to every other.
#[derive(Clone, Default)]
struct Hook {
    right: Arc<Mutex<String>>,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Hook {
    fn start(&self) -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let hook = self.clone();
        // ends with the test's process
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let hook = hook.clone();
                std::thread::spawn(move || hook.answer(stream));
            }
        });
        port
    }

    fn answer(&self, mut stream: TcpStream) {
        let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = stream.read(&mut piece) {
            bytes.extend_from_slice(&piece[..length]);
            let Some((head, body)) = whole_request(&bytes) else { continue };
            bytes.clear();
            let right = self.right.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let is_right = head.contains(&format!("POST /{right} "));
            if is_right {
                self.bodies.lock().unwrap_or_else(PoisonError::into_inner).push(body);
            }
            let status = if is_right { "200 OK" } else { "401 Unauthorized" };
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok");
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }

    fn now(&self, secret: &str) {
        secret.clone_into(&mut self.right.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Machines that become Critical one after another, until it is dropped.
struct Load {
    sent: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Load {
    fn start(port: u16, folder: &Path) -> Self {
        let load = Self { sent: Arc::default(), stop: Arc::default() };
        let (sent, stop) = (Arc::clone(&load.sent), Arc::clone(&load.stop));
        let file = folder.join("load.json");
        std::thread::spawn(move || {
            for machine in 1.. {
                let name = format!("R-{machine:03}");
                for window in 0..3 {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    publish(port, &file, &name, 3 * (machine - 1) + window + 1);
                }
                sent.lock().unwrap_or_else(PoisonError::into_inner).push(name);
                std::thread::sleep(PACE);
            }
        });
        load
    }

    /// The machines whose windows the broker has taken.
    fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Publishes a window of a bearing whose life ends within a day, again until the broker has taken
/// it.
fn publish(port: u16, file: &Path, machine: &str, sequence: u64) {
    let mut event: Event = serde_json::from_str(FAULT).expect("the example");
    let now = pdm_service::clock::Clock::now(&pdm_service::clock::SystemClock);
    event.measured_at = Timestamp::from_unix_ms(now.unix_ms()).expect("in range");
    event.event_id = EventId::at(now.unix_ms());
    event.sequence = sequence;
    event.equipment_id = machine.parse().expect("a name");
    event.rul.hours = Some(20.0);
    event.rul.ci_low_hours = Some(5.0);
    event.rul.ci_high_hours = Some(30.0);
    event.trend.acceleration_detected = true;
    let topic = format!("pdm/v1/{}/{machine}/{}/event", event.site, event.bearing_id);
    std::fs::write(file, serde_json::to_vec(&event).expect("JSON")).expect("written");
    let port = port.to_string();
    until("the broker takes a window", PATIENCE, || {
        let sent = Command::new("mosquitto_pub")
            .args(["-V", "5", "-h", "127.0.0.1", "-p", &port, "-u", "gateway", "-P", "other"])
            .args(["-q", "1", "-t", &topic, "-f"])
            .arg(file)
            .stderr(Stdio::null())
            .status();
        sent.is_ok_and(|status| status.success()).then_some(())
    });
}

/// The servers of a plant that know a secret each, and the files in which the agent reads them.
struct Servers {
    postgres: Postgres,
    broker: Mosquitto,
    passwords: PathBuf,
    mail_password: PathBuf,
    mails: PathBuf,
    hook: Hook,
    hook_port: u16,
    folder: tempfile::TempDir,
    _mail: Child,
}

impl Servers {
    fn start(test: &str) -> Option<Self> {
        program(test, "mosquitto_pub")?;
        program(test, "mosquitto_passwd")?;
        // notes that the mail server is not installed
        drop(Smtp::start(test)?);
        let mut postgres = Postgres::start(test)?;
        postgres.restart_with_passwords_for("app");
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        let (passwords, mail_password, mails) = (path("passwd"), path("mail-now"), path("mails"));
        users(&passwords, "one");
        let lines = format!("allow_anonymous false\npassword_file {}\n", passwords.display());
        let broker = Mosquitto::start_with(test, Persistence::Disk, &lines)?;
        let mail_port = free_port();
        std::fs::write(&mail_password, "one").expect("written");
        std::fs::write(&mails, "").expect("written");
        let script = path("mail.py");
        std::fs::write(&script, MAIL_SERVER).expect("written");
        let mut command = Command::new("/usr/bin/python3");
        command.arg(&script).arg(mail_port.to_string()).arg(&mail_password).arg(&mails);
        let mail = Child::start(command.stderr(Stdio::null()));
        until("the mail server", PATIENCE, || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, mail_port)).ok()
        });
        let hook = Hook::default();
        hook.now("one");
        let hook_port = hook.start();
        for secret in ["pg", "broker", "mail"] {
            std::fs::write(path(secret), "one\n").expect("written");
        }
        std::fs::write(path("port"), mail_port.to_string()).expect("written");
        let hook_url = format!("http://127.0.0.1:{hook_port}/one");
        std::fs::write(path("hook"), hook_url).expect("written");
        let server = Self {
            postgres,
            broker,
            passwords,
            mail_password,
            mails,
            hook,
            hook_port,
            folder,
            _mail: mail,
        };
        Some(server)
    }

    fn secret(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// An agent on these servers, which is not started yet.
    fn agent(&self) -> Watched {
        let url = self.postgres.url().replace("pdm@", "app@");
        let [pg, broker, mail, hook] =
            ["pg", "broker", "mail", "hook"].map(|name| self.secret(name).display().to_string());
        let port = std::fs::read_to_string(self.secret("port")).expect("there");
        let store = format!("[store.postgres]\nurl = {url:?}\npassword = {{ file = {pg:?} }}");
        let more = format!(
            "[[notify.webhook]]\nname = \"rotated\"\nurl_secret = {{ file = {hook:?} }}\n\
             language = \"en\"\nfrom = \"Watch\"\n\
             [notify.email]\nhost = \"127.0.0.1\"\nport = {port}\nsecurity = \"none\"\n\
             user = \"pdm\"\npassword = {{ file = {mail:?} }}\nfrom = \"Watch\"\nlanguage = \
             \"en\"\n\
             from_address = \"PdM <pdm@plant.example>\"\nto = [\"kim@plant.example\"]\n\
             [intake.quota]\nnew_bearings_per_hour = 1000\n"
        );
        let plant = Watched::on(self.broker.port(), &store, &more);
        let config = plant.path().join("agent.toml");
        let text = std::fs::read_to_string(&config).expect("there");
        let login = format!("[broker]\nuser = \"agent\"\npassword = {{ file = {broker:?} }}\n");
        let text = text.replace("[broker]\n", &login);
        let text = text.replace("[notify]\n", "[notify]\nper_recipient_per_hour = 1000\n");
        std::fs::write(&config, text).expect("written");
        plant
    }

    /// Returns the mails: the identity of each, and its text.
    fn mailed(&self) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(&self.mails).expect("there");
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.map(|(id, text)| (id.to_owned(), text.to_owned())).collect()
    }

    /// A machine of these that a way to staff has not heard to be Critical.
    fn untold(&self, machines: &[String]) -> Option<String> {
        let mails = self.mailed();
        let bodies = self.hook.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        machines.iter().find_map(|machine| {
            let title = format!("[Critical] {machine}");
            let is_mailed = mails.iter().any(|(_, text)| text.contains(&title));
            let is_posted = bodies.iter().any(|body| body.contains(&title));
            (!is_mailed || !is_posted).then(|| format!("{machine}: {is_mailed} {is_posted}"))
        })
    }
}

/// The users of the broker: the agent, whose password changes, and the gateway.
fn users(file: &Path, password: &str) {
    let set = |create: &[&str], user: &str, password: &str| {
        let mut command = Command::new("mosquitto_passwd");
        command.args(create).arg("-b").arg(file).args([user, password]);
        let made = command.stderr(Stdio::null()).status();
        assert!(made.is_ok_and(|status| status.success()), "mosquitto_passwd");
    };
    set(&["-c"], "agent", password);
    set(&[], "gateway", "other");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_alarm_is_late_or_mailed_twice_where_every_secret_is_changed_under_load() {
    let test = "no_alarm_is_late_or_mailed_twice_where_every_secret_is_changed_under_load";
    let Some(mut servers) = Servers::start(test) else { return };
    let mut admin = PgConnection::connect(&servers.postgres.url()).await.expect("connects");
    let made = "CREATE ROLE app LOGIN PASSWORD 'one'; ALTER SCHEMA public OWNER TO app";
    sqlx::raw_sql(made).execute(&mut admin).await.expect("made");
    let mut plant = servers.agent();
    plant.start();
    plant.works();
    let load = Load::start(servers.broker.port(), plant.path());
    let all_told = |servers: &Servers, what: &str| {
        let sent = load.sent();
        let last = std::cell::RefCell::new(None);
        let is_told = || {
            *last.borrow_mut() = servers.untold(&sent);
            last.borrow().is_none().then_some(())
        };
        let waited = std::panic::AssertUnwindSafe(|| until(what, PATIENCE, is_told));
        let is_told = std::panic::catch_unwind(waited).is_ok();
        assert!(is_told, "{what}: {:?} of {sent:?}\n{}", last.borrow(), plant.log());
    };
    until("the load", PATIENCE, || (load.sent().len() >= 3).then_some(()));
    all_told(&servers, "alarms before any change");

    let cut = "ALTER ROLE app PASSWORD 'two';
               SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'";
    sqlx::raw_sql(cut).execute(&mut admin).await.expect("cut");
    std::thread::sleep(BETWEEN);
    std::fs::write(servers.secret("pg"), "two\n").expect("written");
    all_told(&servers, "alarms after the store's password has changed");

    servers.broker.stop();
    users(&servers.passwords, "two");
    servers.broker.restart();
    std::thread::sleep(BETWEEN);
    std::fs::write(servers.secret("broker"), "two\n").expect("written");
    all_told(&servers, "alarms after the broker's password has changed");

    std::fs::write(&servers.mail_password, "two").expect("written");
    std::thread::sleep(BETWEEN);
    std::fs::write(servers.secret("mail"), "two\n").expect("written");
    all_told(&servers, "alarms after the mail server's password has changed");

    servers.hook.now("two");
    std::thread::sleep(BETWEEN);
    let url = format!("http://127.0.0.1:{}/two", servers.hook_port);
    std::fs::write(servers.secret("hook"), url).expect("written");
    all_told(&servers, "alarms after the hook's token has changed");

    // both at once, in the middle of what is being sent
    std::fs::write(&servers.mail_password, "three").expect("written");
    std::fs::write(servers.secret("mail"), "three\n").expect("written");
    until("more load", PATIENCE, || (load.sent().len() >= 12).then_some(()));
    all_told(&servers, "alarms after the last change");
    drop(load);
    let ids: Vec<String> = servers.mailed().into_iter().map(|(id, _)| id).collect();
    let different: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(ids.len(), different.len(), "no mail twice: {ids:?}");
}
