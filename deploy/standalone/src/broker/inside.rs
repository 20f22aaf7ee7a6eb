//! The login by which edge, agent and gate reach the embedded broker behind the gate.
//!
//! With certificates the gate decides who connects. The broker behind it listens on a plain port of
//! loopback, which other accounts of the machine can reach too: it takes only who has the password
//! that this process made at its start and told nobody.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;

use mqtt5::broker::auth::{AuthProvider, AuthResult};
use mqtt5::packet::connect::ConnectPacket;
use mqtt5::protocol::v5::reason_codes::ReasonCode;
use pdm_service::broker::Login;
use pdm_service::secret::{Secret, SecretSource};
use serde_json::Value;

/// The user name of every connection behind the gate; the password alone decides.
const USER: &str = "inside";

/// Takes the user of the gate out of the sessions in a broker's folder. The first versions wrote
/// it, and the broker refuses a session whose user is another.
///
/// # Errors
/// A session cannot be read or written.
pub(super) fn forget_user(folder: &Path) -> io::Result<()> {
    let sessions = match std::fs::read_dir(folder.join("sessions")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        listed => listed?,
    };
    for entry in sessions {
        let path = entry?.path();
        let text = std::fs::read(&path)?;
        // what is no session of ours is left to the broker
        let Ok(mut session) = serde_json::from_slice::<Value>(&text) else { continue };
        if session["user_id"] != USER {
            continue;
        }
        session["user_id"] = Value::Null;
        let beside = path.with_extension("json.new");
        std::fs::write(&beside, serde_json::to_vec(&session)?)?;
        std::fs::rename(beside, path)?;
    }
    Ok(())
}

/// A password of 256 bits that lives as long as the broker.
#[derive(Debug, Clone)]
pub(super) struct InsidePassword(Secret);

impl InsidePassword {
    /// Draws one.
    pub(super) fn draw() -> Self {
        let bytes: [u8; 32] = rand::random();
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Self(Secret::new(digits.concat()))
    }

    /// The login for the clients of this process.
    pub(super) fn login(&self) -> Login {
        Login { user: USER.to_owned(), password: SecretSource::Made(self.0.clone()) }
    }

    /// User name and password as the end of a CONNECT.
    pub(super) fn end_of_connect(&self) -> Vec<u8> {
        let field = |text: &str| {
            let length = u16::try_from(text.len()).unwrap_or_default().to_be_bytes();
            [&length, text.as_bytes()].concat()
        };
        [field(USER), field(self.0.expose())].concat()
    }
}

type HookAnswer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl AuthProvider for InsidePassword {
    fn authenticate<'a>(
        &'a self,
        connect: &'a ConnectPacket,
        _client: SocketAddr,
    ) -> HookAnswer<'a, mqtt5::error::Result<AuthResult>> {
        let is_own = connect.password.as_deref().is_some_and(|given| self.0.is(given));
        let answer = if is_own {
            // no user: a session of a start without certificates has none, and the broker refuses a
            // session whose user is another
            AuthResult::success()
        } else {
            tracing::warn!("a connection past the gate of the embedded broker was refused");
            AuthResult::fail(ReasonCode::BadUsernameOrPassword)
        };
        Box::pin(std::future::ready(Ok(answer)))
    }

    fn authorize_publish<'a>(
        &'a self,
        _client_id: &str,
        _user: Option<&'a str>,
        _topic: &'a str,
    ) -> HookAnswer<'a, bool> {
        Box::pin(std::future::ready(true))
    }

    fn authorize_subscribe<'a>(
        &'a self,
        _client_id: &str,
        _user: Option<&'a str>,
        _filter: &'a str,
    ) -> HookAnswer<'a, bool> {
        Box::pin(std::future::ready(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-DEPLOY: a folder that was used with certificates before serves the next start, with or
    /// without them.
    #[test]
    fn sessions_lose_the_user_of_the_gate_and_nothing_else() {
        let folder = tempfile::tempdir().expect("folder");
        forget_user(folder.path()).expect("no sessions yet");
        let sessions = folder.path().join("sessions");
        std::fs::create_dir(&sessions).expect("made");
        let write = |name: &str, text: &str| {
            std::fs::write(sessions.join(name), text).expect("written");
        };
        write("agent.json", r#"{"client_id":"pdm-agent","user_id":"inside","expiry_interval":5}"#);
        write("plain.json", r#"{"client_id":"x","user_id":null}"#);
        write("torn.json", "{");
        forget_user(folder.path()).expect("read");
        let read = |name: &str| std::fs::read_to_string(sessions.join(name)).expect("there");
        let agent: Value = serde_json::from_str(&read("agent.json")).expect("JSON");
        assert!(agent["user_id"].is_null() && agent["client_id"] == "pdm-agent", "{agent}");
        assert_eq!(agent["expiry_interval"], 5);
        assert_eq!(read("torn.json"), "{");
        assert_eq!(std::fs::read_dir(&sessions).expect("listed").count(), 3);
    }
}
