//! E-mail over SMTP, in Korean, English or both: as text, as a page for mail programs that show
//! one, and with the report that it names. The Message-ID is made of the row's key, so receivers
//! recognise a mail that is sent again. The page loads nothing: no image, no style, no script from
//! elsewhere.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use lettre::message::header::ContentType;
use lettre::message::{Attachment, Mailbox, Message, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::{AsyncSmtpTransport, Tokio1Executor};
use pdm_service::error_chain::error_chain;
use pdm_shared::delivery::Notification;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;
use uuid::Uuid;

use super::attached::{Attached, MailFile};
use super::escape;
use super::grouping::by_urgency;
use super::lanes::{Channel, SendError};
use super::{EMAIL_LANE, person_lane};
use crate::settings::{EMAIL, EmailSecurity, EmailSettings};
use envelope::Settled;

mod envelope;

/// How long the server may take for one step of the protocol: twice the usual greeting delay of 10
/// s that servers impose against spam.
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
    lane: String,
    languages: &'static [Language],
    reports: Option<Attached>,
    transport: AsyncSmtpTransport<Tokio1Executor>,
    /// How long the server may take for one mail.
    longest_mail: Duration,
    /// Which addresses have answered for mails that others are to get still.
    settled: Mutex<Settled>,
}

impl Email {
    /// E-mail to everybody of the section; `reports` is where documents to attach are.
    pub(crate) fn new(
        settings: &EmailSettings,
        reports: Option<Attached>,
    ) -> Result<Self, EmailError> {
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
            lane: EMAIL_LANE.to_owned(),
            languages: settings.language.list(),
            reports,
            transport: builder.timeout(Some(TIMEOUT)).build(),
            longest_mail: envelope::LONGEST_MAIL,
            settled: Mutex::default(),
        })
    }

    /// E-mail to one person.
    pub(crate) fn to_person(
        settings: &EmailSettings,
        person: &str,
        address: &str,
        reports: Option<Attached>,
    ) -> Result<Self, EmailError> {
        let settings = EmailSettings { to: vec![address.to_owned()], ..settings.clone() };
        Ok(Self { lane: person_lane(person, EMAIL), ..Self::new(&settings, reports)? })
    }

    /// The addresses that a mail server takes with SMTPUTF8 alone.
    pub(crate) fn beyond_ascii<'a>(
        addresses: impl Iterator<Item = &'a String>,
    ) -> impl Iterator<Item = &'a str> {
        addresses.map(String::as_str).filter(|address| {
            let mailbox = address.parse::<Mailbox>();
            mailbox.is_ok_and(|mailbox| !envelope::is_ascii(&mailbox.email))
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

    fn message(
        &self,
        key: Uuid,
        letter: Letter,
        files: Vec<MailFile>,
    ) -> Result<Message, SendError> {
        let never = |error: &dyn std::error::Error| SendError::Never(error.to_string());
        let mut builder = Message::builder()
            .from(self.from.clone())
            .message_id(Some(format!("<{key}@{}>", self.from.email.domain())))
            .subject(letter.subject);
        // an address that needs SMTPUTF8 in the head would keep the mail from every other one
        let is_plain = |to: &&Mailbox| envelope::is_ascii(&to.email);
        let has_plain = self.to.iter().any(|to| is_plain(&to));
        for to in self.to.iter().filter(|to| !has_plain || is_plain(to)) {
            builder = builder.to(to.clone());
        }
        let forms = MultiPart::alternative()
            .singlepart(SinglePart::plain(letter.text))
            .singlepart(SinglePart::html(letter.page));
        if files.is_empty() {
            return builder.multipart(forms).map_err(|error| never(&error));
        }
        let mut parts = MultiPart::mixed().multipart(forms);
        for MailFile { name, kind, bytes } in files {
            let kind = ContentType::parse(kind).map_err(|error| never(&error))?;
            parts = parts.singlepart(Attachment::new(name).body(bytes, kind));
        }
        builder.multipart(parts).map_err(|error| never(&error))
    }
}

/// A mail in words.
#[derive(Clone)]
struct Letter {
    subject: String,
    text: String,
    page: String,
}

impl Letter {
    fn of(languages: &[Language], sorted: &[&Notification]) -> Self {
        let first = languages.first().copied().unwrap_or_default();
        let head = sorted
            .first()
            .map_or(String::new(), |worst| escape::title(worst.title.in_language(first)));
        let subject = match (sorted.len(), first) {
            (0 | 1, _) => head,
            (count, Language::Ko) => format!("{head} 외 {}건", count - 1),
            (count, Language::En) => format!("{head} and {} more", count - 1),
        };
        let parts = || {
            sorted.iter().flat_map(|told| languages.iter().map(move |language| (*told, *language)))
        };
        let texts: Vec<String> = parts().map(|(told, language)| text(told, language)).collect();
        let pages: String = parts().map(|(told, language)| section(told, language)).collect();
        let page = format!(
            "<!doctype html><html lang=\"{}\"><head><meta charset=\"utf-8\"></head>\
             <body style=\"font-family:sans-serif;line-height:1.5\">{pages}</body></html>\n",
            first.code(),
        );
        Self { subject, text: format!("{}\n", texts.join("\n\n")), page }
    }
}

fn text(told: &Notification, language: Language) -> String {
    let title = escape::title(told.title.in_language(language));
    let body = escape::plain(told.body.in_language(language));
    let link = told.ack_url.as_deref();
    let link = link.map(|url| format!("\n{}: {url}", escape::acknowledge(language)));
    format!("{title}\n{body}{}", link.unwrap_or_default())
}

fn section(told: &Notification, language: Language) -> String {
    let title = escape::html(&escape::title(told.title.in_language(language)));
    let lines: Vec<String> =
        escape::lines(told.body.in_language(language)).map(|line| escape::html(&line)).collect();
    let link = told.ack_url.as_deref().map(|url| {
        format!("<p><a href=\"{}\">{}</a></p>", escape::html(url), escape::acknowledge(language))
    });
    format!(
        "<section lang=\"{}\" style=\"border-left:6px solid {};padding:0 12px;margin:16px 0\">\
         <h2 style=\"font-size:1.1em\">{title}</h2><p>{}</p>{}</section>",
        language.code(),
        colour(told.risk_level),
        lines.join("<br>"),
        link.unwrap_or_default(),
    )
}

/// The colours of the pages.
const fn colour(risk: RiskLevel) -> &'static str {
    match risk {
        RiskLevel::Critical => "#b3001b",
        RiskLevel::Warning => "#9a4a00",
        RiskLevel::Watch => "#6b5600",
        RiskLevel::Normal => "#1a6b35",
    }
}

#[async_trait]
impl Channel for Email {
    fn lane(&self) -> &str {
        &self.lane
    }

    async fn send(&self, key: Uuid, notifications: &[Notification]) -> Result<(), SendError> {
        let sorted = by_urgency(notifications);
        let files = match &self.reports {
            Some(reports) => reports.of(&sorted, self.languages).await,
            None => Vec::new(),
        };
        let letter = Letter::of(self.languages, &sorted);
        let has_files = !files.is_empty();
        let bare = has_files.then(|| self.message(key, letter.clone(), Vec::new())).transpose()?;
        let bare = bare.map(|bare| bare.formatted());
        let message = self.message(key, letter, files)?;
        self.each(key, &message.formatted(), bare.as_deref()).await
    }
}
