//! The login by which edge, agent and gate reach the embedded broker behind the gate.
//!
//! With certificates the gate decides who connects. The broker behind it listens on a plain port of
//! loopback, which other accounts of the machine can reach too: it takes only who has the password
//! that this process made at its start and told nobody.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;

use mqtt5::broker::auth::{AuthProvider, AuthResult};
use mqtt5::packet::connect::ConnectPacket;
use mqtt5::protocol::v5::reason_codes::ReasonCode;
use pdm_service::broker::Login;
use pdm_service::secret::{Secret, SecretSource};

/// The user name of every connection behind the gate; the password alone decides.
const USER: &str = "inside";

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

type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl AuthProvider for InsidePassword {
    fn authenticate<'a>(
        &'a self,
        connect: &'a ConnectPacket,
        _client: SocketAddr,
    ) -> Answer<'a, mqtt5::error::Result<AuthResult>> {
        let is_own = connect.password.as_deref().is_some_and(|given| self.0.is(given));
        let answer = if is_own {
            AuthResult::success_with_user(USER)
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
    ) -> Answer<'a, bool> {
        Box::pin(std::future::ready(true))
    }

    fn authorize_subscribe<'a>(
        &'a self,
        _client_id: &str,
        _user: Option<&'a str>,
        _filter: &'a str,
    ) -> Answer<'a, bool> {
        Box::pin(std::future::ready(true))
    }
}
