//! The running agent's own file as the page of settings changes it: checked as at a start, written
//! whole beside the old one and exchanged with it, then read again by the reload that SIGHUP asks
//! for.
//!
//! Invariants: a change that the agent would not start with is never written; what is written is of
//! the content that the page showed; a file with which the agent does not start after all gets its
//! former content back.

mod difference;
mod splice;

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use pdm_service::error_chain::error_chain;
use pdm_web::configuration::{
    ConfigChange, ConfigurationFile, ConfigurationProposal, ConfigurationRefusal, ConfigurationText,
};
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;

use crate::settings::AgentSettings;
use splice::SpliceError;

/// `agent.toml` of a running agent.
#[derive(Debug)]
pub struct AgentFile {
    path: PathBuf,
    /// Tells the program to read the file again.
    written: Notify,
    /// The page's last write: the former content, and the digest of the new one.
    last: Mutex<Option<(String, String)>>,
}

impl AgentFile {
    /// The file at a path.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), written: Notify::new(), last: Mutex::default() }
    }

    /// Waits until a page has written the file.
    pub async fn written(&self) {
        self.written.notified().await;
    }

    /// Notes that the program runs with the file: a later start that fails has another reason than
    /// what a page wrote.
    pub fn settled(&self) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Puts the former content back where the file is still what a page wrote last. Returns whether
    /// it did.
    pub fn put_back(&self) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((former, digest)) = last else { return false };
        let is_ours = self.text().is_ok_and(|text| digest_of(&text) == digest);
        if !is_ours {
            return false;
        }
        match self.write(&former) {
            Ok(()) => {
                tracing::warn!(file = %self.path.display(), "the file has its former content \
                    again");
                true
            }
            Err(error) => {
                tracing::error!(%error, "the former content of the configuration could not be put \
                    back");
                false
            }
        }
    }

    fn text(&self) -> Result<String, ConfigurationRefusal> {
        let path = self.path.display();
        std::fs::read_to_string(&self.path).map_err(|error| {
            ConfigurationRefusal::Unreadable(format!("{path} cannot be read: {error}"))
        })
    }

    /// The text with the changes, if the agent starts with it.
    fn changed(
        &self,
        text: &str,
        changes: &[ConfigChange],
    ) -> Result<String, ConfigurationRefusal> {
        let mut new = text.to_owned();
        for change in changes {
            new = splice::changed(&new, change).map_err(|error| match error {
                SpliceError::Syntax(told) => ConfigurationRefusal::Wrong(told),
                other @ (SpliceError::Missing(_) | SpliceError::Form(_)) => {
                    ConfigurationRefusal::Form(other.to_string())
                }
            })?;
        }
        if new == text {
            return Err(ConfigurationRefusal::Same);
        }
        let wrong = |error| ConfigurationRefusal::Wrong(error_chain(&error));
        let settings = AgentSettings::parse(&self.path, &new).map_err(wrong)?;
        let now = AgentSettings::parse(&self.path, text).map_err(wrong)?;
        match now.torn_off_in(&settings) {
            None => Ok(new),
            Some(torn) => {
                let told = format!("{}: {torn}", self.path.display());
                Err(ConfigurationRefusal::Wrong(told))
            }
        }
    }

    /// Returns why the file cannot be written; `None` if it can.
    fn unwritable(&self) -> Option<String> {
        let path = self.path.display();
        let about = match std::fs::symlink_metadata(&self.path) {
            Ok(about) => about,
            Err(error) => return Some(format!("{path}: {error}")),
        };
        if about.is_symlink() {
            return Some(format!("{path} is a link: change it where it is made"));
        }
        let tried = new_file(&self.path).and_then(|(_file, beside)| std::fs::remove_file(beside));
        tried.err().map(|error| format!("{}: {error}", folder_of(&self.path).display()))
    }

    /// Exchanges the file: whoever reads it sees all of the old content or all of the new one.
    fn write(&self, text: &str) -> Result<(), ConfigurationRefusal> {
        if let Some(why) = self.unwritable() {
            return Err(ConfigurationRefusal::Unwritable(why));
        }
        exchanged(&self.path, text).map_err(|error| {
            ConfigurationRefusal::Unwritable(format!("{}: {error}", self.path.display()))
        })
    }
}

#[async_trait]
impl ConfigurationFile for AgentFile {
    async fn read(&self) -> Result<ConfigurationText, ConfigurationRefusal> {
        let text = self.text()?;
        let values: toml::Table = toml::from_str(&text)
            .map_err(|error| ConfigurationRefusal::Wrong(error.to_string()))?;
        Ok(ConfigurationText {
            path: self.path.display().to_string(),
            values,
            digest: digest_of(&text),
            unwritable: self.unwritable(),
        })
    }

    async fn propose(
        &self,
        changes: &[ConfigChange],
    ) -> Result<ConfigurationProposal, ConfigurationRefusal> {
        let text = self.text()?;
        let new = self.changed(&text, changes)?;
        let lines = difference::difference(&text, &new);
        Ok(ConfigurationProposal { lines, digest: digest_of(&text) })
    }

    async fn apply(
        &self,
        changes: &[ConfigChange],
        digest: &str,
    ) -> Result<ConfigurationProposal, ConfigurationRefusal> {
        let text = self.text()?;
        if digest_of(&text) != digest {
            return Err(ConfigurationRefusal::Meanwhile);
        }
        let new = self.changed(&text, changes)?;
        self.write(&new)?;
        let lines = difference::difference(&text, &new);
        let done = ConfigurationProposal { lines, digest: digest_of(&new) };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((text, done.digest.clone()));
        self.written.notify_one();
        Ok(done)
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An empty file beside the configuration, which nobody else may read. One that a crash left is
/// made anew.
fn new_file(path: &Path) -> io::Result<(File, PathBuf)> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder_of(path).join(format!(".{name}.new"));
    if let Err(error) = std::fs::remove_file(&beside)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    Ok((file, beside))
}

/// Exchanges a file for one with this text, which has its rights and is on the disk when this
/// returns.
fn exchanged(path: &Path, text: &str) -> io::Result<()> {
    let rights = std::fs::metadata(path)?.permissions().mode();
    let (mut file, beside) = new_file(path)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.set_permissions(Permissions::from_mode(rights)))
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // what could not take the place of the old file must not stay; the error says why already
        let _ignored = std::fs::remove_file(&beside);
    }
    written?;
    File::open(folder_of(path))?.sync_all()
}

fn digest_of(text: &str) -> String {
    use std::fmt::Write as _;
    let mut digest = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        // writing to a String cannot fail
        let _infallible = write!(digest, "{byte:02x}");
    }
    digest
}

#[cfg(test)]
mod tests {
    use pdm_web::configuration::ConfigStep;
    use toml::Value;

    use super::*;

    const TEXT: &str =
        "# mine\n[store]\nsqlite = \"agent.db\" # here\n\n[notify]\nzone = \"UTC\"\n";

    fn set(key: &str, value: impl Into<Value>) -> [ConfigChange; 1] {
        let table = vec![ConfigStep::Key("notify".to_owned())];
        [ConfigChange::Set { table, key: key.to_owned(), value: value.into() }]
    }

    fn file() -> (tempfile::TempDir, AgentFile) {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("agent.toml");
        std::fs::write(&path, TEXT).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("set");
        (folder, AgentFile::new(&path))
    }

    /// R-UI-1: a change is checked, shown, written with the rights of the file, and told; of
    /// another content, and with a wrong value, nothing is written.
    #[tokio::test]
    async fn a_change_is_written_as_it_was_shown_and_a_wrong_one_changes_nothing() {
        let (folder, file) = file();
        let path = folder.path().join("agent.toml");
        let shown = file.propose(&set("repeat_after_h", 4.5)).await.expect("right");
        let marks: String = shown.lines.iter().map(|line| line.mark).collect();
        assert_eq!(
            (marks.as_str(), shown.lines.last().map(|line| line.text.as_str())),
            ("  +", Some("repeat_after_h = 4.5"))
        );
        assert_eq!(std::fs::read_to_string(&path).expect("read"), TEXT, "shown, not written");
        for (wrong, told) in [
            (set("repeat_after_h", -1), "notify.repeat_after_h is -1"),
            (set("zone", "Seoul"), "no time zone"),
            (set("no_such", 1), "no_such"),
            (set("mqtt", false), "every way to staff"),
        ] {
            let refused = file.apply(&wrong, &shown.digest).await.expect_err("refused");
            assert!(refused.to_string().contains(told), "{refused}");
            assert_eq!(std::fs::read_to_string(&path).expect("read"), TEXT);
        }
        assert_eq!(
            file.propose(&set("zone", "UTC")).await.expect_err("nothing"),
            ConfigurationRefusal::Same
        );
        file.apply(&set("repeat_after_h", 4.5), &shown.digest).await.expect("written");
        file.written().await;
        let new = format!("{TEXT}repeat_after_h = 4.5\n");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), new);
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
        let late = file.apply(&set("from", "Warning"), &shown.digest).await;
        assert_eq!(late.expect_err("another content"), ConfigurationRefusal::Meanwhile);
        assert!(file.put_back() && !file.put_back(), "once");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), TEXT);
        file.apply(&set("repeat_after_h", 4.5), &shown.digest).await.expect("written");
        file.settled();
        assert!(!file.put_back(), "the program runs with it");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), new);
    }

    /// Content that somebody wrote after the page is not reverted; a link is reported as one.
    #[tokio::test]
    async fn a_file_of_others_stays() {
        let (folder, file) = file();
        let path = folder.path().join("agent.toml");
        let digest = file.read().await.expect("read").digest;
        file.apply(&set("zone", "Asia/Seoul"), &digest).await.expect("written");
        std::fs::write(&path, "# another\n").expect("written");
        assert!(!file.put_back());
        let link = folder.path().join("link.toml");
        std::os::unix::fs::symlink(&path, &link).expect("linked");
        let told = AgentFile::new(&link).unwritable().expect("a link");
        assert!(told.contains("is a link"), "{told}");
    }
}
