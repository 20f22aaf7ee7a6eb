//! Compares the received e-mails with those that were due.
//!
//! A mail carries the rows of one group that were sent together. Its `Message-ID` is the key of the
//! row, or a key computed from all of their keys, so the rows of a mail are known without its text.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::oracle::Verdict;
use super::store::MailDue;

/// Most rows of one group that can be told apart; a plant has fewer at one time.
const MOST: usize = 12;

/// The received mails.
#[derive(Debug, Clone, Default)]
pub struct Mailed {
    /// Number of mails of each key.
    pub keys: BTreeMap<Uuid, usize>,
    /// Number of mails without a key.
    pub without: usize,
}

impl Mailed {
    /// Reads the keys of raw mails.
    pub fn of(mails: &[String]) -> Self {
        let mut mailed = Self::default();
        for mail in mails {
            match key_of(mail) {
                Some(key) => *mailed.keys.entry(key).or_default() += 1,
                None => mailed.without += 1,
            }
        }
        mailed
    }
}

fn key_of(mail: &str) -> Option<Uuid> {
    let line = mail.lines().find(|line| line.to_lowercase().starts_with("message-id:"))?;
    line.split_once('<')?.1.split_once('@')?.0.parse().ok()
}

/// The key of rows that are sent together.
pub fn together(keys: &[Uuid]) -> Uuid {
    match keys {
        [one] => *one,
        many => {
            let mixed = many.iter().fold(0, |mixed, key| mixed ^ key.as_u128());
            uuid::Builder::from_custom_bytes(mixed.to_be_bytes()).into_uuid()
        }
    }
}

/// Checks that every due row was sent in one mail, and that every mail carries due rows.
pub(super) fn judge(mailed: &Mailed, due: &[MailDue], verdict: &mut Verdict) {
    let mut groups: BTreeMap<String, Vec<Uuid>> = BTreeMap::new();
    for row in due {
        let group = row.group.clone().unwrap_or_else(|| row.key.to_string());
        groups.entry(group).or_default().push(row.key);
    }
    let mut unknown = mailed.keys.clone();
    for (name, rows) in &groups {
        if rows.len() > MOST {
            verdict.mishaps.push(format!("{} mails of group {name} at once", rows.len()));
            continue;
        }
        let mut carried = vec![0; rows.len()];
        for set in 1..1_usize << rows.len() {
            let of_set = |place: &usize| set & (1 << place) != 0;
            let places: Vec<usize> = (0..rows.len()).filter(of_set).collect();
            let keys: Vec<Uuid> = places.iter().map(|place| rows[*place]).collect();
            if unknown.remove(&together(&keys)).is_some() {
                for place in places {
                    carried[place] += 1;
                }
            }
        }
        for (row, count) in rows.iter().zip(carried) {
            match count {
                0 => verdict.untold.push(format!("{row}: not mailed")),
                1 => {}
                _ => verdict.told_twice.push(format!("{row}: in {count} different mails")),
            }
        }
    }
    verdict.told_twice.extend(unknown.keys().map(|key| format!("mail {key}: nobody wrote it")));
    if mailed.without > 0 {
        verdict.mishaps.push(format!("{} mails without a Message-ID", mailed.without));
    }
}
