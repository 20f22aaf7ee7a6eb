//! The proxy of the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`), by which
//! the client sends.
//!
//! It is never used to this machine or into the plant's own network, whatever `NO_PROXY` lacks: a
//! proxy outside cannot reach a receiver there, and one that answers in its place would be taken
//! for it. An error names it.

use std::net::IpAddr;

use reqwest::{ClientBuilder, Url};

/// The client of an address: without the proxy where the address is near.
pub fn beside_proxy(builder: ClientBuilder, url: &Url) -> ClientBuilder {
    if is_near(url) { builder.no_proxy() } else { builder }
}

/// An error of a connection, with the proxy that it went by.
pub fn by_proxy(told: String, url: &Url) -> String {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    match proxy_of(url, &variable) {
        Some(proxy) => {
            format!("{told} (sent by the proxy {proxy} of the environment, see NO_PROXY)")
        }
        None => told,
    }
}

/// Whether an address is this machine's, or of a network that only the plant has: private addresses
/// (RFC 1918, 4193), those of a link, and names without a domain.
fn is_near(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return true };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local()
        }
        Err(_) => !host.contains('.') || host.ends_with(".localhost"),
    }
}

/// The proxy of an address without its login; none where the environment names none for it.
fn proxy_of(url: &Url, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if is_near(url) || is_excepted(url, variable) {
        return None;
    }
    let names: &[&str] = if url.scheme() == "https" {
        &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    } else {
        &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
    };
    let proxy = names.iter().find_map(|name| variable(name))?;
    let (_, address) = proxy.rsplit_once('@').unwrap_or(("", &proxy));
    let address = address.rsplit("://").next()?.trim_end_matches('/');
    Some(address.to_owned())
}

/// Whether `NO_PROXY` names the address or a domain of it.
fn is_excepted(url: &Url, variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let named = variable("NO_PROXY").or_else(|| variable("no_proxy")).unwrap_or_default();
    let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
    named.split(',').map(|one| one.trim().to_ascii_lowercase()).any(|one| {
        let domain = one.trim_start_matches('.');
        one == "*"
            || (!domain.is_empty()
                && host
                    .strip_suffix(domain)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(url: &str, no_proxy: &str) -> Option<String> {
        let variable = |name: &str| match name {
            "HTTP_PROXY" => Some("http://kim:secret@proxy.plant.example:3128/".to_owned()),
            "HTTPS_PROXY" => Some("proxy.plant.example:3129".to_owned()),
            "NO_PROXY" => Some(no_proxy.to_owned()),
            _ => None,
        };
        proxy_of(&url.parse().expect("an address"), &variable)
    }

    /// R-AGENT-10: a proxy that was not meant answered in the place of a receiver in the plant.
    #[test]
    fn the_proxy_of_the_environment_is_named_and_never_used_within_the_plant() {
        let named = proxy("http://hooks.vendor.example/a", "").expect("named");
        assert_eq!(named, "proxy.plant.example:3128", "without its login");
        let tls = proxy("https://hooks.vendor.example/a", "").expect("named");
        assert_eq!(tls, "proxy.plant.example:3129");
        for near in [
            "http://127.0.0.1:8080/",
            "http://[::1]:8080/",
            "http://localhost/",
            "http://10.1.2.3/",
            "http://172.20.0.9/",
            "http://192.168.0.20/",
            "http://[fd00::5]/",
            "http://relay:8080/",
        ] {
            assert_eq!(proxy(near, ""), None, "{near}");
            assert!(is_near(&near.parse().expect("an address")), "{near}");
        }
        for no_proxy in
            ["*", "vendor.example", ".vendor.example", "a.example, hooks.vendor.example"]
        {
            assert_eq!(proxy("http://hooks.vendor.example/a", no_proxy), None, "{no_proxy}");
        }
        assert!(proxy("http://hooks.vendor.example/a", "dor.example").is_some());
    }
}
