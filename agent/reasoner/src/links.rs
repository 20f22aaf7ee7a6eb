//! Links in words that nobody has checked: a program's message, what a gateway says of itself, a
//! document that a technician added. Mail programs and messengers would make them clickable, and a
//! stranger's would look like the plant's.

/// Endings of names of files, which no mail program takes for an address. Gateways name their files
/// in what they say.
const FILES: [&str; 22] = [
    "toml", "db", "log", "csv", "json", "jsonl", "wav", "conf", "yaml", "yml", "txt", "service",
    "lock", "sequence", "pem", "crt", "key", "h5", "mat", "parquet", "xlsx", "tdms",
];

/// Returns the words with `mark` in the place of each link.
pub fn without_links(message: &str, mark: &str) -> String {
    let word = |word: &str| if is_link(word) { mark.to_owned() } else { word.to_owned() };
    message.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Whether mail programs and messengers would make a link of a word.
pub fn is_link(word: &str) -> bool {
    // the stops of other writing systems, which browsers read as dots, slashes the other way round,
    // and what looks like either of them
    let lower = word.to_lowercase().replace(['。', '．', '｡', '․'], ".").replace('：', ":");
    let lower = lower.replace(['\\', '⁄', '∕', '／', '⧸', '╱'], "/");
    // a page would read these as the characters that they stand for
    if ["&#", "&colon;", "&sol;", "&period;", "&bsol;"].iter().any(|one| lower.contains(one)) {
        return true;
    }
    // an address without its scheme
    let lower = match lower.find("//") {
        Some(at) if has_dot(&lower[at + 2..]) => return true,
        Some(_) | None => lower,
    };
    let is_address = lower.contains("://") || lower.contains("www.") || lower.contains("mailto:");
    // name.tld/path, [text](address), someone@name.tld
    let is_path = lower.split_once('/').is_some_and(|(host, path)| {
        !path.is_empty() && (is_host(bare(host)) || is_ipv4(bare(host)))
    });
    let is_mail = lower.split_once('@').is_some_and(|(_name, host)| has_dot(host));
    let is_bare = is_host(bare(lower.split([':', '?', '#', '/']).next().unwrap_or_default()));
    is_address || is_path || is_mail || is_bare || lower.contains("](")
}

/// Without brackets and marks around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|one: char| !one.is_alphanumeric())
}

fn has_dot(text: &str) -> bool {
    text.split('.').filter(|part| !part.is_empty()).count() >= 2
}

/// Whether a text is a name with a top-level domain: labels between dots, the last of letters
/// alone.
fn is_host(text: &str) -> bool {
    let labels: Vec<&str> = text.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty() && label.chars().all(|one| one.is_alphanumeric() || one == '-')
    };
    let last = labels.last().copied().unwrap_or_default();
    labels.len() >= 2
        && labels.iter().all(is_label)
        && last.chars().count() >= 2
        && last.chars().all(char::is_alphabetic)
        && !FILES.contains(&last)
}

fn is_ipv4(text: &str) -> bool {
    text.parse::<std::net::Ipv4Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_mail_programs_and_messengers_make_links_of_is_one() {
        for link in [
            "www.x.kr",
            "[x](y)",
            "mailto:a@b.c",
            "a@evil.example",
            "evil.example",
            "evil.example:8443",
            "(evil.example)",
            "evil.com?login",
            "10.0.0.12/login",
            "https:\\\\evil.example",
            "EVIL․EXAMPLE/a",
            "evil。example/login",
            "예시.한국",
            "https:⁄⁄evil.example",
            "https：／／evil.example",
            "//evil.example",
            "(//evil.example/a)",
            "http&#58;//evil.example",
            "http&#x3a;evil",
            "evil&period;example",
        ] {
            assert!(is_link(link), "{link}");
        }
        for word in [
            "P-101/DE",
            "1.5",
            "0.3/s",
            "a.b",
            "@kim",
            "pumps.",
            "edge.toml:8:",
            "3.5/4",
            "/var/lib/pdm/spool.db",
            "192.168.0.7:8883",
            "/dev/ttyUSB0",
            "20816-3",
            "1.05.2026",
            "NDE//DE",
            "R&D",
        ] {
            assert!(!is_link(word), "{word}");
        }
        assert_eq!(without_links("see evil.example/a now", "[-]"), "see [-] now");
    }
}
