//! Signed links by which an alarm is acknowledged without a login: what they hold, and their
//! making.
//!
//! A link holds the episode, the level that was told, the recipient and its end, with an
//! HMAC-SHA256 over all of it. It means one thing: "this recipient has seen this level of this
//! episode". Whoever has it can acknowledge that, or put the bearing off until the next morning or
//! Monday, until its end.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use ring::hmac;
use uuid::Uuid;

use crate::accounts::Digest;

/// The first byte of a link's content, so that a later form can be told from this one.
const VERSION: u8 = 1;
/// Bytes of version, episode, level and end.
const HEAD: usize = 1 + 16 + 1 + 8;
/// Bytes of the signature.
const MAC: usize = 32;
/// Longest recipient, bytes.
pub const MAX_RECIPIENT: usize = 96;
/// How long a link lasts, s. Chosen: a week, the time after which an episode that is over is
/// closed.
pub const LASTS_S: f64 = 7.0 * 86_400.0;

/// The content of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AckClaim {
    /// The episode.
    pub episode_id: Uuid,
    /// The level that the recipient was told.
    pub level: RiskLevel,
    /// Whom the link was sent to: a person, or a group or channel.
    pub recipient: String,
    /// When it ends, to the second.
    pub expires_at: Timestamp,
}

/// A text that is no link of this agent, or one that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// It was not made here, or was changed.
    #[error("the link is not one of this agent, or was changed on its way")]
    Forged,
    /// It has ended.
    #[error("the link ended at {0}")]
    Expired(Timestamp),
}

/// Makes and reads links.
#[derive(Clone)]
pub struct AckLinks {
    key: hmac::Key,
    base: String,
}

impl std::fmt::Debug for AckLinks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AckLinks").field("base", &self.base).finish_non_exhaustive()
    }
}

impl AckLinks {
    /// Links below the address `base`, signed by `key`.
    pub fn new(key: &Digest, base: &str) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key), base }
    }

    /// The whole address of a link.
    pub fn url(&self, claim: &AckClaim) -> String {
        format!("{}/ack/{}", self.base, self.text(claim))
    }

    /// The last part of the address.
    pub fn text(&self, claim: &AckClaim) -> String {
        let mut bytes = Vec::with_capacity(HEAD + claim.recipient.len() + MAC);
        bytes.push(VERSION);
        bytes.extend_from_slice(claim.episode_id.as_bytes());
        bytes.push(number_of(claim.level));
        bytes.extend_from_slice(&claim.expires_at.unix_ms().div_euclid(1000).to_be_bytes());
        bytes.extend_from_slice(cut(&claim.recipient).as_bytes());
        let mac = hmac::sign(&self.key, &bytes);
        bytes.extend_from_slice(mac.as_ref());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Returns the content of a link, if it was made here and has not ended.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn read(&self, text: &str, now: Timestamp) -> Result<AckClaim, LinkError> {
        let longest = (HEAD + MAX_RECIPIENT + MAC) * 4 / 3 + 4;
        if text.len() > longest {
            return Err(LinkError::Forged);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_other| LinkError::Forged)?;
        let split = bytes.len().checked_sub(MAC).filter(|length| *length >= HEAD);
        let (content, mac) = bytes.split_at(split.ok_or(LinkError::Forged)?);
        hmac::verify(&self.key, content, mac).map_err(|_unequal| LinkError::Forged)?;
        let claim = claim_of(content).ok_or(LinkError::Forged)?;
        if now.seconds_since(claim.expires_at) >= 0.0 {
            return Err(LinkError::Expired(claim.expires_at));
        }
        Ok(claim)
    }
}

fn claim_of(content: &[u8]) -> Option<AckClaim> {
    let (version, rest) = content.split_first()?;
    let (episode, rest) = rest.split_at_checked(16)?;
    let (level, rest) = rest.split_first()?;
    let (expires, recipient) = rest.split_at_checked(8)?;
    let seconds = i64::from_be_bytes(expires.try_into().ok()?);
    (*version == VERSION).then_some(())?;
    Some(AckClaim {
        episode_id: Uuid::from_slice(episode).ok()?,
        level: RiskLevel::ALL.into_iter().find(|one| number_of(*one) == *level)?,
        recipient: String::from_utf8(recipient.to_vec()).ok()?,
        expires_at: Timestamp::from_unix_ms(seconds.checked_mul(1000)?)?,
    })
}

const fn number_of(level: RiskLevel) -> u8 {
    match level {
        RiskLevel::Normal => 0,
        RiskLevel::Watch => 1,
        RiskLevel::Warning => 2,
        RiskLevel::Critical => 3,
    }
}

/// The recipient, at most [`MAX_RECIPIENT`] bytes of it.
fn cut(recipient: &str) -> &str {
    let end = (0..=recipient.len().min(MAX_RECIPIENT)).rev();
    let mut end = end.filter(|at| recipient.is_char_boundary(*at));
    &recipient[..end.next().unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim() -> AckClaim {
        AckClaim {
            episode_id: Uuid::from_u128(7),
            level: RiskLevel::Warning,
            recipient: "정비팀".to_owned(),
            expires_at: Timestamp::from_unix_ms(1_795_238_000_000).expect("in range"),
        }
    }

    #[test]
    fn a_link_says_what_it_was_made_for_until_its_end() {
        let links = AckLinks::new(&[7; 32], "https://pdm.example/");
        let url = links.url(&claim());
        let text = url.strip_prefix("https://pdm.example/ack/").expect("below the base");
        let before = claim().expires_at.plus_seconds(-1.0);
        assert_eq!(links.read(text, before), Ok(claim()));
        let ended = Err(LinkError::Expired(claim().expires_at));
        assert_eq!(links.read(text, claim().expires_at), ended);
    }

    #[test]
    fn a_link_with_one_bit_changed_or_of_another_key_is_forged() {
        let links = AckLinks::new(&[7; 32], "");
        let (text, now) = (links.text(&claim()), claim().expires_at.plus_seconds(-1.0));
        let bytes = URL_SAFE_NO_PAD.decode(&text).expect("Base64");
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let changed = URL_SAFE_NO_PAD.encode(changed);
                assert_eq!(links.read(&changed, now), Err(LinkError::Forged), "{at} {bit}");
            }
        }
        for wrong in ["", "AA", "..", &text[1..], &format!("{text}AA"), &"A".repeat(10_000)] {
            assert_eq!(links.read(wrong, now), Err(LinkError::Forged), "{wrong}");
        }
        assert_eq!(AckLinks::new(&[8; 32], "").read(&text, now), Err(LinkError::Forged));
    }

    #[test]
    fn a_long_recipient_is_cut_between_characters() {
        let links = AckLinks::new(&[7; 32], "");
        let long = AckClaim { recipient: "정".repeat(200), ..claim() };
        let read = links.read(&links.text(&long), claim().expires_at.plus_seconds(-1.0));
        assert_eq!(read.expect("whole").recipient, "정".repeat(32));
    }
}
