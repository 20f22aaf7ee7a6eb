//! Decides which rows of a lane leave together, under which key, and in which order they are told.

use pdm_shared::delivery::Notification;
use pdm_shared::risk::RiskLevel;
use pdm_store::Claimed;
use uuid::Uuid;

/// The idempotency key of rows that leave together: the key of a single row, or one made of all
/// their keys. So one key never stands for two contents, of which a receiver would drop the second.
pub(super) fn key_of(rows: &[Claimed]) -> Uuid {
    match rows {
        [one] => one.key,
        many => {
            let mixed = many.iter().fold(0, |mixed, row| mixed ^ row.key.as_u128());
            uuid::Builder::from_custom_bytes(mixed.to_be_bytes()).into_uuid()
        }
    }
}

/// Rows of one group and with the same number of tries leave together. A group's name holds the
/// instant at which it leaves ([`super::policy`]), so a retry carries the same rows as the first
/// try, also after a crash in between.
pub(super) fn groups(rows: Vec<Claimed>) -> Vec<Vec<Claimed>> {
    let mut groups: Vec<Vec<Claimed>> = Vec::new();
    for row in rows {
        let same = |group: &&mut Vec<Claimed>| {
            group.first().is_some_and(|first| {
                first.group.is_some() && first.group == row.group && first.attempts == row.attempts
            })
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    // the worst leaves first: what is behind it may wait for a slow receiver or the next hour
    groups.sort_by_cached_key(|rows| std::cmp::Reverse(worst(rows)));
    groups
}

/// Returns the worst level of rows that leave together; `None` where no row is a notification.
pub(super) fn worst(rows: &[Claimed]) -> Option<RiskLevel> {
    let told =
        rows.iter().filter_map(|row| serde_json::from_str::<Notification>(&row.payload).ok());
    told.map(|told| told.risk_level).max()
}

/// The worst level first, then the oldest.
pub(super) fn by_urgency(notifications: &[Notification]) -> Vec<&Notification> {
    let mut sorted: Vec<&Notification> = notifications.iter().collect();
    sorted.sort_by(|a, b| b.risk_level.cmp(&a.risk_level).then(a.created_at.cmp(&b.created_at)));
    sorted
}

#[cfg(test)]
mod tests {
    use pdm_shared::time::Timestamp;

    use super::*;

    fn row(id: i64, group: &str, attempts: u32) -> Claimed {
        Claimed {
            id,
            key: Uuid::nil(),
            topic: None,
            retain: false,
            group: Some(group.to_owned()),
            payload: String::new(),
            attempts,
            created_at: Timestamp::from_unix_ms(0).expect("epoch"),
        }
    }

    #[test]
    fn a_retry_is_not_joined_by_newer_rows() {
        let rows = vec![row(1, "a", 1), row(2, "a", 1), row(3, "a", 0), row(4, "b", 0)];
        let ids: Vec<Vec<i64>> =
            groups(rows).iter().map(|group| group.iter().map(|row| row.id).collect()).collect();
        assert_eq!(ids, [vec![1, 2], vec![3], vec![4]]);
    }

    /// R-AGENT-10: a receiver that knows the key would drop what it does not know yet.
    #[test]
    fn a_key_stands_for_one_content_only() {
        let row = |n: u128| Claimed { key: Uuid::from_u128(n), ..row(1, "a", 0) };
        let (one, two, three) = (row(0x1111), row(0x2222), row(0x4444));
        assert_eq!(key_of(std::slice::from_ref(&one)), one.key);
        let pair = key_of(&[one.clone(), two.clone()]);
        assert_eq!(pair, key_of(&[two.clone(), one.clone()]), "the same again in another order");
        for other in [key_of(&[one.clone(), two.clone(), three]), one.key, two.key] {
            assert_ne!(pair, other);
        }
    }
}
