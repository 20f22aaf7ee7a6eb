//! An envelope for each address: what one address refuses does not touch the others.
//!
//! A mail leaves once for all addresses; where the server refuses one of them, once for each. While
//! some are to get it still, this remembers which have answered, so that a second try goes to the
//! rest alone; after a restart all get it again, which is twice and not never. An address that
//! refuses for good is asked once for each mail.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;
use std::time::Duration;

use lettre::address::Envelope;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::response::Severity;
use lettre::{Address, AsyncTransport};
use pdm_service::error_chain::error_chain;
use tokio::time::Instant;
use uuid::Uuid;

use super::Email;
use crate::notify::lanes::SendError;

/// Most mails that are remembered; more of them are a mail server that is down, where nobody has
/// one.
const MOST: usize = 500;

/// How long one try may take for all addresses: a claim of the outbox lasts five minutes.
const LONGEST: Duration = Duration::from_secs(280);

/// How long a server may take for one mail. Chosen: servers that look for spam answer the end of a
/// mail within two minutes; RFC 5321 (4.5.3.2.6) allows ten, which no alarm can wait.
pub(super) const LONGEST_MAIL: Duration = Duration::from_mins(3);

/// What is wrong with an address beyond ASCII.
const NEEDS_UTF8: &str = "the address has letters beyond ASCII, which a mail server takes with \
    SMTPUTF8 alone (RFC 6531)";

/// Which addresses have answered for a mail.
pub(super) type Settled = BTreeMap<Uuid, Answered>;

/// The answers of addresses for one mail.
#[derive(Debug, Clone, Default)]
pub(super) struct Answered {
    has: BTreeSet<Address>,
    refuse: BTreeMap<Address, String>,
}

impl Answered {
    fn is_empty(&self) -> bool {
        self.has.is_empty() && self.refuse.is_empty()
    }
}

/// The answer of one address.
enum Said {
    Taken,
    Later(String),
    /// The server is not there, or breaks off.
    Away(String),
    /// The server lets nobody in, whatever the address.
    Locked(String),
    Never(String),
}

impl Email {
    /// Sends a mail to each address that has not answered for it; `bare` is the mail without its
    /// files, for a server that takes it with them from nobody (its size, its rules against
    /// attachments).
    pub(super) async fn each(
        &self,
        key: Uuid,
        mail: &[u8],
        bare: Option<&[u8]>,
    ) -> Result<(), SendError> {
        let mut answered = self.answered(key);
        let begun = Instant::now();
        let until = begun + LONGEST;
        if answered.is_empty()
            && self.to.len() > 1
            && let Some(said) = self.all(mail, until).await
        {
            return said;
        }
        let mut waits = Vec::new();
        let mut locked = None;
        for to in self.to.iter().map(|mailbox| &mailbox.email) {
            if answered.has.contains(to) || answered.refuse.contains_key(to) {
                continue;
            }
            // what is left is too short for a server that is asked once more
            if begun.elapsed() > LONGEST / 2 {
                waits.push("the server is too slow to ask for each address".to_owned());
                break;
            }
            match self.one(to, (mail, bare), until).await {
                Said::Taken => {
                    answered.has.insert(to.clone());
                }
                Said::Never(why) => {
                    answered.refuse.insert(to.clone(), why);
                }
                Said::Later(why) | Said::Away(why) => waits.push(format!("{to}: {why}")),
                // it would be the same for every address
                Said::Locked(why) => {
                    locked = Some(why);
                    break;
                }
            }
        }
        let has_some = !answered.has.is_empty();
        let refusals: Vec<String> =
            answered.refuse.iter().map(|(to, why)| format!("{to}: {why}")).collect();
        let waits = locked.clone().into_iter().chain(waits).collect::<Vec<_>>().join("; ");
        if !waits.is_empty() {
            self.remember(key, Some(answered));
            return Err(match (has_some, locked) {
                (true, _) => SendError::Rest(waits),
                (false, Some(_)) => SendError::Refused(waits),
                (false, None) => SendError::Later(waits),
            });
        }
        self.remember(key, None);
        match (has_some, refusals.is_empty()) {
            (_, true) => Ok(()),
            (true, false) => Err(SendError::Partly(refusals.join("; "))),
            (false, false) => Err(SendError::Never(refusals.join("; "))),
        }
    }

    /// Sends one mail for all addresses; `None` if the server refuses one of them, since then no
    /// address has it.
    async fn all(&self, mail: &[u8], until: Instant) -> Option<Result<(), SendError>> {
        // a server without SMTPUTF8 takes the mail from everybody for one such address
        if !self.to.iter().all(|mailbox| is_ascii(&mailbox.email)) {
            return None;
        }
        let everybody = self.to.iter().map(|mailbox| mailbox.email.clone()).collect();
        match self.deliver(everybody, mail, until).await {
            Said::Taken => Some(Ok(())),
            Said::Locked(why) => Some(Err(SendError::Refused(why))),
            Said::Away(why) => Some(Err(SendError::Later(why))),
            Said::Later(_) | Said::Never(_) => None,
        }
    }

    /// One mail to one address: without its files where it is refused with them, since the alarm is
    /// in its text.
    async fn one(
        &self,
        to: &Address,
        (mail, bare): (&[u8], Option<&[u8]>),
        until: Instant,
    ) -> Said {
        let said = self.deliver(vec![to.clone()], mail, until).await;
        let (Said::Never(why), Some(bare)) = (&said, bare) else { return said };
        match self.deliver(vec![to.clone()], bare, until).await {
            Said::Taken => {
                tracing::warn!(
                    why,
                    "a mail left without its report, with which the server refuses it"
                );
                Said::Taken
            }
            // both are refused: the first reason is the one that people look for
            Said::Never(_) => said,
            without @ (Said::Later(_) | Said::Away(_) | Said::Locked(_)) => without,
        }
    }

    /// One mail in one connection. The client's own limit is that of the connection alone: a server
    /// that goes quiet later would hold the lane up for ever.
    async fn deliver(&self, to: Vec<Address>, mail: &[u8], until: Instant) -> Said {
        let envelope = match Envelope::new(Some(self.from.email.clone()), to) {
            Ok(envelope) => envelope,
            Err(error) => return Said::Never(error.to_string()),
        };
        let begun = Instant::now();
        let until = until.min(begun + self.longest_mail);
        let Ok(sent) =
            tokio::time::timeout_at(until, self.transport.send_raw(&envelope, mail)).await
        else {
            return Said::Away(format!(
                "the mail server went quiet: no answer within {} s",
                begun.elapsed().as_secs()
            ));
        };
        let is_plain = envelope.to().iter().all(is_ascii);
        match sent {
            Ok(_response) => Said::Taken,
            // the client asks the server before it sends: no try helps
            Err(error) if error.is_client() && !is_plain => {
                Said::Never(format!("{NEEDS_UTF8} ({})", error_chain(&error)))
            }
            Err(error) if is_locked(&error) => Said::Locked(error_chain(&error)),
            // 5xx: the server refuses this address or this mail for good
            Err(error) if error.is_permanent() => Said::Never(error_chain(&error)),
            Err(error) if error.is_transient() => Said::Later(error_chain(&error)),
            Err(error) => Said::Away(error_chain(&error)),
        }
    }

    fn answered(&self, key: Uuid) -> Answered {
        let settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        settled.get(&key).cloned().unwrap_or_default()
    }

    fn remember(&self, key: Uuid, answered: Option<Answered>) {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        match answered {
            Some(answered) if !answered.is_empty() => {
                if settled.len() >= MOST && !settled.contains_key(&key) {
                    settled.pop_first();
                }
                settled.insert(key, answered);
            }
            Some(_) | None => {
                settled.remove(&key);
            }
        }
    }
}

/// Whether every mail server takes the address (RFC 6531).
pub(super) fn is_ascii(address: &Address) -> bool {
    address.to_string().is_ascii()
}

/// The server refuses our login (RFC 4954: 530, 534, 535, 538), or talks to nobody (RFC 7504: 521).
fn is_locked(error: &Error) -> bool {
    let Some(code) = error.status() else { return false };
    let number = code.to_string();
    code.severity == Severity::PermanentNegativeCompletion
        && ["521", "530", "534", "535", "538"].contains(&number.as_str())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use pdm_shared::risk::RiskLevel;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::settings::{EmailSecurity, EmailSettings, Languages};

    /// A mail server that goes quiet when it is asked this, and answers everything before; its
    /// port.
    async fn quiet_at(step: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let port = listener.local_addr().expect("bound").port();
        tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                held.push(tokio::spawn(async move {
                    let (read, mut write) = stream.into_split();
                    let mut lines = BufReader::new(read).lines();
                    if step != "greeting" {
                        let _sent = write.write_all(b"220 mail.example\r\n").await;
                    }
                    let mut is_data = false;
                    while let Ok(Some(line)) = lines.next_line().await {
                        if is_data && line != "." {
                            continue;
                        }
                        if line.starts_with(step) {
                            // the connection stays open without a word
                            std::future::pending::<()>().await;
                        }
                        is_data = line.starts_with("DATA");
                        let answer: &[u8] = if is_data { b"354 go on\r\n" } else { b"250 ok\r\n" };
                        let _sent = write.write_all(answer).await;
                    }
                }));
            }
        });
        port
    }

    fn email(port: u16, to: &[&str]) -> Email {
        let settings = EmailSettings {
            host: "127.0.0.1".to_owned(),
            port: Some(port),
            security: EmailSecurity::None,
            user: None,
            password: None,
            from_address: "pdm@plant.example".to_owned(),
            to: to.iter().map(|to| (*to).to_owned()).collect(),
            language: Languages::En,
            from: RiskLevel::Watch,
        };
        let mut email = Email::new(&settings, None).expect("a mail channel");
        email.longest_mail = Duration::from_millis(400);
        email
    }

    /// R-AGENT-10: a server that said nothing more in the middle of a mail held the lane for ever,
    /// with health ok. Each step of a mail is one where it may, and the whole wait is that of one
    /// mail.
    #[tokio::test]
    async fn a_mail_server_that_goes_quiet_at_any_step_ends_the_try_within_the_time_of_one_mail() {
        for step in ["greeting", "EHLO", "MAIL", "RCPT", "DATA", "."] {
            let email = email(quiet_at(step).await, &["kim@plant.example"]);
            let begun = Instant::now();
            let said = email.each(Uuid::nil(), b"Subject: a\r\n\r\nb\r\n", None).await;
            let Err(SendError::Later(why)) = said else { panic!("{step}: {said:?}") };
            assert!(why.contains("went quiet"), "{step}: {why}");
            assert!(begun.elapsed() < Duration::from_secs(5), "{step}: {:?}", begun.elapsed());
        }
    }

    /// A mail server that takes every address, without SMTPUTF8 and 8BITMIME; its port, and whom it
    /// was asked to send to.
    async fn plain_server() -> (u16, Arc<Mutex<Vec<String>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let port = listener.local_addr().expect("bound").port();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&heard)));
            }
        });
        (port, asked)
    }

    async fn serve(stream: TcpStream, heard: Arc<Mutex<Vec<String>>>) {
        let (read, mut write) = stream.into_split();
        let mut lines = BufReader::new(read).lines();
        let _sent = write.write_all(b"220 mail.example\r\n").await;
        let mut is_data = false;
        while let Ok(Some(line)) = lines.next_line().await {
            if is_data && line != "." {
                continue;
            }
            if line.starts_with("RCPT") {
                heard.lock().expect("no panic").push(line.clone());
            }
            is_data = line.starts_with("DATA");
            let answer: &[u8] = if is_data { b"354 go on\r\n" } else { b"250 ok\r\n" };
            let _sent = write.write_all(answer).await;
        }
    }

    /// R-AGENT-10: one address in Korean letters took the mail from everybody.
    #[tokio::test]
    async fn an_address_that_the_server_cannot_take_takes_the_mail_from_nobody_else() {
        let (port, asked) = plain_server().await;
        let mut email = email(port, &["정비팀@plant.example", "kim@plant.example"]);
        email.longest_mail = Duration::from_secs(5);
        let mail = email.message(
            Uuid::nil(),
            super::super::Letter { subject: "a".into(), text: "b\n".into(), page: "c".into() },
            Vec::new(),
        );
        let mail = mail.expect("a mail").formatted();
        assert!(mail.is_ascii(), "no header keeps the server from taking it");
        let said = email.each(Uuid::nil(), &mail, None).await;
        let Err(SendError::Partly(why)) = said else { panic!("{said:?}") };
        assert!(why.contains("정비팀@plant.example") && why.contains("SMTPUTF8"), "{why}");
        let asked = asked.lock().expect("no panic").join(";");
        assert!(asked.contains("kim@plant.example"), "{asked}");
    }

    /// Two receivers are asked in one mail, and not one after the other for the whole wait each.
    #[tokio::test]
    async fn a_quiet_server_is_waited_for_once_for_all_receivers() {
        let mut email = email(quiet_at(".").await, &["kim@plant.example", "lee@plant.example"]);
        email.longest_mail = Duration::from_secs(2);
        let begun = Instant::now();
        let said = email.each(Uuid::nil(), b"Subject: a\r\n\r\nb\r\n", None).await;
        assert!(matches!(said, Err(SendError::Later(_))), "{said:?}");
        assert!(begun.elapsed() < Duration::from_millis(3900), "{:?}", begun.elapsed());
    }
}
