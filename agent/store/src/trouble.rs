//! The reasons why the store cannot be used, by kind, with the necessary action of staff.
//!
//! The kinds come from the codes that SQLite and PostgreSQL give to their errors; where a code is
//! not known the kind is [`StoreTrouble::Other`] and the error's own text tells the rest. The words
//! of a kind stand here because health, log, `check` and the messages to staff tell the same ones.

use std::error::Error as _;

use pdm_service::postgres::WayError;
use pdm_shared::text::Text;

use super::{StoreError, Unfit};
use crate::suspicion;

/// The tables of PostgreSQL whose rows get a number from a sequence; the errors of the server name
/// their keys.
const NUMBERED: [&str; 8] = [
    "pdm_agent_memory",
    "acknowledgements",
    "outbox",
    "days",
    "graph_nodes",
    "graph_edges",
    "acts",
    "events_unjudged",
];

/// Why the store cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreTrouble {
    /// There is no connection, or no answer in time.
    Away,
    /// It answers questions and takes no row: another program holds it, or its disk hangs.
    Locked,
    /// No room is left.
    Full,
    /// The file or a table is damaged.
    Damaged,
    /// The server is a standby that has not been promoted.
    Standby,
    /// It may only be read.
    ReadOnly,
    /// The server is starting, stopping or recovering.
    Starting,
    /// The server refuses the login.
    Login,
    /// The password's file cannot be read.
    Secret,
    /// The server has no such database.
    NoDatabase,
    /// The server takes no more connections.
    Connections,
    /// The user lacks a right.
    Rights,
    /// The file cannot be opened or created.
    Unopened,
    /// The file was moved, removed or replaced while it was open.
    Moved,
    /// The log of the file was moved, removed or replaced while it was open.
    LogMoved,
    /// The disk fails.
    Disk,
    /// A table or column is missing.
    Schema,
    /// The database's encoding cannot hold every character.
    Encoding,
    /// A pooler lends sessions for one transaction.
    Pooler,
    /// A newer version of the program wrote it.
    Newer,
    /// The server gives out row numbers that other rows have.
    Sequences,
    /// The database takes rows and does not have them.
    Swallowed,
    /// The database refuses a row.
    Row,
    /// Anything else.
    Other,
}

impl From<&StoreError> for StoreTrouble {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Unavailable(source) => of_driver(source),
            StoreError::Open { place, source } => {
                let known = of_driver(source);
                // a file has no server that could be away: its folder cannot be made or read
                let is_file = !place.contains("://");
                let is_unnamed = matches!(known, Self::Other | Self::Away);
                if is_file && is_unnamed { Self::Unopened } else { known }
            }
            StoreError::Missing { .. } => Self::Unopened,
            StoreError::Way(WayError::Password(_)) => Self::Secret,
            StoreError::Way(_) => Self::Other,
            StoreError::Unfit { unfit: Unfit::Encoding { .. }, .. } => Self::Encoding,
            StoreError::Unfit { unfit: Unfit::Pooler { .. }, .. } => Self::Pooler,
            StoreError::Unfit { unfit: Unfit::Standby, .. } => Self::Standby,
            StoreError::Newer { .. } => Self::Newer,
            StoreError::Moved { .. } => Self::Moved,
            StoreError::LogMoved { .. } => Self::LogMoved,
            StoreError::Swallowed { .. } => Self::Swallowed,
            StoreError::Migrate(source) => of_chain(source),
            StoreError::Content { reason, .. } if reason.contains("no equivalent in encoding") => {
                Self::Encoding
            }
            StoreError::Content { reason, .. } if is_of_a_sequence(reason) => Self::Sequences,
            StoreError::Content { .. } => Self::Row,
        }
    }
}

/// Whether the server refuses a number of its own making: the key of a numbered table. The words of
/// the message are in the server's language (`lc_messages`), the name of the key is not.
fn is_of_a_sequence(reason: &str) -> bool {
    NUMBERED.iter().any(|table| reason.contains(&format!("\"{table}_pkey\"")))
}

/// The kind of the first error of the driver in a chain.
fn of_chain(error: &sqlx::migrate::MigrateError) -> StoreTrouble {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(driver) = cause.downcast_ref::<sqlx::Error>() {
            return of_driver(driver);
        }
        next = cause.source();
    }
    StoreTrouble::Other
}

fn of_driver(error: &sqlx::Error) -> StoreTrouble {
    if let Some(database) = error.as_database_error() {
        let code = database.code().unwrap_or_default();
        let text = database.message();
        return code
            .parse::<i32>()
            .ok()
            .filter(|_| code.len() != 5)
            .map_or_else(|| of_postgres(&code, text), |code| of_sqlite(code, text));
    }
    let is_away = matches!(
        error,
        sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
    );
    if is_away { StoreTrouble::Away } else { StoreTrouble::Other }
}

/// The primary code is the low byte of an extended one (<https://www.sqlite.org/rescode.html>).
fn of_sqlite(code: i32, text: &str) -> StoreTrouble {
    match code & 0xff {
        1 if text.contains("no such table") || text.contains("no such column") => {
            StoreTrouble::Schema
        }
        5 | 6 | 15 => StoreTrouble::Locked,
        8 => StoreTrouble::ReadOnly,
        10 => StoreTrouble::Disk,
        11 | 26 => StoreTrouble::Damaged,
        13 => StoreTrouble::Full,
        3 | 14 | 23 => StoreTrouble::Unopened,
        _ => StoreTrouble::Other,
    }
}

/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>; poolers answer with codes of
/// their own or with class 08.
fn of_postgres(code: &str, text: &str) -> StoreTrouble {
    match code {
        "25006" if text.contains("recovery") => StoreTrouble::Standby,
        // a standby's words are "cannot execute … in a read-only transaction" and "… during
        // recovery"
        "25006" => StoreTrouble::ReadOnly,
        "53100" => StoreTrouble::Full,
        "53300" => StoreTrouble::Connections,
        "55P03" | "57014" => StoreTrouble::Locked,
        "57P01" | "57P02" | "57P03" | "57P05" => StoreTrouble::Starting,
        "28P01" | "28000" => StoreTrouble::Login,
        "3D000" => StoreTrouble::NoDatabase,
        "42501" => StoreTrouble::Rights,
        "42P01" | "42703" | "3F000" => StoreTrouble::Schema,
        _ if suspicion::is_sign(code, text) => StoreTrouble::Pooler,
        // words of pgbouncer
        "08P01" if text.contains("query_wait_timeout") || text.contains("max_client_conn") => {
            StoreTrouble::Connections
        }
        "22P05" => StoreTrouble::Encoding,
        "58030" | "58P01" => StoreTrouble::Disk,
        _ if code.starts_with("XX") => StoreTrouble::Damaged,
        _ if code.starts_with("08") && text.contains("unsupported startup parameter") => {
            StoreTrouble::Pooler
        }
        _ if code.starts_with("08") => StoreTrouble::Away,
        _ => StoreTrouble::Other,
    }
}

impl StoreTrouble {
    /// Whether the store may come back without another configuration, so that a starting agent
    /// waits for it.
    pub const fn may_end(self) -> bool {
        !matches!(self, Self::Encoding | Self::Pooler | Self::Newer)
    }

    /// Returns the fault, as the end of "the agent is blind: …".
    #[expect(clippy::too_many_lines, reason = "a table: one entry a trouble")]
    pub fn what(self) -> Text {
        let (ko, en) = match self {
            Self::Away => ("저장소 무응답", "its store does not answer"),
            Self::Locked => (
                "저장소에 기록할 수 없음(다른 프로그램이 잠금 또는 디스크 지연)",
                "its store takes no row: another program holds it, or its disk hangs",
            ),
            Self::Full => ("저장소의 디스크가 가득 참", "the disk of its store is full"),
            Self::Damaged => ("저장소가 손상됨", "its store is damaged"),
            Self::Standby => (
                "저장소 주소가 승격되지 않은 대기 서버를 가리킴",
                "the address of its store leads to a standby that is not promoted",
            ),
            Self::ReadOnly => ("저장소가 읽기 전용임", "its store is read-only"),
            Self::Starting => (
                "데이터베이스 서버가 시작·종료 중임",
                "its database server is starting or stopping",
            ),
            Self::Login => {
                ("데이터베이스 서버가 로그인을 거부함", "its database server refuses the login")
            }
            Self::Secret => (
                "저장소의 비밀번호 파일을 읽을 수 없음",
                "the file of its store's password cannot be read",
            ),
            Self::NoDatabase => ("데이터베이스가 없음", "its database does not exist"),
            Self::Connections => (
                "데이터베이스 서버의 연결이 모두 사용 중임",
                "its database server takes no more connections",
            ),
            Self::Rights => {
                ("데이터베이스 사용자의 권한이 부족함", "its database user lacks a right")
            }
            Self::Unopened => {
                ("저장소 파일을 열 수 없음", "the file of its store cannot be opened")
            }
            Self::Moved => (
                "저장소 파일이 실행 중에 이동·삭제·교체됨",
                "the file of its store was moved, removed or replaced while it was open",
            ),
            Self::LogMoved => (
                "저장소의 로그(agent.db-wal)가 실행 중에 이동·삭제·교체됨",
                "the log of its store (agent.db-wal) was moved, removed or replaced while it was \
                 open",
            ),
            Self::Disk => ("저장소의 디스크 오류", "the disk of its store fails"),
            Self::Schema => ("저장소에 테이블이 없음", "a table of its store is missing"),
            Self::Encoding => {
                ("데이터베이스 인코딩이 UTF8이 아님", "the encoding of its database is not UTF8")
            }
            Self::Pooler => (
                "트랜잭션 방식의 연결 풀러가 사이에 있음",
                "a pooler in transaction mode stands before its database",
            ),
            Self::Newer => ("저장소를 더 새로운 버전이 기록함", "a newer version wrote its store"),
            Self::Sequences => (
                "데이터베이스가 이미 쓰인 행 번호를 내줌(복원·논리 복제 뒤 시퀀스가 뒤처짐)",
                "its database gives out row numbers that are taken: sequences are behind their \
                 tables after a restore or a logical replication",
            ),
            Self::Swallowed => (
                "데이터베이스가 기록한 행을 오류 없이 버림",
                "its database drops rows that it has taken, without an error",
            ),
            Self::Row => ("저장소가 행을 거부함", "its store refuses a row"),
            Self::Other => ("저장소 오류", "its store fails"),
        };
        Text::new(ko, en)
    }

    /// Returns the necessary action, in one sentence.
    #[expect(clippy::too_many_lines, reason = "one sentence for each kind, in two languages")]
    pub fn action(self) -> Text {
        let (ko, en) = match self {
            Self::Starting => {
                ("데이터베이스 서버와 네트워크 확인", "check the database server and the network")
            }
            Self::Away | Self::Other => (
                "데이터베이스 서버와 네트워크 확인. SQLite 파일이면 디스크와 권한 확인",
                "check the database server and the network; of a SQLite file, its disk and its \
                 rights",
            ),
            Self::Locked => (
                "agent.db를 연 다른 프로그램(백업, sqlite3) 또는 서버의 잠금을 종료하고 디스크 확인",
                "end the other program (a backup, sqlite3) or the lock in the server, and check \
                 the disk",
            ),
            Self::Full => ("저장소 디스크의 공간 확보", "make room on the disk of the store"),
            Self::Damaged => (
                "`pdm-agent store verify`로 확인 후 백업 복원 또는 `pdm-agent store recover`",
                "look with `pdm-agent store verify`, then restore the backup or run `pdm-agent \
                 store recover`",
            ),
            Self::Standby => (
                "대기 서버를 승격하거나 주소를 주 서버로 변경",
                "promote the standby, or lead the address to the primary",
            ),
            Self::ReadOnly => (
                "파일·파일 시스템의 쓰기 권한 또는 서버의 default_transaction_read_only 확인",
                "check the rights of the file and its file system, or the server's \
                 default_transaction_read_only",
            ),
            Self::Login => (
                "store.postgres.password의 파일과 서버의 역할 비밀번호를 일치시킴(재시작 불필요)",
                "make the file of store.postgres.password and the role's password agree; no \
                 restart is needed",
            ),
            Self::Secret => (
                "store.postgres.password가 가리키는 파일을 마운트(재시작 불필요)",
                "put the file that store.postgres.password names in place; no restart is needed",
            ),
            Self::NoDatabase => (
                "데이터베이스를 UTF8로 생성하거나 store.postgres.url 수정",
                "create the database in UTF8, or correct store.postgres.url",
            ),
            Self::Connections => (
                "max_connections(연결 풀러는 pool_size)를 store.postgres.connections보다 크게 하거나 다른 연결을 종료",
                "raise max_connections (of a pooler its pool size) above \
                 store.postgres.connections, or end other connections",
            ),
            Self::Rights => (
                "역할에 데이터베이스와 스키마의 권한 부여",
                "grant the role its rights on database and schema",
            ),
            Self::Unopened => {
                ("경로, 소유자와 권한 확인", "check the path, its owner and its rights")
            }
            Self::Moved => (
                "파일을 제자리로 되돌림. 의도적으로 백업으로 교체했다면 에이전트 재시작(그 사이 저장된 내용은 사라짐)",
                "move the file back; if a backup was put in its place on purpose, restart the \
                 agent (what was stored since then is lost)",
            ),
            Self::LogMoved => (
                "에이전트를 정상 종료 후 다시 시작하면 모두 파일에 기록됨(강제 종료하면 그 사이 내용이 사라짐)",
                "stop the agent in order and start it again, which writes everything into the file \
                 (killing it loses what was stored since)",
            ),
            Self::Disk => (
                "커널 로그와 디스크를 확인하고 백업 보관",
                "check the kernel's log and the disk, and keep the backup",
            ),
            Self::Schema => (
                "`pdm-agent migrate` 실행 또는 전체 백업 복원",
                "run `pdm-agent migrate`, or restore the whole backup",
            ),
            Self::Encoding => (
                "UTF8 데이터베이스를 만들어 옮김(docs/operations.md)",
                "make a database in UTF8 and move the rows (docs/operations.md)",
            ),
            Self::Pooler => (
                "store.postgres.url에 서버 자체 또는 세션 방식의 풀 지정",
                "name the server itself, or a pool in session mode, in store.postgres.url",
            ),
            Self::Newer => (
                "그 버전을 다시 설치하거나 업데이트 전 백업 복원",
                "install that version again, or restore the backup of before the update",
            ),
            Self::Sequences => (
                "`pdm-agent migrate` 실행(시퀀스를 앞으로 맞춤, 재시작 불필요)",
                "run `pdm-agent migrate`, which sets the sequences forward; no restart is needed",
            ),
            Self::Swallowed => (
                "오류에 적힌 테이블의 트리거(RETURN NEW가 있어야 함), 규칙, 행 보안 정책 제거",
                "take off the trigger (it has to RETURN NEW), rule or row security of the table \
                 that the error names",
            ),
            Self::Row => {
                ("로그의 오류를 개발자에게 전달", "hand the error in the log to the makers")
            }
        };
        Text::new(ko, en)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 33, point 2.
    #[test]
    fn codes_of_both_databases_are_read_as_their_makers_document_them() {
        for (code, trouble) in [
            (5, StoreTrouble::Locked),
            (517, StoreTrouble::Locked),
            (8, StoreTrouble::ReadOnly),
            (1032, StoreTrouble::ReadOnly),
            (778, StoreTrouble::Disk),
            (11, StoreTrouble::Damaged),
            (267, StoreTrouble::Damaged),
            (26, StoreTrouble::Damaged),
            (13, StoreTrouble::Full),
            (14, StoreTrouble::Unopened),
            (19, StoreTrouble::Other),
        ] {
            assert_eq!(of_sqlite(code, ""), trouble, "{code}");
        }
        assert_eq!(of_sqlite(1, "no such table: heartbeats"), StoreTrouble::Schema);
        for (place, trouble) in [
            ("/proc/agent.db", StoreTrouble::Unopened),
            ("postgres://pdm@db.plant.example/pdm", StoreTrouble::Away),
        ] {
            let source = sqlx::Error::Io(std::io::Error::other("no folder"));
            let error = StoreError::Open { place: place.to_owned(), source };
            assert_eq!(StoreTrouble::from(&error), trouble, "a file has no server: {place}");
            let source = sqlx::Error::Configuration("no such option".into());
            let error = StoreError::Open { place: place.to_owned(), source };
            let is_file_told = StoreTrouble::from(&error).what().en.contains("file");
            assert_eq!(is_file_told, place.starts_with('/'), "a server has no file: {place}");
        }
        // the kind alone does not tell a file from a server, so the words have to fit both
        for trouble in [StoreTrouble::Away, StoreTrouble::Other] {
            assert!(trouble.action().en.contains("of a SQLite file"), "{trouble:?}");
        }
        for (code, text, trouble) in [
            ("25006", "cannot execute INSERT in a read-only transaction", StoreTrouble::ReadOnly),
            (
                "25006",
                "cannot set transaction read-write mode during recovery",
                StoreTrouble::Standby,
            ),
            ("53100", "could not extend file", StoreTrouble::Full),
            ("28P01", "password authentication failed", StoreTrouble::Login),
            ("57P03", "the database system is starting up", StoreTrouble::Starting),
            ("XX001", "invalid page in block 3", StoreTrouble::Damaged),
            ("42P05", "prepared statement \"sqlx_s_1\" already exists", StoreTrouble::Pooler),
            ("08P01", "unsupported startup parameter in options: a", StoreTrouble::Pooler),
            (
                "08P01",
                "bind message supplies 1 parameters, but prepared statement \"sqlx_s_7\" requires \
                 2",
                StoreTrouble::Pooler,
            ),
            ("08P01", "query_wait_timeout", StoreTrouble::Connections),
            ("08006", "server closed the connection", StoreTrouble::Away),
        ] {
            assert_eq!(of_postgres(code, text), trouble, "{code} {text}");
        }
    }

    #[test]
    fn a_starting_agent_waits_for_what_may_end() {
        for trouble in [StoreTrouble::Away, StoreTrouble::Full, StoreTrouble::Damaged] {
            assert!(trouble.may_end(), "{trouble:?}");
        }
        for trouble in [StoreTrouble::Encoding, StoreTrouble::Pooler, StoreTrouble::Newer] {
            assert!(!trouble.may_end(), "{trouble:?}");
        }
    }
}
