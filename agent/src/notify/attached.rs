//! The report that a message names, as a file to attach.
//!
//! An alarm leaves before its documents are written: a mail waits for them, and leaves without them
//! if they take too long. A name is taken out of the message only if it is exactly that of the
//! event's report, so no text of a message can attach another file.

use std::path::PathBuf;
use std::time::Duration;

use pdm_shared::delivery::Notification;
use pdm_shared::text::Language;

/// How long a mail waits for the documents that it names. Chosen: writing takes a second on a small
/// gateway.
const WAIT: Duration = Duration::from_secs(10);
/// How often it looks.
const LOOK: Duration = Duration::from_millis(200);
/// Most bytes of all files of one mail: many servers take 10 MB, and Base64 makes four bytes of
/// three.
const MOST_BYTES: usize = 5_000_000;

/// A file of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MailFile {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Where documents are written.
#[derive(Debug, Clone)]
pub(crate) struct Attached {
    pub(crate) folder: PathBuf,
}

impl Attached {
    /// The reports of notifications in these languages, as far as they are there in time.
    pub(super) async fn of(&self, told: &[&Notification], languages: &[Language]) -> Vec<MailFile> {
        let mut names: Vec<(String, &'static str)> = Vec::new();
        for one in told.iter().flat_map(|one| names_in(one, languages)) {
            if !names.contains(&one) {
                names.push(one);
            }
        }
        let end = tokio::time::Instant::now() + WAIT;
        let mut files: Vec<MailFile> = Vec::new();
        for (name, kind) in names {
            let path = self.folder.join(&name);
            // a file is renamed into place, so what is there is whole
            let bytes = loop {
                match tokio::fs::read(&path).await {
                    Ok(bytes) => break Some(bytes),
                    Err(_absent) if tokio::time::Instant::now() < end => {
                        tokio::time::sleep(LOOK).await;
                    }
                    Err(error) => {
                        tracing::warn!(%error, name, "a mail leaves without the report that it \
                            names");
                        break None;
                    }
                }
            };
            let Some(bytes) = bytes else { continue };
            let taken: usize = files.iter().map(|file| file.bytes.len()).sum();
            if taken + bytes.len() <= MOST_BYTES {
                files.push(MailFile { name, kind, bytes });
            } else {
                let size = bytes.len();
                tracing::warn!(
                    name,
                    size,
                    "a mail leaves without a report that is too large for it"
                );
            }
        }
        files
    }
}

/// The names of the report of a notification's event: as PDF, else as a page.
fn names_in(told: &Notification, languages: &[Language]) -> Vec<(String, &'static str)> {
    let Some(event_id) = told.event_id else { return Vec::new() };
    let names = |ending: &str| -> Vec<String> {
        // each language of the body names its own file
        let words = told.body.ko.split_whitespace().chain(told.body.en.split_whitespace());
        let names = words.filter_map(|word| word.rsplit(['/', '\\']).next());
        let fits = |name: &&str| {
            let time = name.strip_suffix(&format!("-{event_id}-report.{ending}"));
            time.is_some_and(|time| {
                time.len() == 16
                    && time.bytes().all(|byte| byte.is_ascii_digit() || b"TZ".contains(&byte))
            })
        };
        names.filter(fits).map(str::to_owned).collect()
    };
    let mut found = Vec::new();
    for language in languages {
        let code = match language {
            Language::Ko => "ko",
            Language::En => "en",
        };
        let pdf = names(&format!("{code}.pdf"));
        if pdf.is_empty() {
            let pages = names(&format!("{code}.html"));
            found.extend(pages.into_iter().map(|name| (name, "text/html")));
        } else {
            found.extend(pdf.into_iter().map(|name| (name, "application/pdf")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use pdm_shared::text::Text;
    use uuid::Uuid;

    use super::*;

    fn told(body: &str) -> Notification {
        serde_json::from_value(serde_json::json!({
            "schema": "pdm.notification/1", "notification_id": Uuid::from_u128(1),
            "event_id": Uuid::from_u128(9), "site": "s", "equipment_id": "e", "bearing_id": "b",
            "risk_level": "Critical", "reason": "raised", "title": { "ko": "가", "en": "a" },
            "body": Text::new(body, "a"), "created_at": "2026-11-21T05:10:21.000Z",
        }))
        .expect("a notification")
    }

    /// R-AGENT-10
    #[test]
    fn the_report_of_the_event_is_attached_and_no_other_file() {
        let id = Uuid::from_u128(9);
        let name = format!("20261121T051021Z-{id}-report.ko.pdf");
        let body = format!(
            "분석 리포트: /r/{name}\n분석 리포트: /r/20261121T051021Z-{id}-report.ko.html\n\
             작업지시서: /r/20261121T051021Z-{id}-work-order.ko.pdf\n근거: ../../etc/passwd"
        );
        let found = names_in(&told(&body), &[Language::Ko, Language::En]);
        assert_eq!(found, [(name, "application/pdf")]);
        for foreign in [
            format!("/r/20261121T051021Z-{}-report.ko.pdf", Uuid::from_u128(8)),
            format!("/r/..%2f..%2fZ-{id}-report.ko.pdf"),
            "/etc/passwd-report.ko.pdf".to_owned(),
        ] {
            assert_eq!(names_in(&told(&foreign), &[Language::Ko]), [], "{foreign}");
        }
    }
}
