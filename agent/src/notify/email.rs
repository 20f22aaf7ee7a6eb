//! E-mail over SMTP, in Korean, English or both. The Message-ID is made of the row's key, so receivers
//! recognise a mail that is sent again.

use std::time::Duration;

use async_trait::async_trait;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::authentication::Credentials;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use pdm_service::error_chain::error_chain;
use pdm_shared::delivery::Notification;
use pdm_shared::text::Language;
use uuid::Uuid;

use super::EMAIL_LANE;
use super::escape;
use super::grouping::by_urgency;
use super::lanes::{Channel, SendError};
use crate::settings::{EmailSecurity, EmailSettings};

/// How long the server may take for one step of the protocol: twice the usual greeting delay of 10 s
/// that servers impose against spam.
const TIMEOUT: Duration = Duration::from_secs(20);

/// E-mail cannot be set up. The caller ends with a bad configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmailError {
    /// The password.
    #[error("notify.email.password")]
    Password(#[source] pdm_service::secret::SecretError),
    /// A sender or receiver is no e-mail address.
    #[error("notify.email: {address:?} is no address: {reason}")]
    Address {
        /// The text that was configured.
        address: String,
        /// Why the text is no address.
        reason: String,
    },
    /// TLS cannot be set up for this host.
    #[error("notify.email.host")]
    Tls(#[source] lettre::transport::smtp::Error),
}

/// Configured e-mail.
#[derive(Debug)]
pub(crate) struct Email {
    from: Mailbox,
    to: Vec<Mailbox>,
    languages: &'static [Language],
    transport: AsyncSmtpTransport<Tokio1Executor>,
}

impl Email {
    pub(crate) fn new(settings: &EmailSettings) -> Result<Self, EmailError> {
        let mailbox = |address: &String| {
            address.parse::<Mailbox>().map_err(|error| EmailError::Address {
                address: address.clone(),
                reason: error.to_string(),
            })
        };
        let host = settings.host.as_str();
        let mut builder = match settings.security {
            EmailSecurity::Starttls => AsyncSmtpTransport::<Tokio1Executor>::starttls_relay(host)
                .map_err(EmailError::Tls)?,
            EmailSecurity::Tls => {
                AsyncSmtpTransport::<Tokio1Executor>::relay(host).map_err(EmailError::Tls)?
            }
            EmailSecurity::None => AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host),
        };
        if let Some(port) = settings.port {
            builder = builder.port(port);
        }
        if let (Some(user), Some(password)) = (&settings.user, &settings.password) {
            let password = password.fetch().map_err(EmailError::Password)?;
            builder =
                builder.credentials(Credentials::new(user.clone(), password.expose().to_owned()));
        }
        Ok(Self {
            from: mailbox(&settings.from_address)?,
            to: settings.to.iter().map(mailbox).collect::<Result<_, _>>()?,
            languages: settings.language.list(),
            transport: builder.timeout(Some(TIMEOUT)).build(),
        })
    }

    /// The server answers and takes our login.
    pub(crate) async fn probe(&self) -> Result<(), String> {
        match self.transport.test_connection().await {
            Ok(true) => Ok(()),
            Ok(false) => Err("the mail server does not answer NOOP".to_owned()),
            Err(error) => Err(error_chain(&error)),
        }
    }

    fn message(&self, key: Uuid, notifications: &[Notification]) -> Result<Message, SendError> {
        let (subject, body) = words(self.languages, notifications);
        let mut builder = Message::builder()
            .from(self.from.clone())
            .message_id(Some(format!("<{key}@{}>", self.from.email.domain())))
            .subject(subject)
            .header(ContentType::TEXT_PLAIN);
        for to in &self.to {
            builder = builder.to(to.clone());
        }
        builder.body(body).map_err(|error| SendError::Never(error.to_string()))
    }
}

fn words(languages: &[Language], notifications: &[Notification]) -> (String, String) {
    let sorted = by_urgency(notifications);
    let first = languages.first().copied().unwrap_or_default();
    let head =
        sorted.first().map_or(String::new(), |worst| escape::title(worst.title.in_language(first)));
    let subject = match (sorted.len(), first) {
        (0 | 1, _) => head,
        (count, Language::Ko) => format!("{head} 외 {}건", count - 1),
        (count, Language::En) => format!("{head} and {} more", count - 1),
    };
    let parts: Vec<String> = sorted
        .iter()
        .flat_map(|notification| {
            languages.iter().map(|language| {
                let title = escape::title(notification.title.in_language(*language));
                format!("{title}\n{}", escape::plain(notification.body.in_language(*language)))
            })
        })
        .collect();
    (subject, format!("{}\n", parts.join("\n\n")))
}

#[async_trait]
impl Channel for Email {
    fn lane(&self) -> &str {
        EMAIL_LANE
    }

    async fn send(&self, key: Uuid, notifications: &[Notification]) -> Result<(), SendError> {
        let message = self.message(key, notifications)?;
        match self.transport.send(message).await {
            Ok(_response) => Ok(()),
            // 5xx: the server refuses this mail for good
            Err(error) if error.is_permanent() => Err(SendError::Never(error_chain(&error))),
            Err(error) => Err(SendError::Later(error_chain(&error))),
        }
    }
}
