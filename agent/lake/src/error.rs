//! What can go wrong with an archive, told by name, and the exit code of each.
//!
//! Libraries bury the cause of a failed write four errors deep and in words of their own;
//! [`LakeError::of`] looks for the cause that an operator can do something about.

use std::error::Error;
use std::io::ErrorKind;

use pdm_service::exit::{Exit, Failure};

/// Why work on an archive ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LakeError {
    /// The file system or the bucket denies the access: the operator grants it.
    #[error("{place}: access denied while {doing}: {told}")]
    Denied {
        /// The archive, or the file in it.
        place: String,
        /// What was tried.
        doing: &'static str,
        /// What the store said.
        told: String,
    },
    /// The object store refuses the key: the operator corrects it.
    #[error(
        "{place}: the object store refuses the key while {doing} ({told}); it is taken from \
         AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    )]
    WrongKey {
        /// The archive.
        place: String,
        /// What was tried.
        doing: &'static str,
        /// The code of the answer.
        told: String,
    },
    /// There is no such bucket.
    #[error("{place}: there is no such bucket ({told}); pdm-lake makes none")]
    NoBucket {
        /// The archive.
        place: String,
        /// The code of the answer.
        told: String,
    },
    /// No space is left: nothing was committed, and the next run begins again where this one was.
    #[error(
        "{place}: no space is left while {doing}; nothing of this day was committed, and nothing \
         was deleted"
    )]
    Full {
        /// The archive.
        place: String,
        /// What was tried.
        doing: &'static str,
    },
    /// The store cannot be reached: try again later.
    #[error("{place}: not reachable while {doing}: {told}")]
    Unreachable {
        /// The archive or the agent's store.
        place: String,
        /// What was tried.
        doing: &'static str,
        /// What the library said.
        told: String,
    },
    /// There is no archive at the place.
    #[error("{place}: there is no archive here; pdm-lake export or import begins one")]
    NoArchive {
        /// The place.
        place: String,
    },
    /// Something in the archive is not as this program wrote it; nothing is changed.
    #[error("{place}: {told}")]
    Content {
        /// The table, file or record.
        place: String,
        /// What is wrong, what was expected, and what decides.
        told: String,
    },
    /// The archive is of a version that this program does not know.
    #[error("{place}: {told}")]
    Version {
        /// The record that says so.
        place: String,
        /// The version found and the ones known.
        told: String,
    },
    /// Another archiver has the archive.
    #[error("{place}: {told}")]
    Owned {
        /// The archive.
        place: String,
        /// Who has it, and which option takes it over.
        told: String,
    },
    /// Another writer committed in between: the day is looked at anew.
    #[error("{place}: another writer committed in between; the day is looked at anew")]
    Conflict {
        /// The table.
        place: String,
    },
    /// A read or write failed for another reason.
    #[error("{place}: {doing} failed: {told}")]
    Failed {
        /// The archive, the table or the agent's store.
        place: String,
        /// What was tried.
        doing: &'static str,
        /// What the library said.
        told: String,
    },
}

/// The codes of an S3 answer that mean a key which the store does not know or whose secret is
/// wrong.
const WRONG_KEY: &[&str] = &["InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken"];

impl LakeError {
    /// The error of a library while something was done at a place.
    pub fn of(
        place: impl Into<String>,
        doing: &'static str,
        error: &(dyn Error + 'static),
    ) -> Self {
        let place = place.into();
        let told = pdm_service::error_chain::error_chain(error);
        if let Some(known) = of_answer(&place, doing, &told) {
            return known;
        }
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(io) = error.downcast_ref::<std::io::Error>()
                && let Some(known) = of_io(&place, doing, io)
            {
                return known;
            }
            cause = error.source();
        }
        // some libraries keep the text of the system's error alone
        if told.contains("No space left on device") || told.contains("Disk quota exceeded") {
            return Self::Full { place, doing };
        }
        if told.contains("Permission denied") || told.contains("Read-only file system") {
            return Self::Denied { place, doing, told };
        }
        let is_away = ["error sending request", "Connection refused", "timed out", "dns error"];
        if is_away.iter().any(|word| told.contains(word)) {
            return Self::Unreachable { place, doing, told };
        }
        Self::Failed { place, doing, told }
    }

    /// The exit code.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Denied { .. } | Self::Full { .. } | Self::Failed { .. } => Exit::Io,
            Self::WrongKey { .. } | Self::NoBucket { .. } | Self::Version { .. } => Exit::Config,
            Self::Unreachable { .. } | Self::Owned { .. } | Self::Conflict { .. } => {
                Exit::Unavailable
            }
            Self::NoArchive { .. } => Exit::NoInput,
            Self::Content { .. } => Exit::BadInput,
        }
    }

    /// Whether the same may succeed later without a person: `run` goes on.
    pub const fn may_pass(&self) -> bool {
        !matches!(self, Self::Content { .. } | Self::Version { .. } | Self::NoArchive { .. })
    }
}

fn of_io(place: &str, doing: &'static str, io: &std::io::Error) -> Option<LakeError> {
    const FULL: [ErrorKind; 3] =
        [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];
    const DENIED: [ErrorKind; 2] = [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem];
    const AWAY: [ErrorKind; 3] =
        [ErrorKind::ConnectionRefused, ErrorKind::TimedOut, ErrorKind::HostUnreachable];
    let (place, told, kind) = (place.to_owned(), io.to_string(), io.kind());
    if FULL.contains(&kind) {
        return Some(LakeError::Full { place, doing });
    }
    if DENIED.contains(&kind) {
        return Some(LakeError::Denied { place, doing, told });
    }
    AWAY.contains(&kind).then_some(LakeError::Unreachable { place, doing, told })
}

/// What the code in an S3 answer means.
fn of_answer(place: &str, doing: &'static str, told: &str) -> Option<LakeError> {
    let code = told.split_once("<Code>")?.1.split_once("</Code>")?.0;
    let place = place.to_owned();
    let told = code.to_owned();
    if WRONG_KEY.contains(&code) {
        return Some(LakeError::WrongKey { place, doing, told });
    }
    match code {
        "NoSuchBucket" => Some(LakeError::NoBucket { place, told }),
        "AccessDenied" | "AllAccessDisabled" => Some(LakeError::Denied { place, doing, told }),
        "QuotaExceeded" | "XMinioStorageFull" => Some(LakeError::Full { place, doing }),
        _ => None,
    }
}

impl From<LakeError> for Failure {
    fn from(error: LakeError) -> Self {
        Self::new(error.exit(), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("unable to copy")]
    struct Wrapping(#[source] std::io::Error);

    #[test]
    fn a_cause_is_found_below_what_wraps_it() {
        let of = |kind: ErrorKind| LakeError::of("lake", "writing a file", &Wrapping(kind.into()));
        assert!(matches!(of(ErrorKind::StorageFull), LakeError::Full { .. }));
        assert_eq!(of(ErrorKind::StorageFull).exit(), Exit::Io);
        assert!(matches!(of(ErrorKind::PermissionDenied), LakeError::Denied { .. }));
        assert!(matches!(of(ErrorKind::ReadOnlyFilesystem), LakeError::Denied { .. }));
        assert!(matches!(of(ErrorKind::ConnectionRefused), LakeError::Unreachable { .. }));
        assert!(matches!(of(ErrorKind::Other), LakeError::Failed { .. }));
    }

    #[test]
    fn an_answer_of_the_object_store_is_named_by_its_code() {
        let of = |code: &str| {
            let body = format!("403: <Error><Code>{code}</Code><Message>…</Message></Error>");
            LakeError::of(
                "s3://lake",
                "reading the archive",
                &Wrapping(std::io::Error::other(body)),
            )
        };
        for code in WRONG_KEY {
            assert!(matches!(of(code), LakeError::WrongKey { .. }), "{code}");
            assert!(of(code).to_string().contains("AWS_SECRET_ACCESS_KEY"));
        }
        assert!(matches!(of("AccessDenied"), LakeError::Denied { .. }));
        assert!(matches!(of("NoSuchBucket"), LakeError::NoBucket { .. }));
        assert_eq!(of("AccessDenied").exit(), Exit::Io);
        assert_eq!(of("NoSuchBucket").exit(), Exit::Config);
    }
}
