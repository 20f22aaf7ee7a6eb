//! The files of [`config/hooks`](../../../config/hooks), which come with the program.

/// Name and text of each file.
pub const PRESETS: [(&str, &str); 9] = [
    ("aligo", include_str!("../../../config/hooks/aligo.toml")),
    ("mattermost", include_str!("../../../config/hooks/mattermost.toml")),
    ("naver-sens", include_str!("../../../config/hooks/naver-sens.toml")),
    ("naver-works", include_str!("../../../config/hooks/naver-works.toml")),
    ("nhn-alimtalk", include_str!("../../../config/hooks/nhn-alimtalk.toml")),
    ("nhn-sms", include_str!("../../../config/hooks/nhn-sms.toml")),
    ("ntfy", include_str!("../../../config/hooks/ntfy.toml")),
    ("pushover", include_str!("../../../config/hooks/pushover.toml")),
    ("telegram", include_str!("../../../config/hooks/telegram.toml")),
];

/// The text of a preset.
pub fn preset(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(preset, _)| *preset == name).map(|(_, text)| *text)
}
