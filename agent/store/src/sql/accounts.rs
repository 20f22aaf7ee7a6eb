//! Users, their sessions and tokens, who did what, and the key of links.

use async_trait::async_trait;
use pdm_service::error_chain::error_chain;
use pdm_shared::time::Timestamp;
use pdm_web::accounts::{
    AccountStore, Act, Digest, Provided, StoredSession, User, UserChange, UserToken,
};
use pdm_web::plant::PlantError;

use super::Database;
use crate::StoreError;
use crate::database::{Connection, Lock, Query, Row};
use crate::encoding::{time_of, word_of};

/// Most acts that are kept. Chosen: a hundred acts a day for twenty years; some 100 MB.
const MOST_ACTS: i64 = 750_000;

impl From<StoreError> for PlantError {
    fn from(error: StoreError) -> Self {
        let reason = error_chain(&error);
        match error {
            StoreError::Content { .. } => Self::Unreadable(reason),
            StoreError::Unavailable(_)
            | StoreError::Open { .. }
            | StoreError::Missing { .. }
            | StoreError::Moved { .. }
            | StoreError::LogMoved { .. }
            | StoreError::Swallowed { .. }
            | StoreError::Way(_)
            | StoreError::Unfit { .. }
            | StoreError::Newer { .. }
            | StoreError::Migrate(_) => Self::Unavailable(reason),
        }
    }
}

/// Users, their sessions and tokens, and the record of acts; used by the HTTP server and the
/// command line.
#[derive(Debug, Clone)]
pub struct StoredAccounts {
    pub(crate) database: Database,
}

#[async_trait]
impl AccountStore for StoredAccounts {
    async fn has_users(&self) -> Result<bool, PlantError> {
        let mut reader = self.database.read().await?;
        Ok(reader.query("SELECT 1 FROM users LIMIT 1").fetch_optional().await?.is_some())
    }

    async fn users(&self) -> Result<Vec<User>, PlantError> {
        let mut reader = self.database.read().await?;
        let rows = reader
            .query(
                "SELECT name, role, password, disabled, created_at_ms, issuer, subject FROM \
                users ORDER BY name",
            )
            .fetch_all()
            .await?;
        Ok(rows.iter().map(|row| user_of(row, 0)).collect::<Result<_, _>>()?)
    }

    async fn user(&self, name: &str) -> Result<Option<User>, PlantError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT name, role, password, disabled, created_at_ms, issuer, subject FROM users \
             WHERE name = $1",
        );
        let row = query.bind(name).fetch_optional().await?;
        Ok(row.map(|row| user_of(&row, 0)).transpose()?)
    }

    async fn provided_user(&self, by: &Provided) -> Result<Option<User>, PlantError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT name, role, password, disabled, created_at_ms, issuer, subject FROM users
             WHERE issuer = $1 AND subject = $2",
        );
        let query = query.bind(by.issuer.as_str()).bind(by.subject.as_str());
        let row = query.fetch_optional().await?;
        Ok(row.map(|row| user_of(&row, 0)).transpose()?)
    }

    async fn add_user(&self, user: &User, is_first: bool) -> Result<bool, PlantError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        connection.lock(Lock::Users, "users").await?;
        let query = if is_first {
            connection.query(
                "INSERT INTO users (name, role, password, disabled, created_at_ms, issuer, subject)
                 SELECT $1, $2, $3, $4, $5, $6, $7 WHERE NOT EXISTS (SELECT 1 FROM users)",
            )
        } else {
            connection.query(
                "INSERT INTO users (name, role, password, disabled, created_at_ms, issuer, subject)
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
            )
        };
        let query = query.bind(user.name.as_str()).bind(user.role.as_str());
        let query = query.bind(user.password.as_deref()).bind(i64::from(user.is_disabled));
        let query = query.bind(user.created_at.unix_ms());
        let provider = user.provider.as_ref();
        let query = query.bind(provider.map(|by| by.issuer.as_str()));
        let added = query.bind(provider.map(|by| by.subject.as_str())).execute().await?;
        transaction.commit().await?;
        Ok(added == 1)
    }

    async fn change_user(&self, name: &str, change: &UserChange) -> Result<bool, PlantError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let changed = match change {
            UserChange::Role(role) => {
                let query = connection.query("UPDATE users SET role = $2 WHERE name = $1");
                query.bind(name).bind(role.as_str()).execute().await?
            }
            UserChange::Password(hash) => {
                let query = connection.query("UPDATE users SET password = $2 WHERE name = $1");
                query.bind(name).bind(hash.as_str()).execute().await?
            }
            UserChange::Disabled(disabled) => {
                let query = connection.query("UPDATE users SET disabled = $2 WHERE name = $1");
                query.bind(name).bind(i64::from(*disabled)).execute().await?
            }
        };
        transaction.commit().await?;
        Ok(changed == 1)
    }

    async fn put_token(
        &self,
        user: &str,
        hash: &Digest,
        token: &UserToken,
    ) -> Result<(), PlantError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let query = connection.query(
            "INSERT INTO user_tokens (hash, user_name, label, created_at_ms, expires_at_ms)
             VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (user_name, label) DO UPDATE SET hash = excluded.hash,
                 created_at_ms = excluded.created_at_ms, expires_at_ms = excluded.expires_at_ms",
        );
        let query = query.bind(hash.as_slice()).bind(user).bind(token.label.as_str());
        let query = query.bind(token.created_at.unix_ms());
        query.bind(token.expires_at.map(Timestamp::unix_ms)).execute().await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn revoke_token(&self, user: &str, label: &str) -> Result<bool, PlantError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let query = connection.query("DELETE FROM user_tokens WHERE user_name = $1 AND label = $2");
        let gone = query.bind(user).bind(label).execute().await?;
        transaction.commit().await?;
        Ok(gone == 1)
    }

    async fn tokens(&self, user: &str) -> Result<Vec<UserToken>, PlantError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT label, created_at_ms, expires_at_ms FROM user_tokens WHERE user_name = $1
             ORDER BY label",
        );
        let rows = query.bind(user).fetch_all().await?;
        let of = |row: &Row| {
            let expires = row.get::<Option<i64>>(2)?;
            Ok::<_, StoreError>(UserToken {
                label: row.get(0)?,
                created_at: time_of(row.get(1)?)?,
                expires_at: expires.map(time_of).transpose()?,
            })
        };
        Ok(rows.iter().map(of).collect::<Result<_, _>>()?)
    }

    async fn token_owner(&self, hash: &Digest, now: Timestamp) -> Result<Option<User>, PlantError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT u.name, u.role, u.password, u.disabled, u.created_at_ms, u.issuer, u.subject
             FROM user_tokens t JOIN users u ON u.name = t.user_name
             WHERE t.hash = $1 AND u.disabled = 0
               AND (t.expires_at_ms IS NULL OR t.expires_at_ms > $2)",
        );
        let row = query.bind(hash.as_slice()).bind(now.unix_ms()).fetch_optional().await?;
        Ok(row.map(|row| user_of(&row, 0)).transpose()?)
    }

    async fn open_session(
        &self,
        session: &StoredSession,
        oldest: Timestamp,
        idle: Timestamp,
    ) -> Result<(), PlantError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let query =
            connection.query("DELETE FROM sessions WHERE opened_at_ms <= $1 OR seen_at_ms <= $2");
        query.bind(oldest.unix_ms()).bind(idle.unix_ms()).execute().await?;
        let query = connection.query(
            "INSERT INTO sessions (hash, user_name, credential, opened_at_ms, seen_at_ms)
             VALUES ($1, $2, $3, $4, $5)",
        );
        let query = query.bind(session.hash.as_slice()).bind(session.user.as_deref());
        let query = query.bind(session.credential.as_slice());
        let query = query.bind(session.opened_at.unix_ms()).bind(session.seen_at.unix_ms());
        query.execute().await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn session(
        &self,
        hash: &Digest,
    ) -> Result<Option<(StoredSession, Option<User>)>, PlantError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT s.user_name, s.credential, s.opened_at_ms, s.seen_at_ms,
                    u.name, u.role, u.password, u.disabled, u.created_at_ms, u.issuer, u.subject
             FROM sessions s LEFT JOIN users u ON u.name = s.user_name WHERE s.hash = $1",
        );
        let Some(row) = query.bind(hash.as_slice()).fetch_optional().await? else {
            return Ok(None);
        };
        let session = StoredSession {
            hash: *hash,
            user: row.get(0)?,
            credential: digest_of(&row, 1)?,
            opened_at: time_of(row.get(2)?)?,
            seen_at: time_of(row.get(3)?)?,
        };
        let has_user = row.get::<Option<&str>>(4)?.is_some();
        let user = has_user.then(|| user_of(&row, 4)).transpose()?;
        Ok(Some((session, user)))
    }

    async fn saw_session(&self, hash: &Digest, now: Timestamp) -> Result<(), PlantError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let query = connection.query("UPDATE sessions SET seen_at_ms = $2 WHERE hash = $1");
        query.bind(hash.as_slice()).bind(now.unix_ms()).execute().await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn end_session(&self, hash: &Digest) -> Result<(), PlantError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let query = connection.query("DELETE FROM sessions WHERE hash = $1");
        query.bind(hash.as_slice()).execute().await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn note_act(&self, act: &Act) -> Result<(), PlantError> {
        let mut transaction = self.database.write().await?;
        note_act(&mut transaction.connection(), act).await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn acts(&self, before: Option<u64>, limit: u32) -> Result<Vec<Act>, PlantError> {
        let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT id, at_ms, who, via, peer, action, what FROM acts WHERE id < $1
             ORDER BY id DESC LIMIT $2",
        );
        let rows = query.bind(before).bind(i64::from(limit)).fetch_all().await?;
        Ok(rows.iter().map(act_of).collect::<Result<_, _>>()?)
    }

    async fn link_key(&self, fresh: Digest, now: Timestamp) -> Result<Digest, PlantError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let query = connection.query(
            "INSERT INTO own_keys (name, key, created_at_ms) VALUES ('links', $1, $2)
             ON CONFLICT (name) DO NOTHING",
        );
        query.bind(fresh.as_slice()).bind(now.unix_ms()).execute().await?;
        let query: Query<'_> = connection.query("SELECT key FROM own_keys WHERE name = 'links'");
        let row = query.fetch_one().await?;
        transaction.commit().await?;
        Ok(digest_of(&row, 0)?)
    }
}

/// The user whose columns begin at `from`.
fn user_of(row: &Row, from: usize) -> Result<User, StoreError> {
    let issuer: Option<String> = row.get(from + 5)?;
    let subject: Option<String> = row.get(from + 6)?;
    Ok(User {
        name: row.get(from)?,
        role: word_of("a role", row.get(from + 1)?)?,
        password: row.get(from + 2)?,
        provider: issuer.zip(subject).map(|(issuer, subject)| Provided { issuer, subject }),
        is_disabled: row.get::<i64>(from + 3)? != 0,
        created_at: time_of(row.get(from + 4)?)?,
    })
}

fn act_of(row: &Row) -> Result<Act, StoreError> {
    Ok(Act {
        id: row.get::<i64>(0)?.unsigned_abs(),
        at: time_of(row.get(1)?)?,
        who: row.get(2)?,
        via: row.get(3)?,
        peer: row.get(4)?,
        action: row.get(5)?,
        what: row.get(6)?,
    })
}

fn digest_of(row: &Row, column: usize) -> Result<Digest, StoreError> {
    let bytes: Vec<u8> = row.get(column)?;
    let length = bytes.len();
    bytes.try_into().map_err(|_other| StoreError::Content {
        what: "a digest",
        reason: format!("it has {length} bytes, allowed are 32"),
    })
}

/// Writes an act down, within the transaction of what was done.
pub(super) async fn note_act(connection: &mut Connection<'_>, act: &Act) -> Result<(), StoreError> {
    let dialect = connection.dialect();
    let text = |text: &str| dialect.text(text).into_owned();
    let query = connection.query(
        "INSERT INTO acts (at_ms, who, via, peer, action, what)
         VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
    );
    let query = query.bind(act.at.unix_ms()).bind(text(&act.who)).bind(text(&act.via));
    let query = query.bind(act.peer.as_deref().map(text));
    let row = query.bind(text(&act.action)).bind(text(&act.what)).fetch_one().await?;
    let last: i64 = row.get(0)?;
    let query = connection.query("DELETE FROM acts WHERE id <= $1");
    query.bind(last - MOST_ACTS).execute().await?;
    Ok(())
}
